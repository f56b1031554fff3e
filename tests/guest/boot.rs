//! What a machine is like when its host runs.

use std::collections::BTreeSet;

use host_init::format::mount_options::flag;
use host_init::pid1::filesystems::TABLE;
use qemu::{Disk, Ending};

use crate::disk::{assert_clean, read};
use crate::image::{Image, SHELL};
use crate::session::Session;

const CONFIG: &str = "\
hostname = \"edge-7.test\"

[[mount]]
source = \"/dev/nvme0n1\"
target = \"/var/lib\"
type = \"ext4\"
options = \"noatime,nosuid,nodev\"
wait = \"30s\"

[[mount]]
source = \"none\"
target = \"/srv/memory\"
type = \"tmpfs\"
options = \"ro,mode=0700\"

[[directory]]
path = \"/var/lib/host/deep\"
mode = \"2750\"
uid = 1000
gid = 100

[[directory]]
path = \"/srv\"
mode = \"0711\"
";

/// One mount, as far as it does not differ from kernel to kernel.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Mounted {
    target: String,
    kind: String,
    source: String,
    /// Flags of the mount, and options of the filesystem.
    options: BTreeSet<String>,
}

#[test]
fn a_booted_machine_is_as_the_documents_say() {
    let disk = Disk::ext4(16).unwrap();
    let host = "[host]\ncommand = [\"/host\"]\nstop-signal = \"INT\"\n";
    let image = Image::new(&format!("{CONFIG}{host}")).program("/host", SHELL);
    let mut machine = Session::up(image.boot().disk(&disk));

    assert_eq!(machine.ask("hostname"), "edge-7.test");
    mounts(&mut machine);
    devices(&mut machine);
    directories(&mut machine);
    first_process(&mut machine);
    host_process(&mut machine);
    network(&mut machine);
    log(&mut machine);

    machine.ask("trap 'echo kept >/var/lib/note; exit 0' INT");
    machine.signal("USR2");
    machine.line("host-init: host: exit 0");
    machine.ends(&Ending::PoweredOff);
    drop(machine);
    assert_clean(&disk);
    assert_eq!(read(&disk, "/note"), "kept\n");
}

fn mounts(machine: &mut Session) {
    let known = machine.ask("cat /proc/filesystems");
    let known: Vec<&str> = known
        .lines()
        .filter_map(|line| line.split('\t').nth(1))
        .collect();
    let table = machine.ask("cat /proc/self/mountinfo");
    let mounted: BTreeSet<Mounted> = table.lines().map(mounted).collect();

    let mut expected: BTreeSet<Mounted> = TABLE
        .iter()
        .filter(|filesystem| known.contains(&filesystem.kind.to_str().unwrap()))
        .map(|filesystem| {
            let kind = filesystem.kind.to_str().unwrap();
            let mut options = flags(filesystem.flags);
            options.extend(
                filesystem.options[0]
                    .to_str()
                    .unwrap()
                    .split(',')
                    .map(spelt),
            );
            mount(filesystem.target.to_str().unwrap(), kind, kind, options)
        })
        .collect();
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    expected.insert(mount("/", "rootfs", "rootfs", words("rw")));
    expected.insert(mount(
        "/var/lib",
        "ext4",
        "/dev/nvme0n1",
        words("rw noatime nosuid nodev"),
    ));
    expected.insert(mount(
        "/srv/memory",
        "tmpfs",
        "none",
        words("ro relatime mode=700"),
    ));
    assert_eq!(mounted, expected);
    // What the table is about is there at all.
    assert!(expected.len() > 15, "{expected:?}");
}

fn mount(target: &str, kind: &str, source: &str, mut options: BTreeSet<String>) -> Mounted {
    options.remove("");
    Mounted {
        target: target.to_owned(),
        kind: kind.to_owned(),
        source: source.to_owned(),
        options,
    }
}

/// A line of `/proc/self/mountinfo`.
fn mounted(line: &str) -> Mounted {
    /// What the kernel adds by itself: limits, and how it numbers.
    const OWN: [&str; 4] = ["size=", "nr_inodes=", "inode64", "pagesize="];

    let words: Vec<&str> = line.split(' ').collect();
    let [_, _, _, _, target, flags, "-", kind, source, options] = words.as_slice() else {
        panic!("{line}");
    };
    let options = flags
        .split(',')
        .chain(options.split(','))
        .filter(|option| !OWN.iter().any(|own| option.starts_with(own)))
        .map(str::to_owned)
        .collect();
    mount(target, kind, source, options)
}

/// Flags as the kernel spells them. It adds `relatime` by itself.
fn flags(flags: u32) -> BTreeSet<String> {
    let mut names = vec![
        if flags & flag::RDONLY == 0 {
            "rw"
        } else {
            "ro"
        },
        "relatime",
    ];
    for (bit, name) in [
        (flag::NOSUID, "nosuid"),
        (flag::NODEV, "nodev"),
        (flag::NOEXEC, "noexec"),
    ] {
        if flags & bit != 0 {
            names.push(name);
        }
    }
    names.into_iter().map(str::to_owned).collect()
}

/// An option as the kernel spells it: modes without zeros before them, and not the
/// one that is usual for memory.
fn spelt(option: &str) -> String {
    option
        .replace("mode=0755", "mode=755")
        .replace("mode=1777", "")
}

fn devices(machine: &mut Session) {
    let links = machine.ask("for name in fd stdin stdout stderr; do readlink /dev/$name; done");
    assert_eq!(
        links,
        "/proc/self/fd\n/proc/self/fd/0\n/proc/self/fd/1\n/proc/self/fd/2"
    );
    assert_eq!(machine.ask("echo through >/dev/stderr 2>&1"), "through");
    assert_eq!(
        machine.ask("stat -c '%A %u' /dev/null /dev/shm /tmp /run"),
        "crw-rw-rw- 0\ndrwxrwxrwt 0\ndrwxrwxrwt 0\ndrwxr-xr-x 0"
    );
}

fn directories(machine: &mut Session) {
    let modes =
        machine.ask("stat -c '%a %u %g %n' /var/lib/host /var/lib/host/deep /srv /srv/memory");
    assert_eq!(
        modes,
        "755 0 0 /var/lib/host\n2750 1000 100 /var/lib/host/deep\n711 0 0 /srv\n700 0 0 /srv/memory"
    );
}

/// PID 1 itself: in its place, with nothing that it need not have.
fn first_process(machine: &mut Session) {
    // It goes there on the side.
    machine.ask("until grep -q init /proc/1/cgroup; do usleep 1000; done");
    assert_eq!(machine.ask("cat /proc/1/cgroup"), "0::/init");
    assert_eq!(
        machine.ask("for link in cwd root exe; do readlink /proc/1/$link; done"),
        "/\n/\n/init"
    );
    // No group, no session, no terminal.
    assert_eq!(machine.ask("cut -d' ' -f5-8 /proc/1/stat"), "0 0 0 -1");
    assert_eq!(machine.ask("cat /proc/1/oom_score_adj"), "-1000");
    let limits = machine.ask("grep 'open files' /proc/1/limits | tr -s ' '");
    assert_eq!(limits, "Max open files 524288 524288 files ");
    assert_eq!(
        machine.ask("grep SigIgn /proc/1/status | cut -f2"),
        "0000000000000000"
    );
    assert_eq!(
        machine.ask("umask; grep Umask /proc/1/status | cut -f2"),
        "0022\n0022"
    );

    let open =
        machine.ask("for fd in /proc/1/fd/*; do readlink $fd; done | sort | uniq -c | tr -s ' '");
    let expected = " 3 /dev/console\n 1 /dev/kmsg\n 1 /run/host-init\n 1 /sys/fs/cgroup\n \
                    1 /sys/fs/cgroup/host\n 1 anon_inode:[eventpoll]\n 1 anon_inode:[pidfd]\n 1 anon_inode:[signalfd]";
    assert_eq!(open, expected);
}

/// The host: a process like any other, in a place of its own.
fn host_process(machine: &mut Session) {
    assert_eq!(machine.ask("cat /proc/$$/cgroup"), "0::/host");
    let session = machine.ask("echo $$ $(cut -d' ' -f5-8 /proc/$$/stat)");
    let words: Vec<&str> = session.split(' ').collect();
    assert_eq!(words, [words[0], words[0], words[0], "0", "-1"]);
    assert_eq!(machine.ask("cat /proc/$$/oom_score_adj"), "0");
    // A program that is no shell, which would have changed them.
    let masks = machine.ask("grep '^Sig[BI]' /proc/self/status | cut -f2");
    assert_eq!(masks, "0000000000000000\n0000000000000000");
    let limits = machine.ask("grep 'open files' /proc/$$/limits | tr -s ' '");
    assert_eq!(limits, "Max open files 1024 524288 files ");
    // The shell reads from the console, and keeps what it was given elsewhere.
    let open = machine
        .ask("ls -l /proc/$$/fd 2>/dev/null | sed -n 's/.* -> //p' | sort | uniq -c | tr -s ' '");
    assert_eq!(open, " 3 /dev/console\n 1 /dev/null\n 1 /host");
    // It is told when there is time.
    let state = machine
        .ask("F=/run/host-init/state.json; until grep -q running $F; do usleep 1000; done; cat $F");
    assert!(state.contains("\"stage\":\"running\""), "{state}");
    assert!(state.contains(&format!("\"pid\":{}", words[0])), "{state}");
}

fn network(machine: &mut Session) {
    let lo = machine.ask("ip addr show lo");
    assert!(lo.contains("LOOPBACK,UP,LOWER_UP"), "{lo}");
    assert!(lo.contains("inet 127.0.0.1/8"), "{lo}");
    let answer = machine.ask("ping -c 1 127.0.0.1 | grep -c '1 packets received'");
    assert_eq!(answer, "1");
}

/// Everything that was said, and nothing else: a good boot is quiet.
fn log(machine: &mut Session) {
    let said = machine.ask("dmesg | sed -n 's/.*\\] host-init: //p'");
    let pid = machine.ask("echo $$");
    let expected = [
        "mounted /var/lib from /dev/nvme0n1".to_owned(),
        "mounted /srv/memory from none".to_owned(),
        format!("host: started, pid {pid}"),
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    // As many lines as there are to say, at any rate.
    machine.ask("for n in $(seq 50); do echo \"<6>flood $n\" >/dev/kmsg; done");
    assert_eq!(machine.ask("dmesg | grep -c flood"), "50");
}
