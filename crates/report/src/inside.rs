//! Differences inside the programs of compared runs: the functions that took more or less time or
//! instructions than in the first run, and the system calls that were made more or less often. Each
//! treatment is compared with the trial as the unit of replication.

use std::collections::BTreeMap;

use assay_model::Across;
use serde::Serialize;

use crate::document::{DocumentPart, Parts};
use crate::run_pairs::comparable_runs;
use crate::tracers::TRACERS;
use crate::tracers::view::TreatmentPair;
use crate::view::RunView;

/// A treatment of a later run compared with that of the first run.
#[derive(Debug, Clone, Serialize)]
pub struct TreatmentProfiles {
    /// Label of the treatment.
    pub treatment: String,
    /// Number of the later run, where the first run is 1.
    pub run: usize,
    /// Differences by the tracers' names for them; `null` if one of the two runs was not traced.
    #[serde(flatten)]
    pub differences: BTreeMap<&'static str, Option<serde_json::Value>>,
    #[serde(skip)]
    tables: Parts,
}

/// Returns the differences inside the programs, for the treatments that may be compared.
pub fn inside(views: &[&RunView], across: &Across) -> Vec<TreatmentProfiles> {
    let mut all = Vec::new();
    for row in &across.rows {
        let runs = comparable_runs(views, row);
        let Some(((0, first, baseline), later)) = runs.split_first() else { continue };
        for (run, view, treatment) in later {
            let mut differences = BTreeMap::new();
            let mut tables = Parts::default();
            for (name, compare) in TRACERS.iter().filter_map(|tracer| tracer.difference) {
                let found = compare(&TreatmentPair {
                    sides: [(*first, *baseline), (*view, *treatment)],
                    labels: ["#1", &format!("#{}", run + 1)],
                    confidence: first.experiment.compare.confidence,
                });
                let json = found.map(|d| {
                    tables.append(d.table);
                    d.json
                });
                differences.insert(name, json);
            }
            if differences.values().any(Option::is_some) {
                let treatment = row.label.clone();
                all.push(TreatmentProfiles { treatment, run: run + 1, differences, tables });
            }
        }
    }
    all
}

/// Formats the differences as tables for a terminal.
pub(crate) fn tables(all: &[TreatmentProfiles]) -> Parts {
    let mut out = Parts::default();
    for of in all {
        let title = match of.treatment.as_str() {
            "" | "-" => "Inside the program".to_owned(),
            treatment => format!("Inside {treatment}"),
        };
        out.push(DocumentPart::Heading(2, String::new(), title.into()));
        out.append(of.tables.clone());
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use assay_model::Verdict;

    use super::*;
    use crate::document::terminal;
    use crate::fixtures;
    use crate::terminal::Style;

    /// Returns a fixture in which each trial has a profile of two functions; one of them takes
    /// `slow` microseconds.
    fn profiled(slow: u64) -> RunView {
        let mut view = fixtures::commands();
        for (i, r) in view.records.iter().enumerate() {
            let text = format!("main;steady {}\nmain;slow {slow}\n", 2000 + i % 3);
            let profile = assay_traces::profile::read(text.as_bytes(), "x.folded").unwrap();
            view.traces.insert(&assay_traces::profile::FILE, r.number, Arc::new(profile));
        }
        view
    }

    #[test]
    fn the_function_that_differs_is_named_where_there_is_a_comparison() {
        let (a, b) = (profiled(1000), profiled(1500));
        let mut across = fixtures::across(&a);
        let found = inside(&[&a, &b], &across);
        assert_eq!(found.len(), across.rows.len());
        for one in &found {
            let functions = one.differences["functions"].as_ref().unwrap();
            let changes = functions["changes"].as_array().unwrap();
            let is_slow = |c: &serde_json::Value| c["function"] == "slow";
            assert!(changes[0]["clear"] == true && is_slow(&changes[0]), "{changes:?}");
            assert!(changes.iter().all(|c| is_slow(c) || c["clear"] == false), "{changes:?}");
            assert_eq!(one.run, 2);
            for other in ["syscalls", "instructions"] {
                assert_eq!(one.differences[other], None);
            }
        }
        let text = terminal::parts(&tables(&found), Style::default());
        assert!(text.contains("slow") && text.contains("#2 against #1"), "{text}");
        // A comparison that is withheld is not shown from inside either.
        for c in across.rows.iter_mut().flat_map(|r| r.comparisons.iter_mut().flatten()) {
            c.verdict = Verdict::Invalid;
        }
        assert!(inside(&[&a, &b], &across).is_empty());
        assert!(inside(&[&a, &fixtures::commands()], &fixtures::across(&a)).is_empty());
    }
}
