//! `assay rules` and the comparison of systems, as a user would use them.

use std::path::{Path, PathBuf};

use crate::common::{World, fits, json};
use serde_json::Value;

#[test]
fn checks_and_packs_are_listed_and_shown() {
    let world = World::new();
    let listed = world.run(&["rules", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    fits(&listed.stdout);
    assert!(listed.stdout.contains("F60 repeatable") && listed.stdout.contains("cpu 1.0"));
    let all = json(&world.run(&["rules", "list", "--json"]).stdout);
    let checks = all["checks"].as_array().unwrap();
    assert_eq!(checks.len(), assay_checks::catalogue().len());
    assert_eq!(all["packs"].as_array().unwrap().len(), 3);
    for id in ["F31", "interleaved", "orders"] {
        let shown = world.run(&["rules", "show", id]);
        assert_eq!(shown.code, 0, "{id}: {}", shown.stderr);
        fits(&shown.stdout);
    }
    assert_eq!(world.run(&["rules", "show", "F99"]).code, 2);
    let classes = world.run(&["rules", "classes"]);
    assert_eq!(classes.code, 0, "{}", classes.stderr);
    fits(&classes.stdout);
    let page = world.run(&["rules", "catalogue", "--markdown"]).stdout;
    assert!(page.starts_with("# The catalogue"));
}

#[test]
fn a_run_is_checked_in_both_profiles() {
    let world = World::new();
    let run = ["run", "--blocks", "6", "--vs", "sleep 0.02", "--", "sleep", "0.01"];
    assert_eq!(world.run(&run).code, 0);
    let lab = json(&world.run(&["rules", "check", "--json"]).stdout);
    let count = |report: &Value, key: &str| report[key].as_array().unwrap().len();
    let unchecked = count(&lab, "cannot_check");
    assert!(count(&lab, "passed") > 10, "{lab}");
    let published = world.run(&["rules", "check", "--profile", "publish", "--json"]);
    let code = published.code;
    let published = json(&published.stdout);
    let all = published["findings"]
        .as_array()
        .unwrap()
        .iter()
        .chain(published["in_trials"].as_array().into_iter().flatten());
    let invalid = all.filter(|f| f["severity"] == "invalid").count();
    assert_eq!(code, if invalid > 0 { 4 } else { 0 }, "{published}");
    assert_eq!(count(&published, "cannot_check"), unchecked);
    assert!(count(&published, "findings") >= unchecked);
    let shown = json(&world.run(&["archive", "show", "--json"]).stdout);
    assert_eq!(shown["analysis"]["checks"]["profile"], "lab");
    fits(&world.run(&["rules", "check"]).stdout);
}

#[test]
fn a_result_is_judged_by_a_pack() {
    let world = World::new();
    world.write("r.json", r#"{ "processors": 4, "expected_peak": 2 }"#);
    let judged = world.run(&["rules", "judge", "orders", "r.json"]);
    assert_eq!(judged.code, 4, "{}", judged.stderr);
    fits(&judged.stdout);
    assert!(judged.stdout.starts_with("invalid under orders 1.0"), "{}", judged.stdout);
    assert!(judged.stdout.contains("N is 2, 4 processors are reported"), "{}", judged.stdout);
    world.write("bad.json", r#"{ "processor": 4 }"#);
    let bad = world.run(&["rules", "judge", "orders", "bad.json"]);
    assert_eq!(bad.code, 2);
    assert!(bad.stderr.contains("unknown field `processor`"), "{}", bad.stderr);
    std::fs::create_dir(world.path("packs")).unwrap();
    world.write("packs/mine.toml", "schema_version = 1\nid = \"mine\"\ntitel = \"x\"\n");
    let pack = world.run(&["rules", "list", "--packs", "packs"]);
    assert_eq!(pack.code, 2);
    assert!(pack.stderr.contains("packs/mine.toml:3: unknown field"), "{}", pack.stderr);
}

/// Changes a run of the archive, so that it seems to be from another kernel.
fn on_another_kernel(run: &Path) {
    let path: PathBuf = run.join("system.json");
    let mut system = json(&std::fs::read_to_string(&path).unwrap());
    system["facts"]["kernel.release"]["value"] = "0.1-other".into();
    std::fs::write(&path, system.to_string()).unwrap();
}

#[test]
fn runs_on_two_kernels_are_not_compared_unless_that_is_the_question() {
    let world = World::new();
    for _ in 0..2 {
        assert_eq!(world.run(&["run", "--blocks", "6", "--", "sleep", "0.01"]).code, 0);
    }
    let runs = json(&world.run(&["archive", "list", "--json"]).stdout);
    let id = |i: usize| runs[i]["id"].as_str().unwrap().to_owned();
    let (first, second) = (id(1), id(0));
    let folder = world.runs().into_iter().find(|r| r.ends_with(&second)).unwrap();
    on_another_kernel(&folder);

    let refused = world.run(&["compare", &first, &second]);
    assert_eq!(refused.code, 4, "{}{}", refused.stdout, refused.stderr);
    fits(&refused.stdout);
    assert!(refused.stdout.contains("not a comparison: kernel.release differs"));
    let across = json(&world.run(&["compare", "--json", &first, &second]).stdout);
    assert_eq!(across["rows"][0]["comparisons"][1]["verdict"], "invalid");
    assert!(across["rows"][0]["comparisons"][1]["ratio"].is_null());

    let hard = world.run(&["compare", "--accept", "kernel.release=so what", &first, &second]);
    assert_eq!(hard.code, 2, "a hard difference is not accepted");
    assert!(hard.stderr.contains("--factor"), "{}", hard.stderr);

    let meant = world.run(&["compare", "--factor", "kernel.release", &first, &second]);
    assert_eq!(meant.code, 0, "{}{}", meant.stdout, meant.stderr);
    assert!(meant.stdout.contains("compared: kernel.release"), "{}", meant.stdout);

    let wrong = world.run(&["compare", "--factor", "cpu.model", &first, &second]);
    assert_eq!(wrong.code, 4);
    assert!(
        wrong.stdout.contains("cpu.model is declared as different but is the same"),
        "{}",
        wrong.stdout
    );
    assert!(wrong.stdout.contains("system against system"), "{}", wrong.stdout);
}
