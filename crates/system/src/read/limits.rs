//! Counts how often the limits of control groups took effect: CPU quotas that throttled a group,
//! and memory limits that were reached.

use std::fs;
use std::path::{Path, PathBuf};

/// Counts since a group was created; of several groups, those of the one that was throttled
/// longest, except that `memory` is the largest count of any group.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LimitHits {
    /// Periods in which a group with a quota had runnable tasks.
    pub periods: u64,
    /// Periods in which the group was throttled.
    pub stopped: u64,
    /// Time for which the group was throttled, in seconds.
    pub stopped_s: f64,
    /// Number of times that a memory limit was reached.
    pub memory: u64,
}

/// Watches the control groups around a program that have limits.
#[derive(Debug, Default)]
pub struct LimitWatch {
    at: Vec<(PathBuf, LimitHits)>,
}

impl LimitWatch {
    /// Starts watching groups that limit a program: [`crate::limited_groups`], and those that the
    /// program joins.
    pub fn start<'a>(groups: impl Iterator<Item = &'a PathBuf>) -> Self {
        LimitWatch { at: groups.map(|dir| (dir.clone(), read(dir))).collect() }
    }

    /// Returns the counts since the start; `None` if no group is watched.
    pub fn since(&self) -> Option<LimitHits> {
        let since = self.at.iter().map(|(dir, was)| {
            let now = read(dir);
            LimitHits {
                periods: now.periods.saturating_sub(was.periods),
                stopped: now.stopped.saturating_sub(was.stopped),
                stopped_s: (now.stopped_s - was.stopped_s).max(0.0),
                memory: now.memory.saturating_sub(was.memory),
            }
        });
        let all: Vec<LimitHits> = since.collect();
        let memory = all.iter().map(|h| h.memory).max()?;
        let longest = all.into_iter().max_by(|a, b| a.stopped_s.total_cmp(&b.stopped_s))?;
        Some(LimitHits { memory, ..longest })
    }
}

/// Reads the counters of one group: `cpu.stat` of both versions, `memory.events` of version 2,
/// `memory.failcnt` of version 1.
fn read(group: &Path) -> LimitHits {
    let text = |file: &str| fs::read_to_string(group.join(file)).unwrap_or_default();
    let cpu = text("cpu.stat");
    let events = text("memory.events");
    let number = |text: &str, key: &str| {
        let mut values = text.lines().filter_map(|l| l.strip_prefix(key)?.strip_prefix(' '));
        values.next().and_then(|v| v.trim().parse::<u64>().ok())
    };
    let seconds = |key: &str, unit: f64| number(&cpu, key).map(|n| n as f64 * unit);
    let stopped_s = seconds("throttled_usec", 1e-6).or_else(|| seconds("throttled_time", 1e-9));
    let failures = || text("memory.failcnt").trim().parse().ok();
    LimitHits {
        periods: number(&cpu, "nr_periods").unwrap_or(0),
        stopped: number(&cpu, "nr_throttled").unwrap_or(0),
        stopped_s: stopped_s.unwrap_or(0.0),
        memory: number(&events, "max").or_else(failures).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_and_the_longest_stop_counts() {
        let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let put =
            |i: usize, file: &str, text: &str| fs::write(dirs[i].path().join(file), text).unwrap();
        put(0, "cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_time 500000000\n");
        put(0, "memory.failcnt", "3\n");
        put(1, "cpu.stat", "usage_usec 1\nnr_periods 5\nnr_throttled 1\nthrottled_usec 100000\n");
        let joined: Vec<PathBuf> = dirs.iter().map(|d| d.path().to_owned()).collect();
        let watch = LimitWatch::start(joined.iter());
        put(0, "cpu.stat", "nr_periods 30\nnr_throttled 12\nthrottled_time 2500000000\n");
        put(0, "memory.failcnt", "8\n");
        put(1, "memory.events", "low 0\nhigh 0\nmax 1\noom 0\n");
        let found = watch.since().unwrap();
        assert_eq!(found, LimitHits { periods: 20, stopped: 10, stopped_s: 2.0, memory: 5 });
        assert_eq!(LimitWatch::default().since(), None);
    }
}
