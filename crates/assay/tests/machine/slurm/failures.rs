//! Runs whose nodes, job or controller fail.

use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{assay, column, nodes, nothing_is_left, on_nodes, run};
use crate::common::virtual_slurm::Slurm;
use crate::common::{World, alive, done, wait_for};

fn lines(world: &World) -> usize {
    std::fs::read_to_string(world.path("did.txt")).map_or(0, |t| t.lines().count())
}

/// Starts a run in which every trial adds a line per node to `did.txt` and then sleeps.
fn start(world: &World, slurm: &Slurm, nodes: &str, seconds: &str) -> Child {
    let did = world.path("did.txt");
    start_script(
        world,
        slurm,
        nodes,
        &format!("echo did >> {}; exec sleep {seconds}", did.display()),
    )
}

/// Starts a run like [`start`], but after `lines` lines a trial waits for the file `go`. Everything
/// that a test does before it makes that file happens in the middle of the trial, however slow the
/// machine is.
fn start_held(world: &World, slurm: &Slurm, nodes: &str, lines: usize) -> Child {
    let (did, go) = (world.path("did.txt"), world.path("go"));
    let (did, go) = (did.display(), go.display());
    let script = format!(
        "echo did >> {did}; [ $(wc -l < {did}) -le {lines} ] || until [ -e {go} ]; do sleep 0.05; \
        done"
    );
    start_script(world, slurm, nodes, &script)
}

fn start_script(world: &World, slurm: &Slurm, nodes: &str, script: &str) -> Child {
    let arguments = on_nodes(nodes, &["--blocks", "3", "--json", "--", "sh", "-c", script]);
    let mut command = assay(world, slurm, &arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> (i32, Value, String) {
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let result =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {printed}"));
    (output.status.code().unwrap(), result, printed)
}

#[test]
fn a_node_that_dies_fails_its_trial_alone() {
    let Some(slurm) = Slurm::start(4) else { return };
    let world = World::new();
    let child = start_held(&world, &slurm, "3", 3);
    wait_for("the second trial begins", || lines(&world) >= 6);
    slurm.kill("n2");
    world.write("go", "");
    let (code, result, printed) = ended(child);
    assert_eq!(code, 3, "{printed}");
    let records = result["records"].as_array().unwrap();
    assert_eq!(column(records, "outcome"), ["completed", "failed", "completed"], "{result}");
    let error = records[1]["error"].as_str().unwrap();
    assert!(error.contains("node n2 lost its agent"), "{error}");
    assert!(records[1].get("metrics").is_none(), "half a trial has no metrics");
    // The third trial ran on the remaining nodes.
    assert_eq!(column(&nodes(&world, "0003"), "node"), ["n1", "n3", "n4"]);
    wait_for("the job is gone", || slurm.jobs().is_empty());
}

#[test]
fn a_cancelled_job_ends_the_run_which_can_be_resumed() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let child = start_held(&world, &slurm, "2", 2);
    wait_for("the second trial begins", || lines(&world) >= 4);
    slurm.call("scancel", &["--user=root"]);
    let (code, result, printed) = ended(child);
    world.write("go", "");
    assert_eq!(code, 130, "{printed}");
    let records = result["records"].as_array().unwrap();
    assert_eq!(records.len(), 2, "{result:#}{printed}");
    let error = records[1]["error"].as_str().unwrap();
    assert_eq!(records[1]["outcome"], "interrupted");
    assert!(error.contains("node n") && error.contains("CANCELLED"), "{error}");
    assert!(printed.contains("was cancelled") && printed.contains("--resume"), "{printed}");
    nothing_is_left(&world, &slurm);
    let resumed = run(&world, &slurm, &["run", "--resume", "last", "--json"]);
    let result = resumed.json();
    assert_eq!(result["summary"]["state"], "completed");
    let records = result["records"].as_array().unwrap();
    assert_eq!(records.len(), 3);
    assert!(records.iter().all(|r| r["outcome"] == "completed"), "the cut-off trial is repeated");
    assert_eq!(records[1]["attempt"], 2);
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_job_that_waits_too_long_is_cancelled_and_says_how_long() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let holder = start_held(&world, &slurm, "2", 0);
    wait_for("the nodes are taken", || lines(&world) >= 2);
    let text = "name = \"x\"\nworkload = \"noop\"\n[where]\nengine = \"slurm\"\nnodes = 2\n\
        max_wait = \"3 s\"\n";
    let experiment = world.write("x.toml", text);
    let done = run(&world, &slurm, &["run", experiment.to_str().unwrap()]);
    let printed = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_ne!(done.code, 0, "{printed}");
    assert!(printed.contains("waited longer than 3.000 s for its nodes"), "{printed}");
    assert!(printed.contains("`where.max_wait`"), "{printed}");
    world.write("go", "");
    assert_eq!(ended(holder).0, 0);
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_killed_run_leaves_no_job_and_ctrl_c_neither() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let clean = || {
        nothing_is_left(&world, &slurm);
        assert!(!alive("sleep 97.5"), "no program is left");
    };
    let mut child = start(&world, &slurm, "2", "97.5");
    wait_for("the first trial begins", || lines(&world) >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = run(&world, &slurm, &["archive", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    wait_for("the job is gone", || slurm.jobs().is_empty());
    wait_for("its programs are gone", || !alive("sleep 97.5"));
    run(&world, &slurm, &["archive", "list"]);
    clean();

    let child = start(&world, &slurm, "2", "97.5");
    wait_for("the first trial begins", || lines(&world) >= 4);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let (code, result, printed) = ended(child);
    assert_eq!(code, 130, "{printed}");
    assert_eq!(result["records"][0]["outcome"], "interrupted");
    clean();

    // A waiting job is cancelled too; another job has taken the nodes.
    slurm.call("salloc", &["--nodes=2", "--exclusive", "--no-shell"]);
    wait_for("the other runs", || slurm.jobs().contains("RUNNING"));
    let mut child = start(&world, &slurm, "2", "97.5");
    wait_for("the job waits", || slurm.jobs().contains("PENDING"));
    child.kill().unwrap();
    child.wait().unwrap();
    let next = run(&world, &slurm, &["archive", "list"]);
    assert!(next.stderr.contains("cancelled the Slurm job"), "{}", next.stderr);
    assert!(!slurm.jobs().contains("PENDING"));
    slurm.call("scancel", &["--user=root"]);
    wait_for("the other is gone", || slurm.jobs().is_empty());
    run(&world, &slurm, &["archive", "list"]);
    clean();
}

#[test]
fn a_restart_of_the_controller_harms_nothing() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let child = start(&world, &slurm, "2", "1.5");
    wait_for("the first trial begins", || lines(&world) >= 2);
    slurm.controller("stop");
    wait_for("the next trial begins without it", || lines(&world) >= 4);
    slurm.controller("start");
    let (code, result, printed) = ended(child);
    assert_eq!(code, 0, "{printed}");
    assert_eq!(result["records"].as_array().unwrap().len(), 3);
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_task_that_never_starts_is_named() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let daemon = Pid::from_raw(slurm.slurmd("n2")).unwrap();
    kill_process(daemon, Signal::STOP).unwrap();
    let experiment = world.write(
        "x.toml",
        "name = \"x\"\nworkload = \"noop\"\n[where]\nengine = \"slurm\"\nnodes = 2\n\
        start_timeout = \"3 s\"\n",
    );
    let ran = run(&world, &slurm, &["run", experiment.to_str().unwrap()]);
    kill_process(daemon, Signal::CONT).unwrap();
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let printed = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("no agent of assay started on node n2 within 3"), "{printed}");
    wait_for("the job is gone", || slurm.jobs().is_empty());
}

#[test]
fn a_task_that_never_starts_fails_its_trial_alone() {
    let Some(slurm) = Slurm::start(3) else { return };
    let world = World::new();
    let did = world.path("did.txt");
    let experiment = world.write(
        "x.toml",
        &format!(
            "name = \"x\"\nworkload = \"command\"\nparams.command = \"sh -c 'echo did >> {did}; \
             while [ ! -e {go} ]; do sleep 0.05; done'\"\n[design]\nblocks = 3\n[observe]\n\
             monitors = []\n\
             [where]\nengine = \"slurm\"\nnodes = 2\njob = \"block\"\nstart_timeout = \"4 s\"\n",
            did = did.display(),
            go = world.path("go").display()
        ),
    );
    let arguments = ["run", experiment.to_str().unwrap(), "--json"];
    let mut command = assay(&world, &slurm, &arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the first trial begins", || lines(&world) >= 2);
    // From now on n3 accepts tasks and starts none, and the next job cannot have n1.
    let daemon = Pid::from_raw(slurm.slurmd("n3")).unwrap();
    kill_process(daemon, Signal::STOP).unwrap();
    slurm.call("scontrol", &["update", "nodename=n1", "state=drain", "reason=test"]);
    world.write("go", "");
    wait_for("the second job runs", || slurm.jobs().contains("2 RUNNING"));
    slurm.call("scontrol", &["update", "nodename=n1", "state=resume"]);
    let (code, result, printed) = ended(child);
    kill_process(daemon, Signal::CONT).unwrap();
    assert_eq!(code, 3, "{printed}");
    let records = result["records"].as_array().unwrap();
    assert_eq!(column(records, "outcome"), ["completed", "failed", "completed"], "{result}");
    let error = records[1]["error"].as_str().unwrap();
    assert!(error.contains("no agent of assay started on node n3 within 4"), "{error}");
    assert_eq!(column(&nodes(&world, "0003"), "node"), ["n1", "n2"]);
    wait_for("the job is gone", || slurm.jobs().is_empty());
}

#[test]
fn a_full_folder_fails_the_trial_with_the_node_named() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let full = world.path("full");
    std::fs::create_dir(&full).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "none"])
        .arg(&full)
        .status()
        .is_ok_and(|s| s.success());
    if !mounted {
        println!("skipped: because no file system can be mounted here");
        return;
    }
    let write = format!("dd if=/dev/zero of={}/x bs=1M count=1", full.display());
    let arguments = on_nodes("2", &["--blocks", "1", "--prepare", &write, "--json", "--", "true"]);
    let failed = run(&world, &slurm, &arguments);
    // The archive is on a full disk: the run ends, and its job with it.
    let arguments = on_nodes("2", &["--blocks", "2", "--", "true"]);
    let mut command = assay(&world, &slurm, &arguments);
    let no_room = done(command.env("ASSAY_ARCHIVE", full.join("archive")));
    let unmounted = Command::new("umount").arg("-l").arg(&full).status().unwrap();
    assert!(unmounted.success());
    assert_eq!(failed.code, 3, "{}", failed.stderr);
    let result = failed.json();
    let error = result["records"][0]["error"].as_str().unwrap();
    assert!(error.contains("node n") && error.contains("No space left"), "{error}");
    assert_eq!(no_room.code, 1, "{}", no_room.stderr);
    nothing_is_left(&world, &slurm);
}
