//! Faults: changes to the sound fixture that make a check fire. Checks whose own file tests their
//! fault are not listed. Cases in crate `assay` show every row firing end to end.

use std::sync::Arc;

use assay_checks::*;
use assay_model::{Fact, MetricKind, Order, SeriesShape, Verdict};

use super::published::flip;
use super::sound::{interval, noise, set, system, text_map, texts};

/// A change that breaks the evidence.
pub type Change = fn(&mut Evidence);

pub fn is<T>(known: &mut RecordedValue<T>) -> &mut T {
    match known {
        RecordedValue::Is(value) => value,
        _ => panic!("the sound fixture has it"),
    }
}

pub fn snapshots(treatment: &mut TreatmentEvidence) -> &mut Snapshots {
    Arc::make_mut(treatment.snapshots.as_mut().unwrap())
}

fn b(e: &mut Evidence) -> &mut TreatmentEvidence {
    &mut e.treatments[1]
}

fn comparison(e: &mut Evidence) -> &mut ComparisonEvidence {
    &mut is(&mut e.comparisons)[0]
}

fn claim(e: &mut Evidence) -> &mut ClaimEvidence {
    is(&mut e.claim)
}

fn first_number(e: &mut Evidence) -> &mut NumberEvidence {
    &mut is(&mut e.numbers)[0]
}

fn hard_difference(e: &mut Evidence) {
    let mut other = system();
    other.facts.insert("kernel.release".to_owned(), Fact::known("7.0"));
    e.environment = RecordedValue::Is(assay_model::environment::diff(&system(), &other, &[]));
}

fn soft_difference(e: &mut Evidence) {
    let mut other = system();
    other.facts.insert("env.LD_PRELOAD".to_owned(), Fact::known("x.so"));
    e.environment = RecordedValue::Is(assay_model::environment::diff(&system(), &other, &[]));
}

fn one_after_the_other(e: &mut Evidence) {
    let trials = &mut e.schedule.as_mut().unwrap().trials;
    let half = trials.len() / 2;
    for (i, trial) in trials.iter_mut().enumerate() {
        trial.treatment = usize::from(i >= half);
    }
}

fn two_modes(e: &mut Evidence) {
    let mut values = noise(14, 100.0, 5);
    values.extend(noise(10, 120.0, 6));
    b(e).values = Some(values);
}

fn drifting_trials(e: &mut Evidence) {
    for (i, series) in b(e).samples.as_mut().unwrap().iter_mut().enumerate() {
        for v in series.iter_mut() {
            *v *= 1.0 + 0.05 * (i % 5) as f64;
        }
    }
    comparison(e).unit = Some(Unit::Samples);
}

fn never_settles(e: &mut Evidence) {
    b(e).series = RecordedValue::Is(vec![SeriesShape::NoSteadyState; 4]);
    claim(e).of_peak = Some(false);
}

/// Ids of checks with a fault; a check may have several.
pub const FAULTS: &[(&str, Change)] = &[
    ("F01", |e| snapshots(b(e)).before = None),
    ("F01", |e| snapshots(b(e)).after = FactsAfterTrials::NotTaken),
    ("F01", |e| {
        let before = snapshots(b(e)).before.as_mut().unwrap();
        before.facts.insert("cpu.model".to_owned(), Fact::unknown("not stated"));
    }),
    ("F02", |e| e.factors = Some(Vec::new())),
    ("F02", |e| b(e).levels = text_map(&[("threads", "1")])),
    ("F03", soft_difference),
    ("F03", hard_difference),
    ("F04", |e| b(e).binary.as_mut().unwrap().hashes = text_map(&[("executable", "dd")])),
    ("F04", |e| e.factors = Some(texts(&["compiler"]))),
    ("F05", |e| {
        let binary = b(e).binary.as_mut().unwrap();
        binary.hashes = text_map(&[("executable", "dd")]);
        binary.built_features = Some(set(&["sse2"]));
    }),
    ("F06", |e| b(e).build.as_mut().unwrap().flags = Some(texts(&["-O3"]))),
    ("F06", |e| b(e).build.as_mut().unwrap().tuning = Some(Tuning::Peak)),
    ("F07", |e| b(e).cpus.as_mut().unwrap().usable = Some(16)),
    ("F07", |e| b(e).cpus.as_mut().unwrap().memory_channels = Some(8)),
    ("F07", |e| b(e).cpus.as_mut().unwrap().limited = Some(0.3)),
    ("F08", |e| b(e).pages.as_mut().unwrap().mode = Some("always".to_owned())),
    ("F08", |e| b(e).pages.as_mut().unwrap().huge_share = Some(0.9)),
    ("F09", |e| b(e).os = Some(text_map(&[("kernel.release", "6.12.4"), ("libc", "x")]).into())),
    ("F11", |e| b(e).host.as_mut().unwrap().steal_percent = Some(2.0)),
    ("F12", |e| b(e).clock.as_mut().unwrap().ghz = Some(3.3)),
    ("F12", |e| b(e).clock.as_mut().unwrap().throttles = Some(7)),
    ("F13", |e| {
        let changed = text_map(&[("thp.enabled", "always")]);
        snapshots(b(e)).after = FactsAfterTrials::Changed(changed);
    }),
    ("F13", |e| snapshots(b(e)).boots = set(&["one", "two"])),
    ("F14", |e| {
        (comparison(e).ratio, claim(e).ratio) = (Some(1.03), Some(1.03));
        b(e).layouts = Some(1);
    }),
    ("F15", |e| b(e).timing.as_mut().unwrap().sample_s = Some(1e-6)),
    ("F15", |e| b(e).timing.as_mut().unwrap().window_s = Some(10.0)),
    ("F16", |e| b(e).work.as_mut().unwrap().input = Some("another".to_owned())),
    ("F16", |e| b(e).work.as_mut().unwrap().parameters.clear()),
    ("F16", |e| b(e).work.as_mut().unwrap().operations = Some(0.99e6)),
    ("F16", |e| b(e).work.as_mut().unwrap().cache = Some(CacheStart::Cold)),
    ("F17", |e| b(e).output.as_mut().unwrap().wrong = 1),
    ("F17", |e| b(e).output.as_mut().unwrap().unchecked = 1),
    ("F17", |e| b(e).output.as_mut().unwrap().errors = Some(3)),
    ("F18", |e| b(e).tuned_on = RecordedValue::Is(texts(&["measured-input"]))),
    ("F19", |e| is(&mut e.suite).treatments[1].reasons.clear()),
    ("F19", |e| {
        let treatment = &mut is(&mut e.suite).treatments[1];
        treatment.members.remove("sort");
        treatment.reasons.insert("sort".to_owned(), "crashed".to_owned());
    }),
    ("F21", |e| b(e).limiter.as_mut().unwrap().statement.clear()),
    ("F21", |e| b(e).limiter.as_mut().unwrap().ceilings[0].reached = 3e10),
    ("F22", |e| is(&mut b(e).generator).cpu_share = Some(0.95)),
    ("F22", |e| is(&mut b(e).generator).pinned_apart = Some(false)),
    ("F22", |e| is(&mut b(e).generator).config = Some("8 connections".to_owned())),
    ("F23", |e| is(&mut e.percentiles)[0].load = Some(Loop::Closed)),
    ("F23", |e| is(&mut e.percentiles)[0].slips_charged = Some(false)),
    ("F24", |e| is(&mut e.percentiles)[0].n_eff = Some(500.0)),
    ("F24", |e| is(&mut e.percentiles)[0].merge = Some(Merge::Averaged)),
    ("F25", never_settles),
    ("F26", |e| b(e).warmup = Some(1)),
    ("F26", |e| e.treatments.iter_mut().for_each(|a| a.warmup = Some(2))),
    ("F28", |e| b(e).n = Some(4)),
    ("F28", |e| b(e).n = Some(2)),
    ("F29", drifting_trials),
    ("F29", |e| b(e).n = Some(1)),
    ("F31", one_after_the_other),
    ("F31", |e| e.schedule.as_mut().unwrap().order = Some(Order::Sequential)),
    ("F32", |e| first_number(e).interval = None),
    ("F34", |e| comparison(e).interval = Some(interval(0.98, 1.03))),
    ("F34", |e| comparison(e).verdict = Some(Verdict::Inconclusive)),
    ("F36", |e| {
        comparison(e).verdict = Some(Verdict::Inconclusive);
        comparison(e).detectable = Some(1.05);
    }),
    ("F36", |e| comparison(e).detectable = Some(1.5)),
    ("F37", |e| e.self_comparison = RecordedValue::Absent("never made here".to_owned())),
    ("F37", |e| is(&mut e.self_comparison).age_days = Some(90.0)),
    ("F37", |e| is(&mut e.self_comparison).floor = Some(1.25)),
    ("F38", |e| e.multiplicity.as_mut().unwrap().correction = None),
    ("F39", |e| e.stopping.as_mut().unwrap().rule = None),
    ("F39", |e| e.stopping.as_mut().unwrap().by_hand = true),
    ("F39", |e| e.stopping.as_mut().unwrap().registered_before = Some(false)),
    ("F39", |e| {
        let s = e.stopping.as_mut().unwrap();
        (s.adjusted, s.ended_on_significance) = (Some(false), Some(true));
    }),
    ("F40", |e| {
        let lost = ExcludedTrial { trial: 7, reason: None, failed: false };
        e.exclusions.as_mut().unwrap().excluded.push(lost);
    }),
    ("F41", |e| b(e).statistic = Some(Statistic::Minimum)),
    ("F41", |e| b(e).n = Some(12)),
    ("F41", |e| e.treatments.iter_mut().for_each(|a| a.statistic = Some(Statistic::BestOf(5)))),
    ("F42", two_modes),
    ("F42", |e| comparison(e).sensitivity = Some(interval(0.99, 1.2))),
    ("F42", |e| comparison(e).median_ratio = Some(0.98)),
    ("F43", |e| is(&mut e.means)[0].operator = MeanOperator::Arithmetic),
    ("F44", |e| is(&mut e.suite).members_shown = Some(false)),
    ("F44", |e| is(&mut e.suite).treatments[1].against_first = Some((1.1, 0.9))),
    ("F45", |e| first_number(e).exact = Some(100.2)),
    ("F46", |e| is(&mut e.metrics)[1].unit = Some("bops".to_owned())),
    ("F46", |e| is(&mut e.metrics)[1].version = Some("2".to_owned())),
    ("F46", |e| is(&mut e.metrics)[1].category = text_map(&[("division", "open")])),
    ("F47", |e| is(&mut e.numbers)[2].labelled = false),
    ("F47", |e| {
        let n = first_number(e);
        (n.kind, n.labelled) = (Some(MetricKind::Quoted), false);
        let mut measured = n.clone();
        measured.kind = Some(MetricKind::Measured);
        is(&mut e.numbers).push(measured);
    }),
    ("F48", |e| is(&mut e.numbers)[1].derivation.as_mut().unwrap().marked = false),
    ("F48", |e| is(&mut e.numbers)[1].derivation.as_mut().unwrap().base_nearby = false),
    ("F49", |e| is(&mut e.denominators).systems[1].basis = None),
    ("F49", |e| is(&mut e.denominators).systems[1].basis = Some(Basis::Used)),
    ("F50", |e| is(&mut e.denominators).flips.push(flip())),
    ("F51", |e| is(&mut e.energy)[1].source = Some(PowerSource::ThermalDesign)),
    ("F51", |e| is(&mut e.energy)[1].source = Some(PowerSource::Rapl)),
    ("F51", |e| is(&mut e.energy)[1].same_run = Some(false)),
    ("F51", |e| is(&mut e.energy)[1].uncertainty_percent = Some(2.0)),
    ("F52", |e| is(&mut e.prices)[1].date = None),
    ("F52", |e| is(&mut e.prices)[1].scope = Some(texts(&["server"]))),
    ("F54", |e| claim(e).absolutes_shown = Some(false)),
    ("F54", |e| claim(e).is_speedup = Some(true)),
    ("F56", |e| claim(e).as_of = None),
    ("F56", |e| claim(e).population = None),
    ("F57", |e| is(&mut e.quotes)[0].newer = Some("r2".to_owned())),
    ("F57", |e| is(&mut e.quotes)[0].document = None),
    ("F57", |e| is(&mut e.quotes)[0].dated = None),
    ("F57", |e| is(&mut e.quotes)[0].later_than = Some("2026-11-01".to_owned())),
    ("F58", |e| is(&mut e.disclosures)[0].broken = texts(&["U1"])),
    ("F58", |e| is(&mut e.disclosures)[0].unknown = texts(&["U2"])),
    ("F59", |e| e.registered.as_mut().unwrap().shown = texts(&["throughput"])),
    ("F60", |e| e.repeat.as_mut().unwrap().dirty = Some(true)),
    ("F60", |e| e.repeat.as_mut().unwrap().rerun = Some((1.2, interval(1.0, 1.1)))),
    ("F62", |e| {
        let set = &mut b(e).placement.as_mut().unwrap().set;
        set[0].bytes_by_node[1] = Ok([(0, 90), (1, 10)].into());
    }),
];
