//! Names of treatments: labels of the experiment, and the parts that levels do not share.

use crate::common::{Done, World};
use serde_json::Value;

const LABELLED: &str = "name = \"x\"\nworkload = \"command\"\n[design]\nblocks = 3\n[factors]\n\
    command = [{ label = \"short\", value = \"sleep 0.001\" }, \"sleep 0.002\"]\n";
const PLAIN: &str = "name = \"x\"\nworkload = \"command\"\n[design]\nblocks = 3\n[factors]\n\
    command = [\"sleep 0.001\", \"sleep 0.002\"]\n";

fn json(done: &Done) -> Value {
    done.json()
}

#[test]
fn a_label_stands_everywhere_and_the_level_one_step_away() {
    let world = World::new();
    world.write("x.toml", LABELLED);
    let ran = world.run(&["run", "x.toml", "-q"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("\nshort "), "{}", ran.stdout);
    assert!(!ran.stdout.contains("sleep 0.001"), "{}", ran.stdout);
    let result = json(&world.run(&["archive", "show", "last", "--json"]));
    let treatments = result["plan"]["treatments"].as_array().unwrap();
    assert_eq!(treatments[0]["names"]["command"], "short");
    assert_eq!(treatments[0]["levels"]["command"], "sleep 0.001");
    assert_eq!(treatments[1]["names"]["command"], "sleep 0.002");
    let all = result["analysis"]["summaries"].as_array().unwrap();
    assert!(all.iter().any(|s| s["label"] == "short"), "{all:#?}");
    assert_eq!(world.run(&["publish", "last", "-o", "page"]).code, 0);
    for file in ["index.html", "index.md", "summaries.csv"] {
        let text = std::fs::read_to_string(world.path("page").join(file)).unwrap();
        assert!(text.contains("short"), "{file}");
    }
    let page = std::fs::read_to_string(world.path("page/index.html")).unwrap();
    assert!(page.contains("sleep 0.001"), "the level itself is on the page too");
    // A treatment is named by its label or by its level.
    for name in ["command=sleep 0.002", "0.002"] {
        let explained = world.run(&["explain", "last", "--treatment", name]);
        assert!([0, 6].contains(&explained.code), "{name}: {}", explained.stderr);
    }
}

#[test]
fn runs_are_matched_by_levels_whatever_these_are_called() {
    let world = World::new();
    let mut ids: Vec<String> = Vec::new();
    for text in [LABELLED, PLAIN] {
        world.write("x.toml", text);
        assert_eq!(world.run(&["run", "x.toml", "-q"]).code, 0);
        let runs = world.runs();
        let names = runs.iter().map(|run| run.file_name().unwrap().to_str().unwrap().to_owned());
        let new = names.filter(|name| !ids.contains(name)).collect::<Vec<_>>();
        ids.extend(new);
    }
    let across = json(&world.run(&["compare", &ids[0], &ids[1], "--json"]));
    let rows = across["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{rows:#?}");
    for row in rows {
        assert!(row["summaries"].as_array().unwrap().iter().all(|s| !s.is_null()), "{row:#}");
    }
    assert_eq!(
        (&rows[0]["label"], &rows[0]["key"]),
        (&"short".into(), &"command=sleep 0.001".into())
    );
}

#[test]
fn the_baseline_and_what_is_excluded_may_be_named_by_labels() {
    let world = World::new();
    let with = |more: &str| {
        world.write("x.toml", &format!("{LABELLED}{more}"));
        world.run(&["plan", "x.toml", "--json"])
    };
    let plan = json(&with("[compare]\nbaseline = { command = \"sleep 0.002\" }\n"));
    assert_eq!(plan["plan"]["baseline"], 1, "{plan:#}");
    let plan = json(&with("[compare]\nbaseline = { command = \"short\" }\n"));
    assert_eq!(plan["plan"]["baseline"], 0, "{plan:#}");
    let wrong = with("[compare]\nbaseline = { command = \"shrt\" }\n");
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("has no level `shrt`"), "{}", wrong.stderr);
}

#[test]
fn what_all_levels_share_is_left_out_of_the_table_and_stands_in_the_plan() {
    let world = World::new();
    let vs = ["run", "-q", "--blocks", "3", "--vs", "sh -e -c true", "--", "sh", "-c", "true"];
    let ran = world.run(&vs);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("\nsh -e …"), "{}", ran.stdout);
    let result = json(&world.run(&["archive", "show", "last", "--json"]));
    assert_eq!(result["plan"]["treatments"][1]["levels"]["command"], "sh -e -c true");
}
