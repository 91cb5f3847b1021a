//! Tests the tables of each format with their source lines.

use super::{document, shown, tables};
use crate::TableDeclaration;
use crate::tables::Cell;
use crate::{BlockKind, exact};

fn all(name: &str, text: &str) -> String {
    tables(name, text).iter().map(shown).collect()
}

#[test]
fn markdown() {
    let text = "# Results\n\nBy *system*:\n\n| System | Time [ms] |\n|---|--:|\n\
                | Acme `Z9` | 12.5 |\n\
                | Bolt | 352K |\n\nNo table | here.\n";
    assert_eq!(
        all("a.md", text),
        "table 1 line 5: System | Time [ms]\n7: Acme Z9 | 12.5\n8: Bolt | 352K\n"
    );
    let tables = tables("a.md", text);
    assert_eq!(tables[0].title.as_deref(), Some("By system:"));
    assert_eq!(tables[0].columns[1].unit.as_deref(), Some("ms"));
    let value =
        |cell: &Cell| (exact::shown(&cell.number.as_ref().unwrap().value), cell.unit.clone());
    assert_eq!(value(&tables[0].rows[0].cells[1]), ("12.5".to_owned(), Some("ms".to_owned())));
    assert_eq!(value(&tables[0].rows[1].cells[1]), ("352".to_owned(), Some("K ms".to_owned())));
}

#[test]
fn tables_inside_code_blocks_and_html_of_markdown() {
    let text = "A:\n\n```\nname   ops/s  p99\nacme   4220   1.5\nbolt   4000   1.7\n```\n\n\
                ```csv\nname,ops/s\nacme,7\n```\n\n<table>\n<tr><th>n<th>v\n\n<tr><td>x<td>1\n\
                </table>\n\nend\n";
    assert_eq!(
        all("a.md", text),
        "table 1 line 4: name | ops/s | p99\n5: acme | 4220 | 1.5\n6: bolt | 4000 | 1.7\n\
         table 2 line 10: name | ops/s\n11: acme | 7\n\
         table 3 line 14: n | v\n17: x | 1\n"
    );
}

#[test]
fn html_with_spans_layout_and_preformatted_text() {
    let text = "<!doctype html>\n<table><tr><td>\n<p>Layout</p>\n\
        <table><caption>The results</caption>\n\
        <thead><tr><th rowspan=2>System</th><th colspan=2>ops/s</th></tr>\n\
        <tr><th>min<th>max</tr></thead>\n\
        <tr><td rowspan=2>Acme&nbsp;Z9</td><td>1</td><td>2</td></tr>\n\
        <tr><td>3</td><td>4</td></tr>\n\
        </table></td></tr></table>\n<pre>\nname  v\nacme  5\nbolt  6\n</pre>\n<p>A &lt; B.</p>\n";
    assert_eq!(
        all("a.html", text),
        "table 1 line 4: System | ops/s min | ops/s max\n7: Acme Z9 | 1 | 2\n8: Acme Z9 | 3 | 4\n\
         table 2 line 11: name | v\n12: acme | 5\n13: bolt | 6\n"
    );
    let document = document("a.html", text);
    let prose = document.blocks.iter().filter(|b| b.kind == BlockKind::Prose);
    let prose: Vec<(usize, &str)> =
        prose.map(|b| (b.line(b.text.len() - b.text.trim_start().len()), b.text.trim())).collect();
    assert!(prose.contains(&(3, "Layout")), "{prose:?}");
    assert!(prose.contains(&(15, "A < B.")), "{prose:?}");
}

#[test]
fn csv_by_its_own_mark() {
    let wanted = "table 1 line 1: name | v\n2: a;b | 1\n";
    assert_eq!(all("a.csv", "name,v\n\"a;b\",1\n"), wanted);
    let text = "name;v\nacme;1,5\n";
    assert_eq!(all("a.csv", text), "table 1 line 1: name | v\n2: acme | 1,5\n");
    assert_eq!(all("a.tsv", "name\tv\nacme\t2\n"), "table 1 line 1: name | v\n2: acme | 2\n");
}

/// The layout of iostat: columns one blank apart, two tables directly below each other, a name at
/// the end.
#[test]
fn aligned_text() {
    let text = "Seen during the run:\n\n     cpu\n us sy wt id\n 58  8  0 34\n                    \
        extended device statistics\n    r/s    w/s   kr/s    kw/s wait actv  %b device\n    0.0    \
        3.0    0.0    23.9  0.0  0.0   1 c0t1d0\n    0.0  520.4    0.0 32535.2  0.0  4.9  98 \
        c2t8d0\n\nThe disk is busy.\n";
    assert_eq!(
        all("a.txt", text),
        "table 1 line 4: us | sy | wt | id\n5: 58 | 8 | 0 | 34\n\
         table 2 line 7: r/s | w/s | kr/s | kw/s | wait | actv | %b | device\n\
         8: 0.0 | 3.0 | 0.0 | 23.9 | 0.0 | 0.0 | 1 | c0t1d0\n\
         9: 0.0 | 520.4 | 0.0 | 32535.2 | 0.0 | 4.9 | 98 | c2t8d0\n"
    );
}

#[test]
fn headers_over_two_lines_rules_and_bars() {
    let text = "Model          Chip    Watts     Watts\n                       @ 100%    idle\n\
        ------------------\
        --------------------\nC100 (2007)    X5355     312       214\n\
        Marne R610     X5570     272        83\n";
    assert_eq!(
        all("a.txt", text),
        "table 1 line 1: Model | Chip | Watts @ 100% | Watts idle\n\
         4: C100 (2007) | X5355 | 312 | 214\n\
         5: Marne R610 | X5570 | 272 | 83\n"
    );
    let bars = " name | ops\n------+-----\n acme | 12\n bolt | 9\n";
    assert_eq!(all("a.txt", bars), "table 1 line 1: name | ops\n3: acme | 12\n4: bolt | 9\n");
}

#[test]
fn prose_is_no_table() {
    let text = "In 2009 the Acme Z9 reached 4220 ops/s, and the Bolt Q7 reached\n\
                4000 of them with 2 chips \
                and 16 cores. It took 3 weeks.\n\n  1. On 2 machines,  as before.\n  2. Once \
                more.\n";
    assert_eq!(all("a.txt", text), "");
}

fn declared(text: &str, toml: &str) -> Result<String, (usize, String)> {
    let own: TableDeclaration = toml::from_str(toml).unwrap();
    document("a.txt", text).tables(&[own]).map(|t| t.last().map(shown).unwrap_or_default())
}

#[test]
fn a_row_expression_reads_what_blanks_do_not_show() {
    let text = "System Processors Performance\nChips Type bops\nAcme Z9 2 Ultra T2 Plus \
                422782\nBolt Q7 570 4 P6 402923\n\nEnd.\n";
    assert_eq!(
        declared(
            text,
            "lines = '3-4'\nrow = '^(.+) (\\d+) ([A-Z].*) (\\d+)$'\n\
            columns = ['system', 'chips', 'type', 'bops']"
        )
        .unwrap(),
        "table 1 line 3: system | chips | type | bops\n3: Acme Z9 | 2 | Ultra T2 Plus | 422782\n\
         4: Bolt Q7 570 | 4 | P6 | 402923\n"
    );
    // Each cell is on a separate line.
    let text = "name\nops\nacme\n12\nbolt\n9\n";
    assert_eq!(
        declared(text, "lines = '3-6'\nrow = '(.+)\\n(.+)'\ncolumns = ['name', 'ops']").unwrap(),
        "table 1 line 3: name | ops\n3: acme | 12\n5: bolt | 9\n"
    );
}

#[test]
fn lines_of_as_many_words_as_columns_need_no_expression() {
    let text = "cpu m| miss %tim | %tim\nttl | 1339705 7.7 |19.2\nttl | 1371385 7.9 |20.3\n";
    assert_eq!(
        declared(text, "lines = '2-3'\ncolumns = ['cpu', 'miss', '%tim', 'total']").unwrap(),
        "table 2 line 2: cpu | miss | %tim | total\n2: ttl | 1339705 | 7.7 | 19.2\n\
         3: ttl | 1371385 | 7.9 | 20.3\n"
    );
}

#[test]
fn declarations_that_do_not_fit_are_errors() {
    let text = "a 1 x\nb 2 3 x\n";
    for (toml, wanted) in [
        ("lines = '1-2'\ncolumns = ['n', 'v', 'x']", "line 2 has 4 words for 3 `columns`"),
        ("lines = '1-2'\nrow = '^(\\w) (\\d) x$'", "line 2 does not fit `row`"),
        ("lines = '1-9'", "is not a range in 1-2"),
        ("lines = '1-2'\nrow = '('", "`row` is not a regular expression"),
        ("table = 1", "no table is called `table 1`"),
        ("name = 'x'", "has either `table` or `lines`"),
        ("lines = '1'\ncolumns = ['n', 'v', 'x']\ndecimal = ';'", "`decimal` is"),
        (
            "lines = '1'\ncolumns = ['n', 'v', 'x']\nunits = { w = 's' }",
            "no column of table 1 fits `w`",
        ),
        ("lines = '1'\ncolumns = ['n', 'v', 'x']\nthousands = '.'", "`thousands` cannot be"),
    ] {
        let (_, message) = declared(text, toml).unwrap_err();
        assert!(message.contains(wanted), "{toml}: {message}");
    }
}

#[test]
fn a_table_is_found_by_its_name_its_alias_or_its_title() {
    let text = "## Table 2: Additional\n\n| a | v |\n|---|---|\n| x | 1 |\n\n## Other\n\n\
        | a | v |\n|---|---|\n| x | 2 |\n";
    let own: TableDeclaration = toml::from_str("table = 1\nname = 'runs'").unwrap();
    let tables = document("a.md", text).tables(&[own]).unwrap();
    let find = |name: &str| super::super::tables::find(&tables, name).map(|t| t.line);
    assert_eq!(find("runs"), Ok(3));
    assert_eq!(find("table 1"), Ok(3));
    assert_eq!(find("other"), Ok(9));
    // The text calls its first table "Table 2".
    let several = find("table 2").unwrap_err().to_string();
    assert!(
        several.starts_with("2 tables fit `table 2`: `table 1 (line 3): Table 2: Add"),
        "{several}"
    );
    assert!(find("table 3").unwrap_err().to_string().contains("no table is called"));
}
