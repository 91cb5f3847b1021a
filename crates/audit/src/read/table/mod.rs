//! Tables in a text: rows between bars, rows of words and numbers, one cell a line, histograms and
//! counted lines of a log. The result has one shape: columns with names, rows with a label.

mod aligned;
mod asciidoc;
mod attributes;
mod benchstat;
mod changes;
mod chunk;
mod clock;
mod csv;
mod latex;
mod listed;
mod narrow;
mod outputs;
mod pairs;
mod pipe;
mod places;
mod plain;
mod records;
mod reports;
mod runs;
mod series;
mod shape;
mod siblings;
mod spread;
mod title;
mod tools;
mod twice;
mod vertical;

pub(crate) use shape::{Cell, Row, Shape, Table, cell};
pub(crate) use siblings::{side_by_side, together};

use crate::read::line::Line;
use crate::read::source::Span;

/// Every table of a text, and which lines belong to one.
pub(crate) fn find(text: &str, lines: &[Line]) -> (Vec<Table>, Vec<bool>) {
    let mut taken = vec![false; lines.len()];
    let mut tables = Vec::new();
    // Lines that a reader has had; those that say more than it has read stay prose.
    let mut had = vec![false; lines.len()];
    for (table, rows, whole) in changes::read(text, lines) {
        for i in rows {
            had[i] = true;
        }
        for i in whole {
            taken[i] = true;
        }
        tables.push(table);
    }
    let of_tools = listed::read(text, lines).into_iter().chain(asciidoc::read(text, lines));
    let of_tools = of_tools.chain(latex::read(text, lines)).chain(runs::read(text, lines));
    let of_tools = of_tools.chain(records::read(text, lines));
    for (table, rows) in of_tools.chain(reports::read(text, lines)) {
        if rows.iter().any(|i| had[*i]) {
            continue;
        }
        for i in rows {
            taken[i] = true;
            had[i] = true;
        }
        tables.push(table);
    }
    let mut at = 0;
    while at < lines.len() {
        if lines[at].blank || lines[at].fence || had[at] {
            at += 1;
            continue;
        }
        let mut end = at;
        while end < lines.len() && !lines[end].blank && !lines[end].fence && !had[end] {
            end += 1;
        }
        let region = &lines[at..end];
        let found = csv::read(text, region)
            .or_else(|| tools::read(text, region))
            .or_else(|| pairs::read(text, region))
            .or_else(|| pipe::read(text, region))
            .or_else(|| series::read(text, region))
            .or_else(|| attributes::read(text, region))
            .or_else(|| aligned::read(text, region))
            .or_else(|| plain::read(text, region));
        for (table, rows) in found.unwrap_or_default() {
            for i in rows {
                taken[at + i] = true;
            }
            tables.push(table);
        }
        at = end;
    }
    tables.sort_by_key(|t| t.span.start);
    for table in &mut tables {
        twice::join(table);
        spread::add(text, table);
        clock::add(table);
    }
    captions(text, lines, &taken, &mut tables);
    (tables, taken)
}

/// A table without words of its own takes those of the two nearest paragraphs or headings above it, and none that stand
/// in other code or in lists.
fn captions(text: &str, lines: &[Line], taken: &[bool], tables: &mut [Table]) {
    let mut above: Option<(usize, Span)> = None;
    for table in tables {
        let own = table.title.end > table.title.start;
        let from = table.title.start.min(table.span.start);
        let first = lines.partition_point(|l| l.span.start < from);
        let mut title: Option<Span> = own.then_some(table.title);
        let mut pieces = usize::from(own);
        let mut most = if own { 80 } else { 300 };
        let mut code = lines.get(first).is_some_and(|l| l.code);
        for i in (0..first).rev().take(8) {
            let line = &lines[i];
            // "2) the old server" by itself is no list.
            let numbered = line.bullet > 0
                && line.span.of(text).starts_with(|c: char| c.is_ascii_digit())
                && [i.wrapping_sub(1), i + 1].iter().all(|j| lines.get(*j).is_none_or(|l| l.blank));
            if taken[i] || pieces == 2 || line.bullet > 0 && !numbered || line.code && !code {
                break;
            }
            code = line.code || code && line.blank;
            let body = line.span.of(text);
            // "#+NAME: startup" is for Org mode.
            let command = line.code && body.trim_start().starts_with("$ ")
                || body.trim_start().starts_with("#+NAME:");
            let says = body.chars().any(char::is_alphanumeric) && !line.fence && !command;
            if says && body.len() < most {
                pieces += 1;
                let end = title.map_or(line.span.end, |t| t.end);
                title = Some(Span::new(line.span.start, end));
                // Over a heading a line may be about all tables, and a paragraph is of another part.
                most = if line.hashes > 0 { 80 } else { most };
            }
        }
        // What stands right below another table in code is called like it.
        let below = above.filter(|(end, _)| {
            let from = lines.partition_point(|l| l.span.end <= *end);
            lines.get(first).is_some_and(|l| l.code)
                && (from..first).all(|i| lines[i].blank || taken[i] && !lines[i].fence)
        });
        let title = title.or(below.map(|(_, title)| title));
        table.title = title.unwrap_or(Span::new(table.span.start, table.span.start));
        above = Some((table.span.end, table.title)).filter(|(_, t)| t.end > t.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::line::lines;

    #[test]
    fn a_number_before_a_caption_makes_no_list_of_it() {
        let table = "| a | ms |\n|---|---|\n| x | 1 |\n";
        for (over, title) in
            [("1) new box", "1) new box"), ("1) new box\n2) old box", ""), ("- new box", "")]
        {
            let text = format!("{over}\n\n{table}");
            let (tables, _) = find(&text, &lines(&text));
            assert_eq!(tables[0].title.of(&text), title, "{over}");
        }
    }
}
