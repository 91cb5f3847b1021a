//! Tables that fit: columns as wide as they must be, labels shortened in the middle when the whole
//! is too wide, row under row when even that does not fit.

use std::collections::BTreeMap;

use assay_chart::text::{columns, shorten};

use super::writer::{Paint, Writer, ascii, clean};
use super::{Glyphs, Style};

/// On which side a column is flush.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

pub(super) struct Column {
    title: String,
    align: Align,
    /// Whether its texts may be shortened.
    flexible: bool,
}

/// One field: a text and its paint.
pub(super) type Cell = (String, Paint);

/// A field without paint.
pub(super) fn cell(text: impl Into<String>) -> Cell {
    (text.into(), Paint::Plain)
}

/// The narrowest a flexible column gets.
const NARROWEST: usize = 9;
const GAP: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Labels {
    Whole,
    Ends,
}

/// How many bytes all texts begin with alike, up to the last space, comma or equals sign in them;
/// 0 for fewer than two different texts.
fn common_beginning(texts: &[&str]) -> usize {
    let Some(first) = texts.first() else { return 0 };
    if texts.iter().all(|t| t == first) {
        return 0;
    }
    let alike = texts.iter().fold(first.len(), |n, t| {
        let same = first.bytes().zip(t.bytes()).take_while(|(a, b)| a == b).count();
        n.min(same)
    });
    first.as_bytes()[..alike].iter().rposition(|b| b" ,=".contains(b)).map_or(0, |i| i + 1)
}

#[derive(Default)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A column of labels, which may be shortened.
    pub(super) fn label(mut self, title: &str) -> Self {
        self.columns.push(Column { title: title.to_owned(), align: Align::Left, flexible: true });
        self
    }

    /// A column of words that are kept whole.
    pub(super) fn word(mut self, title: &str) -> Self {
        self.columns.push(Column { title: title.to_owned(), align: Align::Left, flexible: false });
        self
    }

    /// A column of numbers.
    pub(super) fn number(mut self, title: &str) -> Self {
        self.columns.push(Column { title: title.to_owned(), align: Align::Right, flexible: false });
        self
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The table as text.
    pub(super) fn render(mut self, style: Style) -> String {
        self.side_by_side_if_it_fits(style).unwrap_or_else(|| self.row_under_row(style))
    }

    /// The table as text with a line a row, labels shortened if they must be; `None` where even that
    /// is too wide.
    pub(super) fn side_by_side_if_it_fits(&mut self, style: Style) -> Option<String> {
        for (text, _) in self.rows.iter_mut().flatten() {
            let cleaned = clean(text);
            *text = if style.glyphs == Glyphs::Ascii { ascii(&cleaned) } else { cleaned };
        }
        for attempt in [Labels::Whole, Labels::Ends] {
            if attempt == Labels::Ends {
                self.drop_common_beginnings(style);
            }
            if let Some(widths) = self.widths(style.columns())
                && self.stay_distinct(&widths, style)
            {
                return Some(self.side_by_side(&widths, style));
            }
        }
        None
    }

    /// Labels that all begin alike lose that beginning, since it tells nothing.
    fn drop_common_beginnings(&mut self, style: Style) {
        for c in (0..self.columns.len()).filter(|c| self.columns[*c].flexible) {
            let texts: Vec<&str> =
                self.rows.iter().filter_map(|r| r.get(c)).map(|x| x.0.as_str()).collect();
            let common = common_beginning(&texts);
            if common < 3 {
                continue;
            }
            for cell in self.rows.iter_mut().filter_map(|r| r.get_mut(c)) {
                cell.0 = format!("{}{}", style.ellipsis(), &cell.0[common..]);
            }
        }
    }

    /// Whether no two different labels of a column become the same when they are shortened.
    fn stay_distinct(&self, widths: &[usize], style: Style) -> bool {
        (0..self.columns.len()).filter(|c| self.columns[*c].flexible).all(|c| {
            let mut seen: BTreeMap<String, &str> = BTreeMap::new();
            self.rows.iter().filter_map(|r| r.get(c)).all(|(text, _)| {
                let short = shorten(text, widths[c], style.ellipsis());
                *seen.entry(short).or_insert(text) == text
            })
        })
    }

    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|c| {
                let cells = self.rows.iter().filter_map(|r| r.get(c)).map(|x| columns(&x.0));
                cells.chain([columns(&self.columns[c].title)]).max().unwrap_or(0)
            })
            .collect();
        let gaps = GAP * self.columns.len().saturating_sub(1);
        loop {
            let over = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
            if over == 0 {
                return Some(widths);
            }
            let widest = (0..widths.len())
                .filter(|c| self.columns[*c].flexible && widths[*c] > NARROWEST)
                .max_by_key(|c| widths[*c])?;
            widths[widest] -= 1;
        }
    }

    fn side_by_side(&self, widths: &[usize], style: Style) -> String {
        let titles: Vec<Cell> =
            self.columns.iter().map(|c| (c.title.clone(), Paint::Soft)).collect();
        let mut out = String::new();
        for row in std::iter::once(&titles).chain(&self.rows) {
            let mut line = String::new();
            // Padding is held back until something follows it, so that no line ends in spaces.
            let mut pending = 0;
            for (i, (text, paint)) in row.iter().enumerate() {
                let column = &self.columns[i];
                let text = shorten(text, widths[i], style.ellipsis());
                let pad = widths[i].saturating_sub(columns(&text));
                let (before, after) = match column.align {
                    Align::Left => (0, pad),
                    Align::Right => (pad, 0),
                };
                pending += before;
                if !text.is_empty() {
                    line.push_str(&" ".repeat(pending));
                    pending = 0;
                    line.push_str(&paint.on(&text, style));
                }
                pending += after + GAP;
            }
            out.push_str(&line);
            out.push('\n');
        }
        out
    }

    fn row_under_row(&self, style: Style) -> String {
        let mut w = Writer::new(style);
        for row in &self.rows {
            for (i, (text, paint)) in row.iter().enumerate() {
                if i == 0 {
                    w.wrapped(0, text, Paint::Strong);
                } else if !text.is_empty() {
                    let title = &self.columns[i].title;
                    let line =
                        if title.is_empty() { text.clone() } else { format!("{title}: {text}") };
                    w.wrapped(2, &line, *paint);
                }
            }
        }
        w.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut t = Table::default().label("treatment").number("n").word("verdict");
        t.row(vec![cell("buffer=4096, processes=2"), cell("6"), ("better".into(), Paint::Good)]);
        t.row(vec![cell("x"), cell("10"), cell("")]);
        t
    }

    #[test]
    fn numbers_are_flush_right_and_no_line_ends_in_spaces() {
        let text = table().render(Style::default());
        assert_eq!(
            text,
            "treatment                  n  verdict\n\
             buffer=4096, processes=2   6  better\n\
             x                         10\n"
        );
    }

    #[test]
    fn labels_give_way_first_then_rows_stack() {
        let text = table().render(Style { width: 30, ..Style::default() });
        assert!(text.contains("buffer=4…cesses=2   6  better"), "{text}");
        let text = table().render(Style { width: 20, ..Style::default() });
        assert!(text.contains("\n  n: 6\n  verdict: better\n"), "{text}");
    }

    #[test]
    fn labels_that_would_become_the_same_lose_what_they_share() {
        let mut t = Table::default().label("treatment").number("n");
        for limit in ["64", "256"] {
            t.row(vec![cell(format!("memory_limit={limit} MiB, threads=4")), cell("6")]);
        }
        let text = t.render(Style { width: 26, ..Style::default() });
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["…64 MiB, threads=4   6", "…256 MiB, threads=4  6"]);
    }

    #[test]
    fn a_label_cannot_steer_the_terminal() {
        let mut t = Table::default().label("a");
        t.row(vec![cell("\u{1b}[2J\nboo")]);
        assert_eq!(t.render(Style::default()), "a\n\u{FFFD}[2J boo\n");
    }
}
