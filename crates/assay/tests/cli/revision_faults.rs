//! Faults of revisions and their histories: a build that fills the disk, clocks that go back,
//! commits in the same second, a rewritten history, `kill -9`. The repository stays byte for byte
//! as it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::World;
use crate::common::commits::{files, git};
use assay_testing::git_command;
use serde_json::Value;

/// Makes a repository whose commits have these builds. Each commit's date is an hour before that of
/// its parent, except that the first two have the same second.
fn repository(world: &World, builds: &[&str]) -> PathBuf {
    let repo = world.path("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "--quiet"]);
    for (n, build) in builds.iter().enumerate() {
        fs::write(repo.join("prog.in"), "#!/bin/sh\nsleep 0.01\n").unwrap();
        fs::write(repo.join("build.sh"), format!("# {n}\n{build}\n")).unwrap();
        git(&repo, &["add", "."]);
        let date = format!("2026-01-01T{:02}:00:00Z", 20 - n.max(1));
        let done = git_command(&repo)
            .args(["commit", "--quiet", "-m", &format!("change {n}")])
            .envs([("GIT_AUTHOR_DATE", &date), ("GIT_COMMITTER_DATE", &date)])
            .status();
        assert!(done.unwrap().success());
        git(&repo, &["tag", &format!("v{n}")]);
    }
    repo
}

const PLAIN: &str = "cp prog.in prog && chmod +x prog";

fn run(world: &World, repo: &Path, arguments: &[&str]) -> (i32, Value, String) {
    let rest = ["--build", "sh build.sh", "--monitors", "none", "--", "./prog"];
    let all = [&["--json"], arguments, &rest].concat();
    let output = world.assay(&all).current_dir(repo).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().unwrap_or(-1), value, printed)
}

/// A small file system in a folder, which is unmounted when dropped.
struct Tmpfs(PathBuf);

impl Tmpfs {
    fn mount(folder: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&folder).unwrap();
        let options = format!("size={size},mode=0700");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&folder)
            .stderr(Stdio::null())
            .status();
        if done.is_ok_and(|s| s.success()) {
            return Some(Tmpfs(folder));
        }
        println!("skipped: because a tmpfs can be mounted by root only");
        None
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_build_that_fills_the_disk_is_reported_and_the_others_go_on() {
    let world = World::new();
    let Some(small) = Tmpfs::mount(world.path("cache/revisions"), "4m") else { return };
    let full = "dd if=/dev/zero of=big bs=64k count=1000";
    let repo = repository(&world, &[PLAIN, full, PLAIN]);
    let before = files(&repo);
    let (code, json, printed) = run(&world, &repo, &["run", "--rev", "v0,v1,v2", "--blocks", "2"]);
    assert_eq!(code, 3, "{printed}");
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("No space left"), "{printed}");
    let labels: Vec<&str> = json["analysis"]["summaries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["metric"] == "elapsed")
        .map(|s| s["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["v0", "v2"], "{json}");
    assert!(files(&repo) == before, "the repository has changed");
    // The files that filled the disk are gone, and the log of the build reports the failure.
    let left: u64 = files(&small.0).iter().map(|(_, bytes)| bytes.len() as u64).sum();
    assert!(left < 1 << 20, "{left} bytes are left");
}

#[test]
fn commits_are_ordered_by_their_parents_when_clocks_go_back_or_stand() {
    let world = World::new();
    let repo = repository(&world, &[PLAIN, PLAIN, PLAIN, PLAIN]);
    let dates = git(&repo, &["log", "--format=%ct"]);
    let dates: Vec<i64> = dates.lines().map(|d| d.parse().unwrap()).collect();
    assert!(dates[0] < dates[1] && dates[2] == dates[3], "{dates:?}");
    let (code, plan, printed) = run(&world, &repo, &["plan", "--rev", "v0,v0..v3"]);
    assert_eq!(code, 0, "{printed}");
    let levels: Vec<String> = plan["plan"]["treatments"]
        .as_array()
        .unwrap_or_else(|| plan["treatments"].as_array().unwrap())
        .iter()
        .map(|t| t["levels"]["rev"].as_str().unwrap().to_owned())
        .collect();
    let wanted: Vec<String> =
        ["v0", "v1", "v2", "v3"].map(|v| git(&repo, &["rev-parse", v])).into();
    assert_eq!(levels, wanted);
}

/// Kills assay with `arguments` as soon as `now` is true; returns false if assay ended earlier.
fn killed(world: &World, repo: &Path, arguments: &[&str], now: &dyn Fn() -> bool) -> bool {
    let rest = ["--build", "sh build.sh", "--monitors", "none", "--", "./prog"];
    let mut child = world
        .assay(&[arguments, &rest].concat())
        .current_dir(repo)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut over = false;
    while !now() && !over {
        over = child.try_wait().unwrap().is_some();
        std::thread::yield_now();
    }
    let _ = child.kill();
    let _ = child.wait();
    !over
}

#[test]
fn a_history_or_a_gate_that_was_killed_goes_on_and_the_repository_is_as_before() {
    let world = World::new();
    let repo = repository(&world, &[PLAIN; 5]);
    let before = files(&repo);
    let fill = ["history", "--rev", "v0..v4", "--fill", "--blocks", "2"];
    // The first kill is during a build, the second during a run.
    assert!(killed(&world, &repo, &fill, &|| world.path("cache/revisions").is_dir()));
    assert!(killed(&world, &repo, &fill, &|| !world.runs().is_empty()));
    let (code, json, printed) = run(&world, &repo, &fill);
    assert_eq!(code, 0, "{printed}");
    assert_eq!(json["series"][0]["points"].as_array().unwrap().len(), 5, "{json}");
    let gate = ["gate", "--base", "v0", "--head", "v4", "--margin", "90 %"];
    let runs = world.runs().len();
    assert!(killed(&world, &repo, &gate, &|| world.runs().len() > runs));
    let (code, json, printed) = run(&world, &repo, &gate);
    assert!(code == 0 && json["verdict"].is_string(), "{json} {printed}");
    assert!(files(&repo) == before, "the repository has changed");
    let verified = world.run(&["archive", "verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn commits_that_a_rewritten_history_lost_are_named_and_the_others_go_on() {
    let world = World::new();
    let repo = repository(&world, &[PLAIN; 4]);
    let fill = ["history", "--rev", "v0..main", "--fill", "--blocks", "2"];
    let (code, json, printed) = run(&world, &repo, &fill);
    assert_eq!(
        (code, json["series"][0]["points"].as_array().map(Vec::len)),
        (0, Some(4)),
        "{printed}"
    );
    let lost = git(&repo, &["rev-parse", "main"]);
    git(&repo, &["tag", "-d", "v3"]);
    git(&repo, &["commit", "--quiet", "--amend", "-m", "another change 3"]);
    git(&repo, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repo, &["gc", "--quiet", "--prune=now"]);
    let before = files(&repo);
    let (code, json, printed) = run(&world, &repo, &["history", "--rev", "v0..main"]);
    assert_eq!(code, 0, "{printed}");
    assert_eq!(json["series"][0]["points"].as_array().unwrap().len(), 3, "{json}");
    let notes = json["notes"].to_string();
    assert!(
        notes.contains("no longer in the repository") && notes.contains(&lost[..10]),
        "{notes}"
    );
    let (_, json, printed) = run(&world, &repo, &fill);
    assert_eq!(json["series"][0]["points"].as_array().unwrap().len(), 4, "{json} {printed}");
    assert!(files(&repo) == before, "the repository has changed");
    // Runs that contain both references link the new one to the old one.
    let (code, json, printed) =
        run(&world, &repo, &["history", "--rev", "v1..main", "--fill", "--blocks", "2"]);
    assert_eq!(code, 0, "{printed}");
    assert_eq!(json["series"][0]["points"].as_array().unwrap().len(), 3, "{json}");
}

#[test]
fn a_shallow_clone_ends_with_the_command_that_deepens_it() {
    let world = World::new();
    let repo = repository(&world, &[PLAIN; 3]);
    git(&repo, &["branch", "other", "v0"]);
    let from = format!("file://{}", repo.display());
    for base in ["HEAD~1", "origin/other"] {
        let clone = world.path("clone");
        let to = clone.to_str().unwrap();
        git(&repo, &["clone", "--quiet", "--depth", "1", &from, to]);
        let gate = ["gate", "--base", base, "--budget", "0 s"];
        let (code, _, printed) = run(&world, &clone, &gate);
        let command = printed.lines().last().unwrap_or_default();
        assert!(code == 2 && command.starts_with("    git fetch --unshallow"), "{printed}");
        let mut shell = Command::new("sh");
        assert!(shell.args(["-c", command]).current_dir(&clone).output().unwrap().status.success());
        let (code, json, printed) = run(&world, &clone, &gate);
        assert!(code != 2 && json["base_commit"].is_string(), "{code} {json} {printed}");
        fs::remove_dir_all(&clone).unwrap();
    }
}

#[test]
fn a_checkout_of_another_owner_ends_with_the_remedy_of_git() {
    if !crate::common::root() {
        println!("skipped: because only root can give a checkout to another user");
        return;
    }
    let world = World::new();
    let repo = repository(&world, &[PLAIN; 2]);
    let owned = Command::new("chown").args(["-R", "nobody"]).arg(&repo).status();
    assert!(owned.unwrap().success());
    let config = world.write("gitconfig", "");
    let gate = || {
        let asked = ["--json", "gate", "--base", "v0", "--budget", "0 s", "--build", "sh build.sh"];
        let mut command = world.assay(&[&asked[..], &["--", "./prog"]].concat());
        command.current_dir(&repo).env("GIT_CONFIG_GLOBAL", &config).env_remove("SUDO_UID");
        crate::common::done(command.env("GIT_CONFIG_NOSYSTEM", "1"))
    };
    let refused = gate();
    let line = format!("git config --global --add safe.directory {}", repo.display());
    let printed = &refused.stderr;
    assert!(refused.code == 2 && printed.lines().any(|l| l.trim() == line), "{printed}");
    assert!(!printed.contains("unknown revision"), "{printed}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env("GIT_CONFIG_GLOBAL", &config);
    assert!(shell.status().unwrap().success());
    let accepted = gate();
    assert!(accepted.code != 2, "{}", accepted.stderr);
}
