//! Curves in a terminal: their best points, the points to choose, and a short table.

use assay_chart::axes::text::{bar, sparkline};
use assay_model::{CurvePoint, CurveSummary};

use super::Style;
use crate::document::{DocumentPart, Outputs, Parts, Table, Tone, cell};
use crate::figures::{count, curves_scale, point_text, quantile_name, x_text};
use crate::parts::curves::{choice, names};
use crate::parts::matrix;
use crate::percentiles::withheld_points;
use crate::view::RunView;

/// Formats every curve: the points to choose, then a sparkline and the values at powers of two.
/// Empty if there is no curve.
pub(super) fn curves(view: &RunView, style: Style) -> Parts {
    let of: Vec<&CurveSummary> = view.analysis.curves.iter().collect();
    let (matrices, of) = matrix::split(&of);
    let mut all = Parts::default();
    for rows in matrices {
        all.append(matrix::matrix(view, &rows, Outputs::Terminal));
    }
    for name in names(&of) {
        let own: Vec<&CurveSummary> = of.iter().copied().filter(|c| c.name == name).collect();
        all.append(choice(view, &own));
        let scale = curves_scale(&own);
        for c in own {
            one(c, scale, style, &mut all);
            all.notes(withheld_points(&view.analysis, c));
        }
    }
    all
}

/// Largest number of points that are all in a curve's table; of more points, it has those at powers
/// of two.
const MAX_ROWS: usize = 16;

fn one(c: &CurveSummary, scale: Option<f64>, style: Style, all: &mut Parts) {
    let n = c.points.iter().map(|p| p.n).max().unwrap_or(0) as usize;
    let kind = if c.kind == assay_model::MetricKind::Measured {
        String::new()
    } else {
        format!(" ({:?})", c.kind).to_lowercase()
    };
    let of = if c.label == "-" { String::new() } else { format!(", {}", c.label) };
    let x = c.x_noun();
    let many = count(c.points.len(), c.x_counted());
    let title = format!("{}{kind} over {x}{of}, {many} of {}", c.name, count(n, "trial"));
    all.titled(title);
    if let Some(q) = c.quantile {
        all.note(format!("{} of the trials' merged histograms", quantile_name(q)));
    } else if c.kind == assay_model::MetricKind::Derived {
        all.note(format!("its values by {x} are on the page and in the CSV"));
        return;
    }
    let few = c.points.len() <= MAX_ROWS;
    let shown = |p: &&CurvePoint| few || is_power_of_two(p.x);
    let powers: Vec<&CurvePoint> = c.points.iter().filter(shown).collect();
    if powers.is_empty() {
        return;
    }
    let values: Vec<f64> = powers.iter().map(|p| p.value).collect();
    all.push(DocumentPart::Code("", format!("  {}", sparkline(&values, style.glyphs))));
    let most = values.iter().copied().fold(0.0, f64::max);
    let mut table = Table::default().number(x).number(&c.name).word("");
    for p in powers {
        let room = style.columns().saturating_sub(50).min(24);
        let drawn = if room < 4 { String::new() } else { bar(p.value, most, room, style.glyphs) };
        table.row(vec![
            cell(x_text(p.x, &c.x_unit)),
            cell(point_text(c, p, scale)),
            cell(drawn).tone(Tone::Soft),
        ]);
    }
    all.table(table);
}

fn is_power_of_two(x: f64) -> bool {
    x >= 1.0 && x.fract() == 0.0 && x < 9e15 && (x as u64).is_power_of_two()
}
