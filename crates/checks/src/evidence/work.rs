//! Evidence about the work of a treatment: load, output, limits, suites and percentiles.

use std::collections::{BTreeMap, BTreeSet};

/// The work that a treatment did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    /// Identity of the input: a hash, or the workload's name if it makes its own input.
    pub input: Option<String>,
    /// Fixed parameters of the workload; empty if it takes none or `input` includes them.
    pub parameters: BTreeMap<String, String>,
    /// Seed of the input; `none` if nothing is drawn at random.
    pub seed: Option<String>,
    /// Mix of requests; `none` if there is one kind.
    pub mix: Option<String>,
    /// Mean number of operations per trial.
    pub operations: Option<f64>,
    /// Exit codes of the trials that count: `1, 2`; `None` if no trial counts.
    pub exits: Option<String>,
    /// State of the caches at the start.
    pub cache: Option<CacheStart>,
    /// Quantity that is equal in all treatments: work or time.
    pub timing: Option<WorkTiming>,
}

/// State of the caches at the start of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheStart {
    /// Emptied before the trial.
    Cold,
    /// Filled before the trial.
    Warm,
    /// As the previous trial left them, in random order.
    AsLeft,
}

/// Quantity that is equal in all treatments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkTiming {
    /// Equal operations; their time is measured.
    EqualWork,
    /// Equal time; the operations are counted.
    EqualTime,
}

/// Verification of the output of a treatment's trials.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputEvidence {
    /// Trials that ran to their end, including those with wrong output.
    pub trials: u32,
    /// Trials whose output was checked and wrong.
    pub wrong: u32,
    /// Message of the check about the first wrong trial (`trial 3: 16 timed out`); empty if none.
    pub message: String,
    /// Counting trials whose output was not checked beyond the exit code.
    pub unchecked: u32,
    /// Counting trials of unknown verification (imported ones).
    pub unknown: u32,
    /// Failed or repeated operations in the counting trials; `None` if the workload does not count
    /// them.
    pub errors: Option<u64>,
}

/// Resource that limited a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limiter {
    /// Statement of the limiting resource; empty if none is made.
    pub statement: String,
    /// Results with the physical ceilings that they cannot exceed.
    pub ceilings: Vec<Ceiling>,
}

/// A result with its physical ceiling, in the same unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// Name of the ceiling (`network line rate`).
    pub what: String,
    /// Value that was reached.
    pub reached: f64,
    pub ceiling: f64,
}

/// The load generator of a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generator {
    /// Share of its CPUs that it used, 0 to 1.
    pub cpu_share: Option<f64>,
    /// Share of its network interface that it used, 0 to 1 (0 over loopback).
    pub network_share: Option<f64>,
    /// True if it ran on the machine under test.
    pub same_host: Option<bool>,
    /// True if generator and system under test were pinned to separate CPUs.
    pub pinned_apart: Option<bool>,
    /// Configuration of the generator in one line.
    pub config: Option<String>,
}

/// Rule by which warm-up was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmupRule {
    /// No cut: a trial is measured from its start.
    None,
    /// A fixed number of blocks or seconds, not derived from the data.
    Fixed(u32),
    /// A fixed number of blocks or seconds that a test found sufficient.
    FixedAndTested(u32),
    /// Detected in the data by a test.
    Detected,
}

/// Statistic that summarises a treatment's trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    Mean,
    Geomean,
    Median,
    /// The smallest value of all trials.
    Minimum,
    /// The best of this number of trials.
    BestOf(u32),
}

/// A suite with its members.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SuiteEvidence {
    /// Every member by the suite's definition; empty if not recorded.
    pub manifest: Vec<String>,
    pub treatments: Vec<SuiteArm>,
    /// True if the members' values are shown next to the mean.
    pub members_shown: Option<bool>,
}

/// Results of one treatment in a suite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SuiteArm {
    pub label: String,
    /// Members that have a value.
    pub members: BTreeSet<String>,
    /// Reasons for missing values, by member.
    pub reasons: BTreeMap<String, String>,
    /// Ratio of the geometric means and ratio of the totals against the first treatment, more is
    /// better; `None` if a member of either treatment has no value.
    pub against_first: Option<(f64, f64)>,
}

/// Arrival process of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// Requests follow a schedule that does not wait for responses (open loop).
    Open,
    /// Each request follows the response to the one before (closed loop).
    Closed,
}

/// Method of combining the percentiles of several trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// Computed from merged histograms or samples.
    Histograms,
    /// Averaged over the trials.
    Averaged,
    /// One trial only, nothing to merge.
    One,
}

/// A percentile that is stated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PercentileEvidence {
    /// Name of the metric if a program computed the percentile; empty for a percentile of a
    /// histogram.
    pub metric: String,
    /// Quantile as a fraction (0.99).
    pub quantile: f64,
    pub load: Option<Loop>,
    /// True if it is stated as the latency that independently arriving users see.
    pub as_arrivals: Option<bool>,
    /// True if the time that a request waited to be sent counts in its latency.
    pub slips_charged: Option<bool>,
    /// Requests that were due while the generator waited; `None` if not counted.
    pub hidden: Option<u64>,
    /// Number of independent samples behind it.
    pub n_eff: Option<f64>,
    /// Method of combining trials.
    pub merge: Option<Merge>,
}
