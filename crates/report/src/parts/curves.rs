//! Curves: their best points, the points to choose, their charts and their values.

use assay_model::nouns::singular;
use assay_model::{Better, CurvePoint, CurveSummary, MetricKind as Origin};

use crate::document::table::ColumnKind;
use crate::document::{
    DocumentPart, Figure, Outputs, Parts, Table, TableCell, Text, TrialLinks, cell,
};
use crate::figures::{NO_VALUE, count, curves_scale, point_text, quantile_name, x_text};
use crate::gate::Gate;
use crate::merged_sentences::distinct;
use crate::parts::draw;
use crate::parts::matrix;
use crate::percentiles::withheld_points;
use crate::view::{RunView, shown_points};
use crate::words::{efficient, smoothness};

/// Largest number of curves in one chart.
const TOGETHER: usize = 8;

/// Returns every curve by name for a published output: charts with their points for a page; only
/// the points of percentiles for Markdown.
pub(crate) fn curves(view: &RunView, gate: &Gate, output: Outputs) -> Parts {
    let all: Vec<&CurveSummary> =
        gate.analysis.curves.iter().filter(|c| !c.points.is_empty()).collect();
    let (matrices, all) = matrix::split(&all);
    let mut out = Parts::default();
    for rows in matrices {
        out.append(matrix::matrix(view, &rows, output));
    }
    for name in names(&all) {
        let own: Vec<&CurveSummary> = all.iter().copied().filter(|c| c.name == name).collect();
        let dd = name == "dd" && own.iter().any(|c| c.kind == Origin::Derived);
        if dd {
            out.heading("", "What dd would have reported");
            out.say(
                "Derived: the time that dd spends on each block beyond the read itself, \
                measured in the same trial, is added to every read.",
            );
        } else {
            out.heading("", format!("{name} over {}", own.first().map_or("x", |c| c.x_noun())));
        }
        for (i, part) in own.chunks(TOGETHER).enumerate() {
            let merged = part.iter().any(|c| c.quantile.is_some());
            let points = points(view, name, part);
            if output != Outputs::Page {
                out.table(if merged { points } else { Table::default() });
                continue;
            }
            let shown = if dd { beside(&all, part) } else { part.to_vec() };
            let several = own.len() > TOGETHER;
            let title = if several { format!("{name}, part {}", i + 1) } else { name.to_owned() };
            let Some(chart) =
                draw::curves(view, &format!("curve-{}-{i}", slug(name)), &title, &shown)
            else {
                continue;
            };
            let of = count(points.rows.len(), part.first().map_or("point", |c| c.x_counted()));
            let summary = format!("Data table: the {of} drawn; the raw values below have all");
            let (mut under, mut folded) = (Parts::default(), Parts::default());
            folded.table(points);
            under.push(DocumentPart::Details { summary, open: false, parts: folded });
            let caption = caption(part).into();
            out.push(DocumentPart::Figure(Figure { chart, caption, words: String::new(), under }));
        }
        for c in &own {
            for sentence in withheld_points(&gate.analysis, c) {
                out.note(format!("{}: {sentence}.", view.label(c.treatment)));
            }
        }
        out.append(choice(view, &own));
        if output == Outputs::Markdown && !own.iter().any(|c| chosen(c) || c.quantile.is_some()) {
            out.note("The points are on the page and in the CSV.");
        }
    }
    out
}

/// Returns the names of curves, each once.
pub(crate) fn names<'a>(all: &[&'a CurveSummary]) -> Vec<&'a str> {
    distinct(all.iter().map(|c| c.name.as_str()))
}

/// Returns true if a curve is meant for choosing a point. A percentile is not, because it is lowest
/// without load; neither is a value with no better direction, such as a share over time, or a row
/// of a matrix.
pub(crate) fn chosen(c: &CurveSummary) -> bool {
    c.quantile.is_none()
        && c.matrix_row().is_none()
        && c.better != Better::Neither
        && c.best.is_some()
}

/// Returns a caption that explains the marks of a chart of curves.
fn caption(part: &[&CurveSummary]) -> String {
    let Some(first) = part.first() else { return String::new() };
    match first.quantile {
        Some(q) => {
            format!("{} of the merged histograms of all trials of a point.", quantile_name(q))
        }
        None if part.iter().all(|c| c.best.is_none()) => {
            format!("Means of the trials at each {}.", first.x_one())
        }
        None => format!(
            "Ring: best; diamond: the smallest {} within 2 % of the best (each {}).",
            first.x_one(),
            first.judged
        ),
    }
}

/// Adds the measured curve of the same treatment before each derived curve of dd.
fn beside<'a>(all: &[&'a CurveSummary], part: &[&'a CurveSummary]) -> Vec<&'a CurveSummary> {
    part.iter()
        .flat_map(|c| {
            let measured = all.iter().copied().find(|m| {
                m.treatment == c.treatment && m.kind == Origin::Measured && m.unit == c.unit
            });
            measured.into_iter().chain([*c])
        })
        .collect()
}

/// Returns the best and the most efficient x of curves of one name; empty if no curve offers a
/// choice.
pub(crate) fn choice(view: &RunView, curves: &[&CurveSummary]) -> Parts {
    let mut out = Parts::default();
    let Some(first) = curves.iter().find(|c| chosen(c)) else { return out };
    let x = &first.x_one();
    let at = format!("at {x}");
    let mut table = Table::captioned(format!("{}: best and most efficient {x}", first.name))
        .label("treatment")
        .numbers(["best", &at, "most efficient", &at, "smoothness"])
        .trials();
    let scale = curves_scale(curves);
    for c in curves.iter().filter(|c| chosen(c)) {
        let behind = TrialLinks::curve(view, c);
        let mut row = vec![cell(view.label(c.treatment))];
        for (p, note) in [(&c.best, best_note(c)), (&c.efficient, String::new())] {
            let [value, at] = p.as_ref().map_or([NO_VALUE; 2].map(str::to_owned), |p| {
                [point_text(c, p, scale) + &note, x_text(p.x, &c.x_unit)]
            });
            row.extend([value, at].map(|words| TableCell::from(&behind, words)));
        }
        let smooth = c.smoothness.map_or_else(|| NO_VALUE.to_owned(), |s| format!("{s:.2}"));
        row.extend([TableCell::from(&behind, smooth), TableCell::trials(&behind)]);
        table.row(row);
    }
    out.table(table);
    out.note(efficient(x, &first.judged));
    out.on(
        Outputs::Published,
        DocumentPart::Paragraph(crate::document::Tone::Soft, smoothness(x).into()),
    );
    out
}

/// Returns the note at the best point of a curve. The extreme of many noisy points is too good by
/// luck; if another point is best, the note states how the points were judged.
pub(crate) fn best_note(c: &CurveSummary) -> String {
    let order = |a: &&CurvePoint, b: &&CurvePoint| a.value.total_cmp(&b.value);
    let extreme = match c.better {
        Better::Higher => c.points.iter().max_by(order),
        Better::Lower => c.points.iter().min_by(order),
        Better::Neither => None,
    };
    let alone = extreme.zip(c.best.as_ref()).is_some_and(|(e, b)| e.x == b.x);
    if alone { String::new() } else { format!(", {}", c.judged) }
}

/// Returns a table of the points of curves side by side.
fn points(view: &RunView, name: &str, curves: &[&CurveSummary]) -> Table {
    let mut xs: Vec<f64> =
        curves.iter().flat_map(|c| shown_points(c).into_iter().map(|p| p.x)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let points = curves.first().map_or("point", |c| c.x_counted());
    let merged = curves.iter().any(|c| c.quantile.is_some());
    let what = if merged { "from merged histograms" } else { "geometric mean and interval" };
    let mut table = Table::captioned(format!("{name} at every {}: {what}", singular(points)))
        .number(curves.first().map_or("x", |c| c.x_noun()));
    for c in curves {
        let title = Text::default().from(&TrialLinks::curve(view, c), view.label(c.treatment));
        table = table.column(Outputs::All, ColumnKind::Number, title).number("n");
    }
    let (x_unit, scale) = (curves.first().map_or("", |c| c.x_unit.as_str()), curves_scale(curves));
    for at in xs {
        let mut row = vec![cell(x_text(at, x_unit))];
        for c in curves {
            let [value, n] = c.points.iter().find(|p| p.x == at).map_or_else(
                || ["not measured", "0"].map(str::to_owned),
                |p| [point_text(c, p, scale), p.n.to_string()],
            );
            row.extend([cell(value), cell(n)]);
        }
        table.row(row);
    }
    table
}

/// Converts a name to an HTML id.
pub(crate) fn slug(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect()
}
