//! A rule pack as data: its rules, where each comes from and what breaking it means.

use std::collections::BTreeMap;
use std::fmt;

use assay_model::Severity;
use serde::{Deserialize, Serialize};

/// What a pack speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applies {
    /// A result of a CPU suite ([`super::cpu::CpuSuiteResult`]).
    CpuSuite,
    /// A result of order processing ([`super::orders::OrdersResult`]).
    Orders,
    /// A claim that quotes results of others ([`super::fair_use::FairUse`]).
    QuotedClaims,
}

/// Where the rules of a pack come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The document.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The day it was read (`2026-11-21`).
    pub retrieved: String,
    /// What should be known about the reading.
    #[serde(default)]
    pub note: String,
}

/// A parameter of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, a list of words or a table of words")]
pub enum Parameter {
    /// A number.
    Number(f64),
    /// A list of words.
    Words(Vec<String>),
    /// A table of words.
    Table(BTreeMap<String, String>),
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// Its id (`C3`).
    pub id: String,
    /// The rule in our own words.
    pub text: String,
    /// The number of the rule in its source; empty where it has none.
    pub source: String,
    /// The check that evaluates it.
    pub check: String,
    /// How bad it is when broken.
    pub severity: Severity,
    /// The best verdict when broken or unknown.
    pub on_failure: Verdict,
    /// The sentence for the disclosure when it is broken or unknown.
    pub disclosure: String,
    /// The check's parameters.
    pub parameters: BTreeMap<String, Parameter>,
}

/// A rule pack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pack {
    /// Its id (`cpu`).
    pub id: String,
    /// Its version.
    pub version: String,
    /// The day of that version.
    pub date: String,
    /// What it is, in a line.
    pub title: String,
    /// What it speaks of.
    pub applies_to: Applies,
    /// Where its rules come from.
    pub source: Source,
    /// The rules in order.
    pub rules: Vec<Rule>,
}

/// What a result may be called under a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is not a result.
    Invalid,
    /// It is a result, but not one to report under these rules.
    Valid,
    /// It keeps the rules.
    Reportable,
}

impl Verdict {
    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Invalid => "invalid",
            Verdict::Valid => "valid but not reportable",
            Verdict::Reportable => "reportable",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}
