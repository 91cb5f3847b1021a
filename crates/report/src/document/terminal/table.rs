//! Lays out tables for the width of a terminal. Columns are as wide as their content; if the table
//! is too wide, labels are shortened in the middle. A table that still does not fit is split into
//! parts or, if that fails, written with one field per line.

use std::collections::BTreeMap;
use std::ops::Range;

use assay_chart::axes::text::{columns, shorten};

use super::writer::{Writer, ascii, clean, paint};
use crate::document::table::{ColumnKind, TableRow};
use crate::document::{Outputs, Table, TableCell, Tone, cell};
use crate::terminal::{Glyphs, Style};

/// Minimum width of a column of labels.
const NARROWEST: usize = 9;
const GAP: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Labels {
    Whole,
    Ends,
}

/// Returns the length in bytes of the beginning that all texts share, up to the last space, comma
/// or equals sign in it; 0 for fewer than two different texts.
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

/// A table during layout: the columns that a terminal shows and their cleaned texts.
struct Layout {
    columns: Vec<TerminalColumn>,
    rows: Vec<Vec<Field>>,
}

struct TerminalColumn {
    title: String,
    kind: ColumnKind,
}

type Field = (String, Tone);

impl Table {
    /// Formats the table as text.
    pub(crate) fn render(&self, style: Style) -> String {
        let mut layout = Layout::from_table(self, style);
        let whole = layout.side_by_side_if_it_fits(style);
        whole
            .or_else(|| self.in_parts(style))
            .unwrap_or_else(|| Layout::from_table(self, style).row_under_row(style))
    }

    /// Splits the columns into as many parts as the width requires. Every part after the first
    /// repeats the columns of numbers before the labels, and the names of the rows. Returns `None`
    /// if not even one column fits next to these.
    fn in_parts(&self, style: Style) -> Option<String> {
        if self.rows.iter().all(|r| r.name.is_empty()) {
            return None;
        }
        let (mut out, mut start) = (Vec::new(), 0);
        while start < self.columns.len() {
            let (end, text) = (start + 1..=self.columns.len()).rev().find_map(|end| {
                let text = Layout::from_table(&self.part(start..end, style), style)
                    .side_by_side_if_it_fits(style)?;
                Some((end, text))
            })?;
            out.push(text);
            start = end;
        }
        Some(out.join("\n"))
    }

    fn part(&self, of: Range<usize>, style: Style) -> Table {
        let named = self.named_by(Outputs::Terminal);
        let lead = if of.start == 0 {
            0
        } else {
            self.columns[..named].iter().take_while(|c| c.kind == ColumnKind::Number).count()
        };
        let again = of.start > 0;
        let pick = |all: &[TableCell], name: TableCell| -> Vec<TableCell> {
            let name = again.then_some(name);
            all[..lead].iter().cloned().chain(name).chain(all[of.clone()].iter().cloned()).collect()
        };
        let label = self.columns.get(named).filter(|_| again).cloned();
        let columns = self.columns[..lead].iter().cloned().chain(label);
        let room = style.columns() / 2;
        Table {
            columns: columns.chain(self.columns[of.clone()].iter().cloned()).collect(),
            rows: self
                .rows
                .iter()
                .map(|r| TableRow {
                    // A long name must not take the place of the numbers.
                    cells: pick(&r.cells, cell(shorten(&r.name, room, style.ellipsis()))),
                    ..TableRow::default()
                })
                .collect(),
            ..Table::default()
        }
    }
}

impl Layout {
    fn from_table(table: &Table, style: Style) -> Self {
        let shown = || table.shown(Outputs::Terminal);
        let cleaned = |text: &str| {
            let cleaned = clean(text);
            if style.glyphs == Glyphs::Ascii { ascii(&cleaned) } else { cleaned }
        };
        let field = |cells: &[TableCell], i: usize| {
            cells.get(i).map_or_else(Field::default, |c| {
                // A cell that covers several columns is the reason for withholding their numbers; a
                // sentence below the table gives it.
                let words = if c.span > 1 { "withheld".to_owned() } else { c.text.words() };
                (cleaned(&words), c.tone)
            })
        };
        let most = if table.most == 0 { table.rows.len() } else { table.most };
        Layout {
            columns: shown()
                .map(|(_, c)| TerminalColumn { title: cleaned(&c.title.words()), kind: c.kind })
                .collect(),
            rows: table
                .rows
                .iter()
                .take(most)
                .map(|row| shown().map(|(i, _)| field(&row.cells, i)).collect())
                .collect(),
        }
    }

    fn side_by_side_if_it_fits(&mut self, style: Style) -> Option<String> {
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

    /// Replaces the beginning that all labels of a column share, which distinguishes none of them,
    /// by an ellipsis.
    fn drop_common_beginnings(&mut self, style: Style) {
        for c in (0..self.columns.len()).filter(|c| self.columns[*c].kind == ColumnKind::Label) {
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

    /// Returns true if no two different labels of a column become equal when they are shortened.
    fn stay_distinct(&self, widths: &[usize], style: Style) -> bool {
        (0..self.columns.len()).filter(|c| self.columns[*c].kind == ColumnKind::Label).all(|c| {
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
                .filter(|c| self.columns[*c].kind == ColumnKind::Label && widths[*c] > NARROWEST)
                .max_by_key(|c| widths[*c])?;
            widths[widest] -= 1;
        }
    }

    fn side_by_side(&self, widths: &[usize], style: Style) -> String {
        let titles: Vec<Field> =
            self.columns.iter().map(|c| (c.title.clone(), Tone::Soft)).collect();
        let mut out = String::new();
        for row in std::iter::once(&titles).chain(&self.rows) {
            let mut line = String::new();
            // Padding is held back until text follows it, so that no line ends in spaces.
            let mut pending = 0;
            for (i, (text, tone)) in row.iter().enumerate() {
                let column = &self.columns[i];
                let text = shorten(text, widths[i], style.ellipsis());
                let pad = widths[i].saturating_sub(columns(&text));
                let (before, after) =
                    if column.kind == ColumnKind::Number { (pad, 0) } else { (0, pad) };
                pending += before;
                if !text.is_empty() {
                    line.push_str(&" ".repeat(pending));
                    pending = 0;
                    line.push_str(&paint(*tone, &text, style));
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
            for (i, (text, tone)) in row.iter().enumerate() {
                if i == 0 {
                    w.wrapped(0, text, Tone::Strong);
                } else if !text.is_empty() {
                    let title = &self.columns[i].title;
                    let line =
                        if title.is_empty() { text.clone() } else { format!("{title}: {text}") };
                    w.wrapped(2, &line, *tone);
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
        t.row(vec![cell("buffer=4096, processes=2"), cell("6"), cell("better").tone(Tone::Good)]);
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
