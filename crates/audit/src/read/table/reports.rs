//! Reports of runs, whose lines give values with names: `tps = 1645.5`, `latency average: 6.1 ms`, `Parse ...... 12 ms`,
//! and what [`super::outputs`] reads. Reports with the same names, wherever they stand, are the rows of one table. Out of
//! code only lists under lines of words are reports, where their names are the same.

use std::collections::HashMap;

use super::Table;
use super::outputs::{Above, Found, Value};
use super::title::{self, Titles, titled};
use super::tools::grid;
use crate::evidence::amount;
use crate::read::line::Line;
use crate::read::source::Span;

/// A report: what it may be called, and its values by name.
#[derive(Default)]
struct Report {
    span: Span,
    titles: Titles,
    values: Vec<Value>,
    /// The places of the names in it.
    places: HashMap<String, usize>,
    lines: Vec<usize>,
    /// It is a list in prose.
    listed: bool,
    /// A tool is known that prints such values.
    known: bool,
}

/// A report with more values is no report that a sentence could be about.
const MAX_VALUES: usize = 60;
/// Reports of more kinds are not told apart.
const MAX_KINDS: usize = 60;

/// The tables of reports among the lines of a text, with the lines that they take.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(Table, Vec<usize>)> {
    let mut reader = Reader { text, above: Above::new(text), ..Reader::default() };
    for (i, line) in lines.iter().enumerate() {
        reader.line(i, line, lines);
    }
    reader.close();
    tables(text, reader.reports)
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    reports: Vec<Report>,
    open: Report,
    above: Above,
    titles: Titles,
    /// The indent and the words of the line over lines that stand deeper.
    section: Option<(usize, &'a str)>,
}

impl Reader<'_> {
    fn close(&mut self) {
        self.reports.push(std::mem::take(&mut self.open));
    }

    fn line(&mut self, i: usize, line: &Line, lines: &[Line]) {
        let body = line.span.of(self.text);
        if line.fence {
            self.close();
            self.above.end();
            self.section = None;
            return;
        }
        match self.above.read(self.text, line) {
            Some(Found::Values(values)) => {
                self.add(i, line, values, false);
                self.open.known = true;
                return;
            }
            Some(Found::Name(name)) => {
                self.close();
                self.titles.tool = Some(name);
                self.open.lines.push(i);
                return;
            }
            Some(Found::Begin) => {
                self.close();
                self.open.lines.push(i);
                return;
            }
            Some(Found::Part) => return self.open.lines.push(i),
            None => {}
        }
        let deep = line.indent(self.text);
        let listed = !line.code && (line.bullet > 0 || deep > 0);
        let item = || item(self.text, line).filter(|_| line.bullet > 0 || deep > 0);
        let pair = pair(self.text, line).filter(|_| line.code).or_else(item);
        if let Some((key, value)) = pair {
            let under = self.section.filter(|(s, _)| deep > *s && line.code);
            let name = under.map_or(key.to_owned(), |(_, section)| format!("{section} {key}"));
            self.add(i, line, vec![Value { name, span: value, text: None }], listed);
        } else if listed && self.heads(deep, lines[i + 1..].iter().take(3).find(|l| !l.blank)) {
            self.close();
            self.titles.over(body[line.bullet..].trim());
        } else if !line.blank && !listed {
            self.words(i, line, lines);
        }
    }

    /// Whether the line behind one is an item that stands deeper.
    fn heads(&self, deep: usize, next: Option<&Line>) -> bool {
        next.is_some_and(|n| n.indent(self.text) > deep && item(self.text, n).is_some())
    }

    fn add(&mut self, i: usize, line: &Line, values: Vec<Value>, listed: bool) {
        let again = values.iter().any(|v| self.open.places.contains_key(&v.name));
        if again || self.open.values.len() >= MAX_VALUES || self.open.listed != listed {
            self.close();
        }
        if self.open.values.is_empty() {
            self.open.span = line.span;
            self.open.titles = self.titles.take();
            self.open.listed = listed;
        }
        for value in values {
            self.open.places.insert(value.name.clone(), self.open.values.len());
            self.open.values.push(value);
        }
        self.open.lines.push(i);
        self.open.span.end = line.span.end;
    }

    /// A line of words names what is below it.
    fn words(&mut self, i: usize, line: &Line, lines: &[Line]) {
        let body = line.span.of(self.text);
        let own = body.trim();
        let deep = line.indent(self.text);
        if !line.code {
            self.close();
            self.above.end();
        } else if title::is_prompt(own) && !self.open.values.is_empty() {
            self.close();
        }
        self.section = own.strip_suffix(':').filter(|_| line.code).map(|own| (deep, own));
        if own.len() >= 200 {
            return;
        }
        // "query mode: simple" is of the report, and names nothing.
        let prompt = title::is_prompt(own);
        let prints = line.code && !prompt;
        let within = !line.code && !prompt && !title::stands_alone(self.text, lines, i);
        let tells = prints && own.contains(": ");
        if prints && !tells {
            self.titles.inner(own);
        } else if !tells && !within {
            self.titles.over(own);
        }
    }
}

fn tables(text: &str, reports: Vec<Report>) -> Vec<(Table, Vec<usize>)> {
    let mut groups: Vec<Vec<Report>> = Vec::new();
    for report in reports.into_iter().filter(|r| r.values.len() > usize::from(!r.known)) {
        let alike = |group: &&mut Vec<Report>| {
            let first = &group[0];
            let common =
                report.values.iter().filter(|v| first.places.contains_key(&v.name)).count();
            let most = report.values.len().max(first.values.len());
            report.listed == first.listed && common > 0 && common * 5 >= most * 3
        };
        match groups.iter_mut().rev().take(MAX_KINDS).find(alike) {
            Some(group) => group.push(report),
            None => groups.push(vec![report]),
        }
    }
    groups.into_iter().filter_map(|group| table(text, group)).collect()
}

fn table(text: &str, reports: Vec<Report>) -> Option<(Table, Vec<usize>)> {
    let first = &reports[0];
    let several = reports.len() > 1;
    if !several && (first.values.len() < 3 || first.listed) {
        return None;
    }
    // A sentence over a list is no name.
    if first.listed && (first.values.len() < 2 || !reports.iter().all(|r| r.titles.names())) {
        return None;
    }
    let mut columns = vec![String::new()];
    let mut places: HashMap<String, usize> = HashMap::new();
    for value in reports.iter().flat_map(|r| &r.values) {
        if places.len() < MAX_VALUES && !places.contains_key(&value.name) {
            places.insert(value.name.clone(), columns.len());
            columns.push(value.name.clone());
        }
    }
    let names = titled(&reports.iter().map(|r| &r.titles).collect::<Vec<_>>());
    let width = columns.len() - 1;
    let mut taken = Vec::new();
    let mut rows = Vec::new();
    let mut texts = Vec::new();
    for (row, (report, name)) in reports.into_iter().zip(names).enumerate() {
        let mut cells = vec![None; width];
        for value in report.values {
            let Some(place) = places.get(&value.name) else { continue };
            cells[place - 1] = Some(value.span);
            texts.extend(value.text.map(|own| (row, *place, own)));
        }
        rows.push((report.span, name, cells));
        taken.extend(report.lines);
    }
    let mut table = grid(text, columns, rows)?;
    for (row, column, own) in texts {
        table.rows[row].cells[column].text = own;
    }
    Some((table, taken))
}

/// The name and the value of a line of code that has nothing else but words in brackets.
fn pair<'a>(text: &'a str, line: &Line) -> Option<(&'a str, Span)> {
    let body = line.span.of(text);
    if body.len() > 120 || line.bullet > 0 || line.blank {
        return None;
    }
    let colon = [": ", ":\t", " = ", "=", "..", "\t"];
    let own = body.trim_start();
    let lead = body.len() - own.len();
    let at = colon.iter().filter_map(|sign| own.find(sign)).min()?;
    let (key, rest) = own.split_at(at);
    let value = rest.trim_start_matches([':', '=', '.', ' ', '\t']);
    let named = key.starts_with(char::is_alphanumeric)
        && key.len() <= 50
        && key.contains(char::is_alphabetic)
        && !key.contains(['"', '{', '(', ','])
        && amount::of_cell(key, None).is_none();
    if !named || !value.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let start = line.span.start + lead + own.len() - value.len();
    let stop = value.find(['(', '#']).unwrap_or(value.len());
    // What goes on behind brackets is a row of a table.
    let ends = value[stop..].starts_with('#')
        || value[stop..].rsplit_once(')').is_none_or(|(_, rest)| rest.trim().is_empty());
    let value = value[..stop].trim_end();
    amount::of_cell(value, None).filter(|_| ends && !value.contains("  "))?;
    Some((key.trim_end(), Span::new(start, start + value.len())))
}

/// The name and the value of an item of a list: `1.7: 8.4 uA`, `- price: $339`.
fn item<'a>(text: &'a str, line: &Line) -> Option<(&'a str, Span)> {
    let body = Span::new(line.span.start + line.bullet, line.span.end).of(text).trim();
    let (key, value) = body.split_once(": ")?;
    let (key, value) = (key.trim_matches(['*', '`', ' ']), value.trim_matches(['*', ' ']));
    let words: Vec<&str> = value.trim_start_matches(['$', '€', '~']).split_whitespace().collect();
    let digit = words.first()?.starts_with(|c: char| c.is_ascii_digit());
    let plain = !key.is_empty() && key.len() <= 40 && !key.contains(['.', '(']) || key.len() <= 12;
    let whole = words.len() <= 2 || amount::of_cell(value, None).is_some();
    (digit && plain && whole && value.len() <= 24 && !value.ends_with(['.', ';', ':']))
        .then(|| (key, super::outputs::place(text, value)))
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;

    fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let (table, _) = super::read(text, &lines(text)).remove(0);
        let rows = table.rows.iter();
        let rows = rows.map(|r| r.cells.iter().map(|c| c.text.clone()).collect()).collect();
        (table.columns, rows)
    }

    #[test]
    fn runs_of_pgbench_are_rows() {
        let run = |clients: &str, tps: &str| {
            format!(
                "```\n$ pgbench -c {clients}\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 50\n\
                 number of clients: {clients}\nlatency average = 6.077 ms\n\
                 tps = {tps} (without initial connection time)\n```\n"
            )
        };
        let (columns, rows) =
            table(&format!("{}\nAnd then:\n\n{}", run("10", "1645.57"), run("20", "2911.02")));
        assert_eq!(columns, ["", "scaling factor", "number of clients", "latency average", "tps"]);
        assert_eq!(rows[0], ["pgbench -c 10", "50", "10", "6.077 ms", "1645.57"]);
        assert_eq!(rows[1][4], "2911.02");
    }

    #[test]
    fn sections_of_sysbench_name_their_values() {
        let (columns, rows) = table(
            "```\nSQL statistics:\n    transactions:                        60012  (999.97 per sec.)\n\
             Latency (ms):\n         min:                                    2.10\n         avg:                                    \
             8.00\n         95th percentile:                       12.30\n```\n",
        );
        assert_eq!(
            columns,
            [
                "",
                "SQL statistics transactions",
                "Latency (ms) min",
                "Latency (ms) avg",
                "Latency (ms) 95th percentile"
            ]
        );
        assert_eq!(rows, [["SQL statistics", "60012", "2.10", "8.00", "12.30"]]);
    }

    #[test]
    fn shells_print_times_with_tabs() {
        let (columns, rows) = table(
            "```\n$ time ./old\n\nreal\t0m9.120s\nuser\t0m8.500s\nsys\t0m0.410s\n$ time ./new\n\n\
             real\t0m4.020s\nuser\t0m3.900s\nsys\t0m0.100s\n```\n",
        );
        assert_eq!(columns, ["", "real", "user", "sys"]);
        assert_eq!(rows[1], ["time ./new", "0m4.020s", "0m3.900s", "0m0.100s"]);
    }

    #[test]
    fn dots_lead_to_values() {
        let (columns, rows) =
            table("```\nParse ........ 12.3 s\nLower ...... 4.1 s\nEmit ... 900 ms\n```\n");
        assert_eq!(columns, ["", "Parse", "Lower", "Emit"]);
        assert_eq!(rows[0][1..], ["12.3 s", "4.1 s", "900 ms"]);
    }

    #[test]
    fn lists_of_the_same_names_are_rows_of_what_stands_over_them() {
        let wanted = [["Sleep current", "8.4 uA", "2.1 uA"], ["Time awake", "2,140 ms", "960 ms"]];
        for text in [
            "Sleep current\n  1.7: 8.4 uA\n  1.9: 2.1 uA\n\nTime awake\n  1.7: 2,140 ms\n  1.9: 960 ms\n",
            "## Sleep current\n\n- 1.7: 8.4 uA\n- 1.9: 2.1 uA\n\n## Time awake\n\n- **1.7**: 2,140 ms\n- 1.9: 960 ms\n",
            "- Sleep current:\n  - 1.7: 8.4 uA\n  - 1.9: 2.1 uA\n- Time awake:\n  - 1.7: 2,140 ms\n  - 1.9: 960 ms\n",
            "```\nSleep current\n  1.7: 8.4 uA\n  1.9: 2.1 uA\n\nTime awake\n  1.7: 2,140 ms\n  1.9: 960 ms\n```\n",
        ] {
            let (columns, rows) = table(text);
            assert_eq!(columns, ["", "1.7", "1.9"], "{text}");
            assert_eq!(rows, wanted, "{text}");
        }
    }

    #[test]
    fn programs_are_no_reports() {
        for text in [
            "```\nlet x = 3;\nfoo(a, 4)\nreturn 5\n```\n",
            "a: 1\nb: 2\nc: 3\n",
            "```\n```\n= 3\n: 4\n",
        ] {
            assert!(super::read(text, &lines(text)).is_empty(), "{text}");
        }
    }
}
