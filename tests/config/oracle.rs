//! What a config means to the `toml` crate, and that ours means the same.

use core::time::Duration;

use host_init::base::level::LEVELS;
use host_init::base::signal::Signal;
use host_init::format::config::keys;
use host_init::policy::config::{Asked, Config, Need};

/// What a config says is what the oracle read, or the documented default.
pub(crate) fn assert_same(ours: &Config<'_>, theirs: &toml::Table) {
    let empty = toml::Table::new();
    let table = |name: &str| {
        theirs
            .get(name)
            .map_or(&empty, |table| table.as_table().unwrap())
    };
    let entries = |name: &str| -> Vec<&toml::Table> {
        let array = theirs.get(name).map(|array| array.as_array().unwrap());
        array
            .into_iter()
            .flatten()
            .map(|entry| entry.as_table().unwrap())
            .collect()
    };
    let string = |table: &toml::Table, key: &str, default: &str| {
        table
            .get(key)
            .map_or(default, |value| value.as_str().unwrap())
            .to_owned()
    };
    let time = |table: &toml::Table, key: &str, default: &str| span(&string(table, key, default));
    let text = |text: &core::ffi::CStr| text.to_str().unwrap().to_owned();

    assert_eq!(
        ours.hostname.map(text),
        theirs
            .get("hostname")
            .map(|name| name.as_str().unwrap().to_owned())
    );
    let level = LEVELS.iter().find(|(_, level)| *level == ours.log_level);
    assert_eq!(level.unwrap().0, string(theirs, "log-level", "info"));

    assert_eq!(ours.mounts.len(), entries("mount").len());
    for (ours, theirs) in ours.mounts.iter().zip(entries("mount")) {
        assert_eq!(text(ours.source), theirs["source"].as_str().unwrap());
        assert_eq!(text(ours.target), theirs["target"].as_str().unwrap());
        assert_eq!(text(ours.kind), theirs["type"].as_str().unwrap());
        assert_eq!(text(ours.options), string(theirs, "options", ""));
        assert_eq!(ours.wait, time(theirs, "wait", "0s"));
        let required = theirs
            .get("required")
            .is_none_or(|value| value.as_bool().unwrap());
        assert_eq!(ours.need == Need::Required, required);
    }

    assert_eq!(ours.directories.len(), entries("directory").len());
    for (ours, theirs) in ours.directories.iter().zip(entries("directory")) {
        let number = |key: &str| theirs.get(key).map_or(0, |id| id.as_integer().unwrap());
        assert_eq!(text(ours.path), theirs["path"].as_str().unwrap());
        let mode = string(theirs, "mode", "0755");
        assert_eq!(ours.mode, u16::from_str_radix(&mode, 8).unwrap());
        assert_eq!(i64::from(ours.uid), number("uid"));
        assert_eq!(i64::from(ours.gid), number("gid"));
    }

    assert_eq!(ours.host.is_some(), theirs.contains_key("host"));
    if let Some(ours) = &ours.host {
        let theirs = table("host");
        let command: Vec<_> = theirs["command"].as_array().unwrap().iter().collect();
        assert_eq!(ours.command.len(), command.len());
        for (ours, theirs) in ours.command.iter().zip(command) {
            assert_eq!(text(ours), theirs.as_str().unwrap());
        }
        let mut environment: Vec<String> =
            ours.environment.iter().map(|entry| text(entry)).collect();
        environment.sort();
        let mut expected: Vec<String> = theirs
            .get("environment")
            .map(|table| table.as_table().unwrap())
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}={}", value.as_str().unwrap()))
            .collect();
        expected.sort();
        assert_eq!(environment, expected);
        assert_eq!(text(ours.directory), string(theirs, "directory", "/"));
        let output = keys::OUTPUTS
            .iter()
            .find(|(_, output)| *output == ours.output);
        assert_eq!(output.unwrap().0, string(theirs, "output", "console"));
        let signal = string(theirs, "stop-signal", "TERM");
        assert_eq!(Some(ours.stop_signal), Signal::parse(&signal));
        assert_eq!(ours.stop_grace, time(theirs, "stop-grace", "10s"));
        assert_eq!(ours.backoff, time(theirs, "backoff", "1s"));
        assert_eq!(ours.backoff_max, time(theirs, "backoff-max", "60s"));
        assert_eq!(ours.backoff_reset, time(theirs, "backoff-reset", "60s"));
    }

    assert_eq!(
        ours.shutdown.unmount,
        time(table("shutdown"), "unmount", "10s")
    );
    assert_eq!(ours.shutdown.sync, time(table("shutdown"), "sync", "30s"));

    let asked = |asked: Asked| {
        keys::ASKED
            .iter()
            .find(|(_, known)| *known == asked)
            .unwrap()
            .0
    };
    let signals = table("signals");
    assert_eq!(asked(ours.signals.term), string(signals, "TERM", "reboot"));
    assert_eq!(asked(ours.signals.int), string(signals, "INT", "reboot"));
    assert_eq!(asked(ours.signals.usr1), string(signals, "USR1", "halt"));
    assert_eq!(
        asked(ours.signals.usr2),
        string(signals, "USR2", "poweroff")
    );
    assert_eq!(asked(ours.signals.pwr), string(signals, "PWR", "poweroff"));
    assert_eq!(asked(ours.signals.hup), string(signals, "HUP", "reload"));
}

/// A duration read another way: number and unit in turn.
fn span(text: &str) -> Duration {
    let compact: String = text.split(' ').collect();
    let mut sum = Duration::ZERO;
    let mut rest = compact.as_str();
    while !rest.is_empty() {
        let unit_at = rest.find(|c: char| c.is_alphabetic()).unwrap();
        let next_at = rest[unit_at..]
            .find(|c: char| c.is_numeric())
            .map_or(rest.len(), |at| unit_at + at);
        let number: u32 = rest[..unit_at].parse().unwrap();
        let unit = match &rest[unit_at..next_at] {
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "min" => Duration::from_secs(60),
            "h" => Duration::from_secs(3_600),
            "d" => Duration::from_secs(86_400),
            other => panic!("{other}"),
        };
        sum += unit * number;
        rest = &rest[next_at..];
    }
    sum
}
