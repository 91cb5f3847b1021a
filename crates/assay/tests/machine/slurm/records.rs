//! One record of all nodes.

use std::process::Command;

use serde_json::Value;

use super::{assay, column, file, metric, nodes, nothing_is_left, on_nodes, run};
use crate::common::virtual_slurm::Slurm;
use crate::common::{World, done, mini_suite};

#[test]
fn four_nodes_make_one_record() {
    let Some(slurm) = Slurm::start(4) else { return };
    let world = World::new();
    let experiment = world.write(
        "x.toml",
        "name = \"x\"\nworkload = \"command\"\nparams.command = \"sh -c 'echo from \
         $SLURMD_NODENAME'\"\n\
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
        // The bound is 1 us, but the clocks are not known that exactly, so phases cannot coincide
        // within it.
        let found = record["findings"].as_array().unwrap();
        assert!(found.iter().any(|f| f["id"] == "N2"), "{found:?}");
    }
    let log = file(&world, "0001", "stdout.log");
    for node in ["n1", "n2", "n3", "n4"] {
        assert!(log.contains(&format!("==> {node} <==\nfrom {node}\n")), "{log}");
    }
    let each = nodes(&world, "0002");
    assert_eq!(each.len(), 4);
    let of = |name: &str| each.iter().map(|n| metric(n, name).unwrap()).collect::<Vec<_>>();
    let merged = |name: &str| metric(&records[1], name).unwrap();
    assert_eq!(merged("elapsed"), of("elapsed").into_iter().fold(0.0, f64::max));
    assert!((merged("user") - of("user").iter().sum::<f64>()).abs() < 1e-9);
    // All nodes are one machine with one clock: a measured offset is only the error of the
    // measurement.
    for node in each {
        for look in ["before", "after"] {
            let look = &node["clock"][look];
            let (offset, error) =
                (look["offset_ns"].as_i64().unwrap(), look["error_ns"].as_i64().unwrap());
            assert!(offset.abs() <= error, "{look}");
        }
    }
    let run_dir = world.newest();
    let system = std::fs::read_to_string(run_dir.join("system.json")).unwrap();
    let system: Value = serde_json::from_str(&system).unwrap();
    assert_eq!(system["facts"]["cluster.node_names"]["value"], "n1 n2 n3 n4");
    assert_eq!(run(&world, &slurm, &["archive", "verify"]).code, 0);
    nothing_is_left(&world, &slurm);

    // Two tasks on each of two nodes, with one CPU each if there are two.
    let typed = ["--tasks-per-node", "2", "--blocks", "1", "--"];
    let program = ["grep", "Cpus_allowed_list", "/proc/self/status"];
    let ran = run(&world, &slurm, &on_nodes("2", &[&typed[..], &program].concat()));
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

/// Each node traces its own block I/O. Here both trace the same machine, so their I/Os are not
/// added.
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
    let events = world.newest().join("trials/0001/n1.io.parquet");
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

/// Each node profiles its own part of the program: the functions are kept with the trial, by node.
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
    let trial = world.newest().join("trials/0001");
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

    // Pages and comparisons show the functions of all nodes together.
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
        "name = \"m\"\nworkload = \"memcached\"\n[params]\nkeys = 2000\nconnections = 4\n\
         \"client.threads\" = 1\nramp_up = \"200 ms\"\nsteady = \"1 s\"\nramp_down = \"100 ms\"\n\
         [design]\nblocks = 1\n[observe]\nmonitors = []\n\
         [where]\nengine = \"slurm\"\nnodes = 3\nserver_node = true\nphase_bound = \"1 min\"\n",
    );
    let ran = run(&world, &slurm, &["run", experiment.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stderr, ran.stdout);
    let result = ran.json();
    let record = &result["records"][0];
    assert_eq!(record["validation"]["result"], "passed", "{record}");
    let each = nodes(&world, "0001");
    assert_eq!(column(&each, "did"), ["served", "ran", "ran"]);
    let throughput = |of: &Value| metric(of, "throughput").unwrap();
    let sum: f64 = each[1..].iter().map(throughput).sum();
    assert!((throughput(record) - sum).abs() < 1e-6 * sum);
    assert!(record["histograms"].as_object().is_some_and(|h| !h.is_empty()));
    nothing_is_left(&world, &slurm);
}

#[test]
fn identical_treatments_on_nodes_leave_a_floor_that_later_runs_quote() {
    let Some(slurm) = Slurm::start(2) else { return };
    let world = World::new();
    let aa = ["--aa", "--blocks", "60", "--json", "--", "true"];
    let aa = run(&world, &slurm, &on_nodes("2", &aa));
    let aa = aa.json();
    assert_eq!(aa["summary"]["state"], "completed");
    let vs = ["--blocks", "3", "--vs", "sleep 0.001", "--json", "--", "true"];
    let later = run(&world, &slurm, &on_nodes("2", &vs));
    let result = later.json();
    let machine = result["analysis"]["floor"]["found"]["machine"].as_str().unwrap();
    assert!(machine.starts_with("n1 n2: "), "{machine}");
    // The floor of those nodes does not apply to this machine alone.
    let here = world.run(&["run", "--blocks", "3", "--json", "--vs", "sleep 0.001", "--", "true"]);
    let here = here.json();
    assert!(here["analysis"]["floor"].is_null(), "{}", here["analysis"]["floor"]);
    nothing_is_left(&world, &slurm);
}

#[test]
fn fewer_cpus_than_the_job_has_are_named_before_the_first_trial() {
    let Some(slurm) = Slurm::start(1) else { return };
    let world = World::new();
    let agent = world.path("agent");
    let text = format!("#!/bin/sh\nexec taskset -c 0 {} \"$@\"\n", env!("CARGO_BIN_EXE_assay"));
    std::fs::write(&agent, text).unwrap();
    std::fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let experiment = world.path("e.toml");
    let text = format!(
        "name = \"cpus\"\nworkload = \"command\"\n[params]\ncommand = \"true\"\n[design]\n\
         blocks = 3\n[where]\nengine = \"slurm\"\nnodes = 1\nprogram = \"{}\"\n",
        agent.display()
    );
    std::fs::write(&experiment, text).unwrap();
    let narrow = run(&world, &slurm, &["run", &experiment.display().to_string()]);
    let words = narrow.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = words.matches("1 of the 2 CPUs that Slurm allocated to the job").count();
    assert_eq!((said, words.matches("warning: node n1").count()), (1, 1), "{words}");
    // A user's defaults for steps do not narrow the agent's.
    let whole = |name: &str| {
        let mut command = assay(&world, &slurm, &on_nodes("1", &["--blocks", "3", "--", "true"]));
        done(command.env(name, "1"))
    };
    for name in ["SLURM_EXACT", "SRUN_CPUS_PER_TASK"] {
        assert!(!whole(name).stderr.contains("Slurm allocated"), "{name}");
    }
    nothing_is_left(&world, &slurm);
}

#[test]
fn copies_on_all_nodes_have_one_ratio() {
    let Some(slurm) = Slurm::start(4) else { return };
    rate_on_all_nodes(&slurm, 4, "2");
}

/// Takes a minute, so it runs in `make test-all` only.
#[test]
#[ignore = "48 nodes: make test-all"]
fn forty_eight_nodes_make_one_record() {
    let Some(slurm) = Slurm::start(48) else { return };
    rate_on_all_nodes(&slurm, 48, "1");
    let world = World::new();
    let noop = ["run", "noop", "--on", "slurm", "--nodes", "48", "--blocks", "3", "--json"];
    let ran = run(&world, &slurm, &noop);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(nodes(&world, "0003").len(), 48);
    nothing_is_left(&world, &slurm);
}

/// Runs a suite at rate on every node: the ratio counts all copies over the slowest node's time.
fn rate_on_all_nodes(slurm: &Slurm, on: usize, copies: &str) {
    let (world, mini) = mini_suite::world("sleep 0.3; echo sum 6");
    let count = on.to_string();
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
    for (number, record) in ["0001", "0002"].iter().zip(result["records"].as_array().unwrap()) {
        assert_eq!(record["outcome"], "completed", "{}", record["error"]);
        let each = nodes(&world, number);
        assert_eq!(each.len(), on);
        let slowest = each.iter().map(|n| metric(n, "elapsed").unwrap()).fold(0.0, f64::max);
        assert!(slowest >= 0.3, "{slowest}");
        // The reference time of beta is 0.2 s.
        let all = copies.parse::<f64>().unwrap() * on as f64;
        let expected = all * 0.2 / slowest;
        let ratio = metric(record, "ratio").unwrap();
        assert!((ratio / expected - 1.0).abs() < 1e-6, "{ratio} and {expected}");
    }
    nothing_is_left(&world, slurm);
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
