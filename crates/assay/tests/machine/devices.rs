//! Differences in devices that no trial used do not make a comparison invalid, and a person can
//! accept them.

use std::fs;
use std::path::Path;

use crate::common::World;
use serde_json::{Value, json};

fn measured(world: &World) -> (String, String) {
    for _ in 0..2 {
        let ran = world.run(&["run", "--blocks", "6", "--vs", "true b", "--", "true", "a"]);
        assert!([0, 4].contains(&ran.code), "{}", ran.stderr);
    }
    let mut runs = world.runs();
    runs.sort();
    let id = |run: &Path| run.file_name().unwrap().to_str().unwrap().to_owned();
    (id(&runs[0]), id(&runs[1]))
}

fn system(world: &World, run: &str) -> Value {
    let path = world.path(&format!("archive/runs/{run}/system.json"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Changes the recorded system of a run, as if it had been recorded at another moment.
fn change(world: &World, run: &str, with: impl FnOnce(&mut serde_json::Map<String, Value>)) {
    let mut changed = system(world, run);
    with(changed["facts"].as_object_mut().unwrap());
    let path = world.path(&format!("archive/runs/{run}/system.json"));
    fs::write(path, serde_json::to_vec(&changed).unwrap()).unwrap();
}

fn class(world: &World, a: &str, b: &str, path: &str) -> String {
    let compared = world.run(&["compare", a, b, "--json"]);
    let json = compared.json();
    let found = json["differences"].as_array().unwrap().iter().find(|d| d["path"] == path);
    found.unwrap_or_else(|| panic!("{path} is not listed: {json:#}"))["class"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_loop_device_that_nobody_used_is_unrelated_and_one_that_was_used_is_hard() {
    let world = World::new();
    let (a, b) = measured(&world);
    let facts = system(&world, &a)["facts"].clone();
    assert!(
        facts.as_object().unwrap().keys().any(|path| path.starts_with("used.mount./")),
        "{facts:#}"
    );
    if facts["used.device"]["unknown"].is_string() {
        println!("skipped: because {}", facts["used.device"]["unknown"]);
        return;
    }
    let rotational = "block.loop9.queue.rotational";
    change(&world, &b, |facts| {
        facts.insert(rotational.into(), json!({ "value": "1" }));
        facts.insert("block.loop9.size".into(), json!({ "value": "64 MiB" }));
    });
    assert_eq!(class(&world, &a, &b, rotational), "unrelated");
    assert_eq!(class(&world, &a, &b, "block.loop9.size"), "unrelated");
    change(&world, &b, |facts| {
        facts.insert("used.device.loop9".into(), json!({ "value": "scratch" }));
    });
    assert_eq!(class(&world, &a, &b, rotational), "hard");
    assert_eq!(class(&world, &a, &b, "used.device.loop9"), "hard");
}

#[test]
fn the_page_accepts_a_soft_difference_with_a_reason_that_is_printed() {
    let world = World::new();
    let (a, b) = measured(&world);
    change(&world, &b, |facts| {
        facts.insert("locale".into(), json!({ "value": "de_DE.UTF-8" }));
    });
    let served = crate::common::served::serve(&world, &[]);
    let page = served.get(&format!("/compare?runs={a},{b}"));
    assert_eq!(page.status, 200);
    assert!(page.body.contains("option value=\"locale\""), "{}", page.body);
    let accepted = "accept_path=locale&accept_reason=nothing%20prints%20a%20%3Cdate%3E";
    let page = served.get(&format!("/compare?runs={a},{b}&{accepted}"));
    assert_eq!(page.status, 200);
    assert!(page.body.contains("accepted: nothing prints a &lt;date&gt;"), "{}", page.body);
    assert!(!page.body.contains("option value=\"locale\""));
    // The links of the page contain the accepted difference, which needs a reason.
    assert!(page.body.contains("accept=locale%3Dnothing"), "{}", page.body);
    let refused = served.get(&format!("/compare?runs={a},{b}&accept_path=locale"));
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("without a reason"), "{}", refused.body);
    let json =
        served.get(&format!("/api/v1/compare?runs={a},{b}&accept=locale%3Dno%20dates")).json();
    let found = json["differences"].as_array().unwrap().iter().find(|d| d["path"] == "locale");
    assert_eq!(found.unwrap()["accepted"], "no dates");
}
