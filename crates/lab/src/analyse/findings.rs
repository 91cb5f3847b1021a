//! Runs the checks of the catalogue on a run of the archive.

use assay_checks::{CheckReport, RunMaterial, evaluate, from_run};
use assay_model::{Analysis, Profile};

use crate::analyse::RecordedRun;

/// Evaluates the checks of the catalogue on a whole run under a profile. `run`, `publish`, `rules
/// check`, the pages and the server all call this function.
pub fn check(recorded: &RecordedRun<'_>, analysis: &Analysis, profile: Profile) -> CheckReport {
    let evidence = from_run(&RunMaterial {
        experiment: recorded.experiment,
        plan: recorded.plan,
        records: recorded.records,
        analysis,
        system: recorded.system,
        ledger: recorded.ledger,
    });
    evaluate(&evidence, profile)
}
