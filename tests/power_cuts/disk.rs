//! A disk that loses and tears whatever was not synced.

use crate::calls::{Call, made};
use crate::chance::Chance;

/// A disk with at most one file.
pub(crate) struct Disk {
    /// The file under its own name.
    file: Option<File>,
    /// The file under the other one: never beside the first.
    aside: Option<File>,
    /// Bytes that it writes whole.
    grain: usize,
}

struct File {
    /// Whether its name is durable.
    is_named: bool,
    /// What of it is durable.
    durable: Vec<u8>,
    /// What was written since, in its order.
    pending: Vec<(usize, Vec<u8>)>,
}

impl Disk {
    pub(crate) fn new(content: Option<Vec<u8>>, grain: usize) -> Self {
        Self {
            file: content.map(File::new),
            aside: None,
            grain,
        }
    }

    /// Does what a call asks, with this content of a slot.
    pub(crate) fn perform(&mut self, call: Call, content: &[u8]) {
        match call {
            Call::Remove => self.aside = None,
            Call::Make => {
                assert!(self.file.is_none() && self.aside.is_none());
                self.aside = Some(File::new(Vec::new()));
            }
            Call::Fill => self.open().pending.push((0, made())),
            Call::Clear { at, count } => self.open().pending.push((at, vec![0; count])),
            Call::Write { at } => self.open().pending.push((at, content.to_vec())),
            Call::SyncFile => {
                let file = self.open();
                file.durable = file.view();
                file.pending.clear();
            }
            Call::Rename => {
                assert!(self.file.is_none());
                self.file = self.aside.take();
                self.open().is_named = false;
            }
            Call::SyncName => self.open().is_named = true,
        }
    }

    /// The file that is there, or is being made.
    fn open(&mut self) -> &mut File {
        self.aside.as_mut().or(self.file.as_mut()).unwrap()
    }

    /// Whether something has the other name.
    pub(crate) fn has_aside(&self) -> bool {
        self.aside.is_some()
    }

    /// What is read while the power is on.
    pub(crate) fn view(&self) -> Option<Vec<u8>> {
        self.file.as_ref().map(File::view)
    }

    /// The power goes, and comes back.
    pub(crate) fn cut(&mut self, chance: &mut Chance) {
        if self.file.as_ref().is_some_and(|file| !file.is_named) && chance.is_one_in(2) {
            self.aside = self.file.take();
        }
        // Its name may be lost too. What is in it nobody asks.
        if self.aside.is_some() && chance.is_one_in(2) {
            self.aside = None;
        }
        let Some(file) = &mut self.file else {
            return;
        };
        file.is_named = true;
        let longest = file.view().len();
        let length = match chance.below(3) {
            0 => file.durable.len(),
            1 => longest,
            _ => file.durable.len() + chance.below(longest - file.durable.len() + 1),
        };
        // What the file grew by is whatever was in those blocks before.
        let filler = if chance.is_one_in(2) { 0 } else { 0x68 };
        file.durable.resize(length, filler);
        for (at, bytes) in std::mem::take(&mut file.pending) {
            let fate = Fate::draw(bytes.len(), chance);
            for (index, chunk) in bytes.chunks(self.grain).enumerate() {
                let offset = index * self.grain;
                let landed = match fate {
                    Fate::Lost => false,
                    Fate::Landed => true,
                    Fate::Front(end) => offset < end,
                    Fate::Back(start) => offset >= start,
                    Fate::Pieces | Fate::Noise => chance.is_one_in(2),
                };
                let start = (at + offset).min(length);
                let end = (start + chunk.len()).min(length);
                let place = &mut file.durable[start..end];
                if landed && fate == Fate::Noise {
                    // It was being written when the power went.
                    place.fill_with(|| chance.next().to_le_bytes()[0]);
                } else if landed {
                    place.copy_from_slice(&chunk[..place.len()]);
                }
            }
        }
    }
}

/// What becomes of a write that was not synced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Lost,
    Landed,
    /// Only what is before this place.
    Front(usize),
    /// Only what is not.
    Back(usize),
    /// Some chunks of it.
    Pieces,
    /// Some chunks of it, and they are neither old nor new.
    Noise,
}

impl Fate {
    fn draw(length: usize, chance: &mut Chance) -> Self {
        // A record is in the first bytes of its slot.
        let end = if chance.is_one_in(2) { 400 } else { length };
        let place = chance.below(end);
        match chance.below(6) {
            0 => Self::Lost,
            1 => Self::Landed,
            2 => Self::Front(place),
            3 => Self::Back(place),
            4 => Self::Pieces,
            _ => Self::Noise,
        }
    }
}

impl File {
    fn new(durable: Vec<u8>) -> Self {
        Self {
            is_named: true,
            durable,
            pending: Vec::new(),
        }
    }

    fn view(&self) -> Vec<u8> {
        let mut view = self.durable.clone();
        for (at, bytes) in &self.pending {
            let end = at + bytes.len();
            if view.len() < end {
                view.resize(end, 0);
            }
            view[*at..end].copy_from_slice(bytes);
        }
        view
    }
}
