//! host-init's own options: how the command is stopped, and what it leaves.

use std::time::{Duration, Instant};

use crate::init::{End, Init};
use crate::options::host_init;
use crate::place::Place;
use crate::signals::recorded;
use crate::start::{ROLES, Role, Start, Terminal};
use crate::targets::reached;
use crate::terminal::Session;

/// The time of `--kill-after` where it is waited for.
const SOON: Duration = Duration::from_millis(300);

/// Sends a signal to a command that ignores all; how long it takes it to its end.
fn killed(place: &mut Place, role: Role, flags: &[&str], number: i32) -> (End, Duration) {
    place.forget();
    let mut init = recorded(place, &host_init(), role, flags);
    let begin = Instant::now();
    init.signal(number);
    place.told.next();
    let end = init.end();
    (end, begin.elapsed())
}

#[test]
fn a_command_that_does_not_stop_is_killed() {
    let mut place = Place::new();
    for role in ROLES {
        for (flags, number) in [
            (&["-k", "300ms"][..], libc::SIGTERM),
            (&["--kill-after=300ms"], libc::SIGINT),
            (&["-gk300ms"], libc::SIGQUIT),
            (&["-k", "300ms"], libc::SIGPWR),
            (&["-k", "300ms", "-j", "none"], 37),
            (&["-k", "300ms", "--stop-signal", "USR1"], libc::SIGUSR1),
            (&["-k", "300ms", "--stop-signal", "USR1"], libc::SIGTERM),
            (&["-k", "300ms", "-r", "TERM:HUP"], libc::SIGTERM),
        ] {
            let (end, time) = killed(&mut place, role, flags, number);
            assert_eq!(end, End::Code(137), "{role:?} {flags:?} {number}");
            assert!(time >= SOON, "{role:?} {flags:?} {number}: {time:?}");
        }
    }
}

#[test]
fn a_signal_that_asks_for_no_end_kills_nobody() {
    let mut place = Place::new();
    let init = recorded(&mut place, &host_init(), Role::First, &["-k", "100ms"]);
    for number in [
        libc::SIGHUP,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGWINCH,
        36,
        38,
    ] {
        init.signal(number);
        place.told.next();
    }

    assert!(init.lives_for(SOON));
}

#[test]
fn the_time_to_stop_begins_with_the_first_signal() {
    let mut place = Place::new();
    let mut init = recorded(&mut place, &host_init(), Role::First, &["-k", "1500ms"]);
    let begin = Instant::now();
    init.signal(libc::SIGTERM);
    place.told.next();
    assert!(init.lives_for(Duration::from_secs(1)));
    init.signal(libc::SIGTERM);
    place.told.next();

    assert_eq!(init.end(), End::Code(137));

    let time = begin.elapsed();
    let range = Duration::from_millis(1_500)..Duration::from_millis(2_500);
    assert!(range.contains(&time), "{time:?}");
}

#[test]
fn a_command_that_stops_in_time_tells_how() {
    let mut place = Place::new();
    for role in ROLES {
        place.forget();
        let start = Start::new(&place, &host_init()).role(role);
        let words = ["-k", "1h", "--", &place.recorder(), "up"];
        let mut init = start.words(&words).spawn();
        assert_eq!(place.told.next(), "up");
        init.signal(libc::SIGTERM);
        assert_eq!(init.end(), End::Code(143));
    }
}

/// A host-init whose command ends and leaves two.
fn left(place: &mut Place, role: Role, flags: &[&str], kind: &str) -> Init {
    place.forget();
    let recorder = &place.recorder();
    let kind: Vec<&str> = kind.split(' ').collect();
    let (kind, count) = kind.split_first().unwrap();
    let words = [flags, &["--", recorder, kind, "7"], count].concat();
    Start::new(place, &host_init())
        .role(role)
        .words(&words)
        .spawn()
}

#[test]
fn what_a_command_leaves_is_stopped_and_waited_for() {
    let mut place = Place::new();
    for role in ROLES {
        let begin = Instant::now();
        let mut init = left(&mut place, role, &["--wait", "-k", "300ms"], "leaves");

        assert_eq!(init.end(), End::Code(7), "{role:?}");

        assert!(begin.elapsed() >= SOON, "{role:?}");
        // They are continued too, so that one that is stopped hears it.
        for who in ["member", "stranger"] {
            let stop = format!("{who} signal 15 from {}", init.pid_inside());
            assert!(place.told.all().contains(&stop), "{role:?}: {stop}");
        }
        if role == Role::Ordinary {
            for pid in [4, 5] {
                assert_eq!(init.state_inside(pid), None, "{pid}");
            }
        }
    }
}

#[test]
fn what_ends_when_it_is_told_is_not_waited_for_longer() {
    let mut place = Place::new();
    for role in ROLES {
        let mut init = left(&mut place, role, &["--wait", "-k", "1h"], "leaves-mortals");

        assert_eq!(init.end(), End::Code(7), "{role:?}");
    }
}

#[test]
fn however_many_a_command_leaves_all_are_told() {
    let mut place = Place::new();
    for role in ROLES {
        // More than one page of /proc tells of.
        let flags = ["--wait", "-k", "1h"];
        let mut init = left(&mut place, role, &flags, "leaves-many 1500");

        assert_eq!(init.end(), End::Code(7), "{role:?}");

        assert_eq!(init.left(), 0, "{role:?}");
    }
}

#[test]
fn children_of_what_a_command_leaves_are_told_as_well() {
    let mut place = Place::new();
    for role in ROLES {
        let flags = ["--wait", "-k", "1h"];
        let mut init = left(&mut place, role, &flags, "leaves-mortal-line 5");

        assert_eq!(init.end(), End::Code(7), "{role:?}");

        assert_eq!(init.left(), 0, "{role:?}");
    }
}

#[test]
fn children_of_what_a_command_leaves_are_killed_however_deep() {
    let mut place = Place::new();
    for role in ROLES {
        let flags = ["--wait", "-k", "300ms"];
        let begin = Instant::now();
        let mut init = left(&mut place, role, &flags, "leaves-line 50");

        assert_eq!(init.end(), End::Code(7), "{role:?}");

        assert!(begin.elapsed() >= SOON, "{role:?}");
        assert_eq!(init.left(), 0, "{role:?}");
    }
}

#[test]
fn without_a_wish_to_wait_nobody_is_told_anything() {
    let mut place = Place::new();
    let mut init = left(&mut place, Role::Ordinary, &["-k", "100ms"], "leaves");

    assert_eq!(init.end(), End::Code(7));

    for pid in [4, 5] {
        init.signal_inside(pid, 64);
    }
    let mut lines: Vec<String> = (0..4).map(|_| place.told.next()).collect();
    lines.retain(|line| line.contains("signal"));
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["member signal 64 from 0", "stranger signal 64 from 0"]
    );
}

#[test]
fn one_deadline_is_for_the_command_and_for_what_it_leaves() {
    let mut place = Place::new();
    for role in ROLES {
        place.forget();
        let words = ["--wait", "-k", "1s", "--", &place.recorder(), "family"];
        let start = Start::new(&place, &host_init()).role(role);
        let mut init = start.words(&words).spawn();
        for _ in 0..3 {
            assert!(place.told.next().ends_with("up"));
        }
        let begin = Instant::now();
        init.signal(libc::SIGTERM);

        assert_eq!(init.end(), End::Code(137), "{role:?}");

        let time = begin.elapsed();
        let range = Duration::from_secs(1)..Duration::from_secs(2);
        assert!(range.contains(&time), "{role:?}: {time:?}");
    }
}

#[test]
fn stops_may_be_said_by_variables() {
    let mut place = Place::new();
    let recorder = &place.recorder();
    for (variables, words, number) in [
        (&["HOST_INIT_KILL_AFTER=300ms"][..], &[][..], 15),
        (&["HOST_INIT_KILL_AFTER=1h"], &["-k", "300ms"], 15),
        (
            &["HOST_INIT_KILL_AFTER=300ms", "HOST_INIT_STOP_SIGNAL=USR2"],
            &[],
            libc::SIGUSR2,
        ),
    ] {
        place.forget();
        let mut start = Start::new(&place, &host_init());
        for variable in variables {
            start = start.variable(variable);
        }
        let words = [words, &["--", recorder, "records", "9"]].concat();
        let mut init = start.words(&words).spawn();
        assert_eq!(place.told.next(), "up");
        init.signal(number);
        assert_eq!(init.end(), End::Code(137), "{variables:?} {words:?}");
    }
    for (variable, flags, expected) in [
        ("HOST_INIT_GROUP=1", &[][..], &["it", "member"][..]),
        ("HOST_INIT_GROUP=0", &[], &["it"]),
        ("HOST_INIT_GROUP=", &["-g"], &["it", "member"]),
        ("HOST_INIT_REWRITE=HUP:0", &[], &[]),
        ("HOST_INIT_REWRITE=HUP:0", &["-r", "HUP:HUP"], &["it"]),
    ] {
        place.forget();
        let role = Role::First;
        let reached = reached(&mut place, &host_init(), role, flags, Some(variable));
        assert_eq!(reached, expected, "{variable} {flags:?}");
    }
    for (variable, is_waited) in [("HOST_INIT_WAIT=1", true), ("HOST_INIT_WAIT=no", false)] {
        place.forget();
        let words = ["-k", "300ms", "--", recorder, "leaves", "7"];
        let start = Start::new(&place, &host_init()).variable(variable);
        let begin = Instant::now();
        assert_eq!(start.words(&words).run().end, End::Code(7));
        assert_eq!(begin.elapsed() >= SOON, is_waited, "{variable}");
    }
}

#[test]
fn a_job_of_a_shell_stops_with_its_command_and_both_go_on() {
    let mut place = Place::new();
    let words = ["--", &place.recorder(), "continued"];
    let kind = Terminal::OfAnother;
    let mut session = Session::new(&place, &host_init(), Role::Ordinary, kind, &words);
    assert_eq!(place.told.next(), "up");

    session.control(b'Z');

    for pid in [3, 2] {
        crate::lines::eventually("its stop", || session.init.state_inside(pid) == Some('T'));
    }
    // As the shell's `fg` does.
    session.init.signal(libc::SIGCONT);
    assert_eq!(place.told.next(), "continued");
    session.control(b'C');
    assert_eq!(session.init.end(), End::Code(130));
}

#[test]
fn a_job_in_the_background_leaves_its_shell_the_terminal() {
    let mut place = Place::new();
    for flags in [&[][..], &["--wait", "-k", "200ms"]] {
        place.forget();
        let recorder = &place.recorder();
        let words = [flags, &["--", recorder, "terminal"]].concat();
        let kind = Terminal::OfAnotherBehind;
        let mut session = Session::new(&place, &host_init(), Role::Ordinary, kind, &words);
        let shell = session.foreground();
        assert_eq!(
            place.told.next(),
            "foreground false leads-group true leads-session false controlled true"
        );
        assert_eq!(place.told.next(), "up");
        assert_eq!(session.foreground(), shell, "while it runs");

        session.init.signal_inside(3, libc::SIGKILL);

        assert_eq!(session.init.end(), End::Code(137));
        assert_eq!(session.foreground(), shell, "at its end");
    }
}

#[test]
fn a_job_in_the_background_that_wants_to_read_stops_with_its_command() {
    let place = Place::new();
    let words = ["--", &place.recorder(), "reads"];
    let kind = Terminal::OfAnotherBehind;
    let session = Session::new(&place, &host_init(), Role::Ordinary, kind, &words);
    let shell = session.foreground();

    for pid in [3, 2] {
        crate::lines::eventually("its stop", || session.init.state_inside(pid) == Some('T'));
    }

    assert_eq!(session.foreground(), shell);
}

#[test]
fn a_command_that_a_key_stops_where_nobody_could_continue_it_goes_on() {
    let mut place = Place::new();
    for flags in ["--job=group", "--job=session"] {
        place.forget();
        let words = [flags, "--", &place.recorder(), "continued"];
        let kind = Terminal::Own;
        let mut session = Session::new(&place, &host_init(), Role::First, kind, &words);
        assert_eq!(place.told.next(), "up");

        session.control(b'Z');
        // In a session of its own it is in no group that a key stops.
        if flags == "--job=group" {
            assert_eq!(place.told.next(), "continued");
        }

        session.control(b'C');
        assert_eq!(session.init.end(), End::Code(130), "{flags}");
    }
}

#[test]
fn keys_reach_a_command_once_that_shares_the_foreground() {
    let mut place = Place::new();
    let words = ["--job=none", "--", &place.recorder(), "terminal"];
    let kind = Terminal::Own;
    let mut session = Session::new(&place, &host_init(), Role::Ordinary, kind, &words);
    place.told.next();
    assert_eq!(place.told.next(), "up");

    for (letter, number) in [(b'C', libc::SIGINT), (b'\\', libc::SIGQUIT)] {
        session.control(letter);
        assert_eq!(place.told.next(), format!("signal {number} from 0"));
        // The kernel sent it to both at once.
        session.init.has_heard_all();
        session.init.signal(64);
        assert_eq!(place.told.next(), "signal 64 from 2");
    }
}

#[test]
fn a_key_ends_what_a_command_leaves() {
    let mut place = Place::new();
    for (role, kind, job) in [
        (Role::Ordinary, Terminal::OfAnother, "--job=group"),
        (Role::First, Terminal::Own, "--job=group"),
    ] {
        place.forget();
        let recorder = &place.recorder();
        let words = [job, "--wait", "-k", "1h", "--", recorder, "leaves", "7"];
        let mut session = Session::new(&place, &host_init(), role, kind, &words);
        for _ in 0..2 {
            place.told.wait_for("signal 15 from");
        }
        session.init.is_asleep();

        session.control(b'C');

        assert_eq!(session.init.end(), End::Code(7), "{role:?}");
    }
}
