//! Tests that ids, names and severities of checks are written in the rows only.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// True if a line has a string literal that is an id such as `"F31"`.
fn has_id(line: &str) -> bool {
    line.split('"').skip(1).step_by(2).any(|text| {
        let mut chars = text.chars();
        chars.next() == Some('F') && text.len() == 3 && chars.all(|c| c.is_ascii_digit())
    })
}

#[test]
fn ids_of_checks_stand_in_the_rows_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let src = entry.unwrap().path().join("src");
        if src.is_dir() {
            sources(&src, &mut files);
        }
    }
    assert!(files.len() > 300, "the sources were not found: {}", files.len());
    let (mut rows, mut elsewhere) = (0, Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let is_row = file.components().any(|c| c.as_os_str() == "catalogue");
        let is_test = file.file_stem().is_some_and(|s| s == "tests");
        // The rest of the file is tests.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|l| !l.trim_start().starts_with("//") && has_id(l)) {
            if is_row {
                rows += 1;
            } else if !is_test {
                elsewhere.push(format!("{}: {}", file.display(), line.trim()));
            }
        }
    }
    assert!(rows >= 50, "{rows}");
    assert!(elsewhere.is_empty(), "{}", elsewhere.join("\n"));
}
