//! Tests with labelled texts in `tests/texts`. In each file, the claims follow a line `===`, with
//! the values that they depend on. The tables of all texts are stored in
//! `tests/texts/tables.expected`. A draft must not propose anything that a label contradicts.

use std::fmt::Write;
use std::path::PathBuf;

use super::arithmetic::Arithmetic;
use super::{document, shown, tables};
use crate::tables::normalized;
use crate::{ClaimsFile, audit, draft};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/texts")
}

/// Returns the names, texts and labels.
fn texts() -> Vec<(String, String, String)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let whole = std::fs::read_to_string(&path).unwrap();
        if let Some((text, labels)) = whole.split_once("\n===\n") {
            out.push((name, format!("{text}\n"), labels.to_owned()));
        }
    }
    out.sort();
    assert!(out.len() > 40, "{}", out.len());
    out
}

/// `ASSAY_ACCEPT=1 cargo test -p assay-claims texts` rewrites the file.
#[test]
fn the_tables_of_the_texts_are_read_as_before() {
    let mut all = String::new();
    for (name, text, _) in texts() {
        let _ = write!(
            all,
            "== {name}\n{}",
            tables(&name, &text).iter().map(shown).collect::<String>()
        );
    }
    let path = folder().join("tables.expected");
    if std::env::var_os("ASSAY_ACCEPT").is_some() {
        std::fs::write(&path, &all).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (line, (read, wanted)) in all.lines().zip(expected.lines()).enumerate() {
        assert_eq!(read, wanted, "line {} of {}", line + 1, path.display());
    }
    assert_eq!(all.lines().count(), expected.lines().count());
}

#[test]
fn drafts_propose_only_what_labels_confirm() {
    let mut proposed = 0;
    for (name, text, labels) in texts() {
        let document = document(&name, &text);
        let tables = document.tables(&[]).unwrap();
        let toml = draft(&document, &tables, &[], &Arithmetic(&tables));
        let file =
            ClaimsFile::read("draft.toml", &toml).unwrap_or_else(|e| panic!("{name}: {e}\n{toml}"));
        audit(&document, &tables, &file, &Arithmetic(&tables))
            .unwrap_or_else(|e| panic!("{name}: {e:?}"));
        for claim in file.claims.iter().filter(|c| !c.is.as_ref().is_empty()) {
            proposed += 1;
            let quote = normalized(claim.quote.as_ref());
            let labels: Vec<&str> = labels
                .lines()
                .filter(|l| {
                    let words = l.split(" | ").nth(1).map(normalized);
                    words.is_some_and(|w| quote.contains(&w))
                })
                .collect();
            assert!(
                labels.iter().any(|l| l.starts_with("holds | ")),
                "{name}: `{quote}` is bound to {} and labelled {labels:?}",
                claim.is.as_ref()
            );
        }
    }
    assert!(proposed > 0, "nothing was proposed, so nothing was tested");
}

#[test]
fn a_draft_is_filled_only_where_all_names_stand_in_the_sentence() {
    let table = "| System | ops/s |\n|---|---|\n| Acme Z9 | 4220 |\n| Bolt Q7 | 4000 |\n\n";
    let bound = |sentence: &str| {
        let text = format!("{table}{sentence}\n");
        let document = document("dir/post.md", &text);
        let tables = document.tables(&[]).unwrap();
        let toml = draft(&document, &tables, &[], &Arithmetic(&tables));
        let file = ClaimsFile::read("draft.toml", &toml).unwrap();
        file.check_text("post.md").unwrap();
        file.claims.first().map(|c| c.is.as_ref().clone())
    };
    let full = "The Acme Z9 has 5.5% more ops/s than the Bolt Q7.";
    let is = "better(cell(\"table 1\", row=\"Acme Z9\", column=\"ops/s\"), \
        than=cell(\"table 1\", row=\"Bolt Q7\", column=\"ops/s\"))";
    assert_eq!(bound(full).as_deref(), Some(is));
    for sentence in [
        "The Acme Z9 has 9% more ops/s than the Bolt Q7.", // the value disagrees
        "The Bolt Q7 has 5.5% more ops/s than the Acme Z9.",
        "The Acme Z9 has 5.5% less ops/s than the Bolt Q7.",
        "The Acme Z9 would have 5.5% more ops/s than the Bolt Q7.",
        "The Acme Z9 has about 5.5% more ops/s than the Bolt Q7.",
        "The Acme Z9 has 5.5% more throughput than the Bolt Q7.", // the metric is missing
        "It has 5.5% more ops/s than the Bolt Q7.",
        "The Acme Z9 has 5.5% more ops/s than the Bolt Q77.",
        "The Acme Z9 has 5.5% or 7% more ops/s than the Bolt Q7.",
    ] {
        assert_eq!(bound(sentence).as_deref(), Some(""), "{sentence}");
    }
    assert_eq!(bound("Both have 2 chips."), None);
}
