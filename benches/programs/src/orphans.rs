//! What it costs an init to release processes whose parents are gone.

use crate::process::Process;
use crate::{kernel, text};

/// How many orphans end, one after the other and all at once.
const ONE_BY_ONE: usize = 50;
const BURST: usize = 200;

/// How long an init may take to release what ended.
const PAUSE_NANOS: i64 = 20_000_000;

/// How long it may take until it has come to rest, after a burst too.
const REST_NANOS: i64 = 2_000_000_000;

/// Measures orphans that end one by one, and those that end in a burst.
pub fn tell(init: Process) {
    measure(
        init,
        ["orphan-calls", "orphan-wakes", "orphan-cpu"],
        ONE_BY_ONE,
        one_by_one,
    );
    let names = ["burst-calls", "burst-wakes", "burst-cpu"];
    measure(init, names, BURST, || {
        let (gate, opener) = kernel::pipe();
        for _ in 0..BURST {
            orphan(Some((gate, opener)));
        }
        kernel::close(opener);
        kernel::close(gate);
    });
}

/// Makes two, and waits until they are gone: what an init does once, at the first, is
/// not counted.
pub fn first() {
    for _ in 0..2 {
        orphan(None);
        kernel::sleep(PAUSE_NANOS);
    }
}

/// Makes orphans that end one by one, after a second, and stays.
pub fn run() -> ! {
    kernel::sleep(1_000_000_000);
    one_by_one();
    loop {
        kernel::sleep(i64::MAX);
    }
}

fn one_by_one() {
    for _ in 0..ONE_BY_ONE {
        orphan(None);
        kernel::sleep(PAUSE_NANOS);
    }
}

/// Tells what the orphans cost the init, in thousandths an orphan; the calls in a
/// second go, since counting them costs time.
fn measure(init: Process, names: [&str; 3], count: usize, go: impl Fn()) {
    let count = i64::try_from(count).unwrap_or(1);
    let [calls_name, wakes_name, cpu_name] = names;
    kernel::sleep(REST_NANOS);
    let (wakes_before, cpu_before) = (init.wakes(), init.cpu());
    go();
    kernel::sleep(REST_NANOS);
    text::tell(cpu_name, (init.cpu() - cpu_before) * 1000 / count);
    text::tell(wakes_name, (init.wakes() - wakes_before) * 1000 / count);
    let calls = init.count_calls();
    go();
    kernel::sleep(REST_NANOS);
    text::tell(calls_name, calls.end() * 1000 / count);
}

/// Makes a process that the init has to release. It ends at once, or when nobody
/// holds the other end of its pipe any more.
fn orphan(gate: Option<(isize, isize)>) {
    let parent = kernel::fork();
    if parent == 0 {
        if kernel::fork() == 0 {
            match gate {
                Some((gate, opener)) => {
                    kernel::close(opener);
                    kernel::read(gate, &mut [0]);
                }
                // The parent is to be gone by then.
                None => kernel::sleep(PAUSE_NANOS / 4),
            }
        }
        kernel::exit(0);
    }
    kernel::wait(parent, 0);
}
