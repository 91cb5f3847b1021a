//! `assay audit` as a person types it.

use crate::common::World;

const TEXT: &str = "# Report\n\n| System | Chips | ops/s |\n|---|---|---|\n| Acme Z900 | 2 | 4,220 |\n\
    | Bolt Q77 | 4 | 4,000 |\n\nThe Acme Z900 delivered 5.5% more throughput than the Bolt Q77.\n";

#[test]
fn a_text_whose_claims_hold_ends_with_0() {
    let world = World::new();
    world.write("a.md", TEXT);
    let done = world.run(&["audit", "a.md"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("a.md:8:1: holds"), "{}", done.stdout);
    assert!(done.stdout.contains("4220/4000 - 1 = 5.5"), "{}", done.stdout);
}

#[test]
fn a_wrong_claim_ends_with_4_and_json_has_everything() {
    let world = World::new();
    world.write("a.md", &TEXT.replace("5.5%", "9%"));
    let done = world.run(&["audit", "a.md", "--json"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    let json = done.json();
    let claim = &json["files"][0]["claims"][0];
    assert_eq!(claim["verdict"], "wrong");
    assert_eq!(claim["kind"], "percent");
    assert_eq!(claim["inputs"][1]["value"], 4000.0);
    assert_eq!(json["files"][0]["findings"][0]["id"], "F45");
}

#[test]
fn quoted_results_are_inputs() {
    let world = World::new();
    world.write(
        "a.md",
        "On WARES the Acme Z900 delivered 5.5% more throughput than the Bolt Q77.\n",
    );
    world.write(
        "r.csv",
        "id,benchmark,metric,unit,system,value\na,WARES,WARES ops/s,ops/s,Acme Z900,4220\n\
         b,WARES,WARES ops/s,ops/s,Bolt Q77,4000\n",
    );
    let done = world.run(&["audit", "a.md", "--results", "r.csv", "--only", "holds"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("quoted: b"), "{}", done.stdout);
}

#[test]
fn bad_files_end_with_2() {
    let world = World::new();
    world.write("bin", "a\0b");
    world.write("a.md", TEXT);
    world.write("r.csv", "id,benchmark\n");
    for (args, words) in [
        (vec!["audit", "none.md"], "none.md: cannot be read"),
        (vec!["audit", "bin"], "bin:1: not text: a byte 0x00"),
        (vec!["audit", "a.md", "--max-size", "20 B"], "the limit is 20"),
        (vec!["audit", "a.md", "--only", "bad"], "no such verdict"),
        (vec!["audit", "a.md", "--results", "r.csv"], "column `metric` is missing"),
    ] {
        let done = world.run(&args);
        assert_eq!(done.code, 2, "{args:?}: {}{}", done.stdout, done.stderr);
        let printed = done.stderr.replace("\n  ", " ");
        assert!(printed.contains(words), "{args:?}: {printed}");
    }
}

/// The example of the documentation is what the program prints.
#[test]
fn the_documented_example_is_real() {
    let text =
        std::fs::read_to_string(crate::common::repository().join("docs/auditing.md")).unwrap();
    let block = |fence: &str| text.split(fence).nth(1).unwrap().split("```").next().unwrap();
    let world = World::new();
    world.write("post.md", block("```markdown\n"));
    let done = world.run(&["audit", "post.md"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert_eq!(done.stdout, block("```text\n"));
}
