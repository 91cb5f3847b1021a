//! The workload `orders`, from the command line: scores, faults, and that no process or file is
//! left.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, Weak};

use crate::common::{World, wait_for};
use rustix::process::{Pid, Signal};
use serde_json::Value;
use tempfile::TempDir;

/// Settings for the shortest trial with all parts: 1 and 2 warehouses, small heaps.
const SHORT: [&str; 8] = [
    "peak=1",
    "least_points=1",
    "below=200ms",
    "scored=400ms",
    "ramp_up=1500ms",
    "ramp_down=50ms",
    "heap=192MiB",
    "collector=serial",
];

/// Cache that the running tests share. The first test compiles the kit, which takes longer than its
/// trial.
struct Java(Arc<TempDir>);

fn java() -> Option<Java> {
    static CACHE: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
    if Command::new("javac").arg("-version").output().is_err() {
        println!("skipped: because there is no javac (Debian package openjdk-17-jdk-headless)");
        return None;
    }
    let mut kept = CACHE.lock().unwrap();
    let cache = kept.upgrade().unwrap_or_else(|| Arc::new(tempfile::tempdir().unwrap()));
    *kept = Arc::downgrade(&cache);
    Some(Java(cache))
}

impl Java {
    fn run(&self, world: &World, more: &[&str]) -> Command {
        let mut command = world.assay(&arguments(more));
        command.env("ASSAY_CACHE", self.0.path());
        command
    }
}

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["run", "orders", "--blocks", "1", "--json"];
    for setting in SHORT.iter().chain(more) {
        all.extend(["--set", setting]);
    }
    all
}

/// Returns the only record of a run with these settings.
fn record(java: &Java, world: &World, more: &[&str]) -> (i32, Value) {
    let done = crate::common::done(&mut java.run(world, more));
    let run = world.runs().pop().unwrap_or_else(|| panic!("no run: {}", done.stderr));
    let text = std::fs::read_to_string(run.join("records.jsonl")).unwrap();
    let line = text.lines().next().unwrap_or_else(|| panic!("no record: {}", done.stderr));
    (done.code, serde_json::from_str(line).unwrap())
}

fn metric(record: &Value, name: &str) -> f64 {
    crate::common::metric(record, name).unwrap_or_else(|| panic!("{name} is missing"))
}

fn trial(world: &World) -> PathBuf {
    world.runs().pop().unwrap().join("trials/0001")
}

#[test]
fn two_instances_are_scored_marked_and_kept() {
    let Some(java) = java() else { return };
    let world = World::new();
    let (code, record) = record(&java, &world, &["instances=2"]);
    assert_eq!((code, record["outcome"].as_str()), (0, Some("completed")), "{record}");
    let score = metric(&record, "orders/s");
    assert!(score > 0.0 && (metric(&record, "orders/s per instance") - score / 2.0).abs() < 1e-6);
    let points = record["curves"][0]["points"].as_array().unwrap();
    let totals: Vec<f64> = points.iter().map(|p| p[1].as_f64().unwrap()).collect();
    assert_eq!(points.len(), 2);
    assert!((totals.iter().sum::<f64>() / 2.0 / score - 1.0).abs() < 1e-9, "the mean of 1 and 2");
    let findings = record["findings"].as_array().unwrap();
    let marked = findings.iter().find(|f| f["id"] == "orders-1.0").unwrap();
    assert!(marked["message"].as_str().unwrap().contains("not compliant"), "{marked}");
    for name in [
        "result.json",
        "verdict.json",
        "points.json",
        "memory.csv",
        "collections-2.log",
        "instance-1.log",
    ] {
        let path = trial(&world).join(name);
        assert!(path.exists() || name == "instance-1.log", "{}", path.display());
    }
    let memory = std::fs::read_to_string(trial(&world).join("memory.csv")).unwrap();
    assert_eq!(memory.lines().count(), 5, "{memory}");
    // The pack reads the file that the trial wrote, and recomputes the score.
    let result = trial(&world).join("result.json").display().to_string();
    let judged = world.run(&["rules", "judge", "orders", &result, "--json"]);
    let verdict = judged.json();
    let of = |id: &str| {
        let rules = verdict["rules"].as_array().unwrap();
        rules.iter().find(|r| r["id"] == id).unwrap()["result"].as_str().unwrap().to_owned()
    };
    for id in ["J3", "J7", "J9", "J10", "J12"] {
        assert_eq!(of(id), "pass", "{id}: {verdict}");
    }
    assert_eq!(of("J5"), "fail", "short points are not those of the rules");
    let verified = world.run(&["archive", "verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn more_instances_than_cpus_is_a_finding() {
    let Some(java) = java() else { return };
    let world = World::new();
    let all = ["instances=2", "heap=128MiB", "least_points=1"];
    let mut command = java.run(&world, &all);
    // The whole trial runs on one CPU.
    command.args(["--set", "controls.cpus=0"]);
    let done = crate::common::done(&mut command);
    if done.code == 2 {
        println!("skipped: because CPU 0 is not one of those that may be used: {}", done.stderr);
        return;
    }
    let text = std::fs::read_to_string(world.runs().pop().unwrap().join("records.jsonl")).unwrap();
    assert!(text.contains("2 instances share 1 CPUs"), "{text}");
}

#[test]
fn broken_books_void_the_result() {
    let Some(java) = java() else { return };
    for (fault, printed) in
        [("money", "money in is"), ("stock", "the stock of item 1 is -1"), ("orders", "where")]
    {
        let world = World::new();
        let (code, record) = record(&java, &world, &[&format!("fault={fault}")]);
        assert_eq!((code, record["outcome"].as_str()), (3, Some("invalid")), "{record}");
        let error = record["error"].as_str().unwrap();
        assert!(error.contains("the books do not add up") && error.contains(printed), "{error}");
        assert!(trial(&world).join("verdict.json").exists());
    }
}

#[test]
fn instances_that_end_or_hang_fail_the_trial() {
    let Some(java) = java() else { return };
    let cases = [
        (
            vec!["fault=exit", "instances=2"],
            "instance 2 ended before the end of its point (exit status: 9)",
        ),
        (
            vec!["fault=hang", "instances=2", "barrier=15s"],
            "1 of 2 instances (2) did not reach its warehouses within 15",
        ),
        (
            vec!["fault=memory"],
            "java.lang.OutOfMemoryError: Java heap space; the heap of 192 MiB is too small",
        ),
        (vec!["heap=16MiB"], "Java heap space; the heap of 16 MiB is too small: raise `heap`"),
        (vec!["heap=2MiB"], "the heap of 2 MiB is too small: raise `heap`"),
        (vec!["heap=24MiB", "collector=g1", "rate=100"], "the heap of 24 MiB is too small"),
        (vec!["options=-XX:+NoSuchOption"], "Unrecognized VM option 'NoSuchOption'"),
    ];
    for (settings, printed) in cases {
        let world = World::new();
        let (code, record) = record(&java, &world, &settings);
        assert_eq!((code, record["outcome"].as_str()), (3, Some("failed")), "{record}");
        let error = record["error"].as_str().unwrap();
        assert!(error.contains(printed), "{settings:?}: {error}");
        assert!(
            !crate::common::alive(&world.path("scratch").display().to_string()),
            "{settings:?}"
        );
    }
}

#[test]
fn what_cannot_be_is_an_error_before_anything_runs() {
    let world = World::new();
    let old = world.write("java8", "#!/bin/sh\necho 'openjdk version \"1.8.0_292\"' >&2\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&old, mode).unwrap();
    let old = format!("jvm={}", old.display());
    for (setting, printed) in [
        ("jvm=/nowhere/java", "openjdk-17-jdk-headless"),
        (old.as_str(), "is Java 8; orders runs on Java 11"),
        ("class=fast", "`fast` is not a scheduling class"),
        ("cpus=0 1", "there are 1 instances"),
        ("jar=/nowhere.jar", "there is no file /nowhere.jar"),
        ("scored=0s", "longer than 0 s"),
        ("search=true", "needs a `limit`, such as p99<=50ms"),
        ("limit=p99<=50ms", "`limit` needs `search = true` or a `rate`"),
        ("limit=50ms", "`50ms`; it takes a percentile, such as p99<=50ms"),
        ("limit=p100<=50ms", "it takes a percentile"),
        ("rate=-1", "`rate`"),
    ] {
        let done = world.run(&["run", "orders", "--set", setting]);
        assert!(done.code == 2 || done.code == 1, "{setting}: {} {}", done.code, done.stderr);
        // Lines are wrapped at the width of the terminal.
        let words: Vec<&str> = done.stderr.split_whitespace().collect();
        assert!(words.join(" ").contains(printed), "{setting}: {}", done.stderr);
    }
    assert!(world.runs().is_empty());
}

/// Returns the process ids of a world's virtual machines.
fn machines(world: &World) -> Vec<i32> {
    let mark = world.path("scratch").display().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(&mark) && line.contains("orders.Main")
    })
    .collect()
}

fn send(pid: i32, signal: Signal) {
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Returns the notes of a record in one text.
fn notes(record: &Value) -> String {
    record["notes"].to_string()
}

#[test]
fn every_request_at_a_rate_is_counted() {
    let Some(java) = java() else { return };
    let world = World::new();
    let rate = ["rate=3000", "instances=2", "scored=2s", "spacing=even"];
    let (code, record) = record(&java, &world, &rate);
    assert_eq!((code, record["outcome"].as_str()), (0, Some("completed")), "{record}");
    let text = std::fs::read_to_string(trial(&world).join("points.json")).unwrap();
    let points: Value = serde_json::from_str(&text).unwrap();
    let (mut offered, mut answered) = (0, 0);
    for instance in points[0]["instances"].as_array().unwrap() {
        let response = &instance["response"];
        let count = |name: &str| response[name].as_u64().unwrap();
        let times = response["times"].as_array().unwrap();
        let counts = times.chunks(2).map(|pair| pair[1].as_u64().unwrap()).sum::<u64>();
        assert_eq!(counts + count("refused") + count("unanswered"), count("offered"));
        // Two seconds at equal distances, with one more or fewer at each end.
        assert!(count("offered").abs_diff(3000) <= 2, "{response}");
        (offered, answered) = (offered + count("offered"), answered + counts);
    }
    assert_eq!(metric(&record, "offered"), offered as f64 / 2.0);
    assert_eq!(metric(&record, "unanswered"), (offered - answered) as f64);
    assert!(metric(&record, "response_p50") <= metric(&record, "response_p99"));
    assert!(metric(&record, "response_p99") <= metric(&record, "response_max") * 1.01);
    assert_eq!(crate::common::metric(&record, "response_p99.99"), None, "too few for it");
    assert!(metric(&record, "collection_pause") >= 0.0 && metric(&record, "late_share") <= 1.0);
    let heat = record["heat_maps"]["response_time"]["counts"].to_string();
    assert!(heat.len() > 100, "{heat}");
    let run = world.runs().pop().unwrap();
    let plan = std::fs::read_to_string(run.join("plan.json")).unwrap();
    assert!(plan.contains("\"metric\": \"response_p99\""), "{plan}");
    assert!(!trial(&world).join("result.json").exists(), "the rule pack has no points at a rate");
}

/// All requests that fell due while the virtual machine was stopped have waited for its end.
#[test]
fn a_stopped_virtual_machine_shows_in_the_response_times() {
    let Some(java) = java() else { return };
    let world = World::new();
    let rate = ["rate=2000", "spacing=even", "scored=6s", "ramp_up=500ms", "ramp_down=2s"];
    let mut command = java.run(&world, &rate);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    // The thread of the warehouse sleeps at most once for each of the 1000 requests of the ramp-up.
    let sleeps = |pid: i32| -> Option<u64> {
        let mut tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
        let task = tasks.find(|task| {
            std::fs::read_to_string(task.path().join("comm"))
                .is_ok_and(|n| n.trim() == "warehouse-1")
        })?;
        let status = std::fs::read_to_string(task.path().join("status")).ok()?;
        status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
    };
    wait_for("the measurement never began", || {
        machines(&world).first().copied().and_then(sleeps).is_some_and(|n| n > 1300)
    });
    let pid = machines(&world)[0];
    send(pid, Signal::STOP);
    std::thread::sleep(std::time::Duration::from_millis(300));
    send(pid, Signal::CONT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let run = world.runs().pop().unwrap();
    let text = std::fs::read_to_string(run.join("records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(metric(&record, "response_max") > 0.298, "{record}");
    // 600 of 12,000 requests fell due in the stop, of which 12 and 120 waited longer than these.
    assert!(metric(&record, "response_p99.9") > 0.28, "{record}");
    assert!(metric(&record, "response_p99") > 0.23, "{record}");
    assert!(metric(&record, "late_share") > 0.04, "{record}");
}

#[test]
fn a_rate_that_is_not_held_has_no_percentiles() {
    let Some(java) = java() else { return };
    let world = World::new();
    let all = ["rate=2000000", "queue=100", "limit=p50<=1s"];
    let (code, record) = record(&java, &world, &all);
    assert_eq!((code, record["outcome"].as_str()), (3, Some("failed")), "{record}");
    let error = record["error"].as_str().unwrap();
    assert!(error.contains("no value for `response_p99`"), "{error}");
    assert!(
        error.contains("was not held: of ") && error.contains(" found the queue full"),
        "{error}"
    );
    assert!(notes(&record).contains("the limit p50<=1s: p50 missing, unknown"), "{record}");
    assert!(metric(&record, "unanswered") > metric(&record, "orders/s"));
}

#[test]
fn the_search_notes_its_steps_and_measures_the_answer() {
    let Some(java) = java() else { return };
    let world = World::new();
    // On a loaded machine a transaction may wait for seconds.
    let all = ["search=true", "limit=p50<=10s", "precision=1", "scored=300ms", "ramp_up=200ms"];
    let (code, record) = record(&java, &world, &all);
    assert_eq!((code, record["outcome"].as_str()), (0, Some("completed")), "{record}");
    let highest = metric(&record, "max_rate");
    let notes = notes(&record);
    assert!(notes.contains("step 1: at ") && notes.contains(", kept"), "{notes}");
    assert!(notes.contains("is the highest rate that keeps p50<=10s; "), "{notes}");
    let text = std::fs::read_to_string(trial(&world).join("points.json")).unwrap();
    let points: Value = serde_json::from_str(&text).unwrap();
    let points = points.as_array().unwrap();
    assert_eq!(points[0]["rate"], Value::Null, "the first point has no rate");
    assert_eq!(points[points.len() - 1]["rate"].as_f64(), Some(highest));
    assert!(points[1..points.len() - 1].iter().any(|p| p["rate"].as_f64() == Some(highest)));
    let world = World::new();
    let all = ["search=true", "limit=p50<=1us", "scored=200ms", "ramp_up=100ms", "rate=20"];
    let (code, record) = self::record(&java, &world, &all);
    assert_eq!((code, record["outcome"].as_str()), (3, Some("failed")), "{record}");
}

/// At exponential distances, two trials of a rate differ in the number of their requests.
#[test]
fn a_window_at_a_rate_is_the_same_work() {
    let Some(java) = java() else { return };
    let world = World::new();
    let rate = ["rate=500", "scored=600ms", "ramp_up=500ms", "collector=serial,parallel"];
    let mut command = java.run(&world, &rate);
    // 4: one block has no interval.
    let done = crate::common::done(command.args(["--metric", "response_p50"]));
    assert_eq!(done.code, 4, "{}", done.stderr);
    let shown = world.run(&["show", "--json"]).json().to_string();
    assert!(shown.contains("interval-present") && !shown.contains("same-work"), "{shown}");
}

#[test]
fn one_cpu_is_shared_by_requests_and_transactions() {
    let Some(java) = java() else { return };
    let world = World::new();
    let mut command = java.run(&world, &["rate=500"]);
    command.args(["--set", "controls.cpus=0", "--metric", "response_p50"]);
    let done = crate::common::done(&mut command);
    if done.code == 2 {
        println!("skipped: because CPU 0 is not one of those that may be used: {}", done.stderr);
        return;
    }
    let text = std::fs::read_to_string(world.runs().pop().unwrap().join("records.jsonl")).unwrap();
    assert!(
        text.contains(
            "a virtual machine has one CPU: requests, transactions and collector share it"
        ),
        "{text}"
    );
}

/// `kill -9` of assay or of one virtual machine, in the middle of a point.
#[test]
fn a_kill_leaves_nothing_running() {
    let Some(java) = java() else { return };
    for victim in ["assay", "java"] {
        let world = World::new();
        let mut command = java.run(&world, &["instances=2", "scored=60s", "below=60s"]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        wait_for("the virtual machines never started", || machines(&world).len() == 2);
        let pid = if victim == "assay" { child.id() as i32 } else { machines(&world)[0] };
        send(pid, Signal::KILL);
        wait_for("a virtual machine lives on", || machines(&world).is_empty());
        let status = child.wait().unwrap();
        if victim == "java" {
            assert_eq!(status.code(), Some(3));
            let run = world.runs().pop().unwrap();
            let text = std::fs::read_to_string(run.join("records.jsonl")).unwrap();
            assert!(
                text.contains("(signal: 9 (SIGKILL))")
                    && text.contains("it was killed, perhaps by the kernel"),
                "{text}"
            );
        }
    }
}

/// The kit has unit tests of its own.
#[test]
fn the_kit_passes_its_own_tests() {
    if java().is_none() {
        return;
    }
    let world = World::new();
    let sources = ["main", "test"].map(|part| {
        crate::common::repository().join(format!("kits/orders/src/{part}/java/orders"))
    });
    let files =
        sources.iter().flat_map(|dir| std::fs::read_dir(dir).unwrap().flatten().map(|e| e.path()));
    let classes = world.path("classes");
    let mut javac = Command::new("javac");
    let compiled =
        crate::common::done(javac.args(["--release", "11", "-d"]).arg(&classes).args(files));
    assert_eq!(compiled.code, 0, "{}", compiled.stderr);
    let mut java = Command::new("java");
    let tested = crate::common::done(java.arg("-cp").arg(&classes).arg("orders.SelfTest"));
    assert_eq!(tested.code, 0, "{}{}", tested.stdout, tested.stderr);
}
