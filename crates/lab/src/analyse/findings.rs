//! The catalogue's checks on a run of the archive.

use assay_checks::{Report, RunMaterial, evaluate, from_run};
use assay_model::{Analysis, Profile};

use crate::analyse::Recorded;

/// What the catalogue says about a whole run in a profile. `run`, `publish`, `rules check`, pages and the
/// server all have it from here.
pub fn check(recorded: &Recorded<'_>, analysis: &Analysis, profile: Profile) -> Report {
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
