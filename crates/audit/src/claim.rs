//! What an audit hands out: claims with a verdict and the evidence for it.

use assay_checks::{AuditedClaim, ClaimAbout, Evidence, Recomputed, catalogue};
use assay_model::Finding;
use serde::Serialize;

use crate::read::source::Span;

/// What a claim says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// "5% better than".
    Percent,
    /// "2.6 times the performance of".
    Times,
    /// A comparison for each watt, core, chip, rack unit.
    PerDenominator,
    /// "best", "record", "beats".
    Rank,
    /// A table described as ordered.
    Order,
    /// One value in two units, or arithmetic that is written out.
    Conversion,
    /// So many of something.
    Count,
    /// A value that was measured or observed.
    Measurement,
    /// A value for each instance beside the total, in a table.
    PerInstance,
    /// A result stated again, or put beside another, outside of its table.
    Restatement,
    /// A part of a whole.
    Share,
    /// "18 minutes less", "from 30 to 15".
    Difference,
    /// A column that is the ratio or difference of two others.
    DerivedColumn,
    /// A total in a table or in prose.
    Sum,
    /// An average in a table or in prose.
    Mean,
    /// A name that does not agree with the rest of the text.
    Naming,
    /// A compared result that the disclosure leaves out.
    MissingDisclosure,
    /// A row that is not of the class that the table claims.
    Scope,
    /// Stated without a number.
    Qualitative,
}

/// What recomputing says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The recomputed value rounds to what is printed.
    Holds,
    /// Off by less than one unit in the last printed digit.
    OffByRounding,
    /// The inputs are certain, and every reading fails by more than rounding.
    Wrong,
    /// It holds under one reading or for one choice of inputs, and not under another.
    Ambiguous,
    /// The inputs are not there.
    Unsupported,
}

impl ClaimVerdict {
    /// All verdicts, the worst first.
    pub const ALL: [ClaimVerdict; 5] = [
        ClaimVerdict::Wrong,
        ClaimVerdict::Ambiguous,
        ClaimVerdict::OffByRounding,
        ClaimVerdict::Unsupported,
        ClaimVerdict::Holds,
    ];

    /// As it is written for people and typed on the command line.
    pub fn word(self) -> &'static str {
        match self {
            ClaimVerdict::Holds => "holds",
            ClaimVerdict::OffByRounding => "off-by-rounding",
            ClaimVerdict::Wrong => "wrong",
            ClaimVerdict::Ambiguous => "ambiguous",
            ClaimVerdict::Unsupported => "unsupported",
        }
    }
}

/// A value that a claim was recomputed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Input {
    /// Whose and of what.
    pub name: String,
    /// The value as printed.
    pub value: f64,
    /// Where it stands in the text: line and column; `None` for a quoted result.
    pub place: Option<(usize, usize)>,
    /// The quoted result's id; `None` for a value of the text.
    pub quoted: Option<String>,
}

/// One way to read a claim, and what it gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// Its name (`a/b - 1`).
    pub name: &'static str,
    /// With the numbers in it.
    pub formula: String,
    /// What it gives, in the claim's unit.
    pub value: f64,
    /// Whether that is what is printed.
    pub verdict: ClaimVerdict,
}

/// A claim, audited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// What it says.
    pub kind: ClaimKind,
    /// What recomputing says.
    pub verdict: ClaimVerdict,
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in the file, characters from 1.
    pub column: usize,
    /// The words, as printed.
    pub quote: String,
    /// The printed value; `None` if it has none.
    pub claimed: Option<f64>,
    /// The recomputed value under the reading that fits best; `None` if nothing was recomputed.
    pub computed: Option<f64>,
    /// The readings that were tried, the best first.
    pub readings: Vec<Reading>,
    /// What it was recomputed from.
    pub inputs: Vec<Input>,
    /// Why the verdict is what it is, in a sentence.
    pub reason: String,
    /// Where in the audited text it stands.
    #[serde(skip)]
    pub span: Span,
}

impl Claim {
    /// The claim as a finding for what is published. A claim that holds has none.
    pub fn finding(&self) -> Option<Finding> {
        let claim = AuditedClaim {
            words: format!("line {}: \"{}\"", self.line, self.quote),
            about: match self.kind {
                ClaimKind::Rank | ClaimKind::Order => ClaimAbout::Order,
                ClaimKind::Qualitative => ClaimAbout::Quality,
                ClaimKind::PerDenominator => ClaimAbout::PerDenominator,
                ClaimKind::MissingDisclosure => ClaimAbout::Disclosure,
                ClaimKind::Scope => ClaimAbout::Class,
                _ => ClaimAbout::Printed,
            },
            result: match self.verdict {
                ClaimVerdict::Holds => Recomputed::Holds,
                ClaimVerdict::OffByRounding => Recomputed::OffByRounding,
                ClaimVerdict::Wrong => Recomputed::Differs,
                ClaimVerdict::Ambiguous => Recomputed::Ambiguous,
                ClaimVerdict::Unsupported => Recomputed::NoInputs,
            },
            reason: self.reason.clone(),
        };
        let evidence = Evidence { audited: Some(claim), ..Evidence::default() };
        catalogue().iter().flat_map(|check| check.findings(&evidence)).next()
    }
}
