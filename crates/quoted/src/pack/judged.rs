//! Results of the checks of a rule pack, and the parameters that they take.

use std::collections::BTreeMap;

use super::Parameter;

/// Result of a check, with its evidence as a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckVerdict {
    /// The rule is satisfied.
    Pass(String),
    /// The rule is violated.
    Fail(String),
    /// The result lacks data to check the rule; the text names it.
    Unknown(String),
}

pub(crate) fn pass(evidence: impl Into<String>) -> CheckVerdict {
    CheckVerdict::Pass(evidence.into())
}

pub(crate) fn fail(evidence: impl Into<String>) -> CheckVerdict {
    CheckVerdict::Fail(evidence.into())
}

pub(crate) fn unknown(what: impl Into<String>) -> CheckVerdict {
    CheckVerdict::Unknown(what.into())
}

/// Fails if anything is wrong, is unknown if data are missing, and passes otherwise.
pub(crate) fn verdict(
    wrong: &[String],
    missing: &[String],
    kept: impl Into<String>,
) -> CheckVerdict {
    if !wrong.is_empty() {
        fail(wrong.join("; "))
    } else if !missing.is_empty() {
        unknown(missing.join(", "))
    } else {
        pass(kept)
    }
}

/// Type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckParamType {
    Number,
    Words,
    /// A table from words to texts.
    Table,
}

/// Name and type of a parameter of a check.
pub(crate) type CheckParam = (&'static str, CheckParamType);

/// A named check: its parameters, and the function that evaluates evidence of type `E`.
pub(crate) struct PackCheck<E: 'static> {
    pub name: &'static str,
    pub parameters: &'static [CheckParam],
    pub evaluate: fn(&E, &Parameters<'_>) -> CheckVerdict,
}

pub(crate) const fn check<E>(
    name: &'static str,
    parameters: &'static [CheckParam],
    evaluate: fn(&E, &Parameters<'_>) -> CheckVerdict,
) -> PackCheck<E> {
    PackCheck { name, parameters, evaluate }
}

/// Parameters of one rule. The reader of packs has checked that all are present and of the right
/// type.
pub(crate) struct Parameters<'a>(pub &'a BTreeMap<String, Parameter>);

impl Parameters<'_> {
    /// Returns a number; NaN if a pack built in code lacks it.
    pub fn number(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(Parameter::Number(n)) => *n,
            _ => f64::NAN,
        }
    }

    pub fn words(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(Parameter::Words(words)) => words.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    pub fn table(&self, name: &str) -> Vec<(&str, &str)> {
        match self.0.get(name) {
            Some(Parameter::Table(t)) => t.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns true if two numbers agree within a relative tolerance.
pub(crate) fn agree(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// Checks that every field listed in the parameter `fields` is disclosed.
pub(crate) fn disclosed(disclosure: &BTreeMap<String, String>, p: &Parameters<'_>) -> CheckVerdict {
    if disclosure.is_empty() {
        return unknown("the disclosure");
    }
    let filled = |name: &str| disclosure.get(name).is_some_and(|v| !v.trim().is_empty());
    let absent: Vec<&str> = p.words("fields").into_iter().filter(|f| !filled(f)).collect();
    if absent.is_empty() {
        return pass(format!("{} fields are disclosed", disclosure.len()));
    }
    fail(format!("not disclosed: {}", absent.join(", ")))
}
