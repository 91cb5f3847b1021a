//! Runs every check of the catalogue over the evidence.

use assay_model::{CheckNote, Checks, Finding, FiredCheck, Profile, Severities, Severity};

use crate::Evidence;
use crate::catalogue::catalogue;
use crate::check::{Check, CheckOutcome};

/// First words of the finding about a check that could not run.
pub const UNCHECKED: &str = "cannot check: ";

/// A check that passed or does not apply.
#[derive(Debug, Clone, PartialEq)]
pub struct PassedCheck {
    pub id: &'static str,
    pub name: &'static str,
    /// Reason why the check does not apply; empty if it passed.
    pub why: String,
}

/// A check that could not run.
#[derive(Debug, Clone, PartialEq)]
pub struct SkippedCheck {
    pub id: &'static str,
    pub name: &'static str,
    /// Inputs that are not recorded.
    pub missing: String,
    /// Severity of the missing input in the report's profile.
    pub severity: Severity,
}

/// Results of all checks over some evidence, for one profile.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    pub profile: Profile,
    /// Findings about the whole run, most severe first, then by id. Profile `publish` adds a
    /// finding for every check that could not run.
    pub findings: Vec<Finding>,
    /// Findings about single trials ([`Evidence::in_trials`]), with this profile's severities.
    pub in_trials: Vec<Finding>,
    /// Checks that ran and found nothing.
    pub passed: Vec<PassedCheck>,
    /// Checks whose object is known to be absent.
    pub not_applicable: Vec<PassedCheck>,
    /// Checks whose evidence is missing.
    pub cannot_check: Vec<SkippedCheck>,
}

impl CheckReport {
    /// Returns the worst severity among all findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().chain(&self.in_trials).map(|f| f.severity).max()
    }

    /// Returns the checks without findings, in the form that is stored in the record.
    pub fn checks(&self) -> Checks {
        let note = |id: &str, name: &str, why: &str| CheckNote {
            id: id.to_owned(),
            name: name.to_owned(),
            why: why.to_owned(),
        };
        let not_applicable = self.not_applicable.iter().map(|c| note(c.id, c.name, &c.why));
        let cannot_check = self.cannot_check.iter().map(|c| note(c.id, c.name, &c.missing));
        Checks {
            profile: self.profile.name().to_owned(),
            passed: self.passed.iter().map(|c| c.id.to_owned()).collect(),
            not_applicable: not_applicable.collect(),
            cannot_check: cannot_check.collect(),
        }
    }
}

/// Evaluates every check of the catalogue. Deterministic: the same evidence and profile give the
/// same report.
pub fn evaluate(evidence: &Evidence, profile: Profile) -> CheckReport {
    let mut report = CheckReport {
        profile,
        findings: Vec::new(),
        in_trials: evidence.in_trials.iter().cloned().map(|f| f.in_profile(profile)).collect(),
        passed: Vec::new(),
        not_applicable: Vec::new(),
        cannot_check: Vec::new(),
    };
    for check in catalogue() {
        let row = check.row;
        let without_finding = |why| PassedCheck { id: row.id, name: row.name, why };
        let in_trials = evidence.in_trials.iter().any(|f| f.id == row.id);
        match check.evaluate(evidence) {
            CheckOutcome::Found(found) => {
                let of = found.into_iter().map(|f| row.finding(f).in_profile(profile));
                report.findings.extend(of.filter(|f| !is_repeated(check, f, &report.in_trials)));
            }
            // The check has a finding already: one about a trial.
            _ if in_trials => {}
            CheckOutcome::Passes => report.passed.push(without_finding(String::new())),
            CheckOutcome::DoesNotApply(why) => report.not_applicable.push(without_finding(why)),
            CheckOutcome::CannotCheck(missing) => {
                let why = evidence.unobserved.iter().find(|(id, _)| *id == row.id);
                let missing = why.map_or(missing.clone(), |(_, why)| format!("{missing} ({why})"));
                add_unchecked(check, missing, evidence.imported, &mut report);
            }
        }
    }
    report.findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(&b.id)));
    report
}

/// True if the finding about the whole run repeats one about a single trial of at least the same
/// severity.
fn is_repeated(check: &Check, of_run: &Finding, in_trials: &[Finding]) -> bool {
    let same = |f: &Finding| f.id == of_run.id && f.severity >= of_run.severity;
    check.judged_in_trials && in_trials.iter().any(same)
}

fn add_unchecked(check: &'static Check, missing: String, imported: bool, report: &mut CheckReport) {
    let row = check.row;
    let severity = match report.profile {
        Profile::Lab => Severity::Note,
        // A user cannot supply data that the importing program's source left out.
        Profile::Publish if imported => row.severity.publish.min(Severity::Warning),
        Profile::Publish => row.severity.publish,
    };
    if report.profile == Profile::Publish {
        let found = FiredCheck::new(format!("{UNCHECKED}{missing} is not recorded"))
            .remedy("record it, or drop the claim that depends on it")
            .at(Severities::both(severity));
        report.findings.push(row.finding(found).in_profile(report.profile));
    }
    report.cannot_check.push(SkippedCheck { id: row.id, name: row.name, missing, severity });
}
