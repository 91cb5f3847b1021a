//! Tests broken texts and claims files, which must give a clear error with file and line, or no
//! data.

use super::verdicts::{TEXT, audited};
use super::{document, tables};
use crate::{ClaimsFile, Document, comparisons, decode};

fn error(text: &str, claims: &str) -> String {
    let errors = audited(text, claims).unwrap_err();
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_quote_that_is_not_in_the_text_or_twice() {
    let claim =
        |quote: &str, more: &str| format!("[[claim]]\nquote = '{quote}'\n{more}is = 'value(1)'\n");
    let none = error(TEXT, &claim("9 % less", ""));
    assert!(none.starts_with("claims.toml:4: `9 % less` is not in `post.md`: copy"), "{none}");
    let twice = error(TEXT, &claim("It is", ""));
    assert!(twice.contains("occurs 2 times, on lines 8, 9: add `occurrence = N`"), "{twice}");
    let third = error(TEXT, &claim("It is", "occurrence = 3\n"));
    assert!(third.contains("occurrence = 3: the quote occurs 2 times in the text"), "{third}");
    let audit = audited(TEXT, &claim("It is", "occurrence = 2\nsays = '1'\n")).unwrap();
    assert_eq!(audit.claims[0].line, 9);
    // White space is normalized, markup is not part of the words, and all mistakes are reported.
    assert!(audited(TEXT, &claim("It is twice  as fast", "says = '1'\n")).is_ok());
    // A quote must begin and end with whole words and numbers.
    let text = TEXT.replace("9% more", "15% more, 5% more and 1.5% more");
    assert!(audited(&text, &claim("5% more", "says = '1'\n")).is_ok());
    let both = error(TEXT, &(claim("nowhere", "") + &claim("never", "")));
    assert_eq!(both.lines().count(), 2, "{both}");
}

#[test]
fn an_expression_that_names_no_row_several_rows_or_no_number() {
    let text = TEXT.replace("Bolt Q7 | 4000", "Acme Z9 | NaN");
    let is = |row: &str, column: &str| {
        format!(
            "[[claim]]\nquote = 'twice as fast'\nsays = '1'\nis = 'value(cell(\"table 1\", \
             row=\"{row}\", column=\"{column}\"))'\n"
        )
    };
    let none = error(&text, &is("Crow", "ops/s"));
    assert!(
        none.contains("claims.toml:6: ") && none.contains("no row of table 1 fits `Crow`"),
        "{none}"
    );
    let several = error(&text, &is("Acme Z9", "ops/s"));
    assert!(several.contains("2 rows of table 1 fit `Acme Z9`: `line 5: "), "{several}");
    let nan = error(&text, &is("line 6", "ops/s"));
    assert!(nan.contains("`NaN` is not a number (table 1, line 6, column `ops/s`)"), "{nan}");
}

#[test]
fn thousands_and_decimal_commas_are_declared_or_no_numbers() {
    let text = TEXT.replace("4220", "4,220").replace("4000", "4,000");
    let more = "[[claim]]\nquote = 'twice as fast'\nsays = '5.5 %'\n\
                is = 'more(cell(\"table 1\", row=\"Acme Z9\", \
                column=\"ops/s\"), than=cell(\"table 1\", row=\"Bolt Q7\", column=\"ops/s\"))'\n";
    let undeclared = error(&text, more);
    assert!(
        undeclared.contains("declare the table's `thousands` or `decimal` mark"),
        "{undeclared}"
    );
    for marks in ["thousands = ','", "decimal = ','"] {
        let audit = audited(&text, &format!("[[table]]\ntable = 1\n{marks}\n{more}")).unwrap();
        assert_eq!(audit.claims[0].verdict, crate::ClaimVerdict::Holds, "{marks}");
    }
    let bad = error(&text, &format!("[[table]]\ntable = 1\ndecimal = ';'\n{more}"));
    assert!(bad.starts_with("claims.toml:3: `decimal` is"), "{bad}");
}

#[test]
fn html_that_is_never_closed() {
    for (text, wanted) in [
        ("<p>a</p>\n<table><tr><td>1<td>2\n", "a.html:2: this <table> is never closed"),
        ("<p>a</p>\n<pre>\n1  2\n", "a.html:2: this <pre> is never closed"),
        ("<p>a</p>\n<p title=\"x\n", "the file ends inside of a tag or comment"),
        ("<p>a</p>\n<!-- x\n", "the file ends inside of a tag or comment"),
    ] {
        let message = Document::read("a.html", text).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
    let message = Document::read("a.md", "# A\n\n<table>\n<tr><td>1\n").unwrap_err().to_string();
    assert!(message.starts_with("a.md:3: this <table> is never closed"), "{message}");
    // Cells, rows and paragraphs need no closing tags.
    assert_eq!(tables("a.html", "<table><tr><th>n<th>v<tr><td>a<td>1</table><p>b").len(), 1);
}

#[test]
fn right_to_left_text_and_digits_of_other_scripts() {
    let text = "| \u{5de}\u{5e2}\u{5e8}\u{5db}\u{5ea} | ops/s |\n|---|---|\n\
                | \u{5d0}\u{5d1}\u{5d2} | 4220 |\n\
                | \u{5d3} | \u{664}\u{662}\u{662} |\n";
    let tables = tables("a.md", text);
    let table = &tables[0];
    let ops = table.column("ops/s").unwrap();
    let row = table.row("\u{5d0}\u{5d1}\u{5d2}").unwrap();
    assert_eq!(table.number(row, ops).unwrap().text, "4220");
    let other = table.number(table.row("\u{5d3}").unwrap(), ops).unwrap_err().to_string();
    assert!(other.contains("is not a number (table 1, line 4"), "{other}");
    // A directional mark is not part of a number.
    let marked = document("a.md", &text.replace("4220", "\u{200f}4220"));
    let marked = marked.tables(&[]).unwrap();
    assert!(marked[0].number(&marked[0].rows[0], ops).is_err());
}

#[test]
fn ten_thousand_rows_in_each_format() {
    let each = |row: &dyn Fn(usize, usize) -> String| {
        (0..10_000).map(|i| row(i, i % 97)).collect::<Vec<_>>().concat()
    };
    let rows = each(&|i, v| format!("| system {i} | {i} | {v}.5 |\n"));
    let lines = each(&|i, v| format!("system-{i}   {i:>6}  {v:>4}.5\n"));
    let html = each(&|i, v| format!("<tr><td>s {i}<td>{i}<td>{v}.5\n"));
    let declared = "[[table]]\nlines = '1-10000'\nrow = '^(\\S+) +(\\d+) +(\\S+)$'\n";
    for (name, text) in [
        ("a.md", format!("| name | n | v |\n|---|---|---|\n{rows}")),
        ("a.txt", format!("name          n      v\n{lines}")),
        ("a.html", format!("<table><tr><th>name<th>n<th>v\n{html}</table>")),
        (
            "a.csv",
            format!("name,n,v\n{}", rows.replace(" | ", ",").replace("| ", "").replace(" |", "")),
        ),
    ] {
        let document = document(name, &text);
        let tables = document.tables(&[]).unwrap();
        assert_eq!(tables[0].rows.len(), 10_000, "{name}");
        let (row, column) = (tables[0].row("line 5000").unwrap(), tables[0].column("n").unwrap());
        assert!(row.cells[column].number.is_some(), "{name}");
        comparisons(&document, &tables);
    }
    let claims =
        format!("{declared}[[claim]]\nquote = 'system-77 '\nsays = '1'\nis = 'value(1)'\n");
    audited(&lines, &claims).unwrap();
}

#[test]
fn bytes_that_are_no_text() {
    let message = decode("a.txt", b"a\nb\0").unwrap_err().to_string();
    assert_eq!(message, "a.txt:2: a byte 0x00: this is not text");
    assert_eq!(decode("a.txt", b"\xef\xbb\xbfa").unwrap(), "a");
    assert_eq!(decode("a.txt", b"\xe9").unwrap(), "\u{e9}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_the_readers_panic(
        text in "[-a-z0-9 .,|\t\n<>/=\"*#`\u{b1}\u{5d0}%]{0,200}",
        tags in "(<(table|tr|td|th|td rowspan=2|td colspan=3|pre|p|/table|/tr|/td|/pre|br)>|a|1|\n\
            ){0,40}",
        any in "\\PC{0,60}",
    ) {
        for name in ["a.md", "a.html", "a.csv", "a.txt"] {
            for text in [&text, &tags, &any] {
                if let Ok(document) = Document::read(name, text) {
                    let tables = document.tables(&[]).unwrap();
                    for table in &tables {
                        for row in &table.rows {
                            assert_eq!(row.cells.len(), table.columns.len());
                        }
                    }
                    let found = comparisons(&document, &tables);
                    let lines = text.matches('\n').count() + 1;
                    assert!(found.iter().all(|c| c.line >= 1 && c.line <= lines));
                }
            }
        }
        let declared = format!("format = 1\ntext = 'a'\n[[table]]\nlines = '1-2'\n\
            row = '''{text}'''");
        if let Ok(file) = ClaimsFile::read("c.toml", &declared) {
            let _ = document("a.txt", "a 1\nb 2\n").tables(&file.declarations());
        }
    }
}
