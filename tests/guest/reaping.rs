//! Orphans, as a kernel before 6.15 leaves them: to be waited for.

use qemu::Ending;

use crate::image::Image;
use crate::session::Session;

/// As many as a crash loop of days has.
const ORPHANS: u32 = 100_000;

#[test]
fn a_hundred_thousand_orphans_leave_nothing_behind() {
    let mut machine = Session::up(Image::with_shell("").probe().boot());
    let measure = "grep VmRSS /proc/1/status; grep -c . /proc/1/maps; echo /proc/1/fd/* | wc -w";
    // The first ones may make the kernel's own tables grow, and PID 1's stack.
    machine.ask("probe orphans 1000");
    let before = machine.ask(measure);

    let said = machine.ask(&format!("probe orphans {ORPHANS}"));

    assert!(said.contains(&format!("orphans: {ORPHANS}")), "{said}");
    machine.ask("while grep -q '^State:.Z' /proc/[0-9]*/status; do usleep 1000; done");
    assert_eq!(machine.ask(measure), before);
    // It was not so busy that it forgot the host.
    assert_eq!(
        machine.ask("grep -c '\"starts\":1,' /run/host-init/state.json"),
        "1"
    );
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
}

#[test]
fn a_storm_of_orphans_keeps_no_request_from_being_heard() {
    let mut machine = Session::up(Image::with_shell("stop-grace = \"1s\"").probe().boot());
    machine.ask("probe orphans 100000000 & probe orphans 100000000 & true");

    machine.signal("USR2");

    machine.line("host-init: powering off");
    machine.ends(&Ending::PoweredOff);
}
