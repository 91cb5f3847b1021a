//! Differences inside the programs of compared runs: the functions that took more or less time or
//! instructions than in the first run, and the system calls that were made more or less often. Each
//! treatment is compared with the trial as the unit of replication.

use assay_model::{Across, AcrossRow, Verdict};
use assay_traces::profile::{ProfileSide, ProfiledTrial};
use serde::Serialize;

use crate::document::{DocumentPart, Parts};
use crate::parts;
use crate::view::RunView;

/// Smallest and largest number of functions or calls that a terminal lists.
const SHOWN: std::ops::RangeInclusive<usize> = 4..=12;

/// A treatment of a later run compared with that of the first run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TreatmentProfiles {
    /// Label of the treatment.
    pub treatment: String,
    /// Number of the later run, where the first run is 1.
    pub run: usize,
    /// Own time on CPU of functions; `null` if one of the two runs was not profiled.
    pub functions: Option<assay_traces::profile::FunctionDifferences>,
    /// Instructions, counted in separate trials that were not timed; `null` if one of the two runs
    /// did not count them.
    pub instructions: Option<assay_traces::profile::Instructions>,
    /// System calls; `null` if one of the two runs did not count them.
    pub syscalls: Option<assay_traces::syscalls::Differences>,
}

/// Returns the differences inside the programs, for the treatments that may be compared.
pub fn inside(views: &[&RunView], across: &Across) -> Vec<TreatmentProfiles> {
    let mut all = Vec::new();
    for row in &across.rows {
        let runs = beside(views, row);
        let Some(((0, view, treatment), later)) = runs.split_first() else { continue };
        let confidence = view.experiment.compare.confidence;
        let measured = |view: &RunView, treatment: u32| -> Vec<ProfiledTrial> {
            let of = view.profiles_of(treatment);
            of.into_iter().map(|p| ProfiledTrial::of(p, ProfileSide::OnCpu)).collect()
        };
        let (first, calls) = (measured(view, *treatment), view.syscalls_of(*treatment));
        let counted = view.instructions_of(*treatment);
        for (run, view, treatment) in later {
            let (second, made) = (measured(view, *treatment), view.syscalls_of(*treatment));
            let functions = (!first.is_empty() && !second.is_empty())
                .then(|| assay_traces::profile::differences(&first, &second, confidence));
            let syscalls = (!calls.is_empty() && !made.is_empty())
                .then(|| assay_traces::syscalls::differences(&calls, &made, confidence));
            let more = view.instructions_of(*treatment);
            let instructions = assay_traces::profile::instructions(&counted, &more, confidence);
            if functions.is_some() || instructions.is_some() || syscalls.is_some() {
                let treatment = row.label.clone();
                all.push(TreatmentProfiles {
                    treatment,
                    run: run + 1,
                    functions,
                    instructions,
                    syscalls,
                });
            }
        }
    }
    all
}

/// Returns the runs in which a treatment may be compared, each with its index and the treatment's
/// number in it: the runs that have the treatment, except those whose comparison with the first is
/// invalid.
pub(crate) fn beside<'a>(views: &[&'a RunView], row: &AcrossRow) -> Vec<(usize, &'a RunView, u32)> {
    let compared = |i: usize| {
        let c = row.comparisons.get(i).and_then(Option::as_ref);
        c.is_some_and(|c| c.verdict != Verdict::Invalid)
    };
    if !(1..views.len()).any(compared) {
        return Vec::new();
    }
    let of = |(i, view): (usize, &&'a RunView)| {
        let treatment = treatment(view, row).filter(|_| i == 0 || compared(i))?;
        Some((i, *view, treatment))
    };
    views.iter().enumerate().filter_map(of).collect()
}

/// Returns the number of a row's treatment in a run.
pub(crate) fn treatment(view: &RunView, row: &AcrossRow) -> Option<u32> {
    let all = &view.plan.treatments;
    all.iter().find(|t| all.len() == 1 || t.key() == row.key).map(|t| t.id)
}

/// Formats the differences as tables for a terminal.
pub(crate) fn tables(all: &[TreatmentProfiles]) -> Parts {
    let mut out = Parts::default();
    for of in all {
        let later = format!("#{}", of.run);
        let labels = ["#1", later.as_str()];
        let title = match of.treatment.as_str() {
            "" | "-" => "Inside the program".to_owned(),
            treatment => format!("Inside {treatment}"),
        };
        out.push(DocumentPart::Heading(2, String::new(), title.into()));
        if let Some(d) = &of.functions {
            let clear = d.changes.iter().filter(|c| c.clear).count();
            out.append(parts::profile::changes(d, labels, shown(clear)));
        }
        if let Some(d) = &of.instructions {
            let clear = d.functions.iter().filter(|c| c.clear).count();
            out.append(parts::instructions::changes(d, labels, shown(clear)));
        }
        if let Some(d) = &of.syscalls {
            let clear = d.changes.iter().filter(|c| c.clear).count();
            out.append(parts::syscalls::changes(d, labels, shown(clear)));
        }
    }
    out
}

/// Returns the number of lines to show if `clear` of them differ clearly.
pub(crate) fn shown(clear: usize) -> usize {
    clear.clamp(*SHOWN.start(), *SHOWN.end())
}

#[cfg(test)]
mod tests {
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
            view.profiles.insert(r.number, profile);
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
            let changes = &one.functions.as_ref().unwrap().changes;
            assert!(changes[0].clear && changes[0].function == "slow", "{changes:?}");
            assert!(changes.iter().all(|c| c.function == "slow" || !c.clear), "{changes:?}");
            assert_eq!(
                (one.run, one.syscalls.is_none(), one.instructions.is_none()),
                (2, true, true)
            );
        }
        let text = terminal::parts(&tables(&found), Style::default());
        assert!(text.contains("slow") && text.contains("#2 against #1"), "{text}");
        // A comparison that is withheld is not shown from inside either.
        for c in across.rows.iter_mut().flat_map(|r| r.comparisons.iter_mut().flatten()) {
            c.verdict = Verdict::Invalid;
        }
        assert_eq!(inside(&[&a, &b], &across), []);
        assert_eq!(inside(&[&a, &fixtures::commands()], &fixtures::across(&a)), []);
    }
}
