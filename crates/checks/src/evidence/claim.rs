//! The sentence that compares.

/// What a claim says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// One is faster, slower, better, worse than the other.
    Direction,
    /// Same, no overhead, no regression.
    Same,
    /// Best, record, number one: a place in a population.
    Best,
    /// A number or a ratio, in words that follow from it.
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
    /// Whether it speaks of peak (steady) performance.
    pub of_peak: Option<bool>,
    /// What the results say, where that is the opposite of the words.
    pub contradicted: Option<String>,
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
}

/// What a claim of an audited text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimAbout {
    /// A number, a ratio, a name: something that follows from what is printed.
    Printed,
    /// An order or a place in it.
    Order,
    /// A statement without a number.
    Quality,
    /// A value for each watt, core, chip or rack unit.
    PerDenominator,
    /// What the disclosure must hold.
    Disclosure,
    /// The class of results that a table is of.
    Class,
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
    /// What it is about.
    pub about: ClaimAbout,
    /// What recomputing gave.
    pub result: Recomputed,
    /// Why, in a sentence.
    pub reason: String,
}
