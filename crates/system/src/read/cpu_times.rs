//! CPU times since boot, from the first line of `/proc/stat`.

use std::io;

use crate::Root;
use crate::read::root::Unreadable;

/// Ticks of all CPUs since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTimes {
    /// All ticks: user, nice, system, idle, iowait, irq, softirq, steal. Guest time is already part
    /// of user and nice.
    pub total: u64,
    /// Ticks in which the hypervisor ran something else although a task was ready here.
    pub steal: u64,
}

impl CpuTimes {
    /// Reads the CPU times.
    ///
    /// # Errors
    /// If `/proc/stat` cannot be read or its first line is invalid.
    pub fn read(root: &Root) -> Result<Self, Unreadable> {
        let text = root.text("/proc/stat")?;
        parse(&text).ok_or_else(|| Unreadable {
            path: "/proc/stat".to_owned(),
            source: io::Error::new(
                io::ErrorKind::InvalidData,
                "its first line is not `cpu` and eight numbers",
            ),
        })
    }

    /// Returns the share of stolen time since boot, 0 to 1; `None` if no tick was counted.
    pub fn steal_share(self) -> Option<f64> {
        (self.total > 0).then(|| self.steal as f64 / self.total as f64)
    }

    /// Returns the share of stolen time since `earlier`, 0 to 1; `None` if no tick has passed.
    pub fn steal_share_since(self, earlier: CpuTimes) -> Option<f64> {
        CpuTimes {
            total: self.total.checked_sub(earlier.total)?,
            steal: self.steal.checked_sub(earlier.steal)?,
        }
        .steal_share()
    }
}

fn parse(text: &str) -> Option<CpuTimes> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> =
        line.split_whitespace().take(8).map(|w| w.parse().ok()).collect::<Option<_>>()?;
    let steal = *ticks.get(7)?;
    Some(CpuTimes { total: ticks.iter().fold(0, |sum: u64, t| sum.saturating_add(*t)), steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_time() {
        let a = parse("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 1\n").unwrap();
        assert_eq!(a, CpuTimes { total: 100, steal: 10 });
        assert_eq!(a.steal_share(), Some(0.1));
        let b = parse("cpu  10 0 10 160 0 0 0 20 5 0").unwrap();
        assert_eq!(b.steal_share_since(a), Some(0.1));
        assert_eq!(a.steal_share_since(a), None);
        assert_eq!(a.steal_share_since(b), None);
        assert!(parse("cpu  1 2 3").is_none() && parse("").is_none());
    }
}
