//! `cargo boot`: the demonstration image, or an image of yours, on the terminal.
//!
//! [`options`] reads what is asked for, [`demo`] makes the image, [`session`]
//! joins it to the [`terminal`], [`check`] looks at it without a person.

use std::process::ExitCode;

use qemu::{Boot, Disk, Ending, Error, tools};

mod check;
mod demo;
mod options;
mod session;
mod terminal;

use options::{HELP, Options, Task};
use session::Asks;

/// The state disk of the demonstration. It holds a number.
const DISK_MEBIBYTES: u64 = 64;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\nboot: `cargo boot --help` lists the options");
            return ExitCode::from(2);
        }
    };
    let outcome = match options.task {
        Task::Help => {
            print!("{HELP}");
            Ok(())
        }
        Task::Check => look(&options),
        Task::Session => join(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn join(options: &Options) -> Result<(), Error> {
    let (mut boot, asks) = match &options.image {
        Some(path) => (Boot::new(path.as_path()), Asks::Never),
        None => (Boot::new(demonstration(options)?), Asks::WithPrompt),
    };
    if asks == Asks::WithPrompt && !session::has_terminal() {
        boot = boot.append(demo::SCRIPTED);
    }
    let disk = match (&options.disk, asks) {
        (Some(path), _) => Some(Disk::file(path)?),
        (None, Asks::WithPrompt) => Some(kept_disk()?),
        (None, Asks::Never) => None,
    };
    if let Some(disk) = &disk {
        boot = boot.disk(disk);
    }

    let ending = session::run(usual(boot, options), asks)?;
    match ending {
        Ending::PoweredOff | Ending::Halted | Ending::Killed => {
            eprintln!("boot: the machine {ending}");
            Ok(())
        }
        Ending::Restarted | Ending::Panicked { .. } | Ending::Watchdog | Ending::Hung => {
            Err(Error::new("run", "the machine", format!("it {ending}")))
        }
    }
}

fn look(options: &Options) -> Result<(), Error> {
    // A disk of its own: the boots are counted from one.
    let disk = match &options.disk {
        Some(path) => Disk::file(path)?,
        None => Disk::ext4(DISK_MEBIBYTES)?,
    };
    let boot = Boot::new(demonstration(options)?).disk(&disk);
    check::run(usual(boot, options))?;
    println!("boot: the demonstration does what it should");
    Ok(())
}

fn demonstration(options: &Options) -> Result<Vec<u8>, Error> {
    let init = match &options.init {
        Some(path) => path.clone(),
        None => demo::host_init(options.build)?,
    };
    demo::image(&init)
}

fn kept_disk() -> Result<Disk, Error> {
    Disk::kept(tools::target().join("demo/state.img"), DISK_MEBIBYTES)
}

fn usual(boot: Boot, options: &Options) -> Boot {
    let boot = boot.memory(options.mebibytes);
    match &options.append {
        Some(words) => boot.append(words.as_str()),
        None => boot,
    }
}
