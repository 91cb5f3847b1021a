//! `assay new`: its files run without a change, and fit their schema.

use std::process::Command;

use crate::common::{World, done};

/// Kinds, their paths, and the words that run them.
const KINDS: [(&str, &str, &str, &str); 4] = [
    ("experiment", "gzip.toml", "gzip.toml", "gzip.toml"),
    ("kit", "sort-numbers", "./sort-numbers", "sort-numbers/kit.toml"),
    ("reader", "my-tool", "./my-tool", "my-tool/kit.toml"),
    ("workload", "my-load", "./my-load", "my-load/kit.toml"),
];

#[test]
fn every_first_file_runs_as_it_is_and_is_not_written_over() {
    let world = World::new();
    for (kind, path, run, file) in KINDS {
        let written = world.run(&["new", kind, path]);
        assert_eq!(written.code, 0, "{kind}: {}", written.stderr);
        assert!(written.stdout.lines().any(|line| line == file), "{kind}: {}", written.stdout);
        let command = written.stdout.lines().last().unwrap().split_once("assay ").unwrap().1;
        assert!(command.starts_with(&format!("run {run}")), "{kind}: {command}");
        let blocks = ["run", run, "--blocks", "3", "--quiet", "--monitors", "none"];
        let ran = world.run(&blocks);
        assert_eq!(ran.code, 0, "{kind}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(", 0 failed"), "{kind}: {}", ran.stdout);
        if kind != "experiment" {
            let checked = world.run(&["kit", "check", path]);
            assert!(checked.stdout.contains("no problem found"), "{kind}: {}", checked.stdout);
        }
        let again = world.run(&["new", kind, path]);
        assert_eq!(again.code, 2, "{kind}");
        assert!(again.stderr.contains("exists already"), "{kind}: {}", again.stderr);
    }
    for path in ["Gzip.toml", "gzip", "1.toml"] {
        assert_eq!(world.run(&["new", "experiment", path]).code, 2, "{path}");
    }
}

#[test]
fn editors_find_the_schema_and_what_it_refuses() {
    if Command::new("taplo").arg("--version").output().is_err() {
        println!("skipped: because there is no taplo (npm package @taplo/cli)");
        return;
    }
    let world = World::new();
    let fits = |file: &str| {
        let mut taplo = Command::new("taplo");
        done(taplo.args(["check", file]).current_dir(world.path(""))).code == 0
    };
    for (kind, path, _, file) in KINDS {
        world.run(&["new", kind, path]);
        assert!(fits(file), "{file}");
        let text = std::fs::read_to_string(world.path(file)).unwrap();
        world.write(file, &text.replacen("name =", "nmae =", 1));
        assert!(!fits(file), "{file} with a wrong key");
    }
}
