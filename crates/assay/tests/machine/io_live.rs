//! `assay io` without a trace: its arguments, its results, and errors for unsupported requests.

use crate::common::World;

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
    let all = done.json();
    let class = std::fs::read_dir("/sys/class/block").map_or(0, Iterator::count);
    assert_eq!(all.as_array().unwrap().len(), class);
    let text = world.run(&["io", "--devices"]).stdout;
    assert!(text.lines().all(|l| l.chars().count() <= 80 || l.contains("/dev/")), "{text}");
}

#[test]
fn a_command_is_watched_and_its_failure_is_reported() {
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

#[test]
fn the_ticks_that_the_look_cut_are_marked_with_their_length() {
    let world = World::new();
    let script = format!(
        "for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of={} bs=64k count=16 conv=fsync; sleep 0.1; \
        done",
        world.path("written").display()
    );
    // The whole observation fits into the tick of 1 h.
    for (tick, length_s) in [("300 ms", 0.3), ("1 h", 3600.0)] {
        let done = world.run(&["io", "-i", tick, "--json", "--", "sh", "-c", &script]);
        if done.code == 1 || done.code == 6 {
            let nothing = "no I/O of the folder for temporary files reaches a disk";
            println!(
                "skipped: because {}",
                if done.code == 6 { nothing } else { done.stderr.trim() }
            );
            return;
        }
        let report = done.json();
        let ticks = report["series"]["ticks"].as_array().unwrap();
        let began = report["origin_ns"].as_u64().unwrap();
        let ended = began + report["span_ns"].as_u64().unwrap();
        let mut watched_s = 0.0;
        for t in ticks {
            let from = t["t_ns"].as_u64().unwrap();
            let to = from + report["series"]["tick_ns"].as_u64().unwrap();
            let cut = from < began || to > ended;
            assert_eq!(t["partial"].as_bool().unwrap_or(false), cut, "{t} of {began} to {ended}");
            let seconds = t["seconds"].as_f64().unwrap_or(length_s);
            assert_eq!(seconds < length_s, cut, "{t}");
            watched_s += seconds;
        }
        // No tick counts time without observation.
        assert!(watched_s <= (ended - began) as f64 / 1e9 + 1e-6, "{ticks:#?}");
        assert!(tick != "1 h" || ticks.iter().all(|t| t["partial"] == true), "{ticks:#?}");
    }
}

/// Runs assay as the user `nobody`, from a folder that every user may read.
fn as_nobody(arguments: &[&str]) -> Option<std::process::Output> {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("assay");
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), &program).unwrap();
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=nobody", "--clear-groups", "--bounding-set=-all"]).arg(program);
    let done = command.args(arguments).current_dir("/").output().ok()?;
    let reported = String::from_utf8_lossy(&done.stderr).into_owned();
    if reported.starts_with("setpriv") {
        println!("skipped: because no other user can be taken on: {}", reported.trim());
        return None;
    }
    Some(done)
}

#[test]
fn without_privileges_the_counters_answer_and_the_rest_is_reported_as_missing() {
    let Some(done) = as_nobody(&["io", "-n", "1", "--json"]) else { return };
    let reported = String::from_utf8_lossy(&done.stderr);
    // Exit code 6: there was no I/O in that second.
    assert!(matches!(done.status.code(), Some(0 | 6)), "{reported}");
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let format = report["source"]["format"].as_str().unwrap();
    let notes = report["source"]["notes"].to_string();
    if format.contains("perf") {
        println!("skipped: because this kernel lets everybody trace (perf_event_paranoid)");
        return;
    }
    assert!(format.contains("counters"), "{format}");
    assert!(notes.contains("CAP_BPF") && notes.contains("are unknown"), "{notes}");
    assert!(report["classes"]["aio"].is_null(), "missing is not 0");
}

#[test]
fn without_privileges_a_question_that_counters_cannot_answer_is_refused() {
    let Some(done) = as_nobody(&["io", "--events", "-n", "1"]) else { return };
    let reported = String::from_utf8_lossy(&done.stderr);
    if done.status.success() {
        println!("skipped: because this kernel lets everybody trace");
        return;
    }
    assert_eq!(done.status.code(), Some(1), "{reported}");
    let reported = reported.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reported.contains("CAP_BPF") && reported.contains("separate devices"), "{reported}");
}
