//! Summaries and comparisons: a ratio between treatments with its interval and verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Better;

/// A confidence interval of a mean or ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level, such as 0.95.
    pub level: f64,
}

impl Interval {
    /// Returns true if `x` lies in the interval, ends included.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}

/// Statistical method that produced an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Student's t on the log ratios of paired blocks.
    PairedT,
    /// Walsh averages of the log ratios of paired blocks, exact signed-rank quantile.
    SignedRank,
    /// Welch's t on logs of two independent samples.
    Welch,
    /// Hodges-Lehmann shift of logs, exact Mann-Whitney quantile.
    RankSum,
    /// Student's t on the logs of one sample.
    OneSampleT,
}

/// The summary of one treatment's trials in one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
pub struct Summary {
    /// Number of trials that count.
    pub n: u32,
    /// Arithmetic mean; `null` when there is no trial.
    pub mean: Option<f64>,
    /// Geometric mean; `null` when a value is not positive.
    pub geomean: Option<f64>,
    /// Median of the trials.
    pub median: Option<f64>,
    /// Smallest value of a trial.
    pub min: Option<f64>,
    /// Largest value of a trial.
    pub max: Option<f64>,
    /// Sample standard deviation (n - 1); `null` below two trials.
    pub stddev: Option<f64>,
    /// Interval of the geometric mean (Student's t on logs), or of the arithmetic mean when a value
    /// is not positive; `null` below three trials.
    pub interval: Option<Interval>,
}

/// Conclusion of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The interval lies on the better side of 1 (beyond the margin, if one was requested).
    Better,
    /// The interval lies on the worse side of 1 (beyond the margin, if one was requested).
    Worse,
    /// Two one-sided tests place the ratio within the margin.
    Equivalent,
    /// The data do not decide.
    Inconclusive,
    /// The sides were measured in different runs, and it is unknown how far runs differ without a
    /// change.
    #[serde(rename = "not established")]
    NotEstablished,
    /// The numbers must not be used.
    Invalid,
}

crate::names! {
    pub Verdict::name: Better = "better", Worse = "worse", Equivalent = "equivalent",
        Inconclusive = "inconclusive", NotEstablished = "not established", Invalid = "invalid"
}

/// Comparison of a treatment with the baseline in one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the metric.
    pub metric: String,
    /// Unit of the metric.
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Id of the baseline treatment.
    pub baseline: u32,
    /// Id of the treatment.
    pub treatment: u32,
    /// Number of pairs (blocks), or the size of the smaller sample when unpaired.
    pub n: u32,
    /// Ratio of geometric means, treatment / baseline; `null` when it cannot be computed.
    pub ratio: Option<f64>,
    /// Interval of the ratio by the default method; `null` when n is too small for one.
    pub interval: Option<Interval>,
    /// Default method of the interval.
    pub method: Method,
    /// Interval of the sensitivity check; `null` below six pairs (or four and four trials).
    #[serde(alias = "twin")]
    pub sensitivity: Option<Interval>,
    /// Method of the sensitivity check.
    #[serde(alias = "twin_method")]
    pub sensitivity_method: Method,
    /// Smallest ratio above 1 that a design with this n and this noise detects in 80 of 100
    /// repeats; `null` below three pairs.
    pub detectable: Option<f64>,
    /// Margin as a fraction (0.02 for 2 %), if one was requested.
    pub margin: Option<f64>,
    /// Verdict of the comparison.
    pub verdict: Verdict,
    /// Reason for the verdict, as a sentence.
    pub reason: String,
}
