//! Reports of runs in blocks of code, a value a line: `tps = 1645.5`, `latency average: 6.1 ms`, `Parse ...... 12 ms`,
//! `real    0m1.2s`. Reports with the same lines are the rows of one table.

use std::collections::HashMap;

use super::Table;
use super::tools::grid;
use crate::evidence::amount;
use crate::read::line::Line;
use crate::read::source::Span;

/// A report: what stands over it, and its values by name.
#[derive(Default)]
struct Report {
    span: Span,
    name: String,
    values: Vec<(String, Span)>,
    /// The places of the names in it.
    places: HashMap<String, usize>,
    lines: Vec<usize>,
}

/// A report with more values is no report that a sentence could be about.
const MAX_VALUES: usize = 60;

/// The tables of reports among the lines of a text, with the lines that they take.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(Table, Vec<usize>)> {
    let mut reports: Vec<Report> = Vec::new();
    let (mut fenced, mut over, mut section) = (false, String::new(), None);
    let mut open = Report::default();
    for (i, line) in lines.iter().enumerate() {
        let body = line.span.of(text);
        if line.fence {
            fenced = !fenced;
            section = None;
            reports.push(std::mem::take(&mut open));
        } else if let Some((key, value)) = pair(text, line).filter(|_| fenced) {
            let deep = body.len() - body.trim_start().len();
            let under = section.as_ref().filter(|(s, _): &&(usize, String)| deep > *s);
            let name = under.map_or(key.to_owned(), |(_, section)| format!("{section} {key}"));
            if open.places.contains_key(&name) || open.values.len() >= MAX_VALUES {
                reports.push(std::mem::take(&mut open));
            }
            if open.values.is_empty() {
                open.span = line.span;
                open.name.clone_from(&over);
            }
            open.places.insert(name.clone(), open.values.len());
            open.values.push((name, value));
            open.lines.push(i);
            open.span.end = line.span.end;
        } else if !line.blank && body.len() < 100 {
            let own = body.trim();
            let deep = body.len() - body.trim_start().len();
            section = own.strip_suffix(':').filter(|_| fenced).map(|own| (deep, own.to_owned()));
            // "query mode: simple" is of the report, and names nothing.
            if fenced && own.contains(": ") && !own.starts_with(['$', '#']) {
                continue;
            }
            own.trim_matches(['$', '#', '=', '-', '*', ':', ' ', '`']).clone_into(&mut over);
        }
    }
    reports.push(open);
    tables(text, reports)
}

fn tables(text: &str, reports: Vec<Report>) -> Vec<(Table, Vec<usize>)> {
    let mut found = Vec::new();
    let mut group: Vec<Report> = Vec::new();
    for report in reports.into_iter().filter(|r| r.values.len() > 1) {
        let alike = group.first().is_none_or(|first| {
            let common = report.values.iter().filter(|(n, _)| first.places.contains_key(n)).count();
            common > 1 && common * 5 >= report.values.len().max(first.values.len()) * 3
        });
        if !alike {
            found.extend(table(text, std::mem::take(&mut group)));
        }
        group.push(report);
    }
    found.extend(table(text, group));
    found
}

fn table(text: &str, reports: Vec<Report>) -> Option<(Table, Vec<usize>)> {
    if reports.is_empty() || reports.len() == 1 && reports[0].values.len() < 3 {
        return None;
    }
    let mut columns = vec![String::new()];
    columns.extend(reports[0].values.iter().map(|(name, _)| name.clone()));
    let mut taken = Vec::new();
    let mut rows = Vec::new();
    for report in reports {
        let own = |name: &String| report.places.get(name).map(|at| report.values[*at].1);
        let cells = columns[1..].iter().map(own).collect();
        rows.push((report.span, report.name, cells));
        taken.extend(report.lines);
    }
    Some((grid(text, columns, rows)?, taken))
}

/// The name and the value of a line that has nothing else but words in brackets.
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
