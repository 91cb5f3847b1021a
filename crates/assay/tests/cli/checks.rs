//! Checks of the catalogue on real runs: which fire, pass or cannot be evaluated, and that all
//! outputs of a run have the same findings.

use std::collections::BTreeMap;
use std::fs;

use crate::common::World;
use crate::common::figures::Figures;
use crate::common::says::{Says, json, of_run};
use serde_json::Value;

/// Runs assay, and returns the results of the checks in profile `lab`.
fn after(world: &World, arguments: &[&str]) -> BTreeMap<String, Says> {
    let mut all = vec!["run"];
    all.extend(arguments);
    let before = world.runs().len();
    let done = world.run(&all);
    assert!(world.runs().len() > before, "{arguments:?}: {}", done.stderr);
    of_run(world, "last", "lab").0
}

#[track_caller]
fn fires(all: &BTreeMap<String, Says>, id: &str, severity: &str, words: &str) {
    let Some(Says::Fires(how, what)) = all.get(id) else { panic!("{id}: {:?}", all.get(id)) };
    assert!(how == severity && what.contains(words), "{id} is {how}: {what}");
}

#[track_caller]
fn says(all: &BTreeMap<String, Says>, id: &str, expected: &Says) {
    assert_eq!(all.get(id), Some(expected), "{id}");
}

const TWO: [&str; 7] = ["--vs", "sleep 0.011", "--monitors", "none", "--", "sleep", "0.01"];

#[test]
fn an_honest_comparison_of_two_commands_may_be_published() {
    let world = World::new();
    let mut run = vec!["--blocks", "10"];
    run.extend(TWO);
    let lab = after(&world, &run);
    for id in ["F01", "F02", "F04", "F05", "F06", "F07", "F13", "F15", "F16", "F28", "F29", "F39"] {
        says(&lab, id, &Says::Passes);
    }
    let (published, code) = of_run(&world, "last", "publish");
    let invalid: Vec<_> = published
        .iter()
        .filter(|(_, s)| matches!(s, Says::Fires(severity, _) if severity == "invalid"))
        .collect();
    assert!(invalid.is_empty() && code == 0, "{code}: {invalid:?}");
}

#[test]
fn few_trials_warm_up_margin_and_order_are_reported() {
    let world = World::new();
    let with = |more: &[&str]| {
        let mut run = more.to_vec();
        run.extend(TWO);
        after(&world, &run)
    };
    fires(&with(&["--blocks", "2"]), "F28", "invalid", "only 2 trials");
    let some = with(&["--blocks", "4", "--warmup", "1"]);
    fires(&some, "F28", "warning", "4 trials");
    fires(&some, "F26", "note", "a warm-up of 1 was assumed");
    fires(&some, "F37", "note", "none of this workload");
    // One comparison of identical treatments in twenty is clear by chance; F36 does not apply to
    // it.
    let narrow =
        ["--blocks", "4", "--margin", "0.1 %", "--vs", "sleep 0.010", "--", "sleep", "0.01"];
    let blind = (0..5).map(|_| after(&world, &narrow));
    let mut blind = blind.filter(|all| all.get("F36") != Some(&Says::Passes));
    fires(&blind.next().unwrap(), "F36", "warning", "the margin is 0.1 %");
    // On a busy machine, six blocks may detect only larger differences.
    let plain = (0..5).map(|_| with(&["--blocks", "6", "--margin", "90 %"]));
    let mut plain = plain.filter(|all| all.get("F36") == Some(&Says::Passes));
    let plain = plain.next().unwrap();
    says(&plain, "F26", &Says::Passes);
    says(&plain, "F36", &Says::Passes);
    says(&plain, "F31", &Says::Passes);
    let ordered = "schema_version = 1\nname = \"ordered\"\nworkload = \"command\"\n\n\
                   [params]\ncommand = \"true\"\n\n[factors]\n\"controls.nice\" = [0, 5]\n\n\
                   [design]\nblocks = 6\norder = \"sequential\"\n";
    world.write("ordered.toml", ordered);
    fires(&after(&world, &["ordered.toml"]), "F31", "warning", "the order is the same");
    let single = after(&world, &["--blocks", "3", "--", "true"]);
    says(&single, "F31", &Says::NothingToLookAt);
}

#[test]
fn a_program_that_changes_on_the_way_is_another_program() {
    let world = World::new();
    let script = world.write("self.sh", "#!/bin/sh\necho '#' >> \"$0\"\n");
    let mut mode = fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&script, mode).unwrap();
    let program = script.to_str().unwrap();
    let all = after(&world, &["--blocks", "3", "--set", "controls.nice=0,5", "--", program]);
    fires(&all, "F04", "invalid", "different programs");
    let steady = after(&world, &["--blocks", "3", "--set", "controls.nice=0,5", "--", "true"]);
    for id in ["F04", "F05", "F06"] {
        says(&steady, id, &Says::Passes);
    }
    let records = json(&world.run(&["run", "--blocks", "2", "--json", "--", "true"]).stdout);
    let first = &records["records"][0]["evidence"];
    let program = first.as_array().unwrap().iter().find(|o| o["saw"] == "program").unwrap();
    let hash = assay_system::sha256_file(std::path::Path::new("/bin/true")).unwrap();
    assert_eq!(program["program"]["sha256"], hash.as_str());
    let second = records["records"][1]["evidence"].to_string();
    assert!(!second.contains("sha256"), "a program is hashed and reported once: {second}");
}

#[test]
fn wrong_output_and_what_a_program_reports_are_found() {
    let world = World::new();
    let sum = Figures::new(&world, "sum").path();
    let right = after(&world, &["--blocks", "3", "--set", "level=a,b", &sum]);
    says(&right, "F17", &Says::Passes);
    says(&right, "F16", &Says::Passes);
    let wrong = after(&world, &["--blocks", "3", "--set", "result=6,7", &sum]);
    fires(&wrong, "F17", "invalid", "result=7");
    let unchecked = after(&world, &["--blocks", "3", "--vs", "true", "--", "/bin/true"]);
    fires(&unchecked, "F17", "note", "not checked beyond the exit code");
}

#[test]
fn what_is_seen_outside_is_judged_by_the_row_alone() {
    let world = World::new();
    let sum = Figures::new(&world, "sum");
    let announced = "{\"finding\":\"F25\",\"message\":\"it never settled\",\"severity\":\"note\"}\n\
                {\"finding\":\"Q1\",\"message\":\"odd\"}\n";
    sum.tells("a", announced);
    let done = world.run(&["run", "--blocks", "2", "--json", &sum.path()]);
    let record = &done.records()[0];
    let finding = record["findings"].as_array().unwrap().iter().find(|f| f["id"] == "F25");
    let finding = finding.unwrap_or_else(|| panic!("{record:#}"));
    assert_eq!(
        (&finding["name"], &finding["severity"]),
        (&"steady-state".into(), &"warning".into())
    );
    let notes = record["notes"].to_string();
    assert!(notes.contains("`Q1`, which is not a check"), "{notes}");
}

#[test]
fn a_run_of_an_earlier_version_is_read_and_says_not_recorded() {
    let world = World::new();
    let mut run = vec!["--blocks", "6"];
    run.extend(TWO);
    after(&world, &run);
    let folder = world.runs().remove(0);
    let path = folder.join("records.jsonl");
    let old: Vec<String> = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .map(|line| {
            let mut record = json(line);
            record.as_object_mut().unwrap().remove("evidence");
            format!("{record}\n")
        })
        .collect();
    fs::write(&path, old.concat()).unwrap();
    let (all, _) = of_run(&world, "last", "lab");
    for id in ["F04", "F05", "F06", "F15"] {
        says(&all, id, &Says::Cannot);
    }
}

/// Returns the findings of a run as `id severity message`, sorted.
fn listed(findings: &[&Value]) -> Vec<String> {
    let text = |f: &Value| format!("{} {} {}", f["id"], f["severity"], f["message"]);
    let mut all: Vec<String> =
        findings.iter().flat_map(|l| l.as_array().unwrap().iter().map(text)).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn every_output_of_a_run_has_the_same_findings() {
    let world = World::new();
    let mut run = vec!["run", "--json", "--blocks", "4", "--warmup", "1"];
    run.extend(TWO);
    let run = json(&world.run(&run).stdout);
    let of_trials = |records: &Value| -> Value {
        let all = records.as_array().unwrap().iter();
        all.flat_map(|r| r["findings"].as_array().cloned().unwrap_or_default()).collect()
    };
    let announced = listed(&[&run["analysis"]["findings"], &of_trials(&run["records"])]);
    assert!(announced.iter().any(|t| t.contains("F26")), "{announced:?}");
    let shown = json(&world.run(&["archive", "show", "--json"]).stdout);
    assert_eq!(listed(&[&shown["analysis"]["findings"], &of_trials(&shown["records"])]), announced);
    let checked = json(&world.run(&["rules", "check", "--json"]).stdout);
    assert_eq!(listed(&[&checked["findings"], &checked["in_trials"]]), announced);
    let terminal = world.run(&["rules", "check"]).stdout.replace(['\n', ' '], "");
    let page = world.path("page");
    assert_eq!(world.run(&["publish", "last", "-o", page.to_str().unwrap()]).code, 0);
    let html = fs::read_to_string(page.join("index.html")).unwrap();
    let full = world.run(&["archive", "show"]).stdout;
    for (profile, text) in [("lab", &full), ("publish", &html)] {
        assert_eq!(text.matches("Checked in the profile").count(), 1, "{text}");
        assert!(
            text.contains(&format!("the profile `{profile}`"))
                || text.contains(&format!("the profile <code>{profile}</code>"))
        );
    }
    for finding in &announced {
        let message = finding.splitn(3, ' ').nth(2).unwrap().trim_matches('"').to_owned();
        let bare = message.replace(' ', "");
        assert!(terminal.contains(&bare), "terminal: {message}");
        assert!(
            html.contains(&message.replace('\'', "&#39;")) || html.contains(&message),
            "page: {message}"
        );
    }
}

#[test]
fn the_catalogue_says_where_evidence_comes_from() {
    let world = World::new();
    let all = json(&world.run(&["rules", "catalogue", "--json"]).stdout);
    for check in all.as_array().unwrap() {
        let evidence = check["evidence"].as_str().unwrap();
        assert!(!evidence.is_empty(), "{} {}", check["id"], check["name"]);
    }
}
