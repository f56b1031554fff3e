//! Random configs, and a writer that spells each in one of many ways.

use std::ffi::{CStr, CString};
use std::fmt::Write as _;
use std::time::Duration;

use host_init::base::level::{LEVELS, Level};
use host_init::base::signal::Signal;
use host_init::format::config::keys::{ASKED, OUTPUTS};
use host_init::policy::config::{
    Asked, Config, Directory, Host, Mount, Need, Output, Shutdown, Signals,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A random config, as a person could have written it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    hostname: Option<String>,
    level: Option<(&'static str, Level)>,
    mounts: Vec<MountPlan>,
    directories: Vec<DirectoryPlan>,
    host: Option<HostPlan>,
    shutdown: Option<(u64, u64)>,
    signals: Vec<(&'static str, Asked)>,
    style: Vec<Index>,
}

/// Source, target, type, options, wait in milliseconds, required.
type MountPlan = (
    String,
    String,
    String,
    Option<String>,
    Option<u64>,
    Option<bool>,
);

/// Path, mode, user, group.
type DirectoryPlan = (String, Option<u16>, Option<u32>, Option<u32>);

#[derive(Clone, Debug)]
struct HostPlan {
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    directory: Option<String>,
    output: Option<(&'static str, Output)>,
    signal: Option<u8>,
    grace: Option<u64>,
    backoff: Option<(u64, u64)>,
    reset: Option<u64>,
}

/// Any config.
pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let text = || "[^\0]{0,12}";
    let path = || vec("[^\0/.]{1,5}", 0..4).prop_map(|parts| format!("/{}", parts.join("/")));
    let millis = || prop_oneof![0..10_000_u64, 0..31_536_000_000_u64];
    let mount = (
        "[^\0]{1,9}",
        path(),
        "[^\0]{1,9}",
        option::of(text()),
        option::of(millis()),
        option::of(any::<bool>()),
    );
    let directory = (
        path(),
        option::of(0..=0o7777_u16),
        option::of(0..u32::MAX),
        option::of(0..u32::MAX),
    );
    let host = (
        path(),
        vec(text(), 0..8),
        vec(("[A-Za-z_][A-Za-z0-9_]{0,6}", text()), 0..8),
        option::of(path()),
        option::of(select(OUTPUTS.to_vec())),
        option::of(select((1..=64_u8).collect::<Vec<_>>())),
        option::of(millis()),
        option::of((millis(), millis())),
        option::of(millis()),
    )
        .prop_map(|fields| HostPlan {
            program: fields.0,
            arguments: fields.1,
            environment: fields.2,
            directory: fields.3,
            output: fields.4,
            signal: fields.5.filter(|n| !matches!(n, 19 | 32 | 33)),
            grace: fields.6,
            backoff: fields.7.map(|(a, b)| (a.min(b), a.max(b))),
            reset: fields.8,
        });
    let signals = vec(
        (
            select(vec!["TERM", "INT", "USR1", "USR2", "PWR", "HUP"]),
            select(ASKED.to_vec()),
        ),
        0..6,
    );
    (
        option::of("[a-zA-Z0-9]{1,8}(-[a-z0-9]{1,3}){0,2}(\\.[a-z]{1,6}){0,3}"),
        option::of(select(LEVELS.to_vec())),
        vec(mount, 0..5),
        vec(directory, 0..5),
        option::of(host),
        option::of((1..100_000_u64, 1..100_000_u64)),
        signals,
        vec(any::<Index>(), 32),
    )
        .prop_map(|fields| {
            let mut plan = Plan {
                hostname: fields.0,
                level: fields.1,
                mounts: fields.2,
                directories: fields.3,
                host: fields.4,
                shutdown: fields.5,
                signals: Vec::new(),
                style: fields.7,
            };
            // No two mounts on one target, no name twice.
            for (index, mount) in plan.mounts.iter_mut().enumerate() {
                mount.1 = format!("/{index}{}", mount.1);
            }
            if let Some(host) = &mut plan.host {
                for (index, entry) in host.environment.iter_mut().enumerate() {
                    entry.0 = format!("{}_{index}", entry.0);
                }
            }
            for (name, (_, asked)) in fields.6 {
                if plan.signals.iter().all(|(known, _)| *known != name) {
                    plan.signals.push((name, asked));
                }
            }
            plan
        })
}

impl Plan {
    /// The config that it is.
    pub(crate) fn config(&self) -> Config<'static> {
        let mut config = Config {
            hostname: self.hostname.as_deref().map(kept),
            log_level: self.level.map_or(Level::Info, |level| level.1),
            ..Config::default()
        };
        for (source, target, kind, options, wait, required) in &self.mounts {
            let mount = Mount {
                source: kept(source),
                target: kept(target),
                kind: kept(kind),
                options: options.as_deref().map_or(c"", kept),
                wait: Duration::from_millis(wait.unwrap_or(0)),
                need: if required == &Some(false) {
                    Need::Optional
                } else {
                    Need::Required
                },
            };
            config.mounts.push(mount).unwrap();
        }
        for (path, mode, uid, gid) in &self.directories {
            let directory = Directory {
                path: kept(path),
                mode: mode.unwrap_or(0o755),
                uid: uid.unwrap_or(0),
                gid: gid.unwrap_or(0),
            };
            config.directories.push(directory).unwrap();
        }
        config.host = self.host.as_ref().map(HostPlan::host);
        if let Some((unmount, sync)) = self.shutdown {
            config.shutdown = Shutdown {
                unmount: Duration::from_millis(unmount),
                sync: Duration::from_millis(sync),
            };
        }
        let signals: &mut Signals = &mut config.signals;
        for (name, asked) in &self.signals {
            *match *name {
                "TERM" => &mut signals.term,
                "INT" => &mut signals.int,
                "USR1" => &mut signals.usr1,
                "USR2" => &mut signals.usr2,
                "PWR" => &mut signals.pwr,
                _ => &mut signals.hup,
            } = *asked;
        }
        config
    }

    /// The config as TOML, in one of many styles.
    pub(crate) fn written(&self) -> String {
        let mut pen = Pen {
            style: &self.style,
            used: 0,
        };
        let mut out = String::new();
        if let Some(name) = &self.hostname {
            writeln!(out, "hostname = {}", pen.string(name)).unwrap();
        }
        if let Some((name, _)) = self.level {
            writeln!(out, "log-level={} # much", pen.string(name)).unwrap();
        }
        for (source, target, kind, options, wait, required) in &self.mounts {
            writeln!(out, "[[mount]]\nsource = {}", pen.string(source)).unwrap();
            writeln!(out, "target = {}", pen.string(target)).unwrap();
            if let Some(options) = options {
                writeln!(out, "options = {}", pen.string(options)).unwrap();
            }
            if let Some(wait) = wait {
                writeln!(out, "wait = {}", pen.time(*wait)).unwrap();
            }
            if let Some(required) = required {
                writeln!(out, "required = {required}").unwrap();
            }
            writeln!(out, "type = {}", pen.string(kind)).unwrap();
        }
        for (path, mode, uid, gid) in &self.directories {
            writeln!(out, "[[ directory ]]").unwrap();
            if let Some(mode) = mode {
                writeln!(out, "mode = \"{mode:04o}\"").unwrap();
            }
            if let Some(uid) = uid {
                writeln!(out, "uid = {uid:#x}").unwrap();
            }
            writeln!(out, "path = {}", pen.string(path)).unwrap();
            if let Some(gid) = gid {
                writeln!(out, "gid = {gid}").unwrap();
            }
        }
        if let Some(host) = &self.host {
            host.write(&mut out, &mut pen);
        }
        if let Some((unmount, sync)) = self.shutdown {
            let (unmount, sync) = (pen.time(unmount), pen.time(sync));
            writeln!(out, "[shutdown]\nsync = {sync}\nunmount = {unmount}").unwrap();
        }
        writeln!(out, "[signals]").unwrap();
        for (name, asked) in &self.signals {
            let word = ASKED.iter().find(|(_, known)| known == asked).unwrap().0;
            writeln!(out, "{name} = {}", pen.string(word)).unwrap();
        }
        out
    }
}

impl HostPlan {
    fn host(&self) -> Host<'static> {
        let words = core::iter::once(&self.program).chain(&self.arguments);
        let mut host = Host::new(words.map(|word| kept(word)).collect());
        host.environment = self
            .environment
            .iter()
            .map(|(name, value)| kept(&format!("{name}={value}")))
            .collect();
        if let Some(directory) = &self.directory {
            host.directory = kept(directory);
        }
        if let Some((_, output)) = self.output {
            host.output = output;
        }
        if let Some(signal) = self.signal {
            host.stop_signal = Signal::from_number(signal).unwrap();
        }
        if let Some(grace) = self.grace {
            host.stop_grace = Duration::from_millis(grace);
        }
        if let Some((least, most)) = self.backoff {
            host.backoff = Duration::from_millis(least);
            host.backoff_max = Duration::from_millis(most);
        }
        if let Some(reset) = self.reset {
            host.backoff_reset = Duration::from_millis(reset);
        }
        host
    }

    fn write(&self, out: &mut String, pen: &mut Pen<'_>) {
        let is_after = pen.below(2) == 0;
        let environment = |out: &mut String, pen: &mut Pen<'_>| {
            writeln!(out, "[host.environment]").unwrap();
            for (name, value) in &self.environment {
                writeln!(out, "{name} = {}", pen.string(value)).unwrap();
            }
        };
        if !is_after {
            environment(out, pen);
        }
        write!(out, "[host]\ncommand = [{}", pen.string(&self.program)).unwrap();
        for argument in &self.arguments {
            write!(out, ",\n  {}", pen.string(argument)).unwrap();
        }
        writeln!(out, "]").unwrap();
        if let Some(directory) = &self.directory {
            writeln!(out, "directory = {}", pen.string(directory)).unwrap();
        }
        if let Some((name, _)) = self.output {
            writeln!(out, "output = {}", pen.string(name)).unwrap();
        }
        if let Some(signal) = self.signal {
            let name = Signal::from_number(signal).unwrap().to_string();
            writeln!(out, "stop-signal = {}", pen.string(&name)).unwrap();
        }
        if let Some(grace) = self.grace {
            writeln!(out, "stop-grace = {}", pen.time(grace)).unwrap();
        }
        if let Some((least, most)) = self.backoff {
            let (least, most) = (pen.time(least), pen.time(most));
            writeln!(out, "backoff-max = {most}\nbackoff = {least}").unwrap();
        }
        if let Some(reset) = self.reset {
            writeln!(out, "\"backoff-reset\" = {}", pen.time(reset)).unwrap();
        }
        if is_after {
            environment(out, pen);
        }
    }
}

/// Writes values in changing styles.
struct Pen<'p> {
    style: &'p [Index],
    used: usize,
}

impl Pen<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.used += 1;
        self.style[self.used % self.style.len()].index(end)
    }

    fn string(&mut self, text: &str) -> String {
        let is_plain = !text
            .chars()
            .any(|c| c == '\'' || (c.is_control() && c != '\t'));
        if is_plain && self.below(3) == 0 {
            return format!("'{text}'");
        }
        let style = self.below(4);
        let mut out = String::from("\"");
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\u{1b}' => out.push_str("\\e"),
                '\0'..='\x1f' | '\x7f' => write!(out, "\\x{:02x}", character as u32).unwrap(),
                _ if style == 0 => write!(out, "\\U{:08X}", character as u32).unwrap(),
                _ if style == 1 && (character as u32) < 0x1_0000 => {
                    write!(out, "\\u{:04x}", character as u32).unwrap();
                }
                _ => out.push(character),
            }
        }
        out.push('"');
        out
    }

    fn time(&mut self, millis: u64) -> String {
        match self.below(3) {
            0 => format!("\"{millis}ms\""),
            1 => format!("'{}s {}ms'", millis / 1_000, millis % 1_000),
            _ => format!(
                "\"{}d{}h{}min{}s{}ms\"",
                millis / 86_400_000,
                millis / 3_600_000 % 24,
                millis / 60_000 % 60,
                millis / 1_000 % 60,
                millis % 1_000
            ),
        }
    }
}

fn kept(text: &str) -> &'static CStr {
    Box::leak(CString::new(text).unwrap().into_boxed_c_str())
}
