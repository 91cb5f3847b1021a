//! Makes every check of the catalogue over evidence.

use assay_model::{CheckNote, Checks, Finding, Found, Profile, Row, Severities, Severity};

use crate::catalogue::{Check, Outcome, catalogue};
use crate::{Evidence, rows};

/// How the finding about a check begins that could not be made.
pub const UNCHECKED: &str = "cannot check: ";

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
    /// What was found about the whole, the most severe first, then by id. In profile `publish` with a
    /// finding for every check that could not be made.
    pub findings: Vec<Finding>,
    /// What was found about single trials ([`Evidence::in_trials`]), in the words of the profile.
    pub in_trials: Vec<Finding>,
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
        self.findings.iter().chain(&self.in_trials).map(|f| f.severity).max()
    }

    /// What became of the checks that found nothing, for the record.
    pub fn checks(&self) -> Checks {
        let note = |id: &str, name: &str, why: &str| CheckNote {
            id: id.to_owned(),
            name: name.to_owned(),
            why: why.to_owned(),
        };
        Checks {
            profile: self.profile.name().to_owned(),
            passed: self.passed.iter().map(|c| c.id.to_owned()).collect(),
            not_applicable: self
                .not_applicable
                .iter()
                .map(|c| note(c.id, c.name, &c.why))
                .collect(),
            cannot_check: self
                .cannot_check
                .iter()
                .map(|c| note(c.id, c.name, &c.missing))
                .collect(),
        }
    }
}

/// Makes every check of the catalogue. Same evidence and profile, same report.
pub fn evaluate(evidence: &Evidence, profile: Profile) -> Report {
    let mut report = Report {
        profile,
        findings: Vec::new(),
        in_trials: evidence.in_trials.iter().cloned().map(|f| f.in_profile(profile)).collect(),
        passed: Vec::new(),
        not_applicable: Vec::new(),
        cannot_check: Vec::new(),
    };
    for check in catalogue() {
        let row = check.row;
        let named = |why| Checked { id: row.id, name: row.name, why };
        let in_trials = evidence.in_trials.iter().any(|f| f.id == row.id);
        match check.evaluate(evidence) {
            Outcome::Found(found) => {
                let of = found.into_iter().map(|f| row.finding(f).in_profile(profile));
                report.findings.extend(of.filter(|f| !reported(&report.in_trials, f)));
            }
            // Something was found, in trials.
            _ if in_trials => {}
            Outcome::Passes => report.passed.push(named(String::new())),
            Outcome::DoesNotApply(why) => report.not_applicable.push(named(why)),
            Outcome::CannotCheck(missing) => {
                let why = evidence.unseen.iter().find(|(id, _)| *id == row.id);
                let missing = why.map_or(missing.clone(), |(_, why)| format!("{missing} ({why})"));
                cannot(check, missing, evidence.imported, &mut report);
            }
        }
    }
    report.findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(&b.id)));
    report
}

/// Whether a finding about the whole run was made from what was seen in single trials, where it stands
/// already and is as bad.
fn reported(in_trials: &[Finding], of_run: &Finding) -> bool {
    const SEEN_IN_TRIALS: [&Row; 5] = [
        &rows::QUIET_HOST,
        &rows::ENVIRONMENT_STABLE,
        &rows::LIMITER_KNOWN,
        &rows::GENERATOR_NOT_LIMIT,
        &rows::STEADY_STATE,
    ];
    let same = |f: &Finding| f.id == of_run.id && f.severity >= of_run.severity;
    SEEN_IN_TRIALS.iter().any(|row| row.id == of_run.id) && in_trials.iter().any(same)
}

fn cannot(check: &'static Check, missing: String, imported: bool, report: &mut Report) {
    let row = check.row;
    let severity = match report.profile {
        Profile::Lab => Severity::Note,
        // Nobody can add what the program that made an imported run left out.
        Profile::Publish if imported => row.severity.publish.min(Severity::Warning),
        Profile::Publish => row.severity.publish,
    };
    if report.profile == Profile::Publish {
        let found = Found::new(format!("{UNCHECKED}{missing} is not recorded"))
            .remedy("record it, or drop the claim that depends on it")
            .at(Severities::both(severity));
        report.findings.push(row.finding(found).in_profile(report.profile));
    }
    report.cannot_check.push(Unchecked { id: row.id, name: row.name, missing, severity });
}
