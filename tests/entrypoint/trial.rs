//! The same thing done with a peer and with host-init under its name.
//!
//! A trial tells all that is wrong at its end, not only what is first.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::init::{End, Seen};
use crate::peer::{Peer, Program, Side};
use crate::place::Place;
use crate::start::{Role, Start};

/// A peer and host-init, side by side.
pub(crate) struct Trial {
    pub(crate) peer: Peer,
    place: Place,
    faults: Vec<String>,
    /// Those that were waited for in vain. Once is enough.
    lost: Vec<Side>,
}

/// Compares host-init with a peer.
pub(crate) fn trial(peer: Peer, compare: impl FnOnce(&mut Trial)) {
    let mut trial = Trial {
        peer,
        place: Place::new(),
        faults: Vec::new(),
        lost: Vec::new(),
    };
    compare(&mut trial);
    let faults = trial.faults;
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

impl Trial {
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Both are seen to do this.
    pub(crate) fn both<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        expected: &T,
        observe: impl Fn(&mut Place, &Program) -> T,
    ) {
        self.each(what, expected, expected, observe);
    }

    /// The peer is seen to do one thing, host-init another.
    pub(crate) fn each<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        theirs: &T,
        ours: &T,
        observe: impl Fn(&mut Place, &Program) -> T,
    ) {
        for (program, expected) in [(self.peer.program(), theirs), (self.peer.ours(), ours)] {
            if let Some(seen) = self.observed(what, &program, &observe) {
                self.hold(what, &program, expected, &seen);
            }
        }
    }

    /// Both are seen to do the same, which is given when it was seen of both.
    pub(crate) fn same<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        observe: impl Fn(&mut Place, &Program) -> T,
    ) -> Option<T> {
        let theirs = self.observed(what, &self.peer.program(), &observe)?;
        let program = self.peer.ours();
        let ours = self.observed(what, &program, &observe)?;
        self.hold(what, &program, &theirs, &ours);
        Some(theirs)
    }

    /// Both end the same and say the same when they are run with these words.
    pub(crate) fn run(&mut self, role: Role, words: &[&str]) -> Option<Seen> {
        self.same(&format!("{role:?} {words:?}"), |place, program| {
            Start::new(place, program).role(role).words(words).run()
        })
    }

    /// As [`Self::run`], and that is how they end.
    pub(crate) fn ends(&mut self, role: Role, words: &[&str], end: End) -> Option<Seen> {
        let seen = self.run(role, words)?;
        self.hold(
            &format!("{role:?} {words:?}"),
            &self.peer.program(),
            &end,
            &seen.end,
        );
        Some(seen)
    }

    /// Both end like this, and say something where the other does. The words are
    /// each program's own: of a help, of a licence, of a C library.
    pub(crate) fn speaks(&mut self, words: &[&str], end: End, output: bool, complaints: bool) {
        self.both(
            &format!("{words:?}"),
            &(end, output, complaints),
            |place, program| {
                let seen = Start::new(place, program).words(words).run();
                (
                    seen.end,
                    !seen.output.is_empty(),
                    !seen.complaints.is_empty(),
                )
            },
        );
    }

    fn observed<T>(
        &mut self,
        what: &str,
        program: &Program,
        observe: impl Fn(&mut Place, &Program) -> T,
    ) -> Option<T> {
        if self.lost.contains(&program.side) {
            return None;
        }
        let place = &mut self.place;
        place.forget();
        let seen = catch_unwind(AssertUnwindSafe(|| observe(place, program)));
        seen.inspect_err(|panic| {
            let words = panic.downcast_ref::<String>().cloned();
            let side = (self.peer, program.side);
            self.lost.push(program.side);
            self.faults
                .push(format!("{side:?} {what}: {}", words.unwrap_or_default()));
        })
        .ok()
    }

    fn hold<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        program: &Program,
        expected: &T,
        seen: &T,
    ) {
        if expected != seen {
            let side = (self.peer, program.side);
            self.faults.push(format!(
                "{side:?} {what}:\n  expected {expected:?}\n  got      {seen:?}"
            ));
        }
    }
}
