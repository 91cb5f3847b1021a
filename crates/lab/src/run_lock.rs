//! Run lock: lets one run at a time measure on this machine. The kernel releases the lock when its
//! process ends, so that no clean-up is needed.

use std::fs::File;
use std::path::Path;

use assay_system::Interrupt;
use assay_system::state_file::try_lock;

/// The run lock, held until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

/// Interval at which a lock held by another process is tried again.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(500);

impl RunLock {
    /// Takes the lock if it is free. `Ok(Err(who))` names the process that holds it.
    ///
    /// # Errors
    /// The lock file in `state_dir` cannot be created.
    pub fn take(state_dir: &Path) -> std::io::Result<Result<Self, String>> {
        std::fs::create_dir_all(state_dir)?;
        let taken = try_lock(&state_dir.join("turn.lock"), 0o666)?;
        Ok(taken.map(|file| RunLock { _file: file }))
    }

    /// Waits for the lock; `say` is called once with the holder's name. `None` if `interrupt` fires
    /// first.
    ///
    /// # Errors
    /// The same as [`RunLock::take`].
    pub fn wait(
        state_dir: &Path,
        interrupt: Option<&Interrupt>,
        say: &mut dyn FnMut(&str),
    ) -> std::io::Result<Option<Self>> {
        let mut reported = false;
        loop {
            match RunLock::take(state_dir)? {
                Ok(turn) => return Ok(Some(turn)),
                Err(_) if interrupt.is_some_and(Interrupt::fired) => return Ok(None),
                Err(who) if !reported => {
                    say(&format!("waiting: {who} is measuring on this machine"));
                    reported = true;
                }
                Err(_) => {}
            }
            std::thread::sleep(AGAIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = RunLock::take(dir.path()).unwrap().unwrap();
        let who = RunLock::take(dir.path()).unwrap().unwrap_err();
        assert_eq!(who, format!("process {}", std::process::id()));
        drop(first);
        assert!(RunLock::take(dir.path()).unwrap().is_ok());
    }

    #[test]
    fn waiting_for_it_ends_when_interrupted() {
        let dir = tempfile::tempdir().unwrap();
        let _first = RunLock::take(dir.path()).unwrap().unwrap();
        let interrupt = Interrupt::manual().unwrap();
        interrupt.fire();
        let mut messages = Vec::new();
        let turn =
            RunLock::wait(dir.path(), Some(&interrupt), &mut |s| messages.push(s.to_owned()));
        assert!(turn.unwrap().is_none());
    }
}
