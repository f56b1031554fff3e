//! What a re-executed host-init is told by its life before.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `hostinit` |
//! | 8 | 4 | the version of this layout |
//! | 12 | 4 | the host's pid |
//! | 16 | 4 | the descriptor of the host's process |
//! | 20 | 8 | when the host was started, in nanoseconds of the monotonic clock |
//! | 28 | 4 | failures in a row |
//! | 32 | 4 | starts |
//! | 36 | 8 | the soft limit of open files that services get, all ones for none |
//! | 44 | 8 | since when the host is ready, or when it must be |
//! | 52 | 8 | how often it must be heard of, in nanoseconds; 0 for never |
//! | 60 | 8 | when it must be heard of next, all ones for never |
//! | 68 | 4 | the descriptor of the socket at which it is heard, all ones for none |
//! | 72 | 4 | the descriptor of the pipe at which it is to say that it is ready, all ones for none |
//! | 76 | 1 | 1 when it is ready |
//! | 77 | 1 | 1 when all of its processes are heard |
//! | 78 | 2 | zeros |
//! | 80 | 4 | CRC-32 of all before |
//!
//! Numbers are little-endian. A version that is not known is refused: the next
//! life then kills what the one before has left, and starts anew.

use core::time::Duration;

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

use crate::base::time::Instant;
use crate::policy::backoff::Failures;
use crate::policy::notice::Access;
use crate::policy::service::Saved;
use crate::policy::vigil::{Readiness, Vigil};

/// What is handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handover {
    /// The host's main process.
    pub pid: u32,
    /// The number of its descriptor.
    pub pidfd: i32,
    /// What the rules know of it.
    pub host: Saved,
    /// The soft limit of open files that services get.
    pub open_files: Option<u64>,
    /// The number of the socket at which it is heard.
    pub socket: Option<i32>,
    /// Whose messages count.
    pub access: Access,
    /// The number of the pipe at which it is to say that it is ready.
    pub reader: Option<i32>,
}

/// Bytes of a record.
pub const BYTES: usize = 84;

const MAGIC: [u8; 8] = *b"hostinit";
const VERSION: u32 = 3;

/// A table would be larger than the code, for a sum of 84 bytes.
const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

impl Handover {
    /// The record.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let Vigil {
            readiness,
            interval,
            alive_by,
            // It may be told once more.
            is_leaving: _,
        } = self.host.vigil;
        let (is_ready, at) = match readiness {
            Readiness::Since(at) => (true, at),
            Readiness::By(at) => (false, at),
        };
        let interval = interval.unwrap_or_default().as_nanos();
        let parts: [&[u8]; 14] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &self.pid.to_le_bytes(),
            &self.pidfd.to_le_bytes(),
            &self.host.since.as_nanos().to_le_bytes(),
            &self.host.failures.number().to_le_bytes(),
            &self.host.starts.to_le_bytes(),
            &self.open_files.unwrap_or(u64::MAX).to_le_bytes(),
            &at.as_nanos().to_le_bytes(),
            &u64::try_from(interval).unwrap_or(u64::MAX).to_le_bytes(),
            &alive_by.map_or(u64::MAX, Instant::as_nanos).to_le_bytes(),
            &self.socket.unwrap_or(-1).to_le_bytes(),
            &self.reader.unwrap_or(-1).to_le_bytes(),
            &[u8::from(is_ready), u8::from(self.access == Access::All)],
        ];
        let mut record = [0; BYTES];
        let (body, sum) = record.split_at_mut(BYTES.saturating_sub(4));
        for (place, byte) in body.iter_mut().zip(parts.into_iter().flatten()) {
            *place = *byte;
        }
        sum.copy_from_slice(&CRC.checksum(body).to_le_bytes());
        record
    }

    /// Reads a record back; none when it is not exactly one.
    pub fn from_bytes(record: &[u8]) -> Option<Self> {
        let record: &[u8; BYTES] = record.try_into().ok()?;
        let (body, sum) = record.split_last_chunk::<4>()?;
        if CRC.checksum(body) != u32::from_le_bytes(*sum) {
            return None;
        }
        let (magic, rest) = body.split_first_chunk::<8>()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        if *magic != MAGIC || u32::from_le_bytes(*version) != VERSION {
            return None;
        }
        let (pid, rest) = rest.split_first_chunk::<4>()?;
        let (pidfd, rest) = rest.split_first_chunk::<4>()?;
        let (since, rest) = rest.split_first_chunk::<8>()?;
        let (failures, rest) = rest.split_first_chunk::<4>()?;
        let (starts, rest) = rest.split_first_chunk::<4>()?;
        let (open_files, rest) = rest.split_first_chunk::<8>()?;
        let (at, rest) = rest.split_first_chunk::<8>()?;
        let (interval, rest) = rest.split_first_chunk::<8>()?;
        let (alive_by, rest) = rest.split_first_chunk::<8>()?;
        let (socket, rest) = rest.split_first_chunk::<4>()?;
        let (reader, rest) = rest.split_first_chunk::<4>()?;
        let ([is_ready, hears_all], _) = rest.split_first_chunk::<2>()?;
        let at = Instant::from_nanos(u64::from_le_bytes(*at));
        let some = |bytes: [u8; 8], none| Some(u64::from_le_bytes(bytes)).filter(|n| *n != none);
        let fd = |bytes: [u8; 4]| Some(i32::from_le_bytes(bytes)).filter(|number| *number >= 0);
        Some(Self {
            pid: u32::from_le_bytes(*pid),
            pidfd: i32::from_le_bytes(*pidfd),
            host: Saved {
                since: Instant::from_nanos(u64::from_le_bytes(*since)),
                vigil: Vigil {
                    readiness: match is_ready {
                        0 => Readiness::By(at),
                        _ => Readiness::Since(at),
                    },
                    interval: some(*interval, 0).map(Duration::from_nanos),
                    alive_by: some(*alive_by, u64::MAX).map(Instant::from_nanos),
                    is_leaving: false,
                },
                failures: Failures::new(u32::from_le_bytes(*failures)),
                starts: u32::from_le_bytes(*starts),
            },
            open_files: some(*open_files, u64::MAX),
            socket: fd(*socket),
            reader: fd(*reader),
            access: match hears_all {
                0 => Access::Main,
                _ => Access::All,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDOVER: Handover = Handover {
        pid: 84,
        pidfd: 9,
        host: Saved {
            since: Instant::from_nanos(0x0123_4567_89ab_cdef),
            vigil: Vigil {
                readiness: Readiness::Since(Instant::from_nanos(5)),
                interval: Some(Duration::from_secs(3)),
                alive_by: Some(Instant::from_nanos(6)),
                is_leaving: false,
            },
            failures: Failures::new(2),
            starts: 7,
        },
        open_files: Some(1_024),
        socket: Some(11),
        access: Access::All,
        reader: Some(12),
    };

    #[test]
    fn a_record_is_read_back_as_it_was() {
        let unheard = Handover {
            host: Saved {
                vigil: Vigil {
                    readiness: Readiness::By(Instant::from_nanos(7)),
                    interval: None,
                    alive_by: None,
                    is_leaving: false,
                },
                ..HANDOVER.host
            },
            open_files: None,
            socket: None,
            access: Access::Main,
            reader: None,
            ..HANDOVER
        };
        for handover in [HANDOVER, unheard] {
            assert_eq!(Handover::from_bytes(&handover.to_bytes()), Some(handover));
        }
    }

    #[test]
    fn every_prefix_and_every_flipped_bit_is_refused() {
        let record = HANDOVER.to_bytes();
        for length in 0..record.len() {
            assert_eq!(Handover::from_bytes(&record[..length]), None);
        }
        for index in 0..record.len() {
            for bit in 0..8 {
                let mut record = record;
                record[index] ^= 1 << bit;
                assert_eq!(Handover::from_bytes(&record), None, "{index} {bit}");
            }
        }
    }

    #[test]
    fn another_version_is_refused_though_its_sum_is_right() {
        let mut record = HANDOVER.to_bytes();
        record[8] = 2;
        let sum = CRC.checksum(&record[..80]);
        record[80..].copy_from_slice(&sum.to_le_bytes());

        assert_eq!(Handover::from_bytes(&record), None);
    }
}
