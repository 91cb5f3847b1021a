//! The workload `cae`, from the command line: a real CalculiX and a real MUMPS over MPI, at the
//! size `test`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Done, World, alive, done, metric, root, wait_for};
use serde_json::Value;

/// Returns true if CalculiX is installed; prints the reason otherwise.
fn ccx() -> bool {
    let there = Command::new("ccx").arg("-v").output().is_ok();
    if !there {
        println!("skipped: because there is no ccx (Debian package calculix-ccx)");
    }
    there
}

/// Returns true if MUMPS and MPI are installed; prints the reason otherwise.
fn mumps() -> bool {
    let there = Path::new("/usr/include/dmumps_c.h").exists()
        && ["mpicc", "mpirun"].iter().all(|p| Command::new(p).arg("--version").output().is_ok());
    if !there {
        println!(
            "skipped: because there is no MUMPS (Debian packages libmumps-dev libopenmpi-dev \
            openmpi-bin)"
        );
    }
    there
}

/// Returns the arguments of a run with one trial and these settings.
fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["run", "cae", "--json", "--monitors", "none", "--blocks", "1"];
    all.extend(more.iter().flat_map(|set| ["--set", set]));
    all
}

fn run(world: &World, more: &[&str]) -> Done {
    world.run(&arguments(more))
}

#[test]
fn what_calculix_finds_is_right() {
    if !ccx() {
        return;
    }
    let world = World::new();
    let cases = "case=beam-static,plate-static,beam-bending,bar-plastic,beam-modes,plate-modes";
    let ran = run(&world, &[cases, "processes=2"]);
    let records = ran.records();
    assert_eq!(records.len(), 6, "{}", ran.stderr);
    for record in &records {
        assert_eq!(record["outcome"], "completed", "{record:#}");
        let detail = record["validation"]["detail"].as_str().unwrap();
        assert!(detail.contains("by the closed form"), "{detail}");
        assert!(metric(record, "elapsed").unwrap() > 0.0 && metric(record, "user").unwrap() > 0.0);
        assert!(metric(record, "deviation").unwrap() <= 0.02);
        // CalculiX writes its results to files.
        assert!(metric(record, "scratch").unwrap() > 4096.0);
        assert_eq!(metric(record, "factors"), None);
    }
    let system = std::fs::read_to_string(world.runs()[0].join("system.json")).unwrap();
    let system: Value = serde_json::from_str(&system).unwrap();
    let version = system["facts"]["workload.solver.version"]["value"].as_str().unwrap();
    assert!(version.starts_with("This is Version"), "{version}");
}

#[test]
fn what_mumps_finds_is_right_and_its_factors_are_in_files() {
    if !mumps() {
        return;
    }
    let world = World::new();
    let ran = run(&world, &["case=block-core,girder-passes", "processes=1,3"]);
    let records = ran.records();
    assert_eq!(records.len(), 4, "{}", ran.stderr);
    for record in &records {
        assert_eq!(record["outcome"], "completed", "{record:#}");
        assert!(metric(record, "deviation").unwrap() < 1e-6);
        let (factors, scratch) =
            (metric(record, "factors").unwrap(), metric(record, "scratch").unwrap());
        let detail = record["validation"]["detail"].as_str().unwrap();
        if detail.starts_with("10 systems") {
            assert!(scratch >= factors && factors > 4e6, "{scratch} {factors}");
        } else {
            assert!(scratch < factors / 4.0, "nothing is in files: {scratch} {factors}");
        }
        assert!(metric(record, "factor_time").unwrap() < metric(record, "elapsed").unwrap());
    }
}

#[test]
fn a_wrong_answer_is_found() {
    let world = World::new();
    if ccx() {
        let ran = run(&world, &["fault=answer"]);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let record = ran.record("invalid");
        assert!(record["error"].as_str().unwrap().contains("2.0 % allowed"), "{record:#}");
    }
    if mumps() {
        run(&world, &["case=block-files", "processes=2", "fault=answer"]).record("invalid");
    }
}

#[test]
fn a_load_that_does_not_converge_fails_in_the_solvers_words() {
    let world = World::new();
    if ccx() {
        let ran = run(&world, &["case=beam-bending", "fault=diverge"]);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let record = ran.record("failed");
        let error = record["error"].as_str().unwrap();
        assert!(error.contains("CalculiX failed (exit code 201): *ERROR"), "{error}");
    }
    let refused = run(&world, &["case=beam-static", "fault=diverge"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

#[test]
fn scratch_that_is_full_fails_in_the_solvers_words() {
    if !mumps() {
        return;
    }
    if !root() {
        println!("skipped: because a file system in memory needs root");
        return;
    }
    let world = World::new();
    let file = world.write(
        "full.toml",
        "name = \"full\"\nworkload = \"cae\"\n[params]\ncase = \"block-files\"\nsize = \"train\"\n\
         processes = 2\n\
         [controls]\nstorage = \"tmpfs,size=16MiB,probe=1s\"\n[design]\nblocks = 1\n[observe]\n\
         monitors = []\n",
    );
    let ran = world.run(&["run", file.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let record = ran.record("failed");
    let error = record["error"].as_str().unwrap();
    // Sometimes MUMPS waits for its own thread instead of reporting the error.
    let reported = error.contains("INFOG(1) = -90") || error.contains("no space is left in");
    assert!(reported, "{error}");
}

#[test]
fn a_case_that_needs_more_memory_than_it_has_says_so() {
    if !ccx() {
        return;
    }
    if !root() {
        println!("skipped: because limits of memory need root");
        return;
    }
    let world = World::new();
    let ran = run(&world, &["case=plate-static", "size=train", "controls.memory=256MiB"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let record = ran.record("failed");
    let error = record["error"].as_str().unwrap();
    assert!(error.starts_with("the kernel killed 1 of the program's processes"), "{error}");
    assert!(error.ends_with("CalculiX failed (signal 9): it printed nothing"), "{error}");
}

/// Returns the number of processes whose command line begins with `mark`.
fn ranks(mark: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.map(|e| std::fs::read(e.path().join("cmdline")).unwrap_or_default());
    lines.filter(|line| line.starts_with(mark.as_bytes())).count()
}

#[test]
fn nothing_of_a_killed_assay_lives_on() {
    if !mumps() {
        return;
    }
    let world = World::new();
    let mark = world.path("cache/cae").display().to_string();
    let mut command = world.assay(&arguments(&["case=block-files", "size=train", "processes=2"]));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the solver never came", || ranks(&mark) == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the solver lives on", || !alive(&mark));
    assert_eq!(world.run(&["doctor", "--restore"]).code, 0);
    let left: Vec<_> = std::fs::read_dir(world.path("scratch")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_is_missing_is_named() {
    let world = World::new();
    let nowhere = world.path("state");
    for (case, package) in
        [("case=beam-static", "calculix-ccx"), ("case=block-core", "libopenmpi-dev")]
    {
        let ran = done(world.assay(&arguments(&[case])).env("PATH", &nowhere));
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        let shown = ran.stderr.replace("\n  ", " ");
        assert!(shown.contains(&format!("Debian package {package}")), "{shown}");
    }
    let ran = run(&world, &["ccx=/no/such/ccx"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("/no/such/ccx"), "{}", ran.stderr);
}
