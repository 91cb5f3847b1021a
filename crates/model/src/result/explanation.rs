//! Explanation of a difference between two treatments of a run: every observation that differs
//! along with the metric, with its interval, ranked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparison, Interval};

/// A difference between two treatments, with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreatmentChange {
    /// Difference treatment - baseline, as the mean over blocks.
    pub difference: f64,
    /// Interval of the difference (Student's t on the differences by block; for functions, on the
    /// difference of the means); `null` below three blocks.
    pub interval: Option<Interval>,
    /// Number of blocks; for functions, the number of trials of the smaller side.
    pub n: u32,
}

impl TreatmentChange {
    /// Returns true if the interval excludes zero; false without an interval.
    pub fn clear(&self) -> bool {
        self.interval.is_some_and(|i| !i.contains(0.0))
    }
}

/// One observation, made in both treatments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Source of the observation: a monitor's name, `resources`, `metric`, `syscalls`, `profile`.
    pub source: String,
    /// Observed object (`all`, `vda`, a system call, a function); empty for the whole.
    pub subject: String,
    /// Name of the quantity.
    pub name: String,
    /// Unit of the quantity.
    pub unit: String,
    /// Mean over the baseline's trials.
    pub baseline: f64,
    /// Mean over the treatment's trials.
    pub treatment: f64,
    /// Difference between the means, in `unit`.
    pub change: TreatmentChange,
    /// Difference as a share of the time in the measurement window, 0 to 1; `null` where the
    /// observation is not a time and its cost in time is unknown.
    pub of_time: Option<TreatmentChange>,
    /// Difference in units of its standard error; `null` without an interval, or where all blocks
    /// differ by the same amount.
    pub standard_errors: Option<f64>,
}

/// Differences of the parts of one whole, and their sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// Name and difference of each part, in the given order.
    pub parts: Vec<(String, f64)>,
    /// Sum of all parts.
    pub sum: f64,
}

impl Account {
    /// Builds an account of parts given as name, baseline and treatment.
    pub fn from_parts<'a>(parts: impl IntoIterator<Item = (&'a str, f64, f64)>) -> Self {
        let parts: Vec<(String, f64)> =
            parts.into_iter().map(|(name, a, b)| (name.to_owned(), b - a)).collect();
        let sum = parts.iter().map(|p| p.1).sum();
        Account { parts, sum }
    }
}

/// Explanation of the difference between two treatments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Label of the baseline.
    pub baseline: String,
    /// Label of the treatment.
    pub treatment: String,
    /// Comparison of the treatments in the metric to be explained.
    pub comparison: Comparison,
    /// Change of the metric as a share of the baseline's time (a run that takes 3 % less: -0.03);
    /// `null` where the metric is neither a time nor a rate.
    pub time_change: Option<f64>,
    /// All observations; those that differ most along with the metric come first.
    pub observations: Vec<Observed>,
    /// Number of observations that were the same in every trial and are not listed.
    pub unchanged: u32,
    /// Account of CPU time, where its shares were observed in full: the parts that differ clearly,
    /// and the sum of all; otherwise `null`.
    pub account: Option<Account>,
    /// Notes that the reader must know.
    pub notes: Vec<String>,
}
