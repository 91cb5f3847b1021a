//! Evidence about publication: quoted results, required disclosures, registration and
//! repeatability.

use assay_model::Interval;

/// A result from another publication.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuoteEvidence {
    /// The quoted result in words.
    pub what: String,
    /// Document that prints the result, in words or as an address; `None` if no document is named.
    pub document: Option<String>,
    /// Day on which the result was valid or was retrieved.
    pub dated: Option<String>,
    /// Day of the page, if it is earlier than the result's.
    pub later_than: Option<String>,
    /// A newer printing of the same result, if one is known.
    pub newer: Option<String>,
}

/// Disclosures that the owner of a benchmark's name requires next to its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DisclosureEvidence {
    /// Name of the rule pack, with its version.
    pub rules: String,
    /// Ids of the rules that apply; empty if no pack is loaded.
    pub required: Vec<String>,
    /// Applicable rules that are broken.
    pub broken: Vec<String>,
    /// Applicable rules that cannot be checked.
    pub unknown: Vec<String>,
    /// True if the numbers are quoted from documents that quote them; details that those documents
    /// leave out cannot be added.
    pub second_hand: bool,
}

/// Items registered before the run, and those of them that are shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RegisteredItems {
    /// Registered metrics, workloads and treatments, and measured losses.
    pub items: Vec<String>,
    /// Registered items that are shown.
    pub shown: Vec<String>,
    /// True if the hidden items would reverse the headline; `None` if this was not examined.
    pub reverses_headline: Option<bool>,
    /// The headline over the shown items and over all items, if they differ: `1st of 3, but 5th of
    /// 16`.
    pub headline: Option<String>,
}

/// Material that others need to repeat a result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RepeatEvidence {
    /// True if the raw data are kept and published.
    pub raw_data: Option<bool>,
    /// True if the experiment, kit or script is published.
    pub scripts: Option<bool>,
    /// Versions of the programs that ran; `None` if not recorded.
    pub version: Option<String>,
    /// True if the programs had changes that no version names.
    pub dirty: Option<bool>,
    /// Published value and interval of a rerun, if there was one.
    pub rerun: Option<(f64, Interval)>,
}
