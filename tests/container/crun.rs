//! crun, which podman starts a container by.

use crate::lives;
use crate::runtime::Runtime;

#[test]
fn crun_stops_a_command() {
    if let Some(crun) = Runtime::crun() {
        lives::stops_a_command(&crun);
    }
}

#[test]
fn under_crun_a_stubborn_command_is_killed() {
    if let Some(crun) = Runtime::crun() {
        lives::kills_a_command(&crun);
    }
}

#[test]
fn crun_gives_a_command_its_terminal() {
    if let Some(crun) = Runtime::crun() {
        // crun 1.8 says that there is a new size, and not which.
        lives::gives_a_terminal(&crun, "size ");
    }
}
