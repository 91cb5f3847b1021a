//! Inside the programs of runs that are compared: the functions that took more or less time, or more or fewer
//! instructions, than in the first run, and the system calls that were made more or less often. By treatment, with the trial as the unit.

use assay_model::{Across, AcrossRow, Verdict};
use assay_traces::profile::{Measured, Side};
use serde::Serialize;

use crate::document::{Part, Parts};
use crate::parts;
use crate::view::RunView;

/// So many functions and calls a terminal lists at least, and at most.
const SHOWN: std::ops::RangeInclusive<usize> = 4..=12;

/// A treatment of a later run beside the first run's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inside {
    /// Its label.
    pub treatment: String,
    /// Which run, the first being 1.
    pub run: usize,
    /// Own time on CPU of functions; `null` where one of the two was not profiled.
    pub functions: Option<assay_traces::profile::Differences>,
    /// Instructions, counted in trials of their own that were not timed; `null` where one of the two did not count them.
    pub instructions: Option<assay_traces::profile::Instructions>,
    /// System calls; `null` where one of the two did not count them.
    pub syscalls: Option<assay_traces::syscalls::Differences>,
}

/// What differs inside, of the treatments that may be compared.
pub fn inside(views: &[&RunView], across: &Across) -> Vec<Inside> {
    let mut all = Vec::new();
    for row in &across.rows {
        let runs = beside(views, row);
        let Some(((0, view, treatment), later)) = runs.split_first() else { continue };
        let confidence = view.experiment.compare.confidence;
        let measured = |view: &RunView, treatment: u32| -> Vec<Measured> {
            let of = view.profiles_of(treatment);
            of.into_iter().map(|p| Measured::of(p, Side::OnCpu)).collect()
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
                all.push(Inside { treatment, run: run + 1, functions, instructions, syscalls });
            }
        }
    }
    all
}

/// The runs that may be laid side by side in a treatment, with its number in each: those that have it, but for
/// what is no comparison with the first.
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

/// The number of a row's treatment in a run.
pub(crate) fn treatment(view: &RunView, row: &AcrossRow) -> Option<u32> {
    let all = &view.plan.treatments;
    all.iter().find(|t| all.len() == 1 || t.key() == row.key).map(|t| t.id)
}

/// As tables, for a terminal.
pub(crate) fn tables(all: &[Inside]) -> Parts {
    let mut out = Parts::default();
    for of in all {
        let later = format!("#{}", of.run);
        let labels = ["#1", later.as_str()];
        let title = match of.treatment.as_str() {
            "" | "-" => "Inside the program".to_owned(),
            treatment => format!("Inside {treatment}"),
        };
        out.push(Part::Heading(2, String::new(), title.into()));
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

/// How many lines are shown where so many differ clearly.
pub(crate) fn shown(clear: usize) -> usize {
    clear.clamp(*SHOWN.start(), *SHOWN.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::terminal;
    use crate::fixtures;
    use crate::terminal::Style;

    /// The fixture's run, each trial with a profile of two functions, one of which takes so many microseconds.
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
        // What is withheld is not shown from inside either.
        for c in across.rows.iter_mut().flat_map(|r| r.comparisons.iter_mut().flatten()) {
            c.verdict = Verdict::Invalid;
        }
        assert_eq!(inside(&[&a, &b], &across), []);
        assert_eq!(inside(&[&a, &fixtures::commands()], &fixtures::across(&a)), []);
    }
}
