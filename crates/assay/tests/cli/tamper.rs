//! `archive verify` detects every change in a run's folder after the run and names the file, and
//! such a run cannot be published.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::common::{World, wait_for};

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Returns the lines of `archive verify` that are more than a note.
fn noticed(world: &World) -> String {
    let verified = world.run(&["archive", "verify"]);
    assert!([0, 4].contains(&verified.code), "{}{}", verified.stdout, verified.stderr);
    let noticed: Vec<&str> = verified
        .stdout
        .lines()
        .filter(|l| !l.starts_with("note: ") && *l != "no problem found")
        .collect();
    noticed.join("\n")
}

/// Changes, truncates and removes each file of the only run of `world`, and adds one in each
/// folder.
fn assert_every_change_is_named(world: &World) {
    let run = world.newest();
    // Problems before the changes: a killed run has its lock and maybe leftovers.
    let before = noticed(world);
    let named = |path: &Path, what: &str| {
        let found = noticed(world);
        let path = path.display().to_string();
        let new = found.lines().any(|l| l.contains(&path) && !before.contains(l));
        assert!(new, "{path}: {what}: {found}");
    };
    for path in files(&run).iter().filter(|p| !p.ends_with("lock")) {
        let content = fs::read(path).unwrap();
        if content.is_empty() {
            continue; // empty: the records of a run killed in its first trial
        }
        for at in [0, content.len() / 2, content.len() - 1] {
            let mut changed = content.clone();
            changed[at] ^= 1;
            fs::write(path, changed).unwrap();
            named(path, &format!("byte {at}"));
        }
        let lines: Vec<&[u8]> = content.split_inclusive(|b| *b == b'\n').collect();
        fs::write(path, lines[..lines.len() - 1].concat()).unwrap();
        named(path, "without its last line");
        fs::remove_file(path).unwrap();
        named(path, "removed");
        fs::write(path, &content).unwrap();
        let added = path.with_file_name("added.txt");
        fs::write(&added, "x").unwrap();
        named(&added, "added");
        fs::remove_file(&added).unwrap();
    }
    assert_eq!(noticed(world), before);
}

const OBSERVED: [&str; 10] = [
    "run",
    "--quiet",
    "--monitors",
    "cpu",
    "--interval",
    "100 ms",
    "--blocks",
    "2",
    "--shell",
    "--",
];

#[test]
fn every_change_of_a_run_is_named_also_after_an_import() {
    let world = World::new();
    let ran = world.run(&[&OBSERVED[..], &["echo out; echo err >&2; sleep 0.3"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let run = world.newest();
    let kinds = ["stdout.log", "stderr.log", "samples.parquet"];
    let there = files(&run);
    for kind in kinds {
        assert!(there.iter().any(|p| p.ends_with(kind)), "{kind}: {there:?}");
    }
    assert_every_change_is_named(&world);

    let bundle = world.path("run.tar.zst").display().to_string();
    assert_eq!(world.run(&["archive", "export", "last", "-o", &bundle]).code, 0);
    let other = World::new();
    let imported = other.run(&["archive", "import", &bundle]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    assert_every_change_is_named(&other);
}

#[test]
fn every_change_of_a_killed_and_of_a_resumed_run_is_named() {
    let world = World::new();
    let mark = world.path("did.txt");
    let script = format!(
        "echo did | tee -a {}; if [ $(wc -l < {0}) = 3 ]; then sleep 600; fi",
        mark.display()
    );
    let mut child = world
        .assay(&["run", "--quiet", "--blocks", "4", "--shell", "--", &script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the third trial never started", || {
        fs::read_to_string(&mark).map_or(0, |t| t.lines().count()) >= 3
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = world.run(&["archive", "list"]);
    assert!(listed.stdout.contains("interrupted"), "{}", listed.stdout);
    assert_every_change_is_named(&world);

    let resumed = world.run(&["run", "--quiet", "--resume", "last"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    assert_every_change_is_named(&world);
}

#[test]
fn a_changed_run_is_not_published_and_an_honest_one_carries_its_head() {
    let world = World::new();
    assert_eq!(world.run(&["run", "--quiet", "--blocks", "3", "--", "true"]).code, 0);
    let run = world.newest();
    let out = world.path("page").display().to_string();
    let published = world.run(&["publish", "last", "--no-redact", "-o", &out]);
    assert_eq!(published.code, 0, "{}", published.stderr);
    let id = run.file_name().unwrap().to_str().unwrap();
    let head = fs::read_to_string(
        run.parent().unwrap().with_file_name("heads").join(format!("{id}.json")),
    )
    .unwrap();
    let head: serde_json::Value = serde_json::from_str(&head).unwrap();
    let sha256 = head["sha256"].as_str().unwrap();
    for page in ["index.html", "index.md", "result.json"] {
        assert!(
            fs::read_to_string(world.path("page").join(page)).unwrap().contains(sha256),
            "{page}"
        );
    }
    // A redacted copy has its own ledger, and all of its pages show that ledger's head.
    let copy = world.path("copy");
    let published = world.run(&["publish", "last", "-o", &copy.display().to_string()]);
    assert_eq!(published.code, 0, "{}", published.stderr);
    let read = |page: &str| fs::read_to_string(copy.join(page)).unwrap();
    let result: serde_json::Value = serde_json::from_str(&read("result.json")).unwrap();
    let own = result["ledger_head"]["sha256"].as_str().unwrap();
    assert!(read("index.html").contains(own) && read("index.md").contains(own));
    let identity = run.join("run.json");
    let changed = fs::read_to_string(&identity)
        .unwrap()
        .replace("\"started_at\": \"2", "\"started_at\": \"1");
    fs::write(&identity, changed).unwrap();
    let again = world.path("again");
    let refused = world.run(&["publish", "last", "-o", &again.display().to_string()]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("run.json") && !again.exists(), "{}", refused.stderr);
    // The run is also refused for the page of a comparison, and in a post.
    assert_eq!(world.run(&["run", "--quiet", "--blocks", "2", "--", "true"]).code, 0);
    let page = world.path("page.html");
    let beside = world.run(&["compare", id, "last", "-o", &page.display().to_string()]);
    assert_eq!(beside.code, 4, "{}", beside.stderr);
    assert!(beside.stderr.contains("run.json") && !page.exists(), "{}", beside.stderr);
    let post = format!(
        "+++\ntitle = \"One run\"\n[runs.own]\nrun = \"{id}\"\nexperiment = \"x.toml\"\n+++\n\n\
         It took {{{{ value(\"own:elapsed\") }}}}.\n"
    );
    world.write("post.md", &post);
    let refused = world.run(&["publish", "post.md", "-o", "post"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("run.json"), "{}", refused.stderr);
    assert!(!world.path("post").exists());
}
