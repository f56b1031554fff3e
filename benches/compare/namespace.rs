//! Runs inits as the first process of a pid namespace on this machine.
//!
//! Each has a root directory and namespaces of its own, so that its boot job
//! touches nothing outside: mounts, name, network and control groups are its own.

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::contestants::Contestant;
use crate::entrypoints::Entrypoint;
use crate::programs::Programs;
use crate::tracer;

/// How long an init may take to start its host.
const START: Duration = Duration::from_secs(10);

/// How long it may take to stop.
const STOP: Duration = Duration::from_secs(20);

/// How long it gets to come to rest before it is measured.
const SETTLE: Duration = Duration::from_millis(300);

/// How often a stop is measured; the table has the median.
const STOPS: usize = 7;

/// A stop that takes this long is not noise: it is measured less often.
const SLOW: f64 = 500.0;

/// How many orphans the host makes in the mode `orphans`, and how long it waits
/// before the first and takes for all, with time to spare.
const ORPHANS: f64 = 50.0;
const ORPHANS_BEGIN: Duration = Duration::from_secs(1);
const ORPHANS_TAKE: Duration = Duration::from_secs(3);

/// What an orphan costs PID 1; none where it can't be told.
pub(crate) struct Orphans {
    pub(crate) calls: Option<f64>,
    pub(crate) wakes: Option<f64>,
}

/// The release of the running kernel.
pub(crate) fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let numbers = release.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    numbers.take(1).collect()
}

/// Whether this kernel tells how a child ended after it was released.
pub(crate) fn remembers_exits(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 15)
}

/// Milliseconds from the request to stop to the end of PID 1.
pub(crate) fn stop(
    contestant: &Contestant,
    programs: &Programs,
    mode: &str,
) -> Result<f64, Box<dyn Error>> {
    let start = || Init::start(contestant, programs, mode);
    median_stop(contestant.name, libc::SIGUSR2, start)
}

/// The same for an entrypoint and its command.
pub(crate) fn stop_entrypoint(
    entrypoint: &Entrypoint,
    options: &[&str],
    command: &[&str],
    programs: &Programs,
) -> Result<f64, Box<dyn Error>> {
    let start = || Init::start_entrypoint(entrypoint, options, command, programs);
    median_stop(entrypoint.name, libc::SIGTERM, start)
}

fn median_stop(
    name: &str,
    signal: i32,
    start: impl Fn() -> Result<Init, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut took = Vec::new();
    while took.len() < STOPS {
        let mut init = start()?;
        thread::sleep(SETTLE);
        let asked = Instant::now();
        tracer::signal(init.pid, signal);
        if !tracer::wait_for_end(init.pid, STOP) {
            return Err(format!("stop {name}: it goes on after {STOP:?}").into());
        }
        took.push(asked.elapsed().as_secs_f64() * 1000.0);
        init.reap();
        if took.len() == 3 && took.iter().all(|millis| *millis > SLOW) {
            break;
        }
    }
    took.sort_by(f64::total_cmp);
    Ok(took[took.len() / 2])
}

/// What orphans cost each init. All are measured at the same time, since nothing
/// here is a time.
pub(crate) fn orphans(
    contestants: &[Contestant],
    programs: &Programs,
) -> Result<Vec<Orphans>, Box<dyn Error>> {
    thread::scope(|scope| {
        let measured: Vec<_> = contestants
            .iter()
            .map(|contestant| {
                scope.spawn(move || {
                    let start = || Init::start(contestant, programs, "orphans");
                    measure_orphans(start).map_err(|error| error.to_string())
                })
            })
            .collect();
        let mut all = Vec::new();
        for one in measured {
            all.push(one.join().map_err(|_| "a measurement panicked")??);
        }
        Ok(all)
    })
}

/// The same for entrypoints.
pub(crate) fn orphans_of_entrypoint(
    entrypoint: &Entrypoint,
    programs: &Programs,
) -> Result<Orphans, Box<dyn Error>> {
    measure_orphans(|| Init::start_entrypoint(entrypoint, &[], &["orphans"], programs))
}

/// System calls of an entrypoint and of a command that ends at once, from the first
/// instruction to the end; none where it can't be told.
pub(crate) fn calls_of_run(entrypoint: &Entrypoint, programs: &Programs) -> Option<f64> {
    let mut maker = unshare();
    maker.arg(&entrypoint.path).arg("--");
    maker.arg(programs.path("end"));
    tracer::count_calls_of_init(maker).map(f64::from)
}

fn measure_orphans(
    start: impl Fn() -> Result<Init, Box<dyn Error>>,
) -> Result<Orphans, Box<dyn Error>> {
    let init = start()?;
    thread::sleep(ORPHANS_BEGIN / 2);
    let before = wakes(init.pid);
    thread::sleep(ORPHANS_TAKE);
    let after = wakes(init.pid);
    drop(init);

    let init = start()?;
    thread::sleep(ORPHANS_BEGIN / 2);
    let calls = tracer::count_calls(init.pid, ORPHANS_TAKE);
    Ok(Orphans {
        calls: calls.map(|calls| calls as f64 / ORPHANS),
        wakes: before
            .zip(after)
            .map(|(before, after)| (after - before) / ORPHANS),
    })
}

fn wakes(pid: i32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let (_, rest) = status.split_once("\nvoluntary_ctxt_switches:")?;
    rest.lines().next()?.trim().parse().ok()
}

/// An init that runs in namespaces of its own, which end with this value.
struct Init {
    /// The program that made the namespaces; the init is its child.
    maker: Child,
    /// The init, as this machine counts.
    pid: i32,
    root: Option<PathBuf>,
}

impl Init {
    /// Starts an init with a host in this mode, and waits for the host.
    fn start(
        contestant: &Contestant,
        programs: &Programs,
        mode: &str,
    ) -> Result<Self, Box<dyn Error>> {
        let root = furnish(contestant, programs, mode)?;
        let mut maker = unshare();
        maker
            .args(["--uts", "--ipc", "--net", "--cgroup"])
            .arg(format!("--root={}", root.display()))
            .arg("/init");
        Self::wait(maker, Some(root), contestant.name, "host")
    }

    /// Starts an entrypoint, and waits for its command. It changes nothing outside
    /// and needs no root of its own.
    fn start_entrypoint(
        entrypoint: &Entrypoint,
        options: &[&str],
        command: &[&str],
        programs: &Programs,
    ) -> Result<Self, Box<dyn Error>> {
        let mut maker = unshare();
        maker.arg(&entrypoint.path).args(options).arg("--");
        maker.arg(programs.path("command")).args(command);
        Self::wait(maker, None, entrypoint.name, "command")
    }

    fn wait(
        mut maker: Command,
        root: Option<PathBuf>,
        name: &str,
        child: &str,
    ) -> Result<Self, Box<dyn Error>> {
        let maker = maker
            .spawn()
            .map_err(|error| format!("run unshare of util-linux: {error}"))?;
        let mut init = Self {
            maker,
            pid: 0,
            root,
        };
        let deadline = Instant::now() + START;
        while Instant::now() < deadline {
            if let [pid] = children(init.maker.id().cast_signed())[..] {
                init.pid = pid;
                if children(pid).into_iter().any(|pid| comm(pid) == child) {
                    return Ok(init);
                }
            }
            thread::sleep(Duration::from_millis(5));
        }
        Err(format!("start {name} in a pid namespace: no {child} after {START:?}").into())
    }

    /// Waits for the maker, whose init has ended.
    fn reap(&mut self) {
        let _ = self.maker.wait();
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        // The kernel ends what is in the namespace with its first process.
        let _ = self.maker.kill();
        let _ = self.maker.wait();
        if self.pid > 0 {
            tracer::signal(self.pid, libc::SIGKILL);
            tracer::wait_for_end(self.pid, STOP);
        }
        if let Some(root) = &self.root {
            let _ = fs::remove_dir_all(root);
        }
    }
}

/// What runs a program as the first process of a pid namespace, and ends it with
/// itself.
fn unshare() -> Command {
    let mut unshare = Command::new("unshare");
    unshare
        .args([
            "--pid",
            "--fork",
            "--mount",
            "--kill-child=KILL",
            "--mount-proc",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    unshare
}

/// A root directory with what the image of a guest has.
fn furnish(
    contestant: &Contestant,
    programs: &Programs,
    mode: &str,
) -> Result<PathBuf, Box<dyn Error>> {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("host-init-bench-{}-{count}", std::process::id());
    let root = std::env::temp_dir().join(name);
    for directory in ["proc", "sys", "dev", "run", "tmp", "etc"] {
        fs::create_dir_all(root.join(directory))?;
    }
    tracer::make_null(&root.join("dev/null"))?;
    put(&root, "/mode", 0o644, mode.as_bytes())?;
    put(&root, "/host", 0o755, &fs::read(programs.path("host"))?)?;
    for (path, mode, content) in &contestant.files {
        put(&root, path, *mode, &content.bytes()?)?;
    }
    Ok(root)
}

fn put(root: &Path, path: &str, mode: u32, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let place = root.join(path.trim_start_matches('/'));
    fs::write(&place, bytes).map_err(|error| format!("write {}: {error}", place.display()))?;
    fs::set_permissions(&place, fs::Permissions::from_mode(mode))?;
    Ok(())
}

fn children(pid: i32) -> Vec<i32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

fn comm(pid: i32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}
