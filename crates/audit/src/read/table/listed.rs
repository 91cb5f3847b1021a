//! Tables of reStructuredText as lists: `.. list-table::` with rows `* - a` and further cells `  - b`.

use super::shape::{header_rows, of_rows};
use super::{Cell, Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// Rows with more cells are no table that a sentence could be about.
const MAX_CELLS: usize = 60;

/// The tables that are written as lists, with the lines that they take.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(Table, Vec<usize>)> {
    let mut tables = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let body = lines[at].span.of(text);
        let title = body.trim_start().strip_prefix(".. list-table::").filter(|_| !lines[at].code);
        let end = title.map_or(at + 1, |_| end(text, lines, at));
        if let Some(title) = title {
            let title = title.trim();
            let start = lines[at].span.end - (body.len() - body.trim_end().len()) - title.len();
            let title = Span::new(start, start + title.len());
            tables
                .extend(table(text, title, &lines[at + 1..end]).map(|t| (t, (at..end).collect())));
        }
        at = end;
    }
    tables
}

/// Behind the last line that stands deeper than the directive.
fn end(text: &str, lines: &[Line], at: usize) -> usize {
    let own = lines[at].indent(text);
    let inside = |l: &&Line| l.blank || l.indent(text) > own;
    let mut end = at + 1 + lines[at + 1..].iter().take_while(inside).count();
    while lines[end - 1].blank {
        end -= 1;
    }
    end
}

fn table(text: &str, title: Span, lines: &[Line]) -> Option<Table> {
    let mut headers = None;
    let mut rows: Vec<Vec<Span>> = Vec::new();
    for line in lines.iter().filter(|l| !l.blank) {
        let body = line.span.of(text).trim();
        if rows.is_empty() && body.starts_with(':') {
            if let Some(count) = body.strip_prefix(":header-rows:") {
                headers = count.trim().parse::<usize>().ok();
            }
            continue;
        }
        let begins = body.strip_prefix('*').map(str::trim_start);
        let own = begins.unwrap_or(body).strip_prefix('-');
        match (begins, own) {
            (Some(_), Some(own)) => rows.push(vec![trimmed(line, own)]),
            (None, Some(own)) if rows.last().is_some_and(|r| r.len() < MAX_CELLS) => {
                rows.last_mut()?.push(trimmed(line, own));
            }
            _ => rows.last_mut()?.last_mut()?.end = line.span.end,
        }
    }
    let cells: Vec<(Span, Vec<Cell>)> = rows
        .iter()
        .map(|row| {
            let span = Span::new(row[0].start, row[row.len() - 1].end);
            (span, row.iter().map(|c| cell(text, *c)).collect())
        })
        .collect();
    let headers = headers.unwrap_or(header_rows(&cells[..cells.len().min(2)])).min(cells.len());
    of_rows(&cells, headers, Some(title).filter(|t| t.start < t.end))
}

/// What stands behind the sign of a cell to the end of its line.
fn trimmed(line: &Line, own: &str) -> Span {
    Span::new(line.span.end - own.trim_start().len(), line.span.end)
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;

    #[test]
    fn rows_are_items_and_cells_items_in_them() {
        let text = ".. list-table:: Full extract\n   :header-rows: 1\n   :widths: 20 10 10\n\n   * -\n     - pandas\n     - DuckDB\n   \
                    * - Wall time (min)\n     - 74.0\n     - 5.2\n   * - Lines of\n       code\n     - 340\n     - 62\n\nAfter.\n";
        let found = super::read(text, &lines(text));
        let (table, taken) = &found[0];
        assert_eq!(table.title.of(text), "Full extract");
        assert_eq!(table.columns, ["", "pandas", "DuckDB"]);
        assert_eq!(table.rows[0].label, "Wall time (min)");
        assert_eq!(table.rows[1].cells[2].text, "62");
        assert_eq!(taken.len(), 14);
        for text in [".. list-table::", ".. list-table::\n\n  -\n  * -\n", ".. list-table::\n  x\n"]
        {
            assert!(super::read(text, &lines(text)).is_empty(), "{text}");
        }
    }
}
