//! Evidence about claims: sentences that compare.

/// The kind of statement behind a number of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A rank in a population.
    Best,
    /// A ratio, with wording that follows from it.
    States,
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

/// Result of recomputing a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecomputedClaim {
    /// The printed value is confirmed.
    Holds,
    /// The difference is below one unit of the last printed digit.
    OffByRounding,
    /// Every reading of the claim gives another value.
    Differs,
    /// One reading gives the printed value and another does not.
    Ambiguous,
    /// The inputs of the claim are missing.
    NoInputs,
}

/// A claim from another author's text, recomputed.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedClaim {
    /// Position and words of the claim (`line 3: "5% better"`).
    pub words: String,
    pub result: RecomputedClaim,
    /// Reason for the result, one sentence.
    pub reason: String,
}
