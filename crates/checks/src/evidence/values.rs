//! Evidence about displayed values: numbers, percentiles, suites and denominators.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{Interval, MetricKind};

use super::{Derivation, OrderReversal};

/// A number that is displayed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NumberEvidence {
    /// The number in words (`throughput of server.threads=2`).
    pub what: String,
    /// The number as printed, without its unit (`1.05`); `None` if not yet printed.
    pub printed: Option<String>,
    /// The value recomputed from unrounded inputs, in the printed unit.
    pub exact: Option<f64>,
    /// The value's interval in the printed unit.
    pub interval: Option<Interval>,
    /// True if every repetition gives the same value (a size, a count of instructions).
    pub deterministic: bool,
    /// Kind of the number: measured, derived, estimated or quoted.
    pub kind: Option<MetricKind>,
    /// True if the kind is printed next to the number.
    pub labelled: bool,
    /// Presentation of a derived number; `None` if it is not derived.
    pub derivation: Option<Derivation>,
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

/// Denominators of the values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DenominatorEvidence {
    /// Claimed denominator (`core`); empty for totals.
    pub claimed: String,
    /// Claimed denominator in words (`per core`, `in total`).
    pub words: String,
    /// Systems, if values are divided.
    pub systems: Vec<DenominatorSystem>,
    /// True if an order is known under two or more denominators.
    pub several: bool,
    /// Pairs of systems whose order reverses under another denominator.
    pub flips: Vec<OrderReversal>,
    /// True if the table over all denominators is shown.
    pub matrix_shown: bool,
}

/// Amount of the denominator in one system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DenominatorSystem {
    pub label: String,
    /// Amount of the denominator; `None` if not recorded.
    pub count: Option<f64>,
    /// True if the count was not printed but follows from another number.
    pub inferred: bool,
    /// Basis of a count of cores, chips or threads; `None` if not stated.
    pub basis: Option<Basis>,
}

/// Basis of a count of cores, chips or threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// All that are fitted in the machine.
    Installed,
    /// All that are switched on.
    Enabled,
    /// Those that the run used.
    Used,
}

assay_model::names! {
    pub Basis::name: Installed = "installed", Enabled = "enabled", Used = "used"
}
