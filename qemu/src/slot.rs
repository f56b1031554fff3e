//! A place to run in: so many guests at once, over all tests and processes.
//!
//! A slot is a lock on one of a few files, so a killed test gives it back.

use core::num::NonZero;
use core::time::Duration;
use std::fs::{self, File};
use std::thread;
use std::time::Instant;

use crate::error::Error;
use crate::tools;

/// Between two looks at the slots. A lock that may be any one of several
/// cannot be waited for; a boot takes a hundred times as long.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The right to run one guest, given back on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    _lock: File,
}

impl Slot {
    /// Waits for a free slot.
    pub(crate) fn take(bound: Duration) -> Result<Self, Error> {
        Self::take_of(count(), bound)
    }

    fn take_of(count: usize, bound: Duration) -> Result<Self, Error> {
        let base = tools::target().join("qemu/slots");
        fs::create_dir_all(&base).map_err(|error| Error::new("make", base.display(), error))?;
        let deadline = Instant::now() + bound;

        loop {
            for number in 0..count {
                let path = base.join(number.to_string());
                let file = File::create(&path)
                    .map_err(|error| Error::new("create", path.display(), error))?;
                if file.try_lock().is_ok() {
                    return Ok(Self { _lock: file });
                }
            }
            if Instant::now() >= deadline {
                let reason = format!("all {count} stayed in use for {bound:?}");
                return Err(Error::new("take", "a guest's slot", reason));
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

/// `HOST_INIT_GUESTS`, or else one guest for each processor: an emulated
/// machine keeps one busy.
fn count() -> usize {
    std::env::var("HOST_INIT_GUESTS")
        .ok()
        .and_then(|number| number.parse().ok())
        .or_else(|| thread::available_parallelism().ok().map(NonZero::get))
        .map_or(1, |count| count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_slots_are_an_error_when_the_bound_passes() {
        let error = Slot::take_of(0, Duration::ZERO).unwrap_err();

        assert!(error.to_string().contains("stayed in use"), "{error}");
    }
}
