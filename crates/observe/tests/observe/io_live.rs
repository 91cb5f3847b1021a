//! Compares the live block-I/O tracer with fio's own log, on a loop device, and tests it when it
//! cannot keep up, when a device disappears, and when it is killed. Tests that cannot run here
//! print the reason.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_observe::io::{IoTracer, KernelFeatures, Method, TraceRequest};
use assay_testing::alone;
use assay_traces::block_io::{Dimension, IoReport, Measure, NameTable, Op, OpTotal, Question};

mod slow;

use slow::Slow;

fn skipped(reason: &str) {
    println!("skipped: because {reason}");
}

fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// A loop device over a file in memory; removed when dropped.
struct Loop {
    device: String,
    file: PathBuf,
    _folder: tempfile::TempDir,
}

impl Loop {
    fn new(bytes: u64) -> Option<Loop> {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory).ok()?
        } else {
            tempfile::tempdir().ok()?
        };
        let file = folder.path().join("disk");
        std::fs::File::create(&file).ok()?.set_len(bytes).ok()?;
        let out = Command::new("losetup").args(["--find", "--show"]).arg(&file).output().ok()?;
        let device = String::from_utf8(out.stdout).ok()?.trim().to_owned();
        if device.is_empty() {
            return None;
        }
        let name = device.trim_start_matches("/dev/");
        // Prevents merges, so that the device sees requests exactly as fio submits them.
        std::fs::write(format!("/sys/block/{name}/queue/nomerges"), "2").ok()?;
        Some(Loop { device, file, _folder: folder })
    }

    fn detach(&self) {
        // It may have gone already, and an error between the lines of the tests would look like
        // one.
        let _ = Command::new("losetup").args(["-d", &self.device]).stderr(Stdio::null()).status();
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.detach();
        let _ = std::fs::remove_file(&self.file);
    }
}

fn ask(device: &str) -> TraceRequest {
    let mut question = Question {
        by: vec![Dimension::Direction],
        histograms: vec![Measure::Size, Measure::Latency],
        ..Question::default()
    };
    question.filter.devices.push(device.to_owned());
    TraceRequest { question, ..TraceRequest::default() }
}

/// Starts a tracer; if that fails, prints the reason and returns `None`.
fn started<'n>(ask: &TraceRequest, names: &'n NameTable) -> Option<IoTracer<'n>> {
    match IoTracer::start(Path::new("/"), ask, names) {
        Ok(tracer) => Some(tracer),
        Err(reason) => {
            skipped(&reason.to_string());
            None
        }
    }
}

/// Runs fio; returns its log as (direction, bytes) → I/Os.
fn fio(device: &str, ios: u32, depth: u32) -> BTreeMap<(u64, u64), u64> {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let output = Command::new("fio")
        .args(["--name=t", "--direct=1", "--rw=randrw", "--ioengine=libaio", "--bsrange=4k-64k"])
        .arg("--random_distribution=zipf:1.1")
        .args([&format!("--filename={device}"), &format!("--number_ios={ios}")])
        .args([&format!("--iodepth={depth}"), &format!("--write_lat_log={}", log.display())])
        .args(["--log_offset=1", "--size=32m", "--io_size=1g", "--randrepeat=0"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(format!("{}_lat.1.log", log.display())).unwrap();
    let mut all = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<u64> = line.split(", ").map_while(|f| f.trim().parse().ok()).collect();
        *all.entry((fields[2], fields[3])).or_default() += 1;
    }
    all
}

/// Converts the log to the power-of-two histogram that the tracer makes.
fn by_powers(log: &BTreeMap<(u64, u64), u64>, direction: u64) -> BTreeMap<i64, u64> {
    let mut rows = BTreeMap::new();
    for ((_, bytes), n) in log.iter().filter(|((d, _), _)| *d == direction) {
        *rows.entry(1i64 << bytes.ilog2()).or_default() += n;
    }
    rows
}

fn sizes(report: &IoReport, op: Op) -> BTreeMap<i64, u64> {
    let group = report.groups.iter().find(|g| g.key == [op.name()]).expect("both directions");
    let sizes = group.histograms.iter().find(|h| h.measure == Measure::Size).unwrap();
    sizes.rows.iter().filter(|r| r.count > 0).map(|r| (r.from.unwrap(), r.count)).collect()
}

#[test]
fn counts_and_sizes_are_those_of_fios_log() {
    on_a_loop(&[(false, false)], &[KernelFeatures::Newest, KernelFeatures::Compat]);
}

#[test]
fn counts_by_program_are_those_of_fios_log() {
    on_a_loop(&[(false, true), (true, true)], &[KernelFeatures::Newest]);
}

#[test]
fn counts_by_program_as_older_kernels_tell_them_are_those_of_fios_log() {
    on_a_loop(&[(false, true), (true, true)], &[KernelFeatures::Queued, KernelFeatures::Compat]);
}

fn on_a_loop(tiers: &[(bool, bool)], kernels: &[KernelFeatures]) {
    let _turn = alone();
    if !has("fio") {
        return skipped("fio is not installed");
    }
    let Some(disk) = Loop::new(64 << 20) else { return skipped("no loop device can be made") };
    for &oldest in kernels {
        as_fios_log(&disk.device, 20_000, tiers, oldest);
    }
}

#[test]
fn a_range_of_blocks_leaves_nothing_in_flight() {
    let _turn = alone();
    if !has("fio") {
        return skipped("fio is not installed");
    }
    let Some(disk) = Loop::new(64 << 20) else { return skipped("no loop device can be made") };
    for events in [false, true] {
        let names = NameTable::default();
        let mut ask = TraceRequest { events, classes: true, ..ask(&disk.device) };
        ask.question.filter.programs.push("fio".to_owned());
        // A quarter of the range that fio writes to.
        ask.question.filter.blocks = Some((0, (8 << 20) / 512 - 1));
        let Some(mut tracer) = started(&ask, &names) else { return };
        let all: u64 = fio(&disk.device, 2_000, 8).values().sum();
        tracer.stop();
        let report = tracer.report();
        let seen: u64 = report.ops.iter().map(|o| o.ios).sum();
        assert!(seen > 0 && seen < all, "{seen} of {all}");
        let h = &report.completeness;
        assert_eq!((h.in_flight, h.ios), (0, seen), "{h:?}");
    }
}

/// Runs a shell script that must succeed.
fn sh(script: &str) {
    let done = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Traces a script by one dimension; returns I/Os and bytes for each key.
fn seen(
    device: &str,
    by: Dimension,
    oldest: KernelFeatures,
    script: &str,
) -> Option<Vec<(String, u64, u64)>> {
    let names = NameTable::default();
    let mut ask = TraceRequest { oldest, method: Some(Method::Ebpf), ..ask(device) };
    ask.question.by = vec![by];
    ask.question.histograms.clear();
    ask.question.top = 100;
    let mut tracer = started(&ask, &names)?;
    sh(script);
    tracer.stop();
    let report = tracer.report();
    assert_eq!(report.completeness.unmatched_ends, 0, "{oldest:?} {:?}", report.completeness);
    Some(report.groups.iter().map(|g| (g.key[0].clone(), g.ios, g.bytes)).collect())
}

const KERNELS: [KernelFeatures; 3] =
    [KernelFeatures::Newest, KernelFeatures::Queued, KernelFeatures::Compat];

/// A write that waits for a flush is passed to the driver by a kernel worker, but it belongs to dd.
#[test]
fn writes_past_the_cache_are_those_of_the_program() {
    let _turn = alone();
    let Some(disk) = Loop::new(16 << 20) else { return skipped("no loop device can be made") };
    let script = format!(
        "dd if=/dev/zero of={} bs=8k count=20 oflag=direct,dsync conv=notrunc",
        disk.device
    );
    let name = disk.device.trim_start_matches("/dev/");
    // Without a write cache no write waits, and the probe at waiting requests is left out.
    for cache in ["write back", "write through"] {
        std::fs::write(format!("/sys/block/{name}/queue/write_cache"), cache).unwrap();
        for oldest in KERNELS {
            let Some(all) = seen(&disk.device, Dimension::Program, oldest, &script) else { return };
            let dd = all.iter().find(|(key, ..)| key == "dd");
            assert_eq!(dd, Some(&("dd".to_owned(), 20, 20 * 8192)), "{cache}, {oldest:?}: {all:?}");
        }
    }
}

/// A third request joins two waiting requests that it lies between. The front one survives the
/// merge, with the start time of the other, which is earlier.
#[test]
fn requests_that_are_joined_while_they_wait_are_counted_once() {
    let _turn = alone();
    let Some(disk) = Slow::new() else { return skipped("no null block device can be made") };
    let device = format!("/dev/{}", disk.name);
    // One request is at the device and the next is taken out for it: those behind wait where they
    // can be merged.
    let script = format!(
        "d() {{ dd if={device} of=/dev/null bs=4k count=1 skip=$1 iflag=direct; }}; \
         d 100 & sleep 0.3; d 200 & sleep 0.3; d 2 & sleep 0.3; d 0 & sleep 0.3; d 1 & wait"
    );
    for oldest in KERNELS {
        let names = NameTable::default();
        let mut ask =
            TraceRequest { oldest, method: Some(Method::Ebpf), classes: true, ..ask(&device) };
        ask.question.filter.programs.push("dd".to_owned());
        let before = disk.reads();
        let Some(mut tracer) = started(&ask, &names) else { return };
        sh(&script);
        tracer.stop();
        let after = disk.reads();
        if after.1 - before.1 != 2 {
            skipped("the kernel joined nothing: the machine was too slow");
            continue;
        }
        let report = tracer.report();
        let reads = report.ops.iter().find(|o| o.op == Op::Read);
        let seen = reads.map(|o| (o.ios, o.bytes, report.completeness.missed_completions));
        assert_eq!(
            seen,
            Some((after.0 - before.0, 20 << 10, 0)),
            "{oldest:?} {:?}",
            report.completeness
        );
    }
}

#[test]
fn files_are_known_by_their_pages_and_by_what_opened_them() {
    let _turn = alone();
    let Some(disk) = Loop::new(64 << 20) else { return skipped("no loop device can be made") };
    if !has("mkfs.ext4") {
        return skipped("mkfs.ext4 is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    sh(&format!("mkfs.ext4 -q {0}; mount {0} {at}", disk.device));
    for oldest in KERNELS {
        let script = format!(
            "dd if=/dev/zero of={at}/pages bs=64k count=16 conv=fsync; \
             dd if=/dev/zero of={at}/direct bs=64k count=16 oflag=direct; sync -f {at}"
        );
        let all = seen(&disk.device, Dimension::File, oldest, &script);
        sh(&format!("rm -f {at}/pages {at}/direct; sync -f {at}"));
        let Some(all) = all else { break };
        for name in ["pages", "direct"] {
            let path = format!("{at}/{name}");
            let bytes = all.iter().find(|(key, ..)| *key == path).map(|(.., bytes)| *bytes);
            assert_eq!(bytes, Some(1 << 20), "{oldest:?} {path}: {all:?}");
        }
    }
    sh(&format!("umount {at}"));
}

#[test]
fn control_groups_of_version_2_are_known() {
    let _turn = alone();
    let top = Path::new("/sys/fs/cgroup");
    let controllers = std::fs::read_to_string(top.join("cgroup.controllers")).unwrap_or_default();
    if !controllers.split_whitespace().any(|c| c == "io") {
        return skipped("there is no io controller of control groups version 2");
    }
    let Some(disk) = Loop::new(16 << 20) else { return skipped("no loop device can be made") };
    std::fs::write(top.join("cgroup.subtree_control"), "+io").unwrap();
    let group = top.join("assay-io-test");
    std::fs::create_dir_all(&group).unwrap();
    let script = format!(
        "echo $$ > {}/cgroup.procs; exec dd if={} of=/dev/null bs=64k count=32 iflag=direct",
        group.display(),
        disk.device
    );
    let all: Vec<_> = KERNELS
        .into_iter()
        .map(|oldest| seen(&disk.device, Dimension::Cgroup, oldest, &script))
        .collect();
    std::fs::remove_dir(&group).unwrap();
    for (all, oldest) in all.into_iter().zip(KERNELS) {
        let Some(all) = all else { return };
        let ours = all.iter().find(|(key, ..)| key == "/assay-io-test");
        assert_eq!(ours.map(|(_, ios, _)| *ios), Some(32), "{oldest:?}: {all:?}");
    }
}

/// Runs on the disks in `ASSAY_TEST_DISKS`, which may be overwritten, with several drivers.
#[test]
fn counts_on_other_disks_are_those_of_fios_log() {
    let _turn = alone();
    let disks = std::env::var("ASSAY_TEST_DISKS").unwrap_or_default();
    if disks.trim().is_empty() {
        return skipped("ASSAY_TEST_DISKS names no disks that may be overwritten");
    }
    for device in disks.split_whitespace() {
        let queue = format!("/sys/block/{}/queue", device.trim_start_matches("/dev/"));
        std::fs::write(format!("{queue}/nomerges"), "2").unwrap();
        // Requests go straight to the driver, or through a scheduler's queue.
        for (scheduler, oldest) in [
            ("none", KernelFeatures::Newest),
            ("mq-deadline", KernelFeatures::Newest),
            ("none", KernelFeatures::Compat),
            ("mq-deadline", KernelFeatures::Compat),
        ] {
            std::fs::write(format!("{queue}/scheduler"), scheduler).unwrap();
            println!("{device}, {scheduler}, {oldest:?}");
            as_fios_log(device, 2_000, &[(true, true)], oldest);
        }
        std::fs::write(format!("{queue}/scheduler"), "none").unwrap();
    }
}

/// Compares the tracer with fio's log for each tier: (single I/Os reported, program and class
/// known).
fn as_fios_log(device: &str, ios: u32, tiers: &[(bool, bool)], oldest: KernelFeatures) {
    for &(events, classes) in tiers {
        let names = NameTable::default();
        let method = Some(Method::Ebpf);
        let mut ask = TraceRequest { events, classes, oldest, method, ..ask(device) };
        if classes {
            // With start probes the program of a request is known: count only fio's.
            ask.question.filter.programs.push("fio".to_owned());
        } else if Path::new("/run/udev/control").exists() {
            skipped(
                "udev reads the device too, and without starts its requests cannot be \
                distinguished",
            );
            continue;
        }
        let once = || {
            let mut tracer = started(&ask, &names)?;
            // A hot spot at depth: several requests for one block are in flight at once.
            let log = fio(device, ios, 32);
            tracer.stop();
            let report = tracer.report();
            let text = format!(
                "{oldest:?}, events {events}, classes {classes}: {:?}",
                report.completeness
            );
            Some((log, report, text))
        };
        // The kernel skips a probe if an interrupt occurs within the same probe, and counts that.
        // The tracer then reports it, and its counts are not compared.
        let left_out = |traced: &Option<(_, IoReport, String)>| {
            let (_, report, text) = traced.as_ref()?;
            let exact = report.completeness.dropped == Some(0);
            (!exact).then(|| format!("the kernel left probes out: {text}"))
        };
        let Some((log, report, text)) = assay_testing::undisturbed(once, left_out) else { return };
        assert_eq!(report.completeness.dropped, Some(0), "{text}");
        assert_eq!(report.completeness.unmatched_ends + report.completeness.ambiguous, 0, "{text}");
        for (direction, op) in [(0, Op::Read), (1, Op::Write)] {
            let wanted = by_powers(&log, direction);
            assert_eq!(sizes(&report, op), wanted, "{text}");
            let total = report.ops.iter().find(|o| o.op == op).unwrap();
            assert_eq!(total.ios, wanted.values().sum::<u64>(), "{text}");
            let bytes = log.iter().filter(|((d, _), _)| *d == direction).map(|((_, b), n)| b * n);
            assert_eq!(total.bytes, bytes.sum::<u64>(), "{text}");
        }
        let sum = |of: fn(&OpTotal) -> u64| report.ops.iter().map(of).sum::<u64>();
        let timed = sum(|o| o.latency.n) + report.completeness.missed_completions;
        assert_eq!(timed, sum(|o| o.ios), "every end that was seen has a latency: {text}");
        if classes {
            assert_eq!(
                report.classes.aio,
                Some(sum(|o| o.ios)),
                "libaio submits asynchronously: {text}"
            );
        }
        assert_eq!(report.completeness.in_flight, 0, "{text}");
    }
}

#[test]
fn the_other_ways_count_the_same() {
    let _turn = alone();
    if !has("fio") {
        return skipped("fio is not installed");
    }
    let Some(disk) = Loop::new(64 << 20) else { return skipped("no loop device can be made") };
    if Path::new("/run/udev/control").exists() {
        return skipped("udev reads the device too");
    }
    for method in [Method::Tracepoints, Method::Counters] {
        let names = NameTable::default();
        let ask = TraceRequest { method: Some(method), ..ask(&disk.device) };
        let Some(mut tracer) = started(&ask, &names) else { continue };
        assert_eq!(tracer.method(), method);
        let log = fio(&disk.device, 3_000, 8);
        tracer.stop();
        let report = tracer.report();
        for (direction, op) in [(0, Op::Read), (1, Op::Write)] {
            let wanted = by_powers(&log, direction);
            let total = report.ops.iter().find(|o| o.op == op).unwrap();
            assert_eq!(
                total.ios,
                wanted.values().sum::<u64>(),
                "{method:?} {:?}",
                report.completeness
            );
            if method == Method::Tracepoints {
                assert_eq!(sizes(&report, op), wanted, "{:?}", report.completeness);
            }
        }
        // Data that this method cannot provide is missing, and the report states that.
        assert_eq!(report.classes.aio, None);
        assert!(!report.source.notes.is_empty());
    }
}

#[test]
fn what_a_full_ring_drops_is_counted() {
    let _turn = alone();
    if !has("fio") {
        return skipped("fio is not installed");
    }
    let Some(disk) = Loop::new(64 << 20) else { return skipped("no loop device can be made") };
    let names = NameTable::default();
    let ask = TraceRequest { events: true, ring_bytes: Some(64 << 10), ..ask(&disk.device) };
    let Some(mut tracer) = started(&ask, &names) else { return };
    let log = fio(&disk.device, 5_000, 8);
    tracer.stop();
    let report = tracer.report();
    let sent: u64 = log.values().sum();
    let seen: u64 = report.ops.iter().map(|o| o.ios).sum();
    let dropped = report.completeness.dropped.unwrap();
    assert!(dropped > 0 && seen > 0, "{:?}", report.completeness);
    assert_eq!(seen + dropped, sent, "{:?}", report.completeness);
    assert!(report.completeness.lost() && report.ops.iter().all(|o| o.latency.lower_bounds));
    assert!(!tracer.not_seen(&report).is_empty());
}

#[test]
fn a_device_that_goes_does_not_end_the_watching() {
    let _turn = alone();
    let Some(disk) = Loop::new(16 << 20) else { return skipped("no loop device can be made") };
    let names = NameTable::default();
    let mut all = ask(&disk.device);
    all.question.by = vec![Dimension::File, Dimension::Program, Dimension::Cgroup];
    let Some(mut tracer) = started(&all, &names) else { return };
    let read = Command::new("dd")
        .args([
            &format!("if={}", disk.device),
            "of=/dev/null",
            "bs=64k",
            "count=16",
            "iflag=direct",
        ])
        .stderr(Stdio::null())
        .status();
    assert!(read.unwrap().success());
    disk.detach();
    let _ = std::fs::remove_file(&disk.file);
    tracer.tick(assay_system::clock::monotonic_ns());
    tracer.stop();
    let report = tracer.report();
    assert_eq!(report.ops.iter().find(|o| o.op == Op::Read).map(|o| o.ios >= 16), Some(true));
    assert!(report.groups.iter().any(|g| g.key.contains(&"dd".to_owned())), "{:?}", report.groups);
}

/// Returns the ids of the tracer's programs that the kernel holds now.
fn loaded() -> Vec<u32> {
    aya::programs::loaded_programs()
        .flatten()
        .filter(|p| {
            matches!(p.name_as_str(), Some("bio_complete" | "complete" | "start" | "queued"))
        })
        .map(|p| p.id())
        .collect()
}

/// Helper process that the next test starts and kills.
#[test]
#[ignore = "is run by the next test"]
fn watches_until_it_is_killed() {
    let _turn = alone();
    let names = NameTable::default();
    let Some(_tracer) = started(&TraceRequest::default(), &names) else { return };
    println!("watching");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn killed_it_leaves_nothing_in_the_kernel() {
    let _turn = alone();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "io_live::watches_until_it_is_killed"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let first =
        out.lines().map_while(Result::ok).find(|l| l.contains("watching") || l.contains("skipped"));
    if !first.is_some_and(|l| l.contains("watching")) {
        let _ = child.wait();
        return skipped("eBPF cannot be had here");
    }
    // The programs of the child are those that its file descriptors refer to.
    let of_child = programs_of(child.id());
    assert!(!of_child.is_empty());
    assert!(of_child.iter().all(|id| loaded().contains(id)), "{of_child:?} {:?}", loaded());
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel removes programs a grace period after their last user.
    for _ in 0..100 {
        if !of_child.iter().any(|id| loaded().contains(id)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("programs {of_child:?} are still there");
}

fn programs_of(pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap();
    entries
        .flatten()
        .filter_map(|e| std::fs::read_to_string(e.path()).ok())
        .filter_map(|text| {
            let kept =
                |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.trim().parse().ok());
            // Only programs have a tag; links contain the id of theirs too.
            text.contains("prog_tag").then(|| kept("prog_id:"))?
        })
        .filter(|id| loaded().contains(id))
        .collect()
}

#[test]
fn the_object_is_built_from_its_source() {
    let _turn = alone();
    let bpf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    let with = std::fs::read_to_string(bpf.join("built-with")).unwrap();
    let Ok(here) = Command::new("clang").arg("--version").output() else {
        return skipped("clang is not installed");
    };
    let here = String::from_utf8_lossy(&here.stdout).lines().next().unwrap_or_default().to_owned();
    if here != with.trim() {
        return skipped(&format!("the object was built with {}, here is {here}", with.trim()));
    }
    if !has("llvm-strip") || !Path::new("/usr/include/bpf/bpf_helpers.h").exists() {
        return skipped("llvm or libbpf-dev is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(&bpf).unwrap().map(|e| e.unwrap().path()) {
        if file.extension().is_none_or(|e| e != "gz") {
            std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    let made = Command::new("make").arg("-C").arg(folder.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for object in ["io", "io-compat", "stages", "profile", "syscalls", "runqueue"] {
        let file = format!("{object}.bpf.o.gz");
        let built = std::fs::read(folder.path().join(&file)).unwrap();
        let same = built == std::fs::read(bpf.join(&file)).unwrap();
        assert!(same, "bpf/{file} is not what its source gives: run `make bpf`");
    }
}
