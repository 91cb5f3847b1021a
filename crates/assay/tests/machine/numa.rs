//! A machine with two NUMA nodes: the requested place of memory, its real place, and the findings
//! if the two differ. Runs in the virtual machines of `make test-vm`.

use std::process::Command;

use crate::common::says::{Says, json, of_run};
use crate::common::{Done, World, repository};

const MIB: f64 = 1024.0 * 1024.0;
/// Program that takes 64 MiB and keeps them for a while. assay may look at it before it has all of
/// them.
const PROGRAM: [&str; 3] =
    ["perl", "-e", "my $x = 'a' x (64 << 20); select(undef, undef, undef, 2.5)"];

/// Returns true if there are two nodes with memory; prints the reason otherwise.
fn two_nodes() -> bool {
    let nodes = std::fs::read_to_string("/sys/devices/system/node/has_memory").unwrap_or_default();
    if nodes.trim() != "0-1" {
        println!("skipped: because this machine has not two NUMA nodes with memory");
        return false;
    }
    true
}

fn ok(done: Done) -> Done {
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    done
}

/// Returns a trial's memory metrics under these settings, and the result of the check of NUMA
/// nodes.
fn trial(set: &[&str], wrapper: &[&str]) -> ([f64; 3], Option<Says>) {
    let world = World::new();
    let set = set.iter().flat_map(|s| ["--set", s]);
    let run: Vec<&str> = ["run", "--quiet", "--monitors", "none", "--blocks", "1"]
        .into_iter()
        .chain(set)
        .chain(["--"])
        .chain(wrapper.iter().copied())
        .chain(PROGRAM)
        .collect();
    ok(world.run(&run));
    let folder = &world.runs()[0];
    let records = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let record = json(records.lines().next().unwrap());
    let metric = |name: &str| {
        let all = record["metrics"].as_array().unwrap();
        let found = all.iter().find(|m| m["name"] == name);
        found.and_then(|m| m["value"].as_f64()).unwrap_or(0.0)
    };
    let seen = record["evidence"].as_array().unwrap().iter().find(|o| o["saw"] == "node-memory");
    assert!(seen.is_some(), "{record}");
    let id = folder.file_name().unwrap().to_string_lossy().into_owned();
    let says = of_run(&world, &id, "lab").0.remove("F62");
    ([metric("node0_memory"), metric("node1_memory"), metric("one_node_share")], says)
}

#[test]
fn memory_lies_where_it_is_bound_and_the_trial_tells() {
    if !two_nodes() {
        return;
    }
    let ([zero, one, share], says) = trial(&["controls.numa=bind:1"], &[]);
    assert!(one > 4.0 * MIB && zero < MIB && share > 0.95, "{zero} {one} {share}");
    assert_eq!(says, Some(Says::Passes));
    let ([zero, one, share], says) = trial(&["controls.numa=interleave"], &[]);
    assert!(zero > 2.0 * MIB && one > 2.0 * MIB && share < 0.6, "{zero} {one} {share}");
    assert!(!matches!(says, Some(Says::Fires(..) | Says::Cannot)), "{says:?}");
    // The counters of the trial's control group, if it has one, are used.
    let ([zero, one, _], says) = trial(&["controls.numa=bind:0", "controls.memory=512MiB"], &[]);
    assert!(zero > 4.0 * MIB && one < MIB, "{zero} {one}");
    assert_eq!(says, Some(Says::Passes));
}

#[test]
fn memory_that_lies_elsewhere_is_found() {
    if !two_nodes() {
        return;
    }
    let moved = ["numactl", "--membind=1"];
    for set in ["controls.numa=preferred:0", "controls.cpus=0"] {
        let ([zero, one, _], says) = trial(&[set], &moved);
        assert!(one > 4.0 * MIB && zero < one / 2.0, "{set}: {zero} {one}");
        assert!(matches!(says, Some(Says::Fires(..))), "{set}: {says:?}");
    }
    // No setting bound the memory to one node.
    let (_, says) = trial(&["controls.nice=0"], &moved);
    assert!(!matches!(says, Some(Says::Fires(..) | Says::Cannot)), "{says:?}");
    let world = World::new();
    ok(world.run(&[
        "run",
        "--quiet",
        "--blocks",
        "1",
        "--set",
        "controls.numa=bind:0",
        "--",
        "true",
    ]));
    let id = world.runs()[0].file_name().unwrap().to_string_lossy().into_owned();
    let says = of_run(&world, &id, "lab").0.remove("F62");
    assert_eq!(says, Some(Says::Cannot), "it ended before it was looked at");
}

#[test]
fn a_chain_is_walked_through_memory_of_either_node() {
    if !two_nodes() {
        return;
    }
    let world = World::new();
    let file = repository().join("experiments/numa-distance.toml").display().to_string();
    let less = ["--set", "max_size=16MiB", "--set", "per_octave=1", "--blocks", "1"];
    let ran = world.run(&[&["run", "--quiet", "--monitors", "none"], &less[..], &[&file]].concat());
    // One trial of each treatment makes no comparison, and is reported as such.
    assert!([0, 4].contains(&ran.code), "{}\n{}", ran.stdout, ran.stderr);
    let records = std::fs::read_to_string(world.runs()[0].join("records.jsonl")).unwrap();
    let mut lay: Vec<bool> = records
        .lines()
        .map(|line| {
            let record = json(line);
            let all = record["metrics"].as_array().unwrap().clone();
            let of = |name: &str| {
                all.iter().find(|m| m["name"] == name).and_then(|m| m["value"].as_f64())
            };
            of("node1_memory").unwrap_or(0.0) > of("node0_memory").unwrap_or(0.0)
        })
        .collect();
    lay.sort_unstable();
    assert_eq!(lay, [false, true], "{records}");
    let shown = ok(world.run(&["archive", "show", "last"]));
    let distances = Command::new("cat").arg("/sys/devices/system/node/node0/distance").output();
    let distances = String::from_utf8(distances.unwrap().stdout).unwrap();
    let printed = format!("distances {}", distances.trim());
    assert!(
        shown.stdout.contains("NUMA node 1") && shown.stdout.contains(&printed),
        "{}",
        shown.stdout
    );
}
