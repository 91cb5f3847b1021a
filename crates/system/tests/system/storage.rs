//! Tests of the controls `storage` and `memory` on this machine: file systems on loop devices,
//! limits, groups, and the state after a kill -9 at any moment. Needs root; the child is this test
//! program itself.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::bench::killed::kill_and_put_back;
use crate::bench::{Bench, settings};
use assay_system::process::{Limits, ProgramSpec, Runner};
use assay_system::{AppliedSettings, Controller, Root};

fn figure(applied: &AppliedSettings, name: &str) -> f64 {
    applied.measured().iter().find(|m| m.0.name == name).unwrap().0.value.unwrap()
}

#[test]
fn every_level_is_made_measured_and_taken_away() {
    let _turn = assay_testing::alone();
    for (level, kind) in [
        ("folder:IMAGES,probe=400ms", None),
        ("tmpfs,size=64MiB,probe=400ms", Some("tmpfs")),
        (
            "loop:ext4,size=64MiB,scheduler=mq-deadline,read-ahead=1MiB,in=IMAGES,probe=400ms",
            Some("ext4"),
        ),
        ("loop:xfs,size=320MiB,in=IMAGES,probe=400ms", Some("xfs")),
        ("loop:btrfs,size=160MiB,compress=zstd,in=IMAGES,probe=400ms", Some("btrfs")),
        ("loop:btrfs,raid0,size=160MiB,in=IMAGES,probe=400ms", Some("btrfs")),
        ("loop:btrfs,raid1,devices=3,size=160MiB,in=IMAGES,probe=400ms", Some("btrfs")),
    ] {
        let bench = Bench::new();
        let Some(wanted) = bench.settings(&format!("storage={level}")) else { continue };
        let applied = bench.controller().apply(&wanted).unwrap_or_else(|e| panic!("{level}: {e}"));
        let files = applied.setup.storage.clone().unwrap();
        assert!(
            applied.setup.env.iter().any(|(k, v)| k == "ASSAY_STORAGE" && Path::new(v) == files)
        );
        assert_eq!(std::fs::read_dir(&files).unwrap().count(), 0, "{level}: the probe is gone");
        std::fs::write(files.join("x"), vec![b'x'; 1 << 20]).unwrap();
        assert_eq!(applied.measured().len(), 4);
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mounted = mounts.lines().find(|l| {
            files.starts_with(l.split(' ').nth(4).unwrap())
                && l.split(' ').nth(4).unwrap().len() > 1
                && files.parent().unwrap() == Path::new(l.split(' ').nth(4).unwrap())
        });
        let found = mounted.map(|l| l.split(" - ").nth(1).unwrap().split(' ').next().unwrap());
        assert_eq!(found, kind, "{level}");
        if level.contains("compress") {
            assert!(mounted.unwrap().contains("compress=zstd"), "{mounted:?}");
        }
        applied.restore().unwrap_or_else(|e| panic!("{level}: {e}"));
        assert!(!files.exists());
        assert_eq!(bench.left(), Vec::<String>::new(), "{level}");
    }
}

#[test]
fn an_emulated_disk_is_called_so_and_holds_its_rates() {
    let _turn = assay_testing::alone();
    let bench = Bench::new();
    let level = "storage=loop:ext4,size=512MiB,in=IMAGES,emulated=sata-7200,limits=bytes,probe=4s";
    let Some(wanted) = bench.settings(level) else { return };
    let applied = bench.controller().apply(&wanted).unwrap();
    assert!(applied.notes.iter().any(|n| n.contains("EMULATED disk, `sata-7200`")));
    for way in ["storage_sequential_read", "storage_sequential_write"] {
        let rate = figure(&applied, way);
        println!("{way} {rate}");
        // Whatever else the machine does, the rate cannot exceed the limit.
        assert!(rate > 0.0 && rate < 126e6 * 1.10, "{way}: {rate}");
    }
    applied.restore().unwrap();
    assert_eq!(bench.left(), Vec::<String>::new());
    let limits = "/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device";
    let limits = std::fs::read_to_string(limits).unwrap_or_default();
    assert!(!limits.contains("126000000"), "{limits}");
}

#[test]
fn a_device_in_use_is_refused_and_a_free_one_is_left_as_it_was() {
    let _turn = assay_testing::alone();
    let bench = Bench::new();
    let Some(wanted) = bench.settings("storage=loop:ext4,size=64MiB,in=IMAGES,probe=400ms") else {
        return;
    };
    let applied = bench.controller().apply(&wanted).unwrap();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let here = bench.images().to_string_lossy().into_owned();
    let line = mounts.lines().find(|l| l.contains(&here)).unwrap();
    let device = line.split(" - ").nth(1).unwrap().split(' ').nth(1).unwrap().to_owned();
    let point = line.split(' ').nth(4).unwrap().to_owned();
    let on_it = settings(&format!("storage=device:{device},probe=400ms"));
    let error = bench.controller().check(&on_it).unwrap_err().to_string();
    assert!(error.contains("mounted at"), "{error}");
    // The same device, unmounted, with a user's file on it.
    std::fs::write(format!("{point}/mine"), "kept").unwrap();
    let names = || {
        let entries = std::fs::read_dir(&point).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    assert!(Command::new("umount").arg(&point).status().unwrap().success());
    let second = Controller::new(bench.dir.path().join("second"), Root::system());
    let used = second.apply(&on_it).unwrap();
    let files = used.setup.storage.clone().unwrap();
    let kept = std::fs::read_to_string(files.parent().unwrap().join("mine")).unwrap();
    assert_eq!(kept, "kept");
    std::fs::write(files.join("mine-too"), "").unwrap();
    used.restore().unwrap();
    assert!(Command::new("mount").args([&device, &point]).status().unwrap().success());
    assert_eq!(names(), before, "nothing was added and nothing taken");
    applied.restore().unwrap();
    assert_eq!(bench.left(), Vec::<String>::new());
}

#[test]
fn the_program_has_no_more_memory_than_it_is_given() {
    let _turn = assay_testing::alone();
    let bench = Bench::new();
    let Some(wanted) = bench.settings("memory=32MiB") else { return };
    let run = |applied: &AppliedSettings, script: &str| {
        let argv = ["sh".into(), "-c".into(), script.into()];
        let mut runner = Runner::new(None);
        let program =
            ProgramSpec { argv: &argv, groups: &applied.setup.groups, ..ProgramSpec::default() };
        let limits = Limits {
            timeout: Duration::from_secs(30),
            grace: Duration::from_secs(1),
            keep_bytes: 4096,
        };
        runner.run(&program, &limits, &mut ()).unwrap()
    };
    let mut applied = bench.controller().apply(&wanted).unwrap();
    let group = applied.setup.groups[0].clone();
    let ran = run(&applied, "head -c 4M /dev/zero | tail -c 4M > /dev/null");
    assert!(ran.exit.success());
    // Version 2 counts the use of all processes, even for programs smaller than this one.
    let used = ran.resources.group;
    assert_eq!(used.is_some(), group.join("cgroup.controllers").exists());
    if let Some(used) = used {
        println!("{used:?}");
        assert!(used.user_s.zip(used.system_s).is_some_and(|(u, s)| u + s > 0.0));
        if group.join("memory.peak").exists() {
            let peak = used.peak_memory_bytes.unwrap();
            assert!((4 << 20..=32 << 20).contains(&peak), "{peak}");
        }
    }
    let script = "head -c 200M /dev/zero | tail -c 200M > /dev/null; kill -9 $$";
    assert!(!run(&applied, script).exit.success());
    let planned = assay_model::PlannedTrial { number: 1, ..assay_model::PlannedTrial::default() };
    let mut record = assay_model::TrialRecord::blank(&planned, 1, String::new(), 0);
    applied.after(&mut record);
    assert!(record.error.starts_with("the kernel killed"), "{}", record.error);
    applied.restore().unwrap();
    assert!(!group.exists());
}

/// 50 kills in total: most for the level that changes most, and some for each other way of creating
/// storage.
#[test]
fn nothing_is_left_after_kill_9_at_random_moments() {
    for (text, kills, longest) in [
        (
            "storage=loop:btrfs,raid0,size=128MiB,scheduler=mq-deadline,emulated=sata-ssd,\
             probe=400ms,in=IMAGES \
             memory=64MiB",
            26,
            900,
        ),
        ("storage=zram:ext4,size=64MiB,compress=lz4,emulated=nvme,probe=400ms", 8, 700),
        (
            "storage=zfs-fuse,raid1,size=128MiB,emulated=sata-ssd,arc=16MiB,probe=400ms,in=IMAGES \
            memory=64MiB",
            10,
            1000,
        ),
        ("storage=squashfs,size=64MiB,emulated=nvme,probe=400ms,in=IMAGES", 6, 700),
    ] {
        kill_and_put_back(text, kills, Duration::from_millis(longest));
    }
}
