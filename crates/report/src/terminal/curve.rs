//! Curves in a terminal: where each is best, what to choose, and a short table.

use assay_chart::text::{bar, sparkline};
use assay_model::{CurvePoint, CurveSummary};

use super::Style;
use super::writer::Writer;
use crate::document::{Table, Tone, cell, terminal};
use crate::figures::{count, point_text, quantile_name, x_text};
use crate::parts::curves::{choice, names};
use crate::percentiles::withheld_points;
use crate::view::RunView;

/// Every curve: what to choose, then a sparkline and the values at powers of two. Nothing when there is no
/// curve.
pub fn curves(view: &RunView, style: Style) -> String {
    let all: Vec<&CurveSummary> = view.analysis.curves.iter().collect();
    let mut w = Writer::new(style);
    for (i, name) in names(&all).into_iter().enumerate() {
        if i > 0 {
            w.blank();
        }
        let own: Vec<&CurveSummary> = all.iter().copied().filter(|c| c.name == name).collect();
        w.raw(&terminal::parts(&choice(view, &own), style));
        for c in own {
            if !w.is_empty() {
                w.blank();
            }
            one(c, style, &mut w);
            for sentence in withheld_points(&view.analysis, c) {
                w.wrapped(2, &sentence, Tone::Soft);
            }
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
    w.wrapped(0, &title, Tone::Strong);
    if let Some(q) = c.quantile {
        let text = format!("{} of the trials' merged histograms", quantile_name(q));
        w.wrapped(2, &text, Tone::Soft);
    } else if c.kind == assay_model::Kind::Derived {
        w.wrapped(2, &format!("its values by {x} are on the page and in the CSV"), Tone::Soft);
        return;
    }
    let few = c.points.len() <= MOST_ROWS;
    let shown = |p: &&CurvePoint| few || is_power_of_two(p.x);
    let powers: Vec<&CurvePoint> = c.points.iter().filter(shown).collect();
    if powers.is_empty() {
        return;
    }
    let values: Vec<f64> = powers.iter().map(|p| p.value).collect();
    w.line(&format!("  {}", sparkline(&values, style.glyphs)), Tone::Plain);
    let most = values.iter().copied().fold(0.0, f64::max);
    let mut table = Table::default().number(x).number(&c.name).word("");
    for p in powers {
        let room = style.columns().saturating_sub(50).min(24);
        let drawn = if room < 4 { String::new() } else { bar(p.value, most, room, style.glyphs) };
        table.row(vec![
            cell(x_text(p.x, &c.x_unit)),
            cell(point_text(p, &c.unit)),
            cell(drawn).tone(Tone::Soft),
        ]);
    }
    w.raw(&table.render(style));
}

fn is_power_of_two(x: f64) -> bool {
    x >= 1.0 && x.fract() == 0.0 && x < 9e15 && (x as u64).is_power_of_two()
}
