//! The sentence that compares.

use super::Scope;

/// What a claim says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Faster, more, better.
    Better,
    /// Slower, less, worse.
    Worse,
    /// Same, no overhead, no regression.
    Same,
    /// Best, record, number one: a place in a population.
    Best,
    /// A number without a comparison.
    States,
}

/// The kind of ratio behind a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioKind {
    /// Of throughputs or other rates.
    Throughput,
    /// Of times.
    Time,
    /// Of something else that the claim names.
    Other,
}

/// A claim with what stands behind it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClaimEvidence {
    /// The sentence.
    pub text: String,
    /// What it says.
    pub verb: Option<Verb>,
    /// Which ratio it states; `None`: the sentence does not tell time from throughput.
    pub ratio_kind: Option<RatioKind>,
    /// The claimed ratio, better / worse (1.05 for 5 % better).
    pub ratio: Option<f64>,
    /// What it speaks of.
    pub scope: Option<Scope>,
    /// What the workloads behind it are.
    pub evidence_scopes: Vec<Scope>,
    /// Whether it speaks of peak (steady) performance.
    pub of_peak: Option<bool>,
    /// For `best` and `record`: among which population.
    pub population: Option<String>,
    /// The date that it is true of.
    pub as_of: Option<String>,
    /// For `up to`: whether the distribution stands beside it.
    pub distribution_shown: Option<bool>,
    /// Whether both absolute values with units stand beside the ratio.
    pub absolutes_shown: Option<bool>,
    /// For a speed-up: what the base case is (one core of the same code, the best serial code).
    pub speedup_base: Option<String>,
    /// Whether the claim is a speed-up.
    pub is_speedup: Option<bool>,
    /// Documents behind it.
    pub sources: Vec<String>,
}
