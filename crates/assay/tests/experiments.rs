//! Every experiment that ships can be planned, or says which program this machine lacks.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // this is a test

mod common;

use common::{World, repository};

#[test]
fn every_experiment_that_ships_can_be_planned() {
    let world = World::new();
    let mut planned = 0;
    for entry in std::fs::read_dir(repository().join("experiments")).unwrap() {
        let path = entry.unwrap().path().display().to_string();
        let done = world.run(&["plan", &path]);
        let text = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.contains("is needed and was not found") {
            println!("skipped: because a program is missing: {text}");
            continue;
        }
        if text.contains("there is no node 1 with memory") {
            println!("skipped: because this machine has one NUMA node: {path}");
            continue;
        }
        assert_eq!(done.code, 0, "{path}: {}", done.stderr);
        planned += 1;
    }
    assert!(planned >= 5, "only {planned} could be planned");
}
