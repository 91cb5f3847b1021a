//! A repository and the names of its states: commits, ranges, and the work tree as it is now.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::RevisionError;
use crate::git::Git;

/// The name of the work tree as a revision.
pub const WORKTREE: &str = "worktree";

/// A repository that is only read.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The folder it was named by.
    pub path: PathBuf,
    /// Its `.git`.
    pub(crate) git_dir: PathBuf,
    /// The top of its work tree; `None` when it is bare.
    pub(crate) top: Option<PathBuf>,
    /// Where `path` lies below the top.
    pub prefix: PathBuf,
    /// Whether a part of its history is not there.
    pub shallow: bool,
}

/// A state of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// What it is called: the name that was typed, or the short commit.
    pub label: String,
    /// The commit; of a work tree the one that it stands on, `null` before the first.
    pub commit: Option<String>,
    /// The hash of its files as git has it.
    pub tree: String,
    /// Whether it is the work tree with changes that are in no commit.
    pub dirty: bool,
    /// The first line of the commit's message; empty for a work tree.
    pub subject: String,
    /// When its author wrote it, RFC 3339; `null` for a work tree.
    pub author_date: Option<String>,
}

impl Revision {
    /// How an experiment's level names it: the whole commit, or `worktree:` and the hash of its files.
    pub fn level(&self) -> String {
        match &self.commit {
            Some(commit) if self.label != WORKTREE => commit.clone(),
            _ => format!("{WORKTREE}:{}", self.tree),
        }
    }
}

/// A note of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The commit.
    pub commit: String,
    /// Its date, seconds since 1970; `None`: it is not in the repository.
    pub time: Option<i64>,
    /// What the note says.
    pub text: String,
}

impl Repository {
    /// The repository that `path` lies in.
    ///
    /// # Errors
    /// There is no git, or `path` is in no repository.
    pub fn open(path: &Path) -> Result<Self, RevisionError> {
        let none = |message: String| {
            let none = message.starts_with("not a git repository");
            let message = if none { String::new() } else { message };
            RevisionError::NoRepository { path: path.to_owned(), message }
        };
        let path = fs::canonicalize(path).map_err(|e| none(e.to_string()))?;
        let git = Git::at(&path);
        let ask = |what: &str| -> Result<Result<PathBuf, String>, RevisionError> {
            let out = git.try_run(&["rev-parse".as_ref(), what.as_ref()])?;
            Ok(out.map(|o| PathBuf::from(OsStr::from_bytes(o.strip_suffix(b"\n").unwrap_or(&o)))))
        };
        let git_dir = ask("--absolute-git-dir")?.map_err(none)?;
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

    /// The notes under a reference (`refs/notes/NAME`), each with its commit and the seconds since 1970 of that
    /// commit's date, oldest first; `None`: the commit is not there (a rewritten history, a shallow clone).
    ///
    /// # Errors
    /// git fails, or there is no such reference.
    pub fn notes(&self, reference: &str) -> Result<Vec<Note>, RevisionError> {
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

    /// Those of these commits that the repository does not have: of a history that was rewritten, or of another
    /// repository.
    ///
    /// # Errors
    /// git fails.
    pub fn missing(&self, commits: &[String]) -> Result<Vec<String>, RevisionError> {
        // What a commit cannot be called would be several names to git.
        let is_hash = |c: &str| c.len() >= 40 && c.bytes().all(|b| b.is_ascii_hexdigit());
        let asked: Vec<&str> = commits.iter().map(String::as_str).filter(|c| is_hash(c)).collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let there = self.git().are_there(&asked)?;
        let gone = asked.iter().zip(there).filter(|(_, there)| !there);
        Ok(gone.map(|(commit, _)| (*commit).to_owned()).collect())
    }

    /// Whether `b` is `a` or comes after it; not, when either is not there.
    ///
    /// # Errors
    /// There is no git.
    pub fn is_ancestor(&self, a: &str, b: &str) -> Result<bool, RevisionError> {
        let args = ["merge-base", "--is-ancestor", a, b].map(OsStr::new);
        Ok(self.git().try_run(&args)?.is_ok())
    }

    /// The revisions that names stand for, in order: commits, tags, branches, `worktree`, and ranges `a..b` of
    /// all commits after a up to b, oldest first; `a..b:10` is every tenth of them, b included.
    ///
    /// # Errors
    /// A name stands for nothing, or a range has no commits.
    pub fn resolve(&self, names: &[String]) -> Result<Vec<Revision>, RevisionError> {
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

    /// The revision of one name; a level as [`Revision::level`] writes it is one too.
    ///
    /// # Errors
    /// It stands for nothing.
    pub fn one(&self, name: &str) -> Result<Revision, RevisionError> {
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

    /// The commits of `a..b`, oldest first: every `every`-th, the last included.
    ///
    /// # Errors
    /// An end stands for nothing, or there are none.
    pub fn range(
        &self,
        range: &str,
        every: usize,
        merges: Merges,
    ) -> Result<Vec<Revision>, RevisionError> {
        let (from, to) = range.split_once("..").unwrap_or(("", range));
        let from = self.one(from)?.commit.unwrap_or_default();
        let to = self.one(if to.is_empty() { "HEAD" } else { to })?.commit.unwrap_or_default();
        let mut args = vec!["--topo-order".to_owned(), format!("{from}..{to}")];
        if merges == Merges::AsOne {
            args.push("--first-parent".into());
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        // git lists the newest first.
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

    /// Commits as `git log` lists them.
    fn described(&self, args: &[&str]) -> Result<Vec<Revision>, RevisionError> {
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

    /// The work tree as it is now, without what is ignored. Its files are hashed with an index and objects
    /// of our own.
    fn worktree(&self) -> Result<Revision, RevisionError> {
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

    /// Writes the work tree's files as objects into `scratch` and gives the tree's hash.
    pub(crate) fn write_worktree(&self, scratch: &Scratch) -> Result<String, RevisionError> {
        let top =
            self.top.as_ref().ok_or_else(|| RevisionError::Bare { repo: self.path.clone() })?;
        let index = scratch.index();
        // A copy of the index saves hashing what has not changed.
        let own = PathBuf::from(self.git().text(&["rev-parse", "--git-path", "index"])?);
        let own = if own.is_absolute() { own } else { self.path.join(own) };
        if own.is_file() {
            fs::copy(&own, &index).map_err(RevisionError::io("copy", &own))?;
            // By the index's own time git knows which files may have changed right after it was written.
            fs::metadata(&own)
                .and_then(|m| m.modified())
                .and_then(|t| fs::File::options().write(true).open(&index)?.set_modified(t))
                .map_err(RevisionError::io("copy", &own))?;
        }
        // Without the repository's objects: git sets the time of one that it would write and finds there.
        let git = Git::at(top)
            .with("GIT_OBJECT_DIRECTORY", scratch.objects())
            .with("GIT_INDEX_FILE", &index);
        git.run(&["add", "--all", "--", "."].map(OsStr::new))?;
        git.text(&["write-tree", "--missing-ok"])
    }

    /// `git` with new objects going to `scratch` and the repository's own to be read.
    pub(crate) fn objects_in(&self, scratch: &Scratch, git: Git) -> Result<Git, RevisionError> {
        let own = PathBuf::from(self.git().text(&["rev-parse", "--git-path", "objects"])?);
        let own = if own.is_absolute() { own } else { self.path.join(own) };
        // A quoted path may hold a colon.
        let quoted =
            format!("\"{}\"", own.display().to_string().replace('\\', "\\\\").replace('"', "\\\""));
        Ok(git
            .with("GIT_OBJECT_DIRECTORY", scratch.objects())
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted))
    }
}

/// The date of a commit object.
fn commit_time(object: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(object);
    let head = text.split("\n\n").next()?;
    let line = head.lines().find_map(|l| l.strip_prefix("committer "))?;
    line.rsplit(' ').nth(1)?.parse().ok()
}

/// What a range takes of merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merges {
    /// Also the commits that a merge brought.
    Followed,
    /// The merge alone.
    AsOne,
}

/// A folder for an index and objects of our own, removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Result<Self, RevisionError> {
        let root = assay_sut::scratch::root();
        let dir = assay_sut::scratch::make(&root, assay_sut::scratch::OWNER)
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
