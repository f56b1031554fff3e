//! A fault of host-init's own: it is said, and is the end.

use crate::init::End;
use crate::options::host_init;
use crate::peer::Program;
use crate::place::Place;
use crate::programs;
use crate::start::{ROLES, Start};

#[test]
fn a_panic_is_said_and_is_the_end() {
    let program = Program {
        path: programs::with_faults().to_owned(),
        ..host_init()
    };
    let mut place = Place::new();
    for role in ROLES {
        let start = Start::new(&place, &program).role(role);
        let init = start.words(&["--", &place.recorder(), "up"]).spawn();
        assert_eq!(place.told.next(), "up");

        init.signal(libc::SIGURG);

        let seen = init.seen();
        assert_eq!(seen.end, End::Code(254), "{role:?}");
        let said = "host-init: panic: injected by URG at src/entrypoint/life.rs:";
        assert!(seen.complaints.starts_with(said), "{role:?}: {seen:?}");
        assert_eq!(seen.complaints.lines().count(), 1, "{role:?}: {seen:?}");
    }
}
