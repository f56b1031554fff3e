//! Every record, every fault of a slot, and every cut of a write.

use proptest::prelude::*;

use super::*;

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

/// A record in which nothing is zero but what must be.
fn record(sequence: u64) -> BootRecord {
    BootRecord {
        sequence,
        life: LifeId(*b"0123456789abcdef"),
        mark: Mark {
            failures: 2,
            is_attempting: true,
            version: name("1.9.3").version(),
            good: (1..=8).map(Version).collect(),
            condemned: (11..=13).map(Version).collect(),
            going: Some(Version(17)),
            halted: Some(Halt::TakeBackUnknown),
            reboots: 3,
        },
        current: Some(name("1.9.3")),
        good: Some(name("1.9.2")),
        last: Some(Last {
            exit: Exit::Unstarted(Failure {
                step: Step::Exec,
                errno: Errno::from_number(0x0102),
            }),
            cause: Cause::Timeout,
            at: 1_700_000_000,
        }),
    }
}

/// What a slot may have had before.
fn old_contents() -> Vec<Vec<u8>> {
    let mut another_layout = record(3).to_bytes();
    another_layout[8] = 2;
    let mut small = record(3);
    small.mark = Mark::default();
    small.last = None;
    small.current = None;
    let noise = (0..BYTES).map(|index| (index * 7919 % 251).to_le_bytes()[0]);
    vec![
        record(3).to_bytes().to_vec(),
        small.to_bytes().to_vec(),
        another_layout.to_vec(),
        vec![0; BYTES],
        vec![0xff; BYTES],
        noise.collect(),
    ]
}

#[test]
fn what_was_never_a_record_is_somebody_elses() {
    let slot = record(3).to_bytes();
    let text = b"a list of things to do\n";
    let mut late = [0; BYTES];
    late[1080] = 0x53;
    let mut torn = [0xff; BYTES];
    torn[..8].copy_from_slice(b"hostboot");
    let blanks: [&[u8]; 4] = [&[], &[0; 100], &[0; BYTES], &[0xff; BYTES]];
    let ours: [&[u8]; 2] = [&slot, &torn];
    let foreign: [&[u8]; 3] = [text, &late, &[0x5a; BYTES]];

    for one in blanks.iter().chain(&ours) {
        for other in blanks.iter().chain(&ours) {
            assert!(!is_foreign(one, other));
        }
    }
    for one in foreign {
        for other in blanks.iter().chain(&foreign) {
            assert!(is_foreign(one, other) && is_foreign(other, one));
        }
        // Its own place, in which a sector has gone bad.
        for other in ours {
            assert!(!is_foreign(one, other) && !is_foreign(other, one));
        }
    }
}

type Vec<T> = std::vec::Vec<T>;

#[test]
fn a_slot_that_was_made_for_a_record_has_none_and_is_ours() {
    let mut made = [0; BYTES];
    made[..8].copy_from_slice(&MAGIC);

    assert_eq!(BootRecord::from_bytes(&made), None);
    // The first record, torn into nothing that was ever written.
    assert!(!is_foreign(&[0x68; BYTES], &made) && !is_foreign(&made, &[0x68; BYTES]));
}

#[test]
fn the_layout_is_the_one_that_is_written_down() {
    let slot = record(0x0807_0605_0403_0201).to_bytes();

    assert_eq!(&slot[..8], b"hostboot");
    assert_eq!(slot[8..16], [1, 0, 0, 0, 0xe0, 1, 0, 0]);
    assert_eq!(slot[16..24], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(&slot[24..40], b"0123456789abcdef");
    assert_eq!(slot[48..56], [2, 0, 0, 0, 1, 3, 5, 1]);
    assert_eq!(slot[56], 17);
    assert_eq!((slot[64], slot[120], slot[128], slot[144]), (1, 8, 11, 13));
    assert_eq!(slot[192..196], [8, 3, 5, 5]);
    assert_eq!(
        (&slot[196..201], &slot[324..329]),
        (&b"1.9.3"[..], &b"1.9.2"[..])
    );
    assert_eq!(slot[452..460], 1_700_000_000_u64.to_le_bytes());
    assert_eq!(slot[460..472], [4, 11, 2, 1, 3, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(slot[472..480], CRC.checksum(&slot[..472]).to_le_bytes());
    assert!(slot[480..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_slot_of_another_length_has_no_record() {
    let slot = record(7).to_bytes();
    for length in 0..BYTES {
        assert_eq!(BootRecord::from_bytes(&slot[..length]), None, "{length}");
    }
    let longer: Vec<u8> = slot.iter().copied().chain([0]).collect();
    assert_eq!(BootRecord::from_bytes(&longer), None);
    assert_eq!(BootRecord::from_bytes(&slot), Some(record(7)));
}

#[test]
fn every_flipped_bit_and_every_other_byte_is_refused() {
    let slot = record(7).to_bytes();
    for index in 0..BYTES {
        let mut changed = slot;
        // In the record every value that the byte may have, behind it each bit.
        let is_record = index < LENGTH;
        for change in (1..=u8::MAX).filter(|change| is_record || change.is_power_of_two()) {
            changed[index] = slot[index] ^ change;
            assert_eq!(
                BootRecord::from_bytes(&changed),
                None,
                "{index} {change:#x}"
            );
        }
    }
}

/// A slot whose sum is right though its byte at `index` is another.
fn forged(index: usize, byte: u8) -> [u8; BYTES] {
    let mut slot = record(7).to_bytes();
    slot[index] = byte;
    let sum = CRC.checksum(&slot[..LENGTH - 8]);
    slot[LENGTH - 8..LENGTH].copy_from_slice(&sum.to_le_bytes());
    slot
}

#[test]
fn what_makes_no_sense_is_refused_though_its_sum_is_right() {
    for (index, byte, what) in [
        (0, b'H', "the magic"),
        (8, 2, "another layout"),
        (12, 0, "the length"),
        (52, 2, "neither under way nor not"),
        (54, 7, "halted, and nobody knows why"),
        (55, 0, "a version that is not being taken back"),
        (192, 9, "more versions than there is room for"),
        (193, 2, "a version behind the last"),
        (194, 129, "a name that is too long"),
        (194, 4, "a byte behind a name"),
        (197, b'/', "a name that is two words"),
        (460, 0, "an end that was none"),
        (460, 1, "an exit code with a reason"),
        (460, 6, "an end of no kind"),
        (461, 0, "no step"),
        (464, 0, "nobody knows who"),
        (464, 6, "somebody else"),
        (471, 1, "what is not used"),
    ] {
        assert_eq!(BootRecord::from_bytes(&forged(index, byte)), None, "{what}");
    }
    // The forger is good: these make sense.
    for (index, byte) in [(53, 9), (192, 8), (197, b'-'), (464, 1)] {
        assert!(BootRecord::from_bytes(&forged(index, byte)).is_some());
    }
}

#[test]
fn the_newer_good_record_is_chosen_and_the_other_slot_is_next() {
    let (older, newer) = (record(6).to_bytes(), record(7).to_bytes());
    let bad = forged(8, 2);
    for (first, second, sequence, next) in [
        (&older[..], &newer[..], Some(7), Slot::First),
        (&newer, &older, Some(7), Slot::Second),
        (&newer, &bad, Some(7), Slot::Second),
        (&bad, &newer, Some(7), Slot::First),
        (&older, &[], Some(6), Slot::Second),
        (&[], &older, Some(6), Slot::First),
        (&older, &older, Some(6), Slot::Second),
        (&bad, &bad, None, Slot::First),
        (&[], &[], None, Slot::First),
    ] {
        let choice = choose(first, second);

        assert_eq!(choice.record.map(|record| record.sequence), sequence);
        assert_eq!(choice.next, next);
    }
}

#[test]
fn a_write_that_is_cut_anywhere_leaves_the_record_before_or_the_new_one() {
    let (kept, new) = (record(4), record(5));
    let (kept_slot, new_slot) = (kept.to_bytes(), new.to_bytes());
    for old in old_contents() {
        // Disks write from the front or from the back.
        let front = (0..=BYTES).map(|cut| [&new_slot[..cut], &old[cut..]].concat());
        let back = (0..=BYTES).map(|cut| [&old[..cut], &new_slot[cut..]].concat());
        let mut contents: Vec<Vec<u8>> = front.chain(back).collect();
        // Behind the records most cuts leave the same.
        contents.dedup();
        for torn in contents {
            let choice = choose(&torn, &kept_slot);

            let is_new = torn == new_slot;
            let expected = if is_new { &new } else { &kept };
            assert_eq!(choice.record.as_ref(), Some(expected));
            assert_eq!(choice.next == Slot::First, !is_new);
        }
    }
}

fn names() -> impl Strategy<Value = Option<Name>> {
    prop::collection::vec(any::<u8>(), 0..=name::BYTES).prop_map(|bytes| Name::new(&bytes))
}

fn versions() -> impl Strategy<Value = Versions> {
    prop::collection::vec(any::<u64>(), 0..=REMEMBERED)
        .prop_map(|numbers| numbers.into_iter().map(Version).collect())
}

prop_compose! {
    fn marks()(
        (failures, is_attempting, version) in any::<(u32, bool, u64)>(),
        (good, condemned) in (versions(), versions()),
        (going, halted, reboots) in (any::<Option<u64>>(), 0..=5_u8, any::<u8>()),
    ) -> Mark {
        Mark {
            failures,
            is_attempting,
            version: Version(version),
            good,
            condemned,
            going: going.map(Version),
            halted: halt(halted),
            reboots,
        }
    }
}

fn exits() -> impl Strategy<Value = Exit> {
    let signals = (any::<u8>(), any::<bool>()).prop_filter_map("signal", |(number, dumped)| {
        let signal = Signal::from_number(number)?;
        Some(Exit::Signal { signal, dumped })
    });
    let failures = (1..=11_u8, any::<u16>()).prop_filter_map("step", |(number, errno)| {
        let step = Step::from_number(number)?;
        let errno = Errno::from_number(errno);
        Some(Exit::Unstarted(Failure { step, errno }))
    });
    prop_oneof![
        any::<u8>().prop_map(Exit::Code),
        signals,
        failures,
        Just(Exit::Unknown),
    ]
}

fn lasts() -> impl Strategy<Value = Last> {
    let causes = prop::sample::select(vec![
        Cause::Itself,
        Cause::Stop,
        Cause::Timeout,
        Cause::Unready,
        Cause::Watchdog,
    ]);
    (exits(), causes, any::<u64>()).prop_map(|(exit, cause, at)| Last { exit, cause, at })
}

prop_compose! {
    fn records()(
        (sequence, life) in any::<(u64, [u8; 16])>(),
        mark in marks(),
        (current, good) in (names(), names()),
        last in prop::option::of(lasts()),
    ) -> BootRecord {
        BootRecord { sequence, life: LifeId(life), mark, current, good, last }
    }
}

proptest! {
    #[test]
    fn a_record_is_read_back_as_it_was(record in records()) {
        let slot = record.to_bytes();

        prop_assert_eq!(BootRecord::from_bytes(&slot), Some(record));
    }

    #[test]
    fn one_slot_torn_over_another_is_one_of_them_or_none(
        (old, new) in (records(), records()),
        cuts in prop::collection::vec(0..=LENGTH, 0..6),
    ) {
        let (before, after) = (old.to_bytes(), new.to_bytes());
        let mut torn = before;
        for pair in cuts.chunks_exact(2) {
            let range = pair[0].min(pair[1])..pair[0].max(pair[1]);
            torn[range.clone()].copy_from_slice(&after[range]);
        }

        let read = BootRecord::from_bytes(&torn);

        prop_assert!(read.is_none_or(|read| read == old || read == new));
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..2 * BYTES),
        body in prop::collection::vec(any::<u8>(), LENGTH - 20),
    ) {
        prop_assert_eq!(BootRecord::from_bytes(&bytes), None);
        // Also behind the sum, where the reader is.
        let mut slot = record(7).to_bytes();
        slot[12..LENGTH - 8].copy_from_slice(&body);
        let sum = CRC.checksum(&slot[..LENGTH - 8]);
        slot[LENGTH - 8..LENGTH].copy_from_slice(&sum.to_le_bytes());
        let read = BootRecord::from_bytes(&slot);
        prop_assert!(read.is_none_or(|read| read.to_bytes() == slot));
    }
}
