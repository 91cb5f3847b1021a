//! Identifies the git tree that contains a program: its commit, and the number of files that differ
//! from it. Only git is run, and nothing is written.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::read::command_output::output_within;

/// Maximum time for git to compare the tree with its commit.
const TIMEOUT: Duration = Duration::from_secs(5);

/// State of a git tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTree {
    /// The commit that is checked out; `None` in a repository without commits.
    pub commit: Option<String>,
    /// Number of tracked files that differ from the commit.
    pub changed: u32,
}

/// Reason why git cannot identify a tree.
#[derive(Debug, thiserror::Error)]
pub enum SourceTreeError {
    #[error("git could not be started: {0}")]
    NotStarted(io::Error),
    #[error("git did not answer")]
    TimedOut,
    /// git does not trust the tree's owner, or failed otherwise.
    #[error("git ended with {0}")]
    Failed(ExitStatus),
}

/// Returns the tree that contains the file at `path`; `None` if the file is in no tree.
///
/// # Errors
/// git is missing, does not trust the tree's owner, or takes too long.
pub fn source_tree(path: &Path) -> Option<Result<SourceTree, SourceTreeError>> {
    let real = path.canonicalize().ok()?;
    let folder = real.ancestors().skip(1).find(|folder| folder.join(".git").exists())?;
    Some(read(folder))
}

fn read(folder: &Path) -> Result<SourceTree, SourceTreeError> {
    // Prevents programs in the tree's own configuration from running.
    let mut git = Command::new("git");
    git.env("GIT_OPTIONAL_LOCKS", "0")
        .args(["-c", "core.fsmonitor=false", "-C"])
        .arg(folder)
        .args(["status", "--porcelain=v2", "--branch", "--untracked-files=no"]);
    let output = output_within(&mut git, TIMEOUT, || false).map_err(SourceTreeError::NotStarted)?;
    let output = output.ok_or(SourceTreeError::TimedOut)?;
    if !output.status.success() {
        return Err(SourceTreeError::Failed(output.status));
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

/// Parses the output of `git status --porcelain=v2 --branch` (git-status(1)).
fn parse(text: &str) -> SourceTree {
    let commit = text.lines().find_map(|l| l.strip_prefix("# branch.oid "));
    let changed = text.lines().filter(|l| l.starts_with(['1', '2', 'u'])).count();
    SourceTree {
        commit: commit.filter(|c| *c != "(initial)").map(str::to_owned),
        changed: u32::try_from(changed).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_and_the_changed_files_are_read() {
        let text =
            "# branch.oid 0a1b\n# branch.head main\n1 .M N... 100644 100644 100644 1 2 a.c\n";
        assert_eq!(parse(text), SourceTree { commit: Some("0a1b".to_owned()), changed: 1 });
        let new = parse("# branch.oid (initial)\n# branch.head main\n");
        assert_eq!(new, SourceTree { commit: None, changed: 0 });
    }
}
