//! The workload `memory`, from the command line.

use crate::common::{Done, World, json};

fn run(world: &World, sets: &[&str]) -> Done {
    let base = ["run", "memory", "--quiet", "--blocks", "3", "--monitors", "none"];
    let small = ["--set", "min_time=200 us", "--set", "rounds=2"];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    world.run(&base.into_iter().chain(small).chain(sets).collect::<Vec<_>>())
}

fn skipped() -> bool {
    let one = std::thread::available_parallelism().is_ok_and(|n| n.get() < 2);
    if one {
        println!("skipped: because there is only one CPU");
    }
    one
}

#[test]
fn kernels_have_curves_and_their_results_are_checked() {
    let world = World::new();
    let sets = ["kernels=triad write-nt memcpy", "working_set=32 KiB", "threads=1"];
    let done = run(&world, &sets);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    for part in ["bandwidth", "triad over working set", "memcpy over working set", "32 KiB"] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    assert!(done.stdout.lines().all(|l| l.chars().count() <= 80), "{}", done.stdout);
    let shown = world.run(&["show", "--json"]).stdout;
    assert!(shown.contains("every element of 3 results is correct"), "{shown}");
}

#[test]
fn faults_are_those_that_the_kernel_counted() {
    let world = World::new();
    let sets = ["test=page-faults", "threads=1", "working_set=8 MiB", "page_size=base"];
    let done = run(&world, &sets);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let shown = json(&world.run(&["show", "--json"]).stdout);
    let all = shown["analysis"]["summaries"].as_array().unwrap();
    let faults = all.iter().find(|s| s["metric"] == "faults").unwrap()["values"][0].as_f64();
    // Reading the counter may cause one of its own.
    let pages = f64::from(8 << 20) / rustix::param::page_size() as f64;
    assert!((pages..pages + 8.0).contains(&faults.unwrap()), "{faults:?} faults of {pages} pages");
}

#[test]
fn cpus_have_a_matrix_and_a_curve_of_latency_under_load() {
    if skipped() {
        return;
    }
    let world = World::new();
    let done = run(&world, &["test=core-to-core"]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    assert!(done.stdout.contains("latency from CPU to CPU"), "{}", done.stdout);
    let page = world.path("page");
    let published = world.run(&["publish", "last", "-o", page.to_str().unwrap()]);
    assert_eq!(published.code, 0, "{}", published.stderr);
    let page = std::fs::read_to_string(page.join("index.html")).unwrap();
    assert!(page.contains("latency from CPU to CPU"), "{page}");
    let done = run(&world, &["test=loaded-latency", "working_set=1 MiB"]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    assert!(done.stdout.contains("loaded_latency of memory"), "{}", done.stdout);
}

#[test]
fn impossible_trials_fail_with_the_reason() {
    let world = World::new();
    for test in ["core-to-core", "loaded-latency"] {
        let done = run(&world, &[&format!("test={test}"), "threads=1"]);
        assert_eq!(done.code, 3, "{} {}", done.stdout, done.stderr);
        let text = (done.stdout + &done.stderr).replace("\n  ", " ");
        assert!(text.contains("the trial has only CPU "), "{text}");
    }
    for (sets, says) in [
        (vec!["threads=4096"], "4096 threads need a CPU each"),
        (vec!["working_set=64 GiB"], "need more memory than the"),
    ] {
        let done = run(&world, &sets);
        let text = (done.stdout + &done.stderr).replace("\n  ", " ");
        assert!(done.code == 3 && text.contains(says), "{sets:?}: {text}");
    }
    let done = run(&world, &["test=bandwidth,page-faults"]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.replace("\n  ", " ").contains("different quantities"), "{}", done.stderr);
}
