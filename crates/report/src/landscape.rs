//! Exports a landscape and its matrix as CSV and Markdown.

use assay_quoted::denominator::Matrix;
use assay_quoted::landscape::{ColumnRole, Landscape};

use crate::document::markdown::line;
use crate::document::{self, DocumentPart};
use crate::formats::csv::{Rows, number};
use crate::parts::landscape as parts;

/// Writes one row per line of the landscape: rank, kind, label, every column in full, and the ids
/// of the quoted rows or the run behind it. A value that was not printed or recorded is empty.
pub fn csv(landscape: &Landscape) -> String {
    let mut out = Rows::default();
    let mut head = vec!["rank".to_owned(), "kind".to_owned(), "label".to_owned()];
    head.extend(landscape.columns.iter().map(|c| c.key.clone()));
    head.extend(["unit", "ids", "sources", "as_of", "question"].map(str::to_owned));
    out.row(&head);
    for l in &landscape.lines {
        let label = l.entry.as_ref().map(|e| e.label.clone()).unwrap_or_default();
        let mut fields = vec![
            l.rank.map(|r| r.to_string()).unwrap_or_default(),
            l.kind.name().to_owned(),
            label,
        ];
        fields.extend(l.cells.iter().zip(&landscape.columns).map(|(cell, column)| match cell {
            Some(c) if column.role == ColumnRole::Derived => number(c.value),
            Some(c) => c.text.clone(),
            None => String::new(),
        }));
        fields.extend([
            landscape.unit.clone(),
            l.ids.join(";"),
            l.sources.join(";"),
            l.as_of.clone().unwrap_or_default(),
            l.question.clone(),
        ]);
        out.row(&fields);
    }
    out.text()
}

/// Writes one row for each recorded number of the matrix, with its rank, kind and formula.
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
    out.text()
}

/// Writes the landscape as a Markdown page, with the matrix if there is one.
pub fn markdown(landscape: &Landscape, matrix: Option<&Matrix>) -> String {
    let mut all = parts::results(landscape);
    if let Some(m) = matrix {
        let heading = "By every denominator".into();
        all.push(DocumentPart::Heading(2, String::new(), heading));
        all.append(parts::matrix(m, &landscape.unit, None));
    }
    for note in parts::notes(landscape) {
        all.say(note);
    }
    format!("# {}\n\n{}", line(&landscape.heading()), document::markdown::parts(&all))
}

#[cfg(test)]
mod tests {
    use assay_quoted::landscape::{Collection, Query};

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
