//! Tests the verdicts on the claims of a file.

use super::arithmetic::Arithmetic;
use super::document;
use crate::{Audit, ClaimVerdict, ClaimsError, ClaimsFile, audit};

pub(super) const TEXT: &str = "# Report\n\n| System | ops/s | MB/s | Ratio |\n|---|---|---|---|\n\
    | Acme Z9 | 4220 | 31.2 | 1.06 |\n| Bolt Q7 | 4000 | 28 | 1.2 |\n\n\
    The Acme Z9 delivered 9% more ops/s than the Bolt Q7. It is\n*twice* as fast. It is ahead.\n";

pub(super) fn audited(text: &str, claims: &str) -> Result<Audit, Vec<ClaimsError>> {
    let document = document("post.md", text);
    let file = format!("format = 1\ntext = 'post.md'\n{claims}");
    let file = ClaimsFile::read("claims.toml", &file).map_err(|e| vec![e])?;
    let tables = document
        .tables(&file.declarations())
        .map_err(|(i, message)| vec![file.table_error(i, message)])?;
    audit(&document, &tables, &file, &Arithmetic(&tables))
}

fn verdict(says: &str, is: &str, more: &str) -> ClaimVerdict {
    let claims =
        format!("[[claim]]\nquote = 'twice as fast'\nsays = '{says}'\nis = '{is}'\n{more}");
    let audit = audited(TEXT, &claims).unwrap_or_else(|e| panic!("{e:?}"));
    audit.claims[0].verdict
}

const CELLS: &str = "(cell(\"table 1\", row=\"Acme Z9\", column=\"ops/s\"), \
    than=cell(\"table 1\", row=\"Bolt Q7\", column=\"ops/s\"))";

#[test]
fn numbers_are_judged_by_their_last_digit() {
    use ClaimVerdict::{Holds, OffByRounding, Wrong};
    let better = format!("better{CELLS}");
    for (says, wanted) in [
        ("5.5 %", Holds),
        ("6 %", Holds),
        ("5 %", Holds), // 5.5 is half a unit from both
        ("5.4 %", Wrong),
        ("5.45 %", Wrong),
        ("7 %", Wrong),
        ("more than 5 %", Holds),
        ("more than 5.5 %", Wrong),
        ("at least 5.5 %", Holds),
        ("less than 6 %", Holds),
        ("at most 5 %", Wrong),
        ("5 to 7 %", Holds),
        ("7 to 9 %", Wrong),
        ("6 to 9 %", Holds),
    ] {
        assert_eq!(verdict(says, &better, ""), wanted, "{says}");
    }
    assert_eq!(verdict("1.0 times", &format!("times{CELLS}"), ""), OffByRounding);
    assert_eq!(verdict("4000", "value(4000)", ""), Holds);
}

#[test]
fn units_are_converted_and_never_across_dimensions() {
    let rate = r#"rate(cell("table 1", row="Acme Z9", column="MB/s"))"#;
    assert_eq!(verdict("31200 KB/s", rate, ""), ClaimVerdict::Holds);
    assert_eq!(verdict("about 30 MB/s", rate, "within = '5 %'"), ClaimVerdict::Holds);
    assert_eq!(verdict("about 30 MB/s", rate, "within = '3 %'"), ClaimVerdict::Wrong);
    for (says, is, more, wanted) in [
        ("31 MB", rate, "", "`says` is in MB, the expression in MB/s"),
        ("1.06 %", &format!("times{CELLS}"), "", "assay does not convert these"),
        ("about 30 MB/s", rate, "", "`about` needs `within`"),
        ("first", rate, "", "the expression makes a number"),
        ("5 %", "rank(1)", "", "the expression makes a place"),
        ("none", rate, "", "the claim has a value to compare with"),
        ("more than 5 MB/s", rate, "within = '5 %'", "belongs to `about`"),
    ] {
        let claims =
            format!("[[claim]]\nquote = 'twice as fast'\nsays = '{says}'\nis = '{is}'\n{more}");
        let errors = audited(TEXT, &claims).unwrap_err();
        assert!(errors[0].to_string().contains(wanted), "{says}: {}", errors[0]);
    }
}

#[test]
fn places_texts_and_missing_data() {
    use ClaimVerdict::{Holds, NoData, Wrong};
    assert_eq!(verdict("first", "rank(1)", ""), Holds);
    assert_eq!(verdict("2nd", "rank(3)", ""), Wrong);
    assert_eq!(verdict("last", "rank(3)", ""), Holds);
    assert_eq!(verdict("\"X5570\"", "text(\"Xeon X5570\")", ""), Holds);
    assert_eq!(verdict("\"X557\"", "text(\"Xeon X5570\")", ""), Wrong);
    assert_eq!(verdict("none", "missing(\"the watts\")", ""), NoData);
    let claims = "[[claim]]\nquote = 'It is ahead.'\nis = 'missing(\"the watts\")'\n";
    let audit = audited(TEXT, claims).unwrap();
    assert_eq!(audit.claims[0].readings[0].computed, "the watts");
    assert_eq!(audit.claims[0].line, 9);
}

#[test]
fn readings_that_differ_are_ambiguous() {
    let or = format!("or = ['times{CELLS}']");
    assert_eq!(verdict("2 times", "value(2)", "or = ['value(2)']"), ClaimVerdict::Holds);
    assert_eq!(verdict("2 times", "times(2, than=1)", &or), ClaimVerdict::Ambiguous);
}

#[test]
fn every_row_of_a_column_is_judged() {
    let column = "[[claim]]\nquote = 'Ratio'\ntable = 'table 1'\ncolumn = 'Ratio'\n";
    let is = r#"is = 'value(this("Ratio"))'"#;
    let audit = audited(TEXT, &format!("{column}{is}\n")).unwrap();
    let claim = &audit.claims[0];
    assert_eq!((claim.rows.len(), claim.verdict, claim.line), (2, ClaimVerdict::Holds, 3));
    let is = "is = 'value(1.06)'";
    let audit = audited(TEXT, &format!("{column}{is}\n")).unwrap();
    assert_eq!(audit.claims[0].verdict, ClaimVerdict::Wrong);
    assert_eq!(audit.claims[0].rows[1].line, 6);
    let audit = audited(TEXT, &format!("{column}{is}\nexcept = ['Bolt Q7']\n")).unwrap();
    assert_eq!(audit.claims[0].verdict, ClaimVerdict::Holds);
    let text = TEXT.replace("1.2 |", "n/a |");
    let errors = audited(&text, &format!("{column}{is}\n")).unwrap_err();
    assert!(
        errors[0].to_string().contains("claims.toml:5: `n/a` is not a number (table 1, line 6"),
        "{errors:?}"
    );
}

#[test]
fn unbound_comparisons_are_not_checked() {
    let audit =
        audited(TEXT, "[[claim]]\nquote = 'twice as fast'\nsays = '2 times'\nis = 'value(2)'\n");
    let left: Vec<(usize, String)> =
        audit.unwrap().not_checked.into_iter().map(|c| (c.line, c.quote)).collect();
    assert_eq!(
        left,
        [
            (3, "Ratio".to_owned()),
            (8, "The Acme Z9 delivered 9% more ops/s than the Bolt Q7.".to_owned()),
            (9, "It is ahead.".to_owned()),
        ]
    );
    let blank = audited(TEXT, "[[claim]]\nquote = 'twice as fast'\nis = ''\n").unwrap();
    assert_eq!((blank.claims.len(), blank.not_checked.len()), (0, 4));
}
