//! Waits for a CPU in a run, in `explain`, and on its page.

use crate::common::{World, json, metric};

#[test]
fn a_run_keeps_the_waits_for_a_cpu_and_shows_them() {
    let world = World::new();
    // Eight children that are woken by a pipe, on one CPU and on all.
    let command = "for i in 1 2 3 4 5 6 7 8; do (seq 20000 | cat > /dev/null) & done; wait";
    let arguments = ["run", "--tracers", "runqueue", "--blocks", "3", "--set"];
    let done = world.run(
        &[&arguments[..], &["controls.cpus=default,0", "--shell", "sh", "--", command]].concat(),
    );
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let run = json(&world.run(&["archive", "show", "last", "--json"]).stdout);
    let record = &run["records"][0];
    let metrics = record["metrics"].as_array().unwrap();
    if !metrics.iter().any(|m| m["name"] == "runqueue.waits") {
        println!("skipped: because {}", record["observers"]);
        return;
    }
    assert!(metric(record, "runqueue.waits").unwrap() >= 16.0, "{record}");
    let value = |name: &str| metric(record, &format!("runqueue.{name}")).unwrap();
    assert!(value("p50") <= value("longest"), "{record}");
    assert!(value("longest") <= value("time"), "{record}");
    let explained = world.run(&["explain", "last", "--json"]).stdout;
    assert!(explained.contains("\"time waiting for a CPU\""), "{explained}");
    let page = world.path("page");
    let done = world.run(&["publish", "last", "-o", page.to_str().unwrap()]);
    assert!(done.code == 0 || done.code == 4, "{}", done.stderr);
    assert!(!done.stderr.contains("runqueue"), "{}", done.stderr);
    let html = std::fs::read_to_string(page.join("index.html")).unwrap();
    let section = html.split("id=\"runqueue\"").nth(1).expect("the page has the section");
    for says in ["Waits for a CPU by task name", "seq", "cat", "p99"] {
        assert!(section.contains(says), "{says}");
    }
}
