//! Errors of repositories and builds, each with the next step for the user.

use std::io;
use std::path::{Path, PathBuf};

/// Remedy for a shallow clone, as a command on a line of its own. It fetches all branches, because
/// `git clone --depth` fetches one.
const DEEPEN: &str = "; it is a shallow clone, and this command gets the rest:\n\n    \
    git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*'";

/// Result of resolving, checking out or building a revision.
pub(crate) type Result<T, E = RevisionError> = std::result::Result<T, E>;

/// Error in resolving, checking out or building a revision.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// The program `git` is not installed.
    #[error("`git` is needed for revisions and was not found; install the Debian package git")]
    NoGit,
    /// The folder is not in a usable repository.
    #[error(
        "{path} {}{message}",
        if .message.is_empty() { "is not in a git repository; name one with `repo` under [source], \
            or `--repo`" } else { "cannot be used: " }
    )]
    NoRepository {
        path: PathBuf,
        /// Message of git; empty if there is no repository.
        message: String,
    },
    /// A name is both a tag and a branch.
    #[error("`{0}` is a tag and a branch; write `tags/{0}` or `heads/{0}`")]
    Ambiguous(String),
    /// A name resolves to no commit.
    #[error(
        "the repository {repo} has no revision `{name}`; see `git log` and `git tag`{}",
        if *.shallow { DEEPEN } else { "" }
    )]
    Unknown {
        repo: PathBuf,
        name: String,
        /// True if the clone is shallow, so that a part of the history is missing.
        shallow: bool,
    },
    /// No base was named, and there is no default branch.
    #[error("{repo} has no origin/HEAD, main or master to compare with; name one with --base")]
    NoDefault { repo: PathBuf },
    /// A shallow clone ends before the merge base of two revisions.
    #[error("{repo} lacks the commit where {head} left {base}{DEEPEN}")]
    NoMergeBase {
        /// Name of the base.
        base: String,
        /// Name of the head.
        head: String,
        repo: PathBuf,
    },
    /// A range contains no commits.
    #[error(
        "the range `{range}` has no commits; its second end must come after the first{}",
        if *.shallow { DEEPEN } else { "" }
    )]
    EmptyRange {
        range: String,
        /// True if the clone is shallow, so that a part of the history is missing.
        shallow: bool,
    },
    /// The revision `worktree` was named in a bare repository.
    #[error("{repo} is a bare repository and has no work tree; name a commit")]
    Bare { repo: PathBuf },
    /// The work tree has changed since the run was made.
    #[error(
        "the work tree of {repo} has changed since ({expected} then, {found} now); start a new run"
    )]
    WorktreeChanged {
        repo: PathBuf,
        /// Earlier hash of the tree.
        expected: String,
        /// Current hash of the tree.
        found: String,
    },
    /// A partial clone (`--filter`) lacks the files of a revision.
    #[error(
        "the repository is a partial clone that lacks files of this revision: `git fetch --refetch \
        --no-filter` in it gets them"
    )]
    Partial,
    /// A git command failed.
    #[error("`git {command}` failed: {message}")]
    Git {
        /// Arguments of the command.
        command: String,
        message: String,
    },
    /// The program of a build could not be started.
    #[error("cannot run the build command: {0}")]
    Process(#[from] crate::process::ProcessError),
    /// A signal ended a build.
    #[error("the build of {0} was interrupted; its files were removed")]
    Interrupted(String),
    /// A file could not be read or written.
    #[error("{action} {path}: {source}{}", hint(.source))]
    Io {
        /// The attempted action as a verb: `read`, `write`, `create`.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room there, or put the cache elsewhere with ASSAY_CACHE"
        }
        _ => "",
    }
}

impl RevisionError {
    /// Converts a system error about `path` into this type, for `map_err`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| RevisionError::Io { action, path, source }
    }

    /// Returns true if the error is in the user's input, for example a name that does not exist,
    /// and not in the system or a build.
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            RevisionError::Io { .. }
                | RevisionError::Git { .. }
                | RevisionError::Process(_)
                | RevisionError::Interrupted(_)
        )
    }
}
