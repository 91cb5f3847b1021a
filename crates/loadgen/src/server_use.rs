//! CPU time of the server's threads, if the server runs on this machine.

use std::collections::BTreeMap;
use std::fs;

/// CPU time of every thread of a process at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTimes {
    at_ns: u64,
    /// User plus system time in ns, by thread id.
    threads: BTreeMap<u32, u64>,
}

/// CPU use of a server between two moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerUse {
    /// CPU time of all threads divided by wall time, in CPUs.
    pub cpus: f64,
    /// CPU use of its busiest thread, as a share of one CPU.
    pub busiest: f64,
}

impl ServerTimes {
    /// Reads /proc/`pid`/task (in clock ticks, mostly of 10 ms); `None` if the process is gone.
    pub fn read(pid: u32) -> Option<Self> {
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let mut threads = BTreeMap::new();
        for entry in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
            let Some(tid) = entry.file_name().to_str().and_then(|t| t.parse().ok()) else {
                continue;
            };
            // A thread may end between the listing and the reading.
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            if let Some(ticks) = ticks(&stat) {
                threads.insert(tid, ticks * tick);
            }
        }
        (!threads.is_empty()).then_some(ServerTimes { at_ns: crate::clock::now_ns(), threads })
    }

    /// Returns the CPU use since `before`; `None` if no time has passed.
    pub fn since(&self, before: &ServerTimes) -> Option<ServerUse> {
        let wall = self.at_ns.checked_sub(before.at_ns).filter(|w| *w > 0)? as f64;
        let used = |(tid, now): (&u32, &u64)| {
            now.saturating_sub(before.threads.get(tid).copied().unwrap_or(0)) as f64 / wall
        };
        let shares: Vec<f64> = self.threads.iter().map(used).collect();
        let busiest = shares.iter().copied().reduce(f64::max)?;
        Some(ServerUse { cpus: shares.iter().sum(), busiest })
    }
}

/// Parses fields 14 and 15 of a stat file: user and system ticks. The name (field 2) may contain
/// blanks and parentheses, so fields are counted from its last closing parenthesis.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    user.checked_add(system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stat_line_with_a_hostile_name() {
        let line = "7 (a) b (c)) S 1 7 7 0 -1 4194304 100 0 0 0 31 11 0 0 20 0 1 0 5 0 0";
        assert_eq!(ticks(line), Some(42));
        assert_eq!(ticks("7 (a"), None);
        assert_eq!(ticks("7 (a) S 1"), None);
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let times = |at_ns, a, b| ServerTimes { at_ns, threads: [(1, a), (2, b)].into() };
        let used = times(3_000, 1_500, 900).since(&times(1_000, 500, 400)).unwrap();
        assert_eq!((used.cpus, used.busiest), (0.75, 0.5));
        assert_eq!(times(1, 1, 1).since(&times(1, 0, 0)), None);
        assert!(ServerTimes::read(std::process::id()).is_some());
        assert_eq!(ServerTimes::read(u32::MAX), None);
    }
}
