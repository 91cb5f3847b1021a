//! Finds the base of a revision: the commit where it left a branch, not the branch's current tip.

use std::ffi::OsStr;

use crate::revisions::error::Result;
use crate::revisions::{Repository, Revision, RevisionError, WORKTREE};

/// Reason why a commit is the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseReason {
    /// The base is the named commit.
    Named,
    /// The base is the merge base, where the head left the branch. The value is the number of
    /// commits that the named base has and the head lacks.
    Fork(usize),
    /// The head is a test merge into the base, as CI makes one to test a pull request.
    TestMerge,
    /// The head and the base have no commit in common.
    Unrelated,
}

/// The base of a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Name given by the user (a hash is shortened), or the default branch.
    pub name: String,
    /// Revision to measure as the base.
    pub revision: Revision,
    /// Reason for the choice.
    pub why: BaseReason,
}

impl Base {
    /// Returns the name for messages, with the commit.
    pub fn name_against(&self, head: &str) -> String {
        let commit = self.revision.named("");
        match self.why {
            BaseReason::Named | BaseReason::Unrelated => self.label(),
            BaseReason::Fork(_) => format!("merge base {commit} of {} and {head}", self.name),
            BaseReason::TestMerge => format!("first parent {commit} of {head}"),
        }
    }

    /// Returns the name for tables, with the commit.
    pub fn label(&self) -> String {
        self.revision.named(match self.why {
            BaseReason::Named | BaseReason::Unrelated => &self.name,
            BaseReason::Fork(_) => "merge base",
            BaseReason::TestMerge => "first parent",
        })
    }

    /// Returns a sentence if the base is not the named commit or has no commit in common with
    /// `head`.
    pub fn remark(&self, head: &str) -> Option<String> {
        let (name, base) = (&self.name, self.name_against(head));
        Some(match self.why {
            BaseReason::Named => return None,
            BaseReason::Fork(1) => {
                format!("{name} has a commit that {head} lacks; the base is the {base}")
            }
            BaseReason::Fork(n) => {
                format!("{name} has {n} commits that {head} lacks; the base is the {base}")
            }
            BaseReason::TestMerge => format!("{head} is a test merge; the base is the {base}"),
            BaseReason::Unrelated => {
                format!("{head} and {name} have no commit in common: compared as they are")
            }
        })
    }
}

impl Repository {
    /// Returns the base of `head` for the name `base`, or for the default branch without a name:
    /// the first parent of a test merge, else the merge base.
    ///
    /// # Errors
    /// A name resolves to nothing, there is no default branch, or a shallow clone does not reach
    /// the merge base.
    pub fn base(&self, base: Option<&str>, head: &str) -> Result<Base> {
        let branch = self.default_branch();
        let name = match base {
            Some(name) => name.to_owned(),
            None => branch
                .ok_or_else(|| RevisionError::NoDefault { repo: self.path.clone() })?
                .to_owned(),
        };
        let named = self.one(&name)?;
        // A full hash makes messages hard to read.
        let name = named.label.clone();
        let as_named = |why| Base { name: name.clone(), revision: named.clone(), why };
        let ends = (&named.commit, &self.one(head)?.commit);
        let (Some(from), Some(to)) = ends else { return Ok(as_named(BaseReason::Named)) };
        if named.label == WORKTREE {
            return Ok(as_named(BaseReason::Named));
        }
        // A tag is meant literally, as a release. A commit or branch may be an older tip of the
        // branch that the test merge is into.
        let tag = format!("refs/tags/{name}");
        let is_tag = self.git().try_run(&["show-ref", "--verify", &tag].map(OsStr::new))?.is_ok();
        if !is_tag
            && let Some(parent) = self.test_merge(to, branch)?
            && self.is_ancestor(from, &parent)?
        {
            let why = if parent == *from { BaseReason::Named } else { BaseReason::TestMerge };
            return Ok(Base { revision: self.one(&parent)?, ..as_named(why) });
        }
        let args = ["merge-base", from, to].map(OsStr::new);
        let Ok(found) = self.git().try_run(&args)? else {
            if self.shallow {
                return Err(RevisionError::NoMergeBase {
                    base: name.clone(),
                    head: head.to_owned(),
                    repo: self.path.clone(),
                });
            }
            return Ok(as_named(BaseReason::Unrelated));
        };
        let fork = String::from_utf8_lossy(&found).trim().to_owned();
        if fork == *from {
            return Ok(as_named(BaseReason::Named));
        }
        let ahead = self.git().text(&["rev-list", "--count", &format!("{fork}..{from}")])?;
        let why = BaseReason::Fork(ahead.parse().unwrap_or(1));
        Ok(Base { revision: self.one(&fork)?, ..as_named(why) })
    }

    /// Returns the branch that others are merged into: the default branch of `origin`, else `main`
    /// or `master`.
    fn default_branch(&self) -> Option<&'static str> {
        let names = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];
        names.into_iter().find(|name| self.one(name).is_ok())
    }

    /// Returns the first parent of `commit` if it is a test merge: its message is the one that
    /// GitHub writes, or the default branch contains the first parent but not the merge.
    fn test_merge(&self, commit: &str, branch: Option<&str>) -> Result<Option<String>> {
        let text =
            self.git().text(&["log", "-1", "--no-show-signature", "--format=%P%n%s", commit])?;
        let (parents, subject) = text.split_once('\n').unwrap_or((&text, ""));
        let [first, second] = parents.split(' ').collect::<Vec<_>>()[..] else { return Ok(None) };
        let by_message = subject == format!("Merge {second} into {first}");
        let by_branch = match branch {
            Some(branch) => {
                self.is_ancestor(first, branch)? && !self.is_ancestor(commit, branch)?
            }
            None => false,
        };
        Ok((by_message || by_branch).then(|| first.to_owned()))
    }
}
