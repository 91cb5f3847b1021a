//! Formats numbers as text, in the same way for every output.

use assay_model::units::{self, Estimate};
use assay_model::{
    Across, AcrossRow, Analysis, Comparison, CurvePoint, CurveSummary, Guest, HistogramSummary,
    Interval, MetricKind, Percentile, SuiteScore, Summary, TreatmentSummary,
};

/// Warning about the times of an emulator.
pub(crate) const EMULATED: &str =
    "in an emulated machine (TCG) times are the emulator's; only counts may be compared";

/// Name of the metric by which a post refers to the mean of a suite's members.
pub const GEOMEAN: &str = "geomean";

/// Text in place of a missing number.
pub const NO_VALUE: &str = "no value";

/// Returns the centre of a summary: the geometric mean, or the arithmetic mean if a value is not
/// positive; for a percentile, the value of the trials' merged histograms.
pub fn centre(summary: &TreatmentSummary) -> Option<f64> {
    summary.centre()
}

/// Returns the name of the statistic that [`centre`] returns.
pub(crate) fn centre_name(summary: &TreatmentSummary) -> &'static str {
    if summary.percentile.is_some() {
        "merged"
    } else if summary.summary.geomean.is_some() || summary.summary.mean.is_none() {
        "geometric mean"
    } else {
        "mean"
    }
}

/// Returns a value with its interval, in the unit prefix of `reference`; `None` without an
/// interval.
pub fn estimate(
    value: f64,
    interval: Option<Interval>,
    unit: &str,
    reference: f64,
) -> Option<Estimate> {
    interval.map(|i| units::estimate(value, i.low, i.high, unit, reference))
}

/// Formats `5.542 GB/s [5.512, 5.572]`, or `5.542 GB/s` if there is no interval.
pub fn with_interval(value: f64, interval: Option<Interval>, unit: &str) -> String {
    on_scale(value, interval, unit, None)
}

/// Formats like [`with_interval`], in the unit prefix of `scale` or, without one, of the value.
pub(crate) fn on_scale(v: f64, i: Option<Interval>, unit: &str, scale: Option<f64>) -> String {
    estimate(v, i, unit, scale.unwrap_or(v))
        .map_or_else(|| units::format_value_as(v, unit, 4, scale), |e| e.to_string())
}

/// Formats like [`with_interval`] and adds the interval's level, for a sentence.
pub fn in_a_sentence(value: f64, interval: Option<Interval>, unit: &str) -> String {
    estimate(value, interval, unit, value)
        .map_or_else(|| units::format_value(value, unit), |e| e.text(interval.map(|i| i.level)))
}

/// Returns the mark of an arithmetic mean in a column of geometric means.
fn arithmetic(summary: &Summary) -> &'static str {
    if summary.geomean.is_none() && summary.mean.is_some() { " (arithmetic)" } else { "" }
}

/// Formats a summary's centre with its interval, or states why there is no value.
pub(crate) fn summary_text(summary: &TreatmentSummary) -> String {
    summary_as(summary, with_interval)
}

/// Formats like [`summary_text`] and adds the interval's level, for a sentence.
pub(crate) fn summary_in_a_sentence(summary: &TreatmentSummary) -> String {
    summary_as(summary, in_a_sentence)
}

fn summary_as(
    summary: &TreatmentSummary,
    write: impl Fn(f64, Option<Interval>, &str) -> String,
) -> String {
    let none = || match &summary.percentile {
        _ if summary.longer_than.is_some() => {
            let least = summary.longer_than.unwrap_or_default();
            format!("longer than {}", units::format_value(least, &summary.unit))
        }
        Some(p) if !p.withheld.is_empty() => format!("{NO_VALUE}: {}", p.withheld),
        _ => NO_VALUE.to_owned(),
    };
    let value = centre(summary).map_or_else(none, |v| write(v, summary.interval(), &summary.unit));
    value + kind_of_mean(summary) + mark(summary.virtual_machine, !summary.doubts.is_empty())
}

fn kind_of_mean(summary: &TreatmentSummary) -> &'static str {
    if summary.percentile.is_some() { "" } else { arithmetic(&summary.summary) }
}

/// Returns the mark of a number that was measured in a virtual machine or is doubtful.
pub fn mark(in_guest: bool, doubtful: bool) -> &'static str {
    match (in_guest, doubtful) {
        (true, false) => " (in a virtual machine)",
        (true, true) => " (in a virtual machine, doubtful)",
        (false, true) => " (doubtful)",
        (false, false) => "",
    }
}

/// Returns the [`mark`] of a value of the analysis.
pub(crate) fn value_mark(analysis: &Analysis, doubtful: bool) -> &'static str {
    mark(analysis.guest.is_some(), doubtful)
}

/// Returns the [`mark`] of a ratio, which is doubtful if either side is; empty without a ratio.
pub(crate) fn ratio_mark(analysis: &Analysis, c: &Comparison) -> &'static str {
    let none = c.ratio.is_none();
    if none { "" } else { value_mark(analysis, !ratio_doubts(analysis, c).is_empty()) }
}

/// Returns the reasons why a percentile is doubtful: those of its metric or, for a time in an
/// emulated machine, that it is the emulator's time.
pub(crate) fn percentile_doubts(
    analysis: &Analysis,
    h: &HistogramSummary,
    p: &Percentile,
) -> Vec<String> {
    let metric = p.metric.as_deref().unwrap_or_default();
    let mut doubts = value_doubts(analysis, &[h.treatment], metric);
    if doubts.is_empty() && analysis.guest == Some(Guest::Emulated) && h.unit != "B" {
        doubts.push(format!("{}: {}", h.label, EMULATED));
    }
    doubts
}

/// Returns the reasons why either side of a ratio is doubtful; empty without a ratio.
pub(crate) fn ratio_doubts(analysis: &Analysis, c: &Comparison) -> Vec<String> {
    match c.ratio {
        Some(_) => value_doubts(analysis, &[c.baseline, c.treatment], &c.metric),
        None => Vec::new(),
    }
}

/// Returns the reasons why values of these treatments are doubtful. A suite's mean is doubtful if
/// the metric of its members' ratios is.
pub fn value_doubts(analysis: &Analysis, treatments: &[u32], metric: &str) -> Vec<String> {
    let metric = match &analysis.suite {
        Some(suite) if metric == GEOMEAN => &suite.metric,
        _ => metric,
    };
    let of = analysis.summaries.iter();
    of.filter(|s| s.metric == metric && treatments.contains(&s.treatment))
        .flat_map(|s| s.doubts.iter().map(move |d| format!("{}: {d}", s.label)))
        .collect()
}

/// Returns the reasons why the mean of a score is doubtful.
pub(crate) fn score_doubts(analysis: &Analysis, score: &SuiteScore) -> Vec<String> {
    let members: Vec<u32> = score.members.iter().map(|m| m.treatment).collect();
    value_doubts(analysis, &members, GEOMEAN)
}

/// Formats summaries like [`summary_text`], all in one unit prefix if their values lie within a
/// factor of 1000.
pub(crate) fn summary_texts(all: &[&TreatmentSummary]) -> Vec<String> {
    let scale = units::common_reference(all.iter().filter_map(|s| s.centre()));
    all.iter().map(|s| summary_as(s, |v, i, unit| on_scale(v, i, unit, scale))).collect()
}

/// Formats a percentile in the unit prefix of `scale`, or states why it has no value.
pub(crate) fn percentile_text(p: &Percentile, unit: &str, scale: Option<f64>) -> String {
    match p.value {
        Some(v) => on_scale(v, None, unit, scale),
        None if p.withheld.is_empty() => NO_VALUE.to_owned(),
        None => format!("withheld: {}", p.withheld),
    }
}

/// Returns the heading of a column of values of compared runs.
pub(crate) fn across_heading(across: &Across) -> &'static str {
    if across.rows.iter().any(|r| !r.percentiles.is_empty()) { "merged" } else { "geometric mean" }
}

/// Returns the centre of a treatment's values in one of the compared runs.
fn across_centre(row: &AcrossRow, run: usize) -> Option<f64> {
    match row.percentiles.get(run) {
        Some(Some(percentile)) => percentile.value,
        _ => row.summaries.get(run)?.as_ref().and_then(|s| s.geomean.or(s.mean)),
    }
}

/// Returns the value whose unit prefix the values of compared runs share.
pub(crate) fn across_scale(across: &Across) -> Option<f64> {
    let each = across.rows.iter().flat_map(|r| (0..across.runs.len()).map(move |run| (r, run)));
    units::common_reference(each.filter_map(|(row, run)| across_centre(row, run)))
}

/// Formats the value of a treatment in one of the compared runs, in the unit prefix of `scale`; a
/// percentile is that of the merged histograms.
pub(crate) fn across_value(a: &Across, row: &AcrossRow, run: usize, scale: Option<f64>) -> String {
    let text = match (row.percentiles.get(run), row.summaries.get(run), across_centre(row, run)) {
        (Some(Some(percentile)), ..) => percentile_text(percentile, &a.unit, scale),
        (_, Some(Some(s)), Some(v)) => on_scale(v, s.interval, &a.unit, scale) + arithmetic(s),
        _ => NO_VALUE.to_owned(),
    };
    text + across_mark(a, row, &[run])
}

/// Returns the [`mark`] of a number that is computed from these runs' values of a treatment.
pub(crate) fn across_mark(across: &Across, row: &AcrossRow, runs: &[usize]) -> &'static str {
    let in_guest = |run: &usize| across.guests.get(*run).is_some_and(Option::is_some);
    let doubtful = |run: &usize| row.doubts.get(*run).is_some_and(|d| !d.is_empty());
    mark(runs.iter().any(in_guest), runs.iter().any(doubtful))
}

/// Formats a quantile as `p50` or `p99.9`.
pub(crate) fn quantile_name(quantile: f64) -> String {
    let text = format!("{:.4}", quantile * 100.0);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns the value whose unit prefix the points of these curves share.
pub(crate) fn curves_scale(curves: &[&CurveSummary]) -> Option<f64> {
    units::common_reference(curves.iter().flat_map(|c| &c.points).map(|p| p.value))
}

/// Formats a curve point's value with its interval, in the unit prefix of `scale`.
pub fn point_text(curve: &CurveSummary, point: &CurvePoint, scale: Option<f64>) -> String {
    // An estimate comes from a simulation, which has no clock that could be wrong.
    let timed = curve.guest == Some(Guest::Emulated) && curve.kind != MetricKind::Estimated;
    on_scale(point.value, point.interval, &curve.unit, scale) + mark(curve.guest.is_some(), timed)
}

/// Formats the x value of a curve point: sizes in IEC units, anything else as a value.
pub fn x_text(x: f64, unit: &str) -> String {
    if unit == "B" && x >= 0.0 && x.fract() == 0.0 && x < 9e15 {
        return units::format_bytes(x as u64);
    }
    if x.fract() == 0.0 && matches!(unit, "1" | "") {
        return format!("{x:.0}");
    }
    units::format_value(x, unit)
}

/// Formats a comparison's ratio with its interval: `1.861 [1.842, 1.880]`; the ratio alone if n is
/// too small for an interval; [`NO_VALUE`] without a ratio.
pub fn ratio_text(comparison: &Comparison) -> String {
    match (comparison.ratio, comparison.interval) {
        (Some(r), Some(i)) => units::ratio(r, i.low, i.high).to_string(),
        (Some(r), None) => format!("{} (no interval)", units::significant(r, 4)),
        (None, _) => NO_VALUE.to_owned(),
    }
}

/// Formats like [`ratio_text`] and adds the interval's level, for a sentence.
pub(crate) fn ratio_in_a_sentence(c: &Comparison) -> String {
    match (c.ratio, c.interval) {
        (Some(r), Some(i)) => units::ratio(r, i.low, i.high).text(Some(i.level)),
        _ => ratio_text(c),
    }
}

/// Formats a metric's value, or returns [`NO_VALUE`].
pub fn value_text(value: Option<f64>, unit: &str) -> String {
    value_on_scale(value, unit, None)
}

/// Formats like [`value_text`], in the unit prefix of `scale`.
pub(crate) fn value_on_scale(value: Option<f64>, unit: &str, scale: Option<f64>) -> String {
    value.map_or_else(|| NO_VALUE.to_owned(), |v| on_scale(v, None, unit, scale))
}

pub use assay_model::nouns::count;
pub use assay_model::units::percent;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_digits_that_its_interval_supports() {
        let i = Interval { low: 5.512e9, high: 5.572e9, level: 0.95 };
        assert_eq!(with_interval(5.542_345e9, Some(i), "B/s"), "5.542 GB/s [5.512, 5.572]");
        assert_eq!(with_interval(5.542_345e9, None, "B/s"), "5.542 GB/s");
        assert_eq!(value_text(None, "s"), "no value");
        let i = Interval { low: 1.19, high: 1.21, level: 0.95 };
        assert_eq!(on_scale(1.2, Some(i), "s", Some(0.95)), "1200 ms [1190, 1210]");
        assert_eq!(value_on_scale(Some(1.2), "s", Some(0.95)), "1200 ms");
        assert_eq!(x_text(65536.0, "B"), "64 KiB");
        assert_eq!(x_text(3.0, "1"), "3");
    }
}
