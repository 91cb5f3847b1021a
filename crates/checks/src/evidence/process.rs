//! How a result came to be shown: what it is compared with, who is quoted, what was registered.

use assay_model::Interval;

/// A result of others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuoteEvidence {
    /// What is quoted.
    pub what: String,
    /// The document that prints it, in words or as an address; `None`: none is named.
    pub document: Option<String>,
    /// The day that it was true of or was retrieved.
    pub dated: Option<String>,
    /// The day of the page, where that is before the result's.
    pub later_than: Option<String>,
    /// A newer printing of the same result, where one is known.
    pub newer: Option<String>,
}

/// What the owner of a benchmark's name wants beside its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DisclosureEvidence {
    /// Whose rules, with their version.
    pub rules: String,
    /// The rules that apply, by id; empty: no pack is loaded.
    pub required: Vec<String>,
    /// Those of them that are not kept.
    pub broken: Vec<String>,
    /// Those that cannot be checked.
    pub unknown: Vec<String>,
    /// Whether the numbers are quoted from documents that quote them: what those leave out cannot be added.
    pub second_hand: bool,
}

/// What was registered before the run, and what of it is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Registered {
    /// Registered metrics, workloads and treatments, and measured losses.
    pub items: Vec<String>,
    /// Those that are shown.
    pub shown: Vec<String>,
    /// Whether what is not shown would reverse the headline; `None`: nobody looked.
    pub reverses_headline: Option<bool>,
    /// The headline over what is shown and over everything, where they differ: `1st of 3, but 5th
    /// of 16`.
    pub headline: Option<String>,
}

/// What somebody would need to repeat a result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RepeatEvidence {
    /// Whether the raw data are kept and given.
    pub raw_data: Option<bool>,
    /// Whether the experiment, kit or script is given.
    pub scripts: Option<bool>,
    /// The versions of what ran; `None`: not recorded.
    pub version: Option<String>,
    /// Whether what ran had changes that no version names.
    pub dirty: Option<bool>,
    /// The published value and the interval of a rerun, where there was one.
    pub rerun: Option<(f64, Interval)>,
}
