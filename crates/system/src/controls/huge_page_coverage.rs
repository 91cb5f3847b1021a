//! Checks whether the level of the control `pages` took effect: reads from the kernel, while the
//! program runs, how much of its memory is backed by huge pages.

use std::path::Path;
use std::sync::mpsc::Receiver;

use assay_checks::record_observation;
use assay_model::{Better, MetricKind, MetricValue, Observation, TrialOutcome, TrialRecord};

use crate::process::observation_points;

/// Name of the metric, which a workload may also report from its own readings.
const METRIC: &str = "huge_page_coverage";
/// Memory of one or more processes in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Backing {
    /// Memory of the processes themselves: anonymous pages and explicit huge pages.
    pub memory: u64,
    /// Part of that memory that is backed by huge pages.
    pub large: u64,
}

/// Samples all descendants of this process until the sender is dropped. Returns the sample in which
/// they had the most memory; `None` if there was no sample.
pub(super) fn watch(end: &Receiver<()>) -> Option<Backing> {
    let mut most: Option<Backing> = None;
    observation_points::until(end, |pids| {
        let seen = pids
            .iter()
            .filter_map(|pid| of_process(*pid))
            .reduce(|a, b| Backing { memory: a.memory + b.memory, large: a.large + b.large });
        if seen.is_some_and(|s| most.is_none_or(|m| s.memory > m.memory)) {
            most = seen;
        }
    });
    most
}

fn of_process(pid: u32) -> Option<Backing> {
    let path = format!("/proc/{pid}/smaps_rollup");
    read(&std::fs::read_to_string(Path::new(&path)).ok()?)
}

fn read(rollup: &str) -> Option<Backing> {
    let field = |name: &str| {
        let line = rollup.lines().find_map(|l| l.strip_prefix(name))?;
        let kib: u64 = line.trim_start_matches(':').split_whitespace().next()?.parse().ok()?;
        Some(kib * 1024)
    };
    let explicit = field("Private_Hugetlb").unwrap_or(0) + field("Shared_Hugetlb").unwrap_or(0);
    Some(Backing {
        memory: field("Anonymous")? + explicit,
        large: field("AnonHugePages")? + explicit,
    })
}

/// Adds the result to the record. A level that had no effect makes the trial invalid.
pub(super) fn conclude(level: &str, seen: Option<Backing>, record: &mut TrialRecord) {
    if record.metric(METRIC).is_some() {
        return;
    }
    let Some(seen) = seen.filter(|s| s.memory > 0) else {
        let note = "its coverage by large pages is unknown: it ended too soon";
        record.notes.push(note.to_owned());
        return;
    };
    let share = Some(seen.large as f64 / seen.memory as f64);
    let metric = MetricValue::new(METRIC, share, "1", Better::Neither, MetricKind::Measured);
    record.metrics.push(metric.counted());
    let level = level.to_owned();
    let seen = Observation::LargePages { level, memory: seen.memory, large: seen.large };
    if let Some(found) = assay_checks::judge_observation(&seen)
        && record.outcome == TrialOutcome::Completed
    {
        record.outcome = TrialOutcome::Invalid;
        record.error = found.message;
    }
    record_observation(record, seen);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLLUP: &str = "55d0-7ffd ---p 00000000 00:00 0    [rollup]
Rss:              110592 kB
Anonymous:        102400 kB
AnonHugePages:     51200 kB
Shared_Hugetlb:        0 kB
Private_Hugetlb:    2048 kB
";

    fn record() -> TrialRecord {
        let planned = assay_model::PlannedTrial {
            number: 1,
            block: 1,
            ..assay_model::PlannedTrial::default()
        };
        let blank = TrialRecord::blank(&planned, 1, String::new(), 0);
        TrialRecord { outcome: TrialOutcome::Completed, ..blank }
    }

    #[test]
    fn the_kernels_table_is_read() {
        let seen = read(ROLLUP).unwrap();
        assert_eq!((seen.memory, seen.large), (104_448 << 10, 53_248 << 10));
        assert_eq!(read("Rss: 4 kB\n"), None);
    }

    #[test]
    fn a_level_that_did_not_take_makes_the_trial_invalid() {
        let none = Backing { memory: 64 << 20, large: 0 };
        let some = Backing { memory: 64 << 20, large: 32 << 20 };
        for (level, seen, valid) in [
            ("madvise", none, false),
            ("madvise", some, true),
            ("4KiB", none, true),
            ("4KiB", some, false),
            ("base", some, false),
            ("always", Backing { memory: 1 << 20, large: 0 }, true),
        ] {
            let mut record = record();
            conclude(level, Some(seen), &mut record);
            assert_eq!(record.outcome == TrialOutcome::Completed, valid, "{level} {seen:?}");
            assert_eq!(record.findings.is_empty(), valid);
            assert_eq!(record.metric(METRIC), Some(seen.large as f64 / seen.memory as f64));
        }
    }

    #[test]
    fn what_was_not_seen_is_reported() {
        let mut record = record();
        conclude("madvise", None, &mut record);
        assert_eq!((record.outcome, record.metric(METRIC)), (TrialOutcome::Completed, None));
        assert_eq!(record.notes.len(), 1);
    }

    #[test]
    fn the_memory_of_a_child_is_seen() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(of_process(child.id()).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
