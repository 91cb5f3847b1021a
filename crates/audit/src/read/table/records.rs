//! Records of pairs under a name, as fio prints them: `job: (...)`, and indented under it `read: IOPS=98.4k, BW=384MiB/s`
//! or `clat (usec): min=61, avg=324.1`. Each name is a row, each pair a column.

use std::collections::HashMap;

use super::Table;
use super::outputs::place;
use super::title::{MAX_NAME, stands_alone};
use super::tools::grid;
use crate::evidence::amount;
use crate::read::line::Line;
use crate::read::source::Span;

/// A record: where it stands, its name, the line of words over its code, and its values by column.
struct Record {
    span: Span,
    name: String,
    over: String,
    values: Vec<(String, Span)>,
    lines: Vec<usize>,
}

/// A record with more pairs is no report that a sentence could be about.
const MAX_PAIRS: usize = 120;
const MAX_LINES: usize = 200;

/// The tables of records among the lines of a text, with the lines that they take.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(Table, Vec<usize>)> {
    let mut tables = Vec::new();
    let mut open: Vec<Record> = Vec::new();
    let mut over = "";
    let mut at = 0;
    while at < lines.len() {
        let Some((mut record, end)) = record(text, lines, at) else {
            let body = lines[at].span.of(text).trim();
            let words = !lines[at].fence && !lines[at].blank && body.len() <= MAX_NAME;
            if words && (lines[at].code || stands_alone(text, lines, at)) {
                over = body.trim_matches(['#', '*', ':', '`', '$', ' ']);
            }
            at += 1;
            continue;
        };
        over.clone_into(&mut record.over);
        let alike = open.last().is_none_or(|last| {
            let common =
                record.values.iter().filter(|(n, _)| last.values.iter().any(|(m, _)| n == m));
            common.count() >= 2
        });
        if !alike {
            tables.extend(table(text, std::mem::take(&mut open)));
        }
        open.push(record);
        at = end;
    }
    tables.extend(table(text, open));
    tables
}

fn table(text: &str, records: Vec<Record>) -> Option<(Table, Vec<usize>)> {
    if records.is_empty() || records.len() == 1 && records[0].values.len() < 3 {
        return None;
    }
    // Jobs of one name are told apart by what stands over them, and so are those without a name.
    let named = |i: usize| {
        let own = &records[i].name;
        let same = records.iter().enumerate().any(|(j, r)| j != i && r.name == *own);
        let name = match (same, own.is_empty()) {
            (_, true) => &records[i].over,
            (true, false) => &format!("{} {own}", records[i].over),
            (false, false) => own,
        };
        name.trim().to_owned()
    };
    let names: Vec<String> = (0..records.len()).map(named).collect();
    let mut columns = vec![String::new()];
    let mut places: HashMap<String, usize> = HashMap::new();
    for (name, _) in records.iter().flat_map(|r| &r.values) {
        if places.len() < MAX_PAIRS && !places.contains_key(name) {
            places.insert(name.clone(), columns.len() - 1);
            columns.push(name.clone());
        }
    }
    let mut taken = Vec::new();
    let rows = records.into_iter().zip(names).map(|(record, name)| {
        let mut cells = vec![None; columns.len() - 1];
        for (name, span) in &record.values {
            if let Some(place) = places.get(name) {
                cells[*place] = cells[*place].or(Some(*span));
            }
        }
        taken.extend(record.lines);
        (record.span, name, cells)
    });
    let rows = rows.collect();
    Some((grid(text, columns, rows)?, taken))
}

/// The record that begins at a line, and where it ends.
fn record(text: &str, lines: &[Line], at: usize) -> Option<(Record, usize)> {
    let body = lines[at].span.of(text);
    let own = lines[at].indent(text);
    let next = lines.get(at + 1).filter(|l| !l.blank && !l.fence)?;
    let (name, rest) = body.trim().split_once(':')?;
    let rest = rest.trim_start();
    // "write: IOPS=4480" without a job, and "sata: read: IOPS=61k" with it in the same line.
    let jobless = rest.starts_with("IOPS=");
    let inline = rest.split_once(": ").is_some_and(|(_, pairs)| pairs.starts_with("IOPS="));
    let heads = rest.is_empty() || rest.starts_with('(') && rest.contains('=') || inline || jobless;
    if !heads
        || name.is_empty()
        || name.len() > 60
        || next.indent(text) <= own
        || lines[at].bullet > 0
    {
        return None;
    }
    let mut record = Record {
        span: lines[at].span,
        name: if jobless { String::new() } else { name.trim().to_owned() },
        over: String::new(),
        values: Vec::new(),
        lines: vec![at],
    };
    let mut end = at + 1;
    let (mut section, mut above): (Option<(usize, String)>, _) = (None, Prefix::default());
    let mut lines_of_pairs = 0;
    let first = at + usize::from(!jobless && !inline);
    for (i, line) in lines.iter().enumerate().skip(first).take(MAX_LINES) {
        let deep = line.indent(text);
        if line.blank
            || line.fence
            || i > at && deep <= own
            || line.span.end - line.span.start > 400
        {
            break;
        }
        end = i + 1;
        let start = if inline && i == at { place(text, rest).start } else { line.span.start };
        let (prefix, pairs) = split(text, Span::new(start, line.span.end));
        if let Some(prefix) = prefix {
            above = prefix;
        }
        if section.as_ref().is_some_and(|(s, _)| deep <= *s) {
            section = None;
        }
        let under = section.as_ref().map(|(_, name)| name.clone());
        lines_of_pairs += usize::from(!pairs.is_empty());
        for (key, value) in pairs {
            values(text, (under.as_deref(), &above, key), value, &mut record.values);
        }
        if section.is_none() && above.unit.is_none() && lines_of_pairs > 0 {
            section = Some((deep, above.name.clone()));
        }
        if i > at {
            record.lines.push(i);
        }
        record.span.end = line.span.end;
        if record.values.len() > MAX_PAIRS {
            break;
        }
    }
    (lines_of_pairs > 0 && !record.values.is_empty()).then_some((record, end))
}

/// What stands before the colon of a line of pairs: "clat percentiles (usec)".
#[derive(Default)]
struct Prefix {
    name: String,
    unit: Option<String>,
}

/// A line's prefix, and its pairs.
fn split(text: &str, line: Span) -> (Option<Prefix>, Vec<(Span, Span)>) {
    let body = line.of(text);
    let start = line.start + (body.len() - body.trim_start_matches([' ', '\t', '|']).len());
    let body = Span::new(start, line.end).of(text);
    let sign = body.find('=').unwrap_or(body.len());
    let (prefix, from) = match body[..sign].find(':') {
        Some(colon) => {
            let own = &body[..colon];
            let (name, unit) = own.split_once('(').unwrap_or((own, ""));
            let unit = unit.trim_end().trim_end_matches(')').trim();
            let name = name.trim().trim_end_matches("percentiles").trim().to_owned();
            let unit = (!unit.is_empty()).then(|| unit.to_owned());
            (Some(Prefix { name, unit }), colon + 1)
        }
        None => (None, 0),
    };
    let mut pairs = Vec::new();
    let mut at = from;
    let mut depth = 0i32;
    for (i, c) in body.char_indices().skip_while(|(i, _)| *i < from).chain([(body.len(), ',')]) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth <= 0 || i == body.len() => {
                if let Some((key, value)) = body.get(at..i).and_then(|p| p.split_once('=')) {
                    let key_start = start + at + (key.len() - key.trim_start().len());
                    let value_start = start + at + key.len() + 1;
                    let key = Span::new(key_start, key_start + key.trim().len());
                    pairs.push((key, Span::new(value_start, value_start + value.len())));
                }
                at = i + 1;
            }
            _ => {}
        }
    }
    (prefix, pairs)
}

/// Adds the values of a pair: `98.4k`, `[  611]`, or `384MiB/s (403MB/s)`, which are two.
fn values(
    text: &str,
    (section, prefix, key): (Option<&str>, &Prefix, Span),
    value: Span,
    out: &mut Vec<(String, Span)>,
) {
    let key = key.of(text);
    let percentile = key.strip_suffix("th").filter(|k| k.parse::<f64>().is_ok());
    let skipped = matches!(key, "samples" | "per" | "majf" | "minf" | "err" | "jobs" | "groupid");
    let numbered =
        percentile.is_none() && key.starts_with(|c: char| c.is_ascii_digit() || c == '>');
    if skipped || numbered || key.is_empty() || key.len() > 40 {
        return;
    }
    let key = percentile.map_or_else(
        || key.to_owned(),
        |p| {
            let p = if p.contains('.') { p.trim_end_matches('0').trim_end_matches('.') } else { p };
            format!("p{p} {key} percentile")
        },
    );
    let mut name: Vec<&str> = section.filter(|s| *s != prefix.name).into_iter().collect();
    name.extend([prefix.name.as_str(), &key]);
    let name = name.join(" ").trim().to_owned();
    let unit = prefix.unit.as_ref().map_or(String::new(), |unit| format!(" ({unit})"));
    let body = value.of(text);
    let lead = body.len() - body.trim_start_matches([' ', '[']).len();
    let own = body.split(['(', ']']).next().unwrap_or("").trim_end();
    let is_value = |s: &str| amount::of_cell(s, None).is_some();
    if own.len() > lead && is_value(own[lead..].trim()) {
        let span = Span::new(value.start + lead, value.start + own.len());
        out.push((format!("{name}{unit}"), span));
    }
    if let Some((before, inside)) = body.split_once('(')
        && let Some((inside, _)) = inside.split_once(')')
        && is_value(inside)
    {
        let unit: String = inside.chars().skip_while(|c| !c.is_alphabetic()).collect();
        let start = value.start + before.len() + 1;
        out.push((
            format!("{name} {unit}").trim().to_owned(),
            Span::new(start, start + inside.len()),
        ));
    }
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;

    const FIO: &str = "\
psync: (groupid=0, jobs=32): err= 0: pid=4242: Thu Nov 26 08:00:00 2026
  read: IOPS=98.4k, BW=384MiB/s (403MB/s)(22.5GiB/60001msec)
    slat (nsec): min=1200, max=88123, avg=1822.11, stdev=602.31
    clat (usec): min=61, max=9820, avg=324.1, stdev=88.2
    clat percentiles (usec):
     |  1.00th=[  204],  5.00th=[  221], 99.00th=[  611],
     | 99.90th=[ 1090]
   bw (  KiB/s): min=361216, max=402112, per=100.00%, avg=393712.2, samples=119
  cpu          : usr=6.1%, sys=31.4%, ctx=5904312, majf=0, minf=352
  IO depths    : 1=0.1%, 2=0.1%, 4=99.9%, 8=0.0%, >=64=0.0%

io_uring: (groupid=1, jobs=32): err= 0: pid=4243: Thu Nov 26 08:01:00 2026
  read: IOPS=412k, BW=1609MiB/s (1688MB/s)(94.3GiB/60001msec)
    clat (usec): min=58, max=11090, avg=309.9, stdev=70.4
  cpu          : usr=9.2%, sys=47.6%, ctx=24812331, majf=0, minf=361
";

    #[test]
    fn jobs_of_fio_are_rows() {
        let found = super::read(FIO, &lines(FIO));
        assert_eq!(found.len(), 1);
        let table = &found[0].0;
        let names: Vec<&str> = table.rows.iter().map(|r| r.label.as_str()).collect();
        assert_eq!(names, ["psync", "io_uring"]);
        let cell = |row: usize, name: &str| {
            let at = table.columns.iter().position(|c| c == name);
            let at = at.unwrap_or_else(|| panic!("no {name} in {:?}", table.columns));
            table.rows[row].cells[at].text.clone()
        };
        assert_eq!(cell(0, "read IOPS"), "98.4k");
        assert_eq!(cell(1, "read BW"), "1609MiB/s");
        assert_eq!(cell(1, "read BW MB/s"), "1688MB/s");
        assert_eq!(cell(0, "read clat avg (usec)"), "324.1");
        assert_eq!(cell(0, "read clat p99.9 99.90th percentile (usec)"), "1090");
        assert_eq!(cell(1, "cpu sys"), "47.6%");
        assert_eq!(cell(1, "read clat p99 99.00th percentile (usec)"), "");
        assert!(!table.columns.iter().any(|c| c.contains("64")));
    }

    #[test]
    fn jobs_are_named_in_their_first_line_or_by_what_stands_over_them() {
        let names = |text: &str| {
            let found = super::read(text, &lines(text));
            assert_eq!(found.len(), 1, "{text}");
            let rows = found[0].0.rows.iter();
            rows.map(|r| (r.label.clone(), r.cells[1].text.clone())).collect::<Vec<_>>()
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            names(
                "sata:  read: IOPS=61.4k, BW=240MiB/s (251MB/s)(14.1GiB/60001msec)\n       lat (usec): min=71, max=9120\n\
                 nvme:  read: IOPS=402k, BW=1570MiB/s (1647MB/s)(92.0GiB/60001msec)\n       lat (usec): min=52, max=4410\n"
            ),
            [pair("sata", "61.4k"), pair("nvme", "402k")]
        );
        let job = |rate: &str| {
            format!(
                "```\nrandread: (groupid=0, jobs=4)\n  read: IOPS={rate}, BW=384MiB/s (403MB/s)\n```\n"
            )
        };
        assert_eq!(
            names(&format!("## Before\n\n{}\n## After\n\n{}", job("61.4k"), job("98.4k"))),
            [pair("Before randread", "61.4k"), pair("After randread", "98.4k")]
        );
        assert_eq!(
            names(
                "The disk:\n\n  write: IOPS=4480, BW=17.5MiB/s (18.4MB/s)\n    sync (usec): avg=208\n"
            ),
            [pair("The disk", "4480")]
        );
    }

    #[test]
    fn programs_and_prose_are_no_records() {
        for text in [
            "if x:\n    y = f(a=1, b=2)\n",
            "Note: (see=1)\nit goes on = here\n",
            "name:\n  - a\n  - b\n",
            ":\n  =\n",
            "a: (b=\n  c=[,]=(\n  |=[\n",
        ] {
            let found = super::read(text, &lines(text));
            assert!(found.is_empty(), "{text}: {:?}", found[0].0);
        }
    }
}
