//! The work a treatment did, how it was loaded, and what it can show.

use std::collections::{BTreeMap, BTreeSet};

/// The work of a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    /// What identifies the input: a hash, or the workload's name where it makes its own.
    pub input: Option<String>,
    /// Fixed parameters of the workload; empty: it takes none, or they are in `input`.
    pub parameters: BTreeMap<String, String>,
    /// The seed of the input; `none` where nothing is drawn.
    pub seed: Option<String>,
    /// The mix of requests; `none` where there is one kind.
    pub mix: Option<String>,
    /// Operations done per trial (mean).
    pub operations: Option<f64>,
    /// The exit codes of the trials that count: `1, 2`; `None` if no trial does.
    pub exits: Option<String>,
    /// Whether caches were cold or warm at the start.
    pub cache: Option<CacheStart>,
    /// Whether treatments do equal work and time differs, or the other way round.
    pub timing: Option<WorkTiming>,
}

/// The state of caches at the start of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheStart {
    /// Emptied before.
    Cold,
    /// Filled before.
    Warm,
    /// As the trial before left them, in random order.
    AsLeft,
}

/// What is held equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkTiming {
    /// The same operations, timed.
    EqualWork,
    /// The same time, operations counted.
    EqualTime,
}

/// Whether the output of a treatment's trials was right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputEvidence {
    /// Trials that ran to their end (wrong ones too).
    pub trials: u32,
    /// Of those, trials whose output was checked and wrong.
    pub wrong: u32,
    /// The check's message about the first of them (`trial 3: 16 timed out`); empty: none.
    pub message: String,
    /// Trials that count but whose output was not checked beyond the exit code.
    pub unchecked: u32,
    /// Trials that count and of which nobody knows whether their output was checked (imported ones).
    pub unknown: u32,
    /// Failed or repeated operations among the counted ones; `None`: not counted by the workload.
    pub errors: Option<u64>,
}

/// What limited a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limiter {
    /// The statement of what stops it from being faster; empty: none is made.
    pub statement: String,
    /// Results beside the physical ceilings they cannot pass.
    pub ceilings: Vec<Ceiling>,
}

/// A result beside a physical ceiling in the same unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// What it is (`network line rate`).
    pub what: String,
    /// What was reached.
    pub reached: f64,
    /// The ceiling.
    pub ceiling: f64,
}

/// The load generator of a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generator {
    /// The share of its CPUs that it used, 0 to 1.
    pub cpu_share: Option<f64>,
    /// The share of its network interface that it used, 0 to 1 (0 over the loopback).
    pub network_share: Option<f64>,
    /// Whether it ran on the machine under test.
    pub same_host: Option<bool>,
    /// Whether generator and system under test were pinned to CPUs apart.
    pub pinned_apart: Option<bool>,
    /// Its configuration in one line.
    pub config: Option<String>,
}

/// How warm-up was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmupRule {
    /// Nothing is cut: a trial is measured from its start.
    None,
    /// A fixed count or time, without a look at the data.
    Fixed(u32),
    /// A fixed count or time that a test found sufficient.
    FixedAndTested(u32),
    /// Found in the data by a test.
    Detected,
}

/// By which statistic a treatment's trials are summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// Geometric mean.
    Geomean,
    /// Median.
    Median,
    /// The smallest value.
    Minimum,
    /// The best of so many.
    BestOf(u32),
}

/// A suite with its members.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SuiteEvidence {
    /// Every member by the suite's definition; empty: not recorded.
    pub manifest: Vec<String>,
    /// Each treatment's results.
    pub treatments: Vec<SuiteArm>,
    /// Whether the members' values are shown beside the mean.
    pub members_shown: Option<bool>,
}

/// One treatment's results in a suite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SuiteArm {
    /// The treatment.
    pub label: String,
    /// The members that have a value.
    pub members: BTreeSet<String>,
    /// Why a member has no value, by member.
    pub reasons: BTreeMap<String, String>,
    /// Against the first treatment: the ratio of the geometric means and that of the totals, more is better;
    /// `None`: a member of one of them has no value.
    pub against_first: Option<(f64, f64)>,
}

/// How requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// On a schedule that does not wait for answers.
    Open,
    /// The next when the last is answered.
    Closed,
}

/// How percentiles of several trials are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// From merged histograms or samples.
    Histograms,
    /// Averaged.
    Averaged,
    /// One trial only, nothing to merge.
    One,
}

/// A percentile that is stated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PercentileEvidence {
    /// The metric, where a program computed it; empty: a percentile of a histogram.
    pub metric: String,
    /// The quantile as a fraction (0.99).
    pub quantile: f64,
    /// How requests were sent.
    pub load: Option<Loop>,
    /// Whether it is stated as what users who arrive on their own see.
    pub as_arrivals: Option<bool>,
    /// Whether time that a request waited to be sent counts in its latency.
    pub slips_charged: Option<bool>,
    /// Requests that were due while the generator waited; `None`: not counted.
    pub hidden: Option<u64>,
    /// Independent samples behind it.
    pub n_eff: Option<f64>,
    /// How trials were put together.
    pub merge: Option<Merge>,
}
