//! Every way to end it, and everything a host may do against it.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use crate::init::{End, Init};
use crate::lines::eventually;
use crate::room::{Room, config};
use crate::start::{Refused, Signals, Start};

/// What the host's grace is where nothing is to wait for it.
const PATIENT: &str = "stop-grace = \"1h\"";

/// `RTMIN` as every sender that matters counts.
const RTMIN: i32 = 34;

/// Ends `up` by a signal; how it ended.
fn end_by(number: i32) -> (Room, Init, End) {
    let mut room = Room::with_host(&["up"], PATIENT);
    let mut init = Start::new(&room).spawn();
    assert!(room.told.next().starts_with("up "));
    init.signal(number);
    let end = init.end();
    (room, init, end)
}

#[test]
fn each_signal_that_stops_a_container_stops_the_host_and_exits() {
    for number in [
        libc::SIGTERM,
        libc::SIGINT,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGPWR,
        RTMIN + 3,
        RTMIN + 4,
    ] {
        let (room, mut init, end) = end_by(number);

        assert_eq!(end, End::Code(0), "signal {number}");
        init.says("host-init: host: killed by TERM");
        let record = room.json("run/host-init/status/host.json");
        assert_eq!(record["asked"], "operator", "signal {number}");
        assert_eq!(record["exit"]["signal"], "TERM");
        assert_eq!(room.read("run/host-init/status/host"), "143\n");
    }
}

#[test]
fn a_reboot_that_is_asked_for_is_seen_as_one_by_whoever_made_the_namespace() {
    for number in [RTMIN + 5, RTMIN + 6] {
        let (room, _init, end) = end_by(number);

        // What reboot(2) makes of it: see pid_namespaces(7).
        assert_eq!(end, End::Signal(libc::SIGHUP), "signal {number}");
        assert_eq!(
            room.json("run/host-init/status/host.json")["asked"],
            "operator"
        );
    }
}

#[test]
fn a_reboot_that_the_kernel_refuses_is_an_exit_code() {
    for number in [RTMIN + 5, RTMIN + 15] {
        let mut room = Room::with_host(&["stubborn"], "stop-grace = \"50ms\"");
        let mut init = Start::new(&room).refused(Refused::Reboot).spawn();
        assert!(room.told.next().starts_with("up "));

        init.signal(number);

        // Whatever became of the host.
        assert_eq!(init.end(), End::Code(133), "signal {number}");
    }
}

#[test]
fn int_is_a_reboot_where_that_is_what_the_manager_means() {
    for (manager, rest, end) in [
        (c"container=lxc", "", End::Signal(libc::SIGHUP)),
        (c"container=lxc-libvirt", "", End::Signal(libc::SIGHUP)),
        (c"container=systemd-nspawn", "", End::Signal(libc::SIGHUP)),
        (c"container=docker", "", End::Code(0)),
        (
            c"container=lxc",
            "[signals]\nINT = \"poweroff\"",
            End::Code(0),
        ),
    ] {
        let mut room = Room::with_host(&["up"], rest);
        let environment = vec![manager.to_owned()];
        let mut init = Start::new(&room).environment(environment).spawn();
        assert!(room.told.next().starts_with("up "));

        init.signal(libc::SIGINT);

        assert_eq!(init.end(), end, "{manager:?} {rest}");
    }
}

#[test]
fn an_ending_at_once_gives_no_grace() {
    for (number, end) in [
        (RTMIN + 13, End::Code(137)),
        (RTMIN + 14, End::Code(137)),
        (RTMIN + 15, End::Signal(libc::SIGHUP)),
        (RTMIN + 16, End::Signal(libc::SIGHUP)),
    ] {
        let mut room = Room::with_host(&["stubborn"], PATIENT);
        let mut init = Start::new(&room).spawn();
        assert!(room.told.next().starts_with("up "));

        init.signal(number);

        assert_eq!(init.end(), end, "signal {number}");
        let record = room.json("run/host-init/status/host.json");
        assert_eq!(record["exit"]["signal"], "KILL", "signal {number}");
    }
}

#[test]
fn a_process_inside_may_ask_as_well() {
    for (number, end) in [
        (libc::SIGTERM, End::Code(0)),
        (RTMIN + 5, End::Signal(libc::SIGHUP)),
    ] {
        let room = Room::with_host(&["asks", &number.to_string()], PATIENT);
        let mut init = Start::new(&room).spawn();

        assert_eq!(init.end(), end, "signal {number}");
    }
}

#[test]
fn nobody_inside_can_end_it_by_force() {
    for number in [libc::SIGKILL, libc::SIGSTOP, libc::SIGSEGV, libc::SIGILL] {
        let mut room = Room::with_host(&["asks", &number.to_string()], PATIENT);
        let mut init = Start::new(&room).spawn();
        assert_eq!(room.told.next(), "up");

        init.signal(libc::SIGHUP);
        init.says("config: read again");

        init.stop_with(0);
    }
}

#[test]
fn a_host_that_ignores_its_stop_signal_is_killed_at_the_end_of_its_grace() {
    let grace = Duration::from_millis(300);
    let mut room = Room::with_host(&["stubborn"], "stop-grace = \"300ms\"");
    let mut init = Start::new(&room).spawn();
    assert!(room.told.next().starts_with("up "));

    let time = init.stop_with(137);

    assert!(time >= grace, "{time:?}");
    init.says("host: did not end in time, killed");
    let record = room.json("run/host-init/status/host.json");
    assert_eq!(record["exit"]["signal"], "KILL");
    assert_eq!(record["asked"], "operator");
}

#[test]
fn the_stop_signal_is_the_configs() {
    let mut room = Room::with_host(
        &["stubborn"],
        "stop-grace = \"1h\"\nstop-signal = \"RTMIN+3\"",
    );
    let mut init = Start::new(&room).spawn();
    assert!(room.told.next().starts_with("up "));

    init.stop_with(0);

    let record = room.json("run/host-init/status/host.json");
    assert_eq!(record["exit"]["signal"], "RTMIN+3");
}

#[test]
fn a_stopped_host_goes_on_to_end() {
    let mut room = Room::with_host(&["stopped"], PATIENT);
    let mut init = Start::new(&room).spawn();
    let up = room.told.next();
    let pid = up.strip_prefix("up ").unwrap().parse().unwrap();
    eventually("the host's stop", || {
        init.state_inside(pid) == "T (stopped)"
    });

    init.stop_with(0);
}

#[test]
fn a_host_that_breeds_while_it_dies_ends_with_all_of_it() {
    let mut room = Room::with_host(&["breeds"], PATIENT);
    let mut init = Start::new(&room).spawn();
    assert!(room.told.next().starts_with("up "));

    init.stop_with(0);

    assert_eq!(
        room.json("run/host-init/status/host.json")["exit"]["code"],
        0
    );
}

#[test]
fn what_a_host_leaves_behind_is_killed_before_its_next_life() {
    let mut room = Room::with_host(&["leaves"], "backoff = \"0s\"");
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "left");

    assert_eq!(room.told.next(), "gone");

    init.stop_with(0);
}

#[test]
fn a_second_request_shortens_the_grace() {
    let mut room = Room::with_host(&["stubborn"], PATIENT);
    let mut init = Start::new(&room).spawn();
    assert!(room.told.next().starts_with("up "));
    init.signal(libc::SIGTERM);
    eventually("the stop", || {
        room.json("run/host-init/state.json")["host"]["state"] == "stopping"
    });

    init.signal(libc::SIGTERM);
    let start = Instant::now();
    init.says("asked again: less time");

    assert_eq!(init.end(), End::Code(137));
    let time = start.elapsed();
    assert!(time > Duration::from_millis(1_500), "{time:?}");
}

#[test]
fn a_third_request_ends_the_grace() {
    let mut room = Room::with_host(&["stubborn"], PATIENT);
    let mut init = Start::new(&room).spawn();
    assert!(room.told.next().starts_with("up "));
    init.signal(libc::SIGTERM);
    eventually("the stop", || {
        room.json("run/host-init/state.json")["host"]["state"] == "stopping"
    });

    init.signal(libc::SIGTERM);
    init.says("asked again: less time");
    init.signal(libc::SIGTERM);

    assert_eq!(init.end(), End::Code(137));
    let said = init.said().all();
    let hurried = said.iter().filter(|line| line.contains("asked again"));
    // Killed by the third, and not when the second's time was over.
    assert_eq!(hurried.count(), 2, "{said:#?}");
}

#[test]
fn a_soft_reboot_starts_the_host_again_under_the_same_pid_1() {
    let mut room = Room::with_host(&["up"], PATIENT);
    let mut init = Start::new(&room).spawn();
    let first = room.told.next();

    init.signal(RTMIN + 7);
    let second = room.told.next();

    assert!(
        second.starts_with("up ") && first != second,
        "{first} {second}"
    );
    let record = room.json("run/host-init/status/host.json");
    assert_eq!(record["asked"], "operator");
    assert_eq!(record["exit"]["signal"], "TERM");
    init.stop_with(0);
}

#[test]
fn a_reload_changes_the_next_life_and_not_this_one() {
    let mut room = Room::with_host(&["up"], PATIENT);
    let mut init = Start::new(&room).spawn();
    let up = room.told.next();

    room.write("etc/host-init.toml", &config(&["report", "new"], PATIENT));
    init.signal(libc::SIGHUP);
    init.says("config: read again");
    let pid: i32 = up.strip_prefix("up ").unwrap().parse().unwrap();
    assert_eq!(init.pids(), [1, pid]);
    init.kill_inside(pid);

    room.told.wait_for(r#"words: ["new"]"#);
    room.told.wait_for("end");
    init.stop_with(0);
}

#[test]
fn a_bad_config_is_not_taken_and_the_one_before_stays() {
    let mut room = Room::with_host(&["up"], PATIENT);
    let mut init = Start::new(&room).spawn();
    assert!(room.told.next().starts_with("up "));

    room.write("etc/host-init.toml", "[host]\ncommand = 1\n[[mount");
    init.signal(libc::SIGHUP);
    init.says(":2:11: host.command: ");
    init.says(":3:");
    fs::remove_file(room.path().join("etc/host-init.toml")).unwrap();
    init.signal(libc::SIGHUP);
    init.says("read /etc/host-init.toml: no such file or directory");

    init.signal(RTMIN + 7);
    assert!(room.told.next().starts_with("up "));
    init.stop_with(0);
}

#[test]
fn a_stop_is_heard_at_every_moment_of_a_start() {
    // Dense in the first moments: the program's own beginning, its boot, the
    // clone and the exec; then lives and waits of a host that dies at once.
    let moments: Vec<Duration> = (0..80)
        .map(|step| Duration::from_micros(step * 125))
        .chain((0..50).map(|step| Duration::from_millis(10 + step * 10)))
        .collect();

    thread::scope(|scope| {
        for moments in moments.chunks(moments.len().div_ceil(8)) {
            scope.spawn(move || {
                for (index, moment) in moments.iter().enumerate() {
                    let role = ["up", "dead", "stubborn"][index % 3];
                    stop_at(*moment, role);
                }
            });
        }
    });
}

fn stop_at(moment: Duration, role: &str) {
    let rest = "stop-grace = \"50ms\"\nbackoff = \"20ms\"\nbackoff-max = \"20ms\"";
    let room = Room::with_host(&[role], rest);
    let mut init = Start::new(&room).signals(Signals::Blocked).spawn();
    assert!(init.lives_for(moment), "{role} {moment:?}");

    let end = init.stop();

    let said = init.said().all();
    let shown = format!("{role} {moment:?}: {end:?} {said:#?}");
    assert!(matches!(end, End::Code(0 | 137)), "{shown}");
    let stop = said
        .iter()
        .position(|line| !line.contains(": host: ") && line.contains("ing"))
        .unwrap_or_else(|| panic!("no word of the stop: {shown}"));
    // Nothing is started after it, and what was started has ended.
    let is_start = |line: &&String| line.contains(": started, pid");
    let is_end = |line: &&String| line.contains(": exit ") || line.contains(": killed by ");
    assert!(!said[stop..].iter().any(|line| is_start(&line)), "{shown}");
    let (starts, ends) = (said.iter().filter(is_start), said.iter().filter(is_end));
    assert_eq!(starts.count(), ends.count(), "{shown}");
    // Only one that had to be killed is said to be.
    let was_killed = said.last().unwrap().contains("killed by KILL");
    assert_eq!(end == End::Code(137), was_killed, "{shown}");
}

#[test]
fn an_exec_that_hangs_hangs_alone() {
    let mut room = Room::new("[host]\ncommand = [\"/tmp/slow\"]\nstop-grace = \"1h\"\n");
    room.write("tmp/slow", "#!/host up\n");
    let path = room.path().join("tmp/slow");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let lease = Lease::new(&path);
    let mut init = Start::new(&room).spawn();
    init.says("host: started, pid 2");
    eventually("the exec", || lease.is_wanted());

    // PID 1 hears, reads, writes.
    init.signal(libc::SIGHUP);
    init.says("config: read again");
    eventually("the host's state", || {
        room.json("run/host-init/state.json")["host"]["pid"] == 2
    });
    assert!(init.lives_for(Duration::ZERO));
    // And when the disk is back, so is the host.
    drop(lease);
    assert!(room.told.next().starts_with("up "));
    init.stop_with(0);
}

#[test]
fn a_host_whose_exec_hangs_ends_when_it_is_asked_to() {
    for (signal, code) in [(libc::SIGTERM, 0), (RTMIN + 13, 137)] {
        // With a word that is too long for a slot the child is a fork.
        for word in ["short".to_owned(), "x".repeat(5_000)] {
            let room = Room::new(&format!(
                "[host]\ncommand = [\"/tmp/slow\", \"{word}\"]\nstop-grace = \"1h\"\n"
            ));
            room.write("tmp/slow", "#!/host up\n");
            let path = room.path().join("tmp/slow");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            let lease = Lease::new(&path);
            let mut init = Start::new(&room).spawn();
            eventually("the exec", || lease.is_wanted());

            init.signal(signal);

            assert_eq!(init.end(), End::Code(code));
            init.says("host: killed by ");
            assert!(lease.is_wanted());
        }
    }
}

/// Holds up whoever opens a file, to run it for one, as a dead disk does:
/// `F_SETLEASE` of `fcntl(2)`.
pub(crate) struct Lease(File);

/// Chooses the signal that a lease's holder gets; the `libc` crate has it not.
const F_SETSIG: i32 = 10;

impl Lease {
    pub(crate) fn new(path: &std::path::Path) -> Self {
        let file = File::open(path).unwrap();
        // The default, SIGIO, would end this process.
        // SAFETY: takes numbers.
        let set = unsafe { libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG) };
        assert_eq!(set, 0);
        // SAFETY: takes numbers.
        let set = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };
        assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
        Self(file)
    }

    /// Whether somebody waits for it.
    pub(crate) fn is_wanted(&self) -> bool {
        // SAFETY: takes numbers.
        let kind = unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_GETLEASE) };
        kind != libc::F_WRLCK
    }
}

#[test]
fn a_host_that_the_config_has_no_more_is_not_started_again() {
    let mut room = Room::with_host(&["up"], "backoff = \"0s\"\nbackoff-max = \"0s\"");
    let mut init = Start::new(&room).spawn();
    let up = room.told.next();
    let pid: i32 = up.strip_prefix("up ").unwrap().parse().unwrap();

    room.write("etc/host-init.toml", "");
    init.signal(libc::SIGHUP);
    init.says("config: read again");
    init.kill_inside(pid);
    init.says("host: killed by KILL");

    assert_eq!(init.stop(), End::Code(0));
    let said = init.said().all();
    let starts = said.iter().filter(|line| line.contains("host: started"));
    assert_eq!(starts.count(), 1, "{said:#?}");
}

#[test]
fn where_there_can_be_no_process_it_tries_again_and_hears_a_stop() {
    let room = Room::with_host(&["up"], "backoff = \"0s\"\nbackoff-max = \"0s\"");
    let mut init = Start::new(&room).refused(Refused::Processes).spawn();
    for _ in 0..5 {
        init.says("host: clone: resource temporarily unavailable");
    }

    init.stop_with(0);

    let record = room.json("run/host-init/status/host.json");
    assert_eq!(record["pid"], serde_json::Value::Null);
    assert_eq!(record["result"], "resources");
    assert_eq!(record["exit"]["errno"], "EAGAIN");
}
