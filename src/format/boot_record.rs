//! What is kept of the host over power cuts: one slot of the boot record.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `hostboot` |
//! | 8 | 4 | the version of this layout |
//! | 12 | 4 | the bytes of the record, its sum included |
//! | 16 | 8 | its number in the sequence |
//! | 24 | 16 | the life of host-init that wrote it |
//! | 40 | 8 | the version under count |
//! | 48 | 4 | its failures in a row |
//! | 52 | 1 | 1 when a start is under way |
//! | 53 | 1 | rounds begun in a row after a halt |
//! | 54 | 1 | why the host is halted, 0 when it is not |
//! | 55 | 1 | 1 when a version is being taken back |
//! | 56 | 8 | that version |
//! | 64 | 64 | versions that were healthy, the latest last |
//! | 128 | 64 | versions that were taken back, the latest last |
//! | 192 | 1 | how many were healthy |
//! | 193 | 1 | how many were taken back |
//! | 194 | 1 | bytes of the name of the version under count, 0 for none |
//! | 195 | 1 | bytes of the name of the last good version, 0 for none |
//! | 196 | 128 | the name of the version under count |
//! | 324 | 128 | the name of the last good version |
//! | 452 | 8 | when the host ended last, in seconds of the wall clock since 1970 |
//! | 460 | 1 | how: 0 never, 1 code, 2 signal, 3 signal and core dump, 4 not started, 5 unknown |
//! | 461 | 1 | the code, the signal, or the step that failed |
//! | 462 | 2 | the kernel's reason when it was not started |
//! | 464 | 1 | who caused it: 1 nobody, 2 a stop, 3 its timeout, 4 it was not ready in time, 5 its watchdog |
//! | 465 | 7 | zeros |
//! | 472 | 8 | CRC-64/XZ of all before |
//! | 480 | 3616 | zeros |
//!
//! Numbers are little-endian, and what is not used is zero: each record has one
//! spelling, and any other is refused. So is a layout that is not known. All of it
//! is in the first 512 bytes, which most disks write whole or not at all.

use crate::base::errno::Errno;
use crate::base::exit::{Exit, Failure, Step};
use crate::base::signal::Signal;
use crate::base::slot::{BYTES, MAGIC, Slot};
use crate::format::name::{self, Name};
use crate::policy::event::Cause;
use crate::policy::trial::{Halt, Mark, REMEMBERED, Version, Versions};
use crc::{CRC_64_XZ, Crc, NoTable};

/// What is kept of the host over power cuts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BootRecord {
    /// Its number: one more than that of the record before.
    pub sequence: u64,
    /// The life of host-init that wrote it.
    pub life: LifeId,
    /// What the rules of the host's trial must not forget.
    pub mark: Mark,
    /// The name of the version under count, if it has one.
    pub current: Option<Name>,
    /// The name of the last good version, if there was one.
    pub good: Option<Name>,
    /// How the host ended last, if it ever did.
    pub last: Option<Last>,
}

/// A life of host-init, from its start to its end, over its own re-executions: a number
/// by chance. Zero is that of none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LifeId(pub [u8; 16]);

/// How the host ended last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Last {
    /// How it ended.
    pub exit: Exit,
    /// Who caused it.
    pub cause: Cause,
    /// When, in seconds of the wall clock since 1970; the clock may have been wrong.
    pub at: u64,
}

/// What two slots have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The newer of the good records.
    pub record: Option<BootRecord>,
    /// The slot that is written next. Never the one with that record; and the same
    /// again when the write fails, for nobody knows then what it has.
    pub next: Slot,
}

/// Bytes of a record without the zeros behind it, its sum included.
pub const LENGTH: usize = 480;

// The layout above was drawn for these.
const _: () = assert!(REMEMBERED == 8 && name::BYTES == 128 && LENGTH <= 512);

const VERSION: u32 = 1;

/// A table would be larger than the code, for a sum that is made once a start.
const CRC: Crc<u64, NoTable> = Crc::<u64, NoTable>::new(&CRC_64_XZ);

/// Chooses between what the two slots have. A slot that is torn, missing or
/// somebody else's is as one that was never written.
pub fn choose(first: &[u8], second: &[u8]) -> Choice {
    let (first, second) = (
        BootRecord::from_bytes(first),
        BootRecord::from_bytes(second),
    );
    let (record, slot) = match (first, second) {
        (Some(first), Some(second)) if first.sequence < second.sequence => (second, Slot::Second),
        (Some(first), _) => (first, Slot::First),
        (None, Some(second)) => (second, Slot::Second),
        (None, None) => {
            return Choice {
                record: None,
                next: Slot::First,
            };
        }
    };
    Choice {
        record: Some(record),
        next: slot.other(),
    }
}

/// Whether two slots have what is somebody else's, and must stay: there is something,
/// and none of it was ever a record, whole or torn, of this layout or another, or was
/// made for one: a file is made with the magic in both slots, so that a first record
/// that is torn leaves the other one.
pub fn is_foreign(first: &[u8], second: &[u8]) -> bool {
    let slots = [first, second];
    let is_blank = |slot: &[u8]| {
        [0, 0xff]
            .iter()
            .any(|blank| slot.iter().all(|byte| byte == blank))
    };
    !slots.iter().any(|slot| slot.starts_with(&MAGIC)) && !slots.iter().all(|slot| is_blank(slot))
}

impl BootRecord {
    /// The slot that has this record.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let mut slot = [0; BYTES];
        for (place, byte) in slot.iter_mut().zip(self.spell()) {
            *place = byte;
        }
        slot
    }

    /// Reads a slot back; none when it has not exactly one record.
    pub fn from_bytes(slot: &[u8]) -> Option<Self> {
        let slot: &[u8; BYTES] = slot.try_into().ok()?;
        let (spelled, rest) = slot.split_at_checked(LENGTH)?;
        let is_alone = rest.iter().all(|byte| *byte == 0);
        Self::read(spelled).filter(|_| is_alone)
    }

    /// Reads back what [`BootRecord::spell`] wrote; none when it is anything else.
    pub fn read(spelled: &[u8]) -> Option<Self> {
        let spelled: &[u8; LENGTH] = spelled.try_into().ok()?;
        let (body, sum) = spelled.split_last_chunk::<8>()?;
        if CRC.checksum(body) != u64::from_le_bytes(*sum) {
            return None;
        }
        let record = Self::read_body(&mut Reader(body))?;
        // What the reader took for granted was so when it is spelled the same again.
        (record.spell() == *spelled).then_some(record)
    }

    /// The record without the zeros behind it.
    pub fn spell(&self) -> [u8; LENGTH] {
        let mark = &self.mark;
        let (at, [how, what, low, high, cause]) = match self.last {
            Some(last) => (last.at, spell_last(last)),
            None => (0, [0; 5]),
        };
        let parts: [&[u8]; 18] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &u32::try_from(LENGTH).unwrap_or(0).to_le_bytes(),
            &self.sequence.to_le_bytes(),
            &self.life.0,
            &mark.version.0.to_le_bytes(),
            &mark.failures.to_le_bytes(),
            &[
                u8::from(mark.is_attempting),
                mark.reboots,
                mark.halted.map_or(0, halt_number),
                u8::from(mark.going.is_some()),
            ],
            &mark.going.unwrap_or_default().0.to_le_bytes(),
            &spell_versions(&mark.good),
            &spell_versions(&mark.condemned),
            &[
                mark.good.number(),
                mark.condemned.number(),
                short(word(self.current.as_ref()).len()),
                short(word(self.good.as_ref()).len()),
            ],
            &spell_name(self.current.as_ref()),
            &spell_name(self.good.as_ref()),
            &at.to_le_bytes(),
            &[how, what, low, high],
            &[cause],
            &[0; 7],
        ];
        let mut record = [0; LENGTH];
        let (body, sum) = record.split_at_mut(LENGTH.saturating_sub(8));
        for (place, byte) in body.iter_mut().zip(parts.into_iter().flatten()) {
            *place = *byte;
        }
        sum.copy_from_slice(&CRC.checksum(body).to_le_bytes());
        record
    }

    /// Reads what [`Self::spell`] wrote. The magic, the lengths and whatever is not
    /// used are not looked at: they are the same when it is spelled again, or not.
    fn read_body(body: &mut Reader<'_>) -> Option<Self> {
        let [_, _, _, _, _, _, _, _] = body.take()?;
        if u32::from_le_bytes(body.take()?) != VERSION {
            return None;
        }
        let [_, _, _, _] = body.take()?;
        let sequence = u64::from_le_bytes(body.take()?);
        let life = LifeId(body.take()?);
        let version = Version(u64::from_le_bytes(body.take()?));
        let failures = u32::from_le_bytes(body.take()?);
        let [is_attempting, reboots, halted, is_going] = body.take()?;
        let going = Version(u64::from_le_bytes(body.take()?));
        let (good, condemned) = (body.take()?, body.take()?);
        let [goods, condemneds, current_bytes, good_bytes] = body.take()?;
        let (current, good_name) = (body.take()?, body.take()?);
        let at = u64::from_le_bytes(body.take()?);
        let last = body.take()?;
        Some(Self {
            sequence,
            life,
            mark: Mark {
                failures,
                is_attempting: is_attempting != 0,
                version,
                good: read_versions(good, goods)?,
                condemned: read_versions(condemned, condemneds)?,
                going: (is_going != 0).then_some(going),
                halted: match halted {
                    0 => None,
                    number => Some(halt(number)?),
                },
                reboots,
            },
            current: read_name(&current, current_bytes)?,
            good: read_name(&good_name, good_bytes)?,
            last: read_last(last, at)?,
        })
    }
}

/// Bytes that are read from the front.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }
}

fn spell_versions(versions: &Versions) -> [u8; 64] {
    let mut bytes = [0; 64];
    let (places, _) = bytes.as_chunks_mut::<8>();
    for (place, version) in places.iter_mut().zip(versions.iter()) {
        *place = version.0.to_le_bytes();
    }
    bytes
}

fn read_versions(bytes: [u8; 64], count: u8) -> Option<Versions> {
    let (places, _) = bytes.as_chunks::<8>();
    let versions = places.get(..usize::from(count))?.iter();
    Some(
        versions
            .map(|place| Version(u64::from_le_bytes(*place)))
            .collect(),
    )
}

fn word(name: Option<&Name>) -> &[u8] {
    name.map_or(&[], Name::as_bytes)
}

fn spell_name(name: Option<&Name>) -> [u8; name::BYTES] {
    let mut bytes = [0; name::BYTES];
    for (place, byte) in bytes.iter_mut().zip(word(name)) {
        *place = *byte;
    }
    bytes
}

/// The name, or that there is none; none of both when it can't be one.
fn read_name(bytes: &[u8; name::BYTES], length: u8) -> Option<Option<Name>> {
    match length {
        0 => Some(None),
        length => Name::new(bytes.get(..usize::from(length))?).map(Some),
    }
}

/// A number that fits: at most 128 of anything.
fn short(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

const fn halt_number(halt: Halt) -> u8 {
    match halt {
        Halt::NoWayBack => 1,
        Halt::WasGood => 2,
        Halt::TakenBackBefore => 3,
        Halt::TakeBackFailed => 4,
        Halt::TakeBackUnknown => 5,
        Halt::Before => 6,
    }
}

const fn halt(number: u8) -> Option<Halt> {
    match number {
        1 => Some(Halt::NoWayBack),
        2 => Some(Halt::WasGood),
        3 => Some(Halt::TakenBackBefore),
        4 => Some(Halt::TakeBackFailed),
        5 => Some(Halt::TakeBackUnknown),
        6 => Some(Halt::Before),
        _ => None,
    }
}

fn spell_last(last: Last) -> [u8; 5] {
    let (how, what, reason) = match last.exit {
        Exit::Code(code) => (1, code, 0),
        Exit::Signal {
            signal,
            dumped: false,
        } => (2, signal.number(), 0),
        Exit::Signal {
            signal,
            dumped: true,
        } => (3, signal.number(), 0),
        Exit::Unstarted(failure) => (4, failure.step.number(), failure.errno.number()),
        Exit::Unknown => (5, 0, 0),
    };
    let [low, high] = u16::to_le_bytes(reason);
    let cause = match last.cause {
        Cause::Itself => 1,
        Cause::Stop => 2,
        Cause::Timeout => 3,
        Cause::Unready => 4,
        Cause::Watchdog => 5,
    };
    [how, what, low, high, cause]
}

/// The last end, or that there was none; none of both when it makes no sense.
fn read_last([how, what, low, high, cause]: [u8; 5], at: u64) -> Option<Option<Last>> {
    let exit = match how {
        0 => return Some(None),
        1 => Exit::Code(what),
        2 | 3 => Exit::Signal {
            signal: Signal::from_number(what)?,
            dumped: how == 3,
        },
        4 => Exit::Unstarted(Failure {
            step: Step::from_number(what)?,
            errno: Errno::from_number(u16::from_le_bytes([low, high])),
        }),
        5 => Exit::Unknown,
        _ => return None,
    };
    let cause = match cause {
        1 => Cause::Itself,
        2 => Cause::Stop,
        3 => Cause::Timeout,
        4 => Cause::Unready,
        5 => Cause::Watchdog,
        _ => return None,
    };
    Some(Some(Last { exit, cause, at }))
}

#[cfg(test)]
mod tests;
