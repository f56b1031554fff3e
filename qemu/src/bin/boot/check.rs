//! Sees that the demonstration does what it should, without a person.

use core::time::Duration;

use qemu::{Boot, Ending, Error};

use crate::demo;

/// For each step. A boot takes two seconds; a busy machine takes longer.
const BOUND: Duration = Duration::from_secs(60);

/// Boots it, restarts it, powers it off, and prints what it saw.
pub(crate) fn run(boot: Boot) -> Result<(), Error> {
    let mut guest = boot.through_restarts().start()?;
    for number in 1..=2 {
        let page = guest.wait_line(demo::PAGE, BOUND)?;
        saw(page.trim());
        let boots = guest.wait_line(&format!("this is boot {number} of"), BOUND)?;
        saw(boots.trim());
        guest.wait_line(demo::INVITATION, BOUND)?;

        // The page again, this time as a person would ask for it.
        guest.type_line("")?;
        guest.wait_text("# ", BOUND)?;
        guest.type_line("wget -q -O - http://127.0.0.1/")?;
        guest.wait_line_where("the page", |line| line == demo::PAGE, BOUND)?;
        saw("the shell got the page too");

        let (command, ending) = match number {
            1 => ("reboot", Ending::Restarted),
            _ => ("poweroff", Ending::PoweredOff),
        };
        guest.type_line(command)?;
        guest.expect_end(&ending, BOUND)?;
        saw(format_args!("{command}: the machine {ending}"));
    }
    Ok(())
}

fn saw(what: impl core::fmt::Display) {
    println!("boot: {what}");
}
