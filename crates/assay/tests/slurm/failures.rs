//! Runs on the nodes of a real Slurm, which the tests start on this machine: one record of all nodes, and
//! what becomes of a run whose nodes, job or controller fail.
#![allow(clippy::unwrap_used)] // this is a test

mod common;

use std::process::{Child, Command, Stdio};

use common::mini_suite;
use common::virtual_slurm::{Slurm, until};
use common::{Done, World, done};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn assay(world: &World, slurm: &Slurm, arguments: &[&str]) -> Command {
    let mut command = world.assay(arguments);
    command.env("SLURM_CONF", slurm.conf());
    command
}

fn run(world: &World, slurm: &Slurm, arguments: &[&str]) -> Done {
    done(&mut assay(world, slurm, arguments))
}

/// What is kept with a trial, of the newest run.
fn file(world: &World, trial: &str, name: &str) -> String {
    let run = world.runs().into_iter().max().unwrap();
    std::fs::read_to_string(run.join("trials").join(trial).join(name)).unwrap()
}

fn lines(world: &World) -> usize {
    std::fs::read_to_string(world.path("did.txt")).map_or(0, |t| t.lines().count())
}

/// Starts a run whose every trial adds a line a node to `did.txt` and then takes its time.
fn start(world: &World, slurm: &Slurm, nodes: &str, seconds: &str) -> Child {
    let did = world.path("did.txt");
    start_script(
        world,
        slurm,
        nodes,
        &format!("echo did >> {}; exec sleep {seconds}", did.display()),
    )
}

/// The same, but after `lines` lines a trial waits until the file `go` is there: what a test does before
/// it makes that file comes in the trial's middle, however slow the machine is.
fn start_held(world: &World, slurm: &Slurm, nodes: &str, lines: usize) -> Child {
    let (did, go) = (world.path("did.txt"), world.path("go"));
    let (did, go) = (did.display(), go.display());
    let script = format!(
        "echo did >> {did}; [ $(wc -l < {did}) -le {lines} ] || until [ -e {go} ]; do sleep 0.05; done"
    );
    start_script(world, slurm, nodes, &script)
}

fn start_script(world: &World, slurm: &Slurm, nodes: &str, script: &str) -> Child {
    let arguments = [
        "run",
        "--on",
        "slurm",
        "--nodes",
        nodes,
        "--monitors",
        "none",
        "--blocks",
        "3",
        "--json",
        "--",
        "sh",
        "-c",
        script,
    ];
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

fn nothing_is_left(world: &World, slurm: &Slurm) {
    assert_eq!(slurm.jobs(), "");
    let noted = std::fs::read_dir(world.path("state/slurm")).unwrap().count();
    assert_eq!(noted, 0, "no job is noted any more");
    assert!(!common::alive("sleep 97.5"), "no program is left");
}

#[test]
fn four_nodes_make_one_record() {
    let Some(slurm) = Slurm::start(4) else { return };
    let world = World::new();
    let experiment = world.write(
        "x.toml",
        "name = \"x\"\nworkload = \"command\"\nparams.command = \"sh -c 'echo from $SLURMD_NODENAME'\"\n\
         [design]\nblocks = 2\n[observe]\ninterval = \"100 ms\"\n\
         [where]\nengine = \"slurm\"\nnodes = 4\nphase_bound = \"1 us\"\n",
    );
    let ran = run(&world, &slurm, &["run", experiment.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let result = ran.json();
    let records = result["records"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(result["summary"]["host"], "n[1-4]");
    for record in records {
        assert_eq!(record["outcome"], "completed", "{}", record["error"]);
        // Nothing that is known to a microsecond coincides so well: the clocks are not known
        // better.
        let found = record["findings"].as_array().unwrap();
        assert!(found.iter().any(|f| f["id"] == "N2"), "{found:?}");
    }
    let log = file(&world, "0001", "stdout.log");
    for node in ["n1", "n2", "n3", "n4"] {
        assert!(log.contains(&format!("==> {node} <==\nfrom {node}\n")), "{log}");
    }
    let nodes: Value = serde_json::from_str(&file(&world, "0002", "nodes.json")).unwrap();
    let each = nodes["nodes"].as_array().unwrap();
    assert_eq!(each.len(), 4);
    let value = |metrics: &Value, name: &str| {
        let all = metrics.as_array().unwrap();
        all.iter().find(|m| m["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    let of = |name: &str| each.iter().map(|n| value(&n["metrics"], name)).collect::<Vec<_>>();
    let merged = |name: &str| value(&records[1]["metrics"], name);
    assert_eq!(merged("elapsed"), of("elapsed").into_iter().fold(0.0, f64::max));
    assert!((merged("user") - of("user").iter().sum::<f64>()).abs() < 1e-9);
    // One machine has one clock: what is measured between "nodes" of it is the error itself.
    for node in each {
        for look in ["before", "after"] {
            let look = &node["clock"][look];
            let (offset, error) =
                (look["offset_ns"].as_i64().unwrap(), look["error_ns"].as_i64().unwrap());
            assert!(offset.abs() <= error, "{look}");
        }
    }
    let run_dir = world.runs().into_iter().max().unwrap();
    let system = std::fs::read_to_string(run_dir.join("system.json")).unwrap();
    let system: Value = serde_json::from_str(&system).unwrap();
    assert_eq!(system["facts"]["cluster.node_names"]["value"], "n1 n2 n3 n4");
    assert_eq!(run(&world, &slurm, &["archive", "verify"]).code, 0);
    nothing_is_left(&world, &slurm);

    // Two tasks on each of two nodes, a CPU each where there are two.
    let ran = run(
        &world,
        &slurm,
        &[
            "run",
            "--on",
            "slurm",
            "--nodes",
            "2",
            "--tasks-per-node",
            "2",
            "--blocks",
            "1",
            "--monitors",
            "none",
            "--",
            "grep",
            "Cpus_allowed_list",
            "/proc/self/status",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let log = file(&world, "0001", "stdout.log");
    let cpus = |task: &str| {
        let after = log.split(&format!("==> {task} <==")).nth(1).unwrap();
        after.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(cpus("n1.0"), cpus("n2.0"));
    if std::thread::available_parallelism().unwrap().get() > 1 {
        assert_ne!(cpus("n1.0"), cpus("n1.1"));
    }
    nothing_is_left(&world, &slurm);
}

/// Each node traces its own block I/O; what is here one machine traced twice is not added up.
#[test]
fn block_io_is_traced_on_the_nodes() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let out = world.path("out");
    let script = format!(
        "dd if=/dev/zero of={}.$SLURMD_NODENAME bs=64k count=16 oflag=sync status=none",
        out.display()
    );
    let experiment = |name: &str, nodes: usize, tracers: &str| {
        let text = format!(
            "name = \"{name}\"\nworkload = \"command\"\nparams.command = \"sh -c '{script}'\"\n\
             [design]\nblocks = 1\n[observe]\nmonitors = []\ntracers = [{tracers}]\n\
             [where]\nengine = \"slurm\"\nnodes = {nodes}\n"
        );
        let path = world.write(&format!("{name}.toml"), &text);
        let ran = run(&world, &slurm, &["run", path.to_str().unwrap(), "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.json()["records"][0].clone()
    };
    let metric = |record: &Value, name: &str| {
        let metrics = record["metrics"].as_array().unwrap();
        metrics.iter().find(|m| m["name"] == name).map(|m| m["value"].clone())
    };
    let one = experiment("one", 1, "\"io-events\"");
    let observer = one["observers"].as_array().unwrap().iter().find(|o| o["observer"] == "io");
    let observer = observer.expect("the tracer stands in the record, whether it ran or not");
    if metric(&one, "io.writes").is_none() {
        println!("skipped: because {}", observer["not_seen"][0].as_str().unwrap());
        return;
    }
    assert!(metric(&one, "io.write_p50").unwrap().as_f64().is_some(), "one node's is the whole's");
    let events = world.runs().into_iter().max().unwrap().join("trials/0001/n1.io.parquet");
    let events = std::fs::read(events).unwrap();
    assert!(events.starts_with(b"PAR1"), "single I/Os come with the part of the node");
    let two = experiment("two", 2, "\"io\"");
    for node in ["n1", "n2"] {
        let answer: Value =
            serde_json::from_str(&file(&world, "0001", &format!("{node}.io.json"))).unwrap();
        assert!(answer["completeness"]["ios"].as_u64().is_some(), "{answer}");
    }
    for name in ["io.writes", "io.write_p50"] {
        assert_eq!(metric(&two, name), Some(Value::Null), "{name}");
    }
    let notes = two["notes"].to_string();
    assert!(notes.contains("`io.writes` is missing: n1 and n2 are one machine"), "{notes}");
}

/// Each node profiles its own part of the program: its functions are kept with the trial, by node.
#[test]
fn programs_are_profiled_on_the_nodes() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let text = "name = \"profiled\"\nworkload = \"command\"\n\
         params.command = \"awk 'BEGIN { while (i < 20000000) i++ }'\"\n\
         [design]\nblocks = 1\n[observe]\nmonitors = []\ntracers = [\"profile@499\"]\n\
         [where]\nengine = \"slurm\"\nnodes = 2\n";
    let path = world.write("profiled.toml", text);
    let ran = run(&world, &slurm, &["run", path.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let record = &ran.json()["records"][0];
    let observers = record["observers"].as_array().unwrap();
    let observer = observers.iter().find(|o| o["observer"] == "profile");
    let observer = observer.expect("the tracer stands in the record, whether it ran or not");
    let trial = world.runs().into_iter().max().unwrap().join("trials/0001");
    if !trial.join("n1.profile.json").exists() {
        println!("skipped: because {observer}");
        return;
    }
    let on_cpu = |profile: &Value| -> f64 {
        let stacks = profile["stacks"].as_array().unwrap();
        let of_awk = stacks
            .iter()
            .filter(|s| s["state"] == "on_cpu" && s["thread"].as_str().unwrap().ends_with("awk"));
        of_awk.filter_map(|s| s["ns"].as_f64()).sum()
    };
    let nodes = ["n1", "n2"].map(|node| {
        let kept = file(&world, "0001", &format!("{node}.profile.json"));
        on_cpu(&serde_json::from_str(&kept).unwrap())
    });
    assert!(nodes.iter().all(|ns| *ns > 0.0), "{nodes:?}: a node has none of its program's time");
    let metrics = record["metrics"].as_array().unwrap();
    let metric =
        metrics.iter().find(|m| m["name"] == "profile.on_cpu").expect("no metric of the profile");
    assert!(metric["value"].as_f64().is_some_and(|s| s > 0.0), "{metric}");

    // What pages and comparisons show is of all nodes together.
    let beside = world.run(&["compare", "last", "last", "--json"]);
    let beside: Value = serde_json::from_str(&beside.stdout).unwrap();
    let functions = &beside["inside"][0]["functions"];
    let own =
        functions["changes"].as_array().unwrap().iter().filter_map(|c| c["own_ns"][0].as_f64());
    assert!(
        own.sum::<f64>() > nodes[0].max(nodes[1]),
        "{functions:#}: not of both nodes {nodes:?}"
    );
}

#[test]
fn a_server_on_one_node_is_asked_from_the_others() {
    let Some(slurm) = Slurm::start(3) else { return };
    if Command::new("memcached").arg("-V").output().is_err() {
        println!("skipped: because there is no memcached");
        return;
    }
    let world = World::new();
    let experiment = world.write(
        "m.toml",
        "name = \"m\"\nworkload = \"memcached\"\n[params]\nkeys = 2000\nconnections = 4\n\"client.threads\" = 1\nramp_up = \"200 ms\"\nsteady = \"1 s\"\nramp_down = \"100 ms\"\n\
         [design]\nblocks = 1\n[observe]\nmonitors = []\n\
         [where]\nengine = \"slurm\"\nnodes = 3\nserver_node = true\nphase_bound = \"1 min\"\n",
    );
    let ran = run(&world, &slurm, &["run", experiment.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stderr, ran.stdout);
    let result = ran.json();
    let record = &result["records"][0];
    assert_eq!(record["validation"]["result"], "passed", "{record}");
    let nodes: Value = serde_json::from_str(&file(&world, "0001", "nodes.json")).unwrap();
    let did: Vec<&str> =
        nodes["nodes"].as_array().unwrap().iter().map(|n| n["did"].as_str().unwrap()).collect();
    assert_eq!(did, ["served", "ran", "ran"]);
    let throughput = |metrics: &Value| {
        let all = metrics.as_array().unwrap();
        all.iter().find(|m| m["name"] == "throughput").unwrap()["value"].as_f64().unwrap()
    };
    let sum: f64 =
        nodes["nodes"].as_array().unwrap()[1..].iter().map(|n| throughput(&n["metrics"])).sum();
    assert!((throughput(&record["metrics"]) - sum).abs() < 1e-6 * sum);
    assert!(record["histograms"].as_object().is_some_and(|h| !h.is_empty()));
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_node_that_dies_fails_its_trial_alone() {
    let Some(slurm) = Slurm::start(4) else { return };
    let world = World::new();
    let child = start_held(&world, &slurm, "3", 3);
    until("the second trial begins", || lines(&world) >= 6);
    slurm.kill("n2");
    world.write("go", "");
    let (code, result, printed) = ended(child);
    assert_eq!(code, 3, "{printed}");
    let records = result["records"].as_array().unwrap();
    let outcomes: Vec<&str> = records.iter().map(|r| r["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["completed", "failed", "completed"], "{result}");
    let error = records[1]["error"].as_str().unwrap();
    assert!(error.contains("node n2 lost its agent"), "{error}");
    assert!(records[1].get("metrics").is_none(), "half a trial has no metrics");
    // The third trial was on the nodes that were left.
    let nodes: Value = serde_json::from_str(&file(&world, "0003", "nodes.json")).unwrap();
    let names: Vec<&str> =
        nodes["nodes"].as_array().unwrap().iter().map(|n| n["node"].as_str().unwrap()).collect();
    assert_eq!(names, ["n1", "n3", "n4"]);
    until("the job is gone", || slurm.jobs().is_empty());
}

#[test]
fn a_cancelled_job_ends_the_run_which_can_be_resumed() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let child = start_held(&world, &slurm, "2", 2);
    until("the second trial begins", || lines(&world) >= 4);
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
    until("the nodes are taken", || lines(&world) >= 2);
    let text = "name = \"x\"\nworkload = \"noop\"\n[where]\nengine = \"slurm\"\nnodes = 2\nmax_wait = \"3 s\"\n";
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
fn identical_treatments_on_nodes_leave_a_floor_that_later_runs_quote() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let on = ["--on", "slurm", "--nodes", "2", "--monitors", "none"];
    let aa = ["--aa", "--blocks", "60", "--json", "--", "true"];
    let aa = run(&world, &slurm, &[&["run"], &on[..], &aa[..]].concat());
    let aa = aa.json();
    assert_eq!(aa["summary"]["state"], "completed");
    let vs = ["--blocks", "3", "--vs", "sleep 0.001", "--json", "--", "true"];
    let later = run(&world, &slurm, &[&["run"], &on[..], &vs[..]].concat());
    let result = later.json();
    let machine = result["analysis"]["floor"]["found"]["machine"].as_str().unwrap();
    assert!(machine.starts_with("n1 n2: "), "{machine}");
    // The floor of this machine alone is none of those nodes'.
    let here = world.run(&["run", "--blocks", "3", "--json", "--vs", "sleep 0.001", "--", "true"]);
    let here = here.json();
    assert!(here["analysis"]["floor"].is_null(), "{}", here["analysis"]["floor"]);
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_killed_run_leaves_no_job_and_ctrl_c_neither() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let mut child = start(&world, &slurm, "2", "97.5");
    until("the first trial begins", || lines(&world) >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = run(&world, &slurm, &["archive", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    until("the job is gone", || slurm.jobs().is_empty());
    until("its programs are gone", || !common::alive("sleep 97.5"));
    run(&world, &slurm, &["archive", "list"]);
    nothing_is_left(&world, &slurm);

    let child = start(&world, &slurm, "2", "97.5");
    until("the first trial begins", || lines(&world) >= 4);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let (code, result, printed) = ended(child);
    assert_eq!(code, 130, "{printed}");
    assert_eq!(result["records"][0]["outcome"], "interrupted");
    nothing_is_left(&world, &slurm);

    // A job that waits is cancelled too: the nodes are taken by another.
    slurm.call("salloc", &["--nodes=2", "--exclusive", "--no-shell"]);
    until("the other runs", || slurm.jobs().contains("RUNNING"));
    let mut child = start(&world, &slurm, "2", "97.5");
    until("the job waits", || slurm.jobs().contains("PENDING"));
    child.kill().unwrap();
    child.wait().unwrap();
    let next = run(&world, &slurm, &["archive", "list"]);
    assert!(next.stderr.contains("cancelled the Slurm job"), "{}", next.stderr);
    assert!(!slurm.jobs().contains("PENDING"));
    slurm.call("scancel", &["--user=root"]);
    until("the other is gone", || slurm.jobs().is_empty());
    run(&world, &slurm, &["archive", "list"]);
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_restart_of_the_controller_harms_nothing() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let child = start(&world, &slurm, "2", "1.5");
    until("the first trial begins", || lines(&world) >= 2);
    slurm.controller("stop");
    until("the next trial begins without it", || lines(&world) >= 4);
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
        "name = \"x\"\nworkload = \"noop\"\n[where]\nengine = \"slurm\"\nnodes = 2\nstart_timeout = \"3 s\"\n",
    );
    let ran = run(&world, &slurm, &["run", experiment.to_str().unwrap()]);
    kill_process(daemon, Signal::CONT).unwrap();
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let printed = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("no agent of assay started on node n2 within 3"), "{printed}");
    until("the job is gone", || slurm.jobs().is_empty());
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
             while [ ! -e {go} ]; do sleep 0.05; done'\"\n[design]\nblocks = 3\n[observe]\nmonitors = []\n\
             [where]\nengine = \"slurm\"\nnodes = 2\njob = \"block\"\nstart_timeout = \"4 s\"\n",
            did = did.display(),
            go = world.path("go").display()
        ),
    );
    let arguments = ["run", experiment.to_str().unwrap(), "--json"];
    let mut command = assay(&world, &slurm, &arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the first trial begins", || lines(&world) >= 2);
    // From now on n3 is given tasks and starts none; and the next job cannot have n1.
    let daemon = Pid::from_raw(slurm.slurmd("n3")).unwrap();
    kill_process(daemon, Signal::STOP).unwrap();
    slurm.call("scontrol", &["update", "nodename=n1", "state=drain", "reason=test"]);
    world.write("go", "");
    until("the second job runs", || slurm.jobs().contains("2 RUNNING"));
    slurm.call("scontrol", &["update", "nodename=n1", "state=resume"]);
    let (code, result, printed) = ended(child);
    kill_process(daemon, Signal::CONT).unwrap();
    assert_eq!(code, 3, "{printed}");
    let records = result["records"].as_array().unwrap();
    let outcomes: Vec<&str> = records.iter().map(|r| r["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["completed", "failed", "completed"], "{result}");
    let error = records[1]["error"].as_str().unwrap();
    assert!(error.contains("no agent of assay started on node n3 within 4"), "{error}");
    let nodes: Value = serde_json::from_str(&file(&world, "0003", "nodes.json")).unwrap();
    let names: Vec<&str> =
        nodes["nodes"].as_array().unwrap().iter().map(|n| n["node"].as_str().unwrap()).collect();
    assert_eq!(names, ["n1", "n2"]);
    until("the job is gone", || slurm.jobs().is_empty());
}

#[test]
fn copies_on_all_nodes_have_one_ratio() {
    let Some(slurm) = Slurm::start(4) else { return };
    rate_on_all_nodes(&slurm, 4, "2");
}

/// Takes a minute: `make test-all`.
#[test]
#[ignore = "48 nodes: make test-all"]
fn forty_eight_nodes_make_one_record() {
    let Some(slurm) = Slurm::start(48) else { return };
    rate_on_all_nodes(&slurm, 48, "1");
    let world = World::new();
    let noop = ["run", "noop", "--on", "slurm", "--nodes", "48", "--blocks", "3", "--json"];
    let ran = run(&world, &slurm, &noop);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let nodes: Value = serde_json::from_str(&file(&world, "0003", "nodes.json")).unwrap();
    assert_eq!(nodes["nodes"].as_array().unwrap().len(), 48);
    nothing_is_left(&world, &slurm);
}

/// A suite at rate on every node: all copies over the slowest node's time.
fn rate_on_all_nodes(slurm: &Slurm, nodes: usize, copies: &str) {
    let (world, mini) = mini_suite::world("sleep 0.3; echo sum 6");
    let count = nodes.to_string();
    let copied = format!("copies={copies}");
    let arguments = [
        "run",
        &mini,
        "--on",
        "slurm",
        "--nodes",
        &count,
        "--set",
        "kind=rate",
        "--set",
        &copied,
        "--set",
        "size=ref",
        "--set",
        "member=beta",
        "--blocks",
        "2",
        "--monitors",
        "none",
        "--json",
    ];
    let ran = run(&world, slurm, &arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let result = ran.json();
    let metric = |of: &Value, name: &str| {
        let all = of["metrics"].as_array().unwrap();
        all.iter().find(|m| m["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    for (number, record) in ["0001", "0002"].iter().zip(result["records"].as_array().unwrap()) {
        assert_eq!(record["outcome"], "completed", "{}", record["error"]);
        let each: Value = serde_json::from_str(&file(&world, number, "nodes.json")).unwrap();
        let each = each["nodes"].as_array().unwrap();
        assert_eq!(each.len(), nodes);
        let slowest = each.iter().map(|n| metric(n, "elapsed")).fold(0.0, f64::max);
        assert!(slowest >= 0.3, "{slowest}");
        // The reference time of beta is 0.2 s.
        let all = copies.parse::<f64>().unwrap() * nodes as f64;
        let expected = all * 0.2 / slowest;
        let ratio = metric(record, "ratio");
        assert!((ratio / expected - 1.0).abs() < 1e-6, "{ratio} and {expected}");
    }
    nothing_is_left(&world, slurm);
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
    let arguments = [
        "run",
        "--on",
        "slurm",
        "--nodes",
        "2",
        "--blocks",
        "1",
        "--monitors",
        "none",
        "--prepare",
        &write,
        "--json",
        "--",
        "true",
    ];
    let failed = run(&world, &slurm, &arguments);
    // The archive on a disk that is full: the run ends, and its job with it.
    let mut command = assay(
        &world,
        &slurm,
        &[
            "run",
            "--on",
            "slurm",
            "--nodes",
            "2",
            "--blocks",
            "2",
            "--monitors",
            "none",
            "--",
            "true",
        ],
    );
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

#[test]
fn the_doctor_looks_at_the_cluster() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let seen = run(&world, &slurm, &["doctor", "--on", "slurm", "--nodes", "2", "--json"]);
    let report = seen.json();
    let checks = report["checks"].as_array().unwrap();
    let ok = |name: &str| checks.iter().find(|c| c["name"] == name).map(|c| c["ok"].clone());
    for name in [
        "commands",
        "controller",
        "authentication",
        "nodes",
        "a job",
        "shared folder",
        "clocks",
        "the job's end",
    ] {
        assert_eq!(ok(name), Some(Value::Bool(true)), "{name}: {report:#}");
    }
    let text = run(&world, &slurm, &["doctor", "--on", "slurm"]).stdout;
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    slurm.controller("stop");
    let seen = run(&world, &slurm, &["doctor", "--on", "slurm"]);
    assert_eq!(seen.code, 4, "{}", seen.stdout);
    slurm.controller("start");
}
