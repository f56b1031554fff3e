//! Boots an image on a machine whose clock is its instruction count.

use core::time::Duration;
use std::collections::BTreeMap;
use std::error::Error;

use qemu::{Boot, Ending};

/// One nanosecond an instruction, and idle time is skipped: figures repeat
/// whatever else this machine does.
const COUNTING: [&str; 2] = ["-icount", "shift=0,sleep=off"];

/// How long a boot may take on a busy machine.
const BOUND: Duration = Duration::from_secs(240);

/// The kernel's last words.
const LAST_WORDS: &str = "reboot: Power down";

/// What a guest said before it powered off.
pub(crate) struct Said {
    /// Figures by their names.
    figures: BTreeMap<String, i64>,
    /// Time of the kernel's last words on its log's clock, in nanoseconds.
    pub(crate) off: Option<i64>,
    /// The kernel's release.
    pub(crate) version: String,
    /// The whole console.
    pub(crate) console: String,
}

/// Boots the image with more words for its kernel, and listens until the end.
pub(crate) fn run(image: Vec<u8>, words: &str) -> Result<Said, Box<dyn Error>> {
    let mut guest = Boot::new(image)
        .arguments(COUNTING)
        // Only the last words reach the console: each line on it takes time.
        .append("loglevel=1")
        .append(words)
        .start()?;
    let ending = guest.wait_end(BOUND);
    let console = guest.console();
    if ending != Ending::PoweredOff {
        return Err(format!("the guest {ending}\n{console}").into());
    }
    Ok(Said::from(console))
}

impl Said {
    /// A figure that the guest told.
    pub(crate) fn figure(&self, name: &str) -> Option<f64> {
        let value = *self.figures.get(name)?;
        (value >= 0).then_some(value as f64)
    }

    /// Every figure, as the guest told them.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (String, f64)> {
        figures(&self.console).map(|(name, value)| (name, value as f64))
    }

    /// From the request to stop to the kernel's last words, in nanoseconds.
    pub(crate) fn stop(&self) -> Option<f64> {
        Some(self.off? as f64 - self.figure("stop-asked")?)
    }
}

impl From<String> for Said {
    fn from(console: String) -> Self {
        let figures = figures(&console).collect();
        let off = console
            .lines()
            .find(|line| line.ends_with(LAST_WORDS))
            .and_then(time);
        let version = console
            .lines()
            .find_map(|line| line.strip_prefix("bench: kernel "))
            .unwrap_or("?")
            .to_owned();
        Self {
            figures,
            off,
            version,
            console,
        }
    }
}

/// Lines `bench: name value`.
fn figures(console: &str) -> impl Iterator<Item = (String, i64)> {
    console
        .lines()
        .filter_map(|line| line.strip_prefix("bench: ")?.rsplit_once(' '))
        .filter_map(|(name, value)| Some((name.to_owned(), value.trim().parse().ok()?)))
}

/// The time of a line of the kernel, `[    1.234567] …`, in nanoseconds.
fn time(line: &str) -> Option<i64> {
    let (stamp, _) = line.strip_prefix('[')?.split_once(']')?;
    let seconds: f64 = stamp.trim().parse().ok()?;
    // Rounded down to a microsecond by the kernel: half of one on average.
    Some((seconds * 1e9) as i64 + 500)
}
