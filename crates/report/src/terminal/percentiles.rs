//! The percentiles of each treatment, from the merged histograms of its trials.

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::percentile_text;
use crate::percentiles;
use crate::view::RunView;

/// A row for each percentile and treatment, with the samples behind it; nothing without histograms.
pub fn percentiles(view: &RunView, style: Style) -> String {
    let rows = percentiles::rows(&view.analysis);
    let mut w = Writer::new(style);
    if rows.is_empty() {
        return w.finish();
    }
    let title = "percentiles: of the histograms of a treatment's trials added together";
    w.wrapped(0, title, Paint::Strong);
    w.blank();
    let several = view.plan.treatments.len() > 1;
    let mut table = Table::default().label("percentile");
    if several {
        table = table.label("treatment");
    }
    table = table.number("value").number("samples").number("beyond").number("trials");
    let mut reasons: Vec<String> = Vec::new();
    for (h, p) in rows {
        let name = percentiles::name(h, p);
        let mut row = vec![cell(name.clone())];
        if several {
            row.push(cell(view.label(h.treatment)));
        }
        let value = if p.value.is_some() { percentile_text(p, &h.unit) } else { "withheld".into() };
        row.extend([cell(value), cell(p.samples.to_string())]);
        row.extend([cell(p.beyond.to_string()), cell(p.trials.to_string())]);
        table.row(row);
        if !p.withheld.is_empty() {
            reasons.push(format!("{name} of {}: {}", view.label(h.treatment), p.withheld));
        }
    }
    w.raw(&table.render(style));
    for reason in reasons {
        w.wrapped(2, &reason, Paint::Soft);
    }
    w.finish()
}
