//! Ends what a program left behind: the rest of its process group, and processes that left the group
//! (daemons), which come to this process because it is their subreaper.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::wait4::wait4;

/// How long processes may take to die of SIGKILL before they are given up (a process stuck in the
/// kernel cannot be helped).
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends the group of `leader` (reaped already) and every other child of this process. Returns how
/// many processes there were.
pub(crate) fn end_all(leader: Pid) -> u32 {
    let mut ended = 0;
    let began = Instant::now();
    // Orphans in the group come to this process too, so they are counted once, when reaped.
    let mut killed = kill_process_group(leader, Signal::KILL).is_ok();
    loop {
        match wait4(-1, false) {
            Ok(Some(_)) => ended += 1,
            // No child at all: nothing was left. This is the usual way out, one system call.
            Err(_) => break,
            Ok(None) => {
                for child in children() {
                    killed |= kill_process(child, Signal::KILL).is_ok();
                }
                if began.elapsed() > PATIENCE {
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
