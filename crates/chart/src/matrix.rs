//! Matrices: a value for each row and column, such as a latency between two CPUs.

use maud::{Markup, html};

use crate::axes::axis::{heading, noted};
use crate::axes::frame::{Head, WIDTH, label, outline, text_width};
use crate::axes::mark::{Focus, mark};
use crate::axes::scale::extent;
use crate::axes::ticks::short;

#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    pub head: Head,
    /// Name of the quantity.
    pub name: String,
    pub unit: String,
    /// Noun for rows and columns: `CPU`.
    pub side: String,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Values by row and column; NaN: no value.
    pub values: Vec<Vec<f64>>,
}

/// Number of levels of darkness.
const LEVELS: usize = 6;
/// Largest side of a cell, and largest height of all rows together.
const CELL: f64 = 44.0;
const HEIGHT: f64 = 680.0;
/// Largest number of cells that can be focused one by one; of more, whole rows can.
const SINGLE: usize = 1024;
const TOP: f64 = 44.0;

/// Draws the matrix: the darker a cell, the larger its value, on a logarithmic scale.
pub fn render(chart: &Matrix) -> Markup {
    let (rows, columns) = (chart.rows.len().max(1), chart.columns.len().max(1));
    let widest = |labels: &[String]| labels.iter().map(|l| text_width(l)).fold(24.0, f64::max);
    let left = widest(&chart.rows) + 14.0;
    let cell = CELL.min((WIDTH - left - 14.0) / columns as f64).min(HEIGHT / rows as f64);
    let ends = extent(chart.values.iter().flatten().copied());
    let at = |column: usize, row: usize| (left + cell * column as f64, TOP + cell * row as f64);
    let mut levels = vec![String::new(); LEVELS];
    for (row, values) in chart.values.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            if let Some(level) = ends.and_then(|ends| level(*value, ends)) {
                levels[level].push_str(&outline(at(column, row), (cell, cell)));
            }
        }
    }
    let thinned = (widest(&chart.columns) / cell).ceil() as usize;
    // Neighbours in a row that have a mark together.
    let stretch = if rows * columns <= SINGLE { 1 } else { columns };
    let (side, unit) = (&chart.side, &chart.unit);
    let spoken = |row: usize, column: usize, (low, high): (f64, f64)| {
        let high = if low == high { String::new() } else { format!(" to {}", short(high, unit)) };
        let to = if stretch == 1 { &*chart.columns[column] } else { "the others" };
        format!("{side} {} to {to}: {}{high}", chart.rows[row], short(low, unit))
    };
    let total = (rows * columns).div_ceil(stretch);
    let body = html! {
        (heading(WIDTH, &format!("{} from {side}", chart.name), &format!("to {side} →")))
        g.axis {
            @for (i, name) in chart.columns.iter().enumerate().step_by(thinned) {
                (label("mid", (at(i, 0).0 + cell / 2.0, TOP - 8.0), name))
            }
            @for (i, name) in chart.rows.iter().enumerate().step_by(thinned) {
                (label("end", (left - 8.0, at(0, i).1 + cell / 2.0 + 4.0), name))
            }
        }
        g.heat { @for (level, d) in levels.iter().enumerate() {
            @if !d.is_empty() { path class={ "h" (level + 1) } d=(d) {} }
        } }
        @for (row, values) in chart.values.iter().enumerate() {
            @for (i, part) in values.chunks(stretch).enumerate() {
                @if let Some(ends) = extent(part.iter().copied()) {
                    @let (place, words) = (at(i * stretch, row), spoken(row, i, ends));
                    @let focus = Focus::nth(row * columns / stretch + i, total);
                    @let d = outline(place, (cell * part.len() as f64, cell));
                    (mark("hit", &d, place, &words, focus))
                }
            }
        }
    };
    let note = ends.map_or(String::new(), |(low, high)| {
        let ends = [low, high].map(|v| short(v, &chart.unit));
        format!("lightest: {}, darkest: {}; logarithmic steps", ends[0], ends[1])
    });
    noted(&chart.head, "matrix", TOP + cell * rows as f64 - 28.0, &note, &body)
}

/// Returns the level of darkness of a value between both ends; `None` if there is no value.
fn level(value: f64, (low, high): (f64, f64)) -> Option<usize> {
    let share = if low == high { 0.0 } else { (value / low).ln() / (high / low).ln() };
    value.is_finite().then(|| ((share * LEVELS as f64) as usize).min(LEVELS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize) -> Matrix {
        let labels: Vec<String> = (0..n).map(|i| i.to_string()).collect();
        let value = |a: usize, b: usize| match (a == b, a / 2 == b / 2) {
            (true, _) => f64::NAN,
            (_, true) => 20e-9,
            _ => 120e-9,
        };
        Matrix {
            head: Head { id: "m".into(), title: "t".into(), desc: "d".into() },
            name: "latency".into(),
            unit: "s".into(),
            side: "CPU".into(),
            rows: labels.clone(),
            columns: labels,
            values: (0..n).map(|a| (0..n).map(|b| value(a, b)).collect()).collect(),
        }
    }

    #[test]
    fn a_cell_for_every_pair_and_none_on_the_diagonal() {
        let svg = render(&matrix(4)).into_string();
        assert_eq!(svg.matches("m hit").count(), 12, "{svg}");
        assert!(svg.contains("CPU 0 to 1: 20 ns") && svg.contains("CPU 3 to 0: 120 ns"), "{svg}");
        assert!(svg.contains("lightest: 20 ns, darkest: 120 ns") && !svg.contains("NaN"), "{svg}");
        let far = svg.split("class=\"h6\"").nth(1).unwrap().split('/').next().unwrap();
        assert_eq!(far.matches('M').count(), 8, "{far}");
    }

    #[test]
    fn large_matrices_have_a_mark_a_row_and_fit() {
        let svg = render(&matrix(256)).into_string();
        assert_eq!(svg.matches("m hit").count(), 256);
        assert!(svg.matches("<text").count() < 120, "labels are thinned");
        let height: f64 = svg
            .split("viewBox=\"0 0 760 ")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(height < 800.0, "{height}");
    }

    #[test]
    fn equal_values_and_none_have_no_scale() {
        assert_eq!(level(5.0, (5.0, 5.0)), Some(0));
        assert_eq!((level(f64::NAN, (1.0, 2.0)), level(2.0, (1.0, 2.0))), (None, Some(LEVELS - 1)));
        let empty = Matrix { rows: vec![], columns: vec![], values: vec![], ..matrix(1) };
        assert!(!render(&empty).into_string().contains("NaN"));
    }
}
