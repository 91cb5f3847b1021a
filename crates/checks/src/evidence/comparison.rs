//! Evidence about comparisons: their results, the order of the trials, and the claims on them.

use assay_model::{Interval, Method, Order, Verdict};

/// Comparison of a treatment with the baseline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComparisonEvidence {
    pub label: String,
    /// Number of pairs; for unpaired designs, trials of the smaller treatment.
    pub n: Option<u32>,
    /// Metric of the treatment divided by that of the baseline.
    pub ratio: Option<f64>,
    pub interval: Option<Interval>,
    /// Method that computed the interval.
    pub method: Option<Method>,
    /// Unit of replication of the interval.
    pub unit: Option<Unit>,
    /// Rank interval of the ratio, if there is one.
    pub sensitivity: Option<Interval>,
    /// Smallest ratio above 1 that the design detects.
    pub detectable: Option<f64>,
    /// Margin of equivalence as a fraction.
    pub margin: Option<f64>,
    pub verdict: Option<Verdict>,
    /// A sentence on how two methods disagree about the verdict, if they do.
    pub disputed: Option<String>,
    /// Ratio of the medians, if it was computed.
    pub median_ratio: Option<f64>,
}

/// Unit of replication behind an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Independent trials (or blocks of them).
    Trials,
    /// Samples or iterations inside trials.
    Samples,
}

/// Timeline of the trials.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    /// Trials ordered by start.
    pub trials: Vec<Scheduled>,
    /// Order within a block, if the design has blocks.
    pub order: Option<Order>,
}

/// Start, end and value of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheduled {
    /// Index into the evidence's treatments.
    pub treatment: usize,
    /// Start of the trial in seconds; all trials use the same clock.
    pub start_s: f64,
    /// End of the trial in seconds.
    pub end_s: f64,
    /// Value of the deciding metric.
    pub value: Option<f64>,
}

/// A claim with the quantities behind it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClaimEvidence {
    /// The claim in words.
    pub text: String,
    /// The kind of statement.
    pub verb: Option<Verb>,
    /// The claimed ratio, better / worse (1.05 for 5 % better).
    pub ratio: Option<f64>,
    /// True if the claim is about peak (steady) performance.
    pub of_peak: Option<bool>,
    /// For a rank: the population.
    pub population: Option<String>,
    /// Date on which the claim is true.
    pub as_of: Option<String>,
    /// True if both absolute values with units are shown next to the ratio.
    pub absolutes_shown: Option<bool>,
    /// For a speed-up: the base case (one core of the same code, the best serial code).
    pub speedup_base: Option<String>,
    /// True if the claim is a speed-up.
    pub is_speedup: Option<bool>,
}

/// The kind of statement behind a number of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A rank in a population.
    Best,
    /// A ratio, with wording that follows from it.
    States,
}
