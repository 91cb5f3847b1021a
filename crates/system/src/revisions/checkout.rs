//! Checks out the files of a revision into a separate folder, with submodules and LFS contents that
//! the repository holds. Missing ones are reported in notes.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::revisions::git::Git;
use crate::revisions::repository::{Repository, Scratch};
use crate::revisions::{Revision, RevisionError};

/// First words of a Git LFS pointer file.
const POINTER: &str = "version https://git-lfs.github.com/spec/";
/// Size limit of a pointer in bytes (the specification says below 1024).
const POINTER_BYTES: u64 = 1024;

/// Files that a checkout has written.
#[derive(Debug, Default)]
pub(crate) struct CheckoutFiles {
    /// Every file that git tracks, by its path below the folder.
    pub tracked: HashSet<PathBuf>,
    /// Sentences about missing content.
    pub notes: Vec<String>,
}

/// Checks out `revision` into the empty folder `dest`.
pub(crate) fn checkout(
    repo: &Repository,
    revision: &Revision,
    dest: &Path,
) -> Result<CheckoutFiles, RevisionError> {
    let scratch = Scratch::new()?;
    let mut git = Git::at(dest);
    if revision.label == crate::revisions::WORKTREE {
        let found = repo.write_worktree(&scratch)?;
        if found != revision.tree {
            return Err(RevisionError::WorktreeChanged {
                repo: repo.path.clone(),
                expected: revision.tree.clone(),
                found,
            });
        }
        git = repo.objects_in(&scratch, git)?;
    }
    let _ = fs::remove_file(scratch.index());
    let mut files = CheckoutFiles::default();
    write(git, &repo.git_dir, &revision.tree, dest, Path::new(""), &scratch, &mut files)?;
    Ok(files)
}

fn write(
    git: Git,
    git_dir: &Path,
    tree: &str,
    dest: &Path,
    below: &Path,
    scratch: &Scratch,
    files: &mut CheckoutFiles,
) -> Result<(), RevisionError> {
    let git = git
        .with("GIT_DIR", git_dir)
        .with("GIT_WORK_TREE", dest)
        .with("GIT_INDEX_FILE", scratch.index());
    git.run(&["read-tree", tree].map(OsStr::new))?;
    git.run(&["checkout-index", "--all", "--force", "--quiet"].map(OsStr::new))?;
    let common = PathBuf::from(git.text(&["rev-parse", "--git-common-dir"])?);
    let common = if common.is_absolute() { common } else { dest.join(common) };
    let listed = git.run(&["ls-tree", "-r", "-l", "-z", "--full-tree", tree].map(OsStr::new))?;
    let mut pointers = 0;
    let mut modules = Vec::new();
    for entry in listed.split(|b| *b == 0).filter(|e| !e.is_empty()) {
        let Some(tab) = entry.iter().position(|b| *b == b'\t') else { continue };
        let path = PathBuf::from(OsStr::from_bytes(&entry[tab + 1..]));
        let head = String::from_utf8_lossy(&entry[..tab]).into_owned();
        let mut words = head.split_whitespace();
        let (mode, _, hash, size) = (words.next(), words.next(), words.next(), words.next());
        if mode == Some("160000") {
            modules.push((path, hash.unwrap_or_default().to_owned()));
            continue;
        }
        let size: u64 = size.and_then(|s| s.parse().ok()).unwrap_or(u64::MAX);
        if mode != Some("120000") && (100..POINTER_BYTES).contains(&size) {
            pointers += usize::from(is_lost_pointer(&dest.join(&path), &common));
        }
        files.tracked.insert(below.join(path));
    }
    if pointers > 0 {
        files.notes.push(format!(
            "{pointers} files are pointers of Git LFS whose contents are not in the repository; \
            `git lfs fetch --all` gets them"
        ));
    }
    for (path, commit) in modules {
        let module = module_dir(&git, &common, tree, &path);
        let place = dest.join(&path);
        let inner = below.join(&path);
        let _ = fs::remove_file(scratch.index());
        let held = module.filter(|dir| {
            let wanted = format!("{commit}^{{tree}}");
            let asked = Git::at(dest)
                .with("GIT_DIR", dir)
                .try_run(&["rev-parse", "--verify", "--quiet", &wanted].map(OsStr::new));
            matches!(asked, Ok(Ok(_)))
        });
        match held {
            Some(dir) => {
                fs::create_dir_all(&place).map_err(RevisionError::io("create", &place))?;
                write(Git::at(&place), &dir, &commit, &place, &inner, scratch, files)?;
            }
            None => files.notes.push(format!(
                "the submodule {} is empty: the repository does not hold its commit {}; `git \
                submodule update --init` gets it",
                inner.display(),
                commit.get(..12).unwrap_or(&commit),
            )),
        }
    }
    Ok(())
}

/// Returns the folder of the repository's clone of the submodule at `path`.
fn module_dir(git: &Git, common: &Path, tree: &str, path: &Path) -> Option<PathBuf> {
    let blob = format!("{tree}:.gitmodules");
    let args = ["config", "--blob", &blob, "-z", "--get-regexp", r"^submodule\..*\.path$"];
    let listed = git.try_run(&args.map(OsStr::new)).ok()?.ok()?;
    let name = listed.split(|b| *b == 0).find_map(|entry| {
        let text = String::from_utf8_lossy(entry).into_owned();
        let (key, value) = text.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        (Path::new(value) == path).then(|| name.to_owned())
    })?;
    // A name that leads out of the folder is rejected.
    let safe = Path::new(&name).components().all(|c| matches!(c, std::path::Component::Normal(_)));
    let dir = common.join("modules").join(name);
    (safe && dir.is_dir()).then_some(dir)
}

/// Replaces a Git LFS pointer by its content if the repository holds it. Returns true if the file
/// remains a pointer.
fn is_lost_pointer(file: &Path, common: &Path) -> bool {
    let Ok(text) = fs::read_to_string(file) else { return false };
    if !text.starts_with(POINTER) {
        return false;
    }
    let oid = text.lines().find_map(|l| l.strip_prefix("oid sha256:"));
    let Some(oid) = oid.filter(|o| o.len() == 64 && o.bytes().all(|b| b.is_ascii_hexdigit()))
    else {
        return true;
    };
    let held = common.join("lfs/objects").join(&oid[..2]).join(&oid[2..4]).join(oid);
    // Writing into the file keeps the mode of the pointer.
    fs::read(&held).and_then(|content| fs::write(file, content)).is_err()
}
