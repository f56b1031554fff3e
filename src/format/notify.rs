//! What a service says, as the text of one message of `sd_notify(3)`: lines of
//! `NAME=value`.
//!
//! A name that is not known is passed over, and so is a value that makes no sense: a
//! newer program may say more than this one understands. Of a name that comes twice
//! the later one counts.

use core::time::Duration;

use crate::base::errno::Errno;
use crate::policy::notice::{Access, Notice};

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Message<'m> {
    /// What the rules need of it.
    pub notice: Notice,
    /// What a person would want to read, [`STATUS`] characters of it at most.
    pub status: Option<&'m [u8]>,
    /// Whose messages count from now on.
    pub access: Option<Access>,
    /// Why it failed.
    pub errno: Option<Errno>,
    /// Another process that is its main one.
    pub main_pid: Option<u32>,
    /// Whether it reads its config again.
    pub is_reloading: bool,
    /// Whether its sender waits until everything before was heard.
    pub is_barrier: bool,
}

/// Characters of a status that are kept.
pub const STATUS: usize = 80;

/// Bytes of a status that are kept: the longest characters have four.
pub const STATUS_BYTES: usize = 4 * STATUS;

/// Reads a message, whatever is in it.
pub fn parse(text: &[u8]) -> Message<'_> {
    let mut message = Message::default();
    for line in text.split(|byte| *byte == b'\n') {
        let Some(at) = line.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let (name, rest) = line.split_at(at);
        read(&mut message, name, rest.get(1..).unwrap_or_default());
    }
    message
}

fn read<'m>(message: &mut Message<'m>, name: &[u8], value: &'m [u8]) {
    let notice = &mut message.notice;
    match (name, value) {
        (b"READY", b"1") => notice.is_ready = true,
        (b"STOPPING", b"1") => notice.is_stopping = true,
        (b"RELOADING", b"1") => message.is_reloading = true,
        (b"BARRIER", b"1") => message.is_barrier = true,
        (b"WATCHDOG", b"1") => notice.is_alive = true,
        (b"WATCHDOG", b"trigger") => notice.is_lost = true,
        (b"WATCHDOG_USEC", value) => set(&mut notice.interval, microseconds(value)),
        (b"EXTEND_TIMEOUT_USEC", value) => set(&mut notice.extension, microseconds(value)),
        (b"STATUS", value) => message.status = Some(characters(value)),
        (b"ERRNO", value) => {
            let errno = number(value).and_then(|number| u16::try_from(number).ok());
            set(&mut message.errno, errno.map(Errno::from_number));
        }
        (b"MAINPID", value) => {
            let pid = number(value).and_then(|number| u32::try_from(number).ok());
            set(&mut message.main_pid, pid.filter(|pid| *pid > 0));
        }
        (b"NOTIFYACCESS", b"all") => message.access = Some(Access::All),
        // Nobody but the main process was started by host-init.
        (b"NOTIFYACCESS", b"main" | b"exec") => message.access = Some(Access::Main),
        // `none` among them: who is watched can't wish not to be heard.
        _ => {}
    }
}

fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *place = value;
    }
}

fn microseconds(value: &[u8]) -> Option<Duration> {
    number(value).map(Duration::from_micros)
}

/// A number in decimal; none when it is none, or larger than any.
fn number(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = core::str::from_utf8(value).ok().filter(|_| is_number)?;
    text.parse().ok()
}

/// The first [`STATUS`] characters. What is not UTF-8 counts as one for each piece.
fn characters(value: &[u8]) -> &[u8] {
    let mut left = STATUS;
    let mut length = 0_usize;
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            if left == 0 {
                return value.get(..length).unwrap_or_default();
            }
            left = left.saturating_sub(1);
            length = length.saturating_add(character.len_utf8());
        }
        if left > 0 && !chunk.invalid().is_empty() {
            left = left.saturating_sub(1);
            length = length.saturating_add(chunk.invalid().len());
        }
    }
    value.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_name_is_read() {
        let message = parse(
            b"READY=1\nSTOPPING=1\nRELOADING=1\nWATCHDOG=1\nWATCHDOG_USEC=2000000\n\
            EXTEND_TIMEOUT_USEC=3\nSTATUS=all is well = yes\nERRNO=2\nMAINPID=12\n\
            NOTIFYACCESS=all\nBARRIER=1\n",
        );

        assert_eq!(
            message,
            Message {
                notice: Notice {
                    is_ready: true,
                    is_stopping: true,
                    is_alive: true,
                    is_lost: false,
                    interval: Some(Duration::from_secs(2)),
                    extension: Some(Duration::from_micros(3)),
                },
                status: Some(b"all is well = yes"),
                access: Some(Access::All),
                errno: Some(Errno::ENOENT),
                main_pid: Some(12),
                is_reloading: true,
                is_barrier: true,
            }
        );
        assert!(parse(b"WATCHDOG=trigger").notice.is_lost);
        assert_eq!(parse(b"NOTIFYACCESS=exec").access, Some(Access::Main));
    }

    #[test]
    fn what_is_not_understood_is_passed_over() {
        for text in [
            "",
            "\n\n",
            "=",
            "READY",
            "READY=",
            "READY=0",
            "READY=11",
            " READY=1",
            "ready=1",
            "WATCHDOG=0",
            "WATCHDOG_USEC=",
            "WATCHDOG_USEC=-1",
            "WATCHDOG_USEC=+1",
            "WATCHDOG_USEC=1s",
            "WATCHDOG_USEC=18446744073709551616",
            "EXTEND_TIMEOUT_USEC=1.5",
            "ERRNO=65536",
            "MAINPID=0",
            "MAINPID=4294967296",
            "NOTIFYACCESS=none",
            "NOTIFYACCESS=everybody",
            "FDSTORE=1",
            "X_HOST=1",
            "READY=1\0",
        ] {
            assert_eq!(parse(text.as_bytes()), Message::default(), "{text:?}");
        }
    }

    #[test]
    fn of_a_name_that_comes_twice_the_later_value_that_makes_sense_counts() {
        let message =
            parse(b"WATCHDOG_USEC=1\nSTATUS=a\nWATCHDOG_USEC=2\nWATCHDOG_USEC=x\nSTATUS=");

        assert_eq!(message.notice.interval, Some(Duration::from_micros(2)));
        assert_eq!(message.status, Some(&b""[..]));
    }

    #[test]
    fn a_long_status_is_cut_between_characters() {
        for (text, bytes) in [
            ("x".repeat(80), 80),
            ("x".repeat(81), 80),
            ("\u{1f600}".repeat(100), STATUS_BYTES),
        ] {
            let text = format!("STATUS={text}");
            assert_eq!(parse(text.as_bytes()).status.unwrap().len(), bytes);
        }
        let broken = [b"STATUS=".as_slice(), &[0xff; 100]].concat();
        assert_eq!(parse(&broken).status.unwrap().len(), 80);
    }

    proptest! {
        #[test]
        fn no_message_is_too_much(
            text in prop::collection::vec(any::<u8>(), 0..5_000),
            lines in prop::collection::vec(
                ("(READY|STATUS|WATCHDOG|WATCHDOG_USEC|ERRNO|MAINPID|BARRIER)?", ".{0,90}"),
                0..9,
            ),
        ) {
            let _ = parse(&text);
            let lines: Vec<_> = lines.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let text = lines.join("\n");
            let message = parse(text.as_bytes());
            let status = message.status.unwrap_or_default();
            prop_assert!(status.len() <= STATUS_BYTES);
            prop_assert!(core::str::from_utf8(status).unwrap().chars().count() <= STATUS);
        }
    }
}
