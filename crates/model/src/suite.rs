//! What the trials of a suite say together: every member, the geometric mean, the ratio of totals.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparison, Interval, Scalar};

/// The results of a suite: one score for each combination of the other factors' levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteResults {
    /// The factor whose levels are the members.
    pub member: String,
    /// The metric that is averaged, a ratio to a reference.
    pub metric: String,
    /// The scores, the baseline's first.
    pub scores: Vec<SuiteScore>,
    /// Each other score against the first.
    pub comparisons: Vec<SuiteComparison>,
}

/// One score with everything that it is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteScore {
    /// The levels of the other factors in words; `-` when there is none.
    pub label: String,
    /// The levels of the other factors.
    pub levels: BTreeMap<String, Scalar>,
    /// Every member of the run, in the order of the plan.
    pub members: Vec<SuiteMember>,
    /// The geometric mean of the members' ratios; `null` unless every member has one.
    pub geomean: Option<f64>,
    /// The interval of the mean over blocks of the geometric mean, Student's t on logs, widened where it
    /// does not hold the score, which is of medians; `null` below three blocks in which every member has a
    /// trial that counts.
    pub interval: Option<Interval>,
    /// The geometric mean in each block; `null` where a member has none.
    pub blocks: Vec<Option<f64>>,
    /// The members' times added up, seconds; `null` unless every member has one.
    pub total_s: Option<f64>,
}

/// One member of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteMember {
    /// Its name.
    pub name: String,
    /// The treatment that ran it.
    pub treatment: u32,
    /// The ratio that counts: the median of the trials', the lower of two.
    pub ratio: Option<f64>,
    /// The time that counts: the median of the trials', the slower of two; seconds.
    pub time_s: Option<f64>,
    /// How many trials it is chosen from.
    pub n: u32,
    /// Whether a trial of it gave wrong output: then it has no ratio, and the suite no mean.
    pub wrong: bool,
}

/// One score against the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteComparison {
    /// Which score, an index.
    pub score: usize,
    /// The ratio of the geometric means with its interval, paired by block; `baseline` and
    /// `treatment` are indices of scores here.
    pub geomean: Comparison,
    /// Total time of the first / total time of this one, so that more is better.
    pub totals: Option<f64>,
    /// The member with the highest ratio of ratios, and it.
    pub best: Option<(String, f64)>,
    /// The member with the lowest, and it.
    pub worst: Option<(String, f64)>,
    /// Whether geometric mean and totals lie on different sides of 1.
    pub means_disagree: bool,
}
