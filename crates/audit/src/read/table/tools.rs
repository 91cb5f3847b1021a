//! What benchmark tools print in rows: `go test -bench`, benchstat, criterion, pytest-benchmark.
//! Each becomes a table like those that are written by hand.

use std::ops::Range;

use super::{Cell, Row, Shape, Table, benchstat, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// The tables of one tool's output in a region of lines.
pub(crate) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    go(text, region)
        .or_else(|| benchstat::read(text, region))
        .or_else(|| criterion(text, region))
        .or_else(|| pytest(text, region))
        .map(|t| vec![t])
}

/// The words of a line with their places.
pub(super) fn words(text: &str, line: &Line) -> Vec<Span> {
    let body = line.span.of(text);
    let mut found = Vec::new();
    let mut start = None;
    for (i, c) in body.char_indices().chain(std::iter::once((body.len(), ' '))) {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some(i),
            (true, Some(from)) => {
                found.push(Span::new(line.span.start + from, line.span.start + i));
                start = None;
            }
            _ => {}
        }
        if found.len() > 40 {
            break;
        }
    }
    found
}

pub(super) fn join(spans: &[Span]) -> Span {
    match (spans.first(), spans.last()) {
        (Some(a), Some(b)) => Span::new(a.start, b.end),
        _ => Span::default(),
    }
}

pub(super) fn grid(
    text: &str,
    columns: Vec<String>,
    rows: Vec<(Span, String, Vec<Option<Span>>)>,
) -> Option<Table> {
    let width = columns.len();
    let rows: Vec<Row> = rows
        .into_iter()
        .map(|(span, label, cells)| {
            let mut own: Vec<Cell> = vec![Cell {
                text: label.clone(),
                span: Span::new(span.start, span.start),
                number: None,
                sign: None,
            }];
            own.extend(cells.into_iter().map(|c| c.map_or_else(Cell::default, |s| cell(text, s))));
            own.resize(width, Cell::default());
            Row { span, label, cells: own }
        })
        .collect();
    let span = Span::new(rows.first()?.span.start, rows.last()?.span.end);
    Some(Table {
        shape: Shape::Grid,
        span,
        title: Span::new(span.start, span.start),
        columns,
        rows,
    })
}

/// `BenchmarkSwiss-8   41772034   28.61 ns/op   0 B/op   0 allocs/op`.
fn go(text: &str, region: &[Line]) -> Option<(Table, Range<usize>)> {
    let mut columns = vec![String::new()];
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (i, line) in region.iter().enumerate() {
        let words = words(text, line);
        let name = words.first().map_or("", |w| w.of(text));
        if !name.starts_with("Benchmark")
            || words.len() < 4
            || words[1].of(text).parse::<u64>().is_err()
        {
            continue;
        }
        let mut cells: Vec<Option<Span>> = vec![None; columns.len() - 1];
        for pair in words[2..].chunks_exact(2) {
            let unit = pair[1].of(text);
            let column = columns.iter().position(|c| c == unit).unwrap_or_else(|| {
                columns.push(unit.to_owned());
                cells.push(None);
                columns.len() - 1
            });
            if let Some(slot) = cells.get_mut(column - 1) {
                *slot = Some(pair[0]);
            }
        }
        rows.push((line.span, name.to_owned(), cells));
        lines.push(i);
    }
    let range = *lines.first()?..lines.last()? + 1;
    Some((grid(text, columns, rows)?, range))
}

/// `parse/nom   time:   [12.401 µs 12.455 µs 12.513 µs]`, with `thrpt:` under it.
fn criterion(text: &str, region: &[Line]) -> Option<(Table, Range<usize>)> {
    let mut rows: Vec<(Span, String, Vec<Option<Span>>)> = Vec::new();
    let mut lines = Vec::new();
    let mut name: Option<String> = None;
    let mut change = false;
    for (i, line) in region.iter().enumerate() {
        let body = line.span.of(text);
        let words = words(text, line);
        // "change:" with the same two lines under it, or with the change of the time behind it.
        let own = words.iter().position(|w| w.of(text) == "change:");
        if own.is_some() && words.len() == 1 {
            change = true;
            lines.push(i);
        } else if let Some(at) = own.or_else(|| {
            words
                .iter()
                .position(|w| w.of(text) == "time:")
                .filter(|_| change && body.contains('%'))
        }) {
            if let (Some((_, _, cells)), Some(middle)) = (rows.last_mut(), words.get(at + 2)) {
                cells[2] = Some(*middle);
                lines.push(i);
            }
        } else if let Some(at) = words.iter().position(|w| matches!(w.of(text), "time:" | "thrpt:"))
        {
            if change && body.contains('%') {
                lines.push(i);
                continue;
            }
            change = false;
            let thrpt = words[at].of(text) == "thrpt:";
            let Some(middle) = middle(text, &words[at + 1..]) else { continue };
            if thrpt {
                if let Some((span, _, cells)) = rows.last_mut() {
                    span.end = line.span.end;
                    cells[1] = Some(middle);
                }
            } else {
                let own = join(&words[..at]).of(text).to_owned();
                let own = if own.is_empty() { name.take()? } else { own };
                rows.push((line.span, own, vec![Some(middle), None, None]));
            }
            lines.push(i);
        } else if words.len() == 1 {
            name = Some(body.trim().to_owned());
        }
    }
    let range = *lines.first()?..lines.last()? + 1;
    let columns = ["", "time", "throughput", "change"].map(str::to_owned).to_vec();
    Some((grid(text, columns, rows)?, range))
}

/// The second of three values between brackets, or the only one.
fn middle(text: &str, words: &[Span]) -> Option<Span> {
    let (first, last) = (words.first()?, words.iter().find(|w| w.of(text).ends_with(']'))?);
    let inside = Span::new(first.start + 1, last.end - 1);
    let count = words.iter().take_while(|w| w.start < inside.end).count();
    let open = first.of(text).starts_with('[');
    match count {
        2 if open => Some(inside),
        6 if open => words.get(2..4).map(join),
        _ => None,
    }
}

/// The table of pytest-benchmark: one unit in its header, a factor in brackets behind each value.
fn pytest(text: &str, region: &[Line]) -> Option<(Table, Range<usize>)> {
    let header =
        region.iter().position(|l| l.span.of(text).trim_start().starts_with("Name (time in "))?;
    let body = region[header].span.of(text);
    let unit = body.split("time in ").nth(1)?.split(')').next()?;
    let mut columns = vec![String::new()];
    let mut rest = body.split_once(')')?.1.trim();
    while !rest.is_empty() {
        let word = rest.split_whitespace().next()?;
        rest = rest[rest.find(word)? + word.len()..].trim_start();
        let mut name = word.to_owned();
        if rest.starts_with('(') {
            let (inside, after) = rest.split_once(')')?;
            name = format!("{name} {inside})");
            rest = after.trim_start();
        } else if matches!(word, "Min" | "Max" | "Mean" | "Median" | "StdDev" | "IQR") {
            name = format!("{word} ({unit})");
        }
        columns.push(name);
        if columns.len() > 20 {
            return None;
        }
    }
    let mut rows = Vec::new();
    let mut last = header;
    for (i, line) in region.iter().enumerate().skip(header + 1) {
        let words = words(text, line);
        let values: Vec<Span> = words
            .iter()
            .skip(1)
            .copied()
            .filter(|w| w.of(text).starts_with(|c: char| c.is_ascii_digit()))
            .collect();
        if values.len() + 1 < columns.len() {
            continue;
        }
        rows.push((
            line.span,
            words[0].of(text).to_owned(),
            values.into_iter().map(Some).collect(),
        ));
        last = i;
    }
    Some((grid(text, columns, rows)?, header..last + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::line::lines;

    #[test]
    fn criterion_tells_of_the_change_since_the_last_run() {
        let text = "pack/avx2               time:   [203.00 ns 203.70 ns 204.60 ns]\n                        \
                    thrpt:  [5.0049 Gelem/s 5.0270 Gelem/s 5.0443 Gelem/s]\n                 change:\n                        \
                    time:   [-21.304% -20.871% -20.418%] (p = 0.00 < 0.05)\n                        Performance has improved.\n\
                    pack/avx512             time:   [189.60 ns 190.20 ns 191.00 ns]\n";
        let tables = read(text, &lines(text)).unwrap();
        let table = &tables[0].0;
        let row: Vec<&str> = table.rows[0].cells.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(row, ["pack/avx2", "203.70 ns", "5.0270 Gelem/s", "-20.871%"]);
        assert_eq!(table.rows[1].label, "pack/avx512");
        let text = "lex/json            time:   [4.8812 ms 4.9003 ms 4.9231 ms]\n                    thrpt:  [2.3434 GiB/s]\n";
        let table = &read(text, &lines(text)).unwrap()[0].0;
        assert_eq!(table.rows[0].cells[2].text, "2.3434 GiB/s");
    }
}
