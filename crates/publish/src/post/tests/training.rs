//! Compares the claims of six published posts, bound in `crates/claims/tests/training/`, with the
//! verdicts of the people who checked them. The posts are other people's texts: `ASSAY_POSTS_DIR`
//! names the folder with `posts/` and `claims-train.csv`; without it the test is skipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_claims::{ClaimVerdict, ClaimsFile, Document, audit, decode};

use super::library;
use crate::post::Bindings;

/// Claims whose verdict does not follow from arithmetic: an id and a reason on each line.
const EXCEPTIONS: &str = include_str!("../../../../claims/tests/training/exceptions.txt");

#[test]
fn bound_claims_get_the_verdicts_of_their_checkers() {
    let Some(folder) = std::env::var_os("ASSAY_POSTS_DIR").map(PathBuf::from) else {
        println!(
            "skipped: because checked posts are others' texts: ASSAY_POSTS_DIR names their folder"
        );
        return;
    };
    let wanted = verdicts(&folder.join("claims-train.csv"));
    let exceptions: BTreeMap<&str, &str> =
        EXCEPTIONS.lines().filter_map(|line| line.split_once(' ')).collect();
    let mut found: BTreeMap<String, ClaimVerdict> = BTreeMap::new();
    let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../claims/tests/training");
    for entry in fs::read_dir(bindings).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        for (id, verdict) in judged(&folder, &path) {
            let worst = found.entry(id).or_insert(ClaimVerdict::Holds);
            *worst = (*worst).max(verdict);
        }
    }
    let mut unlike = Vec::new();
    for (id, wanted) in &wanted {
        match (found.remove(id), exceptions.get(id.as_str())) {
            (Some(own), None) if own == *wanted => {}
            (None, Some(_)) => {}
            (own, _) => unlike.push(format!("{id}: {own:?}, by its checker {wanted:?}")),
        }
    }
    assert!(unlike.is_empty(), "{} of {}:\n{}", unlike.len(), wanted.len(), unlike.join("\n"));
    assert!(found.is_empty(), "claims that nobody checked: {found:?}");
    assert_eq!((wanted.len(), exceptions.len()), (123, 7));
}

/// Returns the checkers' verdicts by the id of the claim.
fn verdicts(path: &Path) -> BTreeMap<String, ClaimVerdict> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let at = |title: &str| header.iter().position(|h| h == title).unwrap();
    let (id, verdict) = (at("id"), at("verdict"));
    reader
        .records()
        .map(|row| {
            let row = row.unwrap();
            let verdict = match &row[verdict] {
                "holds" => ClaimVerdict::Holds,
                "off_by_rounding" => ClaimVerdict::OffByRounding,
                "wrong" => ClaimVerdict::Wrong,
                "unsupported_no_data" => ClaimVerdict::NoData,
                "ambiguous" => ClaimVerdict::Ambiguous,
                other => panic!("{other}"),
            };
            (row[id].to_owned(), verdict)
        })
        .collect()
}

/// Returns the claims of a file with their verdicts. The first word of a claim's id is the
/// checkers' id.
fn judged(folder: &Path, path: &Path) -> Vec<(String, ClaimVerdict)> {
    let name = path.display().to_string();
    let file = ClaimsFile::read(&name, &fs::read_to_string(path).unwrap()).unwrap();
    let text = file.text.as_ref().clone();
    let bytes = fs::read(folder.join("posts").join(&text)).unwrap();
    let document = Document::read(&text, &decode(&text, &bytes).unwrap()).unwrap();
    let tables =
        document.tables(&file.declarations()).map_err(|e| format!("{name}: {e:?}")).unwrap();
    let library = library();
    let bindings = Bindings::new(&library, &tables, file.as_of.as_deref());
    let audit = audit(&document, &tables, &file, &bindings).unwrap_or_else(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", errors.join("\n"))
    });
    let id =
        |id: &Option<String>| id.as_deref().and_then(|i| i.split(' ').next()).map(str::to_owned);
    audit.claims.iter().filter_map(|c| Some((id(&c.id)?, c.verdict))).collect()
}
