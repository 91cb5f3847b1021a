//! What a check of a rule pack says, and the parameters it is given.

use std::collections::BTreeMap;

use super::Parameter;

/// What a check says, with its evidence as a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judged {
    /// The rule is kept.
    Pass(String),
    /// The rule is broken.
    Fail(String),
    /// The result does not hold what it takes to say: what is missing.
    Unknown(String),
}

/// The rule is kept.
pub(crate) fn pass(evidence: impl Into<String>) -> Judged {
    Judged::Pass(evidence.into())
}

/// The rule is broken.
pub(crate) fn fail(evidence: impl Into<String>) -> Judged {
    Judged::Fail(evidence.into())
}

/// Something is not recorded.
pub(crate) fn unknown(what: impl Into<String>) -> Judged {
    Judged::Unknown(what.into())
}

/// Broken if anything is wrong, unknown if something is missing, kept otherwise.
pub(crate) fn verdict(wrong: &[String], missing: &[String], kept: impl Into<String>) -> Judged {
    if !wrong.is_empty() {
        fail(wrong.join("; "))
    } else if !missing.is_empty() {
        unknown(missing.join(", "))
    } else {
        pass(kept)
    }
}

/// What kind of value a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// A number.
    Number,
    /// A list of words.
    Words,
    /// A table of words.
    Table,
}

/// A parameter of a check: its name and what it takes.
pub(crate) type Wanted = (&'static str, Takes);

/// A check by name: its parameters, and the function over evidence of type `E`.
pub(crate) struct PackCheck<E: 'static> {
    pub name: &'static str,
    pub parameters: &'static [Wanted],
    pub evaluate: fn(&E, &Parameters<'_>) -> Judged,
}

/// Makes a check.
pub(crate) const fn check<E>(
    name: &'static str,
    parameters: &'static [Wanted],
    evaluate: fn(&E, &Parameters<'_>) -> Judged,
) -> PackCheck<E> {
    PackCheck { name, parameters, evaluate }
}

/// The parameters of one rule. The reader has seen to it that all are there and of their kind.
pub(crate) struct Parameters<'a>(pub &'a BTreeMap<String, Parameter>);

impl Parameters<'_> {
    /// A number; not a number where the pack was made by hand without it.
    pub fn number(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(Parameter::Number(n)) => *n,
            _ => f64::NAN,
        }
    }

    /// A list of words.
    pub fn words(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(Parameter::Words(words)) => words.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// A table of words.
    pub fn table(&self, name: &str) -> Vec<(&str, &str)> {
        match self.0.get(name) {
            Some(Parameter::Table(t)) => t.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect(),
            _ => Vec::new(),
        }
    }
}

/// Whether two numbers agree to a relative tolerance.
pub(crate) fn agree(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// Judges that the fields of the parameter `fields` are disclosed.
pub(crate) fn disclosed(disclosure: &BTreeMap<String, String>, p: &Parameters<'_>) -> Judged {
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
