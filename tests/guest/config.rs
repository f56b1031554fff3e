//! Configs that are bad, missing or changed, and a person who is asked.

use qemu::Ending;

use crate::image::Image;
use crate::programs;
use crate::session::{Session, time};

/// A config with three things wrong.
const BAD: &str =
    "hostname = \"-\"\n[host]\ncommand = [\"/host\"]\nstop_grace = \"5s\"\nbackoff = 5\n";

/// What is said of it.
const WRONG: [&str; 3] = [
    "host-init: /etc/host-init.toml:1:12: hostname: expected",
    "host-init: /etc/host-init.toml:4:1: host.stop_grace: unknown key; did you mean host.stop-grace",
    "host-init: /etc/host-init.toml:5:11: host.backoff: expected a duration",
];

/// What the shell of busybox says when it waits for a person.
const PROMPT: &str = "# ";

#[test]
fn a_bad_config_is_told_whole_and_a_person_gets_a_shell_again_and_again() {
    let mut machine = Session::start(Image::new(BAD).boot());
    machine.lines(&WRONG);
    machine.line("host-init: the host is not started: a person is needed");
    machine.prompt(PROMPT);

    // A terminal of its own: keys are signals, jobs are jobs.
    machine.tell("echo tty $(tty) group $(cut -d' ' -f8 /proc/$$/stat) of $$");
    let said = machine.line("tty /dev");
    let (_, pids) = said.split_once("group ").unwrap();
    let (group, shell) = pids.split_once(" of ").unwrap();
    assert!(group != "-1" && shell != "1", "{said}");
    machine.tell("(echo to-the-$((40+2))th >/dev/tty)");
    machine.line("to-the-42th");
    let job = "sh -c 'echo be\"\"gun; exec sleep 1000'";
    machine.tell(job);
    machine.line("begun");
    machine.type_text([3]).unwrap();
    machine.tell("echo interrupted $?");
    machine.line("interrupted 130");
    machine.tell(job);
    machine.line("begun");
    machine.type_text([26]).unwrap();
    machine.line("Stopped");
    // PID 1 has no terminal, whatever its children have.
    machine.tell("echo one: $(cut -d' ' -f4-8 /proc/1/stat)");
    machine.line("one: 0 0 0 0 -1");
    // Orphans of a person's are reaped too.
    machine.tell("(sleep 0 & sleep 0 &); until ! grep -q '^State:.Z' /proc/[0-9]*/status; do :; done; echo reaped $((0+1))");
    machine.line("reaped 1");

    machine.tell("exit");
    machine.tell("exit");
    machine.line("host-init: rescue: ");
    machine.prompt(PROMPT);
    machine.tell("echo 'poweroff by hand'; kill -38 1");
    machine.line("host-init: powering off");
    machine.ends(&Ending::PoweredOff);
}

#[test]
fn without_a_shell_a_bad_config_counts_down_to_a_restart() {
    let image = Image::bare(programs::host_init()).file("/etc/host-init.toml", BAD);
    let mut machine = Session::start(image.boot().append("panic=2"));

    machine.lines(&WRONG);
    let begun = machine.line("host-init: there is no shell for a person");
    let ended = machine.line("host-init: rebooting");
    machine.ends(&Ending::Restarted);

    let wait = time(&ended) - time(&begun);
    assert!((1.9..6.0).contains(&wait), "{wait} s");
}

#[test]
fn where_it_is_told_to_stay_it_stays_and_powers_off_when_asked() {
    // No config at all, at a path of the command line.
    let image = Image::bare(programs::host_init()).probe();
    let words = "panic=0 host_init.config=/none.toml rdinit=/bin/probe -- early 38 3000000";
    let mut machine = Session::start(image.boot().append(words));

    machine.line("host-init: read /none.toml: no such file or directory");
    let begun = machine.line("host-init: there is no shell for a person");
    let ended = machine.line("host-init: powering off");
    machine.ends(&Ending::PoweredOff);

    assert!(time(&ended) - time(&begun) > 1.0);
}

#[test]
fn one_machine_lives_through_reloads_soft_reboots_and_signals_that_mean_nothing() {
    let image = Image::with_shell("");
    let mut machine = Session::up(image.boot());
    let host =
        |command: &str, rest: &str| format!("[host]\\ncommand = [\\\"{command}\\\"]\\n{rest}");
    let config = |machine: &mut Session, text: &str| {
        machine.ask(&format!("printf \"{text}\" >/etc/host-init.toml"));
        machine.signal("HUP");
    };

    // A good one counts at once, for the signals as for the next life.
    config(
        &mut machine,
        &host(
            "/host",
            "[signals]\\nUSR1 = \\\"ignore\\\"\\nPWR = \\\"halt\\\"\\n",
        ),
    );
    machine.line("host-init: config: read again");
    machine.signal("USR1");

    // A bad one is told, and changes nothing.
    config(
        &mut machine,
        "host = 1\\n[signals]\\nUSR1 = \\\"halt\\\"\\n",
    );
    machine.line("host-init: /etc/host-init.toml:1:8: host: expected");
    machine.signal("USR1");
    assert_eq!(
        machine.ask("until grep -q running /run/host-init/state.json; do :; done; echo up"),
        "up"
    );

    // A soft reboot is a new life of the host's and of nothing else's.
    let uptime: f64 = machine.ask("cut -d' ' -f1 /proc/uptime").parse().unwrap();
    let before = machine.ask("echo $$");
    machine.signal("41");
    machine.lines(&["host-init: stopping, to start again", "host: up"]);
    let after = machine.ask("echo $$");
    machine.ask("trap '' TERM");
    machine.signal("51");
    machine.line("host: up");
    assert_ne!(before, after);
    assert_ne!(after, machine.ask("echo $$"));
    let later: f64 = machine.ask("cut -d' ' -f1 /proc/uptime").parse().unwrap();
    assert!(later > uptime);

    // Faults that somebody sends, and everything else without a meaning.
    for signal in [
        "SEGV", "BUS", "ILL", "FPE", "TRAP", "ABRT", "KILL", "STOP", "TSTP", "WINCH", "URG",
        "XCPU", "34", "64",
    ] {
        machine.signal(signal);
    }
    assert_eq!(
        machine.ask("grep State: /proc/1/status").replace('\t', " "),
        "State: S (sleeping)"
    );

    // How much is said.
    config(
        &mut machine,
        &format!(
            "log-level = \\\"error\\\"\\n{}",
            host("/host", "[signals]\\nPWR = \\\"halt\\\"\\n")
        ),
    );
    for (level, is_told) in [("57", false), ("56", true), ("57", false)] {
        let before = machine.console().len();
        machine.ask(&format!("kill -{level} 1"));
        machine.signal("41");
        machine.line("host: up");
        let said = machine.console()[before..].contains("host-init: stopping, to start again");
        assert_eq!(said, is_told, "{level}");
    }

    machine.signal("PWR");
    machine.ends(&Ending::Halted);
}
