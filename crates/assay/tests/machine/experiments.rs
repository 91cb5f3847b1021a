//! Every experiment that comes with assay can be planned, or names the program that this machine
//! lacks.

use crate::common::{World, repository};

/// Path at which an experiment expects a second memcached, besides the distribution's.
const SECOND: &str = "/usr/local/bin/memcached";

/// Copies the installed memcached, to use it as a second one.
fn memcached(world: &World) -> Option<String> {
    let copy = world.path("memcached");
    std::fs::copy("/usr/bin/memcached", &copy).ok()?;
    Some(copy.display().to_string())
}

#[test]
fn every_experiment_that_ships_can_be_planned() {
    let world = World::new();
    let mut planned = 0;
    for entry in std::fs::read_dir(repository().join("experiments")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // The user chooses the second program.
        let text = std::fs::read_to_string(&path).unwrap();
        let second = text.contains(SECOND).then(|| memcached(&world)).flatten();
        let path = match second {
            Some(second) => world.write(&name, &text.replace(SECOND, &second)),
            None => path,
        };
        let path = path.display().to_string();
        let done = world.run(&["plan", &path]);
        let text = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.contains("is needed and was not found") {
            println!("skipped: {name}: because a program is missing: {text}");
            continue;
        }
        if text.contains("no node 1 has memory") {
            println!("skipped: {name}: because this machine has one NUMA node");
            continue;
        }
        assert_eq!(done.code, 0, "{path}: {}", done.stderr);
        planned += 1;
    }
    assert!(planned >= 5, "only {planned} could be planned");
}
