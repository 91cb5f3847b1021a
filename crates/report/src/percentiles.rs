//! The percentiles that reports show: those that are metrics or, if no metric is a percentile,
//! every percentile of every histogram.

use assay_model::{Analysis, CurveSummary, HistogramSummary, Percentile};

use crate::figures::{quantile_name, x_text};

/// Returns the percentiles of whole trials, one row each, ordered by histogram, quantile and
/// treatment. If a workload declares some of them as metrics, the others are left to the exports.
pub(crate) fn rows(analysis: &Analysis) -> Vec<(&HistogramSummary, &Percentile)> {
    let all: Vec<(&HistogramSummary, &Percentile)> =
        every(analysis).filter(|(h, _)| h.at.is_none()).collect();
    let metrics: Vec<_> = all.iter().copied().filter(|(_, p)| p.metric.is_some()).collect();
    let mut rows = if metrics.is_empty() { all } else { metrics };
    // The treatments of one percentile are next to each other.
    rows.sort_by(|(a, p), (b, q)| {
        let of = a.name.cmp(&b.name).then(p.quantile.total_cmp(&q.quantile));
        of.then(a.treatment.cmp(&b.treatment))
    });
    rows
}

/// Returns every percentile with its histogram.
pub(crate) fn every(analysis: &Analysis) -> impl Iterator<Item = (&HistogramSummary, &Percentile)> {
    analysis.histograms.iter().flat_map(|h| h.percentiles.iter().map(move |p| (h, p)))
}

/// Returns the name of a percentile: its metric, or else its quantile and histogram.
pub(crate) fn name(h: &HistogramSummary, p: &Percentile) -> String {
    p.metric.clone().unwrap_or_else(|| format!("{} of {}", quantile_name(p.quantile), h.name))
}

/// Returns the positions where a curve of percentiles has no point, with the reasons.
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
