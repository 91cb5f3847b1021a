//! Tests with real repositories, created here: names, ranges, the work tree, builds, the cache, and
//! that no file of the user changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_system::revisions::{
    BuildOutcome, Builder, DEFAULT_LIMIT, Merges, Repository, RevisionError, sweep,
};
use assay_testing::{Turn, alone, git};

struct Fixture {
    /// Held because the end of a build also ends processes that other threads of this process have
    /// started.
    _alone: Turn,
    _dir: tempfile::TempDir,
    repo: PathBuf,
    cache: PathBuf,
}

/// Creates a repository with three commits, in a folder with blanks in its name; the first commit
/// is tagged v1.
fn fixture() -> Fixture {
    let alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let repo = dir.path().join("a repo: with \"blanks\"");
    fs::create_dir_all(repo.join("sub dir")).unwrap();
    git(&repo, &["init", "--quiet"]);
    for n in 1..=3 {
        fs::write(repo.join("n.txt"), format!("{n}\n")).unwrap();
        fs::write(repo.join("sub dir/x"), "x\n").unwrap();
        git(&repo, &["add", "."]);
        git(&repo, &["commit", "--quiet", "-m", &format!("commit {n}")]);
        if n == 1 {
            git(&repo, &["tag", "v1"]);
        }
    }
    let cache = dir.path().join("cache");
    Fixture { _alone: alone, _dir: dir, repo, cache }
}

impl Fixture {
    fn open(&self) -> Repository {
        Repository::open(&self.repo).unwrap()
    }

    fn builder<'a>(&self, repo: &'a Repository, command: &'a str) -> Builder<'a> {
        let bounds = (Duration::from_secs(60), DEFAULT_LIMIT);
        Builder::new(repo, command, &self.cache, bounds, None)
    }
}

/// Returns every file below a folder with its content and modification time.
fn state(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut all = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                open.push(entry.path());
                all.insert(entry.path(), (Vec::new(), meta.modified().unwrap()));
            } else {
                let content = fs::read(entry.path()).unwrap();
                all.insert(entry.path(), (content, meta.modified().unwrap()));
            }
        }
    }
    all
}

fn names(all: &[&str]) -> Vec<String> {
    all.iter().map(|n| (*n).to_owned()).collect()
}

#[test]
fn names_and_ranges_become_commits() {
    let fixture = fixture();
    let repo = fixture.open();
    let all = repo.resolve(&names(&["v1", "main", "v1..main", "v1..main:2"])).unwrap();
    let subjects: Vec<&str> = all.iter().map(|r| r.subject.as_str()).collect();
    assert_eq!(subjects, ["commit 1", "commit 3", "commit 2", "commit 3", "commit 3"]);
    assert_eq!((all[0].label.as_str(), all[1].label.as_str()), ("v1", "main"));
    let commit = all[2].commit.clone().unwrap();
    assert!(commit.starts_with(&all[2].label) && all[2].label.len() >= 7);
    assert!(all[0].author_date.as_ref().unwrap().contains('T'));
    // A level resolves to its revision.
    assert_eq!(repo.one(&all[2].level()).unwrap().commit, Some(commit));
}

#[test]
fn what_is_not_there_is_named() {
    let fixture = fixture();
    let repo = fixture.open();
    let error = |name: &str| repo.resolve(&names(&[name])).unwrap_err();
    assert!(matches!(error("nope"), RevisionError::Unknown { name, .. } if name == "nope"));
    assert!(matches!(error("--all"), RevisionError::Unknown { .. }));
    assert!(matches!(error("main..v1"), RevisionError::EmptyRange { .. }));
    assert!(matches!(error("v1..main:0"), RevisionError::Unknown { .. }));
    let none = Repository::open(&fixture.cache.join("nowhere")).unwrap_err();
    assert!(matches!(none, RevisionError::NoRepository { .. }), "{none}");
    let dir = tempfile::tempdir().unwrap();
    let none = Repository::open(dir.path()).unwrap_err();
    assert!(none.to_string().contains("not in a git repository"), "{none}");
    assert!(none.is_usage());
}

#[test]
fn nothing_of_the_users_changes_while_its_states_are_built() {
    let fixture = fixture();
    fs::write(fixture.repo.join("n.txt"), "dirty\n").unwrap();
    fs::write(fixture.repo.join("new"), "not added\n").unwrap();
    let before = state(&fixture.repo);
    let repo = fixture.open();
    let builder = fixture.builder(&repo, "cat n.txt > built && ls > listed");
    for revision in repo.resolve(&names(&["v1", "main", "worktree"])).unwrap() {
        let build = builder.build(&revision, 1).unwrap();
        assert_eq!(build.record.outcome, BuildOutcome::Built, "{revision:?}");
        let built = fs::read_to_string(build.folder.join("built")).unwrap();
        let wanted = match revision.label.as_str() {
            "v1" => "1\n",
            "main" => "3\n",
            _ => "dirty\n",
        };
        assert_eq!(built, wanted);
        assert_eq!(build.folder.join("new").exists(), revision.label == "worktree");
        assert_eq!(revision.dirty, revision.label == "worktree");
        assert_eq!((build.record.files, build.record.sha256.len()), (2, 64));
        assert!(!build.folder.join(".git").exists());
    }
    assert!(state(&fixture.repo) == before, "the repository has changed");
}

#[test]
fn a_build_is_made_once_and_again_when_what_it_depends_on_changes() {
    let fixture = fixture();
    let repo = fixture.open();
    let main = repo.one("main").unwrap();
    let first = fixture.builder(&repo, "date +%N > built").build(&main, 1).unwrap();
    let again = fixture.builder(&repo, "date +%N > built").build(&main, 1).unwrap();
    assert!(!first.cached && again.cached);
    assert_eq!(
        (first.record.sha256.as_str(), &first.folder),
        (again.record.sha256.as_str(), &again.folder)
    );
    let other = fixture.builder(&repo, "date +%N > built #").build(&main, 1).unwrap();
    assert!(!other.cached && other.folder != first.folder);
    // Opening a subfolder of a repository selects that folder in each revision.
    let below = Repository::open(&fixture.repo.join("sub dir")).unwrap();
    let build = fixture.builder(&below, "").build(&main, 1).unwrap();
    assert!(build.folder.ends_with("sub dir") && build.folder.join("x").exists());
}

#[test]
fn a_build_that_fails_or_hangs_is_an_outcome_and_is_tried_again() {
    let fixture = fixture();
    let repo = fixture.open();
    let main = repo.one("main").unwrap();
    let reason = |command: &str, timeout: Duration| {
        let bounds = (timeout, DEFAULT_LIMIT);
        let builder = Builder::new(&repo, command, &fixture.cache, bounds, None);
        match builder.build(&main, 1).unwrap() {
            build if build.cached => panic!("kept"),
            build => match build.record.outcome {
                BuildOutcome::Failed { reason } => reason,
                BuildOutcome::Built => panic!("built"),
            },
        }
    };
    let minute = Duration::from_secs(60);
    for _ in 0..2 {
        let failed = reason("echo no rule to make target >&2; exit 2", minute);
        assert!(failed.contains("exit code 2") && failed.contains("no rule"), "{failed}");
    }
    // The first error line comes first, however much output follows it, then the end of the output.
    let command =
        "echo 'a.c:3:1: error: no foo' >&2; seq 100 >&2; echo 'make: *** Error 1' >&2; exit 2";
    let failed = reason(command, minute);
    let (first, last) = failed.split_once("its last lines:").unwrap();
    assert!(first.ends_with(":\na.c:3:1: error: no foo\n"), "{failed}");
    assert!(last.starts_with("\n72\n") && last.ends_with("*** Error 1"), "{failed}");
    let hung = reason("sleep 600 & sleep 600", Duration::from_millis(200));
    assert!(hung.contains("took longer than"), "{hung}");
}

#[test]
fn an_interrupted_build_leaves_nothing_that_counts() {
    let fixture = fixture();
    let repo = fixture.open();
    let main = repo.one("main").unwrap();
    let build = fixture.builder(&repo, "echo whole > built").build(&main, 1).unwrap();
    // The state after `kill -9` in the middle of a build: files but no record.
    let dir = build.folder.parent().unwrap().to_owned();
    drop(build);
    fs::write(dir.join("source/built"), "ha").unwrap();
    fs::remove_file(dir.join("build.json")).unwrap();
    let build = fixture.builder(&repo, "echo whole > built").build(&main, 1).unwrap();
    assert!(!build.cached);
    assert_eq!(fs::read_to_string(build.folder.join("built")).unwrap(), "whole\n");
}

#[test]
fn the_cache_stays_within_its_limit_and_keeps_what_is_in_use() {
    let fixture = fixture();
    let repo = fixture.open();
    let all = repo.resolve(&names(&["v1", "main"])).unwrap();
    let builder = fixture.builder(&repo, "");
    let old = builder.build(&all[0], 1).unwrap().folder;
    let used = builder.build(&all[1], 1).unwrap();
    assert!(old.exists());
    assert_eq!(sweep(&fixture.cache.join("revisions"), 0), 1);
    assert!(!old.exists() && used.folder.exists());
    drop(used);
    assert_eq!(sweep(&fixture.cache.join("revisions"), 0), 1);
}

#[test]
fn bare_and_shallow_repositories_and_linked_work_trees() {
    let fixture = fixture();
    let bare = fixture.cache.with_file_name("bare.git");
    git(&fixture.repo, &["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let repo = Repository::open(&bare).unwrap();
    let build = fixture.builder(&repo, "").build(&repo.one("v1").unwrap(), 1).unwrap();
    assert_eq!(fs::read_to_string(build.folder.join("n.txt")).unwrap(), "1\n");
    assert!(matches!(repo.one("worktree").unwrap_err(), RevisionError::Bare { .. }));
    let shallow = fixture.cache.with_file_name("shallow");
    let from = format!("file://{}", bare.display());
    git(&fixture.repo, &["clone", "--quiet", "--depth", "1", &from, shallow.to_str().unwrap()]);
    let repo = Repository::open(&shallow).unwrap();
    let error = repo.one("v1").unwrap_err().to_string();
    assert!(error.contains("--unshallow"), "{error}");
    let linked = fixture.cache.with_file_name("linked");
    git(&fixture.repo, &["worktree", "add", "--quiet", linked.to_str().unwrap(), "v1"]);
    fs::write(linked.join("n.txt"), "linked\n").unwrap();
    let repo = Repository::open(&linked).unwrap();
    let build = fixture.builder(&repo, "").build(&repo.one("worktree").unwrap(), 1).unwrap();
    assert_eq!(fs::read_to_string(build.folder.join("n.txt")).unwrap(), "linked\n");
}

#[test]
fn a_partial_clone_says_how_to_get_the_rest() {
    let fixture = fixture();
    git(&fixture.repo, &["config", "uploadpack.allowFilter", "true"]);
    let partial = fixture.cache.with_file_name("partial");
    let from = format!("file://{}", fixture.repo.display());
    git(
        &fixture.repo,
        &["clone", "--quiet", "--filter=blob:none", &from, partial.to_str().unwrap()],
    );
    let repo = Repository::open(&partial).unwrap();
    let first = repo.one("v1").unwrap();
    let error = fixture.builder(&repo, "").build(&first, 1).unwrap_err().to_string();
    let remedy = error.split('`').nth(1).unwrap_or_default();
    assert!(error.contains("partial clone") && remedy.starts_with("git fetch"), "{error}");
    git(&partial, &remedy.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(
        fixture.builder(&repo, "").build(&first, 1).unwrap().record.outcome,
        BuildOutcome::Built
    );
}

#[test]
fn a_name_of_a_tag_and_of_a_branch_is_refused_and_git_gives_its_reasons() {
    let fixture = fixture();
    let repo = Repository::open(&fixture.repo).unwrap();
    // Branches in a folder with the tag's name do not make the name ambiguous.
    for branch in ["folder/a", "folder/b"] {
        git(&fixture.repo, &["branch", branch, "v1"]);
    }
    git(&fixture.repo, &["tag", "folder", "v1"]);
    assert_eq!(repo.one("folder").unwrap().label, "folder");
    git(&fixture.repo, &["branch", "v1", "main"]);
    let error = repo.one("v1").unwrap_err().to_string();
    assert!(error.contains("`tags/v1` or `heads/v1`"), "{error}");
    let [tag, branch] = ["tags/v1", "heads/v1"].map(|name| repo.one(name).unwrap().commit);
    assert!(tag != branch && branch == repo.one("main").unwrap().commit);
    let none = Repository::open(fixture.cache.parent().unwrap()).unwrap_err().to_string();
    assert!(none.contains("is not in a git repository"), "{none}");
    if rustix::process::geteuid().is_root() {
        rustix::fs::chown(&fixture.repo, Some(rustix::fs::Uid::from_raw(65534)), None).unwrap();
        let other = Repository::open(&fixture.repo).unwrap_err().to_string();
        assert!(other.contains("cannot be used: detected dubious ownership"), "{other}");
    }
}

#[test]
fn submodules_come_along_and_pointers_are_reported() {
    let fixture = fixture();
    let outer = fixture.cache.with_file_name("outer");
    fs::create_dir(&outer).unwrap();
    git(&outer, &["init", "--quiet"]);
    git(&outer, &["submodule", "--quiet", "add", fixture.repo.to_str().unwrap(), "deep/inner"]);
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n",
        "ab".repeat(32)
    );
    fs::write(outer.join("big.bin"), &pointer).unwrap();
    git(&outer, &["add", "."]);
    git(&outer, &["commit", "--quiet", "-m", "all"]);
    let repo = Repository::open(&outer).unwrap();
    let build = fixture.builder(&repo, "").build(&repo.one("main").unwrap(), 1).unwrap();
    assert_eq!(fs::read_to_string(build.folder.join("deep/inner/n.txt")).unwrap(), "3\n");
    assert!(
        matches!(build.record.notes.as_slice(), [one] if one.contains("LFS")),
        "{:?}",
        build.record.notes
    );
    // Content that the repository holds replaces the pointer; the missing submodule is reported.
    let held = outer.join(format!(".git/lfs/objects/ab/ab/{}", "ab".repeat(32)));
    fs::create_dir_all(held.parent().unwrap()).unwrap();
    fs::write(&held, "the content\n").unwrap();
    fs::rename(outer.join(".git/modules"), outer.join(".git/elsewhere")).unwrap();
    let other = fixture.builder(&repo, "true").build(&repo.one("main").unwrap(), 1).unwrap();
    assert_eq!(fs::read_to_string(other.folder.join("big.bin")).unwrap(), "the content\n");
    assert!(
        other.record.notes.iter().any(|n| n.contains("submodule deep/inner")),
        "{:?}",
        other.record.notes
    );
}

#[test]
fn a_work_tree_that_changed_since_is_refused() {
    let fixture = fixture();
    let repo = fixture.open();
    fs::write(fixture.repo.join("n.txt"), "a\n").unwrap();
    let level = repo.one("worktree").unwrap().level();
    assert_eq!(repo.one(&level).unwrap().label, "worktree");
    fs::write(fixture.repo.join("n.txt"), "b\n").unwrap();
    assert!(matches!(repo.one(&level).unwrap_err(), RevisionError::WorktreeChanged { .. }));
}

#[test]
fn a_change_of_the_same_size_in_the_same_moment_is_seen() {
    let fixture = fixture();
    let repo = fixture.open();
    for n in 0..8 {
        let text = format!("{n:03}\n");
        fs::write(fixture.repo.join("n.txt"), &text).unwrap();
        git(&fixture.repo, &["add", "."]);
        fs::write(fixture.repo.join("n.txt"), format!("{:03}\n", 999 - n)).unwrap();
        let tree = repo.one("worktree").unwrap().tree;
        std::thread::yield_now();
        assert_eq!(repo.one("worktree").unwrap().tree, tree);
        let shown = git(&fixture.repo, &["hash-object", "n.txt"]);
        let build = fixture.builder(&repo, "").build(&repo.one("worktree").unwrap(), 1).unwrap();
        let built = git(&build.folder, &["hash-object", "n.txt"]);
        assert_eq!(built, shown);
    }
}

#[test]
fn merges_are_followed_or_taken_as_one() {
    let fixture = fixture();
    git(&fixture.repo, &["checkout", "--quiet", "-b", "side", "v1"]);
    for n in 4..6 {
        fs::write(fixture.repo.join(format!("side{n}")), "s\n").unwrap();
        git(&fixture.repo, &["add", "."]);
        git(&fixture.repo, &["commit", "--quiet", "-m", &format!("side {n}")]);
    }
    git(&fixture.repo, &["checkout", "--quiet", "main"]);
    git(&fixture.repo, &["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    let repo = fixture.open();
    assert_eq!(repo.range("v1..main", 1, Merges::Followed).unwrap().len(), 5);
    let one = repo.range("v1..main", 1, Merges::AsOne).unwrap();
    let subjects: Vec<&str> = one.iter().map(|r| r.subject.as_str()).collect();
    assert_eq!(subjects, ["commit 2", "commit 3", "merge"]);
}
