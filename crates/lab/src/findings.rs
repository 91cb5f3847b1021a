//! The catalogue's checks on a run of the archive, in profile `lab`.

use assay_model::{Analysis, CheckNote, Checks, Finding};
use assay_rules::catalogue::{Profile, RunMaterial, from_run, run};

use crate::analyse::Recorded;

/// The findings about a whole run, and what became of the checks that found nothing. What was found
/// about single trials is in their records, and is not said again about the run.
pub fn of_run(recorded: &Recorded<'_>, analysis: &Analysis) -> (Vec<Finding>, Checks) {
    let evidence = from_run(&RunMaterial {
        experiment: recorded.experiment,
        plan: recorded.plan,
        records: recorded.records,
        analysis,
        system: recorded.system,
        ledger: recorded.ledger,
    });
    let mut report = run(&evidence, Profile::Lab);
    let said: Vec<&str> =
        recorded.records.iter().flat_map(|r| &r.findings).map(|f| f.id.as_str()).collect();
    // F13 is found trial by trial, where it voids the trials after the change alone.
    report.findings.retain(|f| f.id != "F13" || !said.contains(&"F13"));
    report.cannot_check.retain(|c| !said.contains(&c.id));
    let note = |id: &str, name: &str, why: String| CheckNote {
        id: id.to_owned(),
        name: name.to_owned(),
        why,
    };
    let checks = Checks {
        profile: report.profile.name().to_owned(),
        passed: report.passed.iter().map(|c| c.id.to_owned()).collect(),
        not_applicable: report
            .not_applicable
            .into_iter()
            .map(|c| note(c.id, c.name, c.why))
            .collect(),
        cannot_check: report
            .cannot_check
            .into_iter()
            .map(|c| note(c.id, c.name, c.missing))
            .collect(),
    };
    (report.findings, checks)
}
