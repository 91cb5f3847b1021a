//! Address translation, from the command line: simulated, counted or not, by experiment; and the
//! explanation of a difference.

use std::fmt::Write;

use crate::common::{World, json};

/// Returns 4000 loads that go twice through 2000 pages, with an instruction fetch each, in lackey's
/// format.
fn lackey() -> String {
    let mut text = String::from("==1== Lackey\n");
    for i in 0..4000u64 {
        let _ = write!(text, "I  00401000,4\n L {:08x},8\n", 0x1000_0000 + i % 2000 * 4096);
    }
    text + "==1== Exit code: 0\n"
}

#[test]
fn a_trace_is_simulated_and_kept() {
    let world = World::new();
    let trace = world.write("a.trace", &lackey());
    let trace = trace.to_str().unwrap();
    let done =
        world.run(&["tlb", "--simulate", trace, "--machine", "solaris-9", "--every", "2000"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("dtsb-miss %tim") && done.stdout.contains("ttl"),
        "{}",
        done.stdout
    );
    let words: Vec<&str> = done.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("not a measurement"), "{}", done.stdout);
    assert!(done.stdout.lines().all(|l| l.chars().count() <= 80), "{}", done.stdout);

    let kept = world.path("kept.trace");
    let kept = kept.to_str().unwrap();
    let first = world.run(&["tlb", "--simulate", trace, "--record", kept, "--json"]);
    let second = world.run(&["tlb", "--simulate", kept, "--json"]);
    let (a, b) = (json(&first.stdout), json(&second.stdout));
    assert_eq!(a["table"], b["table"]);
    assert_eq!(a["accesses"], 8000);
    // 2000 pages do not fit into 64 entries, but into 2048: every load misses the first level.
    let steps = &a["table"]["total"]["data"]["steps"];
    assert_eq!((&steps[0]["misses"], &steps[1]["misses"]), (&4000.0.into(), &2000.0.into()));

    let large = world.run(&["tlb", "--simulate", kept, "--page", "2 MiB", "--json"]);
    let pages = json(&large.stdout)["table"]["by_page"].clone();
    assert_eq!(pages.as_array().unwrap().len(), 2, "{pages}");
    let both = world.run(&["tlb", "--simulate", kept, trace, "--json"]);
    assert_eq!(json(&both.stdout)["processes"], 2);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let world = World::new();
    let trace = world.write("a.trace", &lackey());
    let trace = trace.to_str().unwrap();
    let story = world.write("story", "once upon a time\n");
    let far = world.write("far", "I  0400,4\n L ffffffffffff0000,8\n");
    let odd = world.write("odd.toml", "name = \"x\"\n");
    for (arguments, says) in [
        (vec!["--simulate", story.to_str().unwrap()], "unknown format"),
        (vec!["--simulate", far.to_str().unwrap()], "2^57"),
        (vec!["--simulate", "/nonexistent"], "/nonexistent"),
        (vec!["--simulate", trace, "--machine", "vax"], "use solaris-9"),
        (vec!["--simulate", trace, "--machine", odd.to_str().unwrap()], "missing field"),
        (vec!["--simulate", trace, "--page", "3 KiB"], "powers of two"),
        (vec!["--simulate", trace, "--page", "1 TiB"], "no TLB of level 1 holds"),
        (vec!["--simulate", trace, "--every", "0"], "1 or more"),
        (vec![], "name a command"),
    ] {
        let done = world.run(&[&["tlb"][..], &arguments[..]].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.replace("\n  ", " ").contains(says), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn counters_are_read_or_it_says_what_is_missing() {
    let world = World::new();
    let done = world.run(&["tlb", "--", "true"]);
    if done.code == 0 {
        assert!(done.stdout.contains("ttl"), "{}", done.stdout);
        return;
    }
    assert_eq!(done.code, 6, "{}", done.stderr);
    let printed = done.stderr.replace("\n  ", " ");
    for part in ["cannot count the cost", "by experiment", "--simulate"] {
        assert!(printed.contains(part), "{printed}");
    }
    let done = world.run(&["tlb", "--json", "--", "true"]);
    assert!(json(&done.stdout)["measured"].is_null());
}

#[test]
fn a_pointer_chase_has_a_curve_and_pages_that_did_not_come_are_invalid() {
    let world = World::new();
    let run = |extra: &[&str]| {
        let base = ["run", "pointer-chase", "--quiet", "--blocks", "3", "--monitors", "none"];
        let small = ["--set", "max_size=256 KiB", "--set", "min_time=200 us", "--set", "rounds=1"];
        world.run(&[&base[..], &small[..], extra].concat())
    };
    let done = run(&["--set", "page_size=base"]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    assert!(done.stdout.contains("latency over working set"), "{}", done.stdout);
    // No huge-page pool is that large.
    let done = run(&[
        "--set",
        "page_size=1GiB",
        "--set",
        "max_size=60 GiB",
        "--set",
        "stride=1 MiB",
        "--set",
        "min_size=60 GiB",
    ]);
    assert_eq!(done.code, 3, "{} {}", done.stdout, done.stderr);
}

#[test]
fn a_run_is_explained() {
    let world = World::new();
    let run = |command: &str| {
        world.run(&["run", "--quiet", "--blocks", "4", "--vs", command, "--", "sh", "-c", ":"])
    };
    // The other command uses the CPU.
    let busy = "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'";
    assert_eq!(run(busy).code, 0);
    let done = world.run(&["explain", "last"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("observation"), "{}", done.stdout);
    assert!(done.stdout.lines().all(|l| l.chars().count() <= 80), "{}", done.stdout);
    let explained = json(&world.run(&["explain", "--json"]).stdout);
    let all = explained["observations"].as_array().unwrap();
    assert!(all.iter().any(|o| o["source"] == "resources" && o["name"] == "user"), "{explained}");
}
