//! Revisions, gates, bisection and history from the command line, on a repository that the test
//! makes: a program that sleeps, with one commit that makes it sleep longer and one that does not
//! build.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::World;
use crate::common::commits::{BROKEN, COMMITS, STEP, files, git, repository, token};
use serde_json::Value;

/// Runs assay in the repository; returns its exit code, its standard output as JSON, and its
/// standard error.
fn run(world: &World, repo: &Path, arguments: &[&str]) -> (i32, Value, String) {
    let mut all = vec!["--json"];
    all.extend(arguments);
    let output = world.assay(&all).current_dir(repo).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    let value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().unwrap_or(-1), value, shown)
}

const BUILD: [&str; 4] = ["--build", "sh build.sh", "--monitors", "none"];
const PROGRAM: [&str; 2] = ["--", "./prog"];

/// Returns the arguments for the program. All verbs but `run` skip the profiles of both sides,
/// which have a test of their own below.
fn typed<'a>(start: &[&'a str]) -> Vec<&'a str> {
    let profile: &[&str] = if start[0] == "run" { &[] } else { &["--profile", "never"] };
    [start, profile, &BUILD, &PROGRAM].concat()
}

#[test]
fn revisions_are_levels_and_the_repository_stays_as_it_was() {
    let world = World::new();
    let repo = repository(&world);
    fs::write(repo.join("prog.in"), "#!/bin/sh\nsleep 0.16\n").unwrap();
    let before = files(&repo);
    let broken = git(&repo, &["rev-parse", &format!("main~{}", COMMITS - BROKEN)]);
    let revs = format!("v1,main,worktree,{broken}");
    let (code, json, shown) = run(&world, &repo, &typed(&["run", "--rev", &revs, "--blocks", "6"]));
    // One revision does not build: its failure is reported, the others continue.
    assert_eq!(code, 3, "{shown}");
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("does not build") && words.contains("cannot find -lnothing"), "{shown}");
    assert!(files(&repo) == before, "the repository has changed");
    let labels: Vec<&str> = json["analysis"]["summaries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["metric"] == "elapsed")
        .map(|s| s["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["v1", "main", "worktree"]);
    let ratios: Vec<f64> = json["analysis"]["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|c| c["ratio"].as_f64())
        .collect();
    assert!(ratios[0] > 1.5 && ratios[1] > ratios[0], "{ratios:?}");
    // The record has the hashes of the builds and the reason why one failed.
    let facts = &json["system"]["facts"];
    let text = facts.to_string();
    assert!(facts["source.v1.sha256"].to_string().len() > 64, "{text}");
    assert_eq!(facts["source.worktree.dirty"]["value"], "true", "{text}");
    assert!(text.contains("cannot find -lnothing"), "{text}");
    // A token that the build printed is not recorded.
    assert!(!text.contains(&token()), "{text}");
}

#[test]
fn an_experiment_names_its_source_and_is_planned_without_a_build() {
    let world = World::new();
    let repo = repository(&world);
    let file = world.write(
        "rev.toml",
        r#"
name = "rev"
workload = "command"
[source]
build = "sh build.sh"
[params]
command = "./prog"
[factors]
rev = [{ label = "old", value = "v1" }, "main~1..main"]
[design]
blocks = 4
[observe]
monitors = []
[compare]
baseline = { rev = "v1" }
"#,
    );
    let file = file.to_str().unwrap();
    let (code, plan, shown) = run(&world, &repo, &["plan", file]);
    assert_eq!(code, 0, "{shown}");
    assert!(!world.path("cache/revisions").exists(), "{plan}");
    let (code, json, shown) = run(&world, &repo, &["run", file]);
    assert_eq!(code, 0, "{shown}");
    let commit = git(&repo, &["rev-parse", "v1"]);
    let first = &json["plan"]["treatments"][0];
    assert_eq!(first["levels"]["rev"], commit.as_str(), "{first}");
    assert_eq!(first["names"]["rev"], "old", "{first}");
    assert!(json["analysis"]["comparisons"][0]["ratio"].as_f64().unwrap() > 1.4, "{json}");
}

#[test]
fn mistakes_are_reported_before_anything_is_built() {
    let world = World::new();
    let repo = repository(&world);
    let complaint = |arguments: &[&str], code: i32| {
        let (found, _, shown) = run(&world, &repo, arguments);
        assert_eq!(found, code, "{arguments:?}: {shown}");
        shown
    };
    assert!(complaint(&typed(&["run", "--rev", "nope"]), 2).contains("no revision `nope`"));
    assert!(complaint(&typed(&["run", "--rev", "main..v1"]), 2).contains("no commits"));
    let outside = typed(&["run", "--rev", "v1,main", "--repo", "/"]);
    assert!(complaint(&outside, 2).contains("not in a git repository"));
    assert!(complaint(&typed(&["gate", "--base", "main"]), 2).contains("same commit"));
    assert!(complaint(&typed(&["history"]), 2).contains("--rev v1..main"));
    let noop = ["run", "noop", "--rev", "v1,main"];
    assert!(complaint(&noop, 2).contains("cannot run in the folder"));
    assert!(!world.path("cache/revisions").exists());
}

#[test]
fn a_gate_is_red_for_what_is_slower_and_green_for_what_is_not() {
    let world = World::new();
    let repo = repository(&world);
    let page = world.path("gate.md");
    let page = page.to_str().unwrap();
    let slower = typed(&["gate", "--base", "v1", "--head", "main", "--markdown", page]);
    let (code, json, shown) = run(&world, &repo, &slower);
    assert_eq!((code, json["verdict"].as_str()), (5, Some("worse")), "{shown}");
    let text = fs::read_to_string(page).unwrap();
    assert!(text.starts_with("<!-- assay gate: prog -->"), "{text}");
    let [old, new] = ["v1", "main"].map(|name| git(&repo, &["rev-parse", name]));
    let sentence = format!("main ({}) is worse than v1 ({}) by", &new[..10], &old[..10]);
    assert!(text.contains(&sentence), "{text}");
    // A work tree is named by its commit, and not by the hash of its files.
    fs::write(repo.join("n"), "changed").unwrap();
    let asked =
        ["gate", "--base", "v1", "--head", "worktree", "--budget", "1 s", "--markdown", page];
    let (_, json, shown) = run(&world, &repo, &typed(&asked));
    let text = fs::read_to_string(page).unwrap() + &shown;
    assert!(text.contains(&format!("worktree on {}", &new[..10])), "{text}");
    assert!(!text.contains("worktree:") && json["head_commit"] == new.as_str(), "{json} {text}");
    git(&repo, &["checkout", "--quiet", "n"]);
    // In the other direction the revision is better, which raises no alarm.
    let (code, json, shown) =
        run(&world, &repo, &typed(&["gate", "--base", "main", "--exact", "--head", "v1"]));
    assert_eq!((code, json["verdict"].as_str()), (0, Some("better")), "{json:#}{shown}");
    let (code, _, shown) = run(&world, &repo, &typed(&["gate", "--base", "main", "--head", "v1"]));
    assert!(code == 2 && shown.contains("main contains v1"), "{code} {shown}");
    // An experiment has a margin of its own.
    let file = "name = \"wide\"\nworkload = \"command\"\n[source]\nbuild = \"sh build.sh\"\n\
                [params]\ncommand = \"./prog\"\n[compare]\nmargin = \"90 %\"\n";
    fs::write(repo.join("wide.toml"), file).unwrap();
    let wide = ["gate", "--base", "v1", "--head", "main", "--budget", "1 s", "wide.toml"];
    let (_, json, shown) = run(&world, &repo, &wide);
    assert_eq!(json["comparison"]["margin"].as_f64(), Some(0.9), "{shown}");
    // Different text, same program: the gate never fails.
    let same = typed(&["gate", "--base", "main~1", "--head", "main", "--margin", "30 %"]);
    let (code, json, shown) = run(&world, &repo, &same);
    assert_eq!(code, 0, "{json} {shown}");
    assert!(["equivalent", "inconclusive"].contains(&json["verdict"].as_str().unwrap()), "{json}");
    assert_eq!(json["needed"].is_string(), json["verdict"] == "inconclusive");
}

/// Each build chooses at random how long its program sleeps; the commits differ only in a README.
#[test]
fn builds_are_the_unit_where_each_revision_has_several() {
    let world = World::new();
    let repo = empty(&world);
    let one = commit(&repo, "unused", "one");
    fs::write(repo.join("README"), "more words").unwrap();
    let two = commit(&repo, "unused", "two");
    let build = "printf 'sleep 0.0%s' $((ASSAY_BUILD * 2 + 1)) > drawn";
    let rev = format!("{one},{two}");
    let typed = ["run", "--rev", &rev, "--build", build, "--builds", "4", "--repo"];
    let typed = [&typed[..], &[repo.to_str().unwrap(), "--json", "--blocks", "8"]].concat();
    let done = world.run(&[&typed[..], &["--", "sh", "drawn"]].concat());
    let found: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(found["analysis"]["comparisons"][0]["n"], 4, "{}", done.stderr);
    let run = fs::read_dir(world.path("archive/runs")).unwrap().next().unwrap().unwrap().path();
    let records = fs::read_to_string(run.join("records.jsonl")).unwrap();
    let mut folders = std::collections::BTreeSet::new();
    for line in records.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let (block, build) = (record["block"].as_u64().unwrap(), record["build"].as_u64().unwrap());
        assert_eq!(build, block % 4 + 1, "{record}");
        folders.insert(record["params"]["folder"].as_str().unwrap().to_owned());
        let least = 0.01 * (build * 2 + 1) as f64;
        let slept = record["metrics"][0]["value"].as_f64().unwrap();
        assert!(slept >= least, "build {build} sleeps {least} s, not {slept}");
    }
    assert_eq!(folders.len(), 8);
    for (change, says) in [
        (&["--build", build, "--builds", "0"][..], "1 to 100 times"),
        (&["--build", build, "--builds", "9", "--blocks", "8"], "as many blocks"),
        (&["--build", "", "--builds", "4"], "nothing to build"),
        (&["--build", build, "--builds", "4", "--until-clear"], "cannot be used with"),
    ] {
        let start = [&["run", "--rev", &rev, "--repo", repo.to_str().unwrap()][..], change];
        let done = world.run(&[&start.concat()[..], &["--", "true"]].concat());
        assert_eq!(done.code, 2, "{change:?}: {}", done.stderr);
        assert!(done.stderr.contains(says), "{change:?}: {}", done.stderr);
    }
    let bisect = ["bisect", "--good", &one, "--builds", "3", "--build", build, "--", "true"];
    let said = world.run(&bisect).stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("gate --builds"), "{said}");
}

/// A program that keeps its result in its folder, compared with one that does not.
#[test]
fn what_the_first_trial_leaves_is_named() {
    let world = World::new();
    let keeps = "sh -c '[ -e result.cache ] || { sleep 0.4; : > result.cache; }'";
    let done = world.run(&[
        "run",
        "--blocks",
        "8",
        "--vs",
        keeps,
        "--export",
        "json=r.json",
        "--",
        "true",
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = fs::read_to_string(world.path("r.json")).unwrap();
    assert!(text.contains("it wrote `result.cache`, which the others find"), "{text}");
    fs::remove_file(world.path("result.cache")).unwrap();
    let warmed = ["run", "--warmup", "1", "--blocks", "8", "--vs", keeps, "-v", "--", "true"];
    let done = world.run(&warmed);
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("it wrote `result.cache`, which the others find"), "{text}");
}

/// Makes an empty repository.
fn empty(world: &World) -> PathBuf {
    let repo = world.path("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "--quiet"]);
    repo
}

/// Commits a program with its build script and all other changes; returns the commit.
fn commit(repo: &Path, program: &str, message: &str) -> String {
    fs::write(repo.join("prog.in"), program).unwrap();
    fs::write(repo.join("build.sh"), "cp prog.in prog && chmod +x prog\n").unwrap();
    git(repo, &["add", "."]);
    git(repo, &["commit", "--quiet", "-m", message]);
    git(repo, &["rev-parse", "HEAD"])
}

/// The base became faster after the branch was created, and the branch changes only a text.
#[test]
fn a_gate_does_not_judge_a_branch_by_what_its_base_has_become() {
    let world = World::new();
    let repo = empty(&world);
    let commit = |program: &str, readme: &str| {
        fs::write(repo.join("README"), readme).unwrap();
        commit(&repo, program, readme)
    };
    let slow = "#!/bin/sh\nsleep 0.15\n";
    let old = commit(slow, "one");
    git(&repo, &["checkout", "--quiet", "-b", "pr"]);
    commit(slow, "two");
    git(&repo, &["checkout", "--quiet", "main"]);
    let quick = commit("#!/bin/sh\nsleep 0.05\n", "one");
    let page = world.path("gate.md");
    let asked = ["gate", "--margin", "30 %", "--budget", "4 s", "--head", "pr"];
    let asked = [&asked[..], &["--markdown", page.to_str().unwrap()]].concat();
    // The default branch, by name and without a name.
    for base in [&["--base", "main"][..], &[]] {
        let (code, json, shown) = run(&world, &repo, &typed(&[&asked[..], base].concat()));
        assert_eq!((code, json["base_commit"].as_str()), (0, Some(old.as_str())), "{json}{shown}");
        assert_eq!(json["base"], "main", "{json}");
        assert!(shown.contains("main has a commit that pr lacks"), "{shown}");
        let text = fs::read_to_string(&page).unwrap();
        let merge_base = format!("merge base {} of main and pr", &old[..10]);
        assert!(text.contains(&merge_base), "{text}");
        assert!(text.contains(&format!("\n| merge base ({}) |", &old[..10])), "{text}");
    }
    git(&repo, &["checkout", "--quiet", "--detach", "main"]);
    git(&repo, &["merge", "--quiet", "--no-ff", "-m", "test", "pr"]);
    let asked = ["gate", "--margin", "30 %", "--budget", "4 s", "--base", old.as_str()];
    let (code, json, shown) = run(&world, &repo, &typed(&asked));
    assert_eq!((code, json["base_commit"].as_str()), (0, Some(quick.as_str())), "{json}{shown}");
    assert_ne!(json["verdict"], "better", "{json}");
    assert_eq!(json["head_commit"], git(&repo, &["rev-parse", "HEAD"]).as_str(), "{json}");
}

/// A program that computes, and sleeps in every other trial: the base in its first, the head in its
/// second.
#[test]
fn a_gate_judges_by_the_metric_that_is_asked_for() {
    let world = World::new();
    let repo = empty(&world);
    let program = "#!/bin/sh\nn=0; [ ! -e n ] || read n < n; echo $((n + 1)) > n\n\
                   i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); done\n\
                   [ $(((n + START) % 2)) = 1 ] || sleep 0.2\n";
    for (start, tag) in [("0", "base"), ("1", "head")] {
        commit(&repo, &program.replace("START", start), tag);
        git(&repo, &["tag", tag]);
    }
    let asked = ["gate", "--base", "base", "--head", "head", "--budget", "8 s"];
    let (code, json, shown) = run(&world, &repo, &typed(&asked));
    assert_eq!((code, json["verdict"].as_str()), (0, Some("inconclusive")), "{json:#}{shown}");
    assert!(json["needed"].is_string() && json["comparison"]["metric"] == "elapsed", "{json:#}");
    let asked = [&asked[..], &["--metric", "user", "--margin", "50 %"]].concat();
    let (_, json, shown) = run(&world, &repo, &typed(&asked));
    assert_eq!(json["comparison"]["metric"], "user", "{json:#}{shown}");
    let unknown = ["gate", "--base", "base", "--head", "head", "--metric", "speed"];
    let (code, _, shown) = run(&world, &repo, &typed(&unknown));
    assert!(code == 2 && shown.contains("speed"), "{code} {shown}");
}

#[test]
fn bisection_finds_the_commit_leaves_out_what_does_not_build_and_goes_on() {
    let world = World::new();
    let repo = repository(&world);
    let wanted = git(&repo, &["rev-parse", &format!("main~{}", COMMITS - STEP)]);
    let page = world.path("bisect.md");
    let asked = typed(&[
        "bisect",
        "--good",
        "v1",
        "--bad",
        "main",
        "--margin",
        "30 %",
        "-o",
        page.to_str().unwrap(),
    ]);
    // The search is stopped at once, then continued.
    let short: Vec<&str> = [&["--budget", "0 s"], PROGRAM.as_slice()].concat();
    let cut: Vec<&str> =
        asked.iter().copied().filter(|a| !PROGRAM.contains(a)).chain(short).collect();
    let (code, json, shown) = run(&world, &repo, &cut);
    assert_eq!((code, json["answer"].as_str()), (6, Some("open")), "{shown}");
    let (code, json, shown) = run(&world, &repo, &asked);
    assert_eq!((code, json["answer"].as_str()), (0, Some("commit")), "{shown}");
    let found = &json["steps"][0];
    assert_eq!(found["commits"][0]["commit"], wanted.as_str(), "{json}");
    assert_eq!(found["commits"][0]["subject"], format!("change {STEP}"));
    assert!(found["size"]["ratio"].as_f64().unwrap() > 1.3, "{json}");
    assert!(fs::read_to_string(&page).unwrap().contains(&format!("change {STEP}")));
    // The archive contains the search: the same command has nothing to measure.
    let (_, again, shown) = run(&world, &repo, &asked);
    assert_eq!(again["runs"], json["runs"]);
    assert!(shown.contains("continuing after"), "{shown}");
    // With --all, the search uses the same trials, and finds no other step.
    let all: Vec<&str> = asked
        .iter()
        .copied()
        .take(9)
        .chain(["--all"])
        .chain(asked.iter().copied().skip(9))
        .collect();
    let (code, all, shown) = run(&world, &repo, &all);
    assert_eq!((code, all["answer"].as_str()), (0, Some("commit")), "{all} {shown}");
    assert_eq!(all["steps"][0]["commits"][0]["commit"], wanted.as_str(), "{all}");
    assert!(shown.contains("continuing after"), "{shown}");
    // There is no step before that commit.
    let none = typed(&["bisect", "--good", "v1", "--bad", "main~6", "--margin", "50 %"]);
    let (code, json, shown) = run(&world, &repo, &none);
    assert_eq!((code, json["answer"].as_str()), (0, Some("none")), "{json} {shown}");
}

#[test]
fn a_search_that_was_killed_goes_on() {
    let world = World::new();
    let repo = repository(&world);
    let asked = typed(&["bisect", "--good", "v1", "--bad", "main", "--margin", "30 %"]);
    for _ in 0..3 {
        let before = world.runs().len();
        let mut command = world.assay(&asked);
        command.current_dir(&repo).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Kill in the middle of a look, as soon as another one has begun.
        while world.runs().len() == before && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (code, json, shown) = run(&world, &repo, &asked);
    assert_eq!((code, json["answer"].as_str()), (0, Some("commit")), "{json} {shown}");
    assert_eq!(json["steps"][0]["commits"][0]["subject"], format!("change {STEP}"));
    assert!(json["runs"].as_array().unwrap().len() >= 3, "{json}");
}

#[test]
fn a_history_suspects_confirms_alarms_and_is_acknowledged() {
    let world = World::new();
    let repo = repository(&world);
    let asked = |more: &[&'static str]| typed(&[&["history", "--rev", "v1..main"], more].concat());
    let (code, json, _) = run(&world, &repo, &asked(&[]));
    assert_eq!((code, &json["series"]), (6, &serde_json::json!([])));
    let (code, json, shown) = run(&world, &repo, &asked(&["--fill", "--blocks", "4"]));
    assert_eq!(code, 0, "{shown}");
    let points = json["series"][0]["points"].as_array().unwrap();
    // All commits but the one that does not build, oldest first; the reference has ratio 1.
    assert_eq!(points.len(), COMMITS, "{json}");
    assert_eq!(points[0]["ratio"], 1.0);
    assert_eq!(json["unusable"].as_array().unwrap().len(), 1);
    assert!(points.last().unwrap()["ratio"].as_f64().unwrap() > 1.4, "{json}");
    let changes = json["series"][0]["changes"].as_array().unwrap();
    let [change] = changes.as_slice() else { panic!("{json}") };
    assert_eq!(change["change"]["state"], "suspected");
    let wanted = git(&repo, &["rev-parse", &format!("main~{}", COMMITS - STEP)]);
    assert!(change["commits"].to_string().contains(&wanted), "{change}");
    // A fresh experiment confirms the change, and only then it raises an alarm.
    let (code, json, shown) = run(&world, &repo, &asked(&["--confirm", "-o", "history.html"]));
    let page = fs::read_to_string(repo.join("history.html")).unwrap();
    let state = "confirmed</span><span>worse by";
    assert!(page.contains("<svg") && page.contains(state), "{page}");
    let change = &json["series"][0]["changes"][0];
    assert_eq!(change["change"]["state"], "confirmed", "{change} {shown}");
    assert_eq!(code, 5);
    assert!(change["known"]["fresh"]["ratio"].as_f64().unwrap() > 1.3, "{change}");
    let note = ["--acknowledge", "main~4", "--note", "sleeps longer on purpose"];
    let (code, json, shown) = run(&world, &repo, &asked(&note));
    let change = &json["series"][0]["changes"][0];
    assert_eq!((code, change["change"]["state"].as_str()), (0, Some("acknowledged")), "{shown}");
    assert_eq!(change["known"]["note"], "sleeps longer on purpose");
    // After a reset, the series has one level.
    let (_, json, _) = run(&world, &repo, &asked(&["--reset", "main~4"]));
    assert_eq!(json["series"][0]["changes"].as_array().unwrap().len(), 0, "{json}");
}

#[test]
fn a_new_reference_is_linked_to_the_one_before() {
    let world = World::new();
    let repo = repository(&world);
    let asked = |more: &[&'static str]| {
        typed(&[&["history", "--rev", "v1..main:3", "--blocks", "4"], more].concat())
    };
    let (_, json, _) = run(&world, &repo, &asked(&["--fill"]));
    let before = json["series"][0]["points"].as_array().unwrap().len();
    // Another name, or a parameter at its default, makes no new history; another value does, and a
    // note reports it.
    let same = ["--name", "other", "--set", "ignore_failure=false"];
    let (_, json, _) = run(&world, &repo, &asked(&same));
    assert_eq!(json["series"][0]["points"].as_array().unwrap().len(), before, "{json}");
    let (code, json, _) = run(&world, &repo, &asked(&["--set", "ignore_failure=true"]));
    let notes = json["notes"].to_string();
    assert!(code == 6 && notes.contains("another history of this archive, `other`"), "{json}");
    // A commit that is not in the series and was never measured along with the first reference.
    let (_, json, _) = run(&world, &repo, &asked(&["--reference", "main~1"]));
    assert!(json["notes"].to_string().contains("no experiment links"), "{json}");
    let (_, json, shown) = run(&world, &repo, &asked(&["--reference", "main~1", "--fill"]));
    assert_eq!(json["notes"], serde_json::json!([]), "{json} {shown}");
    let points = json["series"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), before);
    // The first point was measured with the old reference, so its error contains that of the link.
    assert!(points[0]["ratio"].as_f64().unwrap() < 0.8, "{json}");
    assert!(points[1]["log_error"].as_f64().unwrap() > 0.0, "{json}");
}

#[test]
fn series_of_others_are_quoted_and_never_confirmed() {
    let world = World::new();
    let mut table = "time,revision,ms\n".to_owned();
    for i in 0..60 {
        let level = if i < 30 { 10.0 } else { 14.0 };
        let value = level + f64::from(i * 7 % 5) * 0.1;
        writeln!(table, "2026-01-01,r{i},{value}").unwrap();
    }
    let file = world.write("nightly.csv", &table);
    let here = world.path("");
    let file = file.to_str().unwrap();
    // The format may come first, as in earlier versions, follow `--as`, or be detected from the
    // content.
    for named in [&["csv", file][..], &[file], &["--as", "csv", file]] {
        let (code, _, shown) = run(&world, &here, &[&["history", "import"], named].concat());
        assert_eq!(code, 0, "{named:?}: {shown}");
    }
    let taken = world.run(&["archive", "import", file]);
    let printed = taken.stderr.replace("\n  ", " ");
    assert!(taken.code == 2 && printed.contains("use `assay history import`"), "{printed}");
    let (code, json, shown) = run(&world, &here, &["history", "--imported", "nightly"]);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(json["kind"], "quoted");
    assert_eq!(json["series"][0]["changes"][0]["revision"], "r30", "{json}");
    // Changes that all series have at the end are reported first; series without a change report
    // the effort to detect one.
    let mut table = "time,revision,a,b,c,d,e\n".to_owned();
    for i in 0..40 {
        let level = if i < 38 { 10.0 } else { 12.0 };
        let value = |s: i32| level + f64::from(i * 7 % (5 + s)) * 0.01;
        let cells: Vec<String> = (0..5).map(|s| value(s).to_string()).collect();
        writeln!(table, "2026-01-01,r{i},{}", cells.join(",")).unwrap();
    }
    let file = world.write("all.csv", &table);
    assert_eq!(world.run(&["history", "import", file.to_str().unwrap()]).code, 0);
    let shown = world.run(&["history", "--imported", "all"]).stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected =
        "5 of 5 series rise together at r38 2026-01-01, the last 2 points, by about 20 %";
    assert!(words.contains(expected), "{shown}");
    assert!(words.contains("40 points of this noise would show a step of"), "{shown}");
    assert!(shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
    let (code, _, shown) = run(&world, &here, &["history", "--imported", "other"]);
    assert_eq!(code, 2);
    assert!(shown.contains("assay history import"), "{shown}");
    let (code, _, shown) = run(&world, &here, &["history", "import", "csv", "no-such-file"]);
    assert!(code != 0 && shown.contains("no-such-file"), "{shown}");
}

/// Makes a repository of a C program, built with frame pointers, in which one commit makes one
/// function slower.
fn slower_function(world: &World) -> PathBuf {
    let repo = world.path("slower");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "--quiet"]);
    for n in 0..10 {
        let times = if n < 5 { 100 } else { 300 };
        let source = format!(
            "#define KEPT __attribute__((noinline, noclone))\n\
             KEPT unsigned steady(unsigned x) {{ for (long i = 0; i < 20000000; i++) x = x * 33 + \
             7; return x; }}\n\
             KEPT unsigned slower(unsigned x) {{ for (long i = 0; i < {times} * 200000L; i++) x = \
             x * 31 + 5; return x; }}\n\
             int main(void) {{ volatile unsigned x = 1; x = steady(x); x = slower(x); return 0; \
             }}\n"
        );
        fs::write(repo.join("p.c"), source).unwrap();
        fs::write(repo.join("n"), format!("{n}\n")).unwrap();
        git(&repo, &["add", "."]);
        git(&repo, &["commit", "--quiet", "-m", &format!("change {n}")]);
        if n == 0 {
            git(&repo, &["tag", "v1"]);
        }
    }
    repo
}

/// Checks that the answer names the function. By design, up to 5 in 100 comparisons call another
/// function's difference clear, so the test only requires that the unchanged function's difference
/// is small in comparison.
fn names_slower(functions: &Value) {
    let changes = functions["differences"]["changes"].as_array().unwrap();
    assert_eq!(changes[0]["function"], "slower", "{functions:#}");
    assert_eq!(changes[0]["clear"], true, "{functions:#}");
    let steady = changes.iter().find(|c| c["function"] == "steady").unwrap();
    let difference = |c: &Value| c["difference_ns"].as_f64().unwrap();
    assert!(difference(steady).abs() < 0.1 * difference(&changes[0]), "{functions:#}");
}

#[test]
fn a_function_that_became_slower_ends_gate_bisect_and_history() {
    let world = World::new();
    if !Command::new("cc").arg("--version").output().is_ok_and(|o| o.status.success()) {
        println!("skipped: because there is no C compiler");
        return;
    }
    let able = world.run(&["profile", "--seconds", "1", "--", "true"]);
    if able.stderr.contains("cannot be profiled here") {
        println!("skipped: because {}", able.stderr);
        return;
    }
    let repo = slower_function(&world);
    let program = [
        "--build",
        "cc -O1 -fno-omit-frame-pointer -o p p.c",
        "--monitors",
        "none",
        "--metric",
        "user",
        "--",
        "./p",
    ];
    let typed = |start: &[&'static str]| [start, &program].concat();
    let (code, json, said) = run(
        &world,
        &repo,
        &typed(&["gate", "--base", "v1", "--head", "HEAD", "--markdown", "gate.md"]),
    );
    assert_eq!(code, 5, "{json} {said}");
    names_slower(&json["functions"]);
    let text = fs::read_to_string(repo.join("gate.md")).unwrap();
    assert!(text.contains("`slower` (+"), "{text}");

    let bisect = ["bisect", "--good", "v1", "--bad", "HEAD", "--margin", "10 %", "-o", "which.md"];
    let functions = |json: &Value| json["steps"][0]["functions"].clone();
    let (code, json, said) = run(&world, &repo, &typed(&bisect));
    assert_eq!((code, json["answer"].as_str()), (0, Some("commit")), "{json} {said}");
    assert_eq!(json["steps"][0]["commits"][0]["subject"], "change 5");
    names_slower(&functions(&json));
    let text = fs::read_to_string(repo.join("which.md")).unwrap();
    assert!(text.contains("`slower` (+") && text.contains("Own time on CPU a trial"), "{text}");
    // The same command finds the profiled trials in the archive, and the search does not count
    // them.
    let (_, again, said) = run(&world, &repo, &typed(&bisect));
    assert_eq!(functions(&again)["run"], functions(&json)["run"], "{said}");
    assert_eq!(again["trials"], json["trials"]);
    let (_, never, _) =
        run(&world, &repo, &typed(&[&bisect[..], &["--profile", "never"]].concat()));
    assert_eq!(functions(&never), Value::Null);

    let history =
        |more: &[&'static str]| typed(&[&["history", "--rev", "v1..HEAD"], more].concat());
    let (_, filled, said) = run(&world, &repo, &history(&["--fill", "--blocks", "3"]));
    let points = |json: &Value| json["series"][0]["points"].clone();
    assert_eq!(points(&filled).as_array().unwrap().len(), 10, "{filled} {said}");
    let (code, json, said) = run(&world, &repo, &history(&["--confirm", "-o", "h.html"]));
    assert_eq!(code, 5, "{json} {said}");
    let known = &json["series"][0]["changes"][0]["known"];
    names_slower(&known["functions"]);
    assert_eq!(points(&filled), points(&json), "profiled trials are no points");
    let page = fs::read_to_string(repo.join("h.html")).unwrap();
    assert!(page.contains("`slower` (+"), "{page}");
    let (_, _, _) = run(&world, &repo, &history(&["-o", "h.md"]));
    let text = fs::read_to_string(repo.join("h.md")).unwrap();
    assert!(text.contains("`slower` (+") && text.contains("| slower |"), "{text}");
    let shown =
        world.assay(&typed(&["history", "--rev", "v1..HEAD"])).current_dir(&repo).output().unwrap();
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("slower") && text.lines().all(|l| l.chars().count() <= 80), "{text}");
}
