//! The percentiles that reports show: those that are metrics, else every percentile of every histogram.

use assay_model::{Analysis, CurveSummary, HistogramSummary, Percentile};

use crate::figures::{quantile_name, x_text};

/// The percentiles of whole trials, a row each, in the order of the analysis' treatments. Where a
/// workload says which of them are its metrics, the others are left to the exports.
pub(crate) fn rows(analysis: &Analysis) -> Vec<(&HistogramSummary, &Percentile)> {
    let all: Vec<(&HistogramSummary, &Percentile)> =
        every(analysis).filter(|(h, _)| h.at.is_none()).collect();
    let metrics: Vec<_> = all.iter().copied().filter(|(_, p)| p.metric.is_some()).collect();
    let mut rows = if metrics.is_empty() { all } else { metrics };
    // By metric, so that the treatments of one stand together.
    rows.sort_by(|(a, p), (b, q)| {
        let of = a.name.cmp(&b.name).then(p.quantile.total_cmp(&q.quantile));
        of.then(a.treatment.cmp(&b.treatment))
    });
    rows
}

/// Every percentile with its histogram.
pub(crate) fn every(analysis: &Analysis) -> impl Iterator<Item = (&HistogramSummary, &Percentile)> {
    analysis.histograms.iter().flat_map(|h| h.percentiles.iter().map(move |p| (h, p)))
}

/// What a percentile is called: the metric that it is, else its quantile of its histogram.
pub(crate) fn name(h: &HistogramSummary, p: &Percentile) -> String {
    p.metric.clone().unwrap_or_else(|| format!("{} of {}", quantile_name(p.quantile), h.name))
}

/// Where a curve of percentiles has no point, and why.
pub(crate) fn withheld_points(analysis: &Analysis, curve: &CurveSummary) -> Vec<String> {
    let of_curve = |h: &&HistogramSummary| h.treatment == curve.treatment && h.at.is_some();
    let mut found: Vec<(f64, &str)> = analysis
        .histograms
        .iter()
        .filter(of_curve)
        .filter_map(|h| {
            let p = h.percentiles.iter().find(|p| p.metric.as_ref() == Some(&curve.name))?;
            (!p.withheld.is_empty()).then_some((h.at?, p.withheld.as_str()))
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
        .into_iter()
        .map(|(x, why)| format!("withheld at {}: {why}", x_text(x, &curve.x_unit)))
        .collect()
}
