//! Curves in a terminal: where each is best, what to choose, and a short table.

use assay_chart::text::{bar, sparkline};
use assay_model::{Analysis, Better, CurvePoint, CurveSummary};

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::{count, point_text, quantile_name, x_text};
use crate::percentiles::withheld_points;

/// Every curve: best, the most efficient size, smoothness, a sparkline and the values at powers of
/// two. Nothing when there is no curve.
pub fn curves(analysis: &Analysis, style: Style) -> String {
    let mut w = Writer::new(style);
    for (i, c) in analysis.curves.iter().enumerate() {
        if i > 0 {
            w.blank();
        }
        one(c, style, &mut w);
        for sentence in withheld_points(analysis, c) {
            w.wrapped(2, &sentence, Paint::Soft);
        }
    }
    w.finish()
}

/// A curve of no more points than this has all of them in its table, else those at powers of two.
const MOST_ROWS: usize = 16;

fn one(c: &CurveSummary, style: Style, w: &mut Writer) {
    let n = c.points.iter().map(|p| p.n).max().unwrap_or(0) as usize;
    let kind = if c.kind == assay_model::Kind::Measured {
        String::new()
    } else {
        format!(" ({:?})", c.kind).to_lowercase()
    };
    let of = if c.label == "-" { String::new() } else { format!(", {}", c.label) };
    let x = c.x_noun();
    let many = count(c.points.len(), c.x_counted());
    let title = format!("{}{kind} over {x}{of}, {many} of {}", c.name, count(n, "trial"));
    w.wrapped(0, &title, Paint::Strong);
    let at = |p: &CurvePoint| format!("{}  {}", x_text(p.x, &c.x_unit), point_text(p, &c.unit));
    // A percentile is least where nothing is asked: there is nothing to choose by it; nor by what is no better
    // or worse, such as a share over time.
    let chosen = c.quantile.is_none() && c.better != Better::Neither;
    let mut pairs = Vec::new();
    if let (Some(p), true) = (&c.best, chosen) {
        // The highest of many noisy points is too high by luck; where another is best, that is said.
        let alone = extreme(c).is_some_and(|e| e.x == p.x);
        pairs.push(("best", if alone { at(p) } else { format!("{}, {}", at(p), c.judged) }));
    }
    if let (Some(p), true) = (&c.efficient, chosen) {
        pairs.push(("efficient", at(p)));
    }
    if chosen {
        pairs.push((
            "smoothness",
            c.smoothness.map_or_else(
                || "not known: too few points".to_owned(),
                |s| format!("{s:.2} from 0 (rough) to 1 (smooth)"),
            ),
        ));
    }
    w.pairs(&pairs);
    if c.efficient.is_some() && chosen {
        let text =
            format!("efficient: {}, the smallest {} within 2 % of the best", c.judged, c.x_one());
        w.wrapped(2, &text, Paint::Soft);
    }
    if let Some(q) = c.quantile {
        let text = format!("{} of the trials' merged histograms", quantile_name(q));
        w.wrapped(2, &text, Paint::Soft);
    } else if c.kind == assay_model::Kind::Derived {
        w.wrapped(2, &format!("its values by {x} are on the page and in the CSV"), Paint::Soft);
        return;
    }
    let few = c.points.len() <= MOST_ROWS;
    let shown = |p: &&CurvePoint| few || is_power_of_two(p.x);
    let powers: Vec<&CurvePoint> = c.points.iter().filter(shown).collect();
    if powers.is_empty() {
        return;
    }
    let values: Vec<f64> = powers.iter().map(|p| p.value).collect();
    w.line(&format!("  {}", sparkline(&values, style.glyphs)), Paint::Plain);
    let most = values.iter().copied().fold(0.0, f64::max);
    let mut table = Table::default().number(x).number(&c.name).word("");
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

/// The point whose own value is the best.
fn extreme(c: &CurveSummary) -> Option<&CurvePoint> {
    let order = |a: &&CurvePoint, b: &&CurvePoint| a.value.total_cmp(&b.value);
    match c.better {
        Better::Higher => c.points.iter().max_by(order),
        Better::Lower => c.points.iter().min_by(order),
        Better::Neither => None,
    }
}

fn is_power_of_two(x: f64) -> bool {
    x >= 1.0 && x.fract() == 0.0 && x < 9e15 && (x as u64).is_power_of_two()
}
