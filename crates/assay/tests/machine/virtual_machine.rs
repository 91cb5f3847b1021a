//! Trials in real virtual machines, and runs whose machine is unavailable, panics, hangs or is
//! killed. If no kernel is built, or QEMU is missing, a test prints it; `make test-all` runs those
//! that boot for a long time.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::{Done, World, json, wait_for};
use assay_cluster::vm;
use assay_testing::{Turn, alone};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Waits for a turn alone, if the kernels are built.
fn turn(kernels: &[&str]) -> Option<Turn> {
    able(kernels).then(alone)
}

/// Returns true if the kernels are built; prints the reason otherwise.
fn able(kernels: &[&str]) -> bool {
    let ability = vm::ability();
    let built = vm::built(&vm::folder());
    let missing = kernels.iter().find(|k| !built.iter().any(|b| b == *k));
    if !ability.works {
        println!("skipped: because {}", ability.words);
        return false;
    }
    if let Some(kernel) = missing {
        println!(
            "skipped: because no kernel {kernel} is built (`assay vm build {kernel}`, as root)"
        );
        return false;
    }
    true
}

fn run(world: &World, more: &[&str]) -> Done {
    world.run(&[&["run", "--on", "vm", "--monitors", "none"], more].concat())
}

/// Returns the QEMU processes and files that this world's guests left.
fn left(world: &World) -> Vec<String> {
    let scratch = world.path("scratch").display().to_string();
    let mut left: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|e| std::fs::read(e.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.starts_with("qemu") && line.contains(&scratch))
        .collect();
    let files = std::fs::read_dir(world.path("scratch")).unwrap().flatten();
    left.extend(files.map(|e| e.path().display().to_string()));
    left
}

/// Returns the messages in one line, without the line breaks for the terminal.
fn output_of(done: &Done) -> String {
    done.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn system(world: &World) -> Value {
    let run = world.newest();
    json(&std::fs::read_to_string(run.join("system.json")).unwrap())
}

fn fact<'a>(system: &'a Value, path: &str) -> &'a str {
    system["facts"][path]["value"].as_str().unwrap_or_else(|| panic!("{path}: {system:#}"))
}

#[test]
fn what_no_machine_can_be_made_of_is_reported_before_anything_runs() {
    let world = World::new();
    for (setting, shown) in [
        ("vm.kernel=[\"9.9\"]", "assay vm build 9.9"),
        ("vm.kernel=6.1", "in quotes"),
        ("vm.cpu=2", "did you mean `cpus`?"),
        ("vm.kernel=[\"./none\"]", "has no kernel"),
    ] {
        let done = run(&world, &["noop", "--blocks", "1", "--set", setting]);
        assert_ne!(done.code, 0);
        assert!(output_of(&done).contains(shown), "{setting}: {}", done.stderr);
    }
    let kernel = world.path("kernel");
    std::fs::create_dir(&kernel).unwrap();
    for name in ["vmlinuz", "initrd", "release"] {
        std::fs::write(kernel.join(name), "x").unwrap();
    }
    let kernel = format!("vm.kernel=[\"{}\"]", kernel.display());
    let done = run(&world, &["noop", "--blocks", "1", "--set", &kernel]);
    assert!(output_of(&done).contains("has no modules"), "{}", done.stderr);
    assert!(world.runs().is_empty() && left(&world).is_empty(), "{:?}", left(&world));
}

#[test]
fn a_host_without_room_a_kernel_that_panics_and_a_guest_that_hangs_are_distinguished() {
    if !able(&["6.1"]) {
        return;
    }
    let world = World::new();
    for (setting, shown) in [
        ("vm.memory=900000 GiB", "lower `memory`"),
        ("vm.disks=nvme:900000GiB", "ASSAY_SCRATCH"),
        ("vm.cmdline=rdinit=/none init=/none root=/dev/none", "Kernel panic"),
        ("vm.boot_timeout=2 s", "its agent did not connect within 2.000 s"),
    ] {
        let set = ["--set", "vm.kernel=[\"6.1\"]", "--set", setting];
        let done = run(&world, &[&["noop", "--blocks", "1"], &set[..]].concat());
        assert_ne!(done.code, 0, "{setting}");
        assert!(output_of(&done).contains(shown), "{setting}: {}", done.stderr);
        assert!(left(&world).is_empty(), "{setting}: {:?}", left(&world));
    }
    assert!(world.runs().is_empty());
}

#[test]
fn a_trial_runs_in_a_machine_whose_times_have_no_verdict_where_they_are_emulated() {
    if !able(&["6.1"]) {
        return;
    }
    let world = World::new();
    let set = [
        "--set",
        "vm.kernel=[\"6.1\"]",
        "--set",
        "vm.cpus=2",
        "--set",
        "vm.disks=[\"nvme:64MiB,iops=500\"]",
    ];
    let script = "test -b /dev/nvme0n1 && nproc && uname -r";
    let program = ["--blocks", "2", "--", "sh", "-c", script];
    let done = run(&world, &[&set[..], &program].concat());
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("in a virtual machine"), "{}", done.stdout);
    let system = system(&world);
    assert!(fact(&system, "kernel.release").starts_with("6.1."));
    assert_eq!(fact(&system, "vm.vm1.disks"), "nvme:64MiB,iops=500");
    for part in ["kernel", "initrd", "modules", "root"] {
        assert_eq!(fact(&system, &format!("vm.vm1.{part}.sha256")).len(), 64);
    }
    let run: PathBuf = world.newest();
    let out = std::fs::read_to_string(run.join("trials/0000/stdout.log"))
        .or_else(|_| std::fs::read_to_string(run.join("trials/0001/stdout.log")));
    assert!(out.unwrap().starts_with("2\n6.1."), "the program ran there");
    let tcg = fact(&system, "vm.vm1.accelerator") == "tcg";
    assert_eq!(done.stdout.contains("N4"), tcg, "{}", done.stdout);
    assert!(left(&world).is_empty(), "{:?}", left(&world));
}

#[test]
fn a_killed_run_leaves_no_guest() {
    if !able(&["6.1"]) {
        return;
    }
    let world = World::new();
    let arguments = ["run", "noop", "--on", "vm", "--set", "vm.kernel=[\"6.1\"]"];
    let mut command = world.assay(&arguments);
    let mut assay = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let guests = || left(&world).iter().filter(|l| l.starts_with("qemu")).count();
    wait_for("a guest", || guests() == 1);
    kill_process(Pid::from_child(&assay), Signal::KILL).unwrap();
    assay.wait().unwrap();
    wait_for("the guest's end", || guests() == 0);
    let next: &mut Command = &mut world.assay(&["doctor", "--restore"]);
    next.output().unwrap();
    assert!(left(&world).is_empty(), "{:?}", left(&world));
}

/// Workload whose count is the same in every boot of a kernel.
const SYMBOLS: &str = r#"schema_version = 1
name = "symbols"
version = "1"
help = "Counts the kernel's symbols."

[run]
command = ["sh", "-c", "echo symbols $(wc -l < /proc/kallsyms)"]

[validate]
stdout_contains = ["symbols"]

[[metric]]
name = "symbols"
unit = "1"
counted = true
better = "lower"
help = "the kernel's symbols"
from = "stdout"
pattern = "symbols {value}"
"#;

#[test]
#[ignore = "boots two kernels several times; run by `make test-all`"]
fn kernels_are_a_factor_and_counts_of_emulated_machines_are_compared() {
    let Some(_turn) = turn(&["6.1", "6.12"]) else { return };
    let world = World::new();
    let set = ["--set", "vm.kernel=[\"6.1\",\"6.12\"]"];
    std::fs::create_dir_all(world.path("kits/symbols")).unwrap();
    world.write("kits/symbols/kit.toml", SYMBOLS);
    let arguments =
        ["run", "symbols", "--on", "vm", "--monitors", "none", "--blocks", "3", "--json"];
    let mut command = world.assay(&[&arguments[..], &set].concat());
    let done = crate::common::done(command.env("ASSAY_KITS", world.path("kits")));
    assert!([0, 4].contains(&done.code), "{}{}", done.stdout, done.stderr);
    let records = done.records();
    assert_eq!(records.len(), 6);
    assert!(records.iter().all(|r| r["outcome"] == "completed"), "{records:#?}");
    let system = system(&world);
    assert!(fact(&system, "kernel.release").starts_with("6.1."));
    assert!(fact(&system, "node.vm2.kernel.release").starts_with("6.12."));
    assert_ne!(fact(&system, "vm.vm1.kernel.sha256"), fact(&system, "vm.vm2.kernel.sha256"));
    let analysis = &done.json()["analysis"];
    assert_ne!(analysis["comparisons"][0]["verdict"], "invalid", "a count is compared");
    let emulated = fact(&system, "vm.vm1.accelerator") == "tcg";
    assert_eq!(analysis["guest"], if emulated { "emulated" } else { "virtual" });
    for s in analysis["summaries"].as_array().unwrap() {
        let timed = s["unit"] == "s";
        assert_eq!(s["doubts"].is_array(), emulated && timed, "{s:#}");
    }
    assert!(left(&world).is_empty(), "{:?}", left(&world));
}

/// A small disk of the host for the files of a world's machines, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&at).unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=1500m", "none"]).arg(&at).status();
        mounted.is_ok_and(|s| s.success()).then_some(SmallDisk(at))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
#[ignore = "boots a kernel twice and fills a disk in memory; run by `make test-all`"]
fn a_host_that_fills_while_a_guest_runs_is_named() {
    let Some(_turn) = turn(&["6.1"]) else { return };
    let world = World::new();
    let Some(_disk) = SmallDisk::mount(world.path("scratch")) else {
        println!("skipped: because no tmpfs may be mounted here");
        return;
    };
    let write = "dd if=/dev/zero of=/var/tmp/x bs=1M count=300 conv=fsync";
    let set = ["--set", "vm.kernel=[\"6.1\"]", "--blocks", "1", "--", "sh", "-c", write];
    let arguments = [&["run", "--on", "vm", "--monitors", "none"], &set[..]].concat();
    let command = &mut world.assay(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The run is registered once every machine has booted, which takes long under emulation.
    for _ in 0..600 {
        if !world.runs().is_empty() || child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    let filler = world.path("scratch/filler");
    let stat = rustix::fs::statvfs(world.path("scratch").as_path()).unwrap();
    let free = stat.f_bavail * stat.f_frsize;
    let file = std::fs::File::create(&filler).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, free - (48 << 20))
        .unwrap();
    let output = child.wait_with_output().unwrap();
    std::fs::remove_file(filler).unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(flat.contains("on the host, so what the virtual machine writes fails"), "{said}");
    assert!(left(&world).is_empty(), "{:?}", left(&world));
}
