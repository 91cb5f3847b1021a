//! Waits for a CPU: the time from the moment that a task can run (it was woken, created or
//! preempted) to the moment it runs, by the task's name.

use std::collections::BTreeMap;

use assay_model::MetricValue;
use serde::{Deserialize, Serialize};

use crate::LogLinear;
use crate::trace_file::{TraceData, TraceFile, TracedNumber, from_json, traced_metric};

/// Version of the file format.
pub const VERSION: u32 = 1;

/// The file of waits for a CPU.
pub const FILE: TraceFile = TraceFile {
    tracer: "runqueue",
    name: "runqueue.json",
    numbers: "numbers of waits for a CPU",
    complete: true,
    read: from_json::<RunQueue>,
    merge: None,
    compare: None,
};

/// Waits of the tasks of some programs over a time span.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunQueue {
    /// Version of the file format.
    pub version: u32,
    /// Description of how the waits were measured, for a person.
    pub method: String,
    /// Length of the observation in nanoseconds; `None` if unknown.
    pub span_ns: Option<u64>,
    /// Waits that ended within the span, by task name.
    pub tasks: Vec<TaskWaits>,
    /// Waits that were not counted because a map of the probes was full, or because the kernel
    /// skipped a probe.
    pub lost: u64,
    /// Processes that were not followed because a map of the probes was full.
    pub lost_tasks: u64,
}

/// Waits of the tasks of one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskWaits {
    /// Name of the task when it got a CPU.
    pub program: String,
    /// Total time, nanoseconds. A wait that began before the measurement window counts only with
    /// its part inside it.
    pub ns: u64,
    pub shortest_ns: u64,
    pub longest_ns: u64,
    /// Number of waits by bucket of a [`LogLinear`] histogram.
    pub times: BTreeMap<u32, u64>,
}

impl TaskWaits {
    /// Returns the number of waits.
    pub fn waits(&self) -> u64 {
        self.times.values().sum()
    }

    /// Returns the histogram of the waits in nanoseconds.
    pub fn histogram(&self) -> LogLinear {
        // A file may be damaged, and a bucket is an index into a vector.
        let times = self.times.iter().filter(|(at, _)| **at < LogLinear::BUCKETS);
        let mut counts = Vec::new();
        for (at, n) in times {
            counts.resize(*at as usize, 0);
            counts.push(*n);
        }
        LogLinear::of_counts(&counts, self.ns.into(), self.shortest_ns, self.longest_ns)
    }

    fn add(&mut self, other: &TaskWaits) {
        self.ns = self.ns.saturating_add(other.ns);
        self.shortest_ns = self.shortest_ns.min(other.shortest_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        for (at, n) in &other.times {
            let of = self.times.entry(*at).or_default();
            *of = of.saturating_add(*n);
        }
    }
}

impl RunQueue {
    /// Adds up the waits of several trials by task name, the longest total first.
    pub fn merged<'a>(trials: impl IntoIterator<Item = &'a RunQueue>) -> Vec<TaskWaits> {
        let mut all: BTreeMap<&str, TaskWaits> = BTreeMap::new();
        for task in trials.into_iter().flat_map(|trial| &trial.tasks) {
            let of = all.entry(&task.program).or_insert_with(|| TaskWaits {
                program: task.program.clone(),
                shortest_ns: u64::MAX,
                ..TaskWaits::default()
            });
            of.add(task);
        }
        let mut all: Vec<TaskWaits> = all.into_values().collect();
        all.sort_by_key(|task| std::cmp::Reverse(task.ns));
        all
    }

    /// Returns the waits of all tasks together.
    pub fn total(&self) -> TaskWaits {
        let mut all = TaskWaits { shortest_ns: u64::MAX, ..TaskWaits::default() };
        self.tasks.iter().for_each(|task| all.add(task));
        all
    }
}

impl TraceData for RunQueue {
    fn numbers(&self) -> Vec<TracedNumber> {
        let of = |task: &TaskWaits, name, unit, value| TracedNumber {
            subject: task.program.clone(),
            name,
            unit,
            value,
        };
        let both = |task| {
            [
                of(task, "waits for a CPU", "waits", task.waits() as f64),
                of(task, "time waiting for a CPU", "s", task.ns as f64 * 1e-9),
            ]
        };
        self.tasks.iter().flat_map(both).collect()
    }

    fn metrics(&self) -> Vec<MetricValue> {
        let all = self.total();
        let times = all.histogram();
        let s = |ns: Option<f64>| ns.map(|ns| ns * 1e-9);
        let metric = |name, value, unit| traced_metric(FILE.tracer, name, value, unit);
        vec![
            metric("waits", Some(all.waits() as f64), "waits"),
            metric("time", Some(all.ns as f64 * 1e-9), "s"),
            metric("p50", s(times.percentile(0.5)), "s"),
            metric("p99", s(times.percentile(0.99)), "s"),
            metric("longest", s(times.max().map(|ns| ns as f64)), "s"),
        ]
    }

    fn samples(&self) -> u64 {
        self.total().waits()
    }

    fn not_seen(&self) -> Vec<String> {
        let lost =
            (self.lost > 0).then(|| format!("{} waits for a CPU were not counted", self.lost));
        let tasks = (self.lost_tasks > 0).then(|| {
            format!("{} processes were not followed: the probes had no room", self.lost_tasks)
        });
        lost.into_iter().chain(tasks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(program: &str, times: &[(u32, u64)]) -> TaskWaits {
        TaskWaits {
            program: program.to_owned(),
            ns: 100,
            shortest_ns: 1,
            longest_ns: 90,
            times: times.iter().copied().collect(),
        }
    }

    #[test]
    fn trials_are_added_up_by_name() {
        let trial = |tasks| RunQueue { tasks, ..RunQueue::default() };
        let a = trial(vec![waits("sh", &[(1, 2)]), waits("cat", &[(5, 1)])]);
        let b = trial(vec![waits("sh", &[(1, 1), (40, 4)])]);
        let all = RunQueue::merged([&a, &b]);
        assert_eq!(
            all.iter().map(|t| (&*t.program, t.waits(), t.ns)).collect::<Vec<_>>(),
            [("sh", 7, 200), ("cat", 1, 100)]
        );
        assert_eq!(all[0].histogram().count(), 7);
    }

    #[test]
    fn a_bucket_that_does_not_exist_is_not_allocated() {
        let damaged = waits("sh", &[(3, 1), (u32::MAX, 1)]);
        assert_eq!(damaged.histogram().count(), 1);
    }
}
