//! Rows of cells between bars: Markdown tables, and what HTML tables become.

use std::ops::Range;

use super::{Cell, Row, Shape, Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// The table of a region whose lines have bars; the first lines may be its caption.
pub(crate) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    let barred = |line: &Line| {
        let body = line.span.of(text);
        (body.trim_start().starts_with('|') || body.matches('|').count() >= 2)
            && !body.contains("|@")
            && !body.contains("---- Distribution")
    };
    let first = region.iter().position(barred)?;
    let count = region[first..].iter().take_while(|l| barred(l)).count();
    if count < 2 || first > 3 {
        return None;
    }
    let lines = &region[first..first + count];
    // Bars that only group columns: several numbers between two of them.
    let several = |line: &&Line| {
        line.span.of(text).split('|').any(|cell| {
            cell.split_whitespace().filter(|w| w.starts_with(|c: char| c.is_ascii_digit())).count()
                >= 3
        })
    };
    if lines.iter().filter(several).count() * 2 > lines.len() {
        return None;
    }
    let grid: Vec<(Span, Vec<Cell>)> =
        lines.iter().map(|l| (l.span, cells(text, l.span))).collect();
    let rule = grid.iter().position(|(_, cells)| is_rule(cells));
    let header_end = match rule {
        Some(at) if at <= 3 => at,
        _ => header_rows(&grid),
    };
    let width = grid.iter().map(|(_, cells)| cells.len()).max()?;
    if width < 2 {
        return None;
    }
    let columns = names(&grid[..header_end], width);
    let mut rows: Vec<Row> = Vec::new();
    for (span, cells) in &grid[header_end..] {
        if is_rule(cells) {
            continue;
        }
        let mut cells = cells.clone();
        cells.resize(width, Cell::default());
        // A first column that is left empty goes on with the row above.
        let label = match (cells[0].text.is_empty(), rows.last()) {
            (true, Some(above)) => above.label.clone(),
            _ => label(&cells),
        };
        rows.push(Row { span: *span, label, cells });
    }
    let span = Span::new(lines[0].span.start, lines[count - 1].span.end);
    let title = if first > 0 {
        Span::new(region[0].span.start, region[first - 1].span.end)
    } else {
        Span::new(span.start, span.start)
    };
    Some(vec![(Table { shape: Shape::Grid, span, title, columns, rows }, first..first + count)])
}

/// The words of a row up to its first number.
fn label(cells: &[Cell]) -> String {
    let words: Vec<&str> = cells
        .iter()
        .enumerate()
        .take_while(|(i, c)| *i == 0 || c.number.is_none())
        .map(|(_, c)| c.text.as_str())
        .filter(|t| !t.is_empty())
        .collect();
    words.join(" ")
}

fn cells(text: &str, line: Span) -> Vec<Cell> {
    let body = line.of(text);
    let trimmed = body.trim();
    let start = line.start + (body.len() - body.trim_start().len());
    let inner_start = start + usize::from(trimmed.starts_with('|'));
    let inner_end =
        start + trimmed.len() - usize::from(trimmed.len() > 1 && trimmed.ends_with('|'));
    let inner = Span::new(inner_start, inner_end).of(text);
    let mut at = inner_start;
    inner
        .split('|')
        .map(|piece| {
            let span = Span::new(at, at + piece.len());
            at += piece.len() + 1;
            cell(text, span)
        })
        .collect()
}

fn is_rule(cells: &[Cell]) -> bool {
    cells
        .iter()
        .all(|c| !c.text.is_empty() && c.text.chars().all(|ch| matches!(ch, '-' | ':' | ' ' | '=')))
        && !cells.is_empty()
}

/// How many rows at the top have no number: those are the header. A table without any has one.
fn header_rows(grid: &[(Span, Vec<Cell>)]) -> usize {
    let count =
        grid.iter().take_while(|(_, cells)| cells.iter().all(|c| c.number.is_none())).count();
    if count >= grid.len() { 1 } else { count.min(3) }
}

/// Column names: what the header rows say, from top to bottom; a cell that spans names all it spans.
fn names(header: &[(Span, Vec<Cell>)], width: usize) -> Vec<String> {
    let mut names = vec![String::new(); width];
    for (i, (_, cells)) in header.iter().enumerate() {
        let mut spanning = "";
        for (column, name) in names.iter_mut().enumerate() {
            let own = cells.get(column).map_or("", |c| c.text.as_str());
            if !own.is_empty() {
                spanning = own;
            }
            let word =
                if own.is_empty() && i + 1 < header.len() && column > 0 { spanning } else { own };
            if !word.is_empty() {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(word);
            }
        }
    }
    names
}
