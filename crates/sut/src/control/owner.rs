//! Which process wrote a journal, and whether it still lives.

use serde::{Deserialize, Serialize};

use crate::Root;

/// What distinguishes a process from every other one, before and after: ids of processes are used
/// again, but not with the same start in the same boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its id.
    pub pid: u32,
    /// When it started, in ticks since boot: field 22 of `/proc/PID/stat`.
    pub start_ticks: u64,
    /// The boot that it lives in.
    pub boot_id: String,
}

/// What became of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is running.
    Alive,
    /// It is gone, in this boot: what it changed is still changed.
    Dead,
    /// The machine was started anew since: what it changed is gone with it.
    Rebooted,
}

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// `/proc` does not tell; a sentence.
    pub fn this() -> Result<Self, String> {
        let pid = std::process::id();
        let start_ticks =
            start_ticks(pid).ok_or("`/proc/self/stat` does not have the start time of assay")?;
        Ok(Owner { pid, start_ticks, boot_id: boot_id()? })
    }

    /// Another process that lives now; `None` if there is none of that id.
    ///
    /// # Errors
    /// As [`Owner::this`].
    pub fn of(pid: u32) -> Result<Option<Self>, String> {
        let boot_id = boot_id()?;
        Ok(start_ticks(pid).map(|start_ticks| Owner { pid, start_ticks, boot_id }))
    }

    /// What became of it.
    ///
    /// # Errors
    /// `/proc` does not tell; a sentence.
    pub fn fate(&self) -> Result<Fate, String> {
        Ok(if self.boot_id != boot_id()? {
            Fate::Rebooted
        } else if start_ticks(self.pid) == Some(self.start_ticks) {
            Fate::Alive
        } else {
            Fate::Dead
        })
    }
}

fn boot_id() -> Result<String, String> {
    Root::system().text("/proc/sys/kernel/random/boot_id").map_err(|e| e.to_string())
}

/// When a process started, in clock ticks since boot; `None` if there is none, or only its remains that
/// nobody has waited for.
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
        assert_eq!(me.fate(), Ok(Fate::Alive));
        assert_eq!(Owner { start_ticks: me.start_ticks + 1, ..me.clone() }.fate(), Ok(Fate::Dead));
        let before = Owner { boot_id: "another".into(), ..me };
        assert_eq!(before.fate(), Ok(Fate::Rebooted));
    }

    #[test]
    fn a_process_that_nobody_waited_for_is_dead() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let ticks = start_ticks(child.id());
        assert!(ticks.is_some());
        let owner =
            Owner { pid: child.id(), start_ticks: ticks.unwrap(), ..Owner::this().unwrap() };
        assert_eq!(owner.fate(), Ok(Fate::Alive));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(owner.fate(), Ok(Fate::Dead));
    }
}
