//! Outcomes of a post's claims in this archive: a claim holds here, does not hold, is undecided, or
//! cannot be asked here.

use serde::Serialize;

/// Outcome of a claim in this archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalOutcome {
    /// The runs of this archive agree.
    Holds,
    /// The runs say the opposite, or that there is no such difference.
    DoesNotHold,
    /// The runs do not decide the claim, or the archive has no such run yet.
    Undecided,
    /// The claim cannot be asked on this machine.
    CannotBeAsked,
}

assay_model::names! {
    /// Returns the outcome in words.
    pub LocalOutcome::words: Holds = "holds here", DoesNotHold = "does not hold here",
        Undecided = "undecided", CannotBeAsked = "cannot be tested on this machine"
}

/// A claim of a post and its outcome in this archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The claim as a sentence.
    pub text: String,
    /// Test that decides the claim: `ahead`, `differs`, `multiple`, `elsewhere`.
    pub asked: String,
    /// Result at the time of the post; `null` if the post does not state it.
    pub then: Option<String>,
    /// Outcome in this archive.
    pub here: LocalOutcome,
    /// Reason for the outcome, with the numbers.
    pub why: String,
    /// Runs that the claim needs, by the template's names for them.
    pub runs: Vec<String>,
    /// True if a run that the claim needs is not in the archive.
    pub not_run: bool,
    /// Line of the claim in the template.
    pub line: usize,
}
