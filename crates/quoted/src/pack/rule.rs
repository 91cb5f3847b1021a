//! A rule pack as data: its rules, the source of each, and the consequence of a violation.

use std::collections::BTreeMap;
use std::fmt;

use assay_model::Severity;
use serde::{Deserialize, Serialize};

/// Kind of evidence that a pack applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackScope {
    /// A result of a CPU suite ([`super::cpu::CpuSuiteResult`]).
    CpuSuite,
    /// A result of order processing ([`super::orders::OrdersResult`]).
    Orders,
    /// A claim that quotes the results of others ([`super::fair_use::FairUse`]).
    QuotedClaims,
}

/// Document from which the rules of a pack are taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSource {
    /// Name of the document.
    pub name: String,
    /// Version of the document.
    pub version: String,
    /// Day on which it was read (`2026-11-21`).
    pub retrieved: String,
    /// Remarks on how the document was interpreted.
    #[serde(default)]
    pub note: String,
}

/// Value of a rule's parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, a list of words or a table of words")]
pub enum Parameter {
    Number(f64),
    Words(Vec<String>),
    /// A table from words to texts.
    Table(BTreeMap<String, String>),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackRule {
    /// Id of the rule (`C3`).
    pub id: String,
    /// Text of the rule in our own words.
    pub text: String,
    /// Number of the rule in its source; empty if it has no number.
    pub source: String,
    /// Name of the check that evaluates it.
    pub check: String,
    /// Severity of a violation.
    pub severity: Severity,
    /// Best verdict that a result can get if the rule fails or is unknown.
    pub on_failure: Verdict,
    /// Sentence for the disclosure if the rule fails or is unknown.
    pub disclosure: String,
    /// Parameters of the check.
    pub parameters: BTreeMap<String, Parameter>,
}

/// A set of rules of one benchmark or organization.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pack {
    /// Id of the pack (`cpu`).
    pub id: String,
    pub version: String,
    /// Date of this version.
    pub date: String,
    /// Title of the pack, one line.
    pub title: String,
    /// Kind of evidence that the rules apply to.
    pub applies_to: PackScope,
    /// Source of the rules.
    pub source: RuleSource,
    /// Rules in the order of their ids.
    pub rules: Vec<PackRule>,
}

/// Status of a result under a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The result must not be used.
    Invalid,
    /// The result is valid but must not be reported under these rules.
    Valid,
    /// The result complies with the rules.
    Reportable,
}

assay_model::names! {
    pub Verdict::words: Invalid = "invalid", Valid = "valid but not reportable",
        Reportable = "reportable"
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}
