//! Results of a suite: every member, the geometric mean, the ratio of totals.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparison, Interval, Scalar};

/// The results of a suite: one score for each combination of the other factors' levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteResults {
    /// Factor whose levels are the members.
    pub member: String,
    /// Metric that is averaged, a ratio to a reference.
    pub metric: String,
    /// Scores of the suite, the baseline's first.
    pub scores: Vec<SuiteScore>,
    /// Comparisons of each other score with the first.
    pub comparisons: Vec<SuiteComparison>,
}

/// One score and the members that it is computed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteScore {
    /// Label of the levels of the other factors; `-` when there are no other factors.
    pub label: String,
    /// Levels of the other factors.
    pub levels: BTreeMap<String, Scalar>,
    /// Members of the suite in this run, in the order of the plan.
    pub members: Vec<SuiteMember>,
    /// Geometric mean of the members' ratios; `null` unless every member has one.
    pub geomean: Option<f64>,
    /// Interval of the mean over blocks of the geometric mean (Student's t on logs), widened where
    /// it does not contain the score, which is computed from medians; `null` below three blocks in
    /// which every member has a trial that counts.
    pub interval: Option<Interval>,
    /// Geometric mean in each block; `null` for a block in which a member has no value.
    pub blocks: Vec<Option<f64>>,
    /// Sum of the members' times, seconds; `null` unless every member has one.
    pub total_s: Option<f64>,
}

/// One member of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteMember {
    /// Name of the member.
    pub name: String,
    /// Id of the treatment that ran it.
    pub treatment: u32,
    /// Ratio that counts: the median of the trials' ratios, the lower one of two trials.
    pub ratio: Option<f64>,
    /// Time that counts: the median of the trials' times, the slower one of two trials; seconds.
    pub time_s: Option<f64>,
    /// Number of trials that it is chosen from.
    pub n: u32,
    /// True if a trial of the member gave wrong output: then the member has no ratio, and the suite
    /// no mean.
    pub wrong: bool,
}

/// Comparison of one score with the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteComparison {
    /// Index of the score in `scores`.
    pub score: usize,
    /// Ratio of the geometric means with its interval, paired by block; its `baseline` and
    /// `treatment` are indices of scores.
    pub geomean: Comparison,
    /// Total time of the first score / total time of this one, so that more is better.
    pub totals: Option<f64>,
    /// Member with the highest ratio of ratios, and that ratio.
    pub best: Option<(String, f64)>,
    /// Member with the lowest ratio of ratios, and that ratio.
    pub worst: Option<(String, f64)>,
    /// True if the ratio of geometric means and the ratio of totals lie on different sides of 1.
    pub means_disagree: bool,
}
