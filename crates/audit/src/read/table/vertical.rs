//! Tables printed with one cell a line.

use std::ops::Range;

use super::plain::Piece;
use super::{Cell, Row, Shape, Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// Cells one a line: names first, then rows of one period.
pub(crate) fn read(
    text: &str,
    region: &[Line],
    pieces: &[Vec<Piece>],
) -> Option<Vec<(Table, Range<usize>)>> {
    let kinds: Vec<bool> = pieces.iter().map(|p| p.len() == 1 && p[0].numeric).collect();
    let numbers = kinds.iter().filter(|k| **k).count();
    let short = region.iter().all(|l| l.span.of(text).len() <= 60 && l.bullet == 0);
    if region.len() < 6 || !short || numbers * 3 < region.len() {
        return None;
    }
    let first_number = kinds.iter().position(|k| *k)?;
    // The label of the first row stands before its first number; what is before that are names.
    for period in 2..=16.min(region.len() / 2) {
        for labels in 1..=2.min(first_number) {
            let start = first_number - labels;
            let body = region.len() - start;
            if !body.is_multiple_of(period) || body / period < 2 {
                continue;
            }
            let regular =
                (start..region.len()).all(|i| kinds[i] == kinds[start + (i - start) % period]);
            if !regular {
                continue;
            }
            let names: Vec<String> =
                (0..start).map(|i| region[i].span.of(text).trim().to_owned()).collect();
            let mut columns = vec![String::new(); period];
            for (column, name) in columns.iter_mut().rev().zip(names.iter().rev()) {
                name.clone_into(column);
            }
            let rows = (0..body / period)
                .map(|r| {
                    let lines = &region[start + r * period..start + (r + 1) * period];
                    let cells: Vec<Cell> = lines.iter().map(|l| cell(text, l.span)).collect();
                    Row {
                        span: Span::new(lines[0].span.start, lines[period - 1].span.end),
                        label: cells[0].text.clone(),
                        cells,
                    }
                })
                .collect();
            let span = Span::new(region[start].span.start, region[region.len() - 1].span.end);
            let title = Span::new(region[0].span.start, region[start].span.start);
            return Some(vec![(
                Table { shape: Shape::Grid, span, title, columns, rows },
                0..region.len(),
            )]);
        }
    }
    None
}
