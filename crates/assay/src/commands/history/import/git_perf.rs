//! The notes that git-perf keeps in a repository (`refs/notes/perf-v3`): a line for each measurement of a commit, its
//! parts apart by a file separator: epoch, name, time, value, `key=value`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::{Quoted, QuotedSeries, put};
use crate::exit::Usage;

const NOTES: &str = "refs/notes/perf-v3";
const SEPARATOR: char = '\u{1c}';

/// The notes of a repository as text, oldest commit first: a line `COMMIT TIME`, then the lines of its note, each
/// with a blank before it. The repository is only read.
///
/// # Errors
/// It is no repository, or has no notes of git-perf.
pub(super) fn notes(repo: &Path) -> Result<String> {
    let listed = git(repo, &["notes", "--ref", NOTES, "list"])?;
    let mut all: BTreeMap<(i64, String), String> = BTreeMap::new();
    for line in listed.lines() {
        let Some((note, commit)) = line.split_once(' ') else { continue };
        // A commit that is gone (a rewritten history, a shallow clone) has no place in an order.
        let Ok(time) = git(repo, &["show", "-s", "--format=%ct", commit]) else { continue };
        let text = git(repo, &["cat-file", "blob", note])?;
        all.insert((time.trim().parse().unwrap_or_default(), commit.to_owned()), text);
    }
    if all.is_empty() {
        let repo = repo.display();
        let why =
            format!("{repo} has no notes of git-perf ({NOTES}); `git perf pull` fetches them");
        return Err(Usage(why).into());
    }
    let mut text = String::new();
    for ((time, commit), note) in all {
        let _ = writeln!(text, "{commit} {time}");
        for line in note.lines() {
            let _ = writeln!(text, " {line}");
        }
    }
    Ok(text)
}

fn git(repo: &Path, arguments: &[&str]) -> Result<String> {
    let done = Command::new("git")
        .arg("-C")
        .arg(repo)
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .context("start git")?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        return Err(Usage(format!("{}: {said}", repo.display())).into());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The series of the notes: one for each name, epoch and set of keys. An epoch is git-perf's word for a stretch in
/// which values may be compared.
pub(super) fn series(notes: &str) -> (Vec<QuotedSeries>, usize) {
    let mut series = Vec::new();
    let mut left_out = 0;
    let (mut commit, mut time) = ("", "");
    for line in notes.lines() {
        let Some(measured) = line.strip_prefix(' ') else {
            (commit, time) = line.split_once(' ').unwrap_or((line, ""));
            continue;
        };
        let parts: Vec<&str> = measured.split(SEPARATOR).filter(|p| !p.is_empty()).collect();
        let [epoch, name, _, value, keys @ ..] = parts.as_slice() else {
            left_out += usize::from(!measured.trim().is_empty());
            continue;
        };
        let Some(value) = value.parse::<f64>().ok().filter(|v| v.is_finite()) else {
            left_out += 1;
            continue;
        };
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        let mut full = (*name).to_owned();
        if *epoch != "0" {
            let _ = write!(full, ", epoch {epoch}");
        }
        for key in keys {
            let _ = write!(full, ", {key}");
        }
        let point = Quoted { time: time.to_owned(), revision: commit.to_owned(), value };
        put(&mut series, &full, "", point);
    }
    (series, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(repo: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        git(repo, &[&identity, arguments].concat()).unwrap();
    }

    #[test]
    fn the_notes_of_a_repository_are_series_in_the_order_of_its_commits() {
        let dir = tempfile::tempdir().unwrap();
        let repo = dir.path();
        run(repo, &["init", "-q"]);
        assert!(notes(repo).unwrap_err().to_string().contains("no notes of git-perf"));
        for value in ["1.5", "2.5"] {
            run(repo, &["commit", "-q", "--allow-empty", "-m", value]);
            let note = format!(
                "0\u{1c}size\u{1c}17.5\u{1c}{value}\u{1c}os=a\n3\u{1c}size\u{1c}17.5\u{1c}9\u{1c}os=a\n0\u{1c}bad\n"
            );
            run(repo, &["notes", "--ref", NOTES, "add", "-m", &note]);
        }
        let (series, left_out) = series(&notes(repo).unwrap());
        let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!((names, left_out), (vec!["size, os=a", "size, epoch 3, os=a"], 2));
        let mut values: Vec<f64> = series[0].points.iter().map(|p| p.value).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, [1.5, 2.5]);
        assert!(notes(&repo.join("nowhere")).is_err());
    }
}
