//! A tracer in the reports: its tabs, and the differences that it finds.

use maud::Markup;

use crate::document::Parts;
use crate::run_pairs::shown;
use crate::shown_comparison::ShownComparison;
use crate::view::RunView;

/// A tracer in the reports.
pub(crate) struct TracerView {
    /// Id and name of its tab.
    pub tab: (&'static str, &'static str),
    /// Id and heading of its section in the tab.
    pub section: (&'static str, &'static str),
    /// Renders the section of a run; `None` if no trial was traced.
    pub run: fn(&RunView) -> Option<Markup>,
    /// Renders the content of the tab for several runs; `None` if there is nothing to compare.
    pub runs: fn(&[&RunView], &ShownComparison) -> Option<Markup>,
    /// Compares a treatment of a later run with that of the first, under a name in JSON.
    pub difference: Option<(&'static str, Comparer)>,
}

/// Two treatments to compare, each of a run.
pub(crate) struct TreatmentPair<'a> {
    pub sides: [(&'a RunView, u32); 2],
    pub labels: [&'a str; 2],
    pub confidence: f64,
}

/// Compares two treatments; `None` if one was not traced.
pub(crate) type Comparer = fn(&TreatmentPair<'_>) -> Option<TraceDifference>;

/// Difference between the traces of two treatments.
pub(crate) struct TraceDifference {
    pub json: serde_json::Value,
    /// Table for a terminal.
    pub table: Parts,
}

impl TraceDifference {
    /// Creates a difference from its data, the number of clear changes in it, and the function that
    /// builds a table with at most a number of rows.
    pub(super) fn new<D: serde::Serialize>(
        pair: &TreatmentPair<'_>,
        data: &D,
        clear: usize,
        table: fn(&D, [&str; 2], usize) -> Parts,
    ) -> Self {
        let json = serde_json::to_value(data).unwrap_or_default();
        TraceDifference { json, table: table(data, pair.labels, shown(clear)) }
    }
}
