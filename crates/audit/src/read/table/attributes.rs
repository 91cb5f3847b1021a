//! Lists whose lines say what several things have: `name: 420 ms`, `Torvin 595: 32 processors, 64 cores, 1,024 GB memory`,
//! `Tundra: Capacity: 300 GB. Access time: 12.9 ms.`; and lists of values with their names behind them, `586   p750`.

use std::ops::Range;

use super::Table;
use super::outputs::place;
use super::tools::grid;
use crate::evidence::amount::{self, Dimension};
use crate::evidence::name::stem;
use crate::read::line::Line;
use crate::read::source::Span;

/// What a line says: of what, and its values by name.
struct Entry {
    name: String,
    values: Vec<(String, Span)>,
}

/// The longest name of a line, of a value, and the longest value.
const MAX_NAME: usize = 60;
const MAX_KEY: usize = 24;
const MAX_VALUE: usize = 24;
/// Lists in more lists hold no results.
const MAX_DEPTH: usize = 6;

/// The table of the longest run of such lines in a region.
pub(super) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    if let Some(found) = nested(text, region) {
        return Some(vec![found]);
    }
    let entries: Vec<Option<Entry>> = region.iter().map(|l| entry(text, l)).collect();
    let (columns, range) = match longest(&entries, 2) {
        Some(range) => (columns(&entries[range.clone()]), range),
        None => return values_first(text, region),
    };
    let rows = range.clone().filter_map(|i| {
        let entry = entries[i].as_ref()?;
        let cells = columns.iter().map(|c| {
            entry.values.iter().find(|(name, _)| key(name) == key(c)).map(|(_, span)| *span)
        });
        Some((region[i].span, entry.name.clone(), cells.collect()))
    });
    let rows = rows.collect();
    let mut names = vec![String::new()];
    names.extend(columns);
    let mut table = grid(text, names, rows)?;
    if range.start > 0 {
        table.title = Span::new(region[0].span.start, region[range.start - 1].span.end);
    }
    Some(vec![(table, range)])
}

/// A list in whose deeper items stand values of what the items above them name: a row for each value, called by all of
/// its items.
fn nested(text: &str, region: &[Line]) -> Option<(Table, Range<usize>)> {
    let first = region.iter().position(|l| l.bullet > 0)?;
    let lines = &region[first..];
    let mut path: Vec<(usize, String)> = Vec::new();
    let (mut rows, mut names) = (Vec::new(), 0);
    for (i, line) in lines.iter().enumerate() {
        let indent = line.indent(text);
        while path.last().is_some_and(|(over, _)| *over >= indent) {
            path.pop();
        }
        if line.bullet == 0 || path.len() >= MAX_DEPTH {
            return None;
        }
        let name = if let Some(Entry { name, values }) = entry(text, line) {
            let [(key, value)] = values.as_slice() else { return None };
            let over = path.iter().map(|(_, n)| n.as_str());
            let all: Vec<&str> =
                over.chain([name.as_str(), key.as_str()]).filter(|n| !n.is_empty()).collect();
            rows.push((line.span, all.join(" "), vec![Some(*value)]));
            name
        } else {
            // An item without a value names those below it.
            let own = Span::new(line.span.start + line.bullet, line.span.end).of(text).trim();
            let own = unmarked(own.trim_end_matches(':'));
            let deeper = lines.get(i + 1).is_some_and(|n| n.indent(text) > indent);
            if !deeper || own.is_empty() || own.len() > MAX_KEY * 2 {
                return None;
            }
            names += 1;
            own.to_owned()
        };
        path.push((indent, name));
    }
    if names == 0 || rows.len() < 3 {
        return None;
    }
    let table = grid(text, vec![String::new(); 2], rows)?;
    Some((table, first..region.len()))
}

/// The longest run of lines with the same names of values, at least so many.
fn longest(entries: &[Option<Entry>], least: usize) -> Option<Range<usize>> {
    let mut best: Option<Range<usize>> = None;
    let mut at = 0;
    while at < entries.len() {
        let run = entries[at].as_ref().map_or(0, |first| {
            entries[at..].iter().take_while(|e| e.as_ref().is_some_and(|e| alike(first, e))).count()
        });
        if run >= least && best.as_ref().is_none_or(|b| b.len() < run) {
            best = Some(at..at + run);
        }
        at += run.max(1);
    }
    best
}

/// Whether two lines have most of their values in common; one value alone must have the same name.
fn alike(a: &Entry, b: &Entry) -> bool {
    let common =
        a.values.iter().filter(|(n, _)| b.values.iter().any(|(m, _)| key(n) == key(m))).count();
    let most = a.values.len().max(b.values.len());
    common * 3 >= most * 2
}

/// The names of values, in the order in which they come.
fn columns(entries: &[Option<Entry>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (name, _) in entries.iter().flatten().flat_map(|e| &e.values) {
        if !found.iter().any(|f| key(f) == key(name)) {
            found.push(name.clone());
        }
    }
    found
}

/// A name as it is compared: "1 chip" and "2 chips" have the same.
fn key(name: &str) -> String {
    name.to_lowercase().split_whitespace().map(stem).collect::<Vec<_>>().join(" ")
}

/// A name without the marks around it.
fn unmarked(name: &str) -> &str {
    let own = name.trim_matches(['*', '_', ' ']);
    let inside = own.strip_prefix('`').and_then(|own| own.strip_suffix('`'));
    inside.filter(|own| !own.contains('`')).unwrap_or(own)
}

fn entry(text: &str, line: &Line) -> Option<Entry> {
    let start = line.span.start + line.bullet;
    let body = Span::new(start, line.span.end).of(text);
    if body.ends_with(':') || body.contains(['→', '>', '|']) || body.len() > 300 {
        return None;
    }
    let lead = body.len() - body.trim_start().len();
    let own = &body[lead..];
    let wide = own.find("  ").map(|at| (at, own[at..].len() - own[at..].trim_start().len()));
    let marks = [": ", " – ", " — "].iter().find_map(|mark| Some((own.find(mark)?, mark.len())));
    let (end, length) = marks.or(wide)?;
    // `:name: 160 MB` is a field of reStructuredText.
    let field = own[..end].trim_end_matches(['*', ':']).trim_start_matches(':');
    let mut name = unmarked(field).to_owned();
    if name.is_empty() || name.len() > MAX_NAME || name.contains(". ") {
        return None;
    }
    let after = lead + end + length;
    let from = after + body[after..].find(|c: char| !c.is_whitespace() && c != '*')?;
    let listed = body[from..].trim_end_matches([' ', '.', ',', ';', '*']);
    let separator = if listed.contains("; ") {
        "; "
    } else if listed.contains(": ") && listed.contains(". ") {
        ". "
    } else {
        ", "
    };
    let parts: Vec<&str> = listed.split(separator).collect();
    let mut values = Vec::new();
    for part in &parts {
        match value(text, place(text, part), parts.len() > 1) {
            Some(found) => values.push(found),
            // "p750    Verity p750, 2 chips": what it is, in other words.
            None if values.is_empty() && parts.len() > 2 && part.len() <= MAX_NAME => {
                name = format!("{name} {part}");
            }
            None => return None,
        }
    }
    // A name over white space alone is one of a table, unless several values have names.
    let listed = marks.is_some() || values.len() > 1;
    (listed && !values.is_empty()).then_some(Entry { name, values })
}

/// A value with its name: `Access time: 12.9 ms`, `DL700 96 s`, `1,024 GB memory`, `64 cores`. One that stands alone needs
/// no name.
fn value(text: &str, part: Span, several: bool) -> Option<(String, Span)> {
    let words = part.of(text);
    let fits = |own: &str| {
        own.trim_start_matches(['$', '€', '£', '~']).starts_with(|c: char| c.is_ascii_digit())
            && own.len() <= MAX_VALUE
            && own.split_whitespace().count() <= 4
            && amount::of_cell(own, None).is_some()
    };
    let counts = |own: &str| {
        amount::of_cell(own, None).is_some_and(|(a, _)| a.dimension() == Dimension::Count)
    };
    let starts = words.match_indices(' ').map(|(i, _)| i + 1);
    let last = std::iter::once(0).chain(starts).find(|i| fits(&words[*i..]));
    if let Some(at) = last.filter(|at| *at > 0 || !counts(words) && !several) {
        let name = words[..at].trim().trim_end_matches(':');
        return (at <= MAX_KEY).then(|| (name.to_owned(), Span::new(part.start + at, part.end)));
    }
    if !several {
        return None;
    }
    // What stands behind a value is its name; where nothing does, its unit.
    let mut ends: Vec<usize> = words.match_indices(' ').map(|(i, _)| i).take(2).collect();
    ends.reverse();
    let end = ends.into_iter().find(|end| fits(&words[..*end]) && !counts(&words[..*end]));
    let end = end.filter(|end| !fits(words) || counts(words) || *end == words.len());
    match end {
        Some(end) => {
            let name = words[end..].trim();
            let plain = name.len() <= MAX_KEY && !name.bytes().any(|b| b.is_ascii_digit());
            plain.then(|| (name.to_owned(), Span::new(part.start, part.start + end)))
        }
        None if fits(words) => {
            let unit = words.trim_start_matches(|c: char| !c.is_alphabetic());
            (!unit.is_empty()).then(|| (unit.to_owned(), part))
        }
        None => None,
    }
}

/// At least three lines `586   p750`: the values of what is named behind them, under a line that says what they are.
fn values_first(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    let of = |line: &Line| {
        let body = line.span.of(text);
        let own = body.trim_start();
        let gap = own.find("  ")?;
        let name = own[gap..].trim();
        let fits = own.starts_with(|c: char| c.is_ascii_digit())
            && amount::of_cell(&own[..gap], None).is_some()
            && name.starts_with(char::is_alphabetic)
            && !name.contains("  ")
            && name.len() <= MAX_NAME
            && !name.ends_with('.');
        let start = line.span.start + body.len() - own.len();
        fits.then(|| (name.to_owned(), Span::new(start, start + gap)))
    };
    let first = region.iter().position(|l| of(l).is_some())?;
    let count = region[first..].iter().take_while(|l| of(l).is_some()).count();
    if count < 3 || first > 1 {
        return None;
    }
    let over = region[..first].last().map_or("", |l| l.span.of(text).trim());
    let says = over.trim_end_matches(':');
    let column = if says.len() <= MAX_NAME && !says.ends_with('.') { says } else { "" };
    let lines = &region[first..first + count];
    let rows = lines.iter().filter_map(|l| of(l).map(|(name, v)| (l.span, name, vec![Some(v)])));
    let mut table = grid(text, vec![String::new(), column.to_owned()], rows.collect())?;
    if first > 0 {
        table.title = region[0].span;
    }
    Some(vec![(table, 0..first + count)])
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;

    fn table(text: &str) -> (Vec<String>, Vec<(String, Vec<String>)>) {
        let (table, _) = super::read(text, &lines(text)).unwrap().remove(0);
        let rows = table
            .rows
            .iter()
            .map(|r| (r.label.clone(), r.cells[1..].iter().map(|c| c.text.clone()).collect()));
        (table.columns[1..].to_vec(), rows.collect())
    }

    fn row(name: &str, cells: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), cells.iter().map(|c| (*c).to_owned()).collect())
    }

    #[test]
    fn names_stand_behind_values() {
        let (columns, rows) = table(
            "* Torvin 595: 32 processors, 1,024 GB memory, 13,860 SD users, 0.98 s response time\n\
             * Alba rx8: 1 processor, 512 GB memory, 11,250 SD users, 0.99 s response time\n",
        );
        assert_eq!(columns, ["processors", "memory", "SD users", "response time"]);
        assert_eq!(rows[0], row("Torvin 595", &["32", "1,024 GB", "13,860", "0.98 s"]));
        assert_eq!(rows[1].1[0], "1");
    }

    #[test]
    fn names_stand_before_values() {
        let (columns, rows) = table(
            "* Tundra 300: Capacity: 300 GB. Access time: 12.9 ms. Price: $142.\n\
             * Raptile X74: Capacity: 74 GB. Access time: 8.0 ms. Price: $174.\n",
        );
        assert_eq!(columns, ["Capacity", "Access time", "Price"]);
        assert_eq!(rows[1], row("Raptile X74", &["74 GB", "8.0 ms", "174"]));
    }

    #[test]
    fn values_may_be_parted_by_semicolons() {
        let (columns, rows) = table(
            "- Ferro 20 / Base 4: score 2,118; app cores 16; disks 90; response 0.42 s\n\
             - Umbra R / Base 5: score 1,640; app cores 8; disks 48; response 0.55 s\n",
        );
        assert_eq!(columns, ["score", "app cores", "disks", "response"]);
        assert_eq!(rows[1], row("Umbra R / Base 5", &["1,640", "8", "48", "0.55 s"]));
    }

    #[test]
    fn fields_have_their_names_between_colons() {
        let (_, rows) = table(":skip list: 210 MB\n:b-tree: 145 MB\n");
        assert_eq!(rows, [row("skip list", &["210 MB"]), row("b-tree", &["145 MB"])]);
    }

    #[test]
    fn what_a_thing_is_belongs_to_its_name() {
        let (columns, rows) = table(
            "   p750    Verity p750, 2 chips, 16 cores, 3.55 GHz\n   R905    Quill R905, 4 chips, 24 cores, 2.60 GHz\n",
        );
        assert_eq!(columns, ["chips", "cores", "GHz"]);
        assert_eq!(rows[1], row("R905 Quill R905", &["4", "24", "2.60 GHz"]));
    }

    #[test]
    fn values_may_stand_first() {
        let (columns, rows) =
            table("SPECint_rate_base2006\n   586   p750\n   412   R905\n   381   BL490\n");
        assert_eq!(columns, ["SPECint_rate_base2006"]);
        assert_eq!(rows[1], row("R905", &["412"]));
    }

    #[test]
    fn one_value_a_line() {
        let (columns, rows) = table("- host network: 41 µs\n- vxlan: 63 µs\n");
        assert_eq!((columns, rows[1].clone()), (vec![String::new()], row("vxlan", &["63 µs"])));
    }

    #[test]
    fn values_of_deeper_items_are_called_by_all_over_them() {
        let text = "- **Traffic**\n  - out\n    - HTTP: 412T\n    - FTP: 1.9T\n  - in: 21T\n\
                    - Requests: 96k\n  - IPv6: 22k\n";
        let names = |text: &str| {
            let (tables, _) = crate::read::table::find(text, &lines(text));
            let labels = tables.iter().flat_map(|t| &t.rows).map(|r| r.label.clone());
            labels.collect::<Vec<_>>()
        };
        let wanted =
            ["Traffic out HTTP", "Traffic out FTP", "Traffic in", "Requests", "Requests IPv6"];
        assert_eq!(names(text), wanted);
        for text in ["- We saw\n- a: 12 ms\n- b: 13 ms\n- c: 14 ms\n", "- all\n  - a: 2 s\n"] {
            assert!(!names(text).iter().any(|n| n.contains("saw") || n.contains("all")), "{text}");
        }
    }

    #[test]
    fn sentences_are_no_lists() {
        for text in [
            "- Fast: it takes 3 s, and no more than that\n- Slow: it takes 9 s, alas\n",
            "- A: 12 cores of which 4 idle, 3 s\n- B: see below\n",
            ": 1, 2\n: 3, 4\n",
            "- x: , ,\n- y: , ,\n",
        ] {
            assert!(super::read(text, &lines(text)).is_none(), "{text}");
        }
    }
}
