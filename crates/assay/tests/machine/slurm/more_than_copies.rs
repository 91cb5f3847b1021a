//! Workloads that are more than a copy on each node, on the nodes of a real Slurm that the tests
//! start: one MUMPS over all nodes by `srun --mpi`, a PostgreSQL on one node that the others load,
//! solvers that start on all nodes.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{column, metric, nodes};
use crate::common::virtual_slurm::Slurm;
use crate::common::{World, alive, done, wait_for};

/// Returns the command for a run on Slurm. Open MPI uses the loopback device, because all nodes are
/// this machine.
fn assay(world: &World, slurm: &Slurm, arguments: &[&str]) -> Command {
    let mut command = super::assay(world, slurm, arguments);
    command.env("OMPI_MCA_btl_tcp_if_include", "lo").env("OMPI_MCA_mpi_yield_when_idle", "1");
    command
}

fn experiment(world: &World, slurm: &Slurm, text: &str) -> Command {
    let path = world.write("x.toml", text);
    assay(world, slurm, &["run", path.to_str().unwrap(), "--json"])
}

fn parsed(stdout: &[u8], stderr: &[u8]) -> Value {
    let printed = String::from_utf8_lossy(stderr);
    serde_json::from_slice(stdout).unwrap_or_else(|e| panic!("{e}: {printed}"))
}

/// Runs an experiment to its end; returns its exit code and its result.
fn run(world: &World, slurm: &Slurm, text: &str) -> (i32, Value) {
    let ran = done(&mut experiment(world, slurm, text));
    (ran.code, parsed(ran.stdout.as_bytes(), ran.stderr.as_bytes()))
}

fn start(world: &World, slurm: &Slurm, text: &str) -> Child {
    let mut command = experiment(world, slurm, text);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> (i32, Value) {
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), parsed(&output.stdout, &output.stderr))
}

fn has_note(record: &Value, part: &str) -> bool {
    let notes = record["notes"].as_array().unwrap();
    notes.iter().any(|n| n.as_str().unwrap().contains(part))
}

fn nothing_is_left(world: &World, slurm: &Slurm) {
    wait_for("the job is gone", || slurm.jobs().is_empty());
    assert_eq!(slurm.call("squeue", &["--noheader", "--steps"]), "");
    let left: Vec<_> = std::fs::read_dir(world.path("scratch")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Starts a Slurm whose nodes can run MUMPS together; prints the reason and returns `None` if that
/// is impossible.
fn with_mpi(nodes: usize) -> Option<Slurm> {
    let slurm = Slurm::start(nodes)?;
    let there = Path::new("/usr/include/dmumps_c.h").exists()
        && ["mpicc", "mpirun"].iter().all(|p| Command::new(p).arg("--version").output().is_ok());
    if !there {
        println!(
            "skipped: because there is no MUMPS (Debian packages libmumps-dev libopenmpi-dev \
            openmpi-bin)"
        );
        return None;
    }
    // `srun --mpi=list` prints to standard error or output, depending on its version.
    let list = Command::new("srun").arg("--mpi=list").env("SLURM_CONF", slurm.conf()).output();
    let list = list.unwrap();
    let printed = [list.stdout, list.stderr].concat();
    let pmix = String::from_utf8_lossy(&printed).contains("pmix");
    if !pmix {
        println!("skipped: because this srun has no --mpi=pmix");
    }
    pmix.then_some(slurm)
}

fn cae(params: &str, design: &str, place: &str) -> String {
    format!(
        "name = \"x\"\nworkload = \"cae\"\n[params]\ncase = \"block-files\"\n{params}\n\
         [design]\n{design}\n[observe]\nmonitors = []\n[where]\nengine = \"slurm\"\n{place}\n"
    )
}

#[test]
fn one_mumps_goes_over_all_nodes() {
    let Some(slurm) = with_mpi(4) else { return };
    let world = World::new();
    let text = cae("processes = 2", "blocks = 2", "nodes = 4");
    let (code, result) = run(&world, &slurm, &text);
    assert_eq!(code, 0, "{result:#}");
    for (record, trial) in result["records"].as_array().unwrap().iter().zip(["0001", "0002"]) {
        assert_eq!(record["outcome"], "completed", "{record:#}");
        assert_eq!(record["validation"]["result"], "passed", "{record:#}");
        assert!(record["validation"]["detail"].as_str().unwrap().starts_with("1 systems of"));
        assert_eq!(metric(record, "ranks"), Some(8.0));
        assert!(has_note(
            record,
            "8 ranks (n1: 2, n2: 2, n3: 2, n4: 2), started by `srun --mpi=pmix`; Open MPI v"
        ));
        let mut findings = record["findings"].as_array().into_iter().flatten();
        let left = |f: &Value| f["message"].as_str().unwrap().contains("processes running");
        assert!(!findings.any(left), "{record:#}");
        let each = nodes(&world, trial);
        assert_eq!(column(&each, "did"), ["ran", "lent", "lent", "lent"]);
        // The CPU time is that of the ranks; every node measured its own folder.
        assert!(metric(record, "user").unwrap() + metric(record, "system").unwrap() > 0.0);
        let most = each.iter().map(|n| metric(n, "scratch").unwrap()).fold(0.0, f64::max);
        assert_eq!(metric(record, "scratch"), Some(most));
        assert_eq!(metric(record, "elapsed"), metric(&each[0], "elapsed"));
    }
    let system = std::fs::read_to_string(world.runs()[0].join("system.json")).unwrap();
    let system: Value = serde_json::from_str(&system).unwrap();
    assert_eq!(system["facts"]["cluster.mpi"]["value"], "pmix");
    assert!(!alive(world.path("cache").to_str().unwrap()), "no rank is left");
    nothing_is_left(&world, &slurm);
}

#[test]
fn tasks_of_a_node_have_ranks_of_their_own_and_a_wrong_answer_is_found() {
    let Some(slurm) = with_mpi(2) else { return };
    let world = World::new();
    let place = "nodes = 2\ntasks_per_node = 2";
    let (code, result) = run(&world, &slurm, &cae("fault = \"answer\"", "blocks = 1", place));
    assert_eq!(code, 3, "{result:#}");
    let record = &result["records"][0];
    assert_eq!(record["outcome"], "invalid", "{record:#}");
    assert!(has_note(record, "4 ranks (n1: 2, n2: 2)"), "{record:#}");
    assert_eq!(column(&nodes(&world, "0001"), "did"), ["ran", "lent", "lent", "lent"]);
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_rank_that_dies_fails_the_trial_in_its_own_words() {
    let Some(slurm) = with_mpi(3) else { return };
    let world = World::new();
    let text = cae("", "blocks = 1", "nodes = 3") + "[factors]\nfault = [\"rank\", \"none\"]\n";
    let (code, result) = run(&world, &slurm, &text);
    assert_eq!(code, 3, "{result:#}");
    let records = result["records"].as_array().unwrap();
    let of = |outcome: &str| {
        let found = records.iter().find(|r| r["outcome"] == outcome);
        found.unwrap_or_else(|| panic!("none is {outcome}: {result:#}"))
    };
    let error = of("failed")["error"].as_str().unwrap();
    assert!(error.contains("node n1: MUMPS failed"), "{error}");
    // The message comes from the rank's starter or from Slurm, which may be faster and end the
    // starter first.
    let own = error.contains("rank 2 on node n3 ended with signal 9");
    assert!(own || error.contains("n3: task 2"), "{error}");
    // The other trial ran in the same job.
    assert_eq!(metric(of("completed"), "ranks"), Some(3.0));
    nothing_is_left(&world, &slurm);
}

#[test]
fn ranks_that_stand_still_are_ended_with_their_step() {
    let Some(slurm) = with_mpi(2) else { return };
    let world = World::new();
    let text = cae("fault = \"stall\"\nseed = 77101", "blocks = 2\ntimeout = \"8 s\"", "nodes = 2");
    let child = start(&world, &slurm, &text);
    let steps = || slurm.call("squeue", &["--noheader", "--steps", "--format=%j"]);
    wait_for("the second trial's ranks are there", || steps().contains("assay-mpi-2-1"));
    // The ranks of the first trial are gone.
    assert!(!steps().contains("assay-mpi-1-1"), "{}", steps());
    let (code, result) = ended(child);
    assert_eq!(code, 3, "{result:#}");
    for record in result["records"].as_array().unwrap() {
        assert_eq!(record["outcome"], "timed-out", "{record:#}");
    }
    assert!(!alive(" 77101 "), "no rank is left");
    nothing_is_left(&world, &slurm);
}

/// Returns the process ids of the solvers whose command line contains these words.
fn solvers(words: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    let is = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line: Vec<_> = line.split(|b| *b == 0).map(String::from_utf8_lossy).collect();
        !line[0].ends_with("assay") && !line[0].ends_with("srun") && line.join(" ").contains(words)
    };
    pids.filter(is).collect()
}

#[test]
fn memory_and_pages_reach_the_ranks() {
    let Some(slurm) = with_mpi(1) else { return };
    let world = World::new();
    // No other process has this limit of 93 MiB.
    let text = cae(
        "fault = \"stall\"\nseed = 77103\nprocesses = 2",
        "blocks = 1\ntimeout = \"20 s\"",
        "nodes = 1",
    ) + "[controls]\nmemory = \"93 MiB\"\npages = \"4KiB\"\n";
    let child = start(&world, &slurm, &text);
    wait_for("both ranks are there", || solvers(" 77103 ").len() == 2);
    let limit = |pid: &u32| {
        let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
        let file = groups.lines().find_map(|line| {
            let (_, names, path) = {
                let mut parts = line.splitn(3, ':');
                (parts.next()?, parts.next()?, parts.next()?)
            };
            match names {
                "memory" => Some(format!("/sys/fs/cgroup/memory{path}/memory.limit_in_bytes")),
                "" => Some(format!("/sys/fs/cgroup{path}/memory.max")),
                _ => None,
            }
        });
        std::fs::read_to_string(file.unwrap()).unwrap().trim().to_owned()
    };
    for pid in solvers(" 77103 ") {
        assert_eq!(limit(&pid), (93 << 20).to_string());
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(status.lines().any(|l| l == "THP_enabled:\t0"), "{status}");
    }
    let (code, result) = ended(child);
    assert_eq!(code, 3, "{result:#}");
    let record = &result["records"][0];
    assert_eq!(record["outcome"], "timed-out", "{record:#}");
    // The coverage of large pages was measured in the ranks, which are not children of the agent.
    assert_eq!(metric(&nodes(&world, "0001")[0], "huge_page_coverage"), Some(0.0), "{record:#}");
    assert!(!alive(" 77103 "), "no rank is left");
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_node_that_dies_in_the_middle_fails_the_trial() {
    let Some(slurm) = with_mpi(3) else { return };
    let world = World::new();
    let text = cae("fault = \"stall\"\nseed = 77102", "blocks = 1", "nodes = 3");
    let child = start(&world, &slurm, &text);
    wait_for("the ranks are there", || alive("solve 8 8 8") && alive(" 77102 "));
    slurm.kill("n2");
    let (code, result) = ended(child);
    assert_eq!(code, 3, "{result:#}");
    let record = &result["records"][0];
    assert_eq!(record["outcome"], "failed", "{record:#}");
    let error = record["error"].as_str().unwrap();
    assert!(error.contains("node n2 lost its agent"), "{error}");
    wait_for("no rank is left", || !alive(" 77102 "));
    wait_for("the job is gone", || slurm.jobs().is_empty());
}

/// Starts a Slurm on a machine with PostgreSQL; prints the reason and returns `None` if it is not
/// installed.
fn with_postgres(nodes: usize) -> Option<Slurm> {
    let slurm = Slurm::start(nodes)?;
    let there = std::fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut d| d.next().is_some());
    if !there {
        println!("skipped: because there is no PostgreSQL (Debian package postgresql)");
    }
    there.then_some(slurm)
}

/// Makes a world that the server's user may enter.
fn open_world() -> World {
    let world = World::new();
    std::fs::set_permissions(world.path(""), Permissions::from_mode(0o755)).unwrap();
    world
}

fn bulkload(params: &str) -> String {
    format!(
        "name = \"x\"\nworkload = \"bulkload\"\n[params]\nrows = 3000\nsessions = 2\nfiles = 2\n\
         {params}\n\
         [design]\nblocks = 1\n[observe]\nmonitors = []\n\
         [where]\nengine = \"slurm\"\nnodes = 3\nserver_node = true\nphase_bound = \"1 min\"\n"
    )
}

#[test]
fn nodes_load_the_postgres_of_another_which_finds_every_row() {
    let Some(slurm) = with_postgres(3) else { return };
    let world = open_world();
    let (code, result) = run(&world, &slurm, &bulkload("index = true"));
    assert_eq!(code, 0, "{result:#}");
    let record = &result["records"][0];
    assert_eq!(record["validation"]["result"], "passed", "{record:#}");
    let detail = record["validation"]["detail"].as_str().unwrap();
    assert!(detail.contains("node n1, the server: 6000 rows in 8 files of 2 nodes"), "{detail}");
    let each = nodes(&world, "0001");
    assert_eq!(column(&each, "did"), ["served", "ran", "ran"]);
    let sum: f64 = each[1..].iter().map(|n| metric(n, "throughput").unwrap()).sum();
    assert!((metric(record, "throughput").unwrap() / sum - 1.0).abs() < 1e-9);
    for name in ["written", "checkpoint_time", "wal", "table"] {
        let reported = metric(&each[0], name);
        assert!(reported.is_some_and(|v| v > 0.0), "{name}: {reported:?}");
        assert_eq!(metric(record, name), reported, "{name}");
        assert_eq!(metric(&each[1], name), None, "{name} is not the client's");
    }
    // The rate over the whole time is lower than the rate over the time of loading.
    let longest = each[1..].iter().map(|n| metric(n, "load_time").unwrap()).fold(0.0, f64::max);
    assert!(metric(record, "written").unwrap() < 6000.0 / longest);
    assert!(!alive(world.path("scratch").to_str().unwrap()), "no server is left");
    nothing_is_left(&world, &slurm);
}

#[test]
fn a_row_that_is_missing_on_the_servers_node_is_found() {
    let Some(slurm) = with_postgres(3) else { return };
    let world = open_world();
    let (code, result) = run(&world, &slurm, &bulkload("fault = \"row\""));
    assert_eq!(code, 3, "{result:#}");
    let record = &result["records"][0];
    assert_eq!(record["outcome"], "invalid", "{record:#}");
    let error = record["error"].as_str().unwrap();
    assert!(error.contains("node n1: file 0: rows is"), "{error}");
    nothing_is_left(&world, &slurm);
}

#[test]
fn solvers_start_on_all_nodes_and_the_slowest_decides() {
    let Some(slurm) = Slurm::start(2) else { return };
    if !["glpsol", "clp"].iter().any(|p| Path::new("/usr/bin").join(p).exists()) {
        println!("skipped: because there is no glpsol and no clp (Debian package glpk-utils)");
        return;
    }
    let world = World::new();
    let text = "name = \"x\"\nworkload = \"startup\"\n[params]\ncopies = 2\nsize = \"2 MB\"\n\
                rows = 80\n\
                window = \"200 ms\"\nuser = 0.01\n[design]\nblocks = 2\n[compare]\n\
                metric = \"elapsed\"\n\
                [observe]\nmonitors = []\n[where]\nengine = \"slurm\"\nnodes = 2\n\
                phase_bound = \"1 min\"\n";
    let (code, result) = run(&world, &slurm, text);
    assert_eq!(code, 0, "{result:#}");
    for (record, trial) in result["records"].as_array().unwrap().iter().zip(["0001", "0002"]) {
        assert_eq!(record["validation"]["result"], "passed", "{record:#}");
        let each = nodes(&world, trial);
        assert_eq!(column(&each, "did"), ["ran", "ran"]);
        let of = |name: &str| each.iter().map(|n| metric(n, name)).collect::<Option<Vec<f64>>>();
        // The metric is that of the slowest node, or missing if a node lacks it.
        for name in ["elapsed", "time_to_user", "read_done", "start_spread"] {
            let slowest = of(name).map(|all| all.into_iter().fold(f64::MIN, f64::max));
            assert_eq!(metric(record, name), slowest, "{name}");
        }
        // Both nodes are this machine, and each of them read its counters.
        for name in ["device_read", "host_system"] {
            assert_eq!(metric(record, name), None, "{name}");
            let notes = record["notes"].to_string();
            assert!(
                notes.contains(&format!("`{name}` is missing: n1 and n2 are one machine")),
                "{notes}"
            );
        }
        for name in ["logical_read", "user", "system"] {
            let sum = of(name).map(|all| all.iter().sum::<f64>());
            let merged = metric(record, name);
            let same = merged.zip(sum).map_or(merged.is_none() && sum.is_none(), |(a, b)| {
                (a - b).abs() <= 1e-9 * b.abs()
            });
            assert!(same, "{name}: {merged:?} and {sum:?}");
        }
        // Two copies of a 2 MB file on each of two nodes.
        assert!(metric(record, "logical_read").unwrap() > 7e6);
    }
    nothing_is_left(&world, &slurm);
}
