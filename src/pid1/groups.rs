//! Each service's processes as one group: a control group, or the next best.
//!
//! With cgroup v2 a service can be counted and killed whole. Without it, the
//! group is the session that its main process leads: what leaves the session is
//! out of reach until the last `kill(2)` of everything.

use core::ffi::CStr;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::signal::Signal;
use crate::base::{limits, paths};
use crate::format;
use crate::pid1::log::{Log, Part};
use crate::pid1::watch::Watch;
use crate::policy::event::{SERVICES, ServiceId};
use crate::policy::settings::Role;
use crate::sys::cgroup::{self, Group};
use crate::sys::{AsFd, Fd, Result, files, kill, process, spawn};

/// The groups of all services.
pub struct Groups {
    root: Option<Group>,
    services: [Service; SERVICES.len()],
}

#[derive(Default)]
struct Service {
    /// Its control group, once it has been started in one.
    group: Option<Group>,
    /// Whether a process can be started in that: see [`Groups::group`].
    is_fresh: bool,
    /// The `cgroup.events` that is watched while it is swept.
    events: Option<Fd>,
    /// The process that leads its session, until that was swept; 0 for none.
    leader: u32,
}

/// What a sweep found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swept {
    /// Nothing is left.
    Empty,
    /// Something is left, and its end will be told.
    Watched,
}

impl Groups {
    /// No groups.
    pub fn new() -> Self {
        Self {
            root: None,
            services: [const { Service::NONE }; SERVICES.len()],
        }
    }

    /// Takes the hierarchy that is mounted: of a machine all of it, of a container
    /// the group that it was started in. Says once when there is none, or when it is
    /// somebody else's.
    pub fn open(&mut self, role: Role, is_next_life: bool, log: &Log) {
        let root = match role {
            Role::Machine => Group::root(paths::CGROUP),
            Role::Container => own(is_next_life),
        };
        match root {
            Ok(root) => self.root = Some(root),
            Err(errno) => say_absent(errno, log),
        }
    }

    /// Moves PID 1 into a leaf of its own, as a group with controllers wants it.
    /// Takes its time: for a child.
    ///
    /// # Errors
    ///
    /// The kernel's reasons; none without a hierarchy.
    pub fn take_init(&self) -> Result<()> {
        match &self.root {
            Some(root) => root.child(LEAF)?.take(1),
            None => Ok(()),
        }
    }

    /// Moves everything that is in the group which PID 1 was started in into a leaf,
    /// and gives the services' groups controllers. Takes its time: for a child.
    ///
    /// # Errors
    ///
    /// The first of the kernel's reasons, after which the rest was tried; none
    /// without a hierarchy.
    pub fn take_all(&self) -> Result<()> {
        let Some(root) = &self.root else {
            return Ok(());
        };
        let leaf = root.child(LEAF)?;
        let mut result = Ok(());
        // Whoever comes in may do so while the others are moved.
        for _ in 0..ROUNDS {
            let mut is_empty = true;
            root.processes(|pid| {
                // 0 is somebody outside of the namespace, whom nobody here can move.
                if pid != 0 {
                    is_empty = false;
                    match leaf.take(pid) {
                        Ok(()) | Err(Errno::ESRCH) => {}
                        Err(errno) => result = result.and(Err(errno)),
                    }
                }
            })?;
            if is_empty {
                break;
            }
        }
        let mut buffer = [0; 512];
        for name in format::cgroup::controllers(root.controllers(&mut buffer)?) {
            let mut word = heapless::Vec::<u8, 16>::new();
            let _ = word.push(b'+');
            let _ = word.extend_from_slice(name.as_bytes());
            // One that can't be had is no reason to go without the others.
            result = result.and(root.enable(&word));
        }
        result
    }

    /// The control group that a service is started in; none without cgroup v2.
    ///
    /// A group that was killed as a whole, or may have been, is made anew: kernels since
    /// February 2025 (6.14, and 6.6 and 6.12 by their updates) kill what `clone3(2)` starts
    /// in it at once and ever after. They count the kills of a group
    /// (`cgroup_post_fork()`), and compare the count of PID 1's own. Where it can't be made
    /// anew, the child goes there by itself.
    pub fn group(&mut self, id: ServiceId, log: &Log) -> Option<spawn::Group<'_>> {
        let root = self.root.as_ref()?;
        let service = self.services.get_mut(index(id))?;
        if service.group.is_none() || !service.is_fresh {
            match root.renew(name(id)) {
                Ok((group, is_fresh)) => {
                    service.group = Some(group);
                    service.is_fresh = is_fresh;
                }
                // It is not for this container to change, and will never be.
                Err(errno @ (Errno::EROFS | Errno::EACCES | Errno::EPERM)) => {
                    say_absent(errno, log);
                    self.root = None;
                    return None;
                }
                Err(errno) => {
                    log.failed(Level::Warning, "make cgroup", name(id).to_bytes(), errno);
                }
            }
        }
        let directory = service.group.as_ref()?.as_fd();
        Some(spawn::Group {
            directory,
            may_start: service.is_fresh,
        })
    }

    /// Forgets a control group that is not there any more, so that the next start
    /// makes another.
    pub fn forget(&mut self, id: ServiceId) {
        if let Some(service) = self.services.get_mut(index(id)) {
            service.group = None;
        }
    }

    /// Remembers the process that leads the service's session.
    pub fn set_leader(&mut self, id: ServiceId, leader: u32) {
        if let Some(service) = self.services.get_mut(index(id)) {
            service.leader = leader;
        }
    }

    /// Sends a signal to everything of the service. When something is left, its
    /// end is told by [`Watch`] and [`Groups::is_empty`].
    pub fn sweep(&mut self, id: ServiceId, signal: Signal, watch: &Watch) -> Swept {
        let place = index(id);
        let Some(service) = self.services.get_mut(place) else {
            return Swept::Empty;
        };
        let leader = core::mem::take(&mut service.leader);
        let Some(group) = &service.group else {
            let _ = kill::group(leader, signal);
            return Swept::Empty;
        };
        let Ok(events) = group.events() else {
            // Nobody can tell when it is empty: at least it was told to be.
            service.is_fresh &= signal != Signal::KILL;
            signal_all(group, leader, signal);
            return Swept::Empty;
        };
        if cgroup::is_populated(&events) != Ok(true) {
            return Swept::Empty;
        }
        service.is_fresh &= signal != Signal::KILL;
        signal_all(group, leader, signal);
        let number = u8::try_from(place).unwrap_or(u8::MAX);
        if watch.add_group(&events, number).is_err() {
            return Swept::Empty;
        }
        service.events = Some(events);
        Swept::Watched
    }

    /// Whether a process is in the service's session, or in its control group.
    pub fn has(&self, id: ServiceId, pid: u32) -> bool {
        let Some(service) = self.services.get(index(id)) else {
            return false;
        };
        if pid == 0 || service.leader == 0 {
            return false;
        }
        let mut has = process::session_of(pid) == Ok(service.leader);
        if let Some(group) = &service.group
            && !has
        {
            let _ = group.processes(|other| has |= other == pid);
        }
        has
    }

    /// Kills everything of the service.
    pub fn kill(&mut self, id: ServiceId) {
        if let Some(service) = self.services.get_mut(index(id)) {
            service.is_fresh = false;
            match &service.group {
                Some(group) => signal_all(group, service.leader, Signal::KILL),
                None => {
                    let _ = kill::group(service.leader, Signal::KILL);
                }
            }
        }
    }

    /// Whether the service in this place, which was swept, is empty now. The
    /// watch ends with it.
    pub fn is_empty(&mut self, place: u8) -> Option<ServiceId> {
        let id = *SERVICES.get(usize::from(place))?;
        let service = self.services.get_mut(usize::from(place))?;
        let events = service.events.as_ref()?;
        // A group that can't be asked any more is not there any more.
        if cgroup::is_populated(events).unwrap_or(false) {
            return None;
        }
        service.events = None;
        Some(id)
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self::new()
    }
}

impl Service {
    const NONE: Self = Self {
        group: None,
        is_fresh: false,
        events: None,
        leader: 0,
    };
}

/// Where PID 1 goes, since a group with controllers has no processes of its own.
const LEAF: &CStr = c"init";

/// How often it is looked who is still in the group that PID 1 was started in.
const ROUNDS: usize = 16;

/// The group that PID 1 was started in. In a next life it is in the leaf.
fn own(is_next_life: bool) -> Result<Group> {
    let mut buffer = [0; limits::PATH_BYTES];
    let text = files::read(c"/proc/self/cgroup", &mut buffer)?;
    let own = format::cgroup::path(text).ok_or(Errno::EOPNOTSUPP)?;
    let own = match own.strip_suffix(b"/init") {
        Some(parent) if is_next_life => parent,
        Some(_) | None => own,
    };
    let mut path = heapless::Vec::<u8, { limits::PATH_BYTES }>::new();
    for part in [paths::CGROUP.to_bytes(), own, b"\0"] {
        path.extend_from_slice(part)
            .map_err(|_| Errno::ENAMETOOLONG)?;
    }
    Group::root(CStr::from_bytes_until_nul(&path).map_err(|_| Errno::EINVAL)?)
}

fn say_absent(errno: Errno, log: &Log) {
    log.say(
        Level::Notice,
        &[
            Part::Text("cgroup v2: "),
            Part::Reason(errno),
            Part::Text(": services are process groups"),
        ],
    );
}

/// Sends a signal to every process of a control group: KILL by the kernel at
/// once, so that no fork escapes; others one by one.
fn signal_all(group: &Group, leader: u32, signal: Signal) {
    if signal == Signal::KILL {
        match group.kill() {
            Ok(()) => return,
            // A kernel before 5.14: the session first, since that is at once.
            Err(Errno::ENOENT) => {
                let _ = kill::group(leader, signal);
            }
            Err(_) => {}
        }
    }
    let _ = group.processes(|pid| {
        kill::member(pid, signal);
        // A stopped process does not see a signal until it goes on.
        kill::member(pid, Signal::CONT);
    });
}

const fn index(id: ServiceId) -> usize {
    match id {
        ServiceId::Host => 0,
        ServiceId::Rescue => 1,
    }
}

const fn name(id: ServiceId) -> &'static CStr {
    match id {
        ServiceId::Host => c"host",
        ServiceId::Rescue => c"rescue",
    }
}
