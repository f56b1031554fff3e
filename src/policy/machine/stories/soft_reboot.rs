//! Everything is stopped, to be started again.

use super::*;

#[test]
fn a_soft_reboot_of_a_machine_that_counts_down_boots_it_again() {
    let facts = Facts {
        shell: Shell::Missing,
        ..MACHINE.facts
    };
    let mut story = Story::booted(Settings { facts, ..MACHINE });
    story.on(Done(Mount(0), BAD));

    assert_eq!(
        story.on(Signaled(realtime(7))),
        [Say(Report::Again), Do(Mount(0))]
    );
}

#[test]
fn a_soft_reboot_stops_everything_and_boots_again() {
    let mut story = Story::booted(Settings {
        directories: true,
        ..BARE
    });
    story.on(Done(Directories, Outcome::Good));

    assert_eq!(story.on(Signaled(realtime(7))), begins(Say(Report::Again)));
    assert_eq!(story.end(Host, Exit::Code(0)), [Do(Directories)]);
    assert_eq!(story.on(Done(Directories, Outcome::Good)), [Start(Host)]);
    assert_eq!(story.machine.deadline(), None);
}

#[test]
fn a_soft_reboot_at_once_kills_and_boots_again() {
    let mut story = Story::running();

    assert_eq!(
        story.on(Signaled(realtime(17))),
        [Say(Report::Again), Kill(Host)]
    );
    assert_eq!(story.end(Host, by(Signal::KILL)), [Start(Host)]);
}

#[test]
fn an_ending_during_a_soft_reboot_wins() {
    let mut story = Story::running();
    story.on(Signaled(realtime(7)));

    assert_eq!(story.on(Signaled(Signal::USR1)), [ending(Ending::Halt)]);
    assert_eq!(
        story.end(Host, Exit::Code(0)),
        [Leave(Ending::Halt, Step::Kill)]
    );
}

#[test]
fn a_soft_reboot_of_a_host_that_waits_starts_it_at_once() {
    let mut story = Story::running();
    story.end(Host, FAILED);
    story.end(Host, FAILED);

    assert_eq!(
        story.on(Signaled(realtime(7))),
        [Say(Report::Again), Start(Host)]
    );
}

#[test]
fn a_host_that_could_not_be_killed_is_started_again_once_it_is_gone() {
    let mut story = Story::running();
    story.on(Signaled(realtime(17)));
    assert_eq!(story.reach_deadline(5_000), [Say(Report::Unkillable(Host))]);
    assert_eq!(story.machine.stage(), Stage::Running);
    assert_eq!(story.machine.deadline(), None);

    story.pass(3_600_000);

    assert_eq!(
        story.on(Exited(Host, by(Signal::KILL))),
        [
            Clear(Host, Signal::KILL),
            Record(Host, by(Signal::KILL), Cause::Timeout)
        ]
    );
    assert_eq!(story.on(Emptied(Host)), [Start(Host)]);
}
