//! Memory of an instance as reported by the kernel.

use assay_system::Root;

/// Memory of a process in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Resident set size now.
    pub resident: u64,
    /// Maximum resident set size.
    pub peak: u64,
    /// Resident memory in huge pages, transparent and reserved; `None` if it cannot be read.
    pub huge: Option<u64>,
}

/// Reads the memory of a process; `None` if the process has ended or may not be inspected.
pub fn read(root: &Root, pid: u32) -> Option<ProcessMemory> {
    let status = root.text(&format!("/proc/{pid}/status")).ok()?;
    let rollup = root.text(&format!("/proc/{pid}/smaps_rollup")).ok();
    let in_huge = |text: &str| {
        let names = ["AnonHugePages:", "ShmemPmdMapped:", "Private_Hugetlb:", "Shared_Hugetlb:"];
        Some(names.iter().filter_map(|n| kib(text, n)).sum())
    };
    // The kernel does not count reserved pages as resident.
    let reserved = kib(&status, "HugetlbPages:").unwrap_or(0);
    Some(ProcessMemory {
        resident: kib(&status, "VmRSS:")? + reserved,
        peak: kib(&status, "VmHWM:")? + reserved,
        huge: rollup.as_deref().and_then(in_huge),
    })
}

/// Returns the value of a row, which is in KiB, as bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let row = text.lines().find_map(|l| l.trim().strip_prefix(name))?;
    row.split_whitespace().next()?.parse::<u64>().ok().map(|k| k * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_all_kinds() {
        let dir = tempfile::tempdir().unwrap();
        let proc = dir.path().join("proc/7");
        std::fs::create_dir_all(&proc).unwrap();
        let status =
            "Name:\tjava\nVmHWM:\t    3000 kB\nVmRSS:\t    2000 kB\nHugetlbPages:\t    1024 kB\n";
        std::fs::write(proc.join("status"), status).unwrap();
        let root = Root::at(dir.path());
        let memory = read(&root, 7).unwrap();
        assert_eq!((memory.resident, memory.peak, memory.huge), (3024 << 10, 4024 << 10, None));
        let rollup = "7f00-7fff ---p 00000000 00:00 0 [rollup]\nAnonHugePages:    512 kB\n\
            Private_Hugetlb:  1024 kB\n";
        std::fs::write(proc.join("smaps_rollup"), rollup).unwrap();
        assert_eq!(read(&root, 7).unwrap().huge, Some(1536 << 10));
        assert_eq!(read(&root, 8), None);
    }
}
