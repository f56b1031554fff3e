//! host-init in a container with a control group of its own.

use qemu::Ending;

use crate::image::Image;
use crate::session::Session;

/// What the container runs.
const BOX: &str = "\
[host]
command = [\"/bin/sh\", \"-c\", \"exec sleep 100000\"]
backoff = \"0s\"
backoff-max = \"0s\"
";

/// A machine with a group for a container, which gives the controllers that it has
/// to it.
fn machine() -> Session {
    let image = Image::with_shell("").file("/etc/box.toml", BOX).probe();
    let mut machine = Session::up(image.boot());
    machine.ask("until grep -q init /proc/1/cgroup; do usleep 1000; done");
    machine.ask(
        "cd /sys/fs/cgroup; for c in cpu io memory pids; do echo +$c >cgroup.subtree_control; done",
    );
    machine.ask("mkdir box");
    machine
}

/// Starts the container; the pid of its init.
fn contain(machine: &mut Session, how: &str) -> String {
    machine.tell(&format!("probe contain /sys/fs/cgroup/box {how} &"));
    let line = machine.line("contained: ");
    let pid = line.rsplit_once("contained: ").unwrap().1.trim();
    pid.to_owned()
}

#[test]
fn in_a_group_of_its_own_a_containers_services_get_controllers() {
    let mut machine = machine();
    let init = contain(&mut machine, "writable");
    machine.ask("until grep -q pids box/cgroup.subtree_control; do usleep 10000; done");

    // Nobody is left where it was started, and the one who was there before is in
    // the leaf as well. The child that moved them is not there for long.
    assert_eq!(machine.ask("wc -l <box/cgroup.procs"), "0");
    machine.ask("until [ $(wc -l <box/init/cgroup.procs) = 2 ]; do usleep 10000; done");
    assert_eq!(machine.ask("head -1 box/init/cgroup.procs"), init);
    assert_eq!(machine.ask("wc -l <box/host/cgroup.procs"), "1");
    let given = machine.ask("cat box/cgroup.controllers");
    let taken = machine.ask("cat box/cgroup.subtree_control");
    for name in ["cpu", "io", "memory", "pids"] {
        let is_in = |list: &str| list.split(' ').any(|word| word == name);
        assert_eq!(is_in(&taken), is_in(&given), "{name}: {taken} of {given}");
    }
    assert!(
        taken.contains("memory") && taken.contains("pids"),
        "{taken}"
    );
    assert_eq!(machine.ask("ls box/host/memory.max"), "box/host/memory.max");

    // In its next life it knows where it began.
    machine.tell(&format!("kill -59 {init}"));
    machine.line("re-executed");
    machine.ask("old=$(cat box/host/cgroup.procs); kill -KILL $old");
    machine.ask("until grep -qsv \"^$old$\" box/host/cgroup.procs; do usleep 10000; done");
    assert_eq!(machine.ask("ls -d box/*/*/ 2>/dev/null"), "");

    machine.tell(&format!("kill -TERM {init}"));
    machine.line("contained: ended, status 0x0");
    let console = machine.console();
    assert!(!console.contains("cgroup v2: "), "{console}");
    assert!(!console.contains("enter cgroup"), "{console}");
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
}

#[test]
fn where_the_groups_are_not_its_to_change_it_says_so_once_and_goes_on() {
    let mut machine = machine();
    let init = contain(&mut machine, "read-only");
    machine.line("host-init: cgroup v2: read-only filesystem: services are process groups");
    machine.line("host: started");

    machine.tell(&format!("kill -TERM {init}"));

    machine.line("contained: ended, status 0x0");
    let console = machine.console();
    assert_eq!(
        console.matches("read-only filesystem").count(),
        1,
        "{console}"
    );
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
}
