//! Summaries and comparisons: a ratio between treatments with its interval and verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Better;

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Its confidence level, such as 0.95.
    pub level: f64,
}

impl Interval {
    /// Whether `x` lies in it, ends included.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}

/// How an interval was made.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// How many trials.
    pub n: u32,
    /// Arithmetic mean; `null` when there is no trial.
    pub mean: Option<f64>,
    /// Geometric mean; `null` when a value is not positive.
    pub geomean: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Sample standard deviation (n - 1); `null` below two trials.
    pub stddev: Option<f64>,
    /// Interval of the geometric mean (Student on logs); of the mean when a value is not positive;
    /// `null` below three trials.
    pub interval: Option<Interval>,
}

/// What a comparison may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The interval lies on the better side of 1 (beyond the margin where one is asked for).
    Better,
    /// The interval lies on the worse side of 1 (beyond the margin where one is asked for).
    Worse,
    /// Both one-sided tests lie inside the margin.
    Equivalent,
    /// The data cannot tell.
    Inconclusive,
    /// The sides were measured in different runs, and nothing says how far runs differ by themselves.
    #[serde(rename = "not established")]
    NotEstablished,
    /// The numbers do not count.
    Invalid,
}

impl Verdict {
    /// The verdict's word.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotEstablished => "not established",
            Verdict::Invalid => "invalid",
        }
    }
}

/// A treatment against the baseline in one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The baseline's treatment id.
    pub baseline: u32,
    /// The treatment's id.
    pub treatment: u32,
    /// How many pairs (blocks), or the smaller sample when unpaired.
    pub n: u32,
    /// treatment / baseline: the ratio of geometric means; `null` when it cannot be had.
    pub ratio: Option<f64>,
    /// Its interval by the default method; `null` when n does not carry one.
    pub interval: Option<Interval>,
    /// The default method.
    pub method: Method,
    /// The interval of the sensitivity check; `null` below six pairs (or four and four).
    #[serde(alias = "twin")]
    pub sensitivity: Option<Interval>,
    /// The sensitivity check's method.
    #[serde(alias = "twin_method")]
    pub sensitivity_method: Method,
    /// The smallest ratio above 1 that a design of this n and noise finds in 80 of 100 repeats;
    /// `null` below three pairs.
    pub detectable: Option<f64>,
    /// The margin, as a fraction (0.02 for 2 %), where one was asked for.
    pub margin: Option<f64>,
    /// What it says.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub reason: String,
}
