//! What the kernel tells of an init, by its pid.

use core::fmt::Write;

use crate::kernel;
use crate::text::{Line, behind, number, read_file, tell};
use crate::tracing::Calls;

/// How long an init is watched while nothing happens: the tables say "a minute".
const IDLE_NANOS: i64 = 60_000_000_000;

/// A process by its pid, as the `/proc` that is mounted counts.
#[derive(Clone, Copy, Debug)]
pub struct Process(pub i64);

impl Process {
    /// Tells what it holds, in kB.
    pub fn tell_memory(self) {
        let mut buffer = [0; 4096];
        let rollup = self.read("smaps_rollup", &mut buffer);
        for (name, word) in [
            ("memory-rss", b"\nRss:".as_slice()),
            ("memory-pss", b"\nPss:"),
            ("memory-anonymous", b"\nAnonymous:"),
        ] {
            tell_field(name, rollup, word);
        }
        let mut buffer = [0; 4096];
        let status = self.read("status", &mut buffer);
        for (name, word) in [
            ("memory-data", b"\nVmData:".as_slice()),
            ("memory-tables", b"\nVmPTE:"),
        ] {
            tell_field(name, status, word);
        }
    }

    /// How often it waited so far: each wait but the last ended with a wake-up.
    pub fn wakes(self) -> i64 {
        let mut buffer = [0; 4096];
        let status = self.read("status", &mut buffer);
        behind(status, b"\nvoluntary_ctxt_switches:").map_or(-1, number)
    }

    /// Its processor time so far, in nanoseconds.
    pub fn cpu(self) -> i64 {
        let mut buffer = [0; 256];
        number(self.read("schedstat", &mut buffer))
    }

    /// Tells what it does in a minute in which nothing happens.
    pub fn tell_idling(self) {
        let calls = self.count_calls();
        let before = self.wakes();
        kernel::sleep(IDLE_NANOS);
        tell("idle-wakes", self.wakes() - before);
        tell("idle-calls", calls.end());
    }

    /// Counts its system calls from now on.
    pub fn count_calls(self) -> Calls {
        let mut filter = Line::new();
        let _ = write!(filter, "common_pid == {}", self.0);
        Calls::begin(filter.as_bytes())
    }

    fn read<'b>(self, name: &str, buffer: &'b mut [u8]) -> &'b [u8] {
        let mut path = Line::new();
        let _ = write!(path, "/proc/{}/{name}\0", self.0);
        match core::ffi::CStr::from_bytes_until_nul(path.as_bytes()) {
            Ok(path) => read_file(path, buffer),
            Err(_) => &[],
        }
    }
}

fn tell_field(name: &str, file: &[u8], word: &[u8]) {
    tell(name, behind(file, word).map_or(-1, number));
}
