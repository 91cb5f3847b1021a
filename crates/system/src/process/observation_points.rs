//! Samples the processes of a trial while they run: a few times at the beginning and rarely
//! afterwards, because the kernel walks all of their memory for each sample.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::process::container::connection::program_parent;

/// Times of the first samples since the start of the program; afterwards one per [`EVERY`].
const LOOKS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];
const EVERY: Duration = Duration::from_secs(10);

/// Folder whose files are named after the processes to sample, if a scheduler starts them.
static ELSEWHERE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Sets the processes whose descendants are the program of a trial: those after which the files in
/// the folder are named, or, with `None`, [`program_parent`] (the default).
pub fn look_at(folder: Option<&Path>) {
    *ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner) = folder.map(Path::to_owned);
}

/// Returns the processes whose descendants are the program.
fn parents() -> Vec<u32> {
    let elsewhere = ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner);
    elsewhere.as_deref().map_or_else(|| vec![program_parent()], named_in)
}

fn named_in(folder: &Path) -> Vec<u32> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|f| f.file_name().to_str()?.parse().ok()).collect()
}

/// Calls `look` at each sampling time with all processes of the program, until the sender is
/// dropped.
pub(crate) fn until(end: &Receiver<()>, mut look: impl FnMut(&[u32])) {
    let began = Instant::now();
    let mut moments = LOOKS.into_iter();
    let mut next = Duration::ZERO;
    loop {
        next = moments.next().unwrap_or(next + EVERY);
        match end.recv_timeout(next.saturating_sub(began.elapsed())) {
            Err(RecvTimeoutError::Timeout) => look(&descendants(parents())),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Returns the children of these processes, their children, and so on.
fn descendants(mut parents: Vec<u32>) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
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
        let own = vec![std::process::id()];
        assert!(descendants(own.clone()).contains(&child.id()));
        let folder = tempfile::tempdir().unwrap();
        assert!(named_in(&folder.path().join("none")).is_empty());
        std::fs::write(folder.path().join(own[0].to_string()), "").unwrap();
        std::fs::write(folder.path().join("x"), "").unwrap();
        assert_eq!(named_in(folder.path()), own);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
