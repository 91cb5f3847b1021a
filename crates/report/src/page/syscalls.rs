//! System calls of the trials: for each treatment its trials together, and the calls that differ from the
//! baseline's.

use assay_syscalls::{Syscalls, differences};
use maud::{Markup, html};

use crate::document::html;
use crate::figures::count;
use crate::parts::syscalls as parts;
use crate::view::RunView;

/// Lines of a table.
const MOST: usize = 25;
/// Treatments whose tables are shown.
const MAX_TREATMENTS: usize = 6;

/// The treatments' system calls; `None` when none were counted.
pub(super) fn section(view: &RunView) -> Option<Markup> {
    let mut shown: Vec<(u32, Vec<&Syscalls>)> = Vec::new();
    for treatment in view.treatments() {
        let counted = view.counted(treatment);
        let of: Vec<&Syscalls> =
            counted.iter().filter_map(|r| view.syscalls.get(&r.number)).collect();
        if !of.is_empty() {
            shown.push((treatment, of));
        }
    }
    let (baseline, first) = shown.first()?;
    let label = view.label(*baseline);
    let confidence = view.experiment.compare.confidence;
    Some(html! {
        p { "What the program and what it started asked of the kernel." }
        @for (treatment, of) in shown.iter().skip(1) {
            (html::parts(&parts::changes(&differences(first, of, confidence), [&label, &view.label(*treatment)], MOST)))
        }
        @for (treatment, of) in shown.iter().take(MAX_TREATMENTS) {
            h3 { (view.label(*treatment)) }
            p class="soft" { (count(of.len(), "trial")) " together" }
            (html::parts(&parts::tables(&Syscalls::merged(of.iter().copied()), MOST)))
        }
        @if shown.len() > MAX_TREATMENTS {
            p class="soft" { (shown.len() - MAX_TREATMENTS) " more treatments have system calls in the record that are not shown here." }
        }
    })
}
