//! Instructions of the trials, as Valgrind counted them in trials of their own: for each treatment by function, and what
//! differs from the baseline.

use assay_profile::{Profile, instructions};
use maud::{Markup, html};

use crate::document::html;
use crate::figures::count;
use crate::parts::instructions as parts;
use crate::view::RunView;

/// Functions in a table.
const MOST: usize = 25;
/// Treatments whose tables are shown.
const MAX_TREATMENTS: usize = 6;

/// The treatments' instructions; `None` when none were counted.
pub(super) fn section(view: &RunView) -> Option<Markup> {
    let all = view.treatments().into_iter().map(|t| (view.label(t), view.instructions_of(t)));
    beside(all.collect(), view.experiment.compare.confidence)
}

/// Instructions side by side, with what differs from the first side: the name of each and its trials.
pub(super) fn beside(mut shown: Vec<(String, Vec<&Profile>)>, confidence: f64) -> Option<Markup> {
    shown.retain(|(_, of)| !of.is_empty());
    let (baseline, first) = shown.first()?;
    Some(html! {
        p { "What the program and what it started executed, counted by Valgrind's callgrind in trials that were not timed. Instructions are not time: a cache miss or a system call takes longer than they show." }
        @for (label, of) in shown.iter().skip(1) {
            @if let Some(d) = instructions(first, of, confidence) { (html::parts(&parts::changes(&d, [baseline, label], MOST))) }
        }
        @for (label, of) in shown.iter().take(MAX_TREATMENTS) {
            h3 { (label) }
            p class="soft" { (count(of.len(), "trial")) " together" }
            (html::table(&parts::table(of, MOST)))
        }
        @if shown.len() > MAX_TREATMENTS {
            p class="soft" { (shown.len() - MAX_TREATMENTS) " more have counts in the record that are not shown here." }
        }
    })
}
