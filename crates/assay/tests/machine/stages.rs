//! `assay io --from TRACE --stages` on traces recorded here, compared with btt of Debian's
//! blktrace: the same number of I/Os in each stage, the same minimum, mean and maximum times. Needs
//! the disks and the kernel of `make test-vm`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::World;
use serde_json::Value;

fn run(folder: &Path, program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

/// Records a load on a disk as `trace.blktrace.0` and so on, merged as `trace.bin`, and observes
/// the stages live. Returns the live result, or prints the reason if recording is impossible.
fn record(world: &World, disk: &str) -> Option<Value> {
    let folder = world.path("");
    let queue = format!("/sys/block/{}/queue/scheduler", disk.trim_start_matches("/dev/"));
    let _ = std::fs::write(queue, "mq-deadline");
    let mut blktrace = Command::new("blktrace");
    blktrace.args(["-d", disk, "-o", "trace"]).current_dir(&folder);
    let Ok(mut recording) = blktrace.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        println!("skipped: because there is no blktrace");
        return None;
    };
    let begun = || folder.join("trace.blktrace.0").exists();
    for _ in 0..600 {
        if begun() || recording.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    // The data of dd is written back when the disk is closed, without a flush: btt takes a flush,
    // which has no bytes, for an I/O that never ends. The reads by udev after the close come before
    // the end.
    let load = format!(
        "dd if=/dev/zero of={disk} bs=64k count=128 && \
         fio --name=a --filename={disk} --rw=randrw --bs=4k --size=64M --io_size=2M --direct=1 \
         --ioengine=libaio --iodepth=16 --iodepth_batch=8 && (udevadm settle || true)"
    );
    let live = ["io", "--stages", "--device", disk, "--json", "--", "sh", "-c"];
    let live = world.run(&[&live[..], &[&format!("({load}) >/dev/null 2>&1")]].concat());
    assert_eq!(live.code, 0, "{disk}: {}{}", live.stdout, live.stderr);
    let pid = rustix::process::Pid::from_child(&recording);
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    let ended = recording.wait().unwrap();
    if !begun() {
        println!("skipped: because this kernel lets nobody record with blktrace ({ended})");
        return None;
    }
    assert!(run(&folder, "blkparse", &["-i", "trace", "-d", "trace.bin", "-O"]));
    Some(live.json())
}

/// Checks that the live stages agree with the recorded ones: the same number of bios in each stage,
/// joins and plugs. Each took its own timestamps, so times agree only in their order of magnitude.
fn alike(disk: &str, live: &Value, recorded: &Value) {
    assert_eq!(live["lost"], 0, "{disk}: {live}");
    let [device] = live["devices"].as_array().unwrap().as_slice() else { panic!("{disk}: {live}") };
    for count in ["queued", "issued", "merged_back", "merged_front", "plugs", "unplugs"] {
        assert_eq!(device[count], recorded[count], "{disk} {count}: {device} {recorded}");
    }
    let (own, theirs) =
        (device["stages"].as_array().unwrap(), recorded["stages"].as_array().unwrap());
    assert_eq!(own.len(), theirs.len(), "{disk}: {device} {recorded}");
    for (a, b) in own.iter().zip(theirs) {
        assert_eq!((&a["stage"], &a["n"]), (&b["stage"], &b["n"]), "{disk}: {a} {b}");
    }
    println!("{disk}: live as blktrace: {device}");
}

/// A loop device of 16 MiB, removed when dropped.
struct Loop(String);

impl Loop {
    fn new(world: &World) -> Option<Self> {
        if !crate::common::root() {
            println!("skipped: because loop devices and eBPF need root");
            return None;
        }
        let image = world.path("disk");
        std::fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
        let made = Command::new("losetup").args(["-f", "--show"]).arg(&image).output();
        let Ok(made) = made.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()) else {
            println!("skipped: because there is no losetup");
            return None;
        };
        if made.is_empty() {
            println!("skipped: because no loop device can be had here");
            return None;
        }
        Some(Loop(made))
    }

    /// Returns the stages of a command's I/O on the device; prints the reason and returns `None` if
    /// they cannot be seen here.
    fn stages(&self, world: &World, command: &[&str]) -> Option<Value> {
        let live = ["io", "--stages", "--device", &self.0, "--json", "--"];
        let done = world.run(&[&live[..], command].concat());
        if done.code == 1 {
            println!("skipped: because {}", done.stderr.trim());
            return None;
        }
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        let seen = done.json();
        assert_eq!(seen["lost"], 0, "{seen}");
        Some(seen["devices"][0].clone())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

/// Returns the number of I/Os that went through a stage.
fn through(device: &Value, stage: &str) -> Option<u64> {
    device["stages"].as_array().unwrap().iter().find(|s| s["stage"] == stage)?["n"].as_u64()
}

/// On a loop device, every I/O of a load goes through every stage.
#[test]
fn live_stages_are_those_of_the_load() {
    let world = World::new();
    let Some(made) = Loop::new(&world) else { return };
    let fio =
        ["--name=a", "--rw=randread", "--bs=4k", "--size=1M", "--direct=1", "--output=/dev/null"];
    let command = [&["fio", "--filename", made.0.as_str()], &fio[..]].concat();
    let Some(device) = made.stages(&world, &command) else { return };
    assert_eq!((&device["queued"], &device["issued"]), (&256.into(), &256.into()), "{device}");
    for stage in ["Q2G", "D2C", "Q2C"] {
        assert_eq!(through(&device, stage), Some(256), "{stage}: {device}");
    }
}

/// A bio that is larger than the device accepts is followed in all its parts.
#[test]
fn live_stages_follow_bios_that_are_split() {
    let world = World::new();
    let Some(made) = Loop::new(&world) else { return };
    let queue = format!("/sys/block/{}/queue", made.0.trim_start_matches("/dev/"));
    std::fs::write(format!("{queue}/max_sectors_kb"), "64").unwrap();
    // The test reads the device, because udev examines a device after a write.
    let from = format!("if={}", made.0);
    let dd = ["dd", &from, "of=/dev/null", "bs=1M", "count=8", "iflag=direct", "status=none"];
    let Some(device) = made.stages(&world, &dd) else { return };
    let n = |count: &str| device[count].as_u64().unwrap();
    assert_eq!((n("issued"), n("unjoined")), (128, 0), "{device}");
    assert_eq!(n("queued") + n("splits"), 128, "{device}");
    assert!(n("queued") < 128, "{device}");
    for stage in ["Q2G", "D2C", "Q2C"] {
        assert_eq!(through(&device, stage), Some(128), "{stage}: {device}");
    }
}

/// Returns btt's result for all devices: stage, then minimum, mean and maximum in nanoseconds, and
/// the number of I/Os.
fn btt(folder: &Path) -> Vec<(String, [f64; 3], u64)> {
    assert!(run(folder, "btt", &["-i", "trace.bin", "-o", "btt"]));
    let text = std::fs::read_to_string(folder.join("btt.avg")).unwrap();
    let all = text.lines().skip_while(|l| !l.contains("All Devices")).skip(1);
    let all = all.take_while(|l| !l.starts_with("===="));
    all.filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [stage, minimum, mean, maximum, n] = words.as_slice() else { return None };
        let ns = |text: &str| text.parse::<f64>().ok().map(|s| s * 1e9);
        // btt marks devices that it takes for device mapper by their major number (9, 253, 254),
        // such as a virtio disk.
        Some((
            stage.trim_end_matches("dm").to_owned(),
            [ns(minimum)?, ns(mean)?, ns(maximum)?],
            n.parse().ok()?,
        ))
    })
    .collect()
}

#[test]
fn stages_are_those_of_btt() {
    let Ok(disks) = std::env::var("ASSAY_TEST_DISKS") else {
        println!("skipped: because no disk may be overwritten here (ASSAY_TEST_DISKS)");
        return;
    };
    for disk in disks.split_whitespace() {
        let world = World::new();
        let Some(live) = record(&world, disk) else { return };
        let theirs = btt(&world.path(""));
        let ours = world.run(&[
            "io",
            "--from",
            world.path("trace").to_str().unwrap(),
            "--stages",
            "--json",
        ]);
        assert_eq!(ours.code, 0, "{}", ours.stderr);
        let all: Value = serde_json::from_str(&ours.stdout).unwrap();
        let [device] = all.as_array().unwrap().as_slice() else { panic!("{disk}: {all}") };
        alike(disk, &live, device);
        let mut compared = 0;
        for stage in device["stages"].as_array().unwrap() {
            let name = stage["stage"].as_str().unwrap();
            let Some((_, times, n)) = theirs.iter().find(|t| t.0 == name) else {
                panic!("{disk}: btt has no {name}: {theirs:?}");
            };
            assert_eq!(stage["n"].as_u64(), Some(*n), "{disk} {name}: {stage} {times:?}");
            for (key, time) in ["min_ns", "mean_ns", "max_ns"].into_iter().zip(times) {
                // btt prints whole nanoseconds.
                let own = stage[key].as_f64().unwrap();
                assert!((own - time).abs() <= 0.51, "{disk} {name} {key}: {own}, btt has {time}");
            }
            compared += 1;
        }
        println!("{disk}: {compared} stages as btt has them: {all}");
        assert!(compared >= 4, "{disk}: {all} {theirs:?}");
        let known: Vec<&str> = ["Q2G", "G2I", "Q2M", "I2D", "M2D", "D2C", "Q2C"].to_vec();
        let missed = theirs.iter().filter(|t| known.contains(&t.0.as_str()));
        assert_eq!(missed.count(), compared, "{theirs:?}");
        let issued = device["issued"].as_u64().unwrap();
        assert!(issued > 0 && device["unplugs"].as_u64().unwrap() > 0, "{device}");
    }
    let world = World::new();
    world
        .write("other", "8,0    3       11     0.009507758   697  D   W 223490 + 56 [kjournald]\n");
    let refused = world.run(&["io", "--from", world.path("other").to_str().unwrap(), "--stages"]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("has no stages"), "{}", refused.stderr);
}
