//! The table that a run ends with: every treatment in the deciding metric, and what each comparison
//! says.

use assay_model::units;
use assay_model::{Analysis, TreatmentSummary};

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::{NO_VALUE, centre, doubt, estimate, percent, ratio_text};
use crate::view::{analysis_label, deciding};
use crate::words::floor;

/// Treatments with n, geometric mean and interval, the ratio to the baseline with its interval, and
/// the verdict; under it the reason of each verdict.
pub fn comparison(analysis: &Analysis, style: Style) -> String {
    let summaries = deciding(analysis);
    let mut w = Writer::new(style);
    let better = analysis.better.words();
    let direction = if better.is_empty() { String::new() } else { format!(", {better}") };
    let told = if summaries.iter().any(|s| s.percentile.is_some()) {
        format!(
            "from the merged histograms of its trials; ratios are of trials paired by block, with {} intervals",
            percent(analysis.confidence)
        )
    } else {
        format!("geometric mean and {} interval", percent(analysis.confidence))
    };
    w.wrapped(0, &format!("{} by treatment: {told}{direction}", analysis.metric), Paint::Strong);
    w.blank();
    w.raw(&table(analysis, &summaries).render(style));
    let mut reasons = Writer::new(style);
    for s in &summaries {
        for why in &s.doubts {
            reasons.wrapped(2, &format!("{}: doubtful: {why}", s.label), Paint::Soft);
        }
    }
    for c in &analysis.comparisons {
        let label = analysis_label(analysis, c.treatment);
        reasons.wrapped(2, &format!("{label}: {}", c.reason), Paint::Soft);
        if let Some(d) = c.detectable {
            let text = format!(
                "a difference of {} would have been found in 80 of 100 repeats",
                percent(d - 1.0)
            );
            reasons.wrapped(4, &text, Paint::Soft);
        }
    }
    if let Some(known) = analysis.floor.as_ref().filter(|_| !analysis.comparisons.is_empty()) {
        reasons.wrapped(2, &floor(known), Paint::Soft);
    }
    let reasons = reasons.finish();
    if !reasons.is_empty() {
        w.blank();
        w.raw(&reasons);
    }
    w.finish()
}

fn table(analysis: &Analysis, summaries: &[&TreatmentSummary]) -> Table {
    let reference = common_reference(summaries);
    let unit = reference.map(|r| units::scale_of(r, &analysis.unit).1);
    let title = match &unit {
        Some(u) if !u.is_empty() => format!("{}, {u}", analysis.metric),
        _ => analysis.metric.clone(),
    };
    let compared = !analysis.comparisons.is_empty();
    let mut table = Table::default().label("treatment").number("n").number(&title);
    if compared {
        table = table.number("ratio").word("verdict");
    }
    for s in summaries {
        let value = centre(s).map_or_else(
            || NO_VALUE.to_owned(),
            |v| match estimate(v, s.interval(), &s.unit, reference.unwrap_or(v)) {
                Some(e) if reference.is_some() => format!("{} ({}..{})", e.value, e.low, e.high),
                Some(e) => e.to_string(),
                None if reference.is_some() => {
                    let (factor, _) = units::scale_of(reference.unwrap_or(v), &s.unit);
                    units::significant(v / factor, 4)
                }
                None => units::format_value(v, &s.unit),
            },
        );
        let value = value + doubt(s);
        let mut row = vec![cell(s.label.clone()), cell(s.summary.n.to_string()), cell(value)];
        if compared {
            let comparison = analysis.comparisons.iter().find(|c| c.treatment == s.treatment);
            if let Some(c) = comparison {
                row.push(cell(ratio_text(c)));
                row.push((c.verdict.name().to_owned(), Paint::of(c.verdict)));
            } else {
                row.push(cell("1"));
                row.push(("baseline".to_owned(), Paint::Soft));
            }
        }
        table.row(row);
    }
    table
}

/// The value that gives the whole column its scale, where the values lie within a factor of 1000.
fn common_reference(summaries: &[&TreatmentSummary]) -> Option<f64> {
    let values: Vec<f64> = summaries.iter().filter_map(|s| centre(s)).map(f64::abs).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    (low > 0.0 && high / low < 1000.0).then_some(low)
}
