//! What a child finds out for a start, and how it tells PID 1.

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::limits;
use crate::format::boot_record::{self, BootRecord};
use crate::format::name::{self, Name};
use crate::pid1::log::Log;
use crate::policy::config::Host;
use crate::policy::trial::Version;
use crate::sys::{files, versions};

/// What a child has found for a start.
pub(super) struct Told {
    /// The version that would be started.
    pub(super) seen: Seen,
    /// What was kept, if anything was; none when it could not be read, or is known.
    pub(super) kept: Option<Option<BootRecord>>,
}

impl Told {
    /// Bytes of the longest.
    pub(super) const BYTES: usize = 8 + 1 + name::BYTES + 1 + boot_record::LENGTH;

    /// Spells it: the version, the name with its length, and what could be read: a byte,
    /// and the record if there is one. What is told first is the start of what is told
    /// later, so that it can be read at any moment.
    pub(super) fn spell<'b>(&self, bytes: &'b mut [u8; Self::BYTES]) -> &'b [u8] {
        let name = self.seen.name.as_ref().map_or(&[][..], Name::as_bytes);
        let length = [u8::try_from(name.len()).unwrap_or(0)];
        let has_read: &[u8] = if self.kept.is_some() { &[1] } else { &[] };
        let record = self.kept.as_ref().and_then(Option::as_ref);
        let record = record.map(BootRecord::spell);
        let parts = [
            &self.seen.version.0.to_le_bytes()[..],
            &length,
            name,
            has_read,
            record.as_ref().map_or(&[], |record| record),
        ];
        let mut length = 0;
        for (place, byte) in bytes.iter_mut().zip(parts.into_iter().flatten()) {
            *place = *byte;
            length += 1;
        }
        bytes.get(..length).unwrap_or_default()
    }

    /// Reads it back; none of what is no whole word of it.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (version, bytes) = bytes.split_first_chunk()?;
        let (length, bytes) = bytes.split_first()?;
        let (name, rest) = bytes.split_at_checked(usize::from(*length))?;
        Some(Self {
            seen: Seen {
                version: Version(u64::from_le_bytes(*version)),
                name: Name::new(name),
            },
            kept: rest
                .split_first()
                .map(|(_, record)| BootRecord::read(record)),
        })
    }
}

/// The version that is current.
#[derive(Clone, Default)]
pub(super) struct Seen {
    pub(super) version: Version,
    /// Its name, if it has one.
    pub(super) name: Option<Name>,
}

impl Seen {
    /// By the link to it, and it is said when that leads to none; without one, a program
    /// of another size or time is another version.
    pub(super) fn look(host: &Host<'_>, log: &Log) -> Self {
        let Some(link) = host.current else {
            let stamp = host.command.first().map(|program| files::stamp(program));
            let version = match stamp {
                Some(Ok(stamp)) => Version(stamp),
                Some(Err(_)) | None => Version::UNKNOWN,
            };
            return Self {
                version,
                name: None,
            };
        };
        let mut buffer = [0; limits::PATH_BYTES];
        let name = versions::current(link, &mut buffer).and_then(|name| {
            let reason = if name.len() > name::BYTES {
                Errno::ENAMETOOLONG
            } else {
                Errno::EINVAL
            };
            Name::new(name).ok_or(reason)
        });
        let name = name
            .inspect_err(|errno| {
                let path = link.to_bytes();
                log.failed(Level::Warning, "see the version by", path, *errno);
            })
            .ok();
        let version = name.as_ref().map_or(Version::UNKNOWN, Name::version);
        Self { version, name }
    }
}
