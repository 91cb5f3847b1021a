//! Rows of words and numbers with nothing but white space between them, also when the columns are
//! not aligned.

use std::ops::Range;

use super::{Cell, Row, Shape, Table, cell, vertical};
use crate::detect::role::{self, Role};
use crate::read::line::Line;
use crate::read::source::Span;

/// A word or number of a line, or several words that stand together.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub cell: Cell,
    pub numeric: bool,
}

/// The tables of a region of lines without bars.
pub(crate) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    let pieces: Vec<Vec<Piece>> = region.iter().map(|l| pieces(text, l)).collect();
    let data: Vec<bool> = region.iter().zip(&pieces).map(|(l, p)| is_data(text, l, p)).collect();
    if data.iter().filter(|d| **d).count() < 2 {
        return vertical::read(text, region, &pieces);
    }
    let starts = starts(&pieces, &data);
    let mut tables = Vec::new();
    for (i, start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(region.len(), |next| *next);
        if let Some(found) = table(text, region, &pieces, &data, *start..end) {
            tables.push(found);
        }
    }
    (!tables.is_empty()).then_some(tables)
}

fn pieces(text: &str, line: &Line) -> Vec<Piece> {
    let body = line.span.of(text);
    let mut pieces = Vec::new();
    let mut at = 0;
    for word in body.split_inclusive(char::is_whitespace) {
        let bars = |c: char| matches!(c, '|' | '¦');
        let core = word.trim().trim_matches(bars);
        let lead = word.len() - word.trim_start().trim_start_matches(bars).len();
        let rule = core.chars().all(|c| matches!(c, '-' | '+' | '=' | '|')) && core.len() > 2;
        if !core.is_empty() && !rule {
            let start = line.span.start + at + lead;
            let found = cell(text, Span::new(start, start + core.len()));
            let numeric = found.number.is_some() || matches!(core, "-" | "--" | "n/a" | "N/A");
            pieces.push(Piece { cell: found, numeric });
        }
        at += word.len();
        if pieces.len() > 60 {
            return Vec::new();
        }
    }
    pieces
}

/// Whether a line looks like a row: numbers at its end, or mostly numbers, and no sentence.
fn is_data(text: &str, line: &Line, pieces: &[Piece]) -> bool {
    let numbers = pieces.iter().filter(|p| p.numeric).count();
    let body = line.span.of(text).trim_end();
    if line.bullet > 0
        || line.hashes > 0
        || numbers == 0
        || body.ends_with(['.', ';', ':', ','])
        || pieces.len() > 30
    {
        return false;
    }
    if (0..pieces.len()).filter(|i| pieces[*i].numeric).all(|i| is_name(pieces, i)) {
        return false;
    }
    let words = pieces.len() - numbers;
    let ends = pieces.last().is_some_and(|p| p.numeric);
    let run = pieces.split(|p| !p.numeric).map(<[Piece]>::len).max().unwrap_or(0);
    (ends && words <= 10 && (numbers >= 2 || words >= 1))
        || (numbers >= 3 && numbers >= words)
        || (run >= 3 && words <= 14)
}

/// Words before a number that make it the version of a product.
const PRODUCTS: [&str; 14] = [
    "update",
    "studio",
    "solaris",
    "opensolaris",
    "linux",
    "version",
    "release",
    "sp",
    "enterprise",
    "gcc",
    "java",
    "windows",
    "ubuntu",
    "build",
];

/// Whether a number is the version in a product's name.
fn is_name(pieces: &[Piece], i: usize) -> bool {
    let before = i.checked_sub(1).map_or(String::new(), |p| pieces[p].cell.text.to_lowercase());
    let (value, step) = pieces[i].cell.number.unwrap_or((0.0, 1.0));
    PRODUCTS.contains(&before.as_str()) || (step == 0.01 && (1990.0..2100.0).contains(&value))
}

/// Where tables begin in a region: at its start, and at a line of names with as many pieces as the
/// row after it has, when rows came before.
fn starts(pieces: &[Vec<Piece>], data: &[bool]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut rows = 0;
    for i in 0..data.len() {
        if data[i] {
            rows += 1;
            continue;
        }
        let header = data.get(i + 1) == Some(&true)
            && pieces[i].len() >= 3
            && pieces[i].len() == pieces[i + 1].len();
        if header && rows > 0 {
            starts.push(i);
            rows = 0;
        }
    }
    starts
}

fn table(
    text: &str,
    region: &[Line],
    pieces: &[Vec<Piece>],
    data: &[bool],
    range: Range<usize>,
) -> Option<(Table, Range<usize>)> {
    let first = range.clone().find(|i| data[*i])?;
    let last = range.clone().rev().find(|i| data[*i])?;
    let rows: Vec<usize> = (first..=last).filter(|i| data[*i]).collect();
    let between = last + 1 - first - rows.len();
    if rows.is_empty() || between > 2 * rows.len() + 3 {
        return None;
    }
    let headers = (range.start..first).rev().find(|i| !pieces[*i].is_empty());
    let numbers = rows.iter().map(|i| pieces[*i].iter().rev().take_while(|p| p.numeric).count());
    let header = headers.map(|h| names(text, &pieces[h], numbers.max().unwrap_or(0)));
    // Words behind the numbers of rows are notes, unless the header names just as many pieces.
    let headed = headers.is_some_and(|h| rows.iter().all(|i| pieces[*i].len() == pieces[h].len()));
    let notes = !headed && rows.iter().any(|i| pieces[*i].last().is_some_and(|p| !p.numeric));
    let mut kinds: Vec<Vec<bool>> = rows.iter().map(|i| collapsed(&pieces[*i])).collect();
    if notes {
        for kind in &mut kinds {
            if kind.last() == Some(&false) {
                kind.pop();
            }
        }
    }
    let kinds = kinds;
    let named = header.as_ref().map_or(0, Vec::len);
    // "Model 9" under "Machine": a number in the column of names is a part of them.
    let column = |i: usize| pieces[i].first().map(|p| p.cell.span.start - region[i].span.start);
    let own = headers
        .is_some_and(|h| rows.iter().all(|i| column(*i) == column(h) && !pieces[*i][0].numeric));
    let width = width(&kinds, named);
    let width = if own && width == named && width > 1 { width - 1 } else { width };
    let mut columns = columns(header.as_deref(), &kinds, width);
    if notes {
        columns.push(String::new());
    }
    // Lines that are no rows and follow the header are labels of the row after them.
    let mut made = Vec::new();
    let mut lead: Vec<&str> = Vec::new();
    for i in first.saturating_sub(leading_labels(pieces, &rows, first, range.start))..=last {
        if data[i] {
            let tail = pieces[i].iter().rev().take_while(|p| notes && !p.numeric).count();
            let (body, note) = pieces[i].split_at(pieces[i].len() - tail);
            let mut row = aligned(text, region[i].span, body, width, named, &columns);
            if notes {
                let span = match (note.first(), note.last()) {
                    (Some(a), Some(b)) => Span::new(a.cell.span.start, b.cell.span.end),
                    _ => Span::new(region[i].span.end, region[i].span.end),
                };
                row.cells.push(cell(text, span));
            }
            if row.label.is_empty() && !lead.is_empty() {
                row.label = lead.join(" ");
            } else if row.label.is_empty() {
                // A row that begins with its first number goes on with the label above.
                row.label = made.last().map_or(String::new(), |above: &Row| above.label.clone());
            }
            lead.clear();
            made.push(row);
        } else {
            lead.push(region[i].span.of(text).trim());
        }
    }
    let span = Span::new(region[first].span.start, region[last].span.end);
    // The header names columns, and no words over the table.
    let over = headers.filter(|h| *h > range.start && header.as_ref().is_some_and(|n| n.len() > 2));
    let over = over.map_or(first.saturating_sub(1).max(range.start), |h| h - 1);
    let title_end = region[over].span.end.min(span.start);
    let title = Span::new(region[range.start].span.start.min(span.start), title_end);
    if made.len() < 2 && named != pieces[first].len() {
        return None;
    }
    Some((Table { shape: Shape::Grid, span, title, columns, rows: made }, range.start..last + 1))
}

/// A first row of numbers alone takes the lines above it, up to the line with the column names.
fn leading_labels(pieces: &[Vec<Piece>], rows: &[usize], first: usize, start: usize) -> usize {
    let bare = pieces[first].iter().all(|p| p.numeric);
    if !bare || rows.len() < 2 {
        return 0;
    }
    let width = pieces[first].len();
    (start..first)
        .rev()
        .position(|i| pieces[i].len() == width && pieces[i].iter().all(|p| !p.numeric))
        .unwrap_or(0)
}

/// The kinds of a row's cells with words that stand together as one; true is a number.
fn collapsed(pieces: &[Piece]) -> Vec<bool> {
    let mut kinds: Vec<bool> = Vec::new();
    for piece in pieces {
        if piece.numeric || kinds.last() != Some(&false) {
            kinds.push(piece.numeric);
        }
    }
    kinds
}

/// How many cells from the right all rows agree on; the rest is the label.
fn width(kinds: &[Vec<bool>], named: usize) -> usize {
    let shortest = kinds.iter().map(Vec::len).min().unwrap_or(0);
    let mut width = 0;
    while width < shortest
        && kinds.iter().all(|k| k[k.len() - 1 - width] == kinds[0][kinds[0].len() - 1 - width])
    {
        width += 1;
    }
    let longest =
        kinds.iter().map(|k| k.iter().rev().take_while(|n| **n).count()).max().unwrap_or(0);
    // Rows with cells left out at their end agree on less than the header names.
    if width < named && longest >= named && named <= 4 {
        return named;
    }
    // The words at the left end of all rows are the label, no cell.
    let words_first = width > 0 && kinds.iter().any(|k| k.len() == width && !k[0]);
    if words_first { width - 1 } else { width }
}

/// The names in a header: words with one space between them are one name where that makes as many names as rows have
/// numbers at their end, with or without one for the label.
fn names(text: &str, pieces: &[Piece], numbers: usize) -> Vec<String> {
    let mut joined: Vec<Span> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if piece.cell.span.start == last.end + 1 => last.end = piece.cell.span.end,
            _ => joined.push(piece.cell.span),
        }
    }
    if joined.len() > 2 && (joined.len() == numbers || joined.len() == numbers + 1) {
        return joined.iter().map(|s| s.of(text).to_owned()).collect();
    }
    pieces.iter().map(|p| p.cell.text.clone()).collect()
}

/// Names for the cells, from the right; a header with other words than cells names what it can.
fn columns(header: Option<&[String]>, kinds: &[Vec<bool>], width: usize) -> Vec<String> {
    let mut names = vec![String::new(); width + 1];
    let Some(words) = header else { return names };
    let whole = kinds.iter().all(|k| k.len() == words.len());
    if words.len() == width || words.len() == width + 1 || whole || words.len() > width {
        for (name, word) in names.iter_mut().rev().zip(words.iter().rev()) {
            word.clone_into(name);
        }
    }
    names
}

/// A row whose cells are in columns that they can be of: where a result was left out at the end,
/// the cells stand further left. Counts and clocks that fit nowhere are taken out.
fn aligned(
    text: &str,
    span: Span,
    pieces: &[Piece],
    width: usize,
    named: usize,
    columns: &[String],
) -> Row {
    let first = row(text, span, pieces, width, named);
    if plausible(columns, &first.cells) {
        return first;
    }
    for missing in 1..=2.min(width.saturating_sub(1)) {
        let mut shifted = row(text, span, pieces, width - missing, named);
        shifted.cells.resize(width + 1, Cell::default());
        if plausible(columns, &shifted.cells) {
            return shifted;
        }
    }
    let mut first = first;
    for (name, cell) in columns.iter().zip(&mut first.cells) {
        if role::of_name(&name.to_lowercase()) != Role::Value {
            cell.number = None;
        }
    }
    first
}

/// Whether counts are whole and clocks are clocks.
fn plausible(columns: &[String], cells: &[Cell]) -> bool {
    columns.iter().zip(cells).all(|(name, cell)| {
        let Some((value, _)) = cell.number else { return true };
        match role::of_name(&name.to_lowercase()) {
            Role::Chips | Role::Cores | Role::Threads => value.fract() == 0.0 && value >= 1.0,
            Role::Clock => {
                (0.05..=10.0).contains(&value)
                    || (50.0..=10_000.0).contains(&value) && name.to_lowercase().contains("mhz")
            }
            _ => true,
        }
    })
}

/// A row: the label, then `width` cells; words that stand together are one cell.
fn row(text: &str, span: Span, pieces: &[Piece], width: usize, named: usize) -> Row {
    let mut groups: Vec<Cell> = Vec::new();
    let mut numeric: Vec<bool> = Vec::new();
    for piece in pieces {
        match (groups.last_mut(), numeric.last()) {
            (Some(last), Some(false)) if !piece.numeric => {
                last.span.end = piece.cell.span.end;
                last.span.of(text).clone_into(&mut last.text);
            }
            _ => {
                groups.push(piece.cell.clone());
                numeric.push(piece.numeric);
            }
        }
    }
    let tail = numeric.iter().rev().take_while(|n| **n).count();
    let mut take = width.min(groups.len());
    // In rows that may be short only the numbers at the end are cells, without those of a name.
    if width == named && width <= 4 && tail < groups.len() {
        take = take.min(tail);
        while take > 1 && part_of_name(&groups, take) {
            take -= 1;
        }
    }
    let split = groups.len() - take;
    let label = if split > 0 {
        Span::new(groups[0].span.start, groups[split - 1].span.end).of(text).to_owned()
    } else {
        String::new()
    };
    let label_cell = if split > 0 {
        cell_of_label(&label, Span::new(groups[0].span.start, groups[split - 1].span.end))
    } else {
        Cell::default()
    };
    let mut cells = vec![label_cell];
    cells.extend(groups.drain(split..));
    cells.resize(width + 1, Cell::default());
    Row { span, label, cells }
}

fn cell_of_label(label: &str, span: Span) -> Cell {
    Cell { text: label.to_owned(), span, number: None, sign: None }
}

/// Whether the leftmost of the last `take` cells is a whole number under 100 after words, beside
/// numbers with decimals: the version of what the row is about.
fn part_of_name(groups: &[Cell], take: usize) -> bool {
    let at = groups.len() - take;
    let decimals = |c: &Cell| c.number.is_some_and(|(_, step)| step < 1.0);
    groups[at].number.is_some_and(|(value, step)| step == 1.0 && value < 100.0)
        && groups[at + 1..].iter().all(decimals)
}
