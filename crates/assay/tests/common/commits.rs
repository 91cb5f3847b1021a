//! A repository that is made here: a program that sleeps, one commit that makes it sleep longer, one that does not
//! build.

use std::fs;
use std::path::{Path, PathBuf};

pub use assay_testing::git;

use super::World;

/// Commits after the first.
pub const COMMITS: usize = 12;
/// The one that makes it sleep longer.
pub const STEP: usize = 8;
/// The one that does not build.
pub const BROKEN: usize = 4;

/// What looks like a token.
pub fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// The repository in the world's folder.
pub fn repository(world: &World) -> PathBuf {
    repository_with(world, "0.08")
}

/// The same with a step to so many seconds.
pub fn repository_with(world: &World, slow: &str) -> PathBuf {
    let repo = world.path("the repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "--quiet"]);
    for n in 0..=COMMITS {
        let seconds = if n < STEP { "0.02" } else { slow };
        let program = format!("#!/bin/sh\nsleep {seconds}\n");
        fs::write(repo.join("prog.in"), program).unwrap();
        fs::write(repo.join("n"), format!("{n}\n")).unwrap();
        let build = if n == BROKEN {
            format!("echo cannot find -lnothing for {} >&2; exit 3\n", token())
        } else {
            "cp prog.in prog && chmod +x prog\n".to_owned()
        };
        fs::write(repo.join("build.sh"), build).unwrap();
        git(&repo, &["add", "."]);
        git(&repo, &["commit", "--quiet", "-m", &format!("change {n}")]);
        if n == 0 {
            git(&repo, &["tag", "v1"]);
        }
    }
    repo
}

/// All files of a folder with their bytes.
pub fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut all, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                all.push((path.clone(), fs::read(&path).unwrap()));
            }
        }
    }
    all.sort();
    all
}
