//! Workloads that fail, hang, flood their output or leave processes; archives that cannot be
//! written; a full disk.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{World, alive, done, json, root, wait_for};

#[test]
fn a_command_that_fails() {
    let world = World::new();
    let ran =
        world.run(&["run", "--json", "--blocks", "5", "--", "sh", "-c", "echo oh no >&2; exit 9"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let result = json(&ran.stdout);
    let records = result["records"].as_array().unwrap();
    // max_failures is 3: the run ends early and reports it.
    assert_eq!(records.len(), 3);
    assert_eq!(records[0]["outcome"], "failed");
    let error = records[0]["error"].as_str().unwrap();
    assert!(error.contains("exit code 9") && error.contains("oh no"), "{error}");
    assert_eq!(world.run(&["archive", "verify"]).code, 0);
}

#[test]
fn a_failure_that_is_expected() {
    let world = World::new();
    let ran = world.run(&["run", "--ignore-failure", "--blocks", "3", "--", "false"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_command_that_hangs() {
    let world = World::new();
    let began = Instant::now();
    let script = "trap \"\" TERM; sleep 991.75 & sleep 991.75";
    let options = ["run", "--json", "--blocks", "1", "--timeout", "300 ms", "--"];
    let ran = world.run(&[&options[..], &["sh", "-c", script]].concat());
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert_eq!(json(&ran.stdout)["records"][0]["outcome"], "timed-out");
    assert!(!alive("sleep 991.75"), "its whole process group is ended");
    assert!(began.elapsed().as_secs() < 120);
}

/// Kills assay at many moments of a run. Every process that it started ends with it, even one that
/// left its process group or has no environment. If the guard is killed first, the next start
/// reports the processes that it ends.
#[test]
fn nothing_outlives_a_killed_assay() {
    let mark = "991.87";
    let script = format!(
        "sleep {mark} & (setsid sleep {mark} &) ; env -i sleep {mark} & sleep {mark} | cat"
    );
    let set_up = format!("sh -c 'sleep {mark} & sleep 0.2; kill $!'");
    // Any other assay that starts would end what the last kill left, and this test kills all
    // guards.
    let _turn = assay_testing::alone();
    let world = World::in_turn();
    let start = |set_up: &str| {
        let options = [
            "run",
            "--blocks",
            "2",
            "--monitors",
            "none",
            "--setup",
            set_up,
            "--",
            "sh",
            "-c",
            &script,
        ];
        world.assay(&options).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for kill in 0..8 {
        let mut child = start(&set_up);
        std::thread::sleep(Duration::from_millis(150 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for("a program of a killed assay lives on", || !alive(mark));
    }
    let mut child = start("true");
    // assay's own command line contains the script too.
    let asleep = || {
        let found =
            std::process::Command::new("pgrep").args(["-f", &format!("^sleep {mark}")]).output();
        found.unwrap().status.success()
    };
    wait_for("it never started", asleep);
    let guards = std::process::Command::new("pkill").args(["-KILL", "-f", "__guard"]).status();
    assert!(guards.unwrap().success());
    let found = world.run(&["doctor", "--json"]);
    assert!(!found.stdout.contains(mark), "its assay lives: {}", found.stdout);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(asleep());
    let found = world.run(&["doctor", "--json"]);
    assert!(found.stdout.contains(mark), "{}", found.stdout);
    let next = world.run(&["run", "--blocks", "3", "--", "true"]);
    let said = next.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("which a killed assay had left"), "{said}");
    wait_for("a program lives on", || !alive(mark));
}

#[test]
fn a_command_that_prints_a_gigabyte() {
    let world = World::new();
    let ran = world.run(&[
        "run",
        "--json",
        "--blocks",
        "1",
        "--",
        "head",
        "-c",
        "1000000000",
        "/dev/zero",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let stdout = &json(&ran.stdout)["records"][0]["stdout"];
    assert_eq!(stdout["bytes"], 1_000_000_000);
    assert_eq!(stdout["kept"], 2 << 20);
}

#[test]
fn a_command_that_forks_and_leaves() {
    let world = World::new();
    let script = "setsid sleep 992.5 & sleep 992.5 &";
    let ran = world.run(&["run", "--json", "--blocks", "2", "--", "sh", "-c", script]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let result = json(&ran.stdout);
    let findings = result["records"][0]["findings"].to_string();
    assert!(findings.contains("left 2 of its processes running"), "{findings}");
    assert!(!alive("sleep 992.5"));
}

#[test]
fn a_workload_that_gives_wrong_output() {
    let world = World::new();
    let kit = world.path("kit/wrong");
    std::fs::create_dir_all(&kit).unwrap();
    std::fs::write(
        kit.join("kit.toml"),
        r#"
name = "wrong"
version = "1"
help = "prints a wrong answer"
[run]
command = ["echo", "41"]
[validate]
stdout_contains = ["42"]
[[metric]]
name = "elapsed"
unit = "s"
better = "lower"
from = "elapsed"
help = "wall time"
"#,
    )
    .unwrap();
    let ran = world.run(&["run", "--json", "./kit/wrong", "--blocks", "3"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(json(&ran.stdout)["records"][0]["outcome"], "invalid");
}

#[test]
fn an_archive_that_cannot_be_written() {
    let world = World::new();
    world.write("a-file", "");
    for place in ["a-file", "/proc/assay-archive", "/dev/null/x"] {
        let mut command = world.assay(&["run", "noop", "--blocks", "1"]);
        let ran = done(command.env("ASSAY_ARCHIVE", world.path(place)));
        assert_eq!(ran.code, 1, "{place}: {}", ran.stderr);
        assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
    }
}

/// A small file system, which is unmounted when dropped.
struct Small(std::path::PathBuf);

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_is_full() {
    let world = World::new();
    let small = world.path("archive");
    let mounted = root()
        && std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"])
            .arg(&small)
            .status()
            .is_ok_and(|s| s.success());
    if !mounted {
        println!("skipped: because a small file system needs root and mount(8)");
        return;
    }
    let _small = Small(small.clone());
    let events = world.path("events").display().to_string();
    let flood = ["run", "--monitors", "none", "--blocks", "40", "--seed", "1", "--events", &events];
    let command = ["--", "head", "-c", "500000", "/dev/urandom"];
    let ran = world.run(&[&flood[..], &command[..]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("no space") || ran.stderr.contains("No space"), "{}", ran.stderr);
    // No file is half-written: the files that exist verify.
    let verified = world.run(&["archive", "verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    // The archive can be read on the full disk, and has every trial that was acknowledged.
    let shown = world.run(&["archive", "show", "last", "--json"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let events = std::fs::read_to_string(world.path("events")).unwrap();
    let reported = events.lines().map(json).filter_map(|e| e["trials"].as_array().cloned());
    let reported: Vec<u64> = reported.flatten().filter_map(|t| t["number"].as_u64()).collect();
    let kept: Vec<u64> = shown.records().iter().filter_map(|r| r["number"].as_u64()).collect();
    assert!(
        !reported.is_empty() && reported.iter().all(|n| kept.contains(n)),
        "{reported:?} {kept:?}"
    );
    // When there is room again, the run continues to its end.
    let grown = std::process::Command::new("mount")
        .args(["-o", "remount,size=200m"])
        .arg(&small)
        .status()
        .unwrap();
    assert!(grown.success());
    let resumed = world.run(&["run", "--json", "--resume", "last"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let result = json(&resumed.stdout);
    assert_eq!(result["records"].as_array().unwrap().len(), 40);
    let verified = world.run(&["archive", "verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn a_time_over_which_assay_was_stopped_is_doubtful() {
    use rustix::process::{Pid, Signal, kill_process};
    let world = World::new();
    let began = world.path("began");
    let script = format!("touch {}; sleep 0.5", began.display());
    let arguments =
        ["run", "--json", "--monitors", "none", "--blocks", "3", "--", "sh", "-c", &script];
    let child =
        world.assay(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the command never came", || began.exists());
    let assay = Pid::from_child(&child);
    kill_process(assay, Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    kill_process(assay, Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    let result = json(&String::from_utf8_lossy(&output.stdout));
    let record = &result["records"][0];
    assert_eq!(record["outcome"], "completed", "{record:#}");
    let of = |name: &str| {
        record["metrics"].as_array().unwrap().iter().find(|m| m["name"] == name).unwrap()
    };
    let doubt = of("elapsed")["doubt"].as_str().unwrap_or_else(|| panic!("{record:#}"));
    assert!(doubt.contains("assay was stopped"), "{doubt}");
    assert!(of("user")["doubt"].is_null(), "the kernel accounts it");
    // The page and the terminal mark the number too.
    assert_eq!(world.run(&["publish", "last", "-o", "page"]).code, 0);
    let page = std::fs::read_to_string(world.path("page/index.html")).unwrap();
    assert!(page.contains("(doubtful)"));
    let shown = world.run(&["archive", "show", "last"]);
    assert!(shown.stdout.contains("doubtful"), "{}{}", shown.stdout, shown.stderr);
}

/// With a quota of a tenth of a CPU, each trial reports the number of periods in which it was
/// throttled, as the control group counts them.
#[test]
fn a_quota_that_stops_the_program_is_measured_and_reported() {
    let tops = [
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "10000"),
        ("/sys/fs/cgroup", "cpu.max", "10000 100000"),
    ];
    let group = tops.iter().find_map(|(top, file, quota)| {
        let group = std::path::PathBuf::from(format!("{top}/assay-quota-{}", std::process::id()));
        std::fs::create_dir(&group).ok()?;
        match std::fs::write(group.join(file), quota) {
            Ok(()) => Some(group),
            Err(_) => std::fs::remove_dir(&group).ok().and(None),
        }
    });
    let Some(group) = group else {
        println!("skipped: because no control group with a CPU quota can be made here");
        return;
    };
    let world = World::new();
    let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let plain = world.assay(&[
        "run",
        "--json",
        "--blocks",
        "3",
        "--monitors",
        "none",
        "--",
        "sh",
        "-c",
        busy,
    ]);
    let join = format!("echo $$ > {}/cgroup.procs; exec \"$0\" \"$@\"", group.display());
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &join]).arg(plain.get_program()).args(plain.get_args());
    limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.current_dir(world.path(""));
    let ran = done(&mut limited);
    wait_for("the group is still in use", || std::fs::remove_dir(&group).is_ok());
    let result = json(&ran.stdout);
    let record = &result["records"][0];
    let stopped = crate::common::metric(record, "stopped_by_quota").unwrap();
    let (user, elapsed) = (
        crate::common::metric(record, "user").unwrap(),
        crate::common::metric(record, "elapsed").unwrap(),
    );
    assert!(stopped > 0.3 * (elapsed - user), "{stopped} s of {elapsed} s, {user} s on CPU");
    let found = record["findings"].as_array().unwrap().iter();
    assert!(
        found
            .clone()
            .any(|f| f["id"] == "F07" && f["message"].as_str().unwrap().contains("periods")),
        "{record}"
    );
}
