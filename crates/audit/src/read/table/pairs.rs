//! Lines that are whole rows: a name with several values that have names of their own (`base   wall 94.3 s   user 3411 s`),
//! and in code a value with its name behind it (`1.2G  ./target`).

use std::ops::Range;

use super::Table;
use super::outputs::{is_value, place};
use super::tools::grid;
use crate::read::line::Line;
use crate::read::source::Span;

/// A row: its name, and its values by name.
struct Named<'a> {
    name: &'a str,
    values: Vec<(&'a str, &'a str)>,
}

/// The tables of lines that follow one another and have the same names.
pub(super) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    let read: Vec<Option<Named<'_>>> = region
        .iter()
        .map(|l| {
            let named = bench(text, l).or_else(|| pairs(text, l)).or_else(|| equated(text, l));
            named.or_else(|| measured(text, l)).or_else(|| value_first(text, l))
        })
        .collect();
    let names = |i: usize| {
        read[i].as_ref().map(|row| row.values.iter().map(|(name, _)| *name).collect::<Vec<_>>())
    };
    let mut tables = Vec::new();
    let mut at = 0;
    while at < read.len() {
        let own = names(at);
        // Values at the end of a line may be left out.
        let alike = |i: &usize| match (&own, names(*i)) {
            (Some(own), Some(names)) => own.iter().zip(&names).all(|(a, b)| a == b),
            _ => false,
        };
        let end = at + (at..read.len()).take_while(alike).count();
        if end >= at + 2 {
            tables.extend(table(text, region, &read, at..end).map(|t| (t, at..end)));
        }
        at = end.max(at + 1);
    }
    (!tables.is_empty()).then_some(tables)
}

fn table(
    text: &str,
    region: &[Line],
    read: &[Option<Named<'_>>],
    range: Range<usize>,
) -> Option<Table> {
    let mut columns = vec![String::new()];
    let full = read[range.clone()].iter().flatten().max_by_key(|row| row.values.len())?;
    columns.extend(full.values.iter().map(|(name, _)| (*name).to_owned()));
    // "base: read", "patched: read": what is said of all of them is no name.
    let tail = |i: usize| {
        let row = read[i].as_ref()?;
        Some(row.name.split_once(':')?.1.trim())
    };
    let mut tails = range.clone().map(tail);
    let common = tails.next().flatten().filter(|first| tails.all(|t| t == Some(*first)));
    let rows = range.clone().filter_map(|i| {
        let row = read[i].as_ref()?;
        let cells = row.values.iter().map(|(_, value)| Some(place(text, value))).collect();
        let own = common.and_then(|_| row.name.split_once(':')).map_or(row.name, |(own, _)| own);
        let name: Vec<&str> = own.split_whitespace().collect();
        Some((region[i].span, name.join(" "), cells))
    });
    let mut table = grid(text, columns, rows.collect())?;
    if range.start > 0 {
        table.title = Span::new(region[0].span.start, region[range.start - 1].span.end);
    }
    Some(table)
}

/// A benchmark a line: `test parse ... bench:   1,234 ns/iter (+/- 56)`, `RegExp#test x 4,161,532 ops/sec ±0.99% (59 runs
/// sampled)`, `addition     34.113M (± 2.1%) i/s -    171.007M in   5.014891s`.
fn bench<'a>(text: &'a str, line: &Line) -> Option<Named<'a>> {
    let body = line.span.of(text).trim();
    if let Some((name, rest)) = body.strip_prefix("test ").and_then(|b| b.split_once(" ... bench:"))
    {
        let mut values = vec![("time", rest.split('(').next()?.trim())];
        values.extend(rest.split_once("= ").map(|(_, rate)| ("throughput", rate.trim())));
        return values.iter().all(|(_, v)| is_value(v)).then_some(Named { name, values });
    }
    if let Some((name, rest)) = body.split_once(" x ")
        && let Some((value, rest)) = rest.split_once(" ops/sec")
        && rest.trim_start().starts_with('±')
    {
        return is_value(value).then(|| Named { name, values: vec![("ops/sec", value)] });
    }
    let (own, _) = body.split_once(" i/s -")?;
    let (own, _) = own.split_once(" (±")?;
    let (name, value) = own.trim_end().rsplit_once("  ")?;
    is_value(value).then(|| Named { name: name.trim(), values: vec![("iterations/s", value)] })
}

/// `base      wall 94.3 s   user 3411 s`, or `base  qps=120k p99=4.1ms`: two values or more.
fn pairs<'a>(text: &'a str, line: &Line) -> Option<Named<'a>> {
    let body = Span::new(line.span.start + line.bullet, line.span.end).of(text).trim();
    if body.len() > 200 || line.hashes > 0 {
        return None;
    }
    let body = body.trim_end_matches(['.', ';']);
    let mut chunks = body.split(['\t']).flat_map(|b| b.split("  ")).map(str::trim);
    let mut chunks: Vec<&str> = chunks.by_ref().filter(|c| !c.is_empty()).collect();
    if chunks.len() == 2 && chunks[1].matches('=').count() > 1 {
        let values = chunks.pop()?;
        chunks.extend(values.split([' ', ',']).filter(|c| !c.is_empty()));
    }
    let (name, rest) = chunks.split_first()?;
    let values: Option<Vec<(&str, &str)>> = rest.iter().map(|c| pair(c)).collect();
    let name = name.trim_matches(['*', '`', ':']);
    let named = !name.is_empty() && !is_value(name) && pair(name).is_none();
    values.filter(|v| v.len() > 1 && named).map(|values| Named { name, values })
}

/// `base: read: IOPS=98k, BW= 384MiB/s, p99=  594us`, as lines of fio are shortened: two values or more.
fn equated<'a>(text: &'a str, line: &Line) -> Option<Named<'a>> {
    let body = Span::new(line.span.start + line.bullet, line.span.end).of(text).trim();
    if body.len() > 300 || line.hashes > 0 {
        return None;
    }
    let (over, _) = body.split_once('=')?;
    let (name, _) = over.rsplit_once(": ")?;
    let name = name.trim();
    let listed = body[over.rfind(": ")? + 2..].trim_end_matches(['.', ';']);
    let mut values: Vec<(&str, &str)> = Vec::new();
    for part in listed.split([',', ';']).map(str::trim) {
        let (key, value) = part.split_once('=')?;
        let (key, value) = (key.trim(), value.trim());
        let fits = key.len() <= 30 && key.starts_with(char::is_alphabetic) && is_value(value);
        if !fits || values.iter().any(|(k, _)| *k == key) {
            return None;
        }
        values.push((key, value));
    }
    let named = !name.is_empty() && name.len() <= 60 && !is_value(name);
    (named && values.len() > 1).then_some(Named { name, values })
}

/// `wall 94.3 s`, `p99=4.1ms`, `user: 12 s`.
fn pair(chunk: &str) -> Option<(&str, &str)> {
    let chunk = chunk.trim_end_matches([',', ';', '|']);
    let signs = [' ', '=', ':'];
    let at = chunk
        .match_indices(signs)
        .map(|(at, sign)| at + sign.len())
        .find(|at| chunk[*at..].starts_with(|c: char| c.is_ascii_digit()))?;
    let name = chunk[..at].trim_end_matches(signs);
    let words = name.len() <= 30
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '/' | '.'));
    (words && is_value(&chunk[at..])).then_some((name, &chunk[at..]))
}

/// `fillseq  :  1.420 micros/op  704225 ops/sec;`, as db_bench prints: a name and a colon, then values with units of
/// which each is a name.
fn measured<'a>(text: &'a str, line: &Line) -> Option<Named<'a>> {
    let body = line.span.of(text).trim();
    if body.len() > 200 || line.bullet > 0 {
        return None;
    }
    let (name, rest) = body.split_once(": ")?;
    let name = name.trim_end();
    let named = !name.is_empty() && name.len() <= 40 && !is_value(name);
    let mut values: Vec<(&str, &str)> = Vec::new();
    let mut words = rest.split_whitespace().map(|w| w.trim_end_matches([',', ';']));
    while let Some(value) = words.next() {
        let unit = words.next()?;
        let start = value.as_ptr() as usize - rest.as_ptr() as usize;
        let end = unit.as_ptr() as usize + unit.len() - rest.as_ptr() as usize;
        let digit = value.starts_with(|c: char| c.is_ascii_digit());
        let own = rest.get(start..end)?;
        if !digit || values.iter().any(|(u, _)| *u == unit) || !(is_value(own) || counts(unit)) {
            return None;
        }
        values.push((unit, own));
    }
    (named && values.len() > 1).then_some(Named { name, values })
}

/// Whether a word behind a number may be what is counted: "operations".
fn counts(unit: &str) -> bool {
    unit.len() > 3 && unit.ends_with('s') && unit.bytes().all(|b| b.is_ascii_lowercase())
}

/// `1.2G  ./target` or `41.20s call     tests/test_import.py`, as du and pytest print them: the value has a unit.
fn value_first<'a>(text: &'a str, line: &Line) -> Option<Named<'a>> {
    let body = line.span.of(text).trim();
    if !line.code || body.len() > 200 {
        return None;
    }
    let (value, name) = body.split_once(['\t', ' '])?;
    let (value, name) = match name.split_once("  ") {
        // "1.2 GB  bundle.js"
        Some((unit, rest)) if is_value(&body[..value.len() + 1 + unit.len()]) => {
            (&body[..value.len() + 1 + unit.len()], rest)
        }
        _ => (value, name),
    };
    let unit = value.contains(char::is_alphabetic) && is_value(value);
    let name = name.trim();
    // "call     tests/test_import.py": the kind of step is of the name.
    let words = name.split_whitespace().count();
    let path = name.rsplit(char::is_whitespace).next()?.contains(['.', '/', '_', ':']);
    let names = name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '.' | '/' | '~' | '_'));
    let fits = words == 1 || words == 2 && path;
    (unit && names && fits).then(|| Named { name, values: vec![("", value)] })
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;
    use crate::read::table::find;

    fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let (tables, _) = find(text, &lines(text));
        assert_eq!(tables.len(), 1, "{text}");
        let rows = tables[0].rows.iter();
        let rows = rows.map(|r| r.cells.iter().map(|c| c.text.clone()).collect()).collect();
        (tables[0].columns.clone(), rows)
    }

    #[test]
    fn lines_of_fio_may_be_shortened() {
        let (columns, rows) = table(
            "raw:    read: IOPS=301k, BW=1176MiB/s, lat avg=212us, p99=  401us\n\
             mapped: read: IOPS=97k, BW= 379MiB/s, lat avg=655us, p99= 1720us\n",
        );
        assert_eq!(columns, ["", "IOPS", "BW", "lat avg", "p99"]);
        assert_eq!(rows[1], ["mapped", "97k", "379MiB/s", "655us", "1720us"]);
    }

    #[test]
    fn values_have_names_before_them() {
        let (columns, rows) = table(
            "  base      wall 94.3 s   user 3411 s   sys 512 s\n  patched   wall 92.1 s   user 3408 s   sys 447 s\n",
        );
        assert_eq!(columns, ["", "wall", "user", "sys"]);
        assert_eq!(rows[1], ["patched", "92.1 s", "3408 s", "447 s"]);
        let (columns, rows) = table("old  qps=120k p99=4.1ms\nnew  qps=181k p99=2.0ms\n");
        assert_eq!(columns, ["", "qps", "p99"]);
        assert_eq!(rows[0], ["old", "120k", "4.1ms"]);
    }

    #[test]
    fn benchmarks_are_printed_a_line_each() {
        let (columns, rows) = table(
            "```\ntest parse_small ... bench:       1,234 ns/iter (+/- 56)\ntest parse_large ... bench:     120,456 ns/iter (+/- 2,345) = 812 MB/s\n```\n",
        );
        assert_eq!(columns, ["", "time", "throughput"]);
        assert_eq!(rows[0], ["parse_small", "1,234 ns/iter", ""]);
        assert_eq!(rows[1], ["parse_large", "120,456 ns/iter", "812 MB/s"]);
        let (columns, rows) = table(
            "```\nRegExp#test x 4,161,532 ops/sec ±0.99% (59 runs sampled)\nString#indexOf x 6,139,623 ops/sec ±1.00% (131 runs sampled)\n```\n",
        );
        assert_eq!(columns, ["", "ops/sec"]);
        assert_eq!(rows[0], ["RegExp#test", "4,161,532"]);
        let (columns, rows) = table(
            "```\n            addition     34.113M (± 2.1%) i/s -    171.007M in   5.014891s\n           addition2     24.205M (± 1.1%) i/s -    122.055M in   5.043110s\n```\n",
        );
        assert_eq!(columns, ["", "iterations/s"]);
        assert_eq!(rows[1], ["addition2", "24.205M"]);
    }

    #[test]
    fn values_with_units_stand_behind_a_colon() {
        let (columns, rows) = table(
            "```\nfillseq      :       1.420 micros/op 704225 ops/sec 1.420 seconds 1000000 operations;   77.9 MB/s\n\
             readrandom   :       2.655 micros/op 376648 ops/sec 2.655 seconds 1000000 operations;\n```\n",
        );
        assert_eq!(columns, ["", "micros/op", "ops/sec", "seconds", "operations", "MB/s"]);
        assert_eq!(rows[0][..3], ["fillseq", "1.420 micros/op", "704225 ops/sec"]);
        assert_eq!(rows[1][2..], ["376648 ops/sec", "2.655 seconds", "1000000 operations", ""]);
        let prose = "Note: 12 ms are 3 frames\nLater: 9 ms 4 ms\n";
        assert!(find(prose, &lines(prose)).0.is_empty());
    }

    #[test]
    fn values_stand_before_their_names_in_code() {
        let (columns, rows) = table(
            "```\n41.20s call     tests/test_import.py::test_full\n18.75s setup    tests/test_pdf.py::test_pdf\n```\n",
        );
        assert_eq!(columns, ["", ""]);
        assert_eq!(rows[0], ["call tests/test_import.py::test_full", "41.20s"]);
        assert_eq!(rows[1], ["setup tests/test_pdf.py::test_pdf", "18.75s"]);
        let (_, rows) = table("```\n$ du -sh *\n1.2G\ttarget\n38M\tsrc\n```\n");
        assert_eq!(rows[1], ["src", "38M"]);
    }
}
