//! Evidence about a run's design and results: order, stopping, exclusions, means and energy.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{
    LedgerEntry, LedgerEvent, MetricKind, Observation, ParamType, RunState, Stop, SuiteMember,
    SuiteScore, Treatment, TrialOutcome,
};

use super::material::{RunMaterial, baseline_first, imported, observations, treatment_label};
use crate::{
    EnergyEvidence, ExcludedTrial, Exclusions, MeanOf, MeanOperator, MeanUse, NumberEvidence,
    PowerSource, RecordedValue, RegisteredItems, Schedule, Scheduled, SelfComparison, StoppingRule,
    SuiteArm, SuiteEvidence,
};

pub(super) fn schedule(m: &RunMaterial<'_>) -> Schedule {
    let position: BTreeMap<u32, usize> =
        baseline_first(m.plan).enumerate().map(|(i, t)| (t.id, i)).collect();
    let mut trials: Vec<Scheduled> = m
        .records
        .iter()
        .filter(|r| r.counts())
        .filter_map(|r| {
            Some(Scheduled {
                treatment: *position.get(&r.treatment)?,
                start_s: r.start_ns as f64 / 1e9,
                end_s: r.end_ns as f64 / 1e9,
                value: r.metric(&m.analysis.metric),
            })
        })
        .collect();
    trials.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    Schedule { trials, order: Some(m.experiment.design.order) }
}

pub(super) fn stopping(m: &RunMaterial<'_>) -> Option<StoppingRule> {
    // Imported files do not record the stopping rule of the program that wrote them.
    if imported(m) {
        return None;
    }
    let planned = m.ledger.iter().position(|e| matches!(e.event, LedgerEvent::Planned { .. }))?;
    let started = |e: &LedgerEntry| matches!(e.event, LedgerEvent::TrialStarted { .. });
    let first = m.ledger.iter().position(started).unwrap_or(usize::MAX);
    let looked = |e: &&LedgerEntry| matches!(e.event, LedgerEvent::Looked { .. });
    let LedgerEvent::Planned { stop_rule, .. } = &m.ledger[planned].event else { return None };
    Some(StoppingRule {
        rule: Some(stop_rule.clone()),
        registered_before: Some(planned < first),
        looks: m.ledger.iter().filter(looked).count() as u32,
        adjusted: Some(m.experiment.design.stop == Stop::Clear),
        ended_on_significance: Some(m.experiment.design.stop == Stop::Clear),
        by_hand: m.ledger.iter().rev().find_map(|e| match &e.event {
            LedgerEvent::Ended { state, .. } => Some(*state == RunState::Interrupted),
            _ => None,
        }) == Some(true),
    })
}

pub(super) fn exclusions(m: &RunMaterial<'_>) -> Exclusions {
    let excluded = m
        .records
        .iter()
        .filter(|r| !r.warmup && r.outcome != TrialOutcome::Completed)
        .map(|r| ExcludedTrial {
            trial: r.number,
            reason: Some(match r.outcome {
                TrialOutcome::Invalid => "its output was wrong".to_owned(),
                TrialOutcome::Interrupted => "it was interrupted".to_owned(),
                TrialOutcome::TimedOut => "it ran past its time".to_owned(),
                _ => r.error.clone(),
            })
            .filter(|reason| !reason.is_empty()),
            failed: matches!(r.outcome, TrialOutcome::Failed | TrialOutcome::TimedOut),
        })
        .collect();
    let started = m.records.iter().filter(|r| !r.warmup).count() as u32;
    Exclusions { started, excluded, ratio_with_them: None }
}

/// Returns the members that ran and the members that the suite defines.
pub(super) fn suite(m: &RunMaterial<'_>) -> RecordedValue<SuiteEvidence> {
    let Some(results) = &m.analysis.suite else {
        return RecordedValue::Absent("the run is of one workload".to_owned());
    };
    let manifest = match m.plan.workload.param(&results.member).map(|p| &p.ty) {
        Some(ParamType::Choice { of }) => of.clone(),
        _ => Vec::new(),
    };
    let treatment = |(i, score): (usize, &SuiteScore)| {
        let has = |x: &&SuiteMember| x.ratio.is_some();
        let why = |x: &SuiteMember| {
            let why = if x.wrong { "its output was wrong" } else { "no trial of it counts" };
            (x.name.clone(), why.to_owned())
        };
        let against = results.comparisons.iter().find(|c| c.score == i);
        SuiteArm {
            label: if score.label == "-" { results.metric.clone() } else { score.label.clone() },
            members: score.members.iter().filter(has).map(|x| x.name.clone()).collect(),
            reasons: score.members.iter().filter(|x| !has(x)).map(why).collect(),
            against_first: against.and_then(|c| c.geomean.ratio.zip(c.totals)),
        }
    };
    RecordedValue::Is(SuiteEvidence {
        manifest,
        treatments: results.scores.iter().enumerate().map(treatment).collect(),
        // Every view of a run shows the suite with all members.
        members_shown: Some(true),
    })
}

/// Returns the geometric mean of a suite, if the workload is one.
pub(super) fn means(m: &RunMaterial<'_>) -> RecordedValue<Vec<MeanUse>> {
    match &m.analysis.suite {
        None => RecordedValue::Absent("no mean over members is taken".to_owned()),
        Some(results) => RecordedValue::Is(vec![MeanUse {
            what: format!("the mean of the members' `{}`", results.metric),
            of: Some(MeanOf::NormalisedScores),
            operator: MeanOperator::Geometric,
        }]),
    }
}

/// Boundaries of power measurement: the metric's name and the source of its watts.
pub(super) const BOUNDARIES: [(&str, PowerSource); 3] = [
    ("power (package)", PowerSource::Rapl),
    ("power (node)", PowerSource::Platform),
    ("power (wall)", PowerSource::Wall),
];

/// Returns the power evidence of each treatment and boundary. The watts are averages over each
/// trial's own window.
pub(super) fn energy(m: &RunMaterial<'_>) -> RecordedValue<Vec<EnergyEvidence>> {
    let known = m.experiment.observe.meter.as_ref();
    let of = |(t, (metric, source)): (&Treatment, &(&str, PowerSource))| {
        let mut counting = m.records.iter().filter(|r| r.treatment == t.id && r.counts());
        counting.any(|r| r.metric(metric).is_some()).then(|| EnergyEvidence {
            label: treatment_label(m, t),
            source: Some(*source),
            recorded: true,
            meter: known.map(|k| k.model.clone()),
            uncertainty_percent: known.map(|k| k.uncertainty_percent),
            same_run: Some(true),
            same_window: Some(true),
            ..EnergyEvidence::default()
        })
    };
    let all = baseline_first(m.plan).flat_map(|t| BOUNDARIES.iter().map(move |b| (t, b)));
    let found: Vec<EnergyEvidence> = all.filter_map(of).collect();
    if found.is_empty() {
        return RecordedValue::Absent("neither power nor energy is stated".to_owned());
    }
    RecordedValue::Is(found)
}

/// True if a program is from a version-controlled tree with uncommitted changes. A program outside
/// such a tree is identified by its content.
pub(super) fn dirty(m: &RunMaterial<'_>) -> Option<bool> {
    let changed =
        |o: &Observation| matches!(o, Observation::SourceTree { changed, .. } if *changed > 0);
    if observations(m, None).any(changed) {
        return Some(true);
    }
    let known = |o| matches!(o, &Observation::Program { .. } | &Observation::Container { .. });
    observations(m, None).any(known).then_some(false)
}

pub(super) fn numbers(m: &RunMaterial<'_>) -> Vec<NumberEvidence> {
    let kind = m.plan.workload.metric(&m.analysis.metric).map(|s| s.kind);
    m.analysis
        .summaries
        .iter()
        .filter(|s| s.metric == m.analysis.metric)
        .map(|s| NumberEvidence {
            what: if s.label == "-" {
                s.metric.clone()
            } else {
                format!("{} of {}", s.metric, s.label)
            },
            exact: s.centre(),
            interval: s.interval(),
            kind: Some(kind.unwrap_or(MetricKind::Measured)),
            // The page prints the kind of every metric that was not measured.
            labelled: true,
            ..NumberEvidence::default()
        })
        .collect()
}

pub(super) fn registered(m: &RunMaterial<'_>) -> RegisteredItems {
    let treatments = m.plan.treatments.iter().map(Treatment::label);
    let measured: BTreeSet<String> = m
        .records
        .iter()
        .filter(|r| r.counts())
        .flat_map(|r| &r.metrics)
        .filter(|x| x.value.is_some())
        .map(|x| x.name.clone())
        .collect();
    let shown: BTreeSet<String> =
        m.analysis.summaries.iter().flat_map(|s| [s.label.clone(), s.metric.clone()]).collect();
    RegisteredItems {
        items: treatments.chain(measured).collect(),
        shown: shown.into_iter().collect(),
        reverses_headline: None,
        headline: None,
    }
}

/// Maximum age of a comparison of identical code, in days.
pub(super) const MAX_FLOOR_AGE_DAYS: f64 = 30.0;

pub(super) fn self_comparison(m: &RunMaterial<'_>) -> RecordedValue<SelfComparison> {
    match &m.analysis.floor {
        Some(known) => RecordedValue::Is(SelfComparison {
            age_days: Some(known.age_s / 86_400.0),
            policy_days: MAX_FLOOR_AGE_DAYS,
            floor: Some(1.0 + known.found.floor),
            alike: Some(known.differs.is_empty()),
        }),
        None => RecordedValue::Absent("none of this workload on this machine is kept".to_owned()),
    }
}
