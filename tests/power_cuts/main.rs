//! The boot record on a disk that may lose power between any two calls.
//!
//! The calls are the real ones, watched once for every length that the file may
//! have; the disk is a model, which loses and tears whatever was not synced. What a
//! boot reads must be the record that was answered for last, or one that was being
//! written.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use host_init::base::errno::Errno;
use host_init::base::exit::Exit;
use host_init::base::slot::{BYTES, Slot};
use host_init::format::boot_record::LifeId;
use host_init::format::boot_record::{BootRecord, Choice, Last, choose};
use host_init::format::name::Name;
use host_init::policy::event::Cause;
use host_init::policy::trial::{Mark, Version};
use host_init::sys::store;

mod calls;
mod chance;
mod disk;

use calls::Call;
use chance::Chance;
use disk::Disk;

/// How a store or its caller may be wrong; `Right` is how they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Right,
    NoSyncOfTheSlot,
    NoSyncOfTheName,
    NameAfterTheBlocks,
    AlwaysTheSameSlot,
    TheOtherSlotAfterAFailure,
}

/// A file that is real, and the calls that were watched.
struct Bench {
    path: PathBuf,
    watched: HashMap<(Option<usize>, bool), Vec<Call>>,
}

impl Bench {
    fn new(name: &str) -> Self {
        let file = format!("host-init-power-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(file);
        let watched = HashMap::new();
        Self { path, watched }
    }

    /// The calls of a write to a file of this length.
    fn calls(&mut self, length: Option<usize>, slot: Slot, fault: Fault) -> Vec<Call> {
        let place = (length, slot == Slot::First);
        let path = &self.path;
        let watched = self.watched.entry(place);
        let watched = watched.or_insert_with(|| calls::of_write(path, length, slot));
        let mut calls = watched.clone();
        let name = calls.iter().position(|call| *call == Call::SyncName);
        match (fault, name) {
            (Fault::NoSyncOfTheSlot, _) => assert_eq!(calls.pop(), Some(Call::SyncFile)),
            (Fault::NoSyncOfTheName, Some(name)) => {
                calls.remove(name);
            }
            (Fault::NameAfterTheBlocks, Some(name)) => {
                let call = calls.remove(name);
                let written = calls
                    .iter()
                    .position(|call| matches!(call, Call::Write { .. }));
                calls.insert(written.unwrap(), call);
            }
            _ => {}
        }
        calls
    }

    /// What a boot finds: the disk's content in a real file, read as it is read.
    fn boot(&self, disk: &Disk) -> Choice {
        let _ = fs::remove_file(&self.path);
        if let Some(content) = disk.view() {
            fs::write(&self.path, content).unwrap();
        }
        let path = CString::new(self.path.as_os_str().as_bytes()).unwrap();
        let mut memory = [0xee; 2 * BYTES];
        match store::read(&path, &mut memory) {
            Ok((first, second)) => choose(first, second),
            Err(errno) => {
                assert_eq!(errno, Errno::ENOENT);
                choose(&[], &[])
            }
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A record that is another one each time.
fn record(sequence: u64, chance: &mut Chance) -> BootRecord {
    let name = Name::new(format!("1.{}", chance.below(50)).as_bytes()).unwrap();
    BootRecord {
        sequence,
        life: LifeId(
            [chance.next().to_le_bytes(); 2]
                .concat()
                .try_into()
                .unwrap(),
        ),
        mark: Mark {
            failures: u32::try_from(chance.below(5)).unwrap(),
            is_attempting: chance.is_one_in(2),
            version: name.version(),
            good: (0..chance.below(9))
                .map(|_| Version(chance.next()))
                .collect(),
            ..Mark::default()
        },
        current: Some(name),
        good: None,
        last: Some(Last {
            exit: Exit::Code(chance.next().to_le_bytes()[0]),
            cause: Cause::Itself,
            at: chance.next(),
        }),
    }
}

/// What may be there before the first record: nothing, a part of a file, a
/// partition that is new, or one that was used.
fn before(chance: &mut Chance) -> Option<Vec<u8>> {
    match chance.below(5) {
        0 | 1 => None,
        2 => Some(vec![0; 512 * chance.below(16)]),
        3 => Some(vec![0; 2 * BYTES]),
        _ => {
            let noise = (0..2 * BYTES).map(|_| chance.next().to_le_bytes()[0]);
            Some(noise.collect())
        }
    }
}

/// Some boots of one machine, with writes that end, writes that are given up, and
/// power that goes. Whether each boot found what it had to.
fn is_kept(seed: u64, grain: usize, fault: Fault, bench: &mut Bench) -> bool {
    let mut chance = Chance::new(seed);
    let mut disk = Disk::new(before(&mut chance), grain);
    // What was answered for last, and what was begun since.
    let mut answered: Option<BootRecord> = None;
    let mut begun: Vec<BootRecord> = Vec::new();
    for _ in 0..6 {
        let choice = bench.boot(&disk);
        let is_begun = choice.record.as_ref().is_some_and(|it| begun.contains(it));
        if choice.record != answered && !is_begun {
            return false;
        }
        begun.clear();
        answered = choice.record;
        let mut slot = choice.next;
        let mut sequence = answered.as_ref().map_or(0, |record| record.sequence);
        loop {
            sequence += 1;
            let new = record(sequence, &mut chance);
            let length = disk.view().map(|content| content.len());
            let calls = bench.calls(length, slot, fault);
            let is_whole = !chance.is_one_in(3);
            let done = if is_whole {
                calls.len()
            } else {
                chance.below(calls.len() + 1)
            };
            for call in &calls[..done] {
                disk.perform(*call, &new.to_bytes());
            }
            if is_whole {
                answered = Some(new);
                begun.clear();
            } else {
                begun.push(new);
            }
            slot = match fault {
                Fault::AlwaysTheSameSlot => slot,
                Fault::TheOtherSlotAfterAFailure => slot.other(),
                _ if is_whole => slot.other(),
                _ => slot,
            };
            if chance.is_one_in(4) {
                break;
            }
        }
        disk.cut(&mut chance);
    }
    true
}

/// How many of so many machines lost a record.
fn losses(machines: u64, grain: usize, fault: Fault) -> usize {
    let mut bench = Bench::new(&format!("{fault:?}-{grain}"));
    (0..machines)
        .filter(|seed| !is_kept(*seed, grain, fault, &mut bench))
        .count()
}

#[test]
fn a_disk_that_writes_sectors_whole_loses_no_record() {
    assert_eq!(losses(2_000, 512, Fault::Right), 0);
}

#[test]
fn a_disk_that_tears_bytes_loses_no_record() {
    assert_eq!(losses(600, 1, Fault::Right), 0);
}

#[test]
fn the_model_sees_every_kind_of_fault() {
    for fault in [
        Fault::NoSyncOfTheSlot,
        Fault::NoSyncOfTheName,
        Fault::NameAfterTheBlocks,
        Fault::AlwaysTheSameSlot,
        Fault::TheOtherSlotAfterAFailure,
    ] {
        assert_ne!(losses(200, 1, fault), 0, "{fault:?}");
    }
}

#[test]
fn a_file_is_made_in_the_order_that_makes_it_durable() {
    let mut bench = Bench::new("order");

    let calls = bench.calls(None, Slot::Second, Fault::Right);

    let clear = |at| Call::Clear { at, count: BYTES };
    assert_eq!(
        calls,
        [
            Call::Make,
            Call::SyncFile,
            Call::SyncName,
            clear(0),
            clear(BYTES),
            Call::SyncFile,
            Call::Write { at: BYTES },
            Call::SyncFile,
        ]
    );
    let calls = bench.calls(Some(2 * BYTES), Slot::First, Fault::Right);
    assert_eq!(calls, [Call::Write { at: 0 }, Call::SyncFile]);
}
