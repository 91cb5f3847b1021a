//! How a comparison was designed, computed and stopped.

use assay_model::{Interval, Method, Order, Verdict};

/// What an interval was computed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Independent trials (or blocks of them).
    Trials,
    /// Samples or iterations inside trials.
    Samples,
}

/// A treatment against the baseline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComparisonEvidence {
    /// The treatment's label.
    pub label: String,
    /// Pairs, or the smaller treatment when unpaired.
    pub n: Option<u32>,
    /// treatment / baseline.
    pub ratio: Option<f64>,
    /// The interval of the ratio.
    pub interval: Option<Interval>,
    /// How the interval was made.
    pub method: Option<Method>,
    /// What the interval was computed over.
    pub unit: Option<Unit>,
    /// The interval by the rank method, where there is one.
    pub sensitivity: Option<Interval>,
    /// The smallest ratio above 1 that the design finds.
    pub detectable: Option<f64>,
    /// The margin as a fraction.
    pub margin: Option<f64>,
    /// What the comparison says.
    pub verdict: Option<Verdict>,
    /// How two methods disagree on the verdict, as a sentence, where they do.
    pub disputed: Option<String>,
    /// The ratio of medians, where it was computed.
    pub median_ratio: Option<f64>,
}

/// When a trial ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheduled {
    /// The treatment, an index into the evidence's treatments.
    pub treatment: usize,
    /// When it started, seconds of any one clock.
    pub start_s: f64,
    /// When it ended.
    pub end_s: f64,
    /// Its value in the deciding metric.
    pub value: Option<f64>,
}

/// When the trials ran, in which order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    /// The trials in order of time.
    pub trials: Vec<Scheduled>,
    /// The order within a block, where the design had blocks.
    pub order: Option<Order>,
}

/// A comparison of identical code.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SelfComparison {
    /// How old it is, days.
    pub age_days: Option<f64>,
    /// How old it may be, days.
    pub policy_days: f64,
    /// By how much identical code differed, as a ratio above 1 (the 95th percentile).
    pub floor: Option<f64>,
    /// Whether it was on the same host with the same schedule and workload.
    pub alike: Option<bool>,
}

/// How many comparisons were made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Multiplicity {
    /// Tests that could have become the headline.
    pub tests: u32,
    /// The correction (`Holm`); `None`: none.
    pub correction: Option<String>,
    /// Whether the headline is the best of them.
    pub headline_is_best: Option<bool>,
}

/// By which rule sampling stopped.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stopping {
    /// The rule as a sentence; `None`: there is none.
    pub rule: Option<String>,
    /// Whether it was registered before the first trial.
    pub registered_before: Option<bool>,
    /// How often the data were looked at before the end.
    pub looks: u32,
    /// Whether the limits allow for the looks.
    pub adjusted: Option<bool>,
    /// Whether sampling ended because a difference had become significant.
    pub ended_on_significance: Option<bool>,
    /// Whether a person ended it, who had seen the running estimate.
    pub by_hand: bool,
}

/// A trial that was started and is not in the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedTrial {
    /// The trial's number.
    pub trial: u32,
    /// The logged cause or the rule fixed before; `None`: there is none.
    pub reason: Option<String>,
    /// Whether the cause was the trial's own failure, which may depend on the treatment.
    pub failed: bool,
}

/// What the ledger says of trials that are not in the result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exclusions {
    /// Trials that were started (warm-ups not counted).
    pub started: u32,
    /// Those that are not in the result.
    pub excluded: Vec<ExcludedTrial>,
    /// The ratio with them, where it could be computed.
    pub ratio_with_them: Option<f64>,
}

/// What a mean is taken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeanOf {
    /// Scores divided by a reference.
    NormalisedScores,
    /// Rates over equal work.
    RatesOverEqualWork,
    /// Times or other amounts.
    Amounts,
    /// Ratios, where a ratio of totals is claimed.
    RatiosForTotals,
}

/// A mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeanOperator {
    /// Σx / n.
    Arithmetic,
    /// exp(Σ ln x / n).
    Geometric,
    /// n / Σ(1/x).
    Harmonic,
    /// Ratio of sums.
    RatioOfTotals,
}

/// A mean that is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanUse {
    /// Which number.
    pub what: String,
    /// Of what; `None`: rates, and nobody recorded whether over equal work or equal time.
    pub of: Option<MeanOf>,
    /// How.
    pub operator: MeanOperator,
}
