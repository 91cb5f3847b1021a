//! The record of a trial: everything that is kept about one execution of the workload.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Finding, Heat, Kind, MetricValue, Observation, Phase, PlannedTrial, SCHEMA_VERSION, Scalar,
    TrialHistogram,
};

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It ran, and its output validated (or there was nothing to validate: see `validation`).
    Completed,
    /// A part of it failed: a control did not take, preparation failed, or the program exited with
    /// a failure.
    Failed,
    /// Its output was wrong. Its numbers do not count.
    Invalid,
    /// It ran past its time and was ended.
    TimedOut,
    /// A person or a signal ended it.
    Interrupted,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// Whether it returned 0.
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }
}

/// When a phase began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseMark {
    /// Which.
    pub phase: Phase,
    /// When, nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
}

/// Points that belong together: one value at each of several x. Points keep the order of measuring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// Its name (`throughput`).
    pub name: String,
    /// What x is (`rate`); empty: a size where its unit is bytes, else not stated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub x_name: String,
    /// Unit of x.
    pub x_unit: String,
    /// Unit of the values.
    pub unit: String,
    /// Where the values come from.
    #[serde(default)]
    pub kind: Kind,
    /// `[x, value]`, in the order in which they were measured.
    pub points: Vec<[f64; 2]>,
}

/// What the process tree of a trial used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceUse {
    /// From just before the start of the program to its end, seconds of `CLOCK_MONOTONIC`.
    pub wall_s: f64,
    /// CPU time in user mode of the program and the children it waited for, seconds.
    pub user_s: f64,
    /// CPU time in the kernel, seconds.
    pub system_s: f64,
    /// The largest resident set of any one of its processes, bytes; `null` when it was no larger
    /// than assay's own at the start (the kernel counts that one in, so nothing is known).
    pub peak_memory_bytes: Option<u64>,
    /// Major page faults.
    pub major_faults: u64,
    /// Minor page faults.
    pub minor_faults: u64,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because something else ran.
    pub involuntary_switches: u64,
    /// What all its processes used together, where a control (`memory`, `storage` with limits) put them in a control
    /// group of version 2; `null`: they were in none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupUse>,
}

/// What the processes of a control group used together, also those that nobody waited for. `null`: the kernel does not
/// tell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GroupUse {
    /// CPU time in user mode, seconds.
    pub user_s: Option<f64>,
    /// CPU time in the kernel, seconds.
    pub system_s: Option<f64>,
    /// The most memory at any moment, bytes: of all processes together, the page cache of their files among it (Linux
    /// 5.19 and later).
    pub peak_memory_bytes: Option<u64>,
    /// Bytes read from block devices.
    pub read_bytes: Option<u64>,
    /// Bytes written to block devices, also those that the kernel wrote back for them.
    pub written_bytes: Option<u64>,
    /// How long some of its tasks waited for a CPU (pressure), seconds.
    pub waited_for_cpu_s: Option<f64>,
    /// For memory.
    pub waited_for_memory_s: Option<f64>,
    /// For I/O.
    pub waited_for_io_s: Option<f64>,
}

/// What happened to an output stream of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StreamSummary {
    /// Bytes that the program wrote.
    pub bytes: u64,
    /// Bytes kept in the log; fewer than `bytes` when the middle was left out.
    pub kept: u64,
}

/// What validation found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum ValidationResult {
    /// The output was checked and right.
    Passed {
        /// What was checked.
        detail: String,
    },
    /// The output was checked and wrong.
    Failed {
        /// What was wrong.
        detail: String,
    },
    /// The workload has no check beyond its exit code.
    ExitCodeOnly,
    /// It never came to a check.
    NotReached,
}

/// What an observer did during a trial, and what it could not see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverReport {
    /// The observer's name.
    pub observer: String,
    /// How many rows it wrote for this trial.
    pub samples: u64,
    /// What it could not see and why; empty when it saw everything it looks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_seen: Vec<String>,
}

/// Everything kept about a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// The version of this format.
    pub schema_version: u32,
    /// The trial's number in the plan, from 1.
    pub number: u32,
    /// Which attempt at that number, from 1; a resumed run tries interrupted trials again.
    pub attempt: u32,
    /// Its block, from 0.
    pub block: u32,
    /// Its treatment's id.
    pub treatment: u32,
    /// Whether it is a warm-up.
    pub warmup: bool,
    /// The build of its revision that ran, from 1, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<u32>,
    /// The parameters that took the place of its treatment's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Scalar>,
    /// How it ended.
    pub outcome: Outcome,
    /// What went wrong, as a sentence; empty when nothing did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// When it started: ISO 8601, UTC; empty in an imported trial whose file does not tell.
    pub started_at: String,
    /// When the program was started, nanoseconds of `CLOCK_MONOTONIC`; 0 in an imported trial,
    /// which is on no clock of ours.
    pub start_ns: u64,
    /// When it ended, nanoseconds of `CLOCK_MONOTONIC`; in an imported trial the time of its last
    /// sample, 0 without samples.
    pub end_ns: u64,
    /// How the program ended; `null` when it never started, or when an imported file does not tell.
    pub exit: Option<Exit>,
    /// What it used; `null` when it never started, and in an imported trial.
    pub resources: Option<ResourceUse>,
    /// Its phases. None: the whole run of the program is the measurement window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseMark>,
    /// Its metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricValue>,
    /// Its curves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
    /// Its histograms, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, TrialHistogram>,
    /// How often values occurred over time, by what they are.
    #[serde(default, alias = "heats", skip_serializing_if = "BTreeMap::is_empty")]
    pub heat_maps: BTreeMap<String, Heat>,
    /// What validation found.
    pub validation: ValidationResult,
    /// Its standard output.
    pub stdout: StreamSummary,
    /// Its standard error.
    pub stderr: StreamSummary,
    /// What the observers did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<ObserverReport>,
    /// Facts of the system that were not as described at the start of the run: path → now.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: BTreeMap<String, String>,
    /// Sentences that the workload or assay left for the reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was seen that speaks for or against its numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Observation>,
    /// What the checks found in that about this trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Metrics that have another name now than records of earlier versions give them: the name now, and then.
const FORMER: [(&str, &str); 3] = [
    ("huge_page_coverage", "large_share"),
    ("hit_ratio", "hit_share"),
    ("timed_out", "unanswered"),
];

impl TrialRecord {
    /// A record of a trial of which nothing is known yet but when it began: the time of day, and ns of
    /// `CLOCK_MONOTONIC`.
    pub fn blank(planned: &PlannedTrial, attempt: u32, started_at: String, start_ns: u64) -> Self {
        TrialRecord {
            schema_version: SCHEMA_VERSION,
            number: planned.number,
            attempt,
            block: planned.block,
            treatment: planned.treatment,
            warmup: planned.warmup,
            build: planned.build,
            params: planned.params.clone(),
            outcome: Outcome::Failed,
            error: String::new(),
            started_at,
            start_ns,
            end_ns: start_ns,
            exit: None,
            resources: None,
            phases: Vec::new(),
            metrics: Vec::new(),
            curves: Vec::new(),
            histograms: BTreeMap::new(),
            heat_maps: BTreeMap::new(),
            validation: ValidationResult::NotReached,
            stdout: StreamSummary::default(),
            stderr: StreamSummary::default(),
            observers: Vec::new(),
            changed: BTreeMap::new(),
            notes: Vec::new(),
            evidence: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// The value of a metric, if it was measured; in a record of an earlier version, under the name it had then.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let of = |name: &str| self.metrics.iter().find(|m| m.name == name);
        let former = || FORMER.iter().find(|(now, _)| *now == name).and_then(|(_, then)| of(then));
        of(name).or_else(former).and_then(|m| m.value)
    }

    /// The curve of that name.
    pub fn curve(&self, name: &str) -> Option<&Curve> {
        self.curves.iter().find(|c| c.name == name)
    }

    /// Whether its numbers count: completed, and not a warm-up.
    pub fn counts(&self) -> bool {
        self.outcome == Outcome::Completed && !self.warmup
    }

    /// The measurement window, `(from, to)` in nanoseconds of `CLOCK_MONOTONIC`: the steady phase,
    /// or the whole run of the program when it reported no phases.
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
