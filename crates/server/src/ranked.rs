//! Offers landscapes to those whose archive has a run that can be ranked.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::RunSummary;
use assay_quoted::landscape::Collection;

/// Metric and unit of every quoted result.
static QUOTED: LazyLock<BTreeSet<(String, String)>> = LazyLock::new(|| {
    let results =
        Collection::built_in().ok().and_then(|all| all.results().ok()).unwrap_or_default();
    results.into_iter().map(|r| (r.metric, r.unit)).collect()
});
/// True once the archive has shown a run that can be ranked among quoted results.
static RANKED: AtomicBool = AtomicBool::new(false);

/// Offers the landscapes in the menu from now on if one of the runs measured a metric that they
/// rank.
pub(crate) fn note_runs(runs: &[RunSummary]) {
    let fits = |r: &RunSummary| QUOTED.contains(&(r.metric.clone(), r.unit.clone()));
    RANKED.fetch_or(runs.iter().any(fits), Ordering::Relaxed);
}

/// Returns true once the archive has shown a run that can be ranked.
pub(crate) fn ranked() -> bool {
    RANKED.load(Ordering::Relaxed)
}
