//! Merges several files into one run, and names treatments that only their settings distinguish.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{Fact, Scalar};

use crate::readers::result::{ForeignResult, ForeignTreatment};

/// Adds the results of another file: equal treatments become one that has the trials of both, and
/// new parts are added.
pub(in crate::readers) fn merge(all: &mut Vec<ForeignResult>, more: Vec<ForeignResult>) {
    for result in more {
        // A file with one part does not name the part; only its metric identifies it.
        let fits = |r: &&mut ForeignResult| {
            r.metrics[0].name == result.metrics[0].name
                && r.metrics[0].unit == result.metrics[0].unit
                && (r.part == result.part || r.part.is_empty() || result.part.is_empty())
        };
        match all.iter_mut().find(fits) {
            Some(known) => add(known, result),
            None => all.push(result),
        }
    }
}

fn add(known: &mut ForeignResult, more: ForeignResult) {
    let indices: Vec<usize> = more.treatments.into_iter().map(|t| known.treatment(t)).collect();
    known.trials.extend(more.trials.into_iter().map(|mut trial| {
        trial.treatment = indices[trial.treatment];
        trial
    }));
    for metric in more.metrics {
        if !known.metrics.iter().any(|m| m.name == metric.name) {
            known.metrics.push(metric);
        }
    }
    for note in more.notes {
        if !known.notes.contains(&note) {
            known.notes.push(note);
        }
    }
    known.run_metrics.extend(more.run_metrics);
    known.measured_at = match (known.measured_at.take(), more.measured_at) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let differs = |path: &str| Fact::unknown(format!("the files differ in {path}"));
    if known.host != more.host {
        known.host = None;
        known.facts.insert("host.name".to_owned(), differs("host.name"));
    }
    if known.version != more.version {
        known.version = None;
    }
    let paths: BTreeSet<String> = known.facts.keys().chain(more.facts.keys()).cloned().collect();
    for path in paths {
        if known.facts.get(&path) != more.facts.get(&path) {
            let fact = differs(&path);
            known.facts.insert(path, fact);
        }
    }
}

/// Adds every setting in which treatments with the same levels differ as a level of all treatments.
pub(in crate::readers) fn name_differences(treatments: &mut [ForeignTreatment]) {
    let mut differing: BTreeSet<String> = BTreeSet::new();
    for (i, a) in treatments.iter().enumerate() {
        for b in treatments[..i].iter().filter(|b| b.levels == a.levels) {
            let keys: BTreeSet<&String> = a.params.keys().chain(b.params.keys()).collect();
            let unlike = keys.into_iter().filter(|k| a.params.get(*k) != b.params.get(*k));
            differing.extend(unlike.cloned());
        }
    }
    for treatment in treatments {
        for key in &differing {
            let known = treatment.params.get(key).cloned();
            let level = known.unwrap_or_else(|| Scalar::Text("not stated".to_owned()));
            treatment.levels.entry(key.clone()).or_insert(level);
        }
    }
}

/// Returns the factors with their levels, in the order of the treatments.
pub fn factors(treatments: &[ForeignTreatment]) -> BTreeMap<String, Vec<Scalar>> {
    let mut factors: BTreeMap<String, Vec<Scalar>> = BTreeMap::new();
    for (factor, level) in treatments.iter().flat_map(|t| &t.levels) {
        let levels = factors.entry(factor.clone()).or_default();
        if !levels.contains(level) {
            levels.push(level.clone());
        }
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn treatment(threads: i64, ratio: &str) -> ForeignTreatment {
        let params = BTreeMap::from([
            ("ratio".to_owned(), Scalar::from(ratio)),
            ("threads".to_owned(), Scalar::Int(threads)),
        ]);
        ForeignTreatment { levels: BTreeMap::new(), params }
    }

    #[test]
    fn what_differs_becomes_a_level() {
        let mut same = [treatment(1, "1:10")];
        name_differences(&mut same);
        assert!(same[0].levels.is_empty());
        let mut two = [treatment(1, "1:10"), treatment(2, "1:10")];
        name_differences(&mut two);
        let levels = |n| BTreeMap::from([("threads".to_owned(), Scalar::Int(n))]);
        assert_eq!([two[0].levels.clone(), two[1].levels.clone()], [levels(1), levels(2)]);
        assert_eq!(factors(&two)["threads"], [Scalar::Int(1), Scalar::Int(2)]);
    }
}
