//! Identifies the process that wrote a journal and checks whether it is still alive.

use serde::{Deserialize, Serialize};

use crate::{Root, Unreadable};

/// Unique identity of a process: process ids are reused, but never with the same start time in the
/// same boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// Start time in clock ticks since boot: field 22 of `/proc/PID/stat`.
    pub start_ticks: u64,
    /// Id of the boot in which the process runs.
    pub boot_id: String,
}

/// State of the process that owns a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerState {
    /// The process is running.
    Alive,
    /// The process died in this boot, so its changes are still in effect.
    Dead,
    /// The machine was rebooted since then, which undid the changes.
    Rebooted,
}

/// The system does not reveal the identity of a process.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    #[error("`/proc/self/stat` does not have the start time of assay")]
    NoStartTime,
    #[error(transparent)]
    NoBootId(#[from] Unreadable),
}

impl Owner {
    /// Returns the identity of this process.
    ///
    /// # Errors
    /// `/proc` does not provide it.
    pub fn this() -> Result<Self, OwnerError> {
        let pid = std::process::id();
        let start_ticks = start_ticks(pid).ok_or(OwnerError::NoStartTime)?;
        Ok(Owner { pid, start_ticks, boot_id: boot_id()? })
    }

    /// Returns the identity of another running process; `None` if no process has this id.
    ///
    /// # Errors
    /// As for [`Owner::this`].
    pub fn from_pid(pid: u32) -> Result<Option<Self>, OwnerError> {
        let boot_id = boot_id()?;
        Ok(start_ticks(pid).map(|start_ticks| Owner { pid, start_ticks, boot_id }))
    }

    /// Determines the current state of the process.
    ///
    /// # Errors
    /// `/proc` does not provide it.
    pub fn determine_state(&self) -> Result<OwnerState, OwnerError> {
        Ok(if self.boot_id != boot_id()? {
            OwnerState::Rebooted
        } else if start_ticks(self.pid) == Some(self.start_ticks) {
            OwnerState::Alive
        } else {
            OwnerState::Dead
        })
    }
}

fn boot_id() -> Result<String, Unreadable> {
    Root::system().text("/proc/sys/kernel/random/boot_id")
}

/// Returns the start time of a process in clock ticks since boot; `None` if there is no such
/// process or it is a zombie.
pub fn start_ticks(pid: u32) -> Option<u64> {
    let stat = Root::system().text(&format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain anything; the state is field 3.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if matches!(fields.first(), Some(&("Z" | "X"))) {
        return None;
    }
    fields.get(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_alive_and_its_likes_are_not() {
        let me = Owner::this().unwrap();
        assert_eq!(me.determine_state().unwrap(), OwnerState::Alive);
        let other = Owner { start_ticks: me.start_ticks + 1, ..me.clone() };
        assert_eq!(other.determine_state().unwrap(), OwnerState::Dead);
        let before = Owner { boot_id: "another".into(), ..me };
        assert_eq!(before.determine_state().unwrap(), OwnerState::Rebooted);
    }

    #[test]
    fn a_process_that_nobody_waited_for_is_dead() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let ticks = start_ticks(child.id());
        assert!(ticks.is_some());
        let owner =
            Owner { pid: child.id(), start_ticks: ticks.unwrap(), ..Owner::this().unwrap() };
        assert_eq!(owner.determine_state().unwrap(), OwnerState::Alive);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(owner.determine_state().unwrap(), OwnerState::Dead);
    }
}
