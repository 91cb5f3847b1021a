//! Tables of LaTeX: rows between `\begin{tabular}` and `\end{tabular}`, with `&` between cells and `\\` behind rows.

use super::shape::{header_rows, of_rows};
use super::{Cell, Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// Environments whose content is rows of cells.
const ENVIRONMENTS: [&str; 5] = ["tabular", "tabular*", "tabularx", "tabulary", "longtable"];
/// Rows with more cells are no table that a sentence could be about.
const MAX_COLUMNS: usize = 60;
/// So many lines from its rows a table begins or ends, with its caption.
const MAX_AWAY: usize = 12;

/// The tables of LaTeX among the lines of a text, with the lines that they take.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(Table, Vec<usize>)> {
    let mut tables = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut free = 0;
    for (i, line) in lines.iter().enumerate() {
        let body = line.span.of(text);
        if let Some(at) = environment(body, "\\begin{") {
            open = Some((i, line.span.start + at));
        }
        let Some((end, (from, start))) = environment(body, "\\end{").zip(open) else { continue };
        open = None;
        let end = line.span.start + body[..end].rfind("\\end{").unwrap_or(0);
        let (first, last) = around(text, lines, free, (from, i));
        let title = (first..=last).find_map(|j| caption(text, &lines[j]));
        if let Some(table) = table(text, Span::new(start, end), title) {
            tables.push((table, (first..=last).collect()));
            free = last + 1;
        }
    }
    tables
}

/// The place in a line behind the name of an environment of rows that begins or ends there.
fn environment(body: &str, sign: &str) -> Option<usize> {
    let at = body.find(sign)? + sign.len();
    let name = body[at..].split('}').next()?;
    ENVIRONMENTS.contains(&name).then_some((at + name.len() + 1).min(body.len()))
}

/// The lines of the float around rows, else their own.
fn around(text: &str, lines: &[Line], free: usize, (from, to): (usize, usize)) -> (usize, usize) {
    let has = |i: &usize, sign: &str| lines[*i].span.of(text).contains(sign);
    let first =
        (free.max(from.saturating_sub(MAX_AWAY))..=from).rev().find(|i| has(i, "\\begin{table"));
    let last = (to..lines.len().min(to + MAX_AWAY)).find(|i| has(i, "\\end{table"));
    first.zip(last).unwrap_or((from, to))
}

fn caption(text: &str, line: &Line) -> Option<Span> {
    let body = line.span.of(text);
    let at = body.find("\\caption{")? + "\\caption{".len();
    let end = body.rfind('}').filter(|e| *e > at).unwrap_or(body.len());
    Some(Span::new(line.span.start + at, line.span.start + end))
}

/// The table of what stands between the beginning and the end of an environment.
fn table(text: &str, inside: Span, title: Option<Span>) -> Option<Table> {
    let mut rows: Vec<(Span, Vec<Cell>)> = Vec::new();
    let mut headers = None;
    let mut row: Vec<Cell> = Vec::new();
    let mut start = inside.start;
    for (own, ends) in pieces(text, inside) {
        let read = Words::read(own.of(text), rows.is_empty() && row.is_empty());
        if read.ruled && row.is_empty() && !rows.is_empty() {
            headers.get_or_insert(rows.len());
        }
        if row.is_empty() {
            start = own.start + read.lead;
        }
        let body = &own.of(text)[read.lead..];
        let from = own.start + read.lead + (body.len() - body.trim_start().len());
        let span = Span::new(from, from + body.trim().len());
        let words = read.text.trim();
        row.push(Cell { span, ..cell(words, Span::new(0, words.len())) });
        for _ in 1..read.columns {
            row.push(Cell { span: Span::new(own.end, own.end), ..Cell::default() });
        }
        if row.len() > MAX_COLUMNS {
            return None;
        }
        if ends {
            let cells = std::mem::take(&mut row);
            if cells.iter().any(|c| !c.text.is_empty()) {
                rows.push((Span::new(start, own.end), cells));
            }
        }
    }
    let headers = headers.filter(|h| *h <= 3 && *h < rows.len());
    let headers = headers.unwrap_or_else(|| header_rows(&rows));
    of_rows(&rows, headers, title)
}

/// Cells as they are written, and whether a row ends behind each.
fn pieces(text: &str, inside: Span) -> Vec<(Span, bool)> {
    let body = inside.of(text);
    let bytes = body.as_bytes();
    let mut found = Vec::new();
    let (mut from, mut at) = (0, 0);
    let piece = |from: usize, to: usize| Span::new(inside.start + from, inside.start + to);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if bytes.get(at + 1) == Some(&b'\\') => {
                found.push((piece(from, at), true));
                at += 2;
                at += usize::from(bytes.get(at) == Some(&b'*'));
                // "\\[2pt]"
                if bytes.get(at) == Some(&b'[')
                    && let Some(length) = bytes[at..].iter().take(20).position(|b| *b == b']')
                {
                    at += length + 1;
                }
                from = at;
            }
            b'\\' => at += 2,
            b'%' => at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at),
            b'&' => {
                found.push((piece(from, at), false));
                at += 1;
                from = at;
            }
            _ => at += 1,
        }
    }
    found.push((piece(from, body.len()), true));
    found
}

/// What a cell says without its commands.
#[derive(Default)]
struct Words {
    text: String,
    /// How many columns it is for.
    columns: usize,
    /// There is a rule over it, and so many bytes before its words.
    ruled: bool,
    lead: usize,
}

/// Commands that draw rules over all columns, and what else stands between rows.
const RULES: [&str; 6] = ["hline", "toprule", "midrule", "bottomrule", "endhead", "endfirsthead"];
const BETWEEN: [&str; 4] = ["cline", "cmidrule", "addlinespace", "specialrule"];

/// Commands with arguments that are not printed, and how many.
const UNSEEN: [(&str, usize); 14] = [
    ("multirow", 2),
    ("multicolumn", 2),
    ("textcolor", 1),
    ("color", 1),
    ("cellcolor", 1),
    ("rowcolor", 1),
    ("rotatebox", 1),
    ("cite", 1),
    ("citep", 1),
    ("label", 1),
    ("footnote", 1),
    ("footnotemark", 0),
    ("vspace", 1),
    ("hspace", 1),
];

impl Words {
    /// Reads a cell; before the first one stands how its columns are set.
    fn read(own: &str, first: bool) -> Words {
        let mut words = Words { columns: 1, ..Words::default() };
        let mut rest = own;
        if first {
            while let Some((_, behind)) = argument(rest) {
                rest = behind;
            }
            words.lead = own.len() - rest.len();
        }
        while let Some(c) = rest.chars().next() {
            match c {
                '\\' => {
                    rest = words.command(&rest[1..]);
                    if words.text.trim().is_empty() && words.ruled {
                        words.lead = own.len() - rest.len();
                    }
                    continue;
                }
                '%' => {
                    rest = rest.find('\n').map_or("", |at| &rest[at..]);
                    continue;
                }
                '$' | '{' | '}' => {}
                '~' => words.text.push(' '),
                c if c.is_whitespace() => {
                    if !words.text.ends_with(' ') {
                        words.text.push(' ');
                    }
                }
                c => words.text.push(c),
            }
            rest = &rest[c.len_utf8()..];
        }
        words
    }

    /// Reads what stands behind a backslash, and returns what is left.
    fn command<'a>(&mut self, rest: &'a str) -> &'a str {
        let length = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, mut behind) = rest.split_at(length);
        if name.is_empty() {
            let Some(sign) = rest.chars().next() else { return "" };
            match sign {
                '%' | '&' | '_' | '#' | '$' => self.text.push(sign),
                // "9\,120"
                ',' | ';' | ':' | ' ' => self.text.push(' '),
                _ => {}
            }
            return &rest[sign.len_utf8()..];
        }
        let sign = match name {
            "pm" => "±",
            "times" => "×",
            "mu" | "textmu" => "µ",
            "sim" | "approx" => "~",
            "percent" => "%",
            _ => "",
        };
        self.text.push_str(sign);
        if !sign.is_empty() {
            return behind;
        }
        if RULES.contains(&name) || BETWEEN.contains(&name) {
            self.ruled |= RULES.contains(&name);
            while let Some((_, next)) = argument(behind) {
                behind = next;
            }
            return behind;
        }
        let unseen = UNSEEN.iter().find(|(n, _)| *n == name).map_or(0, |(_, n)| *n);
        for i in 0..unseen {
            let Some((own, next)) = argument(behind) else { break };
            behind = next;
            if i == 0 && name == "multicolumn" {
                self.columns = own.trim().parse().unwrap_or(1).clamp(1, MAX_COLUMNS);
            }
        }
        if unseen == 0 { behind.strip_prefix(' ').unwrap_or(behind) } else { behind }
    }
}

/// Longer arguments are none.
const MAX_ARGUMENT: usize = 200;

/// What stands between the brackets that a text begins with, and what is behind them.
fn argument(text: &str) -> Option<(&str, &str)> {
    let own = text.trim_start();
    let open = own.chars().next()?;
    let close = match open {
        '{' => '}',
        '[' => ']',
        '(' => ')',
        _ => return None,
    };
    let mut depth = 0usize;
    for (i, c) in own.char_indices().take(MAX_ARGUMENT) {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some((&own[1..i], &own[i + 1..]));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;
    use crate::read::table::shape::only;

    fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        only(&super::read(text, &lines(text)))
    }

    #[test]
    fn commands_are_taken_out_of_cells() {
        let (columns, rows) = table(
            "\\begin{tabular}{l@{ }r} \\toprule\nTagger & CPU (\\%) \\\\ \\midrule\n\
             % old & 3 \\\\\nHMM & $9\\,120 \\pm 85$ \\\\[2pt]\n\\textbf{CRF \\& co} &\n\\textbf{1{,}240}\\\\\n\\bottomrule\n\\end{tabular}\n",
        );
        assert_eq!(columns, ["Tagger", "CPU (%)"]);
        assert_eq!(rows, [["HMM", "9 120 ± 85"], ["CRF & co", "1,240"]]);
    }

    #[test]
    fn cells_reach_over_columns_and_rows() {
        let (columns, rows) = table(
            "\\begin{tabular}{|l|rr|}\n\\hline\n & \\multicolumn{2}{c|}{Time} \\\\ \\cline{2-3}\nTool & cold & warm \\\\ \\hline\\hline\n\
             \\multirow{2}{*}{a} & 1 & 2 \\\\\n & 3 & 4 \\\\ \\hline\n\\end{tabular}\n",
        );
        assert_eq!(columns, ["Tool", "Time cold", "Time warm"]);
        assert_eq!(rows, [["a", "1", "2"], ["", "3", "4"]]);
    }

    #[test]
    fn the_float_around_it_is_taken_with_its_caption() {
        let text = "a\n\\begin{table}\n\\begin{tabular}{lr}\nx & 1 \\\\\ny & 2 \\\\\n\\end{tabular}\n\\caption{Times {in} s}\n\\end{table}\nb\n";
        let (table, taken) = super::read(text, &lines(text)).remove(0);
        assert_eq!(table.title.of(text), "Times {in} s");
        assert_eq!(taken, [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(table.rows[1].cells[1].number, Some((2.0, 1.0)));
    }

    #[test]
    fn what_is_broken_ends() {
        for text in [
            "\\begin{tabular}",
            "\\begin{tabular\n\\end{tabular}",
            "\\begin{tabular}{\\end{tabular}",
            "\\begin{tabular}\n\\multicolumn{é\\\\é{\\",
            "\\end{tabular}\\begin{tabular}\n\\end{tabular}",
            "\\begin{tabular}\n\\multicolumn{99999}{c}{a} & \\hline(\n\\end{tabular}",
        ] {
            assert!(super::read(text, &lines(text)).is_empty(), "{text}");
        }
    }
}
