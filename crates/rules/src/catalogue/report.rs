//! Runs the whole catalogue over evidence.

use assay_model::{Finding, Severity};

use super::check::{Check, Outcome, Profile};
use super::{Evidence, catalogue};

/// A check that passed, or that has nothing to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The check's id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Why it does not apply; empty when it passed.
    pub why: String,
}

/// A check that could not be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Unchecked {
    /// The check's id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What is missing.
    pub missing: String,
    /// How bad that is in the profile.
    pub severity: Severity,
}

/// What the catalogue says about evidence in a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The profile.
    pub profile: Profile,
    /// What was found, the most severe first, then by id. In profile `publish` with a finding for
    /// every check that could not be made.
    pub findings: Vec<Finding>,
    /// The checks that found nothing.
    pub passed: Vec<Checked>,
    /// The checks that have nothing to look at.
    pub not_applicable: Vec<Checked>,
    /// The checks that could not be made.
    pub cannot_check: Vec<Unchecked>,
}

impl Report {
    /// The worst severity among the findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }
}

/// Makes every check of the catalogue. Same evidence and profile, same report.
pub fn run(evidence: &Evidence, profile: Profile) -> Report {
    let mut report = Report {
        profile,
        findings: Vec::new(),
        passed: Vec::new(),
        not_applicable: Vec::new(),
        cannot_check: Vec::new(),
    };
    for check in catalogue() {
        let named = |why| Checked { id: check.id, name: check.name, why };
        match check.evaluate(evidence) {
            Outcome::Passes => report.passed.push(named(String::new())),
            Outcome::DoesNotApply(why) => report.not_applicable.push(named(why)),
            Outcome::CannotCheck(missing) => cannot(check, missing, profile, &mut report),
            Outcome::Found(found) => {
                report.findings.extend(found.into_iter().map(|f| check.finding(f, profile)));
            }
        }
    }
    report.findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(&b.id)));
    report
}

fn cannot(check: &'static Check, missing: String, profile: Profile, report: &mut Report) {
    let severity = match profile {
        Profile::Lab => Severity::Note,
        Profile::Publish => check.severity.of(profile),
    };
    if profile == Profile::Publish {
        report.findings.push(Finding {
            id: check.id.to_owned(),
            name: check.name.to_owned(),
            severity,
            message: format!("cannot check: {missing} is not recorded"),
            remedy: "record it, or publish without what needs it".to_owned(),
            treatments: Vec::new(),
        });
    }
    report.cannot_check.push(Unchecked { id: check.id, name: check.name, missing, severity });
}
