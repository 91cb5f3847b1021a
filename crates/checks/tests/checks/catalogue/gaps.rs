//! Gaps: removals from the sound fixture that leave a check unable to run. For all other checks the
//! tests use empty evidence.

use assay_checks::*;

use super::broken::{Change, is, snapshots};

fn a(e: &mut Evidence) -> &mut TreatmentEvidence {
    &mut e.treatments[0]
}

/// Ids of checks with a gap.
pub const GAPS: &[(&str, Change)] = &[
    ("F01", |e| a(e).snapshots = None),
    ("F02", |e| e.factors = None),
    ("F03", |e| e.environment = RecordedValue::NotRecorded),
    ("F04", |e| a(e).binary.as_mut().unwrap().hashes.clear()),
    ("F05", |e| {
        let binary = a(e).binary.as_mut().unwrap();
        binary.hashes.insert("executable".to_owned(), "dd".to_owned());
        binary.built_features = None;
    }),
    ("F06", |e| e.treatments.iter_mut().for_each(|a| a.build.as_mut().unwrap().pgo = None)),
    ("F07", |e| e.treatments.iter_mut().for_each(|a| a.cpus.as_mut().unwrap().usable = None)),
    ("F08", |e| a(e).pages.as_mut().unwrap().huge_share = None),
    ("F09", |e| a(e).os = None),
    ("F11", |e| a(e).host.as_mut().unwrap().steal_percent = None),
    ("F12", |e| a(e).clock.as_mut().unwrap().throttles = None),
    ("F13", |e| snapshots(a(e)).after = FactsAfterTrials::NotTaken),
    ("F14", |e| {
        is(&mut e.comparisons)[0].ratio = Some(1.02);
        a(e).layouts = None;
    }),
    ("F15", |e| a(e).timing.as_mut().unwrap().overhead_s = None),
    ("F16", |e| a(e).work.as_mut().unwrap().seed = None),
    ("F17", |e| a(e).output = None),
    ("F18", |e| a(e).tuned_on = RecordedValue::NotRecorded),
    ("F19", |e| e.suite = RecordedValue::NotRecorded),
    ("F21", |e| a(e).limiter = None),
    ("F22", |e| is(&mut a(e).generator).cpu_share = None),
    ("F23", |e| is(&mut e.percentiles)[0].load = None),
    ("F24", |e| is(&mut e.percentiles)[0].n_eff = None),
    ("F25", |e| a(e).series = RecordedValue::NotRecorded),
    ("F26", |e| a(e).warmup = None),
    ("F28", |e| a(e).n = None),
    ("F29", |e| is(&mut e.comparisons)[0].unit = None),
    ("F31", |e| e.schedule = None),
    ("F32", |e| e.numbers = RecordedValue::NotRecorded),
    ("F34", |e| is(&mut e.claim).verb = None),
    ("F36", |e| is(&mut e.comparisons)[0].detectable = None),
    ("F37", |e| e.self_comparison = RecordedValue::NotRecorded),
    ("F38", |e| e.multiplicity = None),
    ("F39", |e| e.stopping = None),
    ("F40", |e| e.exclusions = None),
    ("F41", |e| a(e).statistic = None),
    ("F42", |e| a(e).values = None),
    ("F43", |e| e.means = RecordedValue::NotRecorded),
    ("F44", |e| is(&mut e.suite).members_shown = None),
    ("F45", |e| is(&mut e.numbers)[0].exact = None),
    ("F46", |e| is(&mut e.metrics)[0].version = None),
    ("F47", |e| is(&mut e.numbers)[0].kind = None),
    ("F48", |e| is(&mut e.numbers)[1].derivation = None),
    ("F49", |e| is(&mut e.denominators).systems[0].count = None),
    ("F50", |e| is(&mut e.denominators).several = false),
    ("F51", |e| is(&mut e.energy)[0].uncertainty_percent = None),
    ("F52", |e| e.prices = RecordedValue::NotRecorded),
    ("F54", |e| is(&mut e.claim).absolutes_shown = None),
    ("F56", |e| is(&mut e.claim).text.clear()),
    ("F57", |e| e.quotes = RecordedValue::NotRecorded),
    ("F58", |e| is(&mut e.disclosures)[0].required.clear()),
    ("F59", |e| e.registered = None),
    ("F60", |e| e.repeat.as_mut().unwrap().dirty = None),
    ("F62", |e| {
        a(e).placement.as_mut().unwrap().set[0].bytes_by_node = vec![Err("it ended".to_owned())];
    }),
];
