//! What became of the claims of a post: it holds here, does not, is undecided, or cannot be asked
//! here.

use serde::Serialize;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Here {
    /// The runs of this archive agree.
    Holds,
    /// They say the opposite, or that there is no such difference.
    DoesNotHold,
    /// They do not decide it, or there are none yet.
    Undecided,
    /// This machine cannot be asked.
    CannotBeAsked,
}

impl Here {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Here::Holds => "holds here",
            Here::DoesNotHold => "does not hold here",
            Here::Undecided => "undecided",
            Here::CannotBeAsked => "cannot be asked on this machine",
        }
    }
}

/// A claim of a post, and what the runs of this archive say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What it says.
    pub text: String,
    /// How it is asked: `ahead`, `differs`, `multiple`, `elsewhere`.
    pub asked: String,
    /// What the post's own time found; `null` where the post says nothing of it.
    pub then: Option<String>,
    /// What is found here.
    pub here: Here,
    /// Why, with the numbers.
    pub why: String,
    /// The template's names of the runs that it needs.
    pub runs: Vec<String>,
    /// Whether a run that it needs is not in the archive.
    pub not_run: bool,
    /// Its line in the template.
    pub line: usize,
}
