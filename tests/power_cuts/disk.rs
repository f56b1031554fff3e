//! A disk that loses and tears whatever was not synced.

use crate::calls::Call;
use crate::chance::Chance;

/// A disk with at most one file.
pub(crate) struct Disk {
    file: Option<File>,
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
        let file = content.map(|durable| File {
            is_named: true,
            durable,
            pending: Vec::new(),
        });
        Self { file, grain }
    }

    /// Does what a call asks, with this content of a slot.
    pub(crate) fn perform(&mut self, call: Call, content: &[u8]) {
        if call == Call::Make {
            assert!(self.file.is_none());
            *self = Self::new(Some(Vec::new()), self.grain);
        }
        let file = self.file.as_mut().unwrap();
        match call {
            Call::Make => file.is_named = false,
            Call::Clear { at, count } => file.pending.push((at, vec![0; count])),
            Call::Write { at } => file.pending.push((at, content.to_vec())),
            Call::SyncFile => {
                file.durable = file.view();
                file.pending.clear();
            }
            Call::SyncName => file.is_named = true,
        }
    }

    /// What is read while the power is on.
    pub(crate) fn view(&self) -> Option<Vec<u8>> {
        self.file.as_ref().map(File::view)
    }

    /// The power goes, and comes back.
    pub(crate) fn cut(&mut self, chance: &mut Chance) {
        let Some(file) = &mut self.file else {
            return;
        };
        if !file.is_named && chance.is_one_in(2) {
            self.file = None;
            return;
        }
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
