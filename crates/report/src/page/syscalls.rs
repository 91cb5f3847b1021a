//! System calls of the trials: for each treatment its trials together, and the calls that differ from the
//! baseline's.

use assay_syscalls::{Syscalls, differences};
use maud::{Markup, html};

use crate::document::html;
use crate::figures::count;
use crate::parts::syscalls as parts;
use crate::view::RunView;

/// Lines of a table.
const MAX_ROWS: usize = 25;
/// Treatments whose tables are shown.
const MAX_TREATMENTS: usize = 6;

/// The treatments' system calls; `None` when none were counted.
pub(super) fn section(view: &RunView) -> Option<Markup> {
    let all = view.treatments().into_iter().map(|t| (view.label(t), view.syscalls_of(t)));
    beside(all.collect(), view.experiment.compare.confidence)
}

/// System calls side by side, with what differs from the first side: the name of each and its trials.
pub(super) fn beside(mut shown: Vec<(String, Vec<&Syscalls>)>, confidence: f64) -> Option<Markup> {
    shown.retain(|(_, of)| !of.is_empty());
    let (baseline, first) = shown.first()?;
    Some(html! {
        p { "What the program and what it started asked of the kernel." }
        @for (label, of) in shown.iter().skip(1) {
            (html::parts(&parts::changes(&differences(first, of, confidence), [baseline, label], MAX_ROWS)))
        }
        @for (label, of) in shown.iter().take(MAX_TREATMENTS) {
            h3 { (label) }
            p class="soft" { (count(of.len(), "trial")) " together" }
            (html::parts(&parts::tables(&Syscalls::merged(of.iter().copied()), MAX_ROWS)))
        }
        @if shown.len() > MAX_TREATMENTS {
            p class="soft" { (shown.len() - MAX_TREATMENTS) " more have system calls in the record that are not shown here." }
        }
    })
}
