//! Record of a trial: everything that is kept about one execution of the workload.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Finding, Heat, MetricKind, MetricValue, Observation, Phase, PlannedTrial, SCHEMA_VERSION,
    Scalar, TrialHistogram,
};

/// Outcome of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
pub enum TrialOutcome {
    /// The trial ran, and its output was valid (or the workload has no check: see `validation`).
    Completed,
    /// A part of the trial failed: a control did not take effect, preparation failed, or the
    /// program exited with a failure.
    #[default]
    Failed,
    /// The output was wrong. The numbers must not be used.
    Invalid,
    /// The trial exceeded its time limit and was killed.
    TimedOut,
    /// A person or a signal ended the trial.
    Interrupted,
}

crate::names! {
    /// Returns the outcome in words.
    pub TrialOutcome::words: Completed = "completed", Failed = "failed", Invalid = "invalid",
        TimedOut = "timed out", Interrupted = "interrupted"
}

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// Exit code of a process that ended by itself.
    Code(i32),
    /// Number of the signal that ended the process.
    Signal(i32),
}

impl Exit {
    /// Returns true for exit code 0.
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }
}

/// Beginning of a phase of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseMark {
    /// The phase that begins.
    pub phase: Phase,
    /// Time of the change, nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
}

/// A curve: one value at each of several x. Points keep the order of measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// Name of the curve (`throughput`).
    pub name: String,
    /// Name of the x axis (`rate`); if empty, x is a size when its unit is bytes and unnamed
    /// otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub x_name: String,
    /// Unit of the x axis.
    pub x_unit: String,
    /// Unit of the values.
    pub unit: String,
    /// Origin of the values: measured, derived, estimated or quoted.
    #[serde(default)]
    pub kind: MetricKind,
    /// Points `[x, value]`, in the order of measurement.
    pub points: Vec<[f64; 2]>,
}

/// Resource use of the process tree of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceUse {
    /// Elapsed time from just before the start of the program to its end, seconds of
    /// `CLOCK_MONOTONIC`.
    pub wall_s: f64,
    /// CPU time in user mode of the program and the children that it waited for, seconds.
    pub user_s: f64,
    /// CPU time of these processes in the kernel, seconds.
    pub system_s: f64,
    /// Largest resident set of any single process, bytes; `null` when it was no larger than assay's
    /// own at the start (the kernel includes that one, so the program's is unknown).
    pub peak_memory_bytes: Option<u64>,
    /// Number of major page faults.
    pub major_faults: u64,
    /// Number of minor page faults.
    pub minor_faults: u64,
    /// Number of voluntary context switches: the program waited.
    pub voluntary_switches: u64,
    /// Number of involuntary context switches: another task ran instead.
    pub involuntary_switches: u64,
    /// Bytes that the kernel fetched from storage for it; `null`: recorded by an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_read_bytes: Option<u64>,
    /// Bytes that it wrote to files on storage, written back or not; `null`: recorded by an earlier
    /// version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_written_bytes: Option<u64>,
    /// Resource use of all processes together, where a control (`memory`, `storage` with limits)
    /// put them in a control group of version 2; `null` if they had no group of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupUse>,
}

/// Resource use of all processes of a control group, including processes that no parent waited for.
/// A field is `null` if the kernel does not report it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GroupUse {
    /// CPU time in user mode, seconds.
    pub user_s: Option<f64>,
    /// CPU time in the kernel, seconds.
    pub system_s: Option<f64>,
    /// Peak memory in bytes: of all processes together, including the page cache of their files
    /// (Linux 5.19 and later).
    pub peak_memory_bytes: Option<u64>,
    /// Bytes read from block devices.
    pub read_bytes: Option<u64>,
    /// Bytes written to block devices, including later writeback on behalf of these processes.
    pub written_bytes: Option<u64>,
    /// Time in which some task of the group waited for a CPU (pressure), seconds.
    pub waited_for_cpu_s: Option<f64>,
    /// Time in which some task of the group waited for memory (pressure), seconds.
    pub waited_for_memory_s: Option<f64>,
    /// Time in which some task of the group waited for I/O (pressure), seconds.
    pub waited_for_io_s: Option<f64>,
}

/// Size of an output stream of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StreamSummary {
    /// Bytes that the program wrote.
    pub bytes: u64,
    /// Bytes kept in the log; fewer than `bytes` when the middle was cut out.
    pub kept: u64,
}

/// Result of the output validation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum ValidationResult {
    /// The output was checked and right.
    Passed {
        /// Description of the check.
        detail: String,
    },
    /// The output was checked and wrong.
    Failed {
        /// Description of the error.
        detail: String,
    },
    /// The workload has no check beyond its exit code.
    ExitCodeOnly,
    /// The trial ended before any check.
    #[default]
    NotReached,
}

/// Report of an observer about one trial: rows written and observations missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverReport {
    /// Name of the observer.
    pub observer: String,
    /// Number of rows that it wrote for this trial.
    pub samples: u64,
    /// Missing observations with their reasons; empty when nothing is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_seen: Vec<String>,
}

/// Everything that is kept about a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
pub struct TrialRecord {
    /// Version of this format.
    pub schema_version: u32,
    /// Number of the trial in the plan, from 1.
    pub number: u32,
    /// Number of the attempt, from 1; a resumed run repeats interrupted trials.
    pub attempt: u32,
    /// Block of the trial, from 0.
    pub block: u32,
    /// Id of the trial's treatment.
    pub treatment: u32,
    /// True for a warm-up.
    pub warmup: bool,
    /// Number of the revision's build that ran, from 1, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<u32>,
    /// Host of the block, where hosts are replicates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Parameters that replaced those of the treatment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Scalar>,
    /// Outcome of the trial.
    pub outcome: TrialOutcome,
    /// Description of the error, as a sentence; empty when nothing failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// Start time: ISO 8601, UTC; empty in an imported trial whose file does not contain it.
    pub started_at: String,
    /// Start of the program, nanoseconds of `CLOCK_MONOTONIC`; 0 in an imported trial, whose times
    /// are on another clock.
    pub start_ns: u64,
    /// End of the program, nanoseconds of `CLOCK_MONOTONIC`; in an imported trial the time of its
    /// last sample, 0 without samples.
    pub end_ns: u64,
    /// Exit status of the program; `null` when it never started, or when an imported file does not
    /// contain it.
    pub exit: Option<Exit>,
    /// Resource use of the program; `null` when it never started, and in an imported trial.
    pub resources: Option<ResourceUse>,
    /// Phases of the trial. If empty, the whole run of the program is the measurement window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseMark>,
    /// Metrics of the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricValue>,
    /// Curves of the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
    /// Histograms of the trial, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, TrialHistogram>,
    /// Heat maps of the trial, by name of the quantity.
    #[serde(default, alias = "heats", skip_serializing_if = "BTreeMap::is_empty")]
    pub heat_maps: BTreeMap<String, Heat>,
    /// Result of the output validation.
    pub validation: ValidationResult,
    /// Size of the standard output.
    pub stdout: StreamSummary,
    /// Size of the standard error.
    pub stderr: StreamSummary,
    /// Reports of the observers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<ObserverReport>,
    /// Facts of the system that changed since the start of the run: path → new value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: BTreeMap<String, String>,
    /// Sentences that the workload or assay left for the reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Observations that support or weaken the trial's numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Observation>,
    /// Findings of the checks on this evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Metrics that were renamed: the current name, and the name in records of earlier versions.
const FORMER: [(&str, &str); 3] = [
    ("huge_page_coverage", "large_share"),
    ("hit_ratio", "hit_share"),
    ("timed_out", "unanswered"),
];

impl TrialRecord {
    /// Creates the record of a trial that has just begun, given the time of day and the nanoseconds
    /// of `CLOCK_MONOTONIC`. Its outcome is `Failed` until the trial ends.
    pub fn blank(planned: &PlannedTrial, attempt: u32, started_at: String, start_ns: u64) -> Self {
        TrialRecord {
            schema_version: SCHEMA_VERSION,
            number: planned.number,
            attempt,
            block: planned.block,
            treatment: planned.treatment,
            warmup: planned.warmup,
            build: planned.build,
            host: planned.host.clone(),
            params: planned.params.clone(),
            started_at,
            start_ns,
            end_ns: start_ns,
            ..TrialRecord::default()
        }
    }

    /// Returns the value of a metric; in a record of an earlier version, under its former name.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let of = |name: &str| self.metrics.iter().find(|m| m.name == name);
        let former = || FORMER.iter().find(|(now, _)| *now == name).and_then(|(_, then)| of(then));
        of(name).or_else(former).and_then(|m| m.value)
    }

    pub fn curve(&self, name: &str) -> Option<&Curve> {
        self.curves.iter().find(|c| c.name == name)
    }

    /// Returns true if the trial's numbers count: it is completed and not a warm-up.
    pub fn counts(&self) -> bool {
        self.outcome == TrialOutcome::Completed && !self.warmup
    }

    /// Returns the measurement window, `(from, to)` in nanoseconds of `CLOCK_MONOTONIC`: the steady
    /// phase, or the whole run of the program when it reported no phases.
    pub fn window(&self) -> (u64, u64) {
        let steady = self.phases.iter().position(|p| p.phase == Phase::Steady);
        match steady {
            Some(i) => {
                (self.phases[i].t_ns, self.phases.get(i + 1).map_or(self.end_ns, |next| next.t_ns))
            }
            None => (self.start_ns, self.end_ns),
        }
    }
}
