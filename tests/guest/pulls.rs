//! The plug is pulled again and again while new versions come, fail and are taken back.
//!
//! Every version but the first fails, and the first brings the next one as soon as it
//! has lived for a while. So each boot goes through all of it again and again, from
//! wherever the one before was when its plug was pulled, some random moments after its
//! disk was mounted. What the hosts and host-init say is followed over all boots of a
//! disk, and held against what host-init promises.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::thread;

use qemu::{Boot, Disk, Ending};

use crate::disk::assert_clean;
use crate::image::Image;
use crate::session::{BOUND, Session};
use crate::versions::{self, HOST};

/// Pulls in all, when nobody asks for more.
const PULLS: u32 = 100;

/// The variable that asks for more.
const VARIABLE: &str = "HOST_INIT_PULLS";

/// Failures in a row.
const LIMIT: u32 = 3;

/// How long after its disk was mounted a machine lives at most: long enough for the
/// whole of a version's life.
const LIFE: Duration = Duration::from_secs(2);

/// The first version: says that it is healthy (`RTMIN+8`), however slow the machine is,
/// and then makes the next one of what is in the image.
const GOOD: &str = "\
#!/bin/sh
. /say
usleep 200000
kill -42 1
usleep 200000
cd /data/app
rm -rf half new
N=$(($(ls versions | sort -n | tail -n 1) + 1))
mkdir half; cp /bad half/run; chmod 755 half/run; sync
mv half versions/$N; sync
ln -s versions/$N new; sync; mv -T new current; sync
exit 0
";

/// Every other version.
const BAD: &str = "\
#!/bin/sh
. /say
exit 1
";

/// How a host says which version it is, and the number of the record that was written
/// before its start.
fn say(record: &str) -> String {
    format!(
        "number() {{ od -A n -t u8 -j $1 -N 8 {record}; }}\n\
         echo \"host: this is $(readlink /data/app/current), record\" $(number 16) $(number 4112) .\n"
    )
}

fn config(record: &str) -> String {
    format!(
        "[host]\n\
         command = [\"{HOST}\"]\n\
         current = \"/data/app/current\"\n\
         record = \"{record}\"\n\
         start-limit = {LIMIT}\n\
         healthy-after = \"1h\"\n\
         backoff = \"0s\"\n\
         backoff-max = \"0s\"\n\
         on-halt = \"reboot\"\n\
         [[mount]]\n\
         source = \"/dev/nvme0n1\"\n\
         target = \"/data\"\n\
         type = \"ext4\"\n\
         wait = \"30s\"\n"
    )
}

/// All that host-init has to say. A link that leads nowhere would be a host that can't
/// be started.
const SAID: [&str; 7] = [
    "mounted /data",
    "host: started",
    "host: exit 0",
    "host: exit 1",
    "host: healthy",
    "host: failed too often, taking it back",
    "host: halted: it failed too often though it was healthy before",
];

/// What was seen of a disk, over all its boots.
#[derive(Default)]
struct Story {
    /// Starts of each version.
    starts: BTreeMap<u32, u32>,
    /// Versions that were taken back.
    taken_back: BTreeSet<u32>,
    /// The version that was started last.
    current: u32,
    /// Whether nothing was started since the last time.
    is_going: bool,
    /// The number of the record that was seen last.
    number: u64,
    /// Times that the host was halted.
    halts: u32,
}

impl Story {
    /// Follows the console of one boot, of whose last line a part may be missing.
    fn follow(&mut self, console: &str) {
        let whole = console.rfind('\n').map_or("", |end| &console[..end]);
        let mut is_first = true;
        for line in whole.lines() {
            if let Some((_, told)) = line.split_once("host: this is versions/") {
                self.starts(told);
                is_first = false;
            } else if line.contains("host-init: host: failed too often, taking it back") {
                self.takes_back(line, is_first);
                is_first = false;
            } else if line.contains("host-init: host: halted: ") {
                // The plug was pulled three times before it was healthy.
                self.halts += 1;
            }
            if let Some((_, said)) = line.split_once("host-init: ") {
                let is_known = SAID.iter().any(|known| said.starts_with(known));
                assert!(is_known, "{line}");
            }
        }
    }

    /// A version says that it runs, and which numbers the two slots have.
    fn starts(&mut self, told: &str) {
        // What the kernel says may come in the middle; then it is not understood.
        let words: Vec<&str> = told
            .split([' ', ','])
            .filter(|word| !word.is_empty())
            .collect();
        let [version, "record", first, second, "."] = words.as_slice() else {
            return;
        };
        let [Ok(first), Ok(second)] = [first, second].map(|word| word.parse::<u64>()) else {
            return;
        };
        let version = version.parse().unwrap();
        assert!(!self.taken_back.contains(&version), "{told}: taken back");
        let starts = self.starts.entry(version).or_default();
        *starts += 1;
        assert!(version == 1 || *starts <= LIMIT, "{told}: start {starts}");
        let number = first.max(second);
        assert!(number > self.number, "{told}: after {}", self.number);
        self.number = number;
        self.current = version;
        self.is_going = false;
    }

    /// The version that was started last is taken back. As the first thing that a boot
    /// does it may be what the one before was at; or of a version that was never heard,
    /// since the plug was pulled at each of its starts.
    fn takes_back(&mut self, line: &str, is_first: bool) {
        if self.current != 1 {
            let is_new = self.taken_back.insert(self.current);
            assert!(is_new || is_first && self.is_going, "a second time: {line}");
        } else {
            assert!(is_first, "the good version: {line}");
        }
        self.is_going = true;
    }
}

/// Numbers that are the same each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Pulls the plug of one disk's machine so many times, and has it go on to its end.
fn pull(record: &str, pulls: u32, seed: u64) {
    let life = u64::try_from(LIFE.as_millis()).unwrap();
    let image = Image::new(&config(record))
        .file("/say", say(record))
        .file("/bad", BAD);
    let disk = versions::disk(&[("1", GOOD)]);
    let raw = Disk::blank(1).unwrap();
    let boot = || -> Boot { image.boot().disk(&disk).disk(&raw) };
    let mut random = Random(seed);
    let mut story = Story::default();

    for number in 1..=pulls {
        let moment = Duration::from_millis(random.below(life));
        eprintln!("{record}: pull {number}, {moment:?} after the mount");
        let mut machine = Session::start(boot());
        machine.line("EXT4-fs (nvme0n1): mounted filesystem");
        // Nothing ends it before.
        assert_eq!(machine.wait_end(moment), Ending::Hung);
        machine.pull_plug();
        machine.ends(&Ending::Killed);
        story.follow(&machine.console());
    }

    // It gets where it would have got without all that, or says why not.
    let mut machine = Session::start(boot());
    machine
        .wait_line_where(
            "a version that is taken back",
            |line| line.contains("taking it back") || line.contains("host: halted: "),
            BOUND,
        )
        .unwrap();
    story.follow(&machine.console());
    machine.press_ctrl_alt_delete().unwrap();
    machine.ends(&Ending::Restarted);
    drop(machine);
    assert_clean(&disk);
    let starts: u32 = story.starts.values().sum();
    eprintln!(
        "{record}: {starts} starts, {} versions taken back, halted {} times, record {}",
        story.taken_back.len(),
        story.halts,
        story.number
    );
    assert!(!story.taken_back.is_empty());
}

#[test]
fn power_cuts_at_any_moment_lose_nothing_and_take_nothing_back_twice() {
    let pulls = env::var(VARIABLE).map_or(PULLS, |pulls| pulls.parse().unwrap());
    thread::scope(|scope| {
        scope.spawn(|| pull("/data/record", pulls / 2, 0x9e37_79b9_7f4a_7c15));
        scope.spawn(|| pull("/dev/nvme1n1", pulls - pulls / 2, 0xd1b5_4a32_d192_ed03));
    });
}
