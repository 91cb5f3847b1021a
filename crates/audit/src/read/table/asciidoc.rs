//! Tables of AsciiDoc: cells behind bars between two lines `|===`, one a line or several, with a line of attributes and
//! one with a title over them.

use super::shape::{header_rows, of_rows};
use super::{Cell, Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// Rows with more cells are no table that a sentence could be about.
const MAX_COLUMNS: usize = 60;
/// A cell that is to be repeated more often is not.
const MAX_REPEATS: usize = 1000;

/// The tables between lines of `|===`, with the lines that they take.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(Table, Vec<usize>)> {
    let mut tables = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let rest = &lines[at + 1..];
        let end = delimits(text, &lines[at])
            .then(|| rest.iter().position(|l| delimits(text, l)))
            .flatten();
        let Some(end) = end.map(|e| at + 1 + e) else {
            if delimits(text, &lines[at]) {
                break;
            }
            at += 1;
            continue;
        };
        let over = over(text, lines, at);
        let first = over.title.into_iter().chain(over.attributes).min().unwrap_or(at);
        let title = over.title.map(|i| Span::new(lines[i].span.start + 1, lines[i].span.end));
        let attributes = over.attributes.map_or("", |i| lines[i].span.of(text));
        let inside = &lines[at + 1..end];
        tables.extend(
            table(text, inside, attributes, title).map(|t| (t, (first..=end).collect::<Vec<_>>())),
        );
        at = end + 1;
    }
    tables
}

fn delimits(text: &str, line: &Line) -> bool {
    let body = line.span.of(text).trim_end();
    body.len() >= 4 && body.strip_prefix('|').is_some_and(|b| b.bytes().all(|b| b == b'='))
}

/// The lines of a title and of attributes over a table.
#[derive(Default)]
struct Over {
    title: Option<usize>,
    attributes: Option<usize>,
}

fn over(text: &str, lines: &[Line], at: usize) -> Over {
    let mut over = Over::default();
    for i in (0..at).rev().take(3) {
        let body = lines[i].span.of(text).trim_end();
        if body.starts_with('[') && body.ends_with(']') {
            if over.attributes.is_none_or(|i| !lines[i].span.of(text).contains("cols")) {
                over.attributes = Some(i);
            }
        } else if body.starts_with('.') && body[1..].starts_with(char::is_alphanumeric) {
            over.title = Some(i);
        } else {
            break;
        }
    }
    over
}

fn table(text: &str, lines: &[Line], attributes: &str, title: Option<Span>) -> Option<Table> {
    let first = lines.iter().position(|l| !l.blank)?;
    let cells = cells(text, lines);
    let on_first = cells.iter().take_while(|c| c.span.start <= lines[first].span.end);
    let of_line = on_first.map(|c| c.columns * c.repeats).sum();
    let width = columns(attributes).unwrap_or(of_line);
    if !(2..=MAX_COLUMNS).contains(&width) {
        return None;
    }
    let rows = rows(text, &cells, width);
    let implied = first == 0 && lines.get(1).is_some_and(|l| l.blank);
    let headers = if attributes.contains("noheader") {
        0
    } else if attributes.contains("header") || implied {
        1
    } else {
        header_rows(&rows)
    };
    of_rows(&rows, headers, title)
}

/// A cell as it is written: its place, how many columns and rows it reaches over, and how often it stands there.
struct Written {
    span: Span,
    columns: usize,
    rows: usize,
    repeats: usize,
}

fn cells(text: &str, lines: &[Line]) -> Vec<Written> {
    let mut found: Vec<Written> = Vec::new();
    for line in lines.iter().filter(|l| !l.blank) {
        let body = line.span.of(text);
        let mut from = 0;
        for (i, _) in body.match_indices('|').filter(|(i, _)| !body[..*i].ends_with('\\')) {
            let (length, mut next) = specifier(&body[from..i]);
            if let Some(last) = found.last_mut() {
                last.span.end = line.span.start + i - length;
            }
            next.span = Span::new(line.span.start + i + 1, line.span.end);
            found.push(next);
            from = i + 1;
        }
        // What stands before the first bar goes on with the cell above.
        if let Some(last) = found.last_mut() {
            last.span.end = line.span.end;
        }
    }
    found
}

/// What a word right before a bar says of the cell behind it (`2+`, `.3+^`, `3*`, `a`), and its length.
fn specifier(before: &str) -> (usize, Written) {
    let mut next = Written { span: Span::default(), columns: 1, rows: 1, repeats: 1 };
    let word = before.rsplit(char::is_whitespace).next().unwrap_or("");
    let style = word.trim_end_matches(['a', 'd', 'e', 'h', 'l', 'm', 's', 'v']);
    let place = style.trim_end_matches(['<', '>', '^', '.']);
    let is_one = word.len() - style.len() <= 1
        && place.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'+' | b'*'))
        && (place.is_empty() || place.ends_with(['+', '*']));
    if word.is_empty() || !is_one {
        return (0, next);
    }
    if let Some(times) = place.strip_suffix('*') {
        next.repeats = times.parse().unwrap_or(1).clamp(1, MAX_REPEATS);
    } else if let Some(over) = place.strip_suffix('+') {
        let (columns, rows) = over.split_once('.').unwrap_or((over, ""));
        next.columns = columns.parse().unwrap_or(1).clamp(1, MAX_COLUMNS);
        next.rows = rows.parse().unwrap_or(1).clamp(1, MAX_REPEATS);
    }
    (word.len(), next)
}

/// How many columns the attributes of a table name: `cols="2,>1,3*"`.
fn columns(attributes: &str) -> Option<usize> {
    let (_, rest) = attributes.split_once("cols=")?;
    let own = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([',', ']']).next()?,
    };
    let count = |c: &str| c.split_once('*').and_then(|(n, _)| n.trim().parse().ok()).unwrap_or(1);
    let total: usize = own.split([',', ';']).map(|c| count(c).min(MAX_COLUMNS)).sum();
    Some(total)
}

/// Rows of `width` cells; where a cell reaches into other columns or rows, their places are empty.
fn rows(text: &str, cells: &[Written], width: usize) -> Vec<(Span, Vec<Cell>)> {
    let mut rows: Vec<(Span, Vec<Cell>)> = Vec::new();
    let mut reaching = vec![0usize; width];
    let mut row: Vec<Cell> = Vec::new();
    let mut span = Span::default();
    for own in cells.iter().flat_map(|c| std::iter::repeat_n(c, c.repeats)) {
        while reaching.get(row.len()).is_some_and(|r| *r > 0) {
            reaching[row.len()] -= 1;
            row.push(Cell::default());
        }
        if row.iter().all(|c| c.text.is_empty()) {
            span.start = own.span.start;
        }
        span.end = own.span.end;
        for i in 0..own.columns.min(width.saturating_sub(row.len())) {
            reaching[row.len()] = own.rows - 1;
            row.push(if i == 0 { cell(text, own.span) } else { Cell::default() });
        }
        while reaching.get(row.len()).is_some_and(|r| *r > 0) {
            reaching[row.len()] -= 1;
            row.push(Cell::default());
        }
        if row.len() >= width {
            rows.push((span, std::mem::take(&mut row)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;
    use crate::read::table::shape::only;

    fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        only(&super::read(text, &lines(text)))
    }

    #[test]
    fn cells_stand_one_a_line_or_in_one_line() {
        let wanted = (
            vec!["Path".to_owned(), "Rows".to_owned()],
            vec![vec!["COPY".to_owned(), "412 000".to_owned()]; 2],
        );
        for text in [
            "[cols=\"2,>1\",options=\"header\"]\n|===\n|Path |Rows\n\n|COPY\n|412 000\n\n|COPY\n|412 000\n|===\n",
            "[cols=2*,%header]\n|===\n|Path\n|Rows\n|COPY |412 000\n|COPY |412 000\n|===\n",
            "|===\n| Path | Rows\n\n| COPY | 412 000\n| COPY >s| 412 000\n|===\n",
        ] {
            assert_eq!(table(text), wanted, "{text}");
        }
    }

    #[test]
    fn cells_reach_over_columns_and_rows() {
        let (columns, rows) = table(
            ".Loads\n[cols=3*]\n|===\n.2+|Path 2+^|Rows\n|cold |warm\n.2+|COPY in\none go |4 |5\n|6 |7\n|===\n",
        );
        assert_eq!(columns, ["Path", "Rows cold", "Rows warm"]);
        assert_eq!(rows, [["COPY in\none go", "4", "5"], ["", "6", "7"]]);
    }

    #[test]
    fn the_line_with_a_full_stop_is_the_title_and_no_prose() {
        let text = "a\n\n.Loads\n[cols=2*]\n|===\n|Path |Rows\n|COPY |4\n|===\nb\n";
        let (table, taken) = super::read(text, &lines(text)).remove(0);
        assert_eq!(table.title.of(text), "Loads");
        assert_eq!(taken, [2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn what_does_not_end_or_has_no_columns_is_no_table() {
        for text in
            ["|===\n|a |b\n", "|===\n|===\n", "|===\na\n|===\n", "[cols=999*]\n|===\n|a\n|===\n"]
        {
            assert!(super::read(text, &lines(text)).is_empty(), "{text}");
        }
        let _ = super::read(
            "|===\n99999999999*|a .9+|\\|b\n2+|\n|===\n",
            &lines("|===\n99999999999*|a .9+|\\|b\n2+|\n|===\n"),
        );
    }
}
