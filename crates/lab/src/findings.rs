//! Checks that the lab can make of its own run. Each is a pure function of plan and records; what it
//! cannot check it says.

use assay_model::{
    Analysis, Experiment, Finding, Order, Outcome, Plan, Severity, TrialRecord, ValidationResult,
    Verdict,
};

fn finding(id: &str, name: &str, severity: Severity, message: String, remedy: &str) -> Finding {
    Finding { id: id.into(), name: name.into(), severity, message, remedy: remedy.into() }
}

/// The findings about a whole run. Those about single trials are in their records.
pub fn of_run(
    experiment: &Experiment,
    plan: &Plan,
    records: &[TrialRecord],
    analysis: &Analysis,
) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    found.extend(enough_runs(plan, analysis));
    found.extend(interleaved(experiment, plan));
    found.extend(failures(records));
    found.extend(unvalidated(records));
    found.extend(detectable(analysis));
    found.extend(unclear_shape(analysis));
    found.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(&b.id)));
    found
}

fn enough_runs(plan: &Plan, analysis: &Analysis) -> Option<Finding> {
    let least = analysis
        .summaries
        .iter()
        .filter(|s| s.metric == analysis.metric)
        .map(|s| s.summary.n)
        .min()?;
    if least >= 6 {
        return None;
    }
    let compared = plan.treatments.len() > 1;
    let severity = match least {
        0..3 if compared => Severity::Invalid,
        _ => Severity::Warning,
    };
    Some(finding(
        "F28",
        "enough-runs",
        severity,
        format!(
            "a treatment has only {least} trials that count; that carries {}",
            match least {
                0..3 => "no interval",
                _ => "an interval by Student's t alone, without its rank twin",
            }
        ),
        "run at least 6 blocks",
    ))
}

fn interleaved(experiment: &Experiment, plan: &Plan) -> Option<Finding> {
    let fixed_order = experiment.design.order == Order::Sequential && plan.treatments.len() > 1;
    fixed_order.then(|| {
        finding(
            "F31",
            "interleaved",
            Severity::Warning,
            "the order is the same in every block, so drift within a block falls on the treatments unequally".into(),
            "use design.order = \"random\"",
        )
    })
}

fn failures(records: &[TrialRecord]) -> Vec<Finding> {
    let count = |outcome| records.iter().filter(|r| r.outcome == outcome).count();
    let all = records.len();
    let mut found = Vec::new();
    let wrong = count(Outcome::Invalid);
    if wrong > 0 {
        found.push(finding(
            "F17",
            "output-verified",
            Severity::Invalid,
            format!("{wrong} of {all} trials gave wrong output"),
            "a number from a wrong answer does not count; find out why",
        ));
    }
    let failed = count(Outcome::Failed) + count(Outcome::TimedOut);
    if failed > 0 {
        found.push(finding(
            "F40",
            "exclusions-logged",
            Severity::Warning,
            format!(
                "{failed} of {all} trials failed and are not in the result; their records say why"
            ),
            "see the trials' errors; a failure that depends on the treatment biases the rest",
        ));
    }
    found
}

fn unvalidated(records: &[TrialRecord]) -> Option<Finding> {
    let unchecked = records
        .iter()
        .filter(|r| r.counts() && r.validation == ValidationResult::ExitCodeOnly)
        .count();
    (unchecked > 0).then(|| {
        finding(
            "F17",
            "output-verified",
            Severity::Note,
            format!("the output of {unchecked} trials was not checked beyond the exit code"),
            "use a kit with a validation",
        )
    })
}

fn detectable(analysis: &Analysis) -> Option<Finding> {
    let blind = analysis.comparisons.iter().find_map(|c| {
        let (mde, margin) = (c.detectable?, c.margin?);
        (mde - 1.0 > margin && c.verdict == Verdict::Inconclusive).then_some((mde, margin))
    })?;
    Some(finding(
        "F36",
        "detectable-effect",
        Severity::Warning,
        format!(
            "this design sees effects above {:.1} %, and the margin is {:.1} %",
            (blind.0 - 1.0) * 100.0,
            blind.1 * 100.0
        ),
        "run more blocks",
    ))
}

fn unclear_shape(analysis: &Analysis) -> Option<Finding> {
    let c = analysis
        .comparisons
        .iter()
        .find(|c| c.verdict == Verdict::Inconclusive && c.reason.contains("shape"))?;
    Some(finding(
        "F42",
        "shape-fits-summary",
        Severity::Warning,
        format!("treatment {}: {}", c.treatment, c.reason),
        "look at the plot of the trials: there may be two modes or a few far-out trials",
    ))
}
