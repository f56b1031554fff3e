//! Starts on machines where something is missing, dead or odd.

use std::fs;

use initramfs::{Archive, Compression};
use qemu::{Boot, Console, Disk, Ending, Scratch, tools};

use crate::disk::{assert_clean, read};
use crate::image::{Image, SHELL};
use crate::programs;
use crate::session::Session;

const DATA: &str = "\
[[mount]]
source = \"/dev/nvme0n1\"
target = \"/data\"
type = \"ext4\"
wait = \"30s\"
";

/// A host for a machine that nobody hears: it writes its lives down, and powers
/// off in the second, which it has when something in the first killed it.
fn unheard(first: &str) -> Image {
    let host = format!(
        "#!/bin/sh\n\
         echo life >>/data/lives\n\
         dmesg >/data/dmesg; ls -l /proc/$$/fd >/data/fds\n\
         [ $(wc -l </data/lives) = 2 ] && kill -USR2 1\n\
         {first}\n\
         while :; do sleep 1; done\n"
    );
    let config = format!("[host]\ncommand = [\"/host\"]\nbackoff = \"0s\"\n{DATA}");
    Image::new(&config).program("/host", host)
}

/// Runs it; the disk that it leaves.
fn goes_unheard(image: &Image, boot: impl FnOnce(Boot) -> Boot, console: Console) -> Disk {
    let disk = Disk::ext4(16).unwrap();
    let mut machine = Session::start(boot(image.boot_on(console)).disk(&disk));

    machine.ends(&Ending::PoweredOff);

    drop(machine);
    assert_clean(&disk);
    assert_eq!(read(&disk, "/lives"), "life\nlife\n");
    disk
}

#[test]
fn a_machine_without_a_serial_port_boots_and_supervises() {
    goes_unheard(&unheard("kill -KILL $$"), |boot| boot, Console::Absent);
}

#[test]
fn a_machine_whose_console_is_nothing_boots_and_supervises() {
    let image = unheard("kill -KILL $$");

    let disk = goes_unheard(&image, |boot| boot.append("console=null"), Console::Absent);

    // The host's output is nowhere, and that does not keep it from running.
    assert!(
        read(&disk, "/dmesg").contains("unable to open an initial console"),
        "{}",
        read(&disk, "/dmesg")
    );
    assert!(read(&disk, "/dmesg").contains("host-init: host: started"));
    let fds = read(&disk, "/fds");
    assert!(fds.contains("2 -> /dev/null"), "{fds}");
}

#[test]
fn a_console_that_never_takes_a_byte_blocks_who_writes_and_nobody_else() {
    // The one that writes is the host itself. When it sleeps in the write, a child
    // kills it, which works because the wait of a terminal can be interrupted.
    let first = "P=$$; (until grep -q '^State:.S' /proc/$P/status; do usleep 10000; done; \
                  echo blocked >/data/blocked; kill -KILL $P) & \
                  exec cat /dev/zero";

    let disk = goes_unheard(&unheard(first), |boot| boot, Console::Unread);

    assert_eq!(read(&disk, "/blocked"), "blocked\n");
}

#[test]
fn an_image_whose_console_is_no_device_boots_as_well() {
    // The kernel's own archive has the device; a directory of the same name takes
    // its place, so that PID 1 starts with nothing open.
    let mut machine = Session::up(
        Image::with_shell("")
            .without_console()
            .boot()
            .append("panic=soon"),
    );
    let said = machine.ask("dmesg | grep -c 'unable to open an initial console'");
    assert_eq!(said, "1");
    let warned = "host-init: kernel command line: panic: expected a number of seconds";
    assert_eq!(machine.ask(&format!("dmesg | grep -c '{warned}'")), "1");
    assert_eq!(machine.ask("ls -l /proc/1/fd | grep -c ' [012] -> '"), "3");

    machine.signal("USR2");

    machine.ends(&Ending::PoweredOff);
}

#[test]
fn words_of_the_command_line_that_mean_nothing_change_nothing() {
    // As many as the kernel makes an environment of without a panic, and nearly as
    // long as it takes.
    let many: Vec<String> = (0..25)
        .map(|number| format!("word{number}=value"))
        .collect();
    let long = "x".repeat(1_200);
    let image = Image::with_shell("environment = { OWN = \"1\" }");
    let words = format!(
        "{} host_init.log=loud host_init.what=1 host_init.config=relative host_init.rescue=maybe \
         foo=bar x.y=1 baz long.word={long} auto -- --flag --config /none single",
        many.join(" ")
    );
    let mut machine = Session::up(image.boot().append(words));

    let said = machine.ask("dmesg | grep -o 'host-init: kernel command line: .*'");
    let expected = [
        ("host_init.log", "error, warning, notice, info or debug"),
        (
            "host_init.what",
            "host_init.config, host_init.log or host_init.rescue",
        ),
        ("host_init.config", "an absolute path"),
        ("host_init.rescue", "nothing, 1 or 0"),
    ]
    .map(|(word, expected)| format!("host-init: kernel command line: {word}: expected {expected}"));
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    let words = machine.ask("tr '\\0' ' ' </proc/1/cmdline; echo");
    assert_eq!(words.trim(), "/init baz auto --flag --config /none single");
    assert!(
        machine
            .ask("tr '\\0' '\\n' </proc/1/environ")
            .contains("word24=value")
    );
    // The kernel's environment is for nobody.
    let environment = machine.ask("env | sort | grep -v '^\\(PWD\\|SHLVL\\|OLDPWD\\|_\\)='");
    assert_eq!(
        environment,
        "HOME=/\nOWN=1\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    );
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
}

#[test]
fn a_root_on_a_disk_is_booted_read_only_and_writable_and_left_clean() {
    let directory = Scratch::new().unwrap();
    let root = directory.path().join("root");
    for name in ["sbin", "bin", "etc", "dev", "proc", "sys", "run", "tmp"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::copy(programs::host_init(), root.join("sbin/init")).unwrap();
    fs::copy(tools::busybox().unwrap(), root.join("bin/busybox")).unwrap();
    for applet in [
        "sh", "stty", "cat", "kill", "grep", "mount", "touch", "dmesg",
    ] {
        std::os::unix::fs::symlink("busybox", root.join("bin").join(applet)).unwrap();
    }
    fs::write(
        root.join("etc/host-init.toml"),
        "[host]\ncommand = [\"/bin/sh\", \"/bin/host\"]\n",
    )
    .unwrap();
    fs::write(root.join("bin/host"), SHELL).unwrap();
    let disk = Disk::ext4_with(32, &["-d", root.to_str().unwrap()]).unwrap();
    // There is always an archive; an empty one is no root.
    let nothing = Archive::new().write(Compression::None).unwrap();
    let words = "loglevel=7 root=/dev/nvme0n1 rootwait init=/sbin/init";

    for (mode, request, ending) in [
        ("ro", "TERM", Ending::Restarted),
        ("rw", "USR2", Ending::PoweredOff),
    ] {
        let root_on_disk = Boot::new(nothing.clone()).append(words).append(mode);
        let mut machine = Session::up(root_on_disk.disk(&disk));
        let root = machine.ask("grep ' / ext4 ' /proc/mounts");
        assert!(root.contains(&format!(" {mode},")), "{root}");
        // It goes there on the side.
        machine.ask("until grep -q init /proc/1/cgroup; do :; done");
        machine.ask("touch /note");

        machine.signal(request);

        machine.ends(&ending);
        let console = machine.console();
        assert!(!console.contains("host-init: remount"), "{mode}");
        assert!(!console.contains("host-init: unmount"), "{mode}");
        drop(machine);
        assert_clean(&disk);
    }
}
