//! Counts of the trials: system calls, and instructions as Valgrind counts them in separate trials.
//! Each side has a table of all its trials together; differences are to the first side.

use assay_traces::profile::{Profile, instructions as differences};
use assay_traces::syscalls::Syscalls;
use maud::{Markup, html};

use crate::document::{DocumentPart, Parts, html};
use crate::figures::count;
use crate::parts::{instructions as by_function, syscalls as by_call};
use crate::view::RunView;

/// Largest number of rows of a table.
const MAX_ROWS: usize = 25;
/// Largest number of sides whose tables and flame graphs are shown.
pub(super) const MAX_SIDES: usize = 6;

/// The trials of one treatment or run, with their counts or profiles.
pub(super) struct TrialGroup<'a, T> {
    /// Id of the group, unique on the page.
    pub(super) id: String,
    pub(super) label: String,
    pub(super) trials: Vec<&'a T>,
}

/// Renders the treatments of a run side by side, baseline first.
pub(super) fn treatments<'a, T>(
    view: &'a RunView,
    of: fn(&'a RunView, u32) -> Vec<&'a T>,
    shown: fn(Vec<TrialGroup<'a, T>>, f64) -> Option<Markup>,
) -> Option<Markup> {
    let side =
        |t: u32| TrialGroup { id: format!("t{t}"), label: view.label(t), trials: of(view, t) };
    let all = view.treatments().into_iter().map(side).collect();
    shown(all, view.experiment.compare.confidence)
}

/// Renders instruction counts side by side.
pub(super) fn instructions(sides: Vec<TrialGroup<'_, Profile>>, confidence: f64) -> Option<Markup> {
    beside(
        sides,
        "What the program and what it started executed, counted by Valgrind's callgrind in trials that were not timed. Instructions are not time: a cache miss or a system call takes longer than they show.",
        "counts",
        |a, b, labels| {
            let d = differences(a, b, confidence)?;
            Some(by_function::changes(&d, labels, MAX_ROWS))
        },
        |of| Parts::of(DocumentPart::Table(by_function::table(of, MAX_ROWS))),
    )
}

/// Renders system calls side by side.
pub(super) fn system_calls(
    sides: Vec<TrialGroup<'_, Syscalls>>,
    confidence: f64,
) -> Option<Markup> {
    beside(
        sides,
        "What the program and what it started asked of the kernel.",
        "system calls",
        |a, b, labels| {
            let d = assay_traces::syscalls::differences(a, b, confidence);
            Some(by_call::changes(&d, labels, MAX_ROWS))
        },
        |of| by_call::tables(&Syscalls::merged(of.iter().copied()), MAX_ROWS),
    )
}

fn beside<T>(
    mut sides: Vec<TrialGroup<'_, T>>,
    words: &str,
    left: &str,
    changes: impl Fn(&[&T], &[&T], [&str; 2]) -> Option<Parts>,
    tables: impl Fn(&[&T]) -> Parts,
) -> Option<Markup> {
    sides.retain(|side| !side.trials.is_empty());
    let first = sides.first()?;
    Some(html! {
        p { (words) }
        @for side in sides.iter().skip(1) {
            @if let Some(d) = changes(&first.trials, &side.trials, [&first.label, &side.label]) { (html::parts(&d)) }
        }
        @for side in sides.iter().take(MAX_SIDES) {
            h3 { (side.label) }
            p class="soft" { (count(side.trials.len(), "trial")) " together" }
            (html::parts(&tables(&side.trials)))
        }
        @if sides.len() > MAX_SIDES {
            p class="soft" { (sides.len() - MAX_SIDES) " more have " (left) " in the record that are not shown here." }
        }
    })
}
