//! What host-init is doing, as JSON: `/run/host-init/state.json`.
//!
//! ```json
//! {"stage":"running","host":{"state":"up","pid":12,"starts":3,"failures":0,"ready":true,
//!  "status":"serving 12 meshes"}}
//! ```

use core::fmt::{Result, Write};

use crate::format::json;
use crate::policy::ending::Ending;
use crate::policy::machine::{Aim, Machine, Stage};
use crate::policy::service;
use crate::policy::trial::Halt;

/// What is told of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    stage: &'static str,
    host: &'static str,
    pid: Option<u32>,
    starts: u32,
    failures: u32,
    /// Whether it is ready; none when it is not up.
    ready: Option<bool>,
    /// Failures in a row that count for its trial; none without one.
    trial: Option<u32>,
    /// Why it is halted.
    halted: Option<&'static str>,
}

impl State {
    /// What is to be told of a machine whose host has this process.
    pub fn new(machine: &Machine, pid: Option<u32>) -> Self {
        let host = machine.host();
        Self {
            stage: stage_word(machine.stage()),
            host: service_word(host.state()),
            pid,
            starts: host.starts(),
            failures: host.failures(),
            ready: if let service::State::Up { vigil, .. } = host.state() {
                Some(vigil.ready_since().is_some())
            } else {
                None
            },
            trial: machine.trial().map(|trial| trial.mark().failures),
            halted: if let Stage::Halted { halt, .. } = machine.stage() {
                Some(halt_word(halt))
            } else {
                None
            },
        }
    }

    /// Writes one line of JSON, line end included; with what the host says of itself, if
    /// it does.
    pub fn write_json(&self, status: &[u8], out: &mut dyn Write) -> Result {
        write!(
            out,
            "{{\"stage\":\"{}\",\"host\":{{\"state\":\"{}\",\"pid\":",
            self.stage, self.host
        )?;
        match self.pid {
            Some(pid) => write!(out, "{pid}")?,
            None => out.write_str("null")?,
        }
        write!(
            out,
            ",\"starts\":{},\"failures\":{}",
            self.starts, self.failures
        )?;
        if let Some(is_ready) = self.ready {
            write!(out, ",\"ready\":{is_ready}")?;
        }
        if !status.is_empty() {
            out.write_str(",\"status\":")?;
            json::write_string(out, status)?;
        }
        if let Some(failures) = self.trial {
            write!(out, ",\"trial\":{{\"failures\":{failures}}}")?;
        }
        if let Some(halted) = self.halted {
            write!(out, ",\"halted\":\"{halted}\"")?;
        }
        out.write_str("}}\n")
    }
}

/// The word for why the host is not started any more.
pub const fn halt_word(halt: Halt) -> &'static str {
    match halt {
        Halt::NoWayBack => "no-way-back",
        Halt::WasGood => "was-good",
        Halt::TakenBackBefore => "taken-back-before",
        Halt::TakeBackFailed => "take-back-failed",
        Halt::TakeBackUnknown => "take-back-unknown",
        Halt::Before => "halted-before",
    }
}

const fn stage_word(stage: Stage) -> &'static str {
    match stage {
        Stage::Booting | Stage::Preparing { .. } => "booting",
        Stage::Running => "running",
        Stage::Rescue { .. } => "rescue",
        Stage::Hopeless { .. } => "hopeless",
        Stage::Halted { .. } => "halted",
        Stage::Stopping {
            aim: Aim::Again, ..
        } => "stopping-to-start-again",
        Stage::Stopping {
            aim: Aim::End(ending),
            ..
        }
        | Stage::Leaving { ending, .. } => match ending {
            Ending::Halt => "halting",
            Ending::PowerOff => "powering-off",
            Ending::Reboot => "rebooting",
            Ending::Kexec => "starting-loaded-kernel",
        },
    }
}

const fn service_word(state: service::State) -> &'static str {
    match state {
        service::State::Down => "down",
        service::State::Asking => "starting",
        service::State::Up { .. } => "up",
        service::State::Failing { .. }
        | service::State::Stopping { .. }
        | service::State::Killed { .. } => "stopping",
        service::State::Sweeping { .. } => "sweeping",
        service::State::Waiting { .. } => "waiting",
        service::State::Stuck => "stuck",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_one_line_of_json() {
        let state = State {
            stage: "running",
            host: "up",
            pid: Some(12),
            starts: 3,
            failures: 0,
            ready: Some(false),
            trial: Some(2),
            halted: Some("was-good"),
        };
        let mut text = String::new();

        state.write_json(b"\"so\"\n", &mut text).unwrap();

        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(text.ends_with('\n'));
        assert_eq!(value["stage"], "running");
        assert_eq!(value["host"]["pid"], 12);
        assert_eq!(value["host"]["starts"], 3);
        assert_eq!(value["host"]["ready"], false);
        assert_eq!(value["host"]["status"], "\"so\"\n");
        assert_eq!(value["host"]["trial"]["failures"], 2);
        assert_eq!(value["host"]["halted"], "was-good");
    }
}
