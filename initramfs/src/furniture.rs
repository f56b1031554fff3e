//! What every image has, whatever its program is.

use crate::archive::Archive;
use crate::entry::{DeviceKind, Entry};
use crate::error::Error;
use crate::path::ImagePath;
use crate::recipe::INIT;

/// Directories of every image. What is mounted over them at boot is theirs to
/// say; what is not has to be right from the start. So has the root: some kernels
/// unpack into a file system whose root anybody may write to.
const DIRECTORIES: [(&str, u32); 10] = [
    ("/", 0o755),
    ("/dev", 0o755),
    ("/etc", 0o755),
    ("/proc", 0o755),
    ("/root", 0o700),
    ("/run", 0o755),
    ("/sys", 0o755),
    ("/tmp", 0o1777),
    ("/usr/bin", 0o755),
    ("/var/lib", 0o755),
];

/// Devices of every image: major, minor, mode. The kernel opens the console for
/// the first process before that can mount anything.
const DEVICES: [(&str, u32, u32, u32); 2] =
    [("/dev/console", 5, 1, 0o600), ("/dev/null", 1, 3, 0o666)];

/// Other names of the first process, by which it is a client of itself.
const APPLETS: [&str; 4] = [
    "/sbin/halt",
    "/sbin/poweroff",
    "/sbin/reboot",
    "/usr/bin/host-init",
];

/// Adds what every image has and nobody added.
pub(crate) fn furnish(archive: &mut Archive) -> Result<(), Error> {
    let directories = DIRECTORIES.map(|(path, mode)| (path, Entry::directory().mode(mode)));
    let devices = DEVICES.map(|(path, major, minor, mode)| {
        (
            path,
            Entry::device(DeviceKind::Char, major, minor).mode(mode),
        )
    });
    let applets = APPLETS.map(|path| (path, Entry::symlink(INIT)));
    let furniture = directories.into_iter().chain(devices).chain(applets);
    let mut wanted = Vec::new();
    let layout = archive.layout()?;
    for (path, entry) in furniture {
        let path: ImagePath = path.parse()?;
        if !layout.is_taken(&path) {
            wanted.push((path, entry));
        }
    }
    for (path, entry) in wanted {
        archive.place(path, entry)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_image_is_furnished() {
        let mut archive = Archive::new();

        furnish(&mut archive).unwrap();

        let layout = archive.layout().unwrap();
        let at = |path: &str| layout.find(&path.parse().unwrap()).unwrap().1.clone();
        let char = DeviceKind::Char;
        assert_eq!(at("/tmp"), Entry::directory().mode(0o1777));
        assert_eq!(at("/dev/console"), Entry::device(char, 5, 1).mode(0o600));
        assert_eq!(at("/dev/null"), Entry::device(char, 1, 3).mode(0o666));
        for path in ["/", "/dev", "/proc", "/sys", "/run", "/etc"] {
            assert_eq!(at(path), Entry::directory());
        }
    }

    #[test]
    fn what_was_added_stays() {
        let mut archive = Archive::new();
        archive.symlink("/sbin", "usr/sbin").unwrap();
        archive.file("/usr/sbin/reboot", 0o755, "own").unwrap();
        archive.symlink("/tmp", "run/tmp").unwrap();
        archive.directory("/root", 0o755).unwrap();

        furnish(&mut archive).unwrap();

        let layout = archive.layout().unwrap();
        let at = |path: &str| {
            let path = path.parse().unwrap();
            layout
                .entries()
                .find(|(at, _)| **at == path)
                .unwrap()
                .1
                .clone()
        };
        assert_eq!(at("/usr/sbin/reboot"), Entry::file("own").mode(0o755));
        assert_eq!(at("/usr/sbin/poweroff"), Entry::symlink("/init"));
        assert_eq!(at("/root"), Entry::directory());
        assert_eq!(at("/tmp"), Entry::symlink("run/tmp"));
    }

    #[test]
    fn a_directory_that_only_a_file_asked_for_gets_its_own_mode() {
        let mut archive = Archive::new();
        archive.file("/tmp/seed", 0o644, "").unwrap();

        furnish(&mut archive).unwrap();

        let layout = archive.layout().unwrap();
        let (_, tmp) = layout.find(&"/tmp".parse().unwrap()).unwrap();
        assert_eq!(tmp, &Entry::directory().mode(0o1777));
    }
}
