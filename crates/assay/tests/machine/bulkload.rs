//! The workload `bulkload`, from the command line: a real PostgreSQL and its faults. After each
//! test, no process of the server is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::common::{Done, World, alive, done, metric, root, wait_for};
use serde_json::Value;

/// Returns true if PostgreSQL is installed; prints the reason otherwise.
fn postgres() -> bool {
    let there = fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut d| d.next().is_some());
    if !there {
        println!("skipped: because there is no PostgreSQL (Debian package postgresql)");
    }
    there
}

/// Makes a world that the server's user may enter.
fn world() -> World {
    with_mode(0o755)
}

fn with_mode(mode: u32) -> World {
    let world = World::new();
    fs::set_permissions(world.path(""), fs::Permissions::from_mode(mode)).unwrap();
    world
}

/// Returns the arguments of a short run with additional settings.
fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["run", "bulkload", "--json", "--monitors", "none", "--blocks", "1"];
    for set in ["rows=20000", "sessions=2", "files=4"].iter().chain(more) {
        all.extend(["--set", set]);
    }
    all
}

fn run(world: &World, more: &[&str]) -> Done {
    let ran = world.run(&arguments(more));
    assert!(!alive(&world.path("").display().to_string()), "a server was left: {}", ran.stderr);
    ran
}

#[test]
fn a_load_is_measured_and_its_sums_are_checked() {
    if !postgres() {
        return;
    }
    let world = world();
    let more =
        ["rows=200000", "index=true", "server.checksums=true", "server.options=work_mem=8MB"];
    // The kernel counts CPU time in ticks of 10 ms, and no tick may hit a process of the server at
    // work.
    let no_tick = |ran: &Done| {
        let used = metric(&ran.record("completed"), "server_cpu").unwrap();
        (used == 0.0).then(|| "no tick fell into the work of the server".to_owned())
    };
    let ran = assay_testing::undisturbed(|| run(&world, &more), no_tick);
    let record = ran.record("completed");
    let of = |name: &str| metric(&record, name).unwrap();
    assert!((of("throughput") * of("load_time") / 200_000.0 - 1.0).abs() < 1e-9);
    assert!(of("written") < of("throughput"));
    assert!(of("bytes") / of("throughput") > 60.0, "bytes of a row");
    // Rows and keys have more than 100 bytes each; the WAL contains all of them.
    assert!(of("table") > 2e6 && of("wal") > 2e6);
    assert!(of("server_cpu") > 0.0);
    assert_eq!(metric(&record, "recovery"), None);
    let detail = record["validation"]["detail"].as_str().unwrap();
    assert!(detail.contains("in 8 files"), "{detail}");
    let phases: Vec<&str> =
        record["phases"].as_array().unwrap().iter().map(|p| p["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["ramp-up", "steady", "ramp-down"]);
    let system = fs::read_to_string(world.runs()[0].join("system.json")).unwrap();
    let system: Value = serde_json::from_str(&system).unwrap();
    let fact = |name: &str| system["facts"][format!("workload.{name}")]["value"].clone();
    assert!(fact("server.version").as_str().unwrap().contains("PostgreSQL"));
    assert!(fact("server.settings").as_str().unwrap().contains("fsync=on"));
}

#[test]
fn a_changed_amount_and_a_missing_row_are_found() {
    if !postgres() {
        return;
    }
    let world = world();
    for (fault, word) in [("fault=sum", "quantity * cents"), ("fault=row", "rows is")] {
        let ran = run(&world, &[fault]);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let record = ran.record("invalid");
        assert!(record.to_string().contains(word), "{fault}: {record:#}");
    }
}

#[test]
fn a_killed_server_keeps_what_was_committed() {
    if !postgres() {
        return;
    }
    let world = world();
    let ran = run(&world, &["kill=middle", "rows=100000", "files=6"]);
    let record = ran.record("completed");
    assert!(metric(&record, "recovery").unwrap() > 0.0);
    let detail = record["validation"]["detail"].as_str().unwrap();
    assert!(detail.contains("after kill -9") && detail.contains("in 12 files"), "{detail}");
    assert!(!record.to_string().contains("left running"), "{record:#}");
    let refused = run(&world, &["kill=middle", "server.synchronous_commit=false"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

/// Returns the number of System V shared memory segments that no process is attached to.
fn unattached() -> usize {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    text.lines().skip(1).filter(|l| l.split_whitespace().nth(6) == Some("0")).count()
}

#[test]
fn nothing_of_a_killed_assay_lives_on() {
    if !postgres() {
        return;
    }
    let world = world();
    let before = unattached();
    let mark = format!("{}/", world.path("scratch").display());
    let mut command = world.assay(&arguments(&["rows=4000000"]));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the load never came", || {
        alive("postgres: assay postgres [local] COPY") && alive(&mark)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the server lives on", || !alive(&mark));
    if root() {
        assert!(unattached() <= before, "shared memory is left");
    }
    // The next command removes the folder.
    assert_eq!(world.run(&["doctor", "--restore"]).code, 0);
    let left: Vec<_> = fs::read_dir(world.path("scratch")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_device_that_is_full_fails_the_trial_in_the_servers_words() {
    if !postgres() {
        return;
    }
    if !root() {
        println!("skipped: because a file system in memory needs root");
        return;
    }
    let world = world();
    // A new cluster takes 40 MB, and 16 MiB of WAL.
    let file = world.write(
        "full.toml",
        "name = \"full\"\nworkload = \"bulkload\"\n[params]\nrows = 1000000\n\
         \"server.max_wal_size\" = \"32 MiB\"\n\
         [controls]\nstorage = \"tmpfs,size=80MiB,probe=1s\"\n[design]\nblocks = 1\n[observe]\n\
         monitors = []\n",
    );
    let ran = world.run(&["run", file.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let record = ran.record("failed");
    let error = record["error"].as_str().unwrap();
    assert!(error.contains("No space left on device"), "{error}");
}

#[test]
fn what_is_missing_is_named() {
    let world = with_mode(0o700);
    let all = arguments(&["server.bin=/no/such/folder"]);
    let ran = done(&mut world.assay(&all));
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.replace("\n  ", " ").contains("Debian package postgresql"),
        "{}",
        ran.stderr
    );
    if postgres() && root() {
        // Only its owner may enter the folder of this world.
        let record = run(&world, &[]).record("failed");
        assert!(record["error"].as_str().unwrap().contains("ASSAY_SCRATCH"), "{record:#}");
    }
}
