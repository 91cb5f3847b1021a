//! A git repository that the test makes: a program that sleeps, with one commit that makes it sleep
//! longer and one that does not build.

use std::fs;
use std::path::{Path, PathBuf};

pub use assay_testing::git;

use super::World;

/// Number of commits after the first.
pub const COMMITS: usize = 12;
/// Commit that makes the program sleep longer.
pub const STEP: usize = 8;
/// Commit that does not build.
pub const BROKEN: usize = 4;

/// Returns a text that looks like a GitHub token.
pub fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// Makes the repository in the world's folder.
pub fn repository(world: &World) -> PathBuf {
    repository_with(world, "0.08")
}

/// Makes the repository with a program that sleeps `slow` seconds from the step on.
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

/// Returns all files of a folder with their content.
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
