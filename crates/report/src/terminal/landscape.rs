//! A landscape: its table, the matrix of its denominators, the list of all landscapes.

use std::ops::Range;

use assay_chart::text::{columns as width_of, shorten};
use assay_rules::denominator::{Matrix, MatrixRow};
use assay_rules::landscape::{Landscape, Listing, Role};

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::csv::kind;
use crate::landscape::{NOTHING, leads, matrix_notes, matrix_text, notes, texts};

/// Heading, table, findings, and what must be known to read it.
pub fn landscape(landscape: &Landscape, style: Style) -> String {
    let mut w = Writer::new(style);
    w.wrapped(0, &landscape.heading(), Paint::Strong);
    if landscape.lines.is_empty() {
        w.line("No result is left to show.", Paint::Warn);
    } else {
        w.wrapped(0, &landscape.measure(), Paint::Soft);
        w.blank();
        w.raw(&table(landscape, style));
    }
    let notes = notes(landscape);
    if !landscape.findings.is_empty() || !notes.is_empty() {
        w.blank();
    }
    if !landscape.findings.is_empty() {
        w.raw(&super::findings(&landscape.findings, style));
    }
    for note in notes {
        w.wrapped(0, &note, Paint::Soft);
    }
    w.finish()
}

/// The table, in as many parts as the width asks for: each repeats place and label. Where not even
/// one column fits beside the label, row under row.
fn table(landscape: &Landscape, style: Style) -> String {
    let all = landscape.columns.len();
    if let Some(text) = part_of(landscape, 0..all, style).side_by_side_if_it_fits(style) {
        return text;
    }
    let mut out = String::new();
    let mut start = 0;
    while start < all {
        let fitting = (start + 1..=all).rev().find_map(|end| {
            let text = part_of(landscape, start..end, style).side_by_side_if_it_fits(style)?;
            Some((end, text))
        });
        let Some((end, text)) = fitting else {
            return part_of(landscape, 0..all, style).render(style);
        };
        if start > 0 {
            out.push('\n');
        }
        out.push_str(&text);
        start = end;
    }
    out
}

/// Some columns of the table; those after the first few have the line's label before them.
fn part_of(landscape: &Landscape, columns: Range<usize>, style: Style) -> Table {
    let ranked = landscape.ordered_by.is_some();
    let mixed = landscape.mixed();
    let labelled = columns.start > 0;
    let mut table = Table::default();
    if ranked {
        table = table.number("#");
    }
    if mixed && !labelled {
        table = table.word("kind");
    }
    if labelled {
        let title = landscape.columns.first().map_or("line", |c| c.title.as_str());
        table = table.label(title);
    }
    for c in &landscape.columns[columns.clone()] {
        table = match c.role {
            Role::Words => table.label(&c.title),
            Role::Count | Role::Value | Role::Derived => table.number(&c.title),
        };
    }
    for l in &landscape.lines {
        let mut cells = Vec::new();
        if ranked {
            cells.push(cell(l.rank.map_or_else(|| NOTHING.to_owned(), |r| r.to_string())));
        }
        if mixed && !labelled {
            cells.push(cell(kind(l.kind)));
        }
        if labelled {
            let label = l.entry.as_ref().map_or(NOTHING, |e| e.label.as_str());
            // A label must not take the place of the numbers.
            cells.push(cell(shorten(label, style.columns() / 2, style.ellipsis())));
        }
        let shown = texts(l).skip(columns.start).take(columns.len());
        cells.extend(shown.map(cell));
        table.row(cells);
    }
    table
}

/// Systems by denominators, in as many tables as the width asks for.
pub fn matrix(matrix: &Matrix, unit: &str, style: Style) -> String {
    let mut w = Writer::new(style);
    let what = if unit.is_empty() { String::new() } else { format!("{unit} ") };
    w.heading(&format!("{what}by every denominator"));
    let titles: Vec<String> = matrix.bases.iter().map(ToString::to_string).collect();
    let texts: Vec<Vec<String>> = matrix
        .rows
        .iter()
        .map(|r| r.cells.iter().map(|c| matrix_text(c.as_ref())).collect())
        .collect();
    let widths: Vec<usize> = titles
        .iter()
        .enumerate()
        .map(|(c, title)| {
            texts.iter().map(|t| width_of(&t[c])).chain([width_of(title)]).max().unwrap_or(0)
        })
        .collect();
    let label = matrix.rows.iter().map(|r| width_of(&r.label)).max().unwrap_or(0).clamp(6, 30);
    let mut start = 0;
    while start < titles.len() {
        if start > 0 {
            w.blank();
        }
        let mut end = start;
        let mut used = label;
        while end < titles.len() && (end == start || used + 2 + widths[end] <= style.columns()) {
            used += 2 + widths[end];
            end += 1;
        }
        let last = end == titles.len() && used + 2 + 20 <= style.columns();
        w.raw(&part(&matrix.rows, &titles, &texts, start..end, last, style));
        if end == titles.len() && !last {
            w.blank();
            w.raw(&part(&matrix.rows, &titles, &texts, end..end, true, style));
        }
        start = end;
    }
    for note in matrix_notes(matrix) {
        w.wrapped(0, &note, Paint::Soft);
    }
    w.finish()
}

fn part(
    rows: &[MatrixRow],
    titles: &[String],
    texts: &[Vec<String>],
    range: Range<usize>,
    with_leads: bool,
    style: Style,
) -> String {
    let mut table = Table::default().label("system");
    for title in &titles[range.clone()] {
        table = table.number(title);
    }
    if with_leads {
        table = table.word("leads");
    }
    for (r, t) in rows.iter().zip(texts) {
        let mut cells = vec![cell(r.label.clone())];
        for text in &t[range.clone()] {
            let paint = if text.ends_with('*') { Paint::Warn } else { Paint::Plain };
            cells.push((text.clone(), paint));
        }
        if with_leads {
            let paint = if r.dominates { Paint::Good } else { Paint::Plain };
            cells.push((leads(r.leads, r.of, r.dominates), paint));
        }
        table.row(cells);
    }
    table.render(style)
}

/// The landscapes that there are.
pub fn landscape_list(list: &[Listing], style: Style) -> String {
    let (defined, files): (Vec<&Listing>, Vec<&Listing>) =
        list.iter().partition(|l| !l.title.is_empty());
    let mut w = Writer::new(style);
    let pairs: Vec<(&str, String)> =
        defined.iter().map(|l| (l.name.as_str(), l.title.clone())).collect();
    w.pairs(&pairs);
    if !files.is_empty() {
        let names: Vec<&str> = files.iter().map(|l| l.name.as_str()).collect();
        w.blank();
        w.wrapped(
            0,
            &format!("Files of results without a definition: {}.", names.join(", ")),
            Paint::Soft,
        );
    }
    w.finish()
}

#[cfg(test)]
mod tests {
    use assay_model::{Better, Interval, Kind};
    use assay_rules::denominator::{Counts, Denominator};
    use assay_rules::landscape::{Collection, Measured, Query};

    use super::*;
    use crate::terminal::Glyphs;

    fn shown(name: &str, query: &Query) -> Landscape {
        Collection::built_in().unwrap().landscape(name, query).unwrap()
    }

    fn all() -> Vec<(&'static str, String)> {
        texts_at(Style::default())
    }

    fn texts_at(style: Style) -> Vec<(&'static str, String)> {
        let day = Query { as_of: Some("2009-08-27".to_owned()), ..Query::default() };
        let by_core = Query { per: vec![Denominator::Core], ..day.clone() };
        let mut turned = shown("specjbb2005", &by_core);
        turned.check_denominators(&[Denominator::Core], false, assay_model::Profile::Lab);
        let mut mixed = shown("memcached", &Query::default());
        let run = Measured {
            run: "20260102-030405-abcd".to_owned(),
            workload: "memcached".to_owned(),
            system: "here (threads=4)".to_owned(),
            processor: Some("Example 9000".to_owned()),
            os: Some("Debian".to_owned()),
            metric: "throughput".to_owned(),
            unit: "ops/s".to_owned(),
            better: Better::Higher,
            value: 300_000.0,
            interval: Some(Interval { low: 295_000.0, high: 305_000.0, level: 0.95 }),
            counts: Counts { cores: Some(4.0), ..Counts::default() },
            day: "2026-01-02".to_owned(),
            kind: Kind::Measured,
        };
        mixed.add_measured(&[run]).unwrap();
        let t5240 = shown("specjbb2005-t5240", &Query::default());
        let early = Query { as_of: Some("2001-01-01".to_owned()), ..Query::default() };
        vec![
            ("list", landscape_list(&Collection::built_in().unwrap().list(), style)),
            ("specjbb2005", landscape(&shown("specjbb2005", &day), style)),
            ("specjbb2005-per-core", landscape(&turned, style)),
            (
                "speccpu2006-fp-rate",
                landscape(&shown("speccpu2006-fp-rate", &Query::default()), style),
            ),
            ("gcc-studio", landscape(&shown("gcc-studio-autopar", &Query::default()), style)),
            ("nastran", landscape(&shown("nastran", &Query::default()), style)),
            ("memcached-mixed", landscape(&mixed, style)),
            ("nothing", landscape(&shown("specjbb2005", &early), style)),
            ("matrix", matrix(&t5240.matrix(), &t5240.unit, style)),
        ]
    }

    #[test]
    fn landscapes_read_as_before_at_80_columns() {
        for (what, text) in all() {
            insta::assert_snapshot!(format!("landscape-{what}"), text);
        }
    }

    #[test]
    fn landscapes_fit_and_are_plain() {
        for width in [1, 20, 33, 40, 60, 80, 100, 200] {
            for (what, text) in texts_at(Style { width, glyphs: Glyphs::Ascii, colour: false }) {
                for line in text.lines() {
                    assert!(width_of(line) <= width.max(20), "{what} at {width}: {line}");
                    assert!(line.is_ascii(), "{what}: {line}");
                }
            }
        }
    }
}
