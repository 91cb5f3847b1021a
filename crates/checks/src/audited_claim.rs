//! Claims of a text that were recomputed.

/// A claim from another author's text, recomputed.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedClaim {
    /// Position and words of the claim (`line 3: "5% better"`).
    pub words: String,
    pub result: RecomputedClaim,
    /// Reason for the result, one sentence.
    pub reason: String,
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

impl AuditedClaim {
    /// Returns the words of the claim and the reason for its result.
    pub(crate) fn message(&self) -> String {
        format!("{}: {}", self.words, self.reason)
    }
}
