//! The documentation: the commands of the tutorial work, the book contains every page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::World;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").canonicalize().unwrap()
}

#[test]
fn the_tutorial_runs_as_it_stands() {
    let world = World::new();
    let text = fs::read_to_string(docs().join("start/tutorial.md")).unwrap();
    let blocks: Vec<&str> =
        text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 4, "{blocks:?}");
    let assay = PathBuf::from(env!("CARGO_BIN_EXE_assay"));
    let path = format!("{}:{}", assay.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let done = Command::new("bash")
        .args(["-euc", &blocks.concat()])
        .current_dir(world.path("."))
        .env("PATH", path)
        .env("ASSAY_ARCHIVE", world.path("archive"))
        .env("XDG_CACHE_HOME", world.path("cache"))
        .env("XDG_STATE_HOME", world.path("state"))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stdout));
    for page in ["page/index.html", "post/index.html"] {
        assert!(world.path(page).exists(), "{page}");
    }
}

#[test]
fn every_page_stands_in_the_book_and_every_link_of_the_book_leads_somewhere() {
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    let linked: Vec<&str> =
        summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    for link in &linked {
        assert!(docs().join(link).exists(), "SUMMARY.md links {link}");
    }
    let folders = [
        "",
        "start",
        "measure",
        "watch",
        "compare",
        "track",
        "publish",
        "serve",
        "workloads",
        "reference",
        "reference/kits",
        "internals",
    ];
    for folder in folders {
        for entry in fs::read_dir(docs().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(docs()).unwrap().display().to_string();
            if path.extension().is_some_and(|e| e == "md") && name != "SUMMARY.md" {
                assert!(linked.contains(&name.as_str()), "SUMMARY.md lacks {name}");
            }
        }
    }
}

#[test]
fn every_crate_has_a_short_readme_and_a_line_in_the_architecture() {
    let root = docs().join("..");
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let readme = fs::read_to_string(path.join("README.md")).unwrap_or_default();
        assert!((5..=12).contains(&readme.lines().count()), "crates/{name}/README.md");
        assert!(
            architecture.contains(&format!("| `crates/{name}` |")),
            "ARCHITECTURE.md lacks {name}"
        );
    }
}

#[test]
fn what_the_measurements_build_is_there() {
    let root = docs().join("..");
    let crates = fs::read_dir(root.join("crates")).unwrap().flatten();
    let examples: Vec<PathBuf> = crates.map(|entry| entry.path().join("examples")).collect();
    let mut named = 0;
    for folder in ["bench", "bench/memcached", "scripts"] {
        for script in fs::read_dir(root.join(folder)).unwrap().flatten() {
            let Ok(text) = fs::read_to_string(script.path()) else { continue };
            for begin in ["--example ", "examples/", "{EXAMPLES}/", "examples / \""] {
                for rest in text.split(begin).skip(1) {
                    let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
                    let name = &rest[..end.unwrap_or(rest.len())];
                    let there = |folder: &PathBuf| folder.join(name).with_extension("rs").exists();
                    assert!(
                        name.is_empty() || examples.iter().any(there),
                        "{} runs the example `{name}`, which no crate has",
                        script.path().display()
                    );
                    named += usize::from(!name.is_empty());
                }
            }
        }
    }
    assert!(named >= 10, "{named} examples were found in bench/ and scripts/");
}
