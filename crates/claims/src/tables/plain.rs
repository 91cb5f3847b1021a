//! Reads tables in plain text, with columns separated by blanks, tabs or bars and an optional
//! header above.
//!
//! A run of lines is cut where a line without numbers follows one with numbers. Columns are
//! separated by gaps: positions that are blank in all rows of the table. A gap of one blank counts
//! only next to a number, so that the words of a name stay together.

use std::ops::Range;

use super::{Grid, MAX_COLUMNS, is_numeric};
use crate::tables::blocks::{BlockCollector, BlockKind};
use crate::unit;

/// Maximum number of lines above the first row that form its header.
const HEADER_LINES: usize = 3;

/// Reads a plain text or a block of code whose first line is line number `line` of the source.
/// `kind` is the kind of the lines outside of tables.
pub(crate) fn read(reader: &mut BlockCollector, source: &str, line: usize, kind: BlockKind) {
    let lines: Vec<(usize, &str)> =
        source.lines().enumerate().map(|(i, text)| (line + i, text.trim_end())).collect();
    for run in lines.split(|(_, text)| text.is_empty()) {
        let mut start = 0;
        while start < run.len() {
            let head = run[start..].iter().take_while(|(_, text)| !is_row(text)).count();
            let body = run[start + head..].iter().take_while(|(_, text)| is_row(text)).count();
            let (above, rows) = run[start..start + head + body].split_at(head);
            match grid(above, rows) {
                Some((used, grid)) => {
                    prose(reader, &above[..above.len() - used], kind);
                    reader.grid(grid);
                }
                None => prose(reader, &run[start..start + head + body], kind),
            }
            start += head + body;
        }
        reader.end();
    }
}

/// Splits a line into words at blanks and bars.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || c == '|')
        .filter(|t| !t.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Adds lines that are not part of a table. In prose, a list item begins a block.
fn prose(reader: &mut BlockCollector, lines: &[(usize, &str)], kind: BlockKind) {
    for (line, text) in lines {
        if kind == BlockKind::Data {
            reader.data(text, *line);
            continue;
        }
        let text = text.trim_start();
        let numbered = text.split_once(['.', ')']).is_some_and(|(n, rest)| {
            n.len() < 3 && n.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(' ')
        });
        if text.starts_with(['\u{2022}', '*', '-', '#']) || numbered {
            reader.end();
        }
        reader.push(&format!("{text}\n"), *line);
    }
}

/// Returns true for a line that can be a row: words separated by more than one blank, or mostly
/// numbers.
fn is_row(text: &str) -> bool {
    let words = split_words(text);
    let numbers = words.iter().filter(|w| is_numeric(w)).count();
    let pieces = pieces(text);
    pieces.len() > 1 && pieces.iter().any(|(_, piece)| is_numeric(piece))
        || words.len() > 1 && 2 * numbers >= words.len()
}

/// Returns true for a line that only draws a rule: `-----`, `===+===`.
fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.len() > 2 && text.chars().all(|c| "-=+|_: \u{2500}\u{253c}".contains(c))
}

/// Splits a line at tabs, bars, and two or more blanks. Returns the parts with their ranges of
/// character columns.
fn pieces(text: &str) -> Vec<(Range<usize>, String)> {
    let mut out: Vec<(Range<usize>, String)> = Vec::new();
    let mut blanks = 2;
    for (at, c) in text.chars().enumerate() {
        match c {
            ' ' => blanks += 1,
            '\t' | '|' => blanks = 2,
            c => {
                match out.last_mut() {
                    Some((range, piece)) if blanks < 2 => {
                        piece.extend(std::iter::repeat_n(' ', blanks));
                        piece.push(c);
                        range.end = at + 1;
                    }
                    _ => out.push((at..at + 1, c.to_string())),
                }
                blanks = 0;
            }
        }
    }
    out
}

/// Makes a table of rows and the lines above them. Also returns the number of these lines that are
/// its header.
fn grid(above: &[(usize, &str)], rows: &[(usize, &str)]) -> Option<(usize, Grid)> {
    let (columns, body) = barred(rows).or_else(|| aligned(rows))?;
    let width = columns.len();
    if !(2..=MAX_COLUMNS).contains(&width) {
        return None;
    }
    let numeric = |i: usize| body.iter().filter(|cells| is_numeric(&cells[i])).count();
    if !(0..width).any(|i| 2 * numeric(i) >= body.len()) {
        return None;
    }
    let (used, header) = header(above, &columns);
    // One row without a header of the same width is a sentence with a gap.
    let titled = header.iter().filter(|t| !t.is_empty() && !is_numeric(t)).count();
    if rows.len() < 2 && titled < width {
        return None;
    }
    let line = above.get(above.len() - used).or(rows.first()).map_or(1, |(line, _)| *line);
    let rows = rows.iter().map(|(line, _)| *line).zip(body).collect();
    Some((used, Grid { title: None, line, header, rows }))
}

/// Character ranges of the columns, and the cells of the rows.
type Columns = (Vec<Range<usize>>, Vec<Vec<String>>);

/// Splits rows at bars or tabs, if all rows have the same number of columns.
fn barred(rows: &[(usize, &str)]) -> Option<Columns> {
    let mark = ['|', '\t'].into_iter().find(|m| rows.iter().all(|(_, t)| t.contains(*m)))?;
    let cells = |text: &str| -> Vec<String> {
        let text = text.trim_matches(|c| c == mark && mark == '|' || c == ' ');
        text.split(mark).map(|c| c.trim().to_owned()).collect()
    };
    let body: Vec<Vec<String>> = rows.iter().map(|(_, text)| cells(text)).collect();
    let width = body.first()?.len();
    body.iter()
        .all(|cells| cells.len() == width)
        .then(|| ((0..width).map(|i| i..i).collect(), body))
}

/// Splits rows at gaps that are common to all of them.
fn aligned(rows: &[(usize, &str)]) -> Option<Columns> {
    let chars: Vec<Vec<char>> = rows.iter().map(|(_, text)| text.chars().collect()).collect();
    let width = chars.iter().map(Vec::len).max()?;
    let mut filled = vec![false; width];
    for row in &chars {
        for (place, c) in filled.iter_mut().zip(row) {
            *place |= !c.is_whitespace();
        }
    }
    let mut columns: Vec<Range<usize>> = Vec::new();
    for (at, _) in filled.iter().enumerate().filter(|(_, f)| **f) {
        match columns.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => columns.push(at..at + 1),
        }
    }
    let text = |row: &[char], range: &Range<usize>| -> String {
        let range = range.start.min(row.len())..range.end.min(row.len());
        row[range].iter().collect::<String>().trim().to_owned()
    };
    let texts = |range: &Range<usize>| -> Vec<String> {
        chars.iter().map(|row| text(row, range)).collect()
    };
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in columns {
        match merged.last_mut() {
            Some(last) if range.start - last.end == 1 && !parted(&texts(last), &texts(&range)) => {
                last.end = range.end;
            }
            _ => merged.push(range),
        }
    }
    let body = chars.iter().map(|row| merged.iter().map(|range| text(row, range)).collect());
    let body = body.collect();
    Some((merged, body))
}

/// Returns true if a single blank separates two columns: numbers on the right, or numbers on the
/// left without their units on the right.
fn parted(left: &[String], right: &[String]) -> bool {
    let all = |cells: &[String], test: &dyn Fn(&str) -> bool| {
        cells.iter().all(|c| c.is_empty() || test(c)) && cells.iter().any(|c| !c.is_empty())
    };
    all(right, &is_numeric) || all(left, &is_numeric) && !all(right, &unit::is_known)
}

/// Returns the number of lines above the table that are its header, and the titles of the columns.
fn header(above: &[(usize, &str)], columns: &[Range<usize>]) -> (usize, Vec<String>) {
    let width = columns.len();
    let mut header = vec![String::new(); width];
    let mut used = 0;
    for (_, text) in above.iter().rev().take(HEADER_LINES) {
        if is_rule(text) {
            used += 1;
            continue;
        }
        let found = pieces(text);
        let words = split_words(text);
        let titles: Vec<(usize, String)> = if found.len() == width {
            found.into_iter().map(|(_, t)| t).enumerate().collect()
        } else if words.len() == width {
            words.into_iter().enumerate().collect()
        } else if found.len() > 1 && columns.iter().any(|c| !c.is_empty()) {
            found.into_iter().map(|(range, t)| (nearest(columns, &range), t)).collect()
        } else {
            break;
        };
        for (column, title) in titles {
            let below = std::mem::take(&mut header[column]);
            format!("{title} {below}").trim().clone_into(&mut header[column]);
        }
        used += 1;
    }
    if header.iter().all(String::is_empty) { (0, Vec::new()) } else { (used, header) }
}

/// Returns the column that a title belongs to: the one with most common character columns, else the
/// nearest.
fn nearest(columns: &[Range<usize>], title: &Range<usize>) -> usize {
    let distance = |column: &Range<usize>| {
        let common = column.end.min(title.end) as i64 - column.start.max(title.start) as i64;
        -common
    };
    (0..columns.len()).min_by_key(|i| distance(&columns[*i])).unwrap_or(0)
}
