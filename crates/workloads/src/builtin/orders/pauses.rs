//! Pauses of the garbage collector, from the log that an instance writes.

use std::path::Path;

/// A time in which the collector stopped all threads of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Begin, ns of `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// End, ns of `CLOCK_MONOTONIC`.
    pub to_ns: u64,
}

impl Pause {
    pub fn seconds(self) -> f64 {
        (self.to_ns - self.from_ns) as f64 * 1e-9
    }
}

/// Reads the pauses from the log of an instance; `None` if it cannot be read or has no times of
/// `CLOCK_MONOTONIC` (another virtual machine than HotSpot wrote it).
pub fn read(log: &Path) -> Option<Vec<Pause>> {
    let text = std::fs::read_to_string(log).ok()?;
    let timed = text.lines().filter_map(timed).collect::<Vec<_>>();
    (!timed.is_empty())
        .then(|| timed.into_iter().filter_map(|(ns, line)| pause(ns, line)).collect())
}

/// Splits a line such as `[0.5s][7123456789ns][info][gc] GC(0) Pause Young 24M->4M(256M) 3.4ms`
/// into the time in ns and the text.
fn timed(line: &str) -> Option<(u64, &str)> {
    let (time, rest) = line.strip_prefix('[')?.split_once("][")?.1.split_once("ns]")?;
    Some((time.parse().ok()?, rest.split_once("] ")?.1))
}

/// Returns the pause that a text reports at its end. Generations have a letter before the name.
fn pause(to_ns: u64, text: &str) -> Option<Pause> {
    let name = text.strip_prefix("GC(")?.split_once(") ")?.1;
    let name = name.split_once(": ").map_or(name, |(_, name)| name);
    let length = name.strip_prefix("Pause ")?.rsplit(' ').next()?.strip_suffix("ms")?;
    let ns = (length.parse::<f64>().ok().filter(|ms| *ms >= 0.0)? * 1e6) as u64;
    Some(Pause { from_ns: to_ns.saturating_sub(ns), to_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of HotSpot 17 and 25 with its collectors.
    #[test]
    fn pauses_of_every_collector() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("gc.log");
        let lines = include_str!("collections.txt");
        std::fs::write(&log, lines).unwrap();
        let pauses = read(&log).unwrap();
        assert_eq!(pauses.len(), lines.lines().filter(|l| l.contains("Pause")).count());
        assert!(pauses.len() > 8, "{}", pauses.len());
        assert!(pauses.iter().all(|p| p.seconds() > 0.0 && p.seconds() < 1.0), "{pauses:?}");
        let young = timed(lines.lines().find(|l| l.contains("Pause Young")).unwrap()).unwrap();
        assert_eq!(pauses.iter().filter(|p| p.to_ns == young.0).count(), 1);
        std::fs::write(&log, "[0.5s][info][gc] GC(0) Pause Young 24M->4M(256M) 3.4ms\n").unwrap();
        assert_eq!(read(&log), None, "a log without the clock");
        assert_eq!(read(&dir.path().join("none")), None);
    }
}
