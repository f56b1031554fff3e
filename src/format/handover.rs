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
//! | 44 | 4 | CRC-32 of all before |
//!
//! Numbers are little-endian. A version that is not known is refused: the next
//! life then kills what the one before has left, and starts anew.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

use crate::base::time::Instant;
use crate::policy::backoff::Failures;
use crate::policy::service::Saved;

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
}

/// Bytes of a record.
pub const BYTES: usize = 48;

const MAGIC: [u8; 8] = *b"hostinit";
const VERSION: u32 = 1;

/// A table would be larger than the code, for a sum of 48 bytes.
const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

impl Handover {
    /// The record.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let parts: [&[u8]; 8] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &self.pid.to_le_bytes(),
            &self.pidfd.to_le_bytes(),
            &self.host.since.as_nanos().to_le_bytes(),
            &self.host.failures.number().to_le_bytes(),
            &self.host.starts.to_le_bytes(),
            &self.open_files.unwrap_or(u64::MAX).to_le_bytes(),
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
        let (open_files, _) = rest.split_first_chunk::<8>()?;
        Some(Self {
            pid: u32::from_le_bytes(*pid),
            pidfd: i32::from_le_bytes(*pidfd),
            host: Saved {
                since: Instant::from_nanos(u64::from_le_bytes(*since)),
                failures: Failures::new(u32::from_le_bytes(*failures)),
                starts: u32::from_le_bytes(*starts),
            },
            open_files: Some(u64::from_le_bytes(*open_files)).filter(|limit| *limit != u64::MAX),
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
            failures: Failures::new(2),
            starts: 7,
        },
        open_files: Some(1_024),
    };

    #[test]
    fn a_record_is_read_back_as_it_was() {
        assert_eq!(Handover::from_bytes(&HANDOVER.to_bytes()), Some(HANDOVER));
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
        let sum = CRC.checksum(&record[..44]);
        record[44..].copy_from_slice(&sum.to_le_bytes());

        assert_eq!(Handover::from_bytes(&record), None);
    }
}
