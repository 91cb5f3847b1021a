//! Rows of cells between bars: Markdown tables, and what HTML tables become.

use std::ops::Range;

use super::shape::{header_rows, of_rows};
use super::{Cell, Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// The table of a region whose lines have bars; the first lines may be its caption.
pub(crate) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    // A rule under the first line makes one bar enough.
    let ruled = region.windows(2).any(|w| {
        let (body, under) = (w[0].span.of(text), w[1].span.of(text));
        body.contains(BARS)
            && under.contains("--")
            && under.contains(['+', '|'])
            && is_rule_line(under)
    });
    let barred = |line: &Line| {
        let body = line.span.of(text);
        let bars = body.matches(BARS).count();
        (body.trim_start().starts_with(BARS)
            || bars >= 2
            || ruled && (bars > 0 || body.contains('+') && is_rule_line(body))
            || is_border(body))
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
        line.span.of(text).split(BARS).any(|cell| {
            cell.split_whitespace().filter(|w| w.starts_with(|c: char| c.is_ascii_digit())).count()
                >= 3
        })
    };
    if lines.iter().filter(several).count() * 2 > lines.len() {
        return None;
    }
    // The border above the header tells nothing.
    let borders = lines.iter().take_while(|l| is_rule_line(l.span.of(text))).count();
    let grid: Vec<(Span, Vec<Cell>)> =
        lines[borders..].iter().map(|l| (l.span, cells(text, l.span))).collect();
    let rule = grid.iter().position(|(_, cells)| is_rule(cells));
    let header_end = match rule {
        Some(at) if at <= 3 => at,
        _ => header_rows(&grid),
    };
    let span = Span::new(lines[0].span.start, lines[count - 1].span.end);
    let title = if first > 0 {
        Span::new(region[0].span.start, region[first - 1].span.end)
    } else {
        Span::new(span.start, span.start)
    };
    let mut headed = 0;
    let rows: Vec<(Span, Vec<Cell>)> = grid
        .into_iter()
        .enumerate()
        .filter(|(_, (_, cells))| !is_rule(cells))
        .inspect(|(i, _)| headed += usize::from(*i < header_end))
        .map(|(_, row)| row)
        .collect();
    let table = of_rows(&rows, headed, Some(title))?;
    Some(vec![(Table { span, ..table }, first..first + count)])
}

/// What parts cells.
const BARS: [char; 4] = ['|', '│', '┃', '║'];

/// Whether a line is only a rule, with or without bars in it.
fn is_rule_line(body: &str) -> bool {
    let body = body.trim();
    body.len() > 2 && body.chars().all(|c| is_rule_sign(c) || BARS.contains(&c))
}

fn is_rule_sign(c: char) -> bool {
    matches!(c, '-' | ':' | ' ' | '=' | '+') || ('─'..='╿').contains(&c) && !BARS.contains(&c)
}

/// Whether a line is the border of a table: `+----+----+`, `├────┼────┤`.
fn is_border(body: &str) -> bool {
    let body = body.trim();
    body.starts_with(['+', '┌', '├', '└', '╞', '╔', '╠', '╚', '┏', '┡', '┗']) && is_rule_line(body)
}

fn cells(text: &str, line: Span) -> Vec<Cell> {
    let body = line.of(text);
    let trimmed = body.trim();
    let start = line.start + (body.len() - body.trim_start().len());
    let bar = |c: Option<char>| c.filter(|c| BARS.contains(c)).map_or(0, char::len_utf8);
    let lead = bar(trimmed.chars().next());
    let tail = bar(trimmed.chars().next_back()).min(trimmed.len() - lead);
    let inner_start = start + lead;
    let inner = Span::new(inner_start, start + trimmed.len() - tail).of(text);
    let mut at = inner_start;
    let mut found = Vec::new();
    for piece in inner.split_inclusive(BARS) {
        let own = piece.trim_end_matches(BARS);
        found.push(cell(text, Span::new(at, at + own.len())));
        at += piece.len();
    }
    if inner.is_empty() || inner.ends_with(BARS) {
        found.push(cell(text, Span::new(at, at)));
    }
    found
}

fn is_rule(cells: &[Cell]) -> bool {
    cells.iter().all(|c| !c.text.is_empty() && c.text.chars().all(is_rule_sign))
        && !cells.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::line::lines;

    fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let region: Vec<Line> = lines(text).into_iter().filter(|l| !l.blank).collect();
        let (table, _) =
            read(text, &region).unwrap_or_else(|| panic!("no table: {text}")).remove(0);
        let rows = table.rows.iter();
        let rows = rows.map(|r| r.cells.iter().map(|c| c.text.clone()).collect()).collect();
        (table.columns.clone(), rows)
    }

    #[test]
    fn borders_are_drawn_in_many_ways() {
        let wanted = (
            vec!["engine".to_owned(), "ms".to_owned()],
            vec![vec!["a".to_owned(), "12".to_owned()], vec!["b".to_owned(), "9.5".to_owned()]],
        );
        for text in [
            "+--------+------+\n| engine | ms   |\n+--------+------+\n| a      | 12   |\n| b      | 9.5  |\n+--------+------+\n",
            "+--------+-----+\n| engine | ms  |\n+========+=====+\n| a      | 12  |\n+--------+-----+\n| b      | 9.5 |\n+--------+-----+\n",
            " engine |  ms \n--------+-----\n a      |  12 \n b      | 9.5 \n",
            "┌────────┬─────┐\n│ engine │ ms  │\n├────────┼─────┤\n│ a      │ 12  │\n│ b      │ 9.5 │\n└────────┴─────┘\n",
            "| engine | ms |\n|--------+----|\n| a | 12 |\n| b | 9.5 |\n",
        ] {
            assert_eq!(table(text), wanted, "{text}");
        }
    }

    #[test]
    fn empty_cells_keep_their_places() {
        assert_eq!(
            table("| a | | b |\n|---|---|---|\n| | 1 | |\n||2||\n").1,
            [["", "1", ""], ["", "2", ""]]
        );
    }
}
