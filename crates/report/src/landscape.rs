//! A landscape and its matrix as CSV and Markdown, and the sentences that stand under them in every
//! output.

use std::fmt::Write as _;

use assay_model::Kind;
use assay_rules::denominator::{Basis, Matrix, MatrixCell};
use assay_rules::landscape::{Landscape, Line, Role};

use crate::csv::{Rows, kind, number};
use crate::markdown::{line, row};

/// What stands where nothing was printed or recorded.
pub(crate) const NOTHING: &str = "-";

/// What the marks of a matrix mean.
pub(crate) const MARKS: &str = "In brackets the place in the column; * behind a system that it is \
                                ahead of in total; - not recorded, so not ranked.";

/// One row a line: place, kind, label, every column in full, the rows or the run behind it. Empty
/// where nothing was printed or recorded.
pub fn csv(landscape: &Landscape) -> String {
    let mut out = Rows::default();
    let mut head = vec!["rank".to_owned(), "kind".to_owned(), "label".to_owned()];
    head.extend(landscape.columns.iter().map(|c| c.key.clone()));
    head.extend(["unit", "ids", "sources", "as_of"].map(str::to_owned));
    out.row(&head);
    for l in &landscape.lines {
        let label = l.entry.as_ref().map(|e| e.label.clone()).unwrap_or_default();
        let mut fields =
            vec![l.rank.map(|r| r.to_string()).unwrap_or_default(), kind(l.kind).to_owned(), label];
        fields.extend(l.cells.iter().zip(&landscape.columns).map(|(cell, column)| match cell {
            Some(c) if column.role == Role::Derived => number(c.value),
            Some(c) => c.text.clone(),
            None => String::new(),
        }));
        fields.extend([
            landscape.unit.clone(),
            l.ids.join(";"),
            l.sources.join(";"),
            l.as_of.clone().unwrap_or_default(),
        ]);
        out.row(&fields);
    }
    out.0
}

/// One row for each recorded number of the matrix, with its place, kind and formula.
pub fn matrix_csv(matrix: &Matrix) -> String {
    let mut out = Rows::default();
    out.row(
        &["label", "basis", "value", "unit", "rank", "reversed", "kind", "formula"]
            .map(str::to_owned),
    );
    for r in &matrix.rows {
        for (basis, cell) in matrix.bases.iter().zip(&r.cells) {
            let Some(c) = cell else { continue };
            out.row(&[
                r.label.clone(),
                basis.to_string(),
                number(Some(c.quantity.value)),
                c.quantity.unit.clone(),
                c.rank.map(|n| n.to_string()).unwrap_or_default(),
                c.reversed.to_string(),
                c.quantity.kind_words().to_owned(),
                c.quantity.formula(),
            ]);
        }
    }
    out.0
}

/// The landscape as a Markdown page, with the matrix if there is one.
pub fn markdown(landscape: &Landscape, matrix: Option<&Matrix>) -> String {
    let mut out = format!("# {}\n\n{}\n\n", line(&landscape.heading()), line(&landscape.measure()));
    let ranked = landscape.ordered_by.is_some();
    let mixed = landscape.mixed();
    let mut head: Vec<&str> = Vec::new();
    let mut rule = String::from("|");
    let mut column = |title, right: bool| {
        head.push(title);
        rule.push_str(if right { "--:|" } else { "---|" });
    };
    if ranked {
        column("place", true);
    }
    if mixed {
        column("kind", false);
    }
    for c in &landscape.columns {
        column(&c.title, c.role != Role::Words);
    }
    row(&mut out, &head);
    let _ = writeln!(out, "{rule}");
    for l in &landscape.lines {
        let place = l.rank.map_or_else(|| NOTHING.to_owned(), |r| r.to_string());
        let mut cells: Vec<&str> = Vec::new();
        if ranked {
            cells.push(&place);
        }
        if mixed {
            cells.push(kind(l.kind));
        }
        cells.extend(texts(l));
        row(&mut out, &cells);
    }
    out.push('\n');
    if let Some(m) = matrix {
        markdown_matrix(&mut out, m);
    }
    for f in &landscape.findings {
        let severity = format!("{:?}", f.severity).to_lowercase();
        let _ =
            writeln!(out, "- {severity} {} {}: {}", line(&f.id), line(&f.name), line(&f.message));
    }
    if !landscape.findings.is_empty() {
        out.push('\n');
    }
    for note in notes(landscape) {
        let _ = writeln!(out, "{}\n", line(&note));
    }
    out
}

fn markdown_matrix(out: &mut String, matrix: &Matrix) {
    let _ = writeln!(out, "## By every denominator\n");
    let titles: Vec<String> = matrix.bases.iter().map(ToString::to_string).collect();
    let mut head = vec!["system"];
    head.extend(titles.iter().map(String::as_str));
    head.push("leads");
    row(out, &head);
    let _ = writeln!(out, "|---|{}---|", "--:|".repeat(matrix.bases.len()));
    for r in &matrix.rows {
        let mut cells = vec![r.label.clone()];
        cells.extend(r.cells.iter().map(|c| matrix_text(c.as_ref())));
        cells.push(leads(r.leads, r.of, r.dominates));
        row(out, &cells.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let _ = writeln!(out, "\n{}\n", line(&matrix_notes(matrix).join(" ")));
}

/// The texts of a line, a dash where there is none.
pub(crate) fn texts(l: &Line) -> impl Iterator<Item = &str> {
    l.cells.iter().map(|c| c.as_ref().map_or(NOTHING, |c| c.text.as_str()))
}

/// A number of the matrix with its place and mark: `26424 (13)*`.
pub(crate) fn matrix_text(cell: Option<&MatrixCell>) -> String {
    let Some(c) = cell else { return NOTHING.to_owned() };
    let value = c.quantity.text();
    let mark = if c.reversed { "*" } else { "" };
    c.rank.map_or_else(|| value.clone(), |rank| format!("{value} ({rank}){mark}"))
}

/// `3 of 7`, `7 of 7, dominates`.
pub(crate) fn leads(leads: usize, of: usize, dominates: bool) -> String {
    let more = if dominates { ", dominates" } else { "" };
    format!("{leads} of {of}{more}")
}

/// What stands under a matrix.
pub(crate) fn matrix_notes(matrix: &Matrix) -> Vec<String> {
    let mut out = vec![MARKS.to_owned()];
    if !matrix.missing.is_empty() {
        let names: Vec<String> =
            matrix.missing.iter().map(|d| Basis::Per(*d).to_string()).collect();
        out.push(format!("Recorded for no system: {}.", names.join(", ")));
    }
    if matrix.rows.iter().flat_map(|r| r.cells.iter().flatten()).any(|c| c.quantity.from_quoted()) {
        out.push(
            "What is divided is derived from quoted numbers, not printed by the source.".to_owned(),
        );
    }
    out
}

/// What stands under a landscape: what is left out, what was computed, where it is from.
pub(crate) fn notes(landscape: &Landscape) -> Vec<String> {
    let mut out = Vec::new();
    let omissions = landscape.omissions().join(" ");
    if !omissions.is_empty() {
        out.push(omissions);
    }
    out.extend(landscape.derived());
    out.extend(
        landscape
            .lines
            .iter()
            .filter_map(Landscape::interval_note)
            .map(|note| format!("Measured: {note}.")),
    );
    if !landscape.note.is_empty() {
        out.push(landscape.note.clone());
    }
    let sources: Vec<String> = landscape
        .sources
        .iter()
        .map(|s| match (s.site.is_empty(), s.subject.is_empty()) {
            (true, _) => s.key.clone(),
            (false, true) => format!("{} ({}, {})", s.key, s.site, s.date),
            (false, false) => format!("{} ({}, {}: {})", s.key, s.site, s.date, s.subject),
        })
        .collect();
    if !sources.is_empty() && landscape.has(Kind::Quoted) {
        out.push(format!("Quoted from: {}.", sources.join("; ")));
    }
    if !landscape.trademark.is_empty() {
        out.push(landscape.trademark.clone());
    }
    out
}

#[cfg(test)]
mod tests {
    use assay_rules::landscape::{Collection, Query};

    use super::*;

    fn made(name: &str) -> Landscape {
        Collection::built_in().unwrap().landscape(name, &Query::default()).unwrap()
    }

    #[test]
    fn markdown_has_the_table_the_matrix_and_the_sources() {
        let t5240 = made("specjbb2005-t5240");
        insta::assert_snapshot!(markdown(&t5240, Some(&t5240.matrix())));
    }

    #[test]
    fn csv_keeps_every_number_in_full_and_leaves_what_is_missing_empty() {
        let t5240 = made("specjbb2005-t5240");
        let text = csv(&t5240);
        assert!(text.lines().nth(2).unwrap().starts_with(
            "2,quoted,IBM Power 570,IBM Power 570,4,8,16,4.7,POWER6,402923,100730.75,bops,"
        ));
        let text = matrix_csv(&t5240.matrix());
        assert!(
            text.contains(
                "per watt,483.17942857142856,bops/W,1,false,derived from quoted,422782 bops / 875 W"
            ),
            "{text}"
        );
        assert_eq!(text.lines().filter(|l| l.contains("per watt")).count(), 1, "no dash, no 0");
    }
}
