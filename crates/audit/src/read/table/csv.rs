//! Values between commas, with names in the first line, in blocks of code or indented.

use std::ops::Range;

use super::tools::grid;
use super::{Table, cell};
use crate::read::line::Line;
use crate::read::source::Span;

/// Lines with more cells are no table that a sentence could be about.
const MAX_CELLS: usize = 60;

/// The table of a region of code whose lines are cut by the same sign as often.
pub(super) fn read(text: &str, region: &[Line]) -> Option<Vec<(Table, Range<usize>)>> {
    let indented = |l: &Line| l.span.of(text).starts_with("    ");
    if region.len() < 3 || !region.iter().all(|l| l.code || indented(l)) {
        return None;
    }
    [',', ';'].iter().find_map(|sign| table(text, region, *sign)).map(|found| vec![found])
}

fn table(text: &str, region: &[Line], sign: char) -> Option<(Table, Range<usize>)> {
    // A command or a comment may stand over it.
    let first = (0..2).find(|i| is_header(text, region.get(*i), sign))?;
    let header = cells(text, region[first].span, sign);
    let rows: Vec<(Span, Vec<Span>)> = region[first + 1..]
        .iter()
        .map(|l| (l.span, cells(text, l.span, sign)))
        .take_while(|(_, row)| row.len() == header.len())
        .collect();
    let valued = |c: usize| rows.iter().all(|(_, row)| cell(text, row[c]).number.is_some());
    if rows.len() < 2 || !(0..header.len()).any(valued) {
        return None;
    }
    let names = (0..header.len()).take_while(|c| !valued(*c)).count();
    // Of lines of numbers alone the first is what they are about.
    let names = names.max(1);
    let of = |c: &Span| c.of(text).replace('_', " ");
    let mut columns = vec![header[..names].iter().map(of).collect::<Vec<_>>().join(" ")];
    columns.extend(header[names..].iter().map(of));
    let made = rows
        .iter()
        .map(|(span, row)| {
            let label: Vec<&str> = row[..names].iter().map(|c| c.of(text)).collect();
            (*span, label.join(" "), row[names..].iter().map(|c| Some(*c)).collect())
        })
        .collect();
    Some((grid(text, columns, made)?, first..first + 1 + rows.len()))
}

fn is_header(text: &str, line: Option<&Line>, sign: char) -> bool {
    let Some(line) = line else { return false };
    let names = cells(text, line.span, sign);
    names.len() > 1
        && names.iter().all(|c| {
            let name = c.of(text);
            name.len() <= 40
                && name.starts_with(char::is_alphabetic)
                && !name.contains(['{', '=', '"', ';'])
        })
}

/// The cells of a line, without their quotes; a sign between quotes cuts nothing.
fn cells(text: &str, line: Span, sign: char) -> Vec<Span> {
    let body = line.of(text);
    let mut found = Vec::new();
    let (mut from, mut quoted) = (0, false);
    for (i, c) in body.char_indices().chain([(body.len(), sign)]) {
        quoted ^= c == '"';
        if i == body.len() || c == sign && !quoted {
            let own = body[from..i].trim().trim_matches('"');
            found.push(super::outputs::place(text, own));
            from = i + c.len_utf8();
        }
        if found.len() > MAX_CELLS {
            return Vec::new();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;
    use crate::read::table::find;

    #[test]
    fn values_stand_between_commas() {
        let text = "```\n$ cat results.csv\ncommand,mean_ms,\"peak MB\"\n\"build, old\",312.5,41\nbuild new,98.1,39\n```\n";
        let (tables, _) = find(text, &lines(text));
        assert_eq!(tables[0].columns, ["command", "mean ms", "peak MB"]);
        assert_eq!(tables[0].rows[0].label, "build, old");
        assert_eq!(tables[0].rows[1].cells[2].text, "39");
        for text in
            ["a,b\n1,2\n3,4\n", "```\nf(a, b)\ng(1, 2)\nh(3, 4)\n```\n", "```\n,\n\",\n,\"\n```\n"]
        {
            assert!(find(text, &lines(text)).0.is_empty(), "{text}");
        }
    }
}
