//! Measures the joint resource use of all processes of a program, as counted by their version 2
//! control group. There is such a group only if a control created one (`memory`, `storage` with
//! limits): joining a group takes the kernel milliseconds, so none is created only for counting.

use std::fs;
use std::path::{Path, PathBuf};

use assay_model::GroupUse;

/// The counters of a group at one moment.
#[derive(Debug, Default)]
pub(crate) struct GroupCounters {
    group: Option<PathBuf>,
    at: GroupUse,
}

impl GroupCounters {
    /// Reads the counters of the first version 2 group.
    pub fn read(groups: &[PathBuf]) -> Self {
        let group = groups.iter().find(|g| g.join("cgroup.controllers").exists()).cloned();
        let at = group.as_deref().map(used).unwrap_or_default();
        GroupCounters { group, at }
    }

    /// Returns the use since then; `None` if there is no such group.
    pub fn since(&self) -> Option<GroupUse> {
        let now = used(self.group.as_deref()?);
        let was = &self.at;
        let seconds =
            |now: Option<f64>, was: Option<f64>| Some((now? - was.unwrap_or(0.0)).max(0.0));
        let bytes =
            |now: Option<u64>, was: Option<u64>| Some(now?.saturating_sub(was.unwrap_or(0)));
        Some(GroupUse {
            user_s: seconds(now.user_s, was.user_s),
            system_s: seconds(now.system_s, was.system_s),
            peak_memory_bytes: now.peak_memory_bytes,
            read_bytes: bytes(now.read_bytes, was.read_bytes),
            written_bytes: bytes(now.written_bytes, was.written_bytes),
            waited_for_cpu_s: seconds(now.waited_for_cpu_s, was.waited_for_cpu_s),
            waited_for_memory_s: seconds(now.waited_for_memory_s, was.waited_for_memory_s),
            waited_for_io_s: seconds(now.waited_for_io_s, was.waited_for_io_s),
        })
    }
}

fn used(group: &Path) -> GroupUse {
    let text = |file: &str| fs::read_to_string(group.join(file)).ok();
    let cpu = text("cpu.stat");
    let time = |key: &str| {
        let line = cpu.as_deref()?.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(' '))?;
        Some(line.trim().parse::<f64>().ok()? / 1e6)
    };
    let io = text("io.stat");
    let moved = |key: &str| {
        let words = io.as_deref()?.split_ascii_whitespace();
        Some(words.filter_map(|w| w.strip_prefix(key)?.parse::<u64>().ok()).sum())
    };
    // Time during which at least one task waited.
    let waited = |file: &str| {
        let text = text(file)?;
        let line = text.lines().find_map(|l| l.strip_prefix("some "))?;
        let total = line.split(' ').find_map(|w| w.strip_prefix("total="))?;
        Some(total.parse::<f64>().ok()? / 1e6)
    };
    GroupUse {
        user_s: time("user_usec"),
        system_s: time("system_usec"),
        peak_memory_bytes: text("memory.peak").and_then(|t| t.trim().parse().ok()),
        read_bytes: moved("rbytes="),
        written_bytes: moved("wbytes="),
        waited_for_cpu_s: waited("cpu.pressure"),
        waited_for_memory_s: waited("memory.pressure"),
        waited_for_io_s: waited("io.pressure"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_group_since_a_moment() {
        let dir = tempfile::tempdir().unwrap();
        let put = |file: &str, text: &str| fs::write(dir.path().join(file), text).unwrap();
        put("cgroup.controllers", "cpu io memory\n");
        put("cpu.stat", "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\n");
        put("io.stat", "8:0 rbytes=4096 wbytes=0 rios=1 wios=0\n259:0 rbytes=8192 wbytes=512\n");
        let before = GroupCounters::read(&[dir.path().to_owned()]);
        put("cpu.stat", "usage_usec 5000000\nuser_usec 3500000\nsystem_usec 1500000\n");
        put("io.stat", "8:0 rbytes=8192 wbytes=0 rios=2 wios=0\n259:0 rbytes=8192 wbytes=1024\n");
        put("memory.peak", "1048576\n");
        put("io.pressure", "some avg10=0.00 avg60=0.00 total=250000\nfull avg10=0.00 total=1\n");
        let used = before.since().unwrap();
        assert_eq!((used.user_s, used.system_s), (Some(1.5), Some(0.5)));
        assert_eq!((used.read_bytes, used.written_bytes), (Some(4096), Some(512)));
        assert_eq!((used.peak_memory_bytes, used.waited_for_io_s), (Some(1 << 20), Some(0.25)));
        assert_eq!(used.waited_for_cpu_s, None, "what the kernel does not tell is missing");
        assert!(GroupCounters::read(&[]).since().is_none());
    }
}
