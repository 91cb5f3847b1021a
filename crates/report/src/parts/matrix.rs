//! Matrices: curves whose names are rows, such as `latency from CPU 3` over CPUs.

use assay_chart::Head;
use assay_chart::matrix::{self, Matrix};
use assay_model::CurveSummary;

use crate::document::table::TableRow;
use crate::document::{Outputs, Parts, Table, TableCell, TrialLinks, cell};
use crate::figures::{curves_scale, point_text, x_text};
use crate::parts::curves::slug;
use crate::view::RunView;

/// Largest number of columns of a table of all values.
const MAX_COLUMNS: usize = 16;

/// Divides curves into matrices, each with its rows in order, and other curves.
pub(crate) fn split<'a>(
    all: &[&'a CurveSummary],
) -> (Vec<Vec<&'a CurveSummary>>, Vec<&'a CurveSummary>) {
    let key = |c: &CurveSummary| Some((c.treatment, c.matrix_row()?.0.to_owned()));
    let (rows, others): (Vec<&CurveSummary>, Vec<&CurveSummary>) =
        all.iter().copied().partition(|c| key(c).is_some());
    (rows.chunk_by(|a, b| key(a) == key(b)).map(<[_]>::to_vec).collect(), others)
}

/// Returns a matrix: its heat map on a page, and the table of its values, or of the lowest, the
/// median and the highest if it is large.
pub(crate) fn matrix(view: &RunView, rows: &[&CurveSummary], output: Outputs) -> Parts {
    let mut out = Parts::default();
    let mut columns: Vec<f64> = rows.iter().flat_map(|c| c.points.iter().map(|p| p.x)).collect();
    columns.sort_by(f64::total_cmp);
    columns.dedup();
    let Some((name, _)) = rows[0].matrix_row().filter(|_| !columns.is_empty()) else { return out };
    let (first, side, scale) = (rows[0], rows[0].x_noun(), curves_scale(rows));
    let title = format!("{name} from {side} to {side}, {}", view.label(first.treatment));
    let labels: Vec<String> = columns.iter().map(|x| x_text(*x, &first.x_unit)).collect();
    let row = |c: &CurveSummary| c.matrix_row().map_or("", |(_, row)| row).to_owned();
    let at = |c: &CurveSummary, x: f64| c.points.iter().find(|p| p.x == x).cloned();
    let caption = format!("{title}: geometric means of the trials");
    let large = columns.len() > MAX_COLUMNS;
    let mut table = if large {
        extremes(view, rows, Table::captioned(caption).word("").label(&format!("from {side}")))
    } else {
        let labels = labels.iter().map(String::as_str);
        Table::captioned(caption).label(&format!("from {side}")).numbers(labels)
    };
    for c in rows.iter().filter(|_| !large) {
        let behind = TrialLinks::curve(view, c);
        let value = |x: &f64| at(c, *x).map_or("-".to_owned(), |p| point_text(c, &p, scale));
        let cells = columns.iter().map(|x| TableCell::from(&behind, value(x)));
        let (name, cells) = (row(c), std::iter::once(cell(row(c))).chain(cells).collect());
        table.rows.push(TableRow { name, cells, ..TableRow::default() });
    }
    if large {
        out.note(format!("{title}: {0} x {0} values, on the page and in the CSV", columns.len()));
    }
    if output == Outputs::Page {
        out.heading("", title.clone());
        let value = |c: &CurveSummary, x: f64| at(c, x).map_or(f64::NAN, |p| p.value);
        let chart = matrix::render(&Matrix {
            head: Head {
                id: format!("matrix-{}-{}", slug(name), first.treatment),
                title,
                desc: format!("A cell for each pair: the darker, the higher the {name}."),
            },
            name: name.to_owned(),
            unit: first.unit.clone(),
            side: side.to_owned(),
            rows: rows.iter().map(|c| row(c)).collect(),
            columns: labels,
            values: rows.iter().map(|c| columns.iter().map(|x| value(c, *x)).collect()).collect(),
        });
        out.figure(chart, "Geometric means of the trials.");
    }
    out.table(table);
    out
}

/// Adds the lowest, the median and the highest values of a large matrix to `table`.
fn extremes(view: &RunView, rows: &[&CurveSummary], table: Table) -> Table {
    let (side, scale) = (rows[0].x_noun(), curves_scale(rows));
    let Some((name, _)) = rows[0].matrix_row() else { return table };
    let mut table = table.label(&format!("to {side}")).number(name);
    let pairs = rows.iter().copied().flat_map(|c| {
        let from = c.matrix_row().map_or("", |(_, row)| row);
        c.points.iter().map(move |p| (p, [from.to_owned(), x_text(p.x, &c.x_unit)], c))
    });
    let mut all: Vec<_> = pairs.collect();
    all.sort_by(|a, b| a.0.value.total_cmp(&b.0.value));
    // A pair that was measured once is in the rows of both.
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|(p, [a, b], _)| {
        seen.insert((p.value.to_bits(), a.max(b).clone(), a.min(b).clone()))
    });
    let last = all.len().saturating_sub(1);
    let highest = (0..last.min(5)).map(|i| (last - i, format!("highest, {}", i + 1)));
    let ends = [(0, "lowest".to_owned()), (last / 2, "median".to_owned())];
    for (i, which) in ends.into_iter().chain(highest) {
        let Some((p, [from, to], c)) = all.get(i) else { continue };
        let value = TableCell::from(&TrialLinks::curve(view, c), point_text(c, p, scale));
        table.row(vec![cell(which), cell(from.clone()), cell(to.clone()), value]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{DocumentPart, html};
    use crate::fixtures;

    /// Returns the rows of a matrix of `n` CPUs.
    fn rows(of: &CurveSummary, n: usize) -> Vec<CurveSummary> {
        let point = |x: usize, row: usize| assay_model::CurvePoint {
            x: x as f64,
            value: (1 + x + row) as f64 * 1e-8,
            ..of.points[0].clone()
        };
        let row = |row: usize| CurveSummary {
            name: format!("latency from CPU {row}"),
            x_name: "CPU".into(),
            x_unit: "1".into(),
            unit: "s".into(),
            points: (0..n).filter(|x| *x != row).map(|x| point(x, row)).collect(),
            ..of.clone()
        };
        (0..n).map(row).collect()
    }

    #[test]
    fn rows_are_drawn_as_one_matrix_and_listed_if_they_fit() {
        let view = fixtures::block_size();
        let of = &view.analysis.curves[0];
        for (n, listed) in [(4, true), (64, false)] {
            let rows = rows(of, n);
            let all: Vec<&CurveSummary> = std::iter::once(of).chain(&rows).collect();
            let (matrices, others) = split(&all);
            assert_eq!((matrices.len(), matrices[0].len(), others.len()), (1, n, 1));
            let page = matrix(&view, &matrices[0], Outputs::Page);
            assert!(html::parts(&page).into_string().contains("chart matrix"));
            let terminal = matrix(&view, &matrices[0], Outputs::Terminal);
            let is_table =
                |part: &DocumentPart| matches!(part, DocumentPart::Table(t) if t.rows.len() == n);
            assert_eq!(terminal.0.iter().any(|(_, part)| is_table(part)), listed);
            let text =
                crate::document::terminal::parts(&terminal, crate::terminal::Style::default());
            if !listed {
                // The value of a pair is (1 + sum of the two CPUs) * 10 ns.
                let row = |label: &str| {
                    let line = text.lines().find(|l| l.contains(label)).unwrap();
                    line.split_whitespace().collect::<Vec<_>>().join(" ")
                };
                assert!(row("lowest").contains("lowest 0 1 20"), "{text}");
                assert!(row("highest, 1").contains("highest, 1 62 63 1260"), "{text}");
                assert!(row("highest, 2").contains("highest, 2 61 63 1250"), "{text}");
                assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
            }
        }
        let mut rows = rows(of, 2);
        for row in &mut rows {
            row.points.clear();
        }
        let withheld = matrix(&view, &rows.iter().collect::<Vec<_>>(), Outputs::Page);
        assert!(withheld.0.is_empty(), "{withheld:?}");
    }
}
