//! Tests of storage on composed devices: MD arrays, and stripes, encryption and delays of the
//! device mapper. Needs root and a kernel with both, such as those of `make test-vm`.

use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::bench::killed::kill_and_put_back;

/// Returns the name of the device that holds a folder's file system.
fn device_of(files: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let point = |l: &&str| l.split(' ').nth(4).map(Path::new) == files.parent();
    let line = mounts.lines().find(point).unwrap();
    // btrfs shows its own device numbers.
    let source = line.split(" - ").nth(1).unwrap().split(' ').nth(1).unwrap();
    let device = std::fs::canonicalize(source).unwrap();
    device.file_name().unwrap().to_string_lossy().into_owned()
}

fn slaves(device: &str) -> usize {
    std::fs::read_dir(format!("/sys/class/block/{device}/slaves")).unwrap().count()
}

#[test]
fn every_kind_is_made_measured_sealed_and_taken_away() {
    let _turn = assay_testing::alone();
    let text = "plant 001 to market 002 by route 0003\n".repeat(50_000);
    for (level, kind, parts, what) in [
        ("md:ext4,raid0,size=64MiB", "md", 2, "raid0"),
        ("md:ext4,raid1,size=64MiB,scheduler=mq-deadline", "md", 2, "raid1"),
        ("md:xfs,raid5,size=320MiB", "md", 3, "raid5"),
        ("dm-stripe:ext4,devices=3,size=64MiB", "dm-", 3, "striped"),
        ("dm-crypt:btrfs,size=160MiB", "dm-", 1, "crypt"),
        ("dm-delay:ext4,emulated-delay=20ms,size=64MiB", "dm-", 1, "delay"),
    ] {
        let bench = Bench::new();
        let Some(wanted) = bench.settings(&format!("storage={level},probe=400ms,in=IMAGES")) else {
            continue;
        };
        let applied = bench.controller().apply(&wanted).unwrap_or_else(|e| panic!("{level}: {e}"));
        let files = applied.setup.storage.clone().unwrap();
        let device = device_of(&files);
        assert!(device.starts_with(kind), "{level}: {device}");
        assert_eq!(slaves(&device), parts, "{level}");
        let own = format!("/sys/class/block/{device}");
        let is = if kind == "md" {
            std::fs::read_to_string(format!("{own}/md/level")).unwrap()
        } else {
            let mut table = std::process::Command::new("dmsetup");
            let table = table.args(["table", "--showkeys"]).output().unwrap();
            String::from_utf8(table.stdout).unwrap()
        };
        assert!(is.contains(what), "{level}: {is}");
        assert_eq!(applied.measured().len(), 4, "{level}");
        let named = applied.notes.iter().any(|n| n.contains(&format!("`{device}`")));
        assert!(named, "{level}: {:?}", applied.notes);
        let emulated = applied.notes.iter().any(|n| n.contains("EMULATED latency"));
        assert_eq!(emulated, level.contains("delay"), "{level}: {:?}", applied.notes);
        std::fs::write(files.join("x"), &text).unwrap();
        applied.make_cold().unwrap_or_else(|e| panic!("{level}: {e}"));
        assert_eq!(device_of(&files), device, "{level}: it is mounted again");
        let began = Instant::now();
        let mut read = String::new();
        std::fs::File::open(files.join("x")).unwrap().read_to_string(&mut read).unwrap();
        // A request takes at least as long as the emulated delay; how much longer depends on the
        // machine.
        assert!(!emulated || began.elapsed() >= Duration::from_millis(20), "{level}");
        assert!(read == text, "{level}: what was read is not what was written");
        applied.restore().unwrap_or_else(|e| panic!("{level}: {e}"));
        assert_eq!(bench.left(), Vec::<String>::new(), "{level}");
    }
}

#[test]
fn nothing_is_left_after_kill_9_at_random_moments() {
    for level in [
        "md:ext4,raid1,size=64MiB",
        "md:ext4,raid5,size=64MiB",
        "dm-stripe:ext4,size=64MiB,emulated=sata-ssd",
        "dm-crypt:ext4,size=64MiB",
        "dm-delay:ext4,size=64MiB,emulated-delay=5ms",
    ] {
        let text = format!("storage={level},probe=400ms,in=IMAGES");
        kill_and_put_back(&text, 5, Duration::from_millis(1500));
    }
}
