//! A check, the results of its function, and helpers that build findings.

use assay_model::{CheckRow, Finding, FiredCheck, Observation, Severities, Severity};

use crate::AuditedClaim;
use crate::evidence::{Evidence, TreatmentEvidence, Unevaluated, missing, not_applicable};

/// A note in both profiles.
pub(crate) const NOTE: Severities = Severities::both(Severity::Note);
/// A warning in both profiles.
pub(crate) const WARNING: Severities = Severities::both(Severity::Warning);
/// Invalid in both profiles.
pub(crate) const INVALID: Severities = Severities::both(Severity::Invalid);
/// A note in profile `lab`, a warning in `publish`.
pub(crate) const NOTE_OR_WARNING: Severities =
    Severities { lab: Severity::Note, publish: Severity::Warning };
/// A note in profile `lab`, invalid in `publish`.
pub(crate) const NOTE_OR_INVALID: Severities =
    Severities { lab: Severity::Note, publish: Severity::Invalid };
/// A warning in profile `lab`, invalid in `publish`.
pub(crate) const WARNING_OR_INVALID: Severities =
    Severities { lab: Severity::Warning, publish: Severity::Invalid };

/// Result of one check over some evidence.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckOutcome {
    /// The check ran and found nothing.
    Passes,
    /// The object of the check is known to be absent (no price is quoted, only one treatment); with
    /// the reason.
    DoesNotApply(String),
    /// The findings; never empty.
    Found(Vec<FiredCheck>),
    /// The evidence does not hold the named inputs.
    CannotCheck(String),
}

type JudgeObservation = fn(&Observation) -> Option<FiredCheck>;

/// One check of the catalogue.
#[derive(Debug)]
pub struct Check {
    pub row: &'static CheckRow,
    evaluate: fn(&Evidence) -> Evaluation,
    /// Evaluates a claim from an audited text; `None` if the check is not about such claims.
    evaluate_claim: Option<fn(&AuditedClaim) -> Evaluation>,
    judge_observation: Option<JudgeObservation>,
    /// True if the observations that `evaluate` uses are also judged in each trial. A finding about
    /// the run then repeats those about its trials.
    pub(crate) judged_in_trials: bool,
    /// Reason why the evidence is never missing; `None` if it may be.
    pub(crate) always_checked: Option<&'static str>,
}

impl Check {
    pub(crate) const fn new(row: &'static CheckRow, evaluate: fn(&Evidence) -> Evaluation) -> Self {
        Check {
            row,
            evaluate,
            evaluate_claim: None,
            judge_observation: None,
            judged_in_trials: false,
            always_checked: None,
        }
    }

    pub(crate) const fn on_audited_claims(
        mut self,
        evaluate: fn(&AuditedClaim) -> Evaluation,
    ) -> Self {
        self.evaluate_claim = Some(evaluate);
        self
    }

    /// Adds the function that judges single observations about a trial or the machine.
    pub(crate) const fn on_observations(mut self, judge: JudgeObservation) -> Self {
        self.judge_observation = Some(judge);
        self
    }

    pub(crate) const fn judged_in_trials(mut self) -> Self {
        self.judged_in_trials = true;
        self
    }

    pub(crate) const fn always_checked(mut self, why: &'static str) -> Self {
        self.always_checked = Some(why);
        self
    }

    /// Returns the findings in `evidence`; empty if the check passes, does not apply or cannot run.
    pub fn findings(&self, evidence: &Evidence) -> Vec<Finding> {
        match self.evaluate(evidence) {
            CheckOutcome::Found(found) => found.into_iter().map(|f| self.row.finding(f)).collect(),
            _ => Vec::new(),
        }
    }

    /// Runs the check. For an audited claim, every check looks at that claim only.
    pub fn evaluate(&self, evidence: &Evidence) -> CheckOutcome {
        let evaluation = match &evidence.audited {
            Some(claim) => match self.evaluate_claim {
                Some(evaluate) => evaluate(claim),
                None => not_applicable("the claim is not of its kind"),
            },
            None => (self.evaluate)(evidence),
        };
        match evaluation {
            Ok(found) if found.is_empty() => CheckOutcome::Passes,
            Ok(found) => CheckOutcome::Found(found),
            Err(Unevaluated::NotApplicable(why)) => CheckOutcome::DoesNotApply(why),
            Err(Unevaluated::Missing(what)) => CheckOutcome::CannotCheck(what),
        }
    }

    /// Judges a single observation about a trial or the machine; `None` if nothing is wrong.
    pub(crate) fn judge_observation(&self, observation: &Observation) -> Option<Finding> {
        Some(self.row.finding(self.judge_observation?(observation)?))
    }
}

/// Limits `found` to these treatments of `all`. A finding about all treatments stays unlimited, and
/// so does one that includes a treatment without a run id.
pub(crate) fn about(
    mut found: FiredCheck,
    treatments: &[&TreatmentEvidence],
    all: &[TreatmentEvidence],
) -> FiredCheck {
    if treatments.len() < all.len() {
        let ids: Option<Vec<u32>> = treatments.iter().map(|a| a.id).collect();
        found.treatments = ids.unwrap_or_default();
    }
    found
}

/// Creates a finding with the check's own severity.
pub(crate) fn finding(message: impl Into<String>) -> FiredCheck {
    FiredCheck::new(message)
}

/// Creates a finding that is invalid in every profile.
pub(crate) fn invalid(message: impl Into<String>) -> FiredCheck {
    finding_at(INVALID, message)
}

/// Creates a finding that is a warning, whatever the check's own severity.
pub(crate) fn warning(message: impl Into<String>) -> FiredCheck {
    finding_at(WARNING, message)
}

/// Creates a finding that is a note, whatever the check's own severity.
pub(crate) fn note(message: impl Into<String>) -> FiredCheck {
    finding_at(NOTE, message)
}

/// Creates a finding with a severity that overrides the check's own.
pub(crate) fn finding_at(severity: Severities, message: impl Into<String>) -> FiredCheck {
    FiredCheck::new(message).at(severity)
}

/// Findings of a check, or the reason why it could not run.
pub(crate) type Evaluation = Result<Vec<FiredCheck>, Unevaluated>;

/// Returns the findings. With no findings and something in `lacking`, returns
/// [`Unevaluated::Missing`].
pub(crate) fn found_or_missing(found: Vec<FiredCheck>, lacking: &[String]) -> Evaluation {
    match (found.is_empty(), lacking.is_empty()) {
        (true, false) => missing(lacking.join(", ")),
        _ => Ok(found),
    }
}

/// Formats two values that differ, with `absent` in place of a missing one.
pub(crate) fn versus(a: Option<&String>, b: Option<&String>, absent: &str) -> String {
    format!("{} vs {}", a.map_or(absent, String::as_str), b.map_or(absent, String::as_str))
}

/// Joins the first five names and appends the number of the others.
pub(crate) fn shortened_list(names: &[&str]) -> String {
    let shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    match names.len() {
        0..=5 => shown,
        more => format!("{shown} and {} more", more - 5),
    }
}
