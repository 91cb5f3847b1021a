//! Every check of the catalogue on real results: a case in which it fires, one in which it passes,
//! and one that it cannot check. The catalogue must have a reason for each missing case.

mod claims;
mod conditions;
mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::World;
use crate::common::says::{Says, in_list, json};
use serde_json::Value;

/// Results of the checks in a scene.
pub enum Scene {
    /// Result of every check of a run.
    Run(BTreeMap<String, Says>),
    /// Findings about something that is published.
    Findings(Value),
    /// This machine cannot make the scene; the text is the reason.
    Skipped(String),
}

/// Marker for a missing scene: the check can always be evaluated.
const ALWAYS: &str = "";

/// Scene in which a trial's memory is on another node than the one that it is set to.
const OTHER_NODE: &str = "memory of another node";

/// Scenes that are made alone, in this order: those whose runs detect other activity on the
/// machine, the one that keeps it busy, and those that set large pages, which a parallel run sees
/// and after which the kernel still tidies up.
const ALONE: &[&str] = &[
    "generator on the server's CPU",
    "load",
    "load from elsewhere",
    "rate that changes",
    "short load",
    "other work",
    "large pages",
    "small pages",
];

/// For every check, the scenes in which it fires, passes and cannot check.
const CASES: &[(&str, [&str; 3])] = &[
    ("F01", ["imported", "plain", ALWAYS]),
    ("F02", ["no such difference", "plain", ALWAYS]),
    ("F03", ["two machines", "plain", "imported"]),
    ("F04", ["changing program", "plain", "imported"]),
    ("F05", ["built for the host", "plain", "imported"]),
    ("F06", ["base and peak", "plain", "imported"]),
    ("F07", ["more copies than CPUs", "plain", "imported"]),
    ("F08", ["small pages", "large pages", "plain"]),
    ("F09", ["a control in one run", "plain", "imported"]),
    ("F11", ["other work", "emulated machine that is quiet", "imported"]),
    ("F12", ["emulated machine, frequencies apart", "emulated machine", "imported"]),
    ("F13", ["emulated machine, a setting changes", "emulated machine", "imported"]),
    ("F14", ["one layout", "small effect", "imported small effect"]),
    ("F15", ["assay stopped", "plain", "imported"]),
    ("F16", ["other parameters", "plain", "imported"]),
    ("F17", ["wrong output", "load", "all failed"]),
    ("F18", ["trained on its input", "trained on another", ALWAYS]),
    ("F19", ["suite with a hole", "suite", ALWAYS]),
    ("F21", ["plain", "load", "imported"]),
    ("F22", ["generator on the server's CPU", "load", "load from elsewhere"]),
    ("F23", ["imported paced", "load", "imported without detectable"]),
    ("F24", ["imported percentiles", "load", "imported without detectable"]),
    ("F25", ["rate that changes", "load", "short load"]),
    ("F26", ["few trials", "plain", ALWAYS]),
    ("F28", ["few trials", "plain", ALWAYS]),
    ("F29", ["imported unequal", "plain", ALWAYS]),
    ("F31", ["sequential", "plain", "one failed"]),
    ("F32", ["one trial", "plain", ALWAYS]),
    ("F34", ["post: unclear", "post: clear", ALWAYS]),
    ("F36", ["few trials", "effect within the margin", "imported without detectable"]),
    ("F37", ["plain", "floor", ALWAYS]),
    ("F38", ["three levels", "plain", ALWAYS]),
    ("F39", ["ended by hand", "plain", "imported"]),
    ("F40", ["one failed", "plain", ALWAYS]),
    ("F41", ["imported unequal", "plain", ALWAYS]),
    ("F42", ["two modes", "one mode", "few trials"]),
    ("F43", ["post: mean of scores", "suite", "post: mean of rates"]),
    ("F44", ["suite whose means disagree", "suite", "suite with a hole"]),
    ("F45", ["audit: wrong", "audit: right", ALWAYS]),
    ("F46", ["post: two metrics", "post: one metric", "no metric shared"]),
    ("F47", ["landscape with a run", "landscape", ALWAYS]),
    ("F48", ["post: per core alone", "post: per core with its base", "imported derived"]),
    ("F49", ["landscape: other cores", "landscape: per core", "landscape: no cores"]),
    ("F50", ["landscape: per core", "landscape", "post: one count"]),
    ("F51", ["landscape: nameplate", "landscape: per watt", "landscape: no watts"]),
    ("F52", ["landscape: undated price", "landscape: per price", "landscape: no price"]),
    ("F54", ["audit: alone", "audit: right", ALWAYS]),
    ("F56", ["post: undated rank", "post: dated rank", ALWAYS]),
    ("F57", ["post: later result", "post: one metric", ALWAYS]),
    ("F58", ["post: bare", "post: disclosed", ALWAYS]),
    ("F59", ["post: one of three left out", "post: clear", ALWAYS]),
    ("F60", ["program of a changed tree", "plain", "imported"]),
    ("F61", ["cold first trial", "effect within the margin", "imported"]),
    ("F62", [OTHER_NODE, "memory of its node", "imported"]),
    ("F63", ["suite without its reader", "plain", ALWAYS]),
    ("N1", ["evidence", "nodes", ALWAYS]),
    ("N2", ["nodes apart", "nodes", ALWAYS]),
    ("N3", ["evidence", "nodes", ALWAYS]),
    ("N4", ["evidence", "nodes", ALWAYS]),
];

#[test]
fn every_check_has_a_case_that_fires_one_that_passes_and_one_that_cannot_check() {
    // This world does not take a turn, because the scenes below wait to be alone.
    let world = World::in_turn();
    let catalogue = json(&world.run(&["rules", "catalogue", "--json"]).stdout);
    let ids: Vec<&str> =
        catalogue.as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert_eq!(CASES.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids);
    for row in catalogue.as_array().unwrap() {
        let (id, cases) = CASES.iter().find(|(id, _)| row["id"] == *id).unwrap();
        assert!(!cases[0].is_empty() && !cases[1].is_empty(), "{id} must fire and pass");
        let why = row["always_checked"].as_str();
        assert_eq!(
            cases[2] == ALWAYS,
            why.is_some(),
            "{id} has no case that it cannot check: {why:?}"
        );
    }
    let needed: BTreeSet<&str> =
        CASES.iter().flat_map(|(_, cases)| *cases).filter(|s| !s.is_empty()).collect();
    holds(needed.into_iter().filter(|scene| *scene != OTHER_NODE));
}

/// A test of its own, because it needs a machine with two NUMA nodes.
#[test]
fn memory_of_another_node_fires() {
    holds([OTHER_NODE].into_iter());
}

/// Checks that the result of every check in these scenes is the expected one.
fn holds(scenes: impl Iterator<Item = &'static str>) {
    let (made, mut wrong) = all(&scenes.collect::<Vec<_>>());
    for (id, cases) in CASES {
        for (scene, wanted) in cases.iter().zip(["fires", "passes", "cannot check"]) {
            let says = match made.get(scene) {
                None => continue,
                Some(Scene::Skipped(why)) => {
                    println!("skipped: {id} {wanted} in `{scene}`: because {why}");
                    continue;
                }
                Some(Scene::Run(all)) => all.get(*id).cloned(),
                Some(Scene::Findings(all)) => Some(in_list(all, id)),
            };
            let is = match says {
                Some(Says::Fires(..)) => "fires",
                Some(Says::Passes) => "passes",
                Some(Says::Cannot) => "cannot check",
                _ => "nothing",
            };
            if is != wanted {
                wrong.push(format!("{id} in `{scene}`: {says:?}, expected: {wanted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Makes every scene, some in parallel, then those that must be alone; also returns an error for
/// each scene that could not be made.
fn all(needed: &[&'static str]) -> (BTreeMap<&'static str, Scene>, Vec<String>) {
    const AT_A_TIME: usize = 3;
    let of = |all: &[&'static str], others: &[&str], there: bool| -> Vec<&'static str> {
        all.iter().copied().filter(|name| others.contains(name) == there).collect()
    };
    let (beside, alone) = (of(needed, ALONE, false), of(ALONE, needed, true));
    let made = Mutex::new((BTreeMap::new(), Vec::new()));
    let work = |names: &[&'static str], next: &AtomicUsize| {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let scene = catch_unwind(|| make(name));
            let mut made = made.lock().unwrap();
            match scene {
                Ok(scene) => drop(made.0.insert(*name, scene)),
                Err(_) => made.1.push(format!("`{name}` was not made: see above")),
            }
        }
    };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| work(&beside, &next));
        }
    });
    let _alone = assay_testing::alone();
    work(&alone, &AtomicUsize::new(0));
    made.into_inner().unwrap()
}

/// Makes a scene in a world of its own.
fn make(name: &str) -> Scene {
    let world = World::new();
    let scene = runs::make(&world, name)
        .or_else(|| conditions::make(&world, name))
        .or_else(|| claims::make(&world, name));
    scene.unwrap_or_else(|| panic!("nothing makes the scene `{name}`"))
}
