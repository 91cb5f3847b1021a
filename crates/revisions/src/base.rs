//! The base of a revision: the commit where it left a branch, not the branch as it is now.

use std::ffi::OsStr;

use crate::{Repository, Revision, RevisionError, WORKTREE};

/// The reason why a commit is the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is the one that was named.
    Named,
    /// The head left it there; the named base has so many commits that the head has not.
    Fork(usize),
    /// The head merges a change into it, as CI does to test a pull request.
    TestMerge,
    /// The two have no commit in common.
    Unrelated,
}

/// The base of a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The name that was given, or the default branch.
    pub name: String,
    /// The revision that is measured.
    pub revision: Revision,
    /// Why.
    pub why: Why,
}

impl Base {
    /// The name for messages, with the commit where that is another.
    pub fn label(&self) -> String {
        let commit = self.revision.commit.as_deref().unwrap_or_default();
        let short = commit.get(..10).unwrap_or(commit);
        match self.why {
            Why::Named | Why::Unrelated => self.name.clone(),
            Why::Fork(_) => format!("{} at their merge base {short}", self.name),
            Why::TestMerge => format!("its first parent {short}"),
        }
    }

    /// A sentence where the base is not the commit that was named, or has nothing in common with `head`.
    pub fn remark(&self, head: &str) -> Option<String> {
        let name = &self.name;
        match self.why {
            Why::Named => None,
            Why::Fork(n) => {
                let commits = if n == 1 { "a commit".to_owned() } else { format!("{n} commits") };
                let base = self.label();
                Some(format!(
                    "{name} has {commits} that {head} does not have: {head} is compared with {base}"
                ))
            }
            Why::TestMerge => {
                Some(format!("{head} is a test merge: it is compared with {}", self.label()))
            }
            Why::Unrelated => {
                Some(format!("{head} and {name} have no commit in common: compared as they are"))
            }
        }
    }
}

impl Repository {
    /// The base of `head` when `base` is named, or the default branch without a name: the first parent of a
    /// test merge, else the merge base.
    ///
    /// # Errors
    /// A name stands for nothing, there is no default branch, or a shallow clone does not reach the merge base.
    pub fn base(&self, base: Option<&str>, head: &str) -> Result<Base, RevisionError> {
        let branch = self.default_branch();
        let name = match base {
            Some(name) => name.to_owned(),
            None => branch
                .ok_or_else(|| RevisionError::NoDefault { repo: self.path.clone() })?
                .to_owned(),
        };
        let named = self.one(&name)?;
        let as_named = |why| Base { name: name.clone(), revision: named.clone(), why };
        let ends = (&named.commit, &self.one(head)?.commit);
        let (Some(from), Some(to)) = ends else { return Ok(as_named(Why::Named)) };
        if named.label == WORKTREE {
            return Ok(as_named(Why::Named));
        }
        // A release is what is meant; a commit or a branch may be an older tip of what the merge is into.
        let tag = format!("refs/tags/{name}");
        let is_tag = self.git().try_run(&["show-ref", "--verify", &tag].map(OsStr::new))?.is_ok();
        if !is_tag
            && let Some(parent) = self.test_merge(to, branch)?
            && self.is_ancestor(from, &parent)?
        {
            let why = if parent == *from { Why::Named } else { Why::TestMerge };
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
            return Ok(as_named(Why::Unrelated));
        };
        let fork = String::from_utf8_lossy(&found).trim().to_owned();
        if fork == *from {
            return Ok(as_named(Why::Named));
        }
        let ahead = self.git().text(&["rev-list", "--count", &format!("{fork}..{from}")])?;
        let why = Why::Fork(ahead.parse().unwrap_or(1));
        Ok(Base { revision: self.one(&fork)?, ..as_named(why) })
    }

    /// The branch that others are merged into: what `origin` calls its own, else `main` or `master`.
    fn default_branch(&self) -> Option<&'static str> {
        let names = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];
        names.into_iter().find(|name| self.one(name).is_ok())
    }

    /// The first parent of `commit` when it is a test merge: GitHub's message says so, or the default branch has the
    /// first parent and not the merge.
    fn test_merge(
        &self,
        commit: &str,
        branch: Option<&str>,
    ) -> Result<Option<String>, RevisionError> {
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
