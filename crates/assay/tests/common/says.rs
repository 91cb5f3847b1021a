//! Results of the catalogue's checks on a run, a post, a landscape or a text, parsed from the
//! program's output.

use std::collections::BTreeMap;

use serde_json::Value;

pub use super::json;

use super::World;

/// Result of a check.
#[derive(Debug, Clone, PartialEq)]
pub enum Says {
    Passes,
    /// The check has a finding with this severity and message.
    Fires(String, String),
    Cannot,
    NothingToLookAt,
}

/// Returns the result of every check of a run by its id, and the exit code.
pub fn of_run(world: &World, run: &str, profile: &str) -> (BTreeMap<String, Says>, i32) {
    let done = world.run(&["rules", "check", run, "--json", "--profile", profile]);
    let report = json(&done.stdout);
    let mut all = BTreeMap::new();
    let ids = |key: &str| {
        let list = report[key].as_array().unwrap().clone();
        list.into_iter().map(|c| c["id"].as_str().or(c.as_str()).unwrap().to_owned())
    };
    all.extend(ids("passed").map(|id| (id, Says::Passes)));
    all.extend(ids("not_applicable").map(|id| (id, Says::NothingToLookAt)));
    let text = |f: &Value, key: &str| f[key].as_str().unwrap().to_owned();
    let found = ["findings", "in_trials"].map(|key| report[key].as_array().unwrap().clone());
    for f in found.iter().flatten() {
        all.insert(text(f, "id"), Says::Fires(text(f, "severity"), text(f, "message")));
    }
    // In profile `publish`, a check that cannot be evaluated is also a finding.
    all.extend(ids("cannot_check").map(|id| (id, Says::Cannot)));
    (all, done.code)
}

/// Returns the result of a check from a list of findings; a check that passes is not in the list.
pub fn in_list(findings: &Value, id: &str) -> Says {
    let all = findings.as_array().unwrap_or_else(|| panic!("no findings: {findings}"));
    let Some(found) = all.iter().find(|f| f["id"] == id) else { return Says::Passes };
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    if text("message").starts_with("cannot check") {
        return Says::Cannot;
    }
    Says::Fires(text("severity"), text("message"))
}

pub fn refusal(stderr: &str) -> Value {
    let words = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = words.split("invalid, ").skip(1).map(|part| {
        let (id, message) = part.split_once(' ').unwrap();
        serde_json::json!({ "id": id, "severity": "invalid", "message": message })
    });
    found.collect()
}

pub fn landscape(world: &World, csv: &str, more: &[&str]) -> Value {
    std::fs::create_dir_all(world.path("mine")).unwrap();
    world.write("mine/own.csv", csv);
    let shown = ["landscape", "own", "--published", "mine", "--json"];
    let done = world.run(&[&shown[..], more].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    json(&done.stdout)["landscape"]["findings"].clone()
}
