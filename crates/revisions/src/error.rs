//! What can go wrong with a repository, each with what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why a revision cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RevisionError {
    /// There is no git.
    #[error("`git` is needed for revisions and was not found; install the Debian package git")]
    NoGit,
    /// The folder is not in a repository.
    #[error(
        "{path} {}{message}",
        if .message.is_empty() { "is not in a git repository; name one with `repo` under [source], or `--repo`" } else { "cannot be used: " }
    )]
    NoRepository {
        /// The folder.
        path: PathBuf,
        /// git's message; empty: there is no repository.
        message: String,
    },
    /// A name of a tag and of a branch.
    #[error("`{0}` is a tag and a branch; write `tags/{0}` or `heads/{0}`")]
    Ambiguous(String),
    /// A name that stands for no commit.
    #[error(
        "the repository {repo} has no revision `{name}`; see `git log` and `git tag`{}",
        if *.shallow { "; it is a shallow clone: `git fetch --unshallow` gets the rest" } else { "" }
    )]
    Unknown {
        /// The repository.
        repo: PathBuf,
        /// The name.
        name: String,
        /// Whether a part of the history is not there.
        shallow: bool,
    },
    /// No base was named, and no branch is known to be the default.
    #[error(
        "{repo} has neither origin/HEAD nor a branch main or master to compare with; name one with --base"
    )]
    NoDefault {
        /// The repository.
        repo: PathBuf,
    },
    /// A shallow clone that ends before two revisions meet.
    #[error(
        "the commit where {head} left {base} is not in the shallow clone {repo}: `git fetch --unshallow` gets it"
    )]
    NoMergeBase {
        /// The base's name.
        base: String,
        /// The head's name.
        head: String,
        /// The repository.
        repo: PathBuf,
    },
    /// A range without a commit.
    #[error(
        "the range `{range}` has no commits; its second end must come after the first{}",
        if *.shallow { ", and it is a shallow clone: `git fetch --unshallow` gets the rest" } else { "" }
    )]
    EmptyRange {
        /// The range.
        range: String,
        /// Whether a part of the history is not there.
        shallow: bool,
    },
    /// `worktree` of a repository without one.
    #[error("{repo} is a bare repository and has no work tree; name a commit")]
    Bare {
        /// The repository.
        repo: PathBuf,
    },
    /// The work tree is no longer what it was.
    #[error(
        "the work tree of {repo} has changed since ({expected} then, {found} now); start a new run"
    )]
    WorktreeChanged {
        /// The repository.
        repo: PathBuf,
        /// Its tree then.
        expected: String,
        /// Its tree now.
        found: String,
    },
    /// A partial clone (`--filter`) without the files of a revision.
    #[error(
        "the repository is a partial clone that lacks files of this revision: `git fetch --refetch --no-filter` in it gets them"
    )]
    Partial,
    /// A git command failed.
    #[error("`git {command}` failed: {message}")]
    Git {
        /// The command.
        command: String,
        /// git's message.
        message: String,
    },
    /// The program of a build could not be started.
    #[error("run the build command: {0}")]
    Process(#[from] assay_sut::process::ProcessError),
    /// A signal ended a build.
    #[error("the build of {0} was interrupted; nothing of it is kept")]
    Interrupted(String),
    /// A file could not be read or written.
    #[error("{action} {path}: {source}{}", hint(.source))]
    Io {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// The system's error.
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
    /// Turns a system error about `path` into ours, for `map_err`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| RevisionError::Io { action, path, source }
    }

    /// Whether the user named something that is not there.
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
