//! How the numbers came about.

use maud::{Markup, html};

use crate::view::RunView;
use crate::words;

pub(super) fn section(view: &RunView) -> Markup {
    let mut not_seen: Vec<(String, String)> = view
        .records
        .iter()
        .flat_map(|r| &r.observers)
        .flat_map(|o| o.not_seen.iter().map(|n| (o.observer.clone(), n.clone())))
        .collect();
    not_seen.sort();
    not_seen.dedup();
    html! {
        ul class="statements" { @for sentence in words::method(view) { li { (sentence) } } }
        @if !not_seen.is_empty() {
            h3 { "What could not be observed" }
            ul { @for (observer, what) in &not_seen { li { code { (observer) } ": " (what) } } }
        }
    }
}
