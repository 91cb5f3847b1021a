//! A repository and the names of its states: commits, ranges, and the current work tree.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::revisions::RevisionError;
use crate::revisions::error::Result;
use crate::revisions::git::Git;

/// Name of the work tree as a revision.
pub const WORKTREE: &str = "worktree";

/// A repository, which is only read.
#[derive(Debug, Clone)]
pub struct Repository {
    /// Folder that the user named.
    pub path: PathBuf,
    /// Path of the `.git` folder.
    pub(crate) git_dir: PathBuf,
    /// Top folder of the work tree; `None` if the repository is bare.
    pub(crate) top: Option<PathBuf>,
    /// Path of the named folder relative to the top folder.
    pub prefix: PathBuf,
    /// True if the clone is shallow, so that a part of the history is missing.
    pub shallow: bool,
}

/// A state of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Name as the user typed it, or the short commit hash.
    pub label: String,
    /// Full commit hash; for a work tree that of its HEAD, `null` before the first commit.
    pub commit: Option<String>,
    /// Hash of the git tree.
    pub tree: String,
    /// True for a work tree with uncommitted changes.
    pub dirty: bool,
    /// First line of the commit message; empty for a work tree.
    pub subject: String,
    /// Author date in RFC 3339; `null` for a work tree.
    pub author_date: Option<String>,
}

impl Revision {
    /// Returns the name of the revision in a level of an experiment: the full commit hash, or
    /// `worktree:` and the hash of its tree.
    pub fn level(&self) -> String {
        match &self.commit {
            Some(commit) if self.label != WORKTREE => commit.clone(),
            _ => format!("{WORKTREE}:{}", self.tree),
        }
    }

    /// Returns `label` with the commit: `main (3f2a91c0d1)`, `worktree on 3f2a91c0d1`, or the
    /// commit alone for a label that is its hash.
    pub fn named(&self, label: &str) -> String {
        let Some(commit) = &self.commit else { return label.to_owned() };
        let short = commit.get(..10).unwrap_or(commit);
        match label {
            _ if commit.starts_with(label) => short.to_owned(),
            _ if label.contains(short) => label.to_owned(),
            _ if self.label == WORKTREE => format!("{label} on {short}"),
            _ => format!("{label} ({short})"),
        }
    }
}

/// A git note on a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Full hash of the commit.
    pub commit: String,
    /// Commit date in seconds since 1970; `None` if the commit is not in the repository.
    pub time: Option<i64>,
    /// Text of the note.
    pub text: String,
}

impl Repository {
    /// Opens the repository that contains `path`.
    ///
    /// # Errors
    /// git is not installed, or `path` is not in a repository.
    pub fn open(path: &Path) -> Result<Self> {
        let none = |message: String| {
            let none = message.starts_with("not a git repository");
            let message = if none { String::new() } else { message };
            RevisionError::NoRepository { path: path.to_owned(), message }
        };
        let path = fs::canonicalize(path).map_err(|e| none(e.to_string()))?;
        let git = Git::at(&path);
        let ask = |what: &str| -> Result<Result<PathBuf>> {
            let out = git.try_run(&["rev-parse".as_ref(), what.as_ref()])?;
            Ok(out.map(|o| PathBuf::from(OsStr::from_bytes(o.strip_suffix(b"\n").unwrap_or(&o)))))
        };
        let git_dir = ask("--absolute-git-dir")?.map_err(|e| match e {
            RevisionError::Git { message, .. } => none(message),
            other => other,
        })?;
        let bare = git.text(&["rev-parse", "--is-bare-repository"])? == "true";
        let inside = git.text(&["rev-parse", "--is-inside-git-dir"])? == "true";
        let top = if bare || inside { None } else { ask("--show-toplevel")?.ok() };
        let prefix =
            if top.is_some() { ask("--show-prefix")?.unwrap_or_default() } else { PathBuf::new() };
        let shallow = git.text(&["rev-parse", "--is-shallow-repository"])? == "true";
        Ok(Repository { path, git_dir, top, prefix, shallow })
    }

    pub(crate) fn git(&self) -> Git {
        Git::at(&self.path)
    }

    /// Returns the notes under a reference (`refs/notes/NAME`), the oldest commit date first. Notes
    /// on commits that are missing (a rewritten history, a shallow clone) have no date.
    ///
    /// # Errors
    /// git fails, or the reference does not exist.
    pub fn notes(&self, reference: &str) -> Result<Vec<Note>> {
        let git = self.git();
        let list = git.text(&["notes", "--ref", reference, "list"])?;
        let pairs: Vec<(&str, &str)> = list.lines().filter_map(|l| l.split_once(' ')).collect();
        let objects: Vec<&str> = pairs.iter().flat_map(|(note, commit)| [*note, *commit]).collect();
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let contents = git.contents(&objects)?;
        let mut notes: Vec<Note> = pairs
            .iter()
            .zip(contents.chunks(2))
            .filter_map(|((_, commit), both)| {
                let [note, of] = both else { return None };
                Some(Note {
                    commit: (*commit).to_owned(),
                    time: of.as_deref().and_then(commit_time),
                    text: String::from_utf8_lossy(note.as_deref().unwrap_or_default()).into_owned(),
                })
            })
            .collect();
        notes.sort_by(|a, b| (a.time, &a.commit).cmp(&(b.time, &b.commit)));
        Ok(notes)
    }

    /// Returns those of the given commits that the repository lacks, because its history was
    /// rewritten or they belong to another repository.
    ///
    /// # Errors
    /// git fails.
    pub fn missing(&self, commits: &[String]) -> Result<Vec<String>> {
        // Texts that are not full hashes are dropped, because git could read them as several names.
        let is_hash = |c: &str| c.len() >= 40 && c.bytes().all(|b| b.is_ascii_hexdigit());
        let asked: Vec<&str> = commits.iter().map(String::as_str).filter(|c| is_hash(c)).collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let there = self.git().are_there(&asked)?;
        let gone = asked.iter().zip(there).filter(|(_, there)| !there);
        Ok(gone.map(|(commit, _)| (*commit).to_owned()).collect())
    }

    /// Returns true if `b` is `a` or a descendant of it, false if either is missing.
    ///
    /// # Errors
    /// git is not installed.
    pub fn is_ancestor(&self, a: &str, b: &str) -> Result<bool> {
        let args = ["merge-base", "--is-ancestor", a, b].map(OsStr::new);
        Ok(self.git().try_run(&args)?.is_ok())
    }

    /// Resolves names to revisions, in order: commits, tags, branches, `worktree`, and ranges.
    /// `a..b` selects all commits after a up to b, oldest first; `a..b:10` every tenth of
    /// them, including b.
    ///
    /// # Errors
    /// A name resolves to nothing, or a range has no commits.
    pub fn resolve(&self, names: &[String]) -> Result<Vec<Revision>> {
        let mut out = Vec::new();
        for name in names {
            let (range, every) = match name.rsplit_once(':') {
                Some((range, every)) if range.contains("..") => match every.parse::<usize>() {
                    Ok(every) if every > 0 => (range, every),
                    _ => return Err(self.unknown(name)),
                },
                _ => (name.as_str(), 1),
            };
            if range.contains("..") {
                out.extend(self.range(range, every, Merges::Followed)?);
            } else {
                out.push(self.one(name)?);
            }
        }
        Ok(out)
    }

    fn unknown(&self, name: &str) -> RevisionError {
        RevisionError::Unknown {
            repo: self.path.clone(),
            name: name.to_owned(),
            shallow: self.shallow,
        }
    }

    /// Resolves one name to a revision; a level from [`Revision::level`] is also a name.
    ///
    /// # Errors
    /// The name resolves to nothing.
    pub fn one(&self, name: &str) -> Result<Revision> {
        if name == WORKTREE {
            return self.worktree();
        }
        if let Some(tree) = name.strip_prefix("worktree:") {
            let now = self.worktree()?;
            if now.tree == tree {
                return Ok(now);
            }
            return Err(RevisionError::WorktreeChanged {
                repo: self.path.clone(),
                expected: tree.to_owned(),
                found: now.tree,
            });
        }
        let wanted = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", wanted.as_str()];
        let found = self.git().try_run(&args.map(OsStr::new))?.map_err(|_| self.unknown(name))?;
        let commit = String::from_utf8_lossy(&found).trim().to_owned();
        let mut all = self.described(&["--no-walk=unsorted", &commit])?;
        let mut revision = all.pop().ok_or_else(|| self.unknown(name))?;
        let is_hash = name.len() >= 7 && commit.starts_with(name);
        if !is_hash {
            let refs = ["heads", "tags"].map(|kind| format!("refs/{kind}/{name}"));
            let known =
                self.git().text(&["for-each-ref", "--format=%(refname)", &refs[0], &refs[1]])?;
            if refs.iter().all(|name| known.lines().any(|known| known == name)) {
                return Err(RevisionError::Ambiguous(name.to_owned()));
            }
            name.clone_into(&mut revision.label);
        }
        Ok(revision)
    }

    /// Returns the commits of `a..b`, oldest first: every `every`-th, including the last.
    ///
    /// # Errors
    /// An end resolves to nothing, or the range is empty.
    pub fn range(&self, range: &str, every: usize, merges: Merges) -> Result<Vec<Revision>> {
        let (from, to) = range.split_once("..").unwrap_or(("", range));
        let from = self.one(from)?.commit.unwrap_or_default();
        let to = self.one(if to.is_empty() { "HEAD" } else { to })?.commit.unwrap_or_default();
        let mut args = vec!["--topo-order".to_owned(), format!("{from}..{to}")];
        if merges == Merges::AsOne {
            args.push("--first-parent".into());
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        // git lists the newest commit first.
        let mut all: Vec<Revision> = self.described(&args)?.into_iter().step_by(every).collect();
        all.reverse();
        if all.is_empty() {
            return Err(RevisionError::EmptyRange {
                range: range.to_owned(),
                shallow: self.shallow,
            });
        }
        Ok(all)
    }

    /// Lists commits with `git log`.
    fn described(&self, args: &[&str]) -> Result<Vec<Revision>> {
        let mut all = vec!["log", "--no-show-signature", "-z", "--format=%H%n%h%n%T%n%aI%n%s"];
        all.extend(args);
        let text = self.git().text(&all)?;
        let commits = text.split('\0').filter(|c| !c.is_empty()).filter_map(|one| {
            let mut lines = one.splitn(5, '\n');
            Some(Revision {
                commit: Some(lines.next()?.to_owned()),
                label: lines.next()?.to_owned(),
                tree: lines.next()?.to_owned(),
                author_date: Some(lines.next()?.to_owned()),
                subject: lines.next().unwrap_or_default().trim_end().to_owned(),
                dirty: false,
            })
        });
        Ok(commits.collect())
    }

    /// Describes the current work tree without ignored files. The files are hashed with a separate
    /// index and object folder.
    fn worktree(&self) -> Result<Revision> {
        let scratch = Scratch::new()?;
        let tree = self.write_worktree(&scratch)?;
        let head = self.one("HEAD").ok();
        let dirty = head.as_ref().is_none_or(|h| h.tree != tree);
        Ok(Revision {
            label: WORKTREE.into(),
            commit: head.and_then(|h| h.commit),
            tree,
            dirty,
            subject: String::new(),
            author_date: None,
        })
    }

    /// Writes the work tree's files as objects into `scratch` and returns the hash of the tree.
    pub(crate) fn write_worktree(&self, scratch: &Scratch) -> Result<String> {
        let top =
            self.top.as_ref().ok_or_else(|| RevisionError::Bare { repo: self.path.clone() })?;
        let index = scratch.index();
        // A copy of the user's index avoids hashing unchanged files.
        let own = PathBuf::from(self.git().text(&["rev-parse", "--git-path", "index"])?);
        let own = if own.is_absolute() { own } else { self.path.join(own) };
        if own.is_file() {
            fs::copy(&own, &index).map_err(RevisionError::io("copy", &own))?;
            // git uses the time of the index to recognize files that may have changed right after
            // it was written, so the copy keeps that time.
            fs::metadata(&own)
                .and_then(|m| m.modified())
                .and_then(|t| fs::File::options().write(true).open(&index)?.set_modified(t))
                .map_err(RevisionError::io("copy", &own))?;
        }
        // The repository's own objects are not visible here, because git would update the time of
        // an existing object instead of writing it.
        let git = Git::at(top)
            .with("GIT_OBJECT_DIRECTORY", scratch.objects())
            .with("GIT_INDEX_FILE", &index);
        git.run(&["add", "--all", "--", "."].map(OsStr::new))?;
        git.text(&["write-tree", "--missing-ok"])
    }

    /// Returns `git` with new objects going to `scratch` and the repository's own objects readable.
    pub(crate) fn objects_in(&self, scratch: &Scratch, git: Git) -> Result<Git> {
        let own = PathBuf::from(self.git().text(&["rev-parse", "--git-path", "objects"])?);
        let own = if own.is_absolute() { own } else { self.path.join(own) };
        // The path is quoted because it may contain a colon.
        let quoted =
            format!("\"{}\"", own.display().to_string().replace('\\', "\\\\").replace('"', "\\\""));
        Ok(git
            .with("GIT_OBJECT_DIRECTORY", scratch.objects())
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted))
    }
}

/// Returns the committer date of a commit object in seconds since 1970.
fn commit_time(object: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(object);
    let head = text.split("\n\n").next()?;
    let line = head.lines().find_map(|l| l.strip_prefix("committer "))?;
    line.rsplit(' ').nth(1)?.parse().ok()
}

/// Treatment of merges in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merges {
    /// Includes the commits that a merge brought in.
    Followed,
    /// Includes only the merge commit.
    AsOne,
}

/// A folder for a separate index and objects, removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Result<Self> {
        let root = crate::scratch::root();
        let dir = crate::scratch::make(&root, crate::scratch::OWNER)
            .map_err(RevisionError::io("create a folder in", &root))?;
        let scratch = Scratch(dir);
        fs::create_dir_all(scratch.objects())
            .map_err(RevisionError::io("create", &scratch.objects()))?;
        Ok(scratch)
    }

    pub fn index(&self) -> PathBuf {
        self.0.join("index")
    }

    pub fn objects(&self) -> PathBuf {
        self.0.join("objects")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
