//! The entrypoint: one command, its signals, its end, and what it leaves behind.
//!
//! ```text
//!   Running ──▶ Ending ──▶ Killed
//!      │           │          │
//!      └───────────┴──────────┴───▶ (exit)
//! ```
//!
//! `Running` is the life of the command. In `Ending` it is gone, and the processes that
//! it left were told to end; most entrypoints have no such time. In `Killed` their
//! deadline is over, or somebody asked again: they were killed, and so is whatever
//! host-init adopts from them. Both end when nobody is left, `Killed` also when its own
//! time is over.
//!
//! Whose the terminal is, and who follows a key that stops, is decided in [`place`]
//! before there is a command.

pub mod place;

use core::time::Duration;

use heapless::Vec;

use crate::base::exit::Exit;
use crate::base::signal::{RTMAX, Signal};
use crate::base::time::Instant;

/// Whom a signal is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The command's process.
    Command,
    /// The command's process group.
    Group,
    /// Every other process that descends from host-init or is to be reaped by it.
    Others,
    /// Those of the others that are host-init's own children by now.
    Adopted,
}

/// What becomes of the others when the command has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Others {
    /// They end with host-init, or go on without it.
    Left,
    /// The command's group is told to end, and nobody waits.
    Told,
    /// They are told to end, waited for, and killed at the deadline.
    Stopped,
}

/// What host-init does when a key on the terminal stops the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnStop {
    /// Nothing: the command has no terminal, or can't be stopped by it.
    Ignore,
    /// It stops as well, and whoever continues it continues the command.
    Follow,
    /// It continues the command: nobody else would.
    Continue,
}

/// The rules of one entrypoint.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Whom forwarded signals are for: the command or its group.
    pub target: Target,
    /// What each signal is forwarded as.
    pub rewrites: Rewrites,
    /// What each exit code becomes.
    pub codes: Codes,
    /// A signal that asks for a stop as TERM does.
    pub stop_signal: Option<Signal>,
    /// How long after the first signal that asks for a stop everything is killed.
    pub kill_after: Option<Duration>,
    /// What becomes of the others.
    pub others: Others,
    /// Whether keys on the terminal reach the command without host-init's help: it
    /// is in the same process group.
    pub shares_keys: bool,
    /// What follows when the command is stopped.
    pub on_stop: OnStop,
    /// What the command gets when a key stops host-init, which then does as if the
    /// command had been stopped; none when nobody could continue host-init.
    pub key_stop: Option<Signal>,
    /// Whether host-init stops itself whoever sends it a signal that a key sends.
    pub stops_itself: bool,
    /// Signals that are taken and not forwarded.
    pub dropped: &'static [Signal],
}

/// What each signal is forwarded as: itself, another, or nothing.
#[derive(Clone, Debug)]
pub struct Rewrites([u8; NUMBERS]);

/// Numbers that a signal may have, and 0.
const NUMBERS: usize = 65;

const _: () = assert!(NUMBERS > 64 && RTMAX == 64);

impl Rewrites {
    /// Every signal as it is.
    pub const NONE: Self = Self([0; NUMBERS]);

    /// Forwards one signal as another, or not at all.
    pub fn set(&mut self, from: Signal, to: Option<Signal>) {
        if let Some(place) = self.0.get_mut(usize::from(from.number())) {
            *place = to.map_or(DROPPED, Signal::number);
        }
    }

    /// Whether somebody said what becomes of this signal.
    pub fn has(&self, signal: Signal) -> bool {
        self.0.get(usize::from(signal.number())) != Some(&0)
    }

    /// What a signal is forwarded as; none for one that is not.
    pub fn get(&self, signal: Signal) -> Option<Signal> {
        match self.0.get(usize::from(signal.number())) {
            Some(0) | None => Some(signal),
            Some(number) => Signal::from_number(*number),
        }
    }
}

/// Stands for a signal that is not forwarded.
const DROPPED: u8 = u8::MAX;

/// What each exit code of the command becomes: few change.
#[derive(Clone, Debug)]
pub struct Codes {
    /// Bit n is set when code n becomes 0.
    forgiven: [u64; 4],
    /// What others become; the last that was said counts.
    changed: Vec<(u8, u8), CHANGED>,
}

/// Codes that can become another code than 0.
const CHANGED: usize = 16;

impl Codes {
    /// Every code as it is.
    pub const NONE: Self = Self {
        forgiven: [0; 4],
        changed: Vec::new(),
    };

    /// Makes one code another; whether there was room.
    pub fn set(&mut self, from: u8, to: u8) -> bool {
        let (low, high) = split(from);
        let Some(word) = self.forgiven.get_mut(high) else {
            return false;
        };
        let bit = 1_u64.checked_shl(low).unwrap_or(0);
        *word &= !bit;
        self.changed.retain(|(code, _)| *code != from);
        if to == 0 {
            *word |= bit;
            true
        } else {
            self.changed.push((from, to)).is_ok()
        }
    }

    /// What a code becomes.
    pub fn get(&self, code: u8) -> u8 {
        let (low, high) = split(code);
        let word = self.forgiven.get(high).copied().unwrap_or(0);
        if word.checked_shr(low).unwrap_or(0) & 1 == 1 {
            return 0;
        }
        let changed = self.changed.iter().find(|(from, _)| *from == code);
        changed.map_or(code, |(_, to)| *to)
    }
}

impl Rules {
    /// Forwards everything to the command, and ends with it.
    pub const PLAIN: Self = Self {
        target: Target::Command,
        rewrites: Rewrites::NONE,
        codes: Codes::NONE,
        stop_signal: None,
        kill_after: None,
        others: Others::Left,
        shares_keys: false,
        on_stop: OnStop::Ignore,
        key_stop: None,
        stops_itself: false,
        dropped: &[],
    };
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Somebody sent a signal to host-init, or the terminal did.
    Signaled {
        /// The signal.
        signal: Signal,
        /// Whether the kernel sent it by itself.
        is_kernels: bool,
    },
    /// The command has ended.
    Ended(Exit),
    /// A signal stopped the command.
    Stopped(Signal),
    /// Others have ended, and children that they had are host-init's now.
    Reaped,
    /// There is no other process left to reap.
    Alone,
    /// Time has passed.
    Tick,
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send a signal.
    Send(Target, Signal),
    /// Take the terminal from the command and stop as it did, until somebody
    /// continues host-init; then continue the command.
    Follow,
    /// Stop, until somebody continues host-init.
    Stop,
    /// Give the command the terminal, if host-init has it.
    GiveTerminal,
    /// Find out whether there are others, and reap each from now on.
    LookForOthers,
    /// Exit with this code.
    Exit(u8),
}

/// Actions that one event may have.
pub type Actions = Vec<Action, 4>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The command is there; it is killed at a time if it was told to end.
    Running {
        kill_at: Option<Instant>,
        was_killed: bool,
    },
    /// The others are to end by then.
    Ending { code: u8, until: Instant },
    /// The others were killed, and are waited for until then.
    Killed { code: u8, until: Instant },
}

/// How long the others have when nobody said.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long what was killed is waited for: only what the kernel holds takes longer.
const LAST: Duration = Duration::from_secs(2);

/// The entrypoint as a value.
#[derive(Debug)]
pub struct Entrypoint {
    rules: Rules,
    state: State,
}

impl Entrypoint {
    /// An entrypoint whose command was just started.
    pub const fn new(rules: Rules) -> Self {
        Self {
            rules,
            state: State::Running {
                kill_at: None,
                was_killed: false,
            },
        }
    }

    /// When to come back with [`Event::Tick`], if nothing happens before.
    pub const fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Running {
                was_killed: true, ..
            } => None,
            State::Running { kill_at, .. } => kill_at,
            State::Ending { until, .. } | State::Killed { until, .. } => Some(until),
        }
    }

    /// Whether it matters when something happens: without deadlines it does not, and
    /// the clock need not be asked.
    pub fn heeds_time(&self) -> bool {
        self.rules.kill_after.is_some() || self.rules.others == Others::Stopped
    }

    /// The rules.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Takes what happened at `now`, and says what to do.
    pub fn handle(&mut self, now: Instant, event: Event) -> Actions {
        let mut actions = Actions::new();
        match event {
            Event::Signaled { signal, is_kernels } => {
                self.signaled(now, signal, is_kernels, &mut actions);
            }
            Event::Ended(exit) => self.ended(now, exit, &mut actions),
            Event::Stopped(signal) => self.stopped(signal, &mut actions),
            Event::Reaped => match self.state {
                // Whoever was their child was told what they were.
                State::Running { .. } | State::Ending { .. } => {}
                // What was made since the others were looked for was not.
                State::Killed { .. } => {
                    push(&mut actions, Action::Send(Target::Adopted, Signal::KILL));
                }
            },
            Event::Alone => match self.state {
                // Those that it had are gone, and it may have more.
                State::Running { .. } => {}
                State::Ending { code, .. } | State::Killed { code, .. } => {
                    push(&mut actions, Action::Exit(code));
                }
            },
            Event::Tick => self.tick(now, &mut actions),
        }
        actions
    }

    fn signaled(&mut self, now: Instant, signal: Signal, is_kernels: bool, actions: &mut Actions) {
        match signal {
            // Host-init's own affairs: its children, and its messages to a terminal
            // that it is in the background of.
            Signal::CHLD => return,
            Signal::TTIN | Signal::TTOU if is_kernels => return,
            _ if self.rules.dropped.contains(&signal) => return,
            _ => {}
        }
        let State::Running { kill_at, .. } = &mut self.state else {
            // Whoever asks again has no patience left for what is left.
            if self.rules.is_stop(signal) {
                self.kill_others(now, actions);
            }
            return;
        };
        let is_stop = self.rules.is_stop(signal);
        if is_stop
            && kill_at.is_none()
            && let Some(grace) = self.rules.kill_after
        {
            *kill_at = Some(now.after(grace));
        }
        if signal == Signal::CONT && self.rules.on_stop == OnStop::Follow {
            push(actions, Action::GiveTerminal);
        }
        let stops = matches!(signal, Signal::TSTP | Signal::TTIN | Signal::TTOU);
        let by_key = self.rules.key_stop.filter(|_| stops && is_kernels);
        let reached_it = self.rules.shares_keys && is_kernels;
        if !reached_it && let Some(signal) = by_key.or(self.rules.rewrites.get(signal)) {
            push(actions, Action::Send(self.rules.target, signal));
        }
        if stops && self.rules.stops_itself {
            push(actions, Action::Stop);
        } else if by_key.is_some() {
            push(actions, Action::Follow);
        }
    }

    fn ended(&mut self, now: Instant, exit: Exit, actions: &mut Actions) {
        let State::Running { kill_at, .. } = self.state else {
            return;
        };
        let code = self.rules.codes.get(exit.shell_code());
        match self.rules.others {
            Others::Left => push(actions, Action::Exit(code)),
            Others::Told => {
                if let Some(signal) = self.rules.rewrites.get(Signal::TERM) {
                    push(actions, Action::Send(self.rules.target, signal));
                }
                push(actions, Action::Exit(code));
            }
            Others::Stopped => {
                let grace = self.rules.kill_after.unwrap_or(PATIENCE);
                let until = kill_at.unwrap_or(now.after(grace));
                self.state = State::Ending { code, until };
                // First: a child that the kernel releases while they are looked for
                // can make the look pass over another.
                push(actions, Action::LookForOthers);
                push(actions, Action::Send(Target::Others, Signal::TERM));
                // A stopped process does not see it until it goes on.
                push(actions, Action::Send(Target::Others, Signal::CONT));
            }
        }
    }

    fn stopped(&self, signal: Signal, actions: &mut Actions) {
        // Whoever sends STOP means it, and will send CONT.
        if signal == Signal::STOP {
            return;
        }
        match self.rules.on_stop {
            OnStop::Ignore => {}
            OnStop::Follow => push(actions, Action::Follow),
            OnStop::Continue => {
                // In the foreground it is not stopped again for reading.
                push(actions, Action::GiveTerminal);
                push(actions, Action::Send(Target::Group, Signal::CONT));
            }
        }
    }

    fn tick(&mut self, now: Instant, actions: &mut Actions) {
        match &mut self.state {
            // It is not killed again: nothing survives it but what the kernel holds,
            // and that may end yet.
            State::Running {
                kill_at: Some(at),
                was_killed,
            } if *at <= now && !*was_killed => {
                *was_killed = true;
                if self.rules.target == Target::Group {
                    push(actions, Action::Send(Target::Group, Signal::KILL));
                }
                push(actions, Action::Send(Target::Command, Signal::KILL));
            }
            State::Ending { until, .. } if *until <= now => self.kill_others(now, actions),
            State::Killed { code, until } if *until <= now => {
                push(actions, Action::Exit(*code));
            }
            State::Running { .. } | State::Ending { .. } | State::Killed { .. } => {}
        }
    }

    fn kill_others(&mut self, now: Instant, actions: &mut Actions) {
        if let State::Ending { code, .. } = self.state {
            let until = now.after(LAST);
            self.state = State::Killed { code, until };
            push(actions, Action::Send(Target::Others, Signal::KILL));
        }
    }
}

impl Rules {
    /// Whether a signal asks the command to end.
    fn is_stop(&self, signal: Signal) -> bool {
        matches!(
            signal,
            Signal::TERM | Signal::INT | Signal::QUIT | Signal::PWR
        ) || Some(signal) == Signal::realtime(3)
            || Some(signal) == self.stop_signal
    }
}

fn push(actions: &mut Actions, action: Action) {
    // There is room: no event has more than four.
    let _ = actions.push(action);
}

/// The place of a code's bit: in its word, and the word's.
fn split(code: u8) -> (u32, usize) {
    (u32::from(code % 64), usize::from(code / 64))
}

#[cfg(test)]
mod stories;
