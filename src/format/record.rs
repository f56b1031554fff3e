//! How a service ended, on file: its exit record (JSON) and its status.
//!
//! The record loses nothing: exit code 143 and death by TERM differ. The status
//! is one number for a shell, where they do not.
//!
//! ```json
//! {"service":"host","pid":12,"started":1500000,"ended":2500000,
//!  "result":"signal","exit":{"signal":"KILL","number":9,"dumped":false},
//!  "asked":"none","restarts":3}
//! ```
//!
//! `started` and `ended` are microseconds since the boot of the kernel, as in
//! systemd's `…TimestampMonotonic`: nanoseconds leave the whole numbers of a
//! double after 104 days of uptime. `exit` is one of
//!
//! | how it ended | `exit` | `result` |
//! |---|---|---|
//! | exit code 0 | `{"code":0}` | `success` |
//! | another code | `{"code":n}` | `exit-code` |
//! | a signal | `{"signal":name,"number":n,"dumped":bool}` | `signal` or `core-dump` |
//! | no process could be made | `{"step":"clone","errno":name,"code":219}` | `resources` |
//! | another step before the program | `{"step":word,"errno":name,"code":n}` | `exit-code` |
//! | nobody knows | `null` | `unknown` |
//! | any of these, told to for not being ready in time | the same | `timeout` |
//! | any of these, told to for not being heard of in time | the same | `watchdog` |
//!
//! `result` has the words of `$SERVICE_RESULT` in `systemd.exec(5)`, `unknown`
//! apart, with two differences: `signal` stays `signal` when it was asked for
//! (`asked` says so), and only exit code 0 is `success`.

use core::fmt::{Result, Write};

use crate::base::exit::{Exit, Step};
use crate::base::time::Instant;
use crate::format::json;
use crate::policy::vigil::Lapse;

/// What is kept of one life of a service.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Record<'a> {
    /// The service's name.
    pub service: &'a [u8],
    /// Its main process; none when no process could be made.
    pub pid: Option<u32>,
    /// When it was started.
    pub started: Instant,
    /// When it ended.
    pub ended: Instant,
    /// How it ended.
    pub exit: Exit,
    /// Who asked for its end.
    pub asked: Asker,
    /// What it did not do and was told to end for, if that was it.
    pub lapse: Option<Lapse>,
    /// How often it was started before this life.
    pub restarts: u32,
}

/// Who asked for the end of a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asker {
    /// Nobody: it ended by itself, or something else ended it.
    Nobody,
    /// An operator, by a request or by the ending of the machine.
    Operator,
}

impl Record<'_> {
    /// Writes the record as one line of JSON, line end included.
    pub fn write_json(&self, out: &mut dyn Write) -> Result {
        out.write_str("{\"service\":")?;
        json::write_string(out, self.service)?;
        out.write_str(",\"pid\":")?;
        match self.pid {
            Some(pid) => write!(out, "{pid}")?,
            None => out.write_str("null")?,
        }
        out.write_str(",\"started\":")?;
        write!(out, "{}", microseconds(self.started))?;
        out.write_str(",\"ended\":")?;
        write!(out, "{}", microseconds(self.ended))?;
        out.write_str(",\"result\":\"")?;
        out.write_str(match self.lapse {
            Some(Lapse::Unready) => "timeout",
            Some(Lapse::Silent | Lapse::Lost) => "watchdog",
            None => result(self.exit),
        })?;
        out.write_str("\",\"exit\":")?;
        write_exit(out, self.exit)?;
        out.write_str(",\"asked\":\"")?;
        out.write_str(self.asked.word())?;
        out.write_str("\",\"restarts\":")?;
        write!(out, "{}", self.restarts)?;
        out.write_str("}\n")
    }
}

/// Writes the status: the number that a shell would give, and a line end.
pub fn write_status(out: &mut dyn Write, exit: Exit) -> Result {
    write!(out, "{}", exit.shell_code())?;
    out.write_char('\n')
}

/// The word of `$SERVICE_RESULT` in `systemd.exec(5)`; `unknown` is our own.
pub const fn result(exit: Exit) -> &'static str {
    match exit {
        Exit::Code(0) => "success",
        Exit::Code(_) => "exit-code",
        Exit::Signal { dumped: true, .. } => "core-dump",
        Exit::Signal { dumped: false, .. } => "signal",
        Exit::Unstarted(failure) => match failure.step {
            Step::Clone => "resources",
            // The child existed and exited with the step's code.
            Step::Cgroup
            | Step::Session
            | Step::Stdin
            | Step::Terminal
            | Step::Ready
            | Step::Limits
            | Step::Group
            | Step::User
            | Step::Directory
            | Step::SignalMask
            | Step::Exec => "exit-code",
        },
        Exit::Unknown => "unknown",
    }
}

impl Asker {
    /// The word in the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nobody => "none",
            Self::Operator => "operator",
        }
    }
}

fn write_exit(out: &mut dyn Write, exit: Exit) -> Result {
    match exit {
        Exit::Code(code) => {
            out.write_str("{\"code\":")?;
            write!(out, "{code}")?;
            out.write_char('}')
        }
        Exit::Signal { signal, dumped } => {
            out.write_str("{\"signal\":\"")?;
            write!(out, "{signal}")?;
            out.write_str("\",\"number\":")?;
            write!(out, "{}", signal.number())?;
            out.write_str(",\"dumped\":")?;
            out.write_str(if dumped { "true}" } else { "false}" })
        }
        Exit::Unstarted(failure) => {
            out.write_str("{\"step\":\"")?;
            out.write_str(failure.step.word())?;
            out.write_str("\",\"errno\":\"")?;
            match failure.errno.name() {
                Some(name) => out.write_str(name)?,
                None => write!(out, "{}", failure.errno.number())?,
            }
            out.write_str("\",\"code\":")?;
            write!(out, "{}", failure.step.code())?;
            out.write_char('}')
        }
        Exit::Unknown => out.write_str("null"),
    }
}

fn microseconds(moment: Instant) -> u64 {
    // A division by a number that is not zero; the operator would be refused
    // by the lint all the same.
    moment.as_nanos().checked_div(1_000).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::base::errno::Errno;
    use crate::base::exit::Failure;
    use crate::base::signal::Signal;

    fn record(exit: Exit) -> Record<'static> {
        Record {
            service: b"host",
            pid: Some(12),
            started: Instant::from_nanos(1_500_000_999),
            ended: Instant::from_nanos(2_500_000_000),
            exit,
            asked: Asker::Nobody,
            lapse: None,
            restarts: 3,
        }
    }

    fn written(record: &Record<'_>) -> Value {
        let mut out = String::new();
        record.write_json(&mut out).unwrap();
        assert_eq!(out.matches('\n').count(), 1);
        assert!(out.ends_with('\n'));
        serde_json::from_str(&out).unwrap()
    }

    #[test]
    fn a_record_says_everything_once() {
        let value = written(&record(Exit::Code(0)));

        assert_eq!(
            value,
            json!({
                "service": "host", "pid": 12, "started": 1_500_000, "ended": 2_500_000,
                "result": "success", "exit": {"code": 0}, "asked": "none", "restarts": 3,
            })
        );
    }

    #[test]
    fn every_kind_of_exit_has_its_own_words() {
        let unstarted = |step, errno| Exit::Unstarted(Failure { step, errno });
        let signal = |signal, dumped| Exit::Signal { signal, dumped };

        for (exit, result, words) in [
            (Exit::Code(143), "exit-code", json!({"code": 143})),
            (
                signal(Signal::TERM, false),
                "signal",
                json!({"signal": "TERM", "number": 15, "dumped": false}),
            ),
            (
                signal(Signal::realtime(3).unwrap(), true),
                "core-dump",
                json!({"signal": "RTMIN+3", "number": 37, "dumped": true}),
            ),
            (
                unstarted(Step::Exec, Errno::ENOENT),
                "exit-code",
                json!({"step": "exec", "errno": "ENOENT", "code": 203}),
            ),
            (
                unstarted(Step::Clone, Errno::from_number(4_000)),
                "resources",
                json!({"step": "clone", "errno": "4000", "code": 219}),
            ),
            (Exit::Unknown, "unknown", Value::Null),
        ] {
            let value = written(&record(exit));

            assert_eq!(value["result"], result);
            assert_eq!(value["exit"], words);
        }
    }

    #[test]
    fn a_life_without_a_process_and_one_that_was_asked_to_end_say_so() {
        let value = written(&Record {
            service: b"a\"\xff\n",
            pid: None,
            asked: Asker::Operator,
            ..record(Exit::Unknown)
        });

        assert_eq!(value["service"], "a\"\u{fffd}\n");
        assert_eq!(value["pid"], Value::Null);
        assert_eq!(value["asked"], "operator");
    }

    #[test]
    fn what_was_not_done_is_the_result_however_it_ended() {
        for (lapse, result) in [
            (Lapse::Unready, "timeout"),
            (Lapse::Silent, "watchdog"),
            (Lapse::Lost, "watchdog"),
        ] {
            let value = written(&Record {
                lapse: Some(lapse),
                ..record(Exit::Code(0))
            });

            assert_eq!(value["result"], result);
            assert_eq!(value["exit"], json!({"code": 0}));
            assert_eq!(value["asked"], "none");
        }
    }

    #[test]
    fn the_longest_record_fits_a_line_of_the_log() {
        let longest = Record {
            service: &[b'x'; 64],
            pid: Some(u32::MAX),
            started: Instant::from_nanos(u64::MAX),
            ended: Instant::from_nanos(u64::MAX),
            exit: Exit::Signal {
                signal: Signal::realtime(30).unwrap(),
                dumped: false,
            },
            asked: Asker::Operator,
            lapse: Some(Lapse::Silent),
            restarts: u32::MAX,
        };
        let mut out = String::new();

        longest.write_json(&mut out).unwrap();

        assert!(out.len() < 320, "{}", out.len());
    }

    #[test]
    fn the_status_is_the_number_of_a_shell() {
        for (exit, status) in [
            (Exit::Code(7), "7\n"),
            (
                Exit::Signal {
                    signal: Signal::KILL,
                    dumped: false,
                },
                "137\n",
            ),
        ] {
            let mut out = String::new();

            write_status(&mut out, exit).unwrap();

            assert_eq!(out, status);
        }
    }
}
