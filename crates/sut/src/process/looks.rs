//! Looks at the processes of a trial while they run: a few at its beginning, then one now and then, because the
//! kernel walks all of their memory for each.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The moments of the looks, from the start of the program; then one each [`EVERY`].
const LOOKS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];
const EVERY: Duration = Duration::from_secs(10);

/// Calls `look` at its moments, with all descendants of this process, until the sender is gone.
pub(crate) fn until(end: &Receiver<()>, mut look: impl FnMut(&[u32])) {
    let began = Instant::now();
    let mut moments = LOOKS.into_iter();
    let mut next = Duration::ZERO;
    loop {
        next = moments.next().unwrap_or(next + EVERY);
        match end.recv_timeout(next.saturating_sub(began.elapsed())) {
            Err(RecvTimeoutError::Timeout) => look(&descendants()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The children of this process, their children, and so on.
fn descendants() -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let mut parents = vec![std::process::id()];
    while let Some(parent) = parents.pop() {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{parent}/task")) else { continue };
        for thread in threads.flatten() {
            let list = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            let children = list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok());
            for child in children.filter(|c| !found.contains(c)).collect::<Vec<_>>() {
                found.push(child);
                parents.push(child);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_seen() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(descendants().contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
