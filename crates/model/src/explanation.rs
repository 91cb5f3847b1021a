//! What differs along with a metric between two treatments of a run: every observation, with its
//! interval, ranked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparison, Interval};

/// A difference and what is known about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Treatment less baseline: the mean over blocks.
    pub difference: f64,
    /// Its interval (Student on the differences by block; of functions on those of the means); `null` below three.
    pub interval: Option<Interval>,
    /// How many blocks; of functions the trials of the side that has fewer.
    pub n: u32,
}

impl Change {
    /// Whether the interval leaves out zero; without an interval nobody knows.
    pub fn clear(&self) -> bool {
        self.interval.is_some_and(|i| !i.contains(0.0))
    }
}

/// One observation in both treatments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Where it comes from: a monitor's name, `resources`, `metric`, `syscalls`, `profile`.
    pub source: String,
    /// What was looked at (`all`, `vda`, a call, a function); empty for the whole.
    pub subject: String,
    /// Which quantity.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The mean over the baseline's trials.
    pub baseline: f64,
    /// The mean over the treatment's.
    pub treatment: f64,
    /// The difference, in `unit`.
    pub change: Change,
    /// The difference as a share of the time in the window, 0 to 1; `null` where the observation is no
    /// time and nothing is known of what it costs.
    pub of_time: Option<Change>,
    /// The difference in standard errors of itself; `null` without an interval, or where all blocks
    /// differ by the same.
    pub standard_errors: Option<f64>,
}

/// Parts of one whole, added up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// Each part: its name and its difference, in the order in which they were given.
    pub parts: Vec<(String, f64)>,
    /// All parts together.
    pub sum: f64,
}

impl Account {
    /// Of parts by name: baseline and treatment.
    pub fn of<'a>(parts: impl IntoIterator<Item = (&'a str, f64, f64)>) -> Self {
        let parts: Vec<(String, f64)> =
            parts.into_iter().map(|(name, a, b)| (name.to_owned(), b - a)).collect();
        let sum = parts.iter().map(|p| p.1).sum();
        Account { parts, sum }
    }

    /// The sum of the parts that are named, and of those that are left out.
    pub fn split(&self, named: &[&str]) -> (f64, f64) {
        let chosen: f64 =
            self.parts.iter().filter(|p| named.contains(&p.0.as_str())).map(|p| p.1).sum();
        (chosen, self.sum - chosen)
    }
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The baseline's label.
    pub baseline: String,
    /// The treatment's label.
    pub treatment: String,
    /// The metric that is to be explained.
    pub comparison: Comparison,
    /// The metric's change as a share of the baseline's time (a run that takes 3 % less: -0.03); `null`
    /// where the metric is neither a time nor a rate.
    pub time_change: Option<f64>,
    /// Every observation, those that differ most along with the metric first.
    pub observations: Vec<Observed>,
    /// Observations that were the same in every trial, and are not listed.
    pub unchanged: u32,
    /// Where shares of the time of the CPUs were seen in full: the parts that differ clearly, and what
    /// all of them give; `null` where they were not.
    pub account: Option<Account>,
    /// What the reader must know.
    pub notes: Vec<String>,
}
