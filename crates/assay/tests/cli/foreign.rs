//! Results of other programs, from the command line: imported, shown, compared and published.

use std::path::PathBuf;

use crate::common::{World, json, repository};
use serde_json::Value;

fn data(name: &str) -> String {
    repository()
        .join("crates/workloads/tests/workloads/readers/data")
        .join(name)
        .display()
        .to_string()
}

/// Imports a fixture and returns the run's id.
fn import(world: &World, name: &str, more: &[&str]) -> String {
    let file = data(name);
    let done = world.run(&[&["archive", "import", &file], more].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    done.stdout.lines().next().unwrap().to_owned()
}

fn analysis(world: &World, run: &str) -> Value {
    json(&world.run(&["compare", run, "--json"]).stdout)["analysis"].clone()
}

#[test]
fn an_import_says_what_it_recognised_and_shows_like_any_run() {
    let world = World::new();
    let file = data("hyperfine.json");
    let done = world.run(&["archive", "import", &file, "--name", "pack", "--tag", "host=lab1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let printed = done.stderr.replace("\n  ", " ");
    assert!(printed.contains("hyperfine, read as hyperfine: 2 treatments, 12 trials"), "{printed}");
    let listed = json(&world.run(&["archive", "list", "--tag", "host=lab1", "--json"]).stdout);
    assert_eq!(listed[0]["experiment"], "pack");
    assert_eq!(listed[0]["completed"], 12);
    let shown = world.run(&["archive", "show", "last"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.contains("imported from hyperfine"), "{}", shown.stdout);
    assert!(shown.stdout.contains("mean user (pack -1 corpus)"), "{}", shown.stdout);
    assert_eq!(world.run(&["archive", "verify"]).code, 0);
    let again = world.run(&["archive", "import", &file]);
    assert_eq!((again.code, again.stdout.as_str()), (0, done.stdout.as_str()));
    assert!(again.stderr.contains("already in the archive"), "{}", again.stderr);
    assert_eq!(world.runs().len(), 1);
    assert_eq!(world.run(&["archive", "import", &file, "--again"]).code, 0);
    assert_eq!(world.runs().len(), 2);
}

#[test]
fn trials_of_unknown_order_are_compared_unpaired_with_a_finding() {
    let world = World::new();
    let run = import(&world, "hyperfine.json", &[]);
    let analysis = analysis(&world, &run);
    let comparison = &analysis["comparisons"][0];
    assert_eq!(comparison["method"], "welch");
    assert_eq!(comparison["verdict"], "worse");
    let findings = analysis["findings"].as_array().unwrap();
    let finding = findings.iter().find(|f| f["id"] == "F31").unwrap();
    assert!(finding["message"].as_str().unwrap().contains("order is unknown"));
}

#[test]
fn different_benchmarks_and_quoted_numbers_are_shown_and_not_compared() {
    let world = World::new();
    for name in ["google-benchmark.json", "spec.csv", "fio.json"] {
        let run = import(&world, name, &[]);
        let analysis = analysis(&world, &run);
        assert!(analysis["summaries"].as_array().unwrap().len() > 2, "{name}");
        assert_eq!(analysis["comparisons"], Value::Array(Vec::new()), "{name}");
    }
    // The levels of a benchmark's own parameter can be compared.
    let run = import(&world, "jmh.json", &[]);
    assert_eq!(analysis(&world, &run)["comparisons"].as_array().unwrap().len(), 1);
}

#[test]
fn quoted_numbers_are_published_as_quoted() {
    let world = World::new();
    let run = import(&world, "spec.csv", &[]);
    let done = world.run(&["publish", &run, "-o", "page"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let page = std::fs::read_to_string(world.path("page/index.html")).unwrap();
    assert!(page.contains("SPECrate2017_int_base of the whole run: 114.7, quoted"));
    assert!(page.contains("spec.csv of SPEC CPU, SHA-256"));
    assert!(!page.contains("assay run experiment.toml"), "it cannot be repeated so");
    let text = std::fs::read_to_string(world.path("page/index.md")).unwrap();
    assert!(text.contains("required-disclosure") && text.contains("assay ran none of them"));
    let trials = std::fs::read_to_string(world.path("page/trials.csv")).unwrap();
    assert!(trials.contains("quoted") && !trials.contains("measured"), "{trials}");
}

#[test]
fn two_imports_are_compared_with_each_other() {
    let world = World::new();
    let mut of = json(&std::fs::read_to_string(data("google-benchmark.json")).unwrap());
    of["benchmarks"].as_array_mut().unwrap().retain(|b| b["error_occurred"] != true);
    let text = of.to_string();
    let side = |factor: f64| -> String {
        let runs = [1.0, 1.01, 0.99].map(|drift| {
            let times = |text: String, t: f64| {
                text.replace(&format!("{t:.1},"), &format!("{:.4},", t * factor * drift))
            };
            let file = format!("{factor}-{drift}.json");
            world.write(&file, &[40.0, 41.0, 42.0].into_iter().fold(text.clone(), times));
            let done = world.run(&["archive", "import", &file]);
            assert_eq!(done.code, 0, "{}", done.stderr);
            done.stdout.trim().to_owned()
        });
        runs.join(",")
    };
    let (first, second) = (side(1.0), side(2.0));
    // Repetitions in one process are one value, so a single run has no interval.
    let id = |runs: &str| runs.split(',').next().unwrap().to_owned();
    let alone = world.run(&["compare", &id(&first), &id(&second), "--json"]);
    assert_eq!(alone.code, 4, "{}", alone.stdout);
    let alone = json(&alone.stdout);
    let compared = &alone["rows"][0]["comparisons"][1];
    assert_eq!(compared["verdict"], "invalid", "{compared}");
    assert!(compared["reason"].as_str().unwrap().contains("F29"), "{compared}");

    let done = world.run(&["compare", &first, &second, "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let across = json(&done.stdout);
    let row = &across["rows"][0];
    assert_eq!(row["label"], "benchmark=BM_copy/64");
    let comparison = &row["comparisons"][3];
    assert!((comparison["ratio"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{row}");
    assert_eq!((&comparison["verdict"], &comparison["n"]), (&"worse".into(), &3.into()), "{row}");
    assert!(row["comparisons"][5].is_null(), "one comparison for a side");
}

#[test]
fn what_hyperfine_reads_of_ours_is_imported_again() {
    let world = World::new();
    let ran = world.run(&[
        "run",
        "--blocks",
        "4",
        "--export",
        "hyperfine=h.json",
        "--vs",
        "sleep 0.02",
        "--",
        "sleep",
        "0.01",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let done = world.run(&["archive", "import", "h.json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let ours = world.runs();
    assert_eq!(ours.len(), 2);
    // Both runs are of the same command, measured in the same way, so they can be compared.
    let runs: Vec<String> =
        ours.iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect();
    let across = json(&world.run(&["compare", &runs[0], &runs[1], "--json"]).stdout);
    for row in across["rows"].as_array().unwrap() {
        let ratio = row["comparisons"][1]["ratio"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 1e-9, "{across}");
    }
}

#[test]
fn an_imported_experiment_cannot_be_run_in_no_order() {
    let world = World::new();
    let run = import(&world, "hyperfine.json", &[]);
    let file: PathBuf = world.path("archive/runs").join(run).join("experiment.toml");
    let done = world.run(&["run", file.to_str().unwrap()]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("only imported runs have it"), "{}", done.stderr);
}

#[test]
fn bad_files_exit_with_two_and_leave_nothing() {
    let world = World::new();
    world.write("unknown.json", "{\"a\": 1}");
    world.write("cut.json", "{\"results\": [{\"command\": \"x\",");
    world.write("empty.json", "");
    let cases = [
        (vec!["unknown.json"], "known formats: hyperfine"),
        (vec!["cut.json"], "cut.json:1:29"),
        (vec!["empty.json"], "is empty"),
        (vec!["none.json"], "cannot read none.json"),
        (vec!["archive"], "not a regular file"),
        (vec!["cut.json", "--as", "fio"], "read as fio"),
        (vec!["cut.json", "--as", "xml"], "possible values: hyperfine, google-benchmark"),
        (vec!["cut.json", "--name", "../x"], "cut.json:1:29"),
    ];
    for (arguments, wanted) in cases {
        let done = world.run(&[&["archive", "import"], arguments.as_slice()].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        let printed = done.stderr.replace("\n  ", " ");
        assert!(printed.contains(wanted), "{arguments:?}: {printed}");
    }
    assert!(world.runs().is_empty());
    let file = data("fio.json");
    let done = world.run(&["archive", "import", &file, "--name", "../x"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(world.runs().is_empty());
}

#[test]
fn an_exported_run_is_taken_as_it_is() {
    let world = World::new();
    let run = import(&world, "mcperf.txt", &[]);
    assert_eq!(world.run(&["archive", "export", &run, "-o", "out.tar.zst"]).code, 0);
    assert_eq!(world.run(&["archive", "remove", &run]).code, 0);
    let named = world.run(&["archive", "import", "out.tar.zst", "--name", "x"]);
    assert_eq!(named.code, 2, "{}", named.stderr);
    let done = world.run(&["archive", "import", "out.tar.zst"]);
    assert_eq!((done.code, done.stdout.trim()), (0, run.as_str()), "{}", done.stderr);
}
