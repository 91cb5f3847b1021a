//! `assay io` without a trace: what is typed, what it answers, and that it says what it cannot do.
#![allow(clippy::unwrap_used)] // this is a test

mod common;

use common::World;

#[test]
fn a_device_that_is_not_there_is_a_mistake() {
    let world = World::new();
    let done = world.run(&["io", "--device", "no-such-disk", "-n", "1"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("no-such-disk") && done.stderr.contains("--devices"),
        "{}",
        done.stderr
    );
    let done = world.run(&["io", "--from", "x", "--events"]);
    assert_eq!(done.code, 2, "a recorded trace is not watched: {}", done.stderr);
}

#[test]
fn devices_are_listed_with_their_numbers() {
    let world = World::new();
    let done = world.run(&["io", "--devices", "--json"]);
    if done.stderr.contains("/sys/class/block") {
        println!("skipped: because /sys/class/block cannot be read");
        return;
    }
    assert_eq!(done.code, 0, "{}", done.stderr);
    let all: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let class = std::fs::read_dir("/sys/class/block").map_or(0, Iterator::count);
    assert_eq!(all.as_array().unwrap().len(), class);
    let text = world.run(&["io", "--devices"]).stdout;
    assert!(text.lines().all(|l| l.chars().count() <= 80 || l.contains("/dev/")), "{text}");
}

#[test]
fn a_command_is_watched_and_its_failure_is_told() {
    let world = World::new();
    let file = world.path("written");
    let script =
        format!("dd if=/dev/zero of={} bs=64k count=16 conv=fsync; exit 7", file.display());
    let done = world.run(&[
        "io",
        "--by",
        "program,direction",
        "--hist",
        "size",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    if done.code == 1 {
        println!("skipped: because {}", done.stderr.trim());
        return;
    }
    assert_eq!(done.code, 3, "the command failed: {}", done.stderr);
    assert!(done.stdout.contains("What it cost"), "{}", done.stdout);
    assert!(done.stdout.contains("dropped by the tracer: 0"), "{}", done.stdout);
    for line in done.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
