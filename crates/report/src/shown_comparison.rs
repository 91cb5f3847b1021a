//! A comparison of runs as it may be shown.

use assay_model::Across;

use crate::gate::Gate;
use crate::run_pairs::treatment;
use crate::view::RunView;

/// A comparison of runs without the numbers that are withheld in any of them.
#[derive(Debug, Clone)]
pub struct ShownComparison {
    pub(crate) across: Across,
    /// Comparisons in the metrics of the block I/O tracer.
    pub(crate) io: Vec<Across>,
}

impl ShownComparison {
    /// Removes the withheld numbers from the comparison in the deciding metric and from those in
    /// the tracer's metrics.
    pub fn new(views: &[&RunView], across: &Across, io: &[Across]) -> Self {
        let gates: Vec<Gate> = views.iter().map(|view| Gate::from_view(view)).collect();
        ShownComparison {
            across: published(views, &gates, across),
            io: io.iter().map(|a| published(views, &gates, a)).collect(),
        }
    }
}

/// Returns the comparison without the numbers that a run withholds; `gates` has the gate of each
/// run.
fn published(views: &[&RunView], gates: &[Gate], across: &Across) -> Across {
    let mut across = across.clone();
    for (i, (view, gate)) in views.iter().zip(gates).enumerate() {
        for row in &mut across.rows {
            let Some(why) = treatment(view, row).and_then(|t| gate.treatment(t)) else { continue };
            if let Some(summary) = row.summaries.get_mut(i) {
                *summary = None;
            }
            if let Some(percentile) = row.percentiles.get_mut(i) {
                *percentile = None;
            }
            // A ratio to a withheld baseline is as worthless as the ratio of a withheld treatment.
            let touched = |k: usize| k == i || i == 0;
            let ratios = row.comparisons.iter_mut().enumerate().filter(|(k, _)| touched(*k));
            for c in ratios.filter_map(|(_, c)| c.as_mut()) {
                c.verdict = assay_model::Verdict::Invalid;
                c.reason = why.text();
                (c.ratio, c.interval, c.sensitivity, c.detectable) = (None, None, None, None);
            }
        }
    }
    across
}
