//! The processes that are there, as a probe that follows some of them needs them.

use std::collections::HashSet;
use std::path::Path;

use crate::NotAvailable;

/// The numbers that are names in a folder.
pub(crate) fn numbers(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// Every process.
pub(crate) fn processes() -> Vec<u32> {
    numbers("/proc")
}

/// These processes and all that descend from them.
pub(crate) fn with_descendants(pids: &[u32]) -> Result<Vec<u32>, NotAvailable> {
    if let Some(pid) = pids.iter().find(|pid| !Path::new(&format!("/proc/{pid}/task")).exists()) {
        return Err(NotAvailable::because(format!("there is no process {pid}")));
    }
    let parent = |pid: u32| -> Option<u32> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    let all: Vec<(u32, u32)> =
        processes().into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found: HashSet<u32> = pids.iter().copied().collect();
    loop {
        let more: Vec<u32> = all
            .iter()
            .filter(|(pid, parent)| found.contains(parent) && !found.contains(pid))
            .map(|p| p.0)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    Ok(found.into_iter().collect())
}

/// Probes number processes as the first namespace does.
pub(crate) fn one_namespace() -> Result<(), NotAvailable> {
    /// The kernel's fixed number of the first namespace of processes.
    const FIRST: &str = "pid:[4026531836]";
    match std::fs::read_link("/proc/self/ns/pid") {
        Ok(link) if link.as_os_str() != FIRST => Err(NotAvailable::because(
            "this is a container with process numbers of its own, which the kernel's probes do not use: run \
             it on the host, or in a container that shares its process numbers (--pid=host)",
        )),
        _ => Ok(()),
    }
}

/// The name that a thread has now, as the kernel keeps it.
#[cfg(feature = "ebpf")]
pub(crate) fn name_now(pid: u32, tid: u32) -> [u8; 16] {
    let text = std::fs::read(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
    let mut comm = [0; 16];
    let length = text.iter().position(|b| *b == b'\n').unwrap_or(text.len()).min(comm.len() - 1);
    comm[..length].copy_from_slice(&text[..length]);
    comm
}

/// A thread's name as the kernel keeps it.
pub(crate) fn thread_name(comm: &[u8]) -> String {
    let end = comm.iter().position(|b| *b == 0).unwrap_or(comm.len());
    String::from_utf8_lossy(&comm[..end]).into_owned()
}
