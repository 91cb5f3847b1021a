//! The method by which the numbers were measured.

use crate::document::{DocumentPart, Parts, Text, Tone, text};
use crate::view::RunView;
use crate::words;

/// Returns design, order, statistics and stop rule, and the data that no observer could collect.
pub(crate) fn method(view: &RunView) -> Parts {
    let observers = view.records.iter().flat_map(|r| &r.observers);
    let mut not_seen: Vec<(&str, &str)> = observers
        .flat_map(|o| o.not_seen.iter().map(|n| (o.observer.as_str(), n.as_str())))
        .collect();
    not_seen.sort_unstable();
    not_seen.dedup();
    let mut out = Parts::default();
    out.push(DocumentPart::List(Tone::Plain, words::method(view).into_iter().map(text).collect()));
    if !not_seen.is_empty() {
        out.heading("", "What could not be observed");
        let item = |(observer, what)| Text::default().code(observer).plain(format!(": {what}"));
        out.push(DocumentPart::List(Tone::Plain, not_seen.into_iter().map(item).collect()));
    }
    out
}
