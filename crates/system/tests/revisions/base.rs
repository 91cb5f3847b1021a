//! Tests the base of a revision for the ways in which branches part and merge.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_system::revisions::{BaseReason, Repository, RevisionError};
use assay_testing::{Turn, git, shared};

struct World {
    /// A build of another test would end the git processes of this one.
    _turn: Turn,
    _dir: tempfile::TempDir,
    repo: PathBuf,
}

impl World {
    fn git(&self, arguments: &[&str]) -> String {
        git(&self.repo, arguments)
    }

    fn commit(&self, name: &str) -> String {
        fs::write(self.repo.join(name), name).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", name]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn base(&self, base: Option<&str>, head: &str) -> (String, BaseReason) {
        let base = Repository::open(&self.repo).unwrap().base(base, head).unwrap();
        (base.revision.commit.unwrap_or_default(), base.why)
    }
}

/// Creates commit A on main with the tag v1, a branch `pr` from there with a commit, then B and C
/// on main. Returns the hashes of A and C.
fn parted() -> (World, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let repo = dir.path().join("repo");
    fs::create_dir(&repo).unwrap();
    let world = World { _turn: shared(), _dir: dir, repo };
    world.git(&["init", "--quiet", "--initial-branch", "main"]);
    let a = world.commit("a");
    world.git(&["tag", "v1"]);
    world.git(&["checkout", "--quiet", "-b", "pr"]);
    world.commit("change");
    world.git(&["checkout", "--quiet", "main"]);
    world.commit("b");
    let c = world.commit("c");
    (world, a, c)
}

#[test]
fn a_branch_is_judged_against_the_commit_where_it_left() {
    let (world, a, c) = parted();
    assert_eq!(world.base(Some("main"), "pr"), (a.clone(), BaseReason::Fork(2)));
    // Without a name the result is the same, because main is the default branch.
    assert_eq!(world.base(None, "pr"), (a.clone(), BaseReason::Fork(2)));
    // A base in the head's own past is used as named.
    for name in ["v1", "main~2", &a] {
        assert_eq!(world.base(Some(name), "pr"), (a.clone(), BaseReason::Named), "{name}");
        assert_eq!(world.base(Some(name), "main"), (a.clone(), BaseReason::Named), "{name}");
    }
    // A merged branch has no commits of its own.
    assert_eq!(world.base(Some("main"), "v1"), (a.clone(), BaseReason::Fork(2)));
    // The work tree counts as its HEAD commit, and can be a base itself.
    assert_eq!(world.base(Some("main"), "worktree"), (c.clone(), BaseReason::Named));
    assert_eq!(world.base(Some("worktree"), "pr").1, BaseReason::Named);
    let text = Repository::open(&world.repo).unwrap().base(None, "pr").unwrap();
    let remark = text.remark("pr").unwrap();
    let merge_base =
        format!("main has 2 commits that pr lacks; the base is the merge base {}", &a[..10]);
    assert_eq!(remark, format!("{merge_base} of main and pr"));
}

#[test]
fn a_test_merge_is_judged_against_its_first_parent() {
    let (world, a, c) = parted();
    world.git(&["checkout", "--quiet", "--detach", "main"]);
    world.git(&["merge", "--quiet", "--no-ff", "-m", "Merge branch 'pr'", "pr"]);
    // The tip that a pull request was made against is older than the branch it is merged into.
    assert_eq!(world.base(Some(&a), "HEAD"), (c.clone(), BaseReason::TestMerge));
    assert_eq!(world.base(Some("main"), "HEAD"), (c.clone(), BaseReason::Named));
    assert_eq!(world.base(None, "HEAD"), (c.clone(), BaseReason::Named));
    // A release is meant literally.
    assert_eq!(world.base(Some("v1"), "HEAD"), (a.clone(), BaseReason::Named));
    // GitHub's message identifies a test merge even without branches, as in a CI that has fetched
    // only the merge.
    let pr = world.git(&["rev-parse", "pr"]);
    world.git(&["commit", "--quiet", "--amend", "-m", &format!("Merge {pr} into {c}")]);
    world.git(&["branch", "-D", "main", "pr"]);
    assert_eq!(world.base(Some(&a), "HEAD"), (c, BaseReason::TestMerge));
}

#[test]
fn a_branch_that_main_was_merged_into_is_judged_against_main() {
    let (world, _, c) = parted();
    world.git(&["checkout", "--quiet", "pr"]);
    world.git(&["merge", "--quiet", "--no-ff", "-m", "Merge branch 'main' into pr", "main"]);
    assert_eq!(world.base(Some("main"), "pr"), (c.clone(), BaseReason::Named));
    world.git(&["checkout", "--quiet", "main"]);
    world.commit("d");
    assert_eq!(world.base(Some("main"), "pr"), (c, BaseReason::Fork(1)));
    // A merge on the default branch itself is not a test merge.
    world.git(&["merge", "--quiet", "--no-ff", "-m", "Merge branch 'pr'", "pr"]);
    let before = world.git(&["rev-parse", "HEAD~1"]);
    assert_eq!(world.base(Some("HEAD~1"), "HEAD"), (before, BaseReason::Named));
}

#[test]
fn what_has_no_common_commit_is_compared_as_it_is_or_fetched() {
    let (world, _, c) = parted();
    world.git(&["checkout", "--quiet", "--orphan", "other"]);
    world.commit("other");
    assert_eq!(world.base(Some("main"), "other"), (c, BaseReason::Unrelated));
    world.git(&["checkout", "--quiet", "main"]);
    // A shallow clone that ends before the merge base.
    let shallow = world.repo.parent().unwrap().join("shallow");
    let from = format!("file://{}", world.repo.display());
    let to = shallow.to_str().unwrap();
    world.git(&["clone", "--quiet", "--depth", "1", "--no-single-branch", &from, to]);
    let error = refused(&shallow, Some("origin/main"), "origin/pr");
    let error = error.to_string();
    let command = error.lines().last().unwrap();
    assert!(command.starts_with("    git fetch --unshallow"), "{error}");
    let mut shell = Command::new("sh");
    assert!(shell.args(["-c", command]).current_dir(&shallow).output().unwrap().status.success());
    let found = Repository::open(&shallow).unwrap().base(None, "origin/pr").unwrap();
    assert_eq!((found.name.as_str(), found.why), ("origin/HEAD", BaseReason::Fork(2)));
    // A repository without any branch that could be the default.
    world.git(&["checkout", "--quiet", "pr"]);
    world.git(&["branch", "-D", "main"]);
    let error = refused(&world.repo, None, "pr");
    assert!(error.is_usage() && error.to_string().contains("--base"), "{error}");
}

fn refused(repo: &Path, base: Option<&str>, head: &str) -> RevisionError {
    Repository::open(repo).unwrap().base(base, head).unwrap_err()
}
