//! Curves in a terminal: where each is best, what to choose, and a short table.

use assay_chart::text::{bar, sparkline};
use assay_model::{Analysis, CurvePoint, CurveSummary};

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::{count, point_text, x_text};

/// Every curve: best, the most efficient size, smoothness, a sparkline and the values at powers of
/// two. Nothing when there is no curve.
pub fn curves(analysis: &Analysis, style: Style) -> String {
    let mut w = Writer::new(style);
    for (i, c) in analysis.curves.iter().enumerate() {
        if i > 0 {
            w.blank();
        }
        one(c, style, &mut w);
    }
    w.finish()
}

fn one(c: &CurveSummary, style: Style, w: &mut Writer) {
    let n = c.points.iter().map(|p| p.n).max().unwrap_or(0) as usize;
    let kind = if c.kind == assay_model::Kind::Measured {
        String::new()
    } else {
        format!(" ({:?})", c.kind).to_lowercase()
    };
    let of = if c.label == "-" { String::new() } else { format!(", {}", c.label) };
    let sizes = count(c.points.len(), "size");
    let title = format!("{}{kind} over size{of}, {sizes} of {}", c.name, count(n, "trial"));
    w.wrapped(0, &title, Paint::Strong);
    let at = |p: &CurvePoint| format!("{}  {}", x_text(p.x, &c.x_unit), point_text(p, &c.unit));
    let mut pairs = Vec::new();
    if let Some(p) = &c.best {
        pairs.push(("best", at(p)));
    }
    if let Some(p) = &c.efficient {
        pairs.push(("efficient", at(p)));
    }
    pairs.push((
        "smoothness",
        c.smoothness.map_or_else(
            || "not known: too few sizes".to_owned(),
            |s| format!("{s:.2} from 0 (rough) to 1 (smooth)"),
        ),
    ));
    w.pairs(&pairs);
    if c.efficient.is_some() {
        let text = format!("efficient: {}, the smallest size within 2 % of the best", c.judged);
        w.wrapped(2, &text, Paint::Soft);
    }
    if c.kind == assay_model::Kind::Derived {
        w.wrapped(2, "its values by size are on the page and in the CSV", Paint::Soft);
        return;
    }
    let powers: Vec<&CurvePoint> = c.points.iter().filter(|p| is_power_of_two(p.x)).collect();
    if powers.is_empty() {
        return;
    }
    let values: Vec<f64> = powers.iter().map(|p| p.value).collect();
    w.line(&format!("  {}", sparkline(&values, style.glyphs)), Paint::Plain);
    let most = values.iter().copied().fold(0.0, f64::max);
    let mut table = Table::default().number("size").number(&c.name).word("");
    for p in powers {
        let room = style.columns().saturating_sub(50).min(24);
        let drawn = if room < 4 { String::new() } else { bar(p.value, most, room, style.glyphs) };
        table.row(vec![
            cell(x_text(p.x, &c.x_unit)),
            cell(point_text(p, &c.unit)),
            (drawn, Paint::Soft),
        ]);
    }
    w.raw(&table.render(style));
}

fn is_power_of_two(x: f64) -> bool {
    x >= 1.0 && x.fract() == 0.0 && x < 9e15 && (x as u64).is_power_of_two()
}
