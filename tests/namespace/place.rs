//! What a container is given by whoever runs it, and what of it is for whom.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::init::End;
use crate::room::Room;
use crate::start::Start;
use crate::starts::{is_up, report};

/// An environment.
fn entries(entries: &[&str]) -> Vec<CString> {
    entries
        .iter()
        .map(|entry| CString::new(*entry).unwrap())
        .collect()
}

#[test]
fn what_is_between_it_and_its_manager_is_not_for_the_host() {
    let rest = "[host.environment]\nHOST_INIT_MINE = \"yes\"";
    let mut room = Room::with_host(&["report"], rest);
    let environment = entries(&[
        "container=podman",
        "NOTIFY_SOCKET=/run/none",
        "LISTEN_FDS=1",
        "LISTEN_PID=1",
        "LISTEN_FDNAMES=a",
        "WATCHDOG_USEC=1000000",
        "HOST_INIT_CONFIG=/etc/host-init.toml",
        "HOST_INIT_OTHER=1",
        "LISTEN_ADDRESS=0.0.0.0:80",
    ]);
    let mut init = Start::new(&room)
        .environment(environment)
        .open(&[3])
        .spawn();

    let report = report(&mut room);

    let mut variables: Vec<&str> = report
        .iter()
        .filter_map(|line| line.strip_prefix("variable "))
        .map(|entry| entry.split('=').next().unwrap())
        .collect();
    variables.sort_unstable();
    assert_eq!(
        variables,
        [
            "HOME",
            "HOST_INIT_MINE",
            "LISTEN_ADDRESS",
            "PATH",
            "container"
        ]
    );
    init.stop_with(0);
}

#[test]
fn who_runs_the_container_is_written_where_programs_look() {
    for (variable, files, expected) in [
        (
            "container=systemd-nspawn",
            &[][..],
            Some("systemd-nspawn\n"),
        ),
        ("container=oci", &["run/.containerenv"], Some("oci\n")),
        (
            "OTHER=1",
            &["run/.containerenv", ".dockerenv"],
            Some("podman\n"),
        ),
        ("container=", &[".dockerenv"], Some("docker\n")),
        ("OTHER=1", &[], None),
    ] {
        let mut room = Room::with_host(&["up"], "");
        for file in files {
            fs::write(room.path().join(file), "").unwrap();
        }
        // The first of the image's is replaced.
        fs::create_dir(room.path().join("run/systemd")).unwrap();
        let mut init = Start::new(&room).environment(entries(&[variable])).spawn();
        is_up(&mut room);

        let path = room.path().join("run/systemd/container");
        let written = fs::read_to_string(&path).ok();
        assert_eq!(written.as_deref(), expected, "{variable} {files:?}");
        if written.is_some() {
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o644);
        }
        init.stop_with(0);
    }
}

#[test]
fn the_run_of_a_systemd_is_left_alone() {
    let mut room = Room::with_host(&["up"], "");
    fs::create_dir_all(room.path().join("run/systemd/system")).unwrap();
    let mut init = Start::new(&room).spawn();

    is_up(&mut room);

    assert!(!room.path().join("run/systemd/container").exists());
    init.stop_with(0);
}

#[test]
fn it_mounts_what_the_config_asks_for() {
    let mounts = "[[mount]]\nsource = \"tmpfs\"\ntarget = \"/tmp/data\"\ntype = \"tmpfs\"\n\
                  [[directory]]\npath = \"/tmp/data/below\"\n";
    let mut room = Room::with_host(&["up"], mounts);
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    let table = fs::read_to_string(init.proc("mounts")).unwrap();

    let data: Vec<&str> = table
        .lines()
        .filter(|line| line.contains("/tmp/data"))
        .collect();
    assert!(
        matches!(data[..], [line] if line.starts_with("tmpfs /tmp/data tmpfs ")),
        "{data:?}"
    );
    assert!(init.proc("root/tmp/data/below").is_dir());
    init.stop_with(0);
}

#[test]
fn it_mounts_nothing_by_itself() {
    let mut room = Room::with_host(&["up"], "");
    let given: Vec<String> = room
        .mounts()
        .iter()
        .chain([&room.proc()])
        .map(|mount| mount.target.to_str().unwrap().to_owned())
        .map(|target| target.replacen(room.path().to_str().unwrap(), "", 1))
        .collect();
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    let table = fs::read_to_string(init.proc("mounts")).unwrap();

    for line in table.lines() {
        let target = line.split(' ').nth(1).unwrap();
        // What is mounted below comes along.
        let is_given = given
            .iter()
            .filter(|given| !matches!(given.as_str(), "" | "/"))
            .any(|given| target.starts_with(given));
        assert!(is_given || target == "/", "{line}");
    }
    init.stop_with(0);
}

#[test]
fn a_required_mount_that_fails_ends_it_with_254() {
    let mount = "[[mount]]\nsource = \"x\"\ntarget = \"/tmp/data\"\ntype = \"nosuchfs\"\n";
    let optional = format!("{mount}required = false\n");

    let room = Room::with_host(&["up"], mount);
    let mut init = Start::new(&room).spawn();
    init.says("mount /tmp/data from x: ");
    assert_eq!(init.end(), End::Code(254));

    let mut room = Room::with_host(&["up"], &optional);
    let mut init = Start::new(&room).spawn();
    init.says("mount /tmp/data from x: ");
    is_up(&mut room);
    init.stop_with(0);
}
