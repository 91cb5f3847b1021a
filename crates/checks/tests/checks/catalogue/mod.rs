//! Runs every check of the catalogue on sound evidence, which passes all of them, and on empty
//! evidence, on which none can run. Modules with tables of faults and gaps cover the checks with
//! much evidence.

mod broken;
mod escalated;
mod from_run;
mod gaps;
mod published;
mod sound;

use std::collections::BTreeSet;

use assay_checks::{Check, CheckOutcome, Evidence, catalogue, evaluate, find};
use assay_model::{Profile, Severity};

/// Returns the checks for one machine; those for several only report observations of single trials.
fn of_one() -> impl Iterator<Item = &'static Check> {
    catalogue().iter().filter(|c| c.row.id.starts_with('F'))
}

fn ids() -> Vec<String> {
    of_one().map(|c| c.row.id.to_owned()).collect()
}

#[test]
fn ids_are_in_order_and_names_are_distinguished() {
    assert!(ids().is_sorted() && ids().len() > 50, "{:?}", ids());
    let names: BTreeSet<&str> = catalogue().iter().map(|c| c.row.name).collect();
    assert_eq!(names.len(), catalogue().len());
    assert!(find("f31").is_some_and(|c| c.row.name == "interleaved"));
    assert!(find("interleaved").is_some_and(|c| c.row.id == "F31"));
    for c in catalogue().iter().map(|c| c.row) {
        assert!(c.severity.publish >= c.severity.lab, "{}: a profile never lowers", c.id);
        for text in [c.needs, c.fires, c.why, c.remedy, c.source] {
            assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", c.id);
        }
    }
}

#[test]
fn sound_evidence_passes_every_check() {
    for check in of_one() {
        let sound = sound::evidence_for(check.row.id);
        assert_eq!(check.evaluate(&sound), CheckOutcome::Passes, "{}", check.row.name);
    }
    for profile in [Profile::Lab, Profile::Publish] {
        let report = evaluate(&sound::evidence(), profile);
        assert_eq!(report.passed.len(), ids().len() - 1, "F56 does not apply to a ratio");
        assert_eq!(report.worst(), None);
    }
}

#[test]
fn checks_fire_on_their_faults() {
    for (id, fault) in broken::FAULTS {
        let mut evidence = sound::evidence_for(id);
        fault(&mut evidence);
        let outcome = find(id).unwrap().evaluate(&evidence);
        let CheckOutcome::Found(found) = outcome else { panic!("{id} says {outcome:?}") };
        assert!(found.iter().all(|f| !f.message.is_empty()), "{id}");
    }
}

#[test]
fn no_check_passes_on_what_is_not_recorded() {
    for (id, gap) in gaps::GAPS {
        let mut evidence = sound::evidence_for(id);
        gap(&mut evidence);
        let outcome = find(id).unwrap().evaluate(&evidence);
        assert!(matches!(outcome, CheckOutcome::CannotCheck(_)), "{id} says {outcome:?}");
    }
    let nothing = evaluate(&Evidence::default(), Profile::Publish);
    assert_eq!(
        nothing.cannot_check.len(),
        ids().len(),
        "{:?} {:?}",
        nothing.passed,
        nothing.not_applicable
    );
}

#[test]
fn what_cannot_be_checked_counts_by_profile() {
    let lab = evaluate(&Evidence::default(), Profile::Lab);
    assert!(lab.findings.is_empty());
    assert!(lab.cannot_check.iter().all(|c| c.severity == Severity::Note));
    let publish = evaluate(&Evidence::default(), Profile::Publish);
    assert_eq!(publish.findings.len(), ids().len());
    for f in &publish.findings {
        assert_eq!(f.severity, find(&f.id).unwrap().row.severity.publish, "{}", f.id);
    }
}

#[test]
fn the_worst_comes_first() {
    let mut evidence = sound::evidence();
    for (_, fault) in broken::FAULTS.iter().filter(|(id, _)| ["F17", "F21", "F57"].contains(id)) {
        fault(&mut evidence);
    }
    let report = evaluate(&evidence, Profile::Publish);
    assert!(report.findings.windows(2).all(|f| f[0].severity >= f[1].severity));
    assert_eq!(report.worst(), Some(Severity::Invalid));
    assert!(report.findings.iter().any(|f| f.severity == Severity::Note));
}

#[test]
fn the_page_is_that_of_the_tables() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compare/comparing-systems.md");
    assert!(
        std::fs::read_to_string(page).unwrap() == assay_checks::environment_markdown(),
        "write it anew: assay rules classes --markdown > docs/compare/comparing-systems.md"
    );
}
