//! The boot record on a disk that may lose power between any two calls.
//!
//! The calls are the real ones, watched once for everything that may be there before;
//! the disk is a model, which loses and tears whatever was not synced. What a boot
//! reads must be the record that was answered for last, or one that was being
//! written, and must never be taken for somebody else's.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use host_init::base::errno::Errno;
use host_init::base::exit::Exit;
use host_init::base::slot::{BYTES, Slot};
use host_init::format::boot_record::LifeId;
use host_init::format::boot_record::{BootRecord, Choice, Last, choose, is_foreign};
use host_init::format::name::Name;
use host_init::policy::event::Cause;
use host_init::policy::trial::{Mark, Version};
use host_init::sys::store;

mod calls;
mod chance;
mod disk;

use calls::{Call, Scene};
use chance::Chance;
use disk::Disk;

/// How a store or its caller may be wrong; `Right` is how they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Right,
    NoSyncOfTheSlot,
    NoSyncOfTheName,
    /// A file that is long enough is taken for one whose name is durable.
    NoSyncOfAFoundName,
    NoSyncOfTheBlocks,
    NameBeforeTheBlocks,
    NameAfterTheRecord,
    AlwaysTheSameSlot,
    TheOtherSlotAfterAFailure,
}

/// A file that is real, and the calls that were watched.
struct Bench {
    path: PathBuf,
    watched: HashMap<(Scene, bool), Vec<Call>>,
}

impl Bench {
    fn new(name: &str) -> Self {
        let file = format!("host-init-power-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(file);
        let watched = HashMap::new();
        Self { path, watched }
    }

    /// The calls of a write in this scene.
    fn calls(&mut self, scene: Scene, slot: Slot, fault: Fault) -> Vec<Call> {
        let place = (scene, slot == Slot::First);
        let path = &self.path;
        let watched = self.watched.entry(place);
        let watched = watched.or_insert_with(|| calls::of_write(path, scene, slot));
        let mut calls = watched.clone();
        let place = |wanted| calls.iter().position(|call| *call == wanted);
        let (made, renamed) = (place(Call::Make), place(Call::Rename));
        let named = place(Call::SyncName);
        match fault {
            Fault::NoSyncOfTheSlot => assert_eq!(calls.pop(), Some(Call::SyncFile)),
            Fault::NoSyncOfTheName => calls.retain(|call| *call != Call::SyncName),
            Fault::NoSyncOfAFoundName if scene.length == Some(2 * BYTES) => {
                calls.retain(|call| *call != Call::SyncName);
            }
            Fault::NoSyncOfTheBlocks => {
                if let Some(renamed) = renamed {
                    assert_eq!(calls.remove(renamed - 1), Call::SyncFile);
                }
            }
            Fault::NameBeforeTheBlocks => {
                if let (Some(made), Some(renamed)) = (made, renamed) {
                    calls[made + 1..=renamed].rotate_right(1);
                }
            }
            Fault::NameAfterTheRecord => {
                if let Some(named) = named {
                    calls[named..].rotate_left(1);
                }
            }
            Fault::Right
            | Fault::NoSyncOfAFoundName
            | Fault::AlwaysTheSameSlot
            | Fault::TheOtherSlotAfterAFailure => {}
        }
        calls
    }

    /// What a boot finds: the disk's content in a real file, read and judged as the
    /// keeper does it. Nothing when it is refused, for it is somebody else's.
    fn boot(&self, disk: &Disk) -> Option<Choice> {
        let _ = fs::remove_file(&self.path);
        if let Some(content) = disk.view() {
            fs::write(&self.path, content).unwrap();
        }
        let path = CString::new(self.path.as_os_str().as_bytes()).unwrap();
        let mut memory = [0xee; 2 * BYTES];
        match store::read(&path, &mut memory) {
            Ok((first, second)) if is_foreign(first, second) => None,
            Ok((first, second)) => Some(choose(first, second)),
            Err(errno) => {
                assert_eq!(errno, Errno::ENOENT);
                Some(choose(&[], &[]))
            }
        }
    }
}

/// What a write to this disk finds there.
fn scene(disk: &Disk) -> Scene {
    let content = disk.view();
    Scene {
        length: content.as_ref().map(Vec::len),
        is_unwritten: content.is_some_and(|content| {
            let blank = vec![0; content.len()];
            content == blank || content == calls::made()
        }),
        has_aside: disk.has_aside(),
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(calls::aside(&self.path));
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

/// What may be there before the first record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A blank file that somebody has made, of so many bytes: too few.
    Short(usize),
    /// A partition that is new.
    Blank,
    /// One that is used for something else.
    Noise,
}

impl Before {
    fn draw(chance: &mut Chance) -> Self {
        match chance.below(5) {
            0 | 1 => Self::Nothing,
            2 => Self::Short(512 * chance.below(16)),
            3 => Self::Blank,
            _ => Self::Noise,
        }
    }

    fn content(self, chance: &mut Chance) -> Option<Vec<u8>> {
        let mut noise = || chance.next().to_le_bytes()[0];
        match self {
            Self::Nothing => None,
            Self::Short(length) => Some(vec![0; length]),
            Self::Blank => Some(vec![0; 2 * BYTES]),
            Self::Noise => Some((0..2 * BYTES).map(|_| noise()).collect()),
        }
    }
}

/// Some boots of one machine, with writes that end, writes that are given up, and
/// power that goes. Whether each boot found what it had to.
fn is_kept(seed: u64, grain: usize, fault: Fault, bench: &mut Bench) -> bool {
    let mut chance = Chance::new(seed);
    let before = Before::draw(&mut chance);
    let content = before.content(&mut chance);
    let mut disk = Disk::new(content.clone(), grain);
    // What was answered for last, and what was begun since.
    let mut answered: Option<BootRecord> = None;
    let mut begun: Vec<BootRecord> = Vec::new();
    for _ in 0..6 {
        let Some(choice) = bench.boot(&disk) else {
            return match before {
                // Nobody touches it, so that every boot finds the same.
                Before::Noise => disk.view() == content,
                // The first that is written here may be torn into anything, and so may
                // what a file grows by: no order of calls helps, but nothing was
                // answered for.
                Before::Short(_) | Before::Blank => answered.is_none(),
                // A file that is made is ours from the first moment.
                Before::Nothing => false,
            };
        };
        if before == Before::Noise {
            return false;
        }
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
            let calls = bench.calls(scene(&disk), slot, fault);
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
        Fault::NoSyncOfAFoundName,
        Fault::NoSyncOfTheBlocks,
        Fault::NameBeforeTheBlocks,
        Fault::NameAfterTheRecord,
        Fault::AlwaysTheSameSlot,
        Fault::TheOtherSlotAfterAFailure,
    ] {
        let mut bench = Bench::new(&format!("{fault:?}"));
        let mut machines = 0..5_000;
        let caught = machines.find(|seed| !is_kept(*seed, 1, fault, &mut bench));
        assert!(caught.is_some(), "{fault:?}");
        println!("{fault:?}: the machine with number {caught:?}");
    }
}

#[test]
fn a_file_is_made_in_the_order_that_makes_it_durable() {
    let mut bench = Bench::new("order");
    let mut calls = |length, is_unwritten, has_aside, slot| {
        let scene = Scene {
            length,
            is_unwritten,
            has_aside,
        };
        bench.calls(scene, slot, Fault::Right)
    };
    let made = [
        Call::Make,
        Call::Fill,
        Call::SyncFile,
        Call::Rename,
        Call::SyncName,
        Call::Write { at: BYTES },
        Call::SyncFile,
    ];

    assert_eq!(calls(None, false, false, Slot::Second), made);
    let anew = calls(None, false, true, Slot::Second);
    assert_eq!(anew, [&[Call::Remove], &made[..]].concat());
    // Somebody else's, which is too short.
    let clear = |at, count| Call::Clear { at, count };
    let lengthened = [
        Call::SyncFile,
        Call::SyncName,
        clear(100, BYTES),
        clear(100 + BYTES, BYTES - 100),
        Call::SyncFile,
        Call::Write { at: 0 },
        Call::SyncFile,
    ];
    assert_eq!(calls(Some(100), false, false, Slot::First), lengthened);
    // One that was made when its maker was given up, and one with a record.
    let written = [Call::SyncName, Call::Write { at: 0 }, Call::SyncFile];
    assert_eq!(calls(Some(2 * BYTES), true, false, Slot::First), written);
    assert_eq!(
        calls(Some(2 * BYTES), false, false, Slot::First),
        written[1..]
    );
}
