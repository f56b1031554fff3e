//! Who holds a filesystem that can't be unmounted.

use core::ffi::CStr;
use core::fmt::Write;
use core::time::Duration;

use crate::base::level::Level;
use crate::pid1::flags;
use crate::pid1::log::{Log, Part};
use crate::sys::{clock, files, mount, process};

/// A device by its major and minor number.
pub type Device = (u32, u32);

/// How long a process that was killed may take to let go of its files.
const LETTING_GO: Duration = Duration::from_secs(2);

/// Waits until the other children of PID 1 are gone, for a bounded time. One that
/// was killed in the middle of a mount ends when the mount is done: before that it
/// is in no table, and whoever unmounts would miss it.
pub fn wait_for_children() {
    let until = clock::now().after(LETTING_GO);
    let mut buffer = [0; 1024];
    let children = files::read(c"/proc/1/task/1/children", &mut buffer).unwrap_or_default();
    for word in children.split(|byte| *byte == b' ') {
        let pid = core::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok());
        if let Some(pid) = pid.filter(|pid| *pid != process::pid()) {
            mount::wait_for_end(pid, until);
        }
    }
}

/// Waits until no process is left but PID 1, this one and the kernel's own, for a
/// bounded time. One that was killed lets go of its files at its very end, when
/// it has long ceased to show them.
pub fn wait_until_alone() {
    let until = clock::now().after(LETTING_GO);
    let _ = files::each_entry(c"/proc", |name| {
        if let Some(pid) = number(name).filter(|pid| *pid > 1 && *pid != process::pid())
            && !is_kernels(pid)
        {
            mount::wait_for_end(pid, until);
        }
    });
}

/// Whether a process is a thread of the kernel's, or gone.
fn is_kernels(pid: u32) -> bool {
    flags::flags(pid).is_none_or(|flags| flags & flags::KERNELS != 0)
}

/// Says that a mount is busy, and who holds it, as far as the kernel tells.
pub fn say_busy(target: &CStr, device: Device, log: &Log) {
    let mut name = [0; 64];
    let holder = first(device);
    let name = holder
        .and_then(|pid| path(pid, "comm"))
        .and_then(|path| files::read(c_str(&path)?, &mut name).ok());
    let parts = [
        Part::Text("unmount "),
        Part::Bytes(target.to_bytes()),
        Part::Text(": device busy, held by "),
    ];
    match (holder, name) {
        (Some(pid), Some(name)) => {
            let name = name.strip_suffix(b"\n").unwrap_or(name);
            let [verb, target, held] = parts;
            log.say(
                Level::Warning,
                &[
                    verb,
                    target,
                    held,
                    Part::Bytes(name),
                    Part::Text(" ["),
                    Part::Number(u64::from(pid)),
                    Part::Text("]"),
                ],
            );
        }
        (_, _) => {
            let mut loops = Loop::default();
            loops.find(target);
            let [verb, target, held] = parts;
            let by = if loops.name.is_empty() {
                Part::Text("the kernel")
            } else {
                Part::Bytes(loops.name.as_bytes())
            };
            log.say(Level::Warning, &[verb, target, held, by]);
        }
    }
}

/// The first process that has its root, its directory, its program or a file on
/// the device. Kernel threads and this process have none.
fn first(device: Device) -> Option<u32> {
    let mut found = None;
    let _ = files::each_entry(c"/proc", |name| {
        let pid = number(name);
        if let Some(pid) = pid.filter(|pid| *pid > 1 && *pid != process::pid())
            && found.is_none()
            && holds(pid, device)
        {
            found = Some(pid);
        }
    });
    found
}

fn holds(pid: u32, device: Device) -> bool {
    let is_on = |path: Option<PathText>| {
        path.as_ref()
            .and_then(c_str)
            .and_then(files::device_of)
            .is_some_and(|of| of == device)
    };
    if ["cwd", "root", "exe"]
        .into_iter()
        .any(|link| is_on(path(pid, link)))
    {
        return true;
    }
    let Some(directory) = path(pid, "fd") else {
        return false;
    };
    let mut has = false;
    let _ = c_str(&directory).map(|directory| {
        files::each_entry(directory, |name| {
            if !has && let Some(fd) = number(name) {
                let mut link = heapless::String::<16>::new();
                let _ = write!(link, "fd/{fd}");
                has = is_on(path(pid, &link));
            }
        })
    });
    has
}

type PathText = heapless::String<48>;

fn path(pid: u32, link: &str) -> Option<PathText> {
    let mut path = PathText::new();
    write!(path, "/proc/{pid}/{link}\0").ok()?;
    Some(path)
}

fn c_str(path: &PathText) -> Option<&CStr> {
    CStr::from_bytes_with_nul(path.as_bytes()).ok()
}

fn number(name: &CStr) -> Option<u32> {
    name.to_str().ok()?.parse().ok()
}

/// A loop device whose file is on a filesystem.
#[derive(Default)]
struct Loop {
    name: heapless::String<16>,
}

impl Loop {
    fn find(&mut self, target: &CStr) {
        let _ = files::each_entry(c"/sys/block", |name| {
            let Some(name) = name.to_str().ok().filter(|name| name.starts_with("loop")) else {
                return;
            };
            let mut path = heapless::String::<64>::new();
            let _ = write!(path, "/sys/block/{name}/loop/backing_file\0");
            let mut file = [0; 512];
            let holds = CStr::from_bytes_with_nul(path.as_bytes())
                .ok()
                .and_then(|path| files::read(path, &mut file).ok())
                .and_then(|file| file.strip_prefix(target.to_bytes()))
                .is_some_and(|rest| rest.starts_with(b"/"));
            if holds && self.name.is_empty() {
                let _ = self.name.push_str(name);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_a_file_open_is_found_as_its_holder() {
        let directory = std::env::temp_dir();
        let path = directory.join(format!("host-init-holder-{}", std::process::id()));
        std::fs::write(&path, "held").unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .stdin(std::fs::File::open(&path).unwrap())
            .spawn()
            .unwrap();
        let text = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        let device = files::device_of(&text).unwrap();

        let is_held = holds(child.id(), device);
        let other = holds(child.id(), (device.0, device.1 + 10_000));

        child.kill().unwrap();
        child.wait().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(is_held);
        assert!(!other);
    }
}
