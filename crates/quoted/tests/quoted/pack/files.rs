//! Tests of pack files: the built-in packs, and mistakes that are reported with their lines.

use assay_quoted::pack::{PackEvidence, PackScope, RuleResult, embedded, evaluate, read, read_dir};

const HEAD: &str = r#"schema_version = 1
id = "mine"
version = "1"
date = "2026-11-21"
title = "Mine"
applies_to = "orders"
[source]
name = "a document"
version = "1"
retrieved = "2026-11-21"
"#;

const RULE: &str = r#"[[rule]]
id = "R1"
text = "The score recomputes."
check = "score"
severity = "invalid"
on_failure = "invalid"
disclosure = "It does not."
parameters = { tolerance = 0.01 }
"#;

fn error(text: &str) -> String {
    read("mine.toml", text).unwrap_err().to_string()
}

#[test]
fn three_packs_come_with_assay() {
    let packs = embedded();
    let rules: Vec<(String, usize)> =
        packs.iter().map(|p| (format!("{}-{}", p.id, p.version), p.rules.len())).collect();
    let wanted = [("cpu-1.0", 20), ("orders-1.0", 14), ("fair-use-1.0", 14)];
    assert_eq!(rules, wanted.map(|(name, n)| (name.to_owned(), n)));
    for pack in &packs {
        assert!(!pack.date.is_empty() && !pack.source.version.is_empty());
        for (i, rule) in pack.rules.iter().enumerate() {
            let number: String = rule.id.chars().filter(char::is_ascii_digit).collect();
            assert_eq!(number, (i + 1).to_string(), "{}", rule.id);
        }
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rulepacks");
    let mut read = read_dir(folder.as_ref()).unwrap();
    read.sort_by_key(|p| packs.iter().position(|q| q.id == p.id));
    assert_eq!(read, packs, "every file of the folder is embedded");
}

#[test]
fn a_pack_of_ones_own_is_read() {
    let pack = read("mine.toml", &format!("{HEAD}{RULE}")).unwrap();
    assert_eq!((pack.applies_to, pack.rules.len()), (PackScope::Orders, 1));
}

#[test]
fn parameters_of_earlier_versions_are_read() {
    let points = RULE.replace("\"score\"", "\"points\"");
    let with = |parameters: &str| {
        read("mine.toml", &format!("{HEAD}{}", points.replace("tolerance = 0.01", parameters)))
    };
    assert_eq!(with("least = 8").unwrap(), with("min = 8").unwrap());
    let twice = with("least = 8, min = 9").unwrap_err().to_string();
    assert!(twice.starts_with("mine.toml:14: a parameter appears twice"), "{twice}");
}

#[test]
fn mistakes_are_named_with_their_line() {
    let with = |from: &str, to: &str| error(&format!("{HEAD}{RULE}").replacen(from, to, 1));
    let unknown = with("text =", "txt =");
    assert!(unknown.starts_with("mine.toml:13: unknown field `txt`"), "{unknown}");
    let check = with("\"score\"", "\"scores\"");
    assert!(
        check.starts_with("mine.toml:14: ") && check.contains("did you mean `score`"),
        "{check}"
    );
    let parameter = with("tolerance", "toleranz");
    assert!(parameter.starts_with("mine.toml:18: "), "{parameter}");
    assert!(parameter.contains("it takes tolerance"), "{parameter}");
    let kind = with("0.01", "[\"a\"]");
    assert_eq!(kind, "mine.toml:18: `tolerance` takes a number");
    let absent = with("parameters = { tolerance = 0.01 }\n", "");
    assert_eq!(absent, "mine.toml:14: `score` needs the parameter `tolerance`");
    let twice = error(&format!("{HEAD}{RULE}{RULE}"));
    assert!(twice.starts_with("mine.toml:20: rule `R1` appears twice"), "{twice}");
    let newer = with("schema_version = 1", "schema_version = 99");
    assert!(newer.contains("format 99"), "{newer}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = read_dir("/no/such/folder".as_ref()).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /no/such/folder"), "{error}");
}

#[test]
fn evidence_of_another_kind_says_nothing() {
    let packs = embedded();
    let orders = packs.iter().find(|p| p.id == "orders").unwrap();
    let claim = super::fair_use::sound();
    let verdict = evaluate(orders, &PackEvidence::FairUse(&claim));
    assert!(verdict.rules.iter().all(|r| r.result == RuleResult::Unknown));
}
