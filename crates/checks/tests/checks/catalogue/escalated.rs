//! Tests of findings that exceed the check's own severity, and of checks that do not apply.

use std::sync::Arc;

use assay_checks::*;
use assay_model::{Profile, Severity};

use super::broken::{Change, FAULTS, is};
use super::published::flip;
use super::sound;

/// Returns the worst severity that a check gives in a profile after a change.
fn worst(id: &str, profile: Profile, change: Change) -> Option<Severity> {
    let mut evidence = sound::evidence_for(id);
    change(&mut evidence);
    let findings = evaluate(&evidence, profile).findings;
    findings.into_iter().filter(|f| f.id == id).map(|f| f.severity).max()
}

/// Gives the second treatment another program on another host, for this instruction set.
fn on_two_hosts(e: &mut Evidence, arch: &str) {
    let fact = |value: &str| assay_model::Fact::known(value);
    for (treatment, host) in e.treatments.iter_mut().zip(["one", "two"]) {
        treatment.levels.insert("host".to_owned(), host.to_owned());
        let system = Arc::make_mut(treatment.snapshots.as_mut().unwrap()).before.as_mut().unwrap();
        system.facts.insert("kernel.arch".to_owned(), fact("x86_64"));
        system.facts.insert("node.two.kernel.arch".to_owned(), fact(arch));
    }
    let binary = e.treatments[1].binary.as_mut().unwrap();
    binary.hashes.insert("executable".to_owned(), "dd".to_owned());
}

#[test]
fn programs_for_two_instruction_sets_are_a_note() {
    for profile in [Profile::Lab, Profile::Publish] {
        let worst = |change: Change| worst("F04", profile, change);
        assert_eq!(worst(|e| on_two_hosts(e, "aarch64")), Some(Severity::Note));
        assert_eq!(worst(|e| on_two_hosts(e, "x86_64")), Some(Severity::Invalid));
    }
    let mut e = sound::evidence_for("F04");
    on_two_hosts(&mut e, "x86_64");
    let findings = evaluate(&e, Profile::Lab).findings;
    let found = findings.iter().find(|f| f.id == "F04").unwrap();
    assert!(found.remedy.contains("share them in a folder"), "{found:?}");
}

fn drift_apart(e: &mut Evidence) {
    let trials = &mut e.schedule.as_mut().unwrap().trials;
    for (i, trial) in trials.iter_mut().enumerate() {
        trial.treatment = usize::from(i >= 24);
        trial.value = Some(100.0 + i as f64 + (i % 3) as f64);
    }
}

#[test]
fn escalations_are_invalid_in_both_profiles() {
    let cases: &[(&str, Change)] = &[
        ("F07", |e| e.treatments[1].cpus.as_mut().unwrap().limited = Some(0.97)),
        ("F08", |e| e.treatments[1].pages.as_mut().unwrap().huge_share = Some(0.9)),
        ("F09", |e| {
            Arc::make_mut(e.treatments[1].os.as_mut().unwrap())
                .insert("kernel.release".into(), "6.13.1".into());
        }),
        ("F11", |e| e.treatments[1].host.as_mut().unwrap().pressure_percent = Some(9.0)),
        ("F12", |e| e.treatments[1].clock.as_mut().unwrap().throttles = Some(1)),
        ("F15", |e| e.treatments[1].timing.as_mut().unwrap().sample_s = Some(1e-7)),
        ("F21", |e| e.treatments[1].limiter.as_mut().unwrap().ceilings[0].reached = 1e12),
        ("F28", |e| e.treatments[1].n = Some(2)),
        ("F31", drift_apart),
        ("F37", |e| is(&mut e.self_comparison).floor = Some(1.3)),
        ("F38", |e| {
            let m = e.multiplicity.as_mut().unwrap();
            (m.correction, m.headline_is_best) = (None, Some(true));
        }),
        ("F39", |e| {
            let s = e.stopping.as_mut().unwrap();
            (s.adjusted, s.ended_on_significance) = (Some(false), Some(true));
        }),
        ("F41", |e| e.treatments[1].statistic = Some(Statistic::Median)),
        ("F59", |e| {
            let r = e.registered.as_mut().unwrap();
            r.shown.clear();
            r.reverses_headline = Some(true);
        }),
    ];
    for (id, change) in cases {
        for profile in [Profile::Lab, Profile::Publish] {
            assert_eq!(worst(id, profile, *change), Some(Severity::Invalid), "{id} {profile:?}");
        }
    }
}

#[test]
fn a_profile_never_lowers() {
    for (id, fault) in FAULTS {
        let (lab, publish) = (worst(id, Profile::Lab, *fault), worst(id, Profile::Publish, *fault));
        assert!(publish >= lab && lab.is_some(), "{id}: {lab:?} {publish:?}");
    }
}

#[test]
fn milder_cases_are_milder() {
    let kernel_patch: Change = |e| {
        Arc::make_mut(e.treatments[1].os.as_mut().unwrap())
            .insert("kernel.release".into(), "6.12.5".into());
    };
    assert_eq!(worst("F09", Profile::Publish, kernel_patch), Some(Severity::Warning));
    let unchecked: Change = |e| e.treatments[1].output.as_mut().unwrap().unchecked = 2;
    assert_eq!(worst("F17", Profile::Lab, unchecked), Some(Severity::Note));
    assert_eq!(worst("F17", Profile::Publish, unchecked), Some(Severity::Warning));
    let turned: Change = |e| {
        is(&mut e.denominators).flips.push(flip());
        is(&mut e.denominators).matrix_shown = false;
    };
    assert_eq!(worst("F50", Profile::Lab, turned), Some(Severity::Warning));
    assert_eq!(worst("F50", Profile::Publish, turned), Some(Severity::Invalid));
    let failed: Change = |e| {
        let left = ExcludedTrial { trial: 3, reason: Some("exit code 1".to_owned()), failed: true };
        e.exclusions.as_mut().unwrap().excluded.push(left);
    };
    assert_eq!(worst("F40", Profile::Publish, failed), Some(Severity::Warning));
    let busy_alike: Change = |e| {
        e.treatments.iter_mut().for_each(|a| a.host.as_mut().unwrap().queue_per_cpu = Some(0.5));
    };
    assert_eq!(worst("F11", Profile::Publish, busy_alike), Some(Severity::Warning));
    let digits: Change = |e| is(&mut e.numbers)[0].printed = Some("100.08000".to_owned());
    assert_eq!(worst("F45", Profile::Publish, digits), Some(Severity::Note));
}

#[test]
fn what_is_known_to_be_absent_does_not_apply() {
    let mut evidence = sound::evidence();
    let no = || "the page has none".to_owned();
    evidence.prices = RecordedValue::Absent(no());
    evidence.energy = RecordedValue::Absent(no());
    evidence.quotes = RecordedValue::Absent(no());
    evidence.suite = RecordedValue::Absent(no());
    let report = evaluate(&evidence, Profile::Publish);
    let of_one = report.not_applicable.iter().map(|c| c.id).filter(|id| id.starts_with('F'));
    let ids: Vec<&str> = of_one.collect();
    assert_eq!(ids, ["F19", "F44", "F51", "F52", "F56", "F57"]);
    assert!(report.findings.is_empty());
}

#[test]
fn one_arm_is_not_a_comparison() {
    let mut evidence = sound::evidence();
    evidence.treatments.truncate(1);
    let report = evaluate(&evidence, Profile::Lab);
    let ids: Vec<&str> = report.not_applicable.iter().map(|c| c.id).collect();
    for id in ["F02", "F03", "F04", "F07", "F16", "F31", "F41"] {
        assert!(ids.contains(&id), "{id} of {ids:?}");
    }
}
