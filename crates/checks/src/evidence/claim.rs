//! The sentence that compares.

/// The statement that a number of a post makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A place in a population.
    Best,
    /// A ratio, in words that follow from it.
    States,
}

/// A claim with what stands behind it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClaimEvidence {
    /// The claim in words.
    pub text: String,
    /// What it says.
    pub verb: Option<Verb>,
    /// The claimed ratio, better / worse (1.05 for 5 % better).
    pub ratio: Option<f64>,
    /// True if it is about peak (steady) performance.
    pub of_peak: Option<bool>,
    /// For a rank: the population.
    pub population: Option<String>,
    /// The date that it is true of.
    pub as_of: Option<String>,
    /// True if both absolute values with units stand beside the ratio.
    pub absolutes_shown: Option<bool>,
    /// For a speed-up: the base case (one core of the same code, the best serial code).
    pub speedup_base: Option<String>,
    /// True if the claim is a speed-up.
    pub is_speedup: Option<bool>,
}

/// What recomputing a claim gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recomputed {
    /// What is printed.
    Holds,
    /// Less than one unit of the last printed digit off.
    OffByRounding,
    /// Something else under every reading.
    Differs,
    /// What is printed under one reading and not under another.
    Ambiguous,
    /// Nothing: its inputs are not there.
    NoInputs,
}

/// A claim of a text by others, recomputed.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedClaim {
    /// Where it stands and its words (`line 3: "5% better"`).
    pub words: String,
    /// What recomputing gave.
    pub result: Recomputed,
    /// Why, in a sentence.
    pub reason: String,
}
