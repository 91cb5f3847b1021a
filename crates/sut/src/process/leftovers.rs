//! Ends what a program left behind: the rest of its process group, and processes that left the group
//! (daemons), which come to this process because it is their subreaper.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::process::wait4::wait4;

/// How long processes may take to die of SIGKILL before they are given up (a process stuck in the
/// kernel cannot be helped).
const TIMEOUT: Duration = Duration::from_secs(5);

/// Children that no program left behind: daemons of assay's own that outlive a program.
static SPARED: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// From now on a child of this process is not taken for something that a program left behind.
pub(crate) fn spare(child: u32) {
    if let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) {
        SPARED.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
    }
}

/// The child is gone, and its id may be another's.
pub(crate) fn no_longer_spared(pid: Pid) {
    SPARED.lock().unwrap_or_else(PoisonError::into_inner).retain(|p| *p != pid);
}

/// Ends the group of `leader` (reaped already) and every other child of this process, but for spared ones. Returns how
/// many processes there were.
pub(crate) fn end_all(leader: Pid) -> u32 {
    end_children(Some(leader))
}

/// Ends every child of this process, but for spared ones, before the first trial: what builds and questions for versions
/// left running is no program's of a trial.
pub fn end_strays() {
    end_children(None);
}

fn end_children(mut group: Option<Pid>) -> u32 {
    let (mut ended, mut killed) = (0, false);
    let began = Instant::now();
    loop {
        match wait4(-1, false) {
            Ok(Some(_)) => ended += 1,
            // No child at all: nothing was left, in the group neither, whose orphans come to this process too.
            // This is the usual way out, one system call.
            Err(_) => break,
            Ok(None) => {
                // At once, so that none starts another meanwhile. They are counted when they are reaped.
                if let Some(leader) = group.take() {
                    killed |= kill_process_group(leader, Signal::KILL).is_ok();
                }
                let mut left = children();
                let spared = SPARED.lock().unwrap_or_else(PoisonError::into_inner);
                left.retain(|child| !spared.contains(child));
                drop(spared);
                if left.is_empty() {
                    break;
                }
                for child in left {
                    killed |= kill_process(child, Signal::KILL).is_ok();
                }
                if began.elapsed() > TIMEOUT {
                    break;
                }
                if killed {
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        }
    }
    ended
}

/// The children of this process, of all its threads.
fn children() -> Vec<Pid> {
    let mut found = Vec::new();
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return found };
    for thread in threads.flatten() {
        let text = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(
            text.split_whitespace().filter_map(|t| t.parse().ok()).filter_map(Pid::from_raw),
        );
    }
    found
}
