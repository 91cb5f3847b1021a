//! Kills what a program left behind: the rest of its process group, and processes that left the
//! group (daemons), which become children of this process because it is their subreaper.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::process::wait4::wait4;

/// Maximum time that processes may take to die of SIGKILL. A process that is stuck in the kernel
/// cannot be killed.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Children that no program left behind: assay's own daemons that outlive a program.
static SPARED: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Marks a child of this process as not left behind by a program.
pub(crate) fn spare(child: u32) {
    if let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) {
        SPARED.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
    }
}

/// Removes the mark of a child that has exited, because its id may be reused.
pub(crate) fn no_longer_spared(pid: Pid) {
    SPARED.lock().unwrap_or_else(PoisonError::into_inner).retain(|p| *p != pid);
}

/// Kills the group of `leader` (reaped already) and every other child of this process except spared
/// ones. Returns the number of killed processes.
pub(crate) fn end_all(leader: Pid) -> u32 {
    end_children(Some(leader))
}

/// Kills every child of this process except spared ones, before the first trial. Such processes
/// were left by builds or version queries and belong to no trial's program.
pub fn end_strays() {
    end_children(None);
}

/// Reaps children that ended by themselves before a program starts, such as the server of a
/// preparation, so that they do not count as left behind by the program.
pub(crate) fn reap_ended() {
    while let Ok(Some(_)) = wait4(-1, false) {}
}

fn end_children(mut group: Option<Pid>) -> u32 {
    let (mut ended, mut killed) = (0, false);
    let began = Instant::now();
    loop {
        match wait4(-1, false) {
            Ok(Some(_)) => ended += 1,
            // No child at all, so nothing was left behind, not even in the group, whose orphans
            // become children of this process too. This is the usual exit and costs one system
            // call.
            Err(_) => break,
            Ok(None) => {
                // Kill all at once, so that none starts another meanwhile. They are counted when
                // they are reaped.
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

/// Returns the children of all threads of this process.
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
