//! The notes that git-perf keeps in a repository (`refs/notes/perf-v3`): a line for each measurement of a commit, its
//! parts apart by a file separator: epoch, name, time, value, `key=value`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use assay_lab::LabError;
use assay_revisions::{Repository, RevisionError};

use super::{Quoted, QuotedSeries, put};
use crate::exit::Usage;

const NOTES: &str = "refs/notes/perf-v3";
const SEPARATOR: char = '\u{1c}';

/// The notes of a repository as text, oldest commit first: a line `COMMIT TIME`, then the lines of its note, each
/// with a blank before it; the time is empty where the commit is not there. The repository is only read.
///
/// # Errors
/// It is no repository, or has no notes of git-perf.
pub(super) fn notes(repo: &Path) -> Result<String> {
    let found = Repository::open(repo).map_err(|e| match e {
        // Its advice is for experiments, which name their repository.
        RevisionError::NoRepository { path, message } => {
            Usage(format!("{} is not in a git repository{message}", path.display())).into()
        }
        other => anyhow::Error::from(LabError::from(other)),
    })?;
    let notes = found.notes(NOTES).map_err(LabError::from)?;
    if notes.is_empty() {
        let repo = repo.display();
        let why =
            format!("{repo} has no notes of git-perf ({NOTES}); `git perf pull` fetches them");
        return Err(Usage(why).into());
    }
    let mut text = String::new();
    for note in notes {
        let time = note.time.map_or_else(String::new, |time| time.to_string());
        let _ = writeln!(text, "{} {time}", note.commit);
        for line in note.text.lines() {
            let _ = writeln!(text, " {line}");
        }
    }
    Ok(text)
}

/// The series of the notes: one for each name, epoch and set of keys. An epoch is git-perf's word for a stretch in
/// which values may be compared.
pub(super) fn series(notes: &str) -> (Vec<QuotedSeries>, usize) {
    let mut series = Vec::new();
    let mut excluded = 0;
    let (mut commit, mut time) = ("", "");
    for line in notes.lines() {
        let Some(measured) = line.strip_prefix(' ') else {
            (commit, time) = line.split_once(' ').unwrap_or((line, ""));
            continue;
        };
        let parts: Vec<&str> = measured.split(SEPARATOR).filter(|p| !p.is_empty()).collect();
        let [epoch, name, _, value, keys @ ..] = parts.as_slice() else {
            excluded += usize::from(!measured.trim().is_empty());
            continue;
        };
        // A commit that is gone has no place in an order.
        let value = value.parse::<f64>().ok().filter(|v| v.is_finite() && !time.is_empty());
        let Some(value) = value else {
            excluded += 1;
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
    (series, excluded)
}

#[cfg(test)]
mod tests {
    use assay_testing::git;

    use super::*;

    #[test]
    fn a_commit_that_is_gone_is_counted() {
        let notes = "aaa 5\n 0\u{1c}size\u{1c}17.5\u{1c}1.5\nbbb \n 0\u{1c}size\u{1c}17.5\u{1c}2\n";
        let (series, excluded) = series(notes);
        assert_eq!((series[0].points.len(), excluded), (1, 1));
    }

    #[test]
    fn the_notes_of_a_repository_are_series_in_the_order_of_its_commits() {
        let dir = tempfile::tempdir().unwrap();
        let repo = dir.path();
        git(repo, &["init", "-q"]);
        assert!(notes(repo).unwrap_err().to_string().contains("no notes of git-perf"));
        for value in ["1.5", "2.5"] {
            git(repo, &["commit", "-q", "--allow-empty", "-m", value]);
            let note = format!(
                "0\u{1c}size\u{1c}17.5\u{1c}{value}\u{1c}os=a\n3\u{1c}size\u{1c}17.5\u{1c}9\u{1c}os=a\n0\u{1c}bad\n"
            );
            git(repo, &["notes", "--ref", NOTES, "add", "-m", &note]);
        }
        let (series, excluded) = series(&notes(repo).unwrap());
        let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!((names, excluded), (vec!["size, os=a", "size, epoch 3, os=a"], 2));
        let mut values: Vec<f64> = series[0].points.iter().map(|p| p.value).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, [1.5, 2.5]);
        assert!(notes(&repo.join("nowhere")).is_err());
    }
}
