//! Notes that git-perf stores in a repository (`refs/notes/perf-v3`): one line per measurement of a
//! commit, with fields separated by a file separator: epoch, name, time, value, `key=value`.

use std::fmt::Write as _;
use std::path::Path;

use assay_system::revisions::{Repository, RevisionError};

use crate::readers::file::error::ForeignError;
use crate::readers::file::format::ResultFolder;
use crate::readers::prelude::*;

/// Folder format: a git repository.
pub(crate) const FOLDER: ResultFolder = ResultFolder { marker: ".git", read: notes };
const NOTES: &str = "refs/notes/perf-v3";
const SEPARATOR: char = '\u{1c}';

/// Recognizes the text of [`notes`].
pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::head(bytes).lines().any(|l| l.starts_with(' ') && l.matches(SEPARATOR).count() >= 3)
}

/// Returns the notes of a repository as text, oldest commit first: a line `COMMIT TIME`, then the
/// lines of its note, each indented by a blank. The time is empty if the repository lacks the
/// commit. The repository is only read.
fn notes(repo: &Path) -> Result<Vec<u8>, ForeignError> {
    let found = Repository::open(repo).map_err(|e| match e {
        // The error's advice is for experiments, which name their repository.
        RevisionError::NoRepository { path, message } => {
            ForeignError::Repository(path, format!("is not in a git repository{message}"))
        }
        other => other.into(),
    })?;
    let mut text = String::new();
    for note in found.notes(NOTES)? {
        let time = note.time.map_or_else(String::new, |time| time.to_string());
        let _ = writeln!(text, "{} {time}", note.commit);
        for line in note.text.lines() {
            let _ = writeln!(text, " {line}");
        }
    }
    if text.is_empty() {
        let why = format!("has no notes of git-perf ({NOTES}); `git perf pull` fetches them");
        return Err(ForeignError::Repository(repo.to_owned(), why));
    }
    Ok(text.into_bytes())
}

/// Reads the series of the notes: one per name, epoch and set of keys. An epoch is git-perf's term
/// for a period in which values are comparable.
pub(crate) fn read(bytes: &[u8]) -> Result<ForeignSeries, Flaw> {
    let text = json::text(bytes);
    let mut all = ForeignSeries::default();
    let (mut commit, mut time) = ("", "");
    for line in text.lines() {
        let Some(measured) = line.strip_prefix(' ') else {
            (commit, time) = line.split_once(' ').unwrap_or((line, ""));
            continue;
        };
        let mut parts: Vec<&str> = measured.split(SEPARATOR).filter(|p| !p.is_empty()).collect();
        let [epoch, name, _, value, keys @ ..] = parts.as_mut_slice() else {
            all.excluded += usize::from(!measured.trim().is_empty());
            continue;
        };
        keys.sort_unstable();
        let mut full = (*name).to_owned();
        if *epoch != "0" {
            let _ = write!(full, ", epoch {epoch}");
        }
        for key in keys {
            let _ = write!(full, ", {key}");
        }
        // A commit that is missing has no place in the order.
        let value = value.parse::<f64>().ok().filter(|_| !time.is_empty());
        all.put(&full, "", (time, commit), value);
    }
    if all.series.is_empty() && all.excluded == 0 {
        return Err(Flaw::whole("it holds no measurement of git-perf"));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use assay_testing::git;

    use super::*;

    #[test]
    fn a_commit_that_is_gone_is_counted() {
        let notes = b"aaa 5\n 0\x1csize\x1c17.5\x1c1.5\nbbb \n 0\x1csize\x1c17.5\x1c2\n";
        let all = read(notes).unwrap();
        assert_eq!((all.series[0].points.len(), all.excluded), (1, 1));
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
                "0\u{1c}size\u{1c}17.5\u{1c}{value}\u{1c}os=a\n\
                 3\u{1c}size\u{1c}17.5\u{1c}9\u{1c}os=a\n0\u{1c}bad\n"
            );
            git(repo, &["notes", "--ref", NOTES, "add", "-m", &note]);
        }
        let text = notes(repo).unwrap();
        assert!(detect(&text));
        let all = read(&text).unwrap();
        let names: Vec<&str> = all.series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!((names, all.excluded), (vec!["size, os=a", "size, epoch 3, os=a"], 2));
        let mut values: Vec<f64> = all.series[0].points.iter().map(|p| p.value).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, [1.5, 2.5]);
        assert!(notes(&repo.join("nowhere")).is_err());
    }
}
