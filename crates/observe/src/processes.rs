//! Lists of running processes, as needed by a probe that follows some of them.

use std::collections::HashSet;
use std::path::Path;

use crate::NotAvailable;
#[cfg(feature = "ebpf")]
use crate::process_filter::ProcessFilter;
use crate::sampling::scan::numbers;

/// Returns the ids of all processes.
pub(crate) fn processes() -> Vec<u32> {
    numbers("/proc")
}

/// Returns these processes and all their descendants.
pub(crate) fn with_descendants(pids: &[u32]) -> Result<Vec<u32>, NotAvailable> {
    if let Some(pid) = pids.iter().find(|pid| !Path::new(&format!("/proc/{pid}/task")).exists()) {
        return Err(NotAvailable::because(format!("there is no process {pid}")));
    }
    let parent = |pid: u32| Some((pid, stat(pid)?[0] as u32));
    let mut all: Vec<(u32, u32)> = processes().into_iter().filter_map(parent).collect();
    let mut found: HashSet<u32> = pids.iter().copied().collect();
    loop {
        let (more, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|p| found.contains(&p.1));
        if more.is_empty() {
            return Ok(found.into_iter().collect());
        }
        found.extend(more.iter().map(|p| p.0));
        all = others;
    }
}

/// Returns 14 fields of `/proc/PID/stat` in the kernel's order, from the parent's process id to the
/// system time of waited-for children.
fn stat(pid: u32) -> Option<Vec<i64>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let words = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(1).take(14);
    words.map(|w| w.parse().ok()).collect::<Option<_>>().filter(|all: &Vec<_>| all.len() == 14)
}

/// Returns user and system time, in nanoseconds, of the followed processes, including their
/// children that have ended; `None` if a named process is gone, or if all processes are followed.
#[cfg(feature = "ebpf")]
pub(crate) fn cpu_time(whose: &ProcessFilter) -> Option<[u64; 2]> {
    let assay = assay_system::program_parent();
    let (roots, own) = match whose {
        ProcessFilter::Children => (std::slice::from_ref(&assay), Some(assay)),
        ProcessFilter::Processes(pids) => (pids.as_slice(), None),
        ProcessFilter::All => return None,
    };
    let mut ticks = [0; 2];
    for pid in with_descendants(roots).ok()? {
        let Some(stat) = stat(pid) else { continue };
        // The time that assay itself uses does not belong to its children.
        let itself = i64::from(own != Some(pid));
        ticks = [0, 1].map(|i| ticks[i] + itself * stat[10 + i] + stat[12 + i]);
    }
    Some(ticks.map(|n| n as u64 * (1_000_000_000 / rustix::param::clock_ticks_per_second())))
}

/// Checks that this process is in the initial process namespace, whose process ids the probes use.
pub(crate) fn one_namespace() -> Result<(), NotAvailable> {
    /// Fixed inode number of the initial process namespace.
    const FIRST: &str = "pid:[4026531836]";
    match std::fs::read_link("/proc/self/ns/pid") {
        Ok(link) if link.as_os_str() != FIRST => Err(NotAvailable::because(
            "this container has process numbers that the kernel's probes do not use: run \
             it on the host, or in a container that shares its process numbers (--pid=host)",
        )),
        _ => Ok(()),
    }
}

/// Returns the current name of a thread, as the kernel stores it.
#[cfg(feature = "ebpf")]
pub(crate) fn name_now(pid: u32, tid: u32) -> [u8; 16] {
    let text = std::fs::read(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
    let mut comm = [0; 16];
    let length = text.iter().position(|b| *b == b'\n').unwrap_or(text.len()).min(comm.len() - 1);
    comm[..length].copy_from_slice(&text[..length]);
    comm
}

/// Converts a thread name in the kernel's form to text.
pub(crate) fn thread_name(comm: &[u8]) -> String {
    let end = comm.iter().position(|b| *b == 0).unwrap_or(comm.len());
    String::from_utf8_lossy(&comm[..end]).into_owned()
}
