//! Every way in which a boot can end is told apart.

use core::time::Duration;

use qemu::{Console, Ending};

mod image;

use image::{BOUND, script};

#[test]
fn a_guest_that_powers_off_has_powered_off() {
    let mut guest = script("poweroff -f").start().unwrap();

    assert_eq!(guest.wait_end(BOUND), Ending::PoweredOff);
}

#[test]
fn a_guest_that_restarts_has_restarted() {
    let mut guest = script("reboot -f").start().unwrap();

    assert_eq!(guest.wait_end(BOUND), Ending::Restarted);
    assert!(
        guest
            .events()
            .iter()
            .any(|event| event.reason() == Some("guest-reset"))
    );
}

#[test]
fn a_guest_that_halts_has_halted_and_is_still_there() {
    let mut guest = script("halt -f").start().unwrap();

    assert_eq!(guest.wait_end(BOUND), Ending::Halted);
    assert_eq!(guest.status().unwrap(), "running");
}

#[test]
fn an_init_that_returns_is_a_panic_with_the_kernels_reason() {
    let mut guest = script("exit 3").start().unwrap();

    let ending = guest.wait_end(BOUND);

    let Ending::Panicked { reason } = &ending else {
        panic!("{ending}: {}", guest.console());
    };
    assert_eq!(reason, "Attempted to kill init! exitcode=0x00000300");
}

#[test]
fn a_panic_that_does_not_restart_is_a_panic_too() {
    let mut guest = script("exit 3").append("panic=0").start().unwrap();

    let ending = guest.wait_end(BOUND);

    assert!(matches!(ending, Ending::Panicked { .. }), "{ending}");
}

#[test]
fn a_guest_that_does_nothing_is_hung_once_the_bound_has_passed() {
    let mut guest = script("echo idle\nwhile :; do sleep 9; done")
        .start()
        .unwrap();
    guest.wait_line("idle", BOUND).unwrap();

    // Long enough for several looks at the processor, which only sleeps.
    assert_eq!(guest.wait_end(Duration::from_secs(1)), Ending::Hung);
}

#[test]
fn a_guest_whose_plug_is_pulled_was_killed() {
    let mut guest = script("echo up\nread x").start().unwrap();
    guest.wait_line("up", BOUND).unwrap();

    guest.pull_plug();

    assert_eq!(guest.wait_end(BOUND), Ending::Killed);
    assert_eq!(guest.wait_end(BOUND), Ending::Killed);
}

#[test]
fn a_guest_goes_on_over_its_restarts_and_each_is_an_ending() {
    let mut guest = script("echo up\nread verb\n$verb -f")
        .through_restarts()
        .start()
        .unwrap();

    // What is typed before somebody listens is lost.
    guest.wait_line("up", BOUND).unwrap();
    guest.type_line("reboot").unwrap();
    assert_eq!(guest.wait_end(BOUND), Ending::Restarted);
    guest.wait_line("up", BOUND).unwrap();
    guest.type_line("poweroff").unwrap();
    assert_eq!(guest.wait_end(BOUND), Ending::PoweredOff);
    assert_eq!(guest.wait_end(BOUND), Ending::PoweredOff);
}

#[test]
fn a_halt_in_silence_is_seen_without_a_console() {
    let mut guest = script("halt -f").console(Console::Absent).start().unwrap();

    assert_eq!(guest.wait_end(BOUND), Ending::Halted);
}
