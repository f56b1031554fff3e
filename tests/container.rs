//! A container image of the real program, unpacked and run as a runtime does it.
//!
//! runc is what podman and Docker start a container by. It has a terminal, so that
//! its console and its standard output are one place to read from. It takes root;
//! without it the test says that it was skipped.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use qemu::{Scratch, tools};
use serde_json::{Value, json};

/// How long anything may take. Far more than it needs: two processors may have a
/// dozen tests to do.
const BOUND: Duration = Duration::from_secs(30);

/// Says what it was given and stays until it is asked to end.
const HOST: &str = "\
#!/bin/sh
trap 'echo host: asked to end; exit 0' TERM
echo \"host: $PATH in $PWD, $1\"
sleep 1000 &
wait
";

#[test]
fn a_runtime_runs_the_host_and_stops_it() {
    live(&Value::Null);
}

#[test]
fn a_host_runs_where_clone3_is_hidden() {
    // As Docker's own filter does, which cannot look into the call's structure.
    live(&json!({
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [
            { "names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": libc::ENOSYS },
        ],
    }));
}

/// The whole life of a container with this filter of system calls.
fn live(seccomp: &Value) {
    // SAFETY: geteuid(2) takes nothing and always succeeds.
    if unsafe { libc::geteuid() } != 0 {
        let name = thread::current().name().unwrap_or_default().to_owned();
        // Not by a macro, whose words nobody sees when the test passes.
        let _ = writeln!(std::io::stderr(), "{name}: skipped: runc takes root");
        return;
    }
    let scratch = Scratch::new().unwrap();
    let image = made(scratch.path());
    let bundle = Bundle::unpack(&image, scratch.path(), seccomp);

    let mut container = bundle.run();

    container.wait_for(
        "host: /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin in /, an argument",
    );
    container.signal(bundle.config["StopSignal"].as_str().unwrap());
    container.wait_for("host: asked to end");
    assert_eq!(container.ended().code(), Some(0));
}

/// Makes an image with the command, as people do.
fn made(scratch: &Path) -> PathBuf {
    let image = scratch.join("image");
    let host = scratch.join("host");
    fs::write(&host, HOST).unwrap();
    let busybox = tools::busybox().unwrap();
    let words = [
        "--init".into(),
        env!("CARGO_BIN_EXE_host-init").into(),
        "--host".into(),
        host.into_os_string(),
        "--add".into(),
        with(&busybox, ":/bin/busybox:0755"),
        "--symlink".into(),
        "busybox:/bin/sh".into(),
        "--symlink".into(),
        "busybox:/bin/sleep".into(),
        "--oci".into(),
        image.clone().into_os_string(),
        "--".into(),
        "an argument".into(),
    ];
    assert_eq!(initramfs::run(words), ExitCode::SUCCESS);
    image
}

fn with(path: &Path, rest: &str) -> OsString {
    let mut word = path.as_os_str().to_owned();
    word.push(rest);
    word
}

/// What a runtime makes of an image: its tree, and its config in the words of
/// the runtime specification.
struct Bundle {
    path: PathBuf,
    runc: PathBuf,
    /// What the image says of how it is started.
    config: Value,
}

impl Bundle {
    fn unpack(image: &Path, scratch: &Path, seccomp: &Value) -> Self {
        let path = scratch.join("bundle");
        let root = path.join("rootfs");
        fs::create_dir_all(&root).unwrap();
        let index: Value = json(&image.join("index.json"));
        let manifest = json(&blob(image, &index["manifests"][0]));
        let config = json(&blob(image, &manifest["config"]));
        let layer = blob(image, &manifest["layers"][0]);
        done(
            Command::new("tar")
                .args(["--numeric-owner", "-xpf"])
                .arg(layer)
                .arg("-C")
                .arg(&root),
        );
        let mode = fs::metadata(root.join("init")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o7777, 0o755);

        let runc = tools::runc().unwrap();
        done(Command::new(&runc).arg("spec").arg("--bundle").arg(&path));
        let config = config["config"].clone();
        let spec = path.join("config.json");
        let mut words = json(&spec);
        let process = &mut words["process"];
        process["args"] = config["Entrypoint"].clone();
        process["env"] = config["Env"].clone();
        process["cwd"] = config["WorkingDir"].clone();
        process["terminal"] = json!(true);
        words["root"]["readonly"] = json!(false);
        words["linux"]["seccomp"] = seccomp.clone();
        fs::write(&spec, words.to_string()).unwrap();
        Self { path, runc, config }
    }

    fn run(&self) -> Container<'_> {
        // The scratch directory's: nobody else's container has it.
        let folder = self.path.parent().and_then(Path::file_name).unwrap();
        let name = format!("host-init-{}", folder.display());
        // runc copies between a terminal that it has and one that it makes.
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--flush", "--command"])
            .arg(format!("exec \"$RUNC\" --root \"$STATE\" run {name}"))
            .arg("/dev/null")
            .current_dir(&self.path)
            .env("SHELL", "/bin/sh")
            .env("RUNC", &self.runc)
            .env("STATE", self.state())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // The test may be over.
                let _ = sender.send(line);
            }
        });
        Container {
            bundle: self,
            name,
            child,
            lines,
            told: String::new(),
        }
    }

    /// Where runc keeps what it knows: of this test's containers alone.
    fn state(&self) -> PathBuf {
        self.path.with_file_name("state")
    }
}

/// A running container, gone when it is dropped.
struct Container<'a> {
    bundle: &'a Bundle,
    name: String,
    child: Child,
    lines: Receiver<String>,
    told: String,
}

impl Container<'_> {
    /// Waits until a line has this in it.
    fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + BOUND;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no line with {text:?}:\n{}", self.told);
            };
            self.told += &line;
            self.told.push('\n');
            if line.contains(text) {
                return;
            }
        }
    }

    fn signal(&self, signal: &str) {
        done(self.runc().args(["kill", &self.name, signal]));
    }

    /// How it ended. It has when nobody can write to its terminal any more.
    fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + BOUND;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.told += &line,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("it does not end:\n{}", self.told);
                }
            }
        }
        self.child.wait().unwrap()
    }

    fn runc(&self) -> Command {
        let mut command = Command::new(&self.bundle.runc);
        command.arg("--root").arg(self.bundle.state());
        command
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        // It is gone already when all went well.
        let _ = self
            .runc()
            .args(["delete", "--force", &self.name])
            .stderr(Stdio::null())
            .status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn blob(image: &Path, descriptor: &Value) -> PathBuf {
    let digest = descriptor["digest"].as_str().unwrap();
    image.join("blobs").join(digest.replace(':', "/"))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn done(command: &mut Command) {
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
}
