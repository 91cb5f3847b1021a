//! Evidence about the design of a run and its statistics.

/// The first trial of a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FirstTrial {
    /// Value of the deciding metric.
    pub value: Option<f64>,
    /// True if it was a warm-up.
    pub warmup: bool,
    /// Files that the trial wrote into its working folder.
    pub wrote: Vec<String>,
}

/// A trial that was started and is not in the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedTrial {
    /// Number of the trial.
    pub trial: u32,
    /// The logged cause, or the rule that was fixed in advance; `None` if there is neither.
    pub reason: Option<String>,
    /// True if the trial itself failed, which may depend on the treatment.
    pub failed: bool,
}

/// Trials in the ledger that are not in the result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exclusions {
    /// Trials that were started, without warm-ups.
    pub started: u32,
    pub excluded: Vec<ExcludedTrial>,
    /// Ratio with the excluded trials, if it could be computed.
    pub ratio_with_them: Option<f64>,
}

/// Number of comparisons made, and the correction for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Multiplicity {
    /// Tests that could have become the headline.
    pub tests: u32,
    /// Name of the correction (`Holm`); `None` without a correction.
    pub correction: Option<String>,
    /// True if the headline is the best of the tests.
    pub headline_is_best: Option<bool>,
}

/// Quantity that a mean averages.
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

/// Formula of a mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeanOperator {
    /// Arithmetic mean: Σx / n.
    Arithmetic,
    /// Geometric mean: exp(Σ ln x / n).
    Geometric,
    /// Harmonic mean: n / Σ(1/x).
    Harmonic,
    /// Sum of one side divided by the sum of the other.
    RatioOfTotals,
}

/// A mean that is displayed.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanUse {
    /// The displayed number in words.
    pub what: String,
    /// The averaged quantity; `None` for rates if it is not recorded that they are over equal work
    /// or equal time.
    pub of: Option<MeanOf>,
    pub operator: MeanOperator,
}

/// An A/A comparison: the same code measured as two treatments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SelfComparison {
    /// Age of the comparison in days.
    pub age_days: Option<f64>,
    /// Maximum allowed age in days.
    pub policy_days: f64,
    /// The A/A floor: the difference between identical treatments as a ratio above 1 (95th
    /// percentile).
    pub floor: Option<f64>,
    /// True if it ran on the same host with the same schedule and workload.
    pub alike: Option<bool>,
}

/// The rule that ended sampling.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoppingRule {
    /// The rule as a sentence; `None` if there is no rule.
    pub rule: Option<String>,
    /// True if the rule was registered before the first trial.
    pub registered_before: Option<bool>,
    /// Number of interim looks at the data.
    pub looks: u32,
    /// True if the limits allow for the interim looks.
    pub adjusted: Option<bool>,
    /// True if sampling ended because a difference had become significant.
    pub ended_on_significance: Option<bool>,
    /// True if a person who had seen the running estimate ended it.
    pub by_hand: bool,
}
