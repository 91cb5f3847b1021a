//! The workload `startup`, from the command line: what the copies read and find, wrong answers,
//! storage that is too small or holds only inputs, and that nothing is left.

use crate::common::World;
use serde_json::Value;

/// Returns true if a program is installed; prints that the test is skipped otherwise.
fn have(program: &str, package: &str) -> bool {
    let there = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|dir| dir.join(program).is_file());
    if !there {
        println!("skipped: because there is no {program} (Debian package {package})");
    }
    there
}

/// Writes an experiment of one small trial on a storage. Every trial has its deciding metric.
fn experiment(world: &World, params: &str, storage: &str) -> String {
    let text = format!(
        "name = \"small\"\nworkload = \"startup\"\n[params]\ncopies = 2\nsize = \"4 MB\"\n\
         rows = 80\n{params}\n\
         [controls]\nstorage = \"{storage}\"\n[design]\nblocks = 1\n[compare]\n\
         metric = \"elapsed\"\n"
    );
    world.write("small.toml", &text).display().to_string()
}

/// Returns the exit code and the only record of a run.
fn record(world: &World, file: &str) -> Result<(i32, Value), String> {
    let done = world.run(&["run", file, "--json"]);
    let printed = || format!("{}{}", done.stdout, done.stderr);
    let run = world.runs().pop().ok_or_else(printed)?;
    let text = std::fs::read_to_string(run.join("records.jsonl")).unwrap();
    let line = text.lines().next().ok_or_else(printed)?;
    Ok((done.code, serde_json::from_str(line).unwrap()))
}

/// Returns the record like [`record`], or `None` if such a storage cannot be made here.
fn record_on(world: &World, params: &str, storage: &str) -> Option<(i32, Value)> {
    match record(world, &experiment(world, params, storage)) {
        Ok(found) => Some(found),
        Err(printed) if printed.contains("cannot be set here") => {
            println!("skipped: because {printed}");
            None
        }
        Err(printed) => panic!("{printed}"),
    }
}

fn metric(record: &Value, name: &str) -> f64 {
    crate::common::metric(record, name).unwrap_or_else(|| panic!("{name} is missing"))
}

/// Returns the mounts and loop devices of a world that are left.
fn left(world: &World) -> Vec<String> {
    let here = world.path("scratch").display().to_string();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mut left: Vec<String> =
        mounts.lines().filter(|l| l.contains(&here)).map(str::to_owned).collect();
    for block in std::fs::read_dir("/sys/class/block").unwrap().flatten() {
        let file = std::fs::read_to_string(block.path().join("loop/backing_file"));
        left.extend(file.ok().filter(|f| f.contains(&here)));
    }
    left
}

#[test]
fn every_copy_finds_the_optimum_and_reads_its_file_from_a_folder() {
    if !have("glpsol", "glpk-utils") {
        return;
    }
    let world = World::new();
    let folder = format!("folder:{},probe=400ms", world.path("scratch").display());
    let Some((code, record)) = record_on(&world, "", &folder) else { return };
    assert_eq!((code, record["outcome"].as_str()), (0, Some("completed")), "{record}");
    let detail = record["validation"]["detail"].as_str().unwrap();
    assert!(detail.contains("each of 2 copies found the optimum"), "{detail}");
    let read = metric(&record, "logical_read");
    assert!((read / 8e6 - 1.0).abs() < 0.1, "two files of about 4 MB: {read}");
    assert!(metric(&record, "elapsed") > 0.0 && metric(&record, "user") > 0.0);
}

#[test]
fn compression_takes_the_reads_away() {
    if !have("clp", "coinor-clp") {
        return;
    }
    for (storage, minimum) in [
        ("loop:btrfs,compress=zstd,size=160MiB", 80.0),
        ("zfs-fuse,compress=gzip,size=160MiB,arc=16MiB", 80.0),
        ("squashfs,compress=zstd,size=32MiB,emulated=sata-7200,limits=bytes", 85.0),
        ("erofs,compress=lz4,size=32MiB", 70.0),
    ] {
        let world = World::new();
        let storage = format!("{storage},probe=400ms");
        let Some((code, record)) = record_on(&world, "solver = \"clp\"", &storage) else {
            continue;
        };
        assert_eq!((code, record["outcome"].as_str()), (0, Some("completed")), "{record}");
        let saved = metric(&record, "read_saved");
        println!("{storage}: {saved}");
        assert!((minimum..100.0).contains(&saved), "{storage}: {saved}");
        let notes = record["notes"].to_string();
        assert!(notes.contains("bytes are those read from loop"), "{notes}");
        assert_eq!(left(&world), Vec::<String>::new(), "{storage}");
    }
}

#[test]
fn a_wrong_answer_voids_the_trial() {
    if !have("glpsol", "glpk-utils") {
        return;
    }
    let world = World::new();
    let folder = format!("folder:{},probe=400ms", world.path("scratch").display());
    let Some((code, record)) = record_on(&world, "fault = \"model\"", &folder) else { return };
    assert_eq!((code, record["outcome"].as_str()), (3, Some("invalid")), "{record}");
    let error = record["error"].as_str().unwrap();
    assert!(error.contains("copy 2 found") && error.contains("and the optimum is"), "{error}");
}

#[test]
fn a_storage_that_fills_up_fails_the_trial_in_its_own_words() {
    if !have("glpsol", "glpk-utils") || !crate::common::root() {
        return;
    }
    let world = World::new();
    let small = "loop:ext4,size=32MiB,probe=400ms";
    let file = experiment(&world, "", small);
    let text = std::fs::read_to_string(&file).unwrap().replace("4 MB", "24 MB");
    std::fs::write(&file, text).unwrap();
    let (code, found) = record(&world, &file).unwrap();
    assert_eq!((code, found["outcome"].as_str()), (3, Some("failed")), "{found}");
    let error = found["error"].as_str().unwrap();
    assert!(error.contains("writing model 2 of 2") && error.contains("larger size="), "{error}");
    assert_eq!(left(&world), Vec::<String>::new());
    // The storage becomes full while a program runs, which reports it itself.
    let text = format!(
        "name = \"full\"\nworkload = \"command\"\n[params]\nshell = \"sh\"\n\
         command = \"head -c 100M /dev/zero > $ASSAY_STORAGE/x\"\n[controls]\n\
         storage = \"{small}\"\n\
         [design]\nblocks = 1\n"
    );
    let world = World::new();
    let file = world.write("full.toml", &text).display().to_string();
    let (code, found) = record(&world, &file).unwrap();
    assert_eq!((code, found["outcome"].as_str()), (3, Some("failed")), "{found}");
    let error = found["error"].as_str().unwrap();
    assert!(error.contains("No space left on device"), "{error}");
    assert_eq!(left(&world), Vec::<String>::new());
}

#[test]
fn an_image_is_for_workloads_that_put_something_there() {
    let world = World::new();
    let text = "name = \"none\"\nworkload = \"noop\"\n[controls]\nstorage = \"squashfs\"\n\
        [design]\nblocks = 1\n";
    let file = world.write("none.toml", text).display().to_string();
    let done = world.run(&["plan", &file]);
    assert_eq!(done.code, 2, "{}{}", done.stdout, done.stderr);
    let printed = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("noop has none"), "{printed}");
}
