//! Scenes that create the condition that a check is about: other work, a stopped assay, a load
//! generator without a CPU of its own, a rate that changes, memory without large pages. If this
//! machine cannot have the condition, assay sees an emulated one: files that are bind-mounted over
//! the kernel's in a mount namespace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::runs::{checked, run};
use super::{OTHER_NODE, Scene};
use crate::common::says::Says;
use crate::common::{World, mini_suite, wait_for};

/// Makes a scene, or returns `None` if it is not one of these.
pub fn make(world: &World, name: &str) -> Option<Scene> {
    Some(match name {
        "more copies than CPUs" => more_copies_than_cpus(),
        "small pages" => pages(world, "MADV_NOHUGEPAGE"),
        "large pages" => pages(world, "MADV_HUGEPAGE"),
        OTHER_NODE if nodes() < 2 => Scene::Skipped("this machine has one NUMA node".to_owned()),
        OTHER_NODE => numa(world, &["numactl", "--membind=1"]),
        "memory of its node" => numa(world, &[]),
        "other work" => other_work(world),
        "assay stopped" => assay_stopped(world),
        // A ramp-up long enough to complete the requests that a cold server delayed.
        "load" => {
            let cpus = ["client.cpus=0", "server.cpus=1"];
            let load = || {
                memcached(world, &[&["mode=open", "rate=2000", "ramp_up=1 s"], &cpus[..]].concat())
            };
            assay_testing::undisturbed(load, disturbed)
        }
        "generator on the server's CPU" => {
            let cpus = ["client.cpus=0", "server.cpus=0"];
            memcached(world, &[&["connections=64", "steady=1 s"], &cpus[..]].concat())
        }
        "short load" => memcached(world, &["mode=open", "rate=2000", "steady=200 ms"]),
        "load from elsewhere" => load_from_elsewhere(world),
        "rate that changes" => rate_that_changes(world),
        "emulated machine that is quiet" if virtual_machine() => Scene::Skipped(
            "hardware: a machine that is not virtual: neighbours of this one cannot be seen"
                .to_owned(),
        ),
        "emulated machine" | "emulated machine that is quiet" => {
            Emulated::run(world, &["--blocks", "3", "--vs", "sleep 1.2", "--", "sleep", "1.1"])
        }
        "emulated machine, frequencies apart" => {
            let at = |khz: u32| format!("echo {khz} | tee {FREQUENCY} >/dev/null; sleep 1.1");
            let (slow, fast) = (at(2_000_000), at(3_000_000));
            let slow = format!("sh -c '{slow}'");
            Emulated::run(world, &["--blocks", "3", "--vs", &slow, "--", "sh", "-c", &fast])
        }
        "emulated machine, a setting changes" => Emulated::run(
            world,
            &["--blocks", "3", "--", "sh", "-c", "echo 99 > /proc/sys/vm/swappiness; sleep 1.1"],
        ),
        _ => return None,
    })
}

/// Returns the check that fires on a load because something else took the CPUs meanwhile.
fn disturbed(scene: &Scene) -> Option<String> {
    let Scene::Run(all) = scene else { return None };
    let fires = |id: &&str| matches!(all.get(*id), Some(Says::Fires(..)));
    ["F17", "F21", "F22", "F23", "F24", "F25"]
        .into_iter()
        .find(fires)
        .map(|id| format!("{id} fires"))
}

/// A program that a scene needs, killed when dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn more_copies_than_cpus() -> Scene {
    let (world, mini) = mini_suite::of("echo sum 6", "echo sum 6");
    run(
        &world,
        &[
            "--set",
            "kind=rate",
            "--set",
            "copies=8",
            "--set",
            "tuning=base,peak",
            "--blocks",
            "3",
            &mini,
        ],
    )
}

/// Runs a program under a control that enables large pages; it calls madvise with `advice` on 64
/// MiB.
fn pages(world: &World, advice: &str) -> Scene {
    let enabled = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    if enabled.is_ok_and(|e| e.contains("[never]")) || !root() {
        return Scene::Skipped(
            "only root may set large pages, where the kernel has them".to_owned(),
        );
    }
    world.write(
        "main.c",
        "#define _GNU_SOURCE\n#include <sys/mman.h>\n#include <string.h>\n#include <unistd.h>\n\
         int main(void) {\n  size_t size = 64 << 20;\n\
         char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n\
         madvise(p, size, ADVICE);\n  memset(p, 1, size);\n  usleep(300000);\n  return 0;\n}\n",
    );
    let program = world.path("main");
    let mut cc = Command::new("cc");
    cc.arg(world.path("main.c")).arg(format!("-DADVICE={advice}")).arg("-o").arg(&program);
    match cc.output() {
        Err(_) => return Scene::Skipped("there is no cc".to_owned()),
        Ok(made) => assert!(made.status.success(), "{made:?}"),
    }
    let program = program.to_str().unwrap();
    let other = format!("{program} again");
    let controls = ["--set", "controls.pages=always"];
    run(world, &[&controls[..], &["--blocks", "3", "--vs", &other, "--", program]].concat())
}

/// Returns the number of NUMA nodes.
fn nodes() -> usize {
    let folder = fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    folder.map(name).filter(|n| n.starts_with("node")).count()
}

/// Runs a program that is set to node 0 and takes 64 MiB, started by `wrapper`.
fn numa(world: &World, wrapper: &[&str]) -> Scene {
    let program = ["perl", "-e", "my $x = 'a' x (64 << 20); select(undef, undef, undef, 0.3)"];
    let command: Vec<&str> = wrapper.iter().chain(&program).copied().collect();
    if Command::new(command[0]).arg("-h").output().is_err() {
        return Scene::Skipped(format!("there is no {}", command[0]));
    }
    let set = ["--blocks", "3", "--set", "controls.numa=preferred:0", "--"];
    run(world, &[&set[..], &command].concat())
}

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

fn other_work(world: &World) -> Scene {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let burn = || {
        let mut sh = Command::new("sh");
        Ended(sh.args(["-c", "while :; do :; done"]).spawn().unwrap())
    };
    let _burners: Vec<Ended> = (0..cpus).map(|_| burn()).collect();
    run(world, &["--blocks", "3", "--vs", "sleep 0.011", "--", "sleep", "0.01"])
}

/// Stops assay for a moment while it times a trial, as by Ctrl-Z and `fg`.
fn assay_stopped(world: &World) -> Scene {
    let events = world.path("events");
    let arguments = ["run", "--quiet", "--monitors", "none", "--blocks", "3", "--events"];
    let arguments = [&arguments[..], &[events.to_str().unwrap(), "--", "sleep", "1"]].concat();
    let child = world.assay(&arguments).stdout(Stdio::null()).spawn().unwrap();
    // The stop comes in the middle of the second trial, because nothing is timed between trials.
    let second = || {
        let told = fs::read_to_string(&events).unwrap_or_default();
        told.contains("\"event\":\"trial\",\"number\":2,")
    };
    wait_for("no second trial began", second);
    std::thread::sleep(Duration::from_millis(300));
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::STOP).unwrap();
    let stopped = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
    };
    wait_for("it was not stopped", stopped);
    kill_process(pid, Signal::CONT).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    checked(world)
}

/// Runs a load on a memcached, in two treatments.
fn memcached(world: &World, set: &[&str]) -> Scene {
    if Command::new("memcached").arg("-V").output().is_err() {
        return Scene::Skipped("there is no memcached".to_owned());
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < 2 {
        return Scene::Skipped("load and server need a CPU each".to_owned());
    }
    let fixed = ["keys=2000", "ramp_up=200 ms", "steady=3 s", "ramp_down=100 ms"];
    let more = ["client.threads=1", "server.threads=1", "connections=4", "server.memory=64 MiB"];
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    let mut all: Vec<&str> = [&fixed[..], &more].concat();
    all.retain(|pair| !set.iter().any(|s| name(s) == name(pair)));
    // The settings of a running server cannot be changed.
    let elsewhere = set.iter().any(|s| name(s) == "server.address");
    all.retain(|pair| !(elsewhere && name(pair).starts_with("server.")));
    all.extend(set);
    let set: Vec<&str> = all.into_iter().flat_map(|pair| ["--set", pair]).collect();
    run(world, &[&["--blocks", "3"], &set[..], &["memcached"]].concat())
}

/// Runs a load on a memcached that assay did not start.
fn load_from_elsewhere(world: &World) -> Scene {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let user: &[&str] = if root() { &["-u", "root"] } else { &[] };
    let mut server = Command::new("memcached");
    server.args(["-l", "127.0.0.1", "-p", &port.to_string(), "-m", "64"]).args(user);
    let Ok(server) = server.spawn() else {
        return Scene::Skipped("there is no memcached".to_owned());
    };
    let _server = Ended(server);
    wait_for("no server", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    let address = format!("server.address=127.0.0.1:{port}");
    memcached(world, &["mode=open", "rate=2000", "steady=1 s", &address])
}

const CHANGING: &str = r#"schema_version = 1
name = "changing"
version = "1"
help = "reports its rate every 5 ms of CPU time; late operations take forty times the work"

[run]
command = ["perl", "{kit}/count.pl"]
protocol = true

[[metric]]
name = "rate"
unit = "1/s"
better = "higher"
help = "operations a second of CPU time"
from = "stdout"
pattern = "rate {value}"
"#;

const COUNT: &str = r#"use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);
open(my $out, '>&=', 3) or die;
my ($all, $bins, $x) = (0, 160, 0);
for my $bin (1 .. $bins) {
    my ($n, $used) = (0, 0);
    my $begin = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    my $work = $bin <= 120 ? 50 : 2000;
    while ($used < 0.005) {
        $x += $_ for 1 .. $work;
        $n++;
        $used = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $begin;
    }
    $all += $n;
    my $now = clock_gettime(CLOCK_MONOTONIC) * 1e9;
    printf $out qq({"sample":"rate","t_ns":%d,"value":%f,"unit":"1/s"}\n), $now, $n / $used;
}
printf "rate %f\n", $all / ($bins * 0.005);
"#;

/// Runs a program whose operations become more work in the middle of each trial.
fn rate_that_changes(world: &World) -> Scene {
    if Command::new("perl").arg("-v").output().is_err() {
        return Scene::Skipped("there is no perl".to_owned());
    }
    fs::create_dir_all(world.path("changing")).unwrap();
    world.write("changing/kit.toml", CHANGING);
    world.write("changing/count.pl", COUNT);
    let kit = world.path("changing");
    run(world, &["--blocks", "3", kit.to_str().unwrap()])
}

/// Returns true if the processor reports that it is virtual. Other tests look at the evidence of
/// this in a run.
fn virtual_machine() -> bool {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap();
    let mut words =
        cpuinfo.lines().filter(|l| l.starts_with("flags")).flat_map(str::split_whitespace);
    words.any(|flag| flag == "hypervisor")
}

/// Frequency files of the emulated machine.
const FREQUENCY: &str = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq";

/// A quiet machine with counters of frequency and throttling: files that are bind-mounted over the
/// kernel's for one run.
struct Emulated {
    folder: PathBuf,
}

impl Emulated {
    fn run(world: &World, arguments: &[&str]) -> Scene {
        if !root() {
            return Scene::Skipped("only root may emulate a machine".to_owned());
        }
        let machine = Emulated::new(world);
        let arguments = [&["run", "--quiet", "--monitors", "none"], arguments].concat();
        let assay = world.assay(&arguments);
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-ec", &machine.script(), "sh"]);
        command.arg(assay.get_program()).args(assay.get_args());
        command.current_dir(world.path(""));
        for (key, value) in assay.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        let ran = command.output().unwrap();
        let printed = String::from_utf8_lossy(&ran.stderr).into_owned();
        if ran.status.code() == Some(77) {
            return Scene::Skipped(format!(
                "the kernel lets nothing be bound over its files: {printed}"
            ));
        }
        assert!(!world.runs().is_empty(), "{printed}");
        checked(world)
    }

    fn new(world: &World) -> Emulated {
        let folder = world.path("machine");
        let cpus = folder.join("cpu");
        copied(Path::new("/sys/devices/system/cpu"), &cpus, 4);
        let is_cpu =
            |name: &str| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok());
        for entry in fs::read_dir(&cpus).unwrap().flatten() {
            if !is_cpu(&entry.file_name().to_string_lossy()) {
                continue;
            }
            for (file, text) in [
                ("cpufreq/scaling_cur_freq", "3000000\n"),
                ("cpufreq/scaling_governor", "performance\n"),
                ("thermal_throttle/core_throttle_count", "0\n"),
                ("thermal_throttle/package_throttle_count", "0\n"),
            ] {
                let path = entry.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        fs::create_dir_all(cpus.join("intel_pstate")).unwrap();
        fs::write(cpus.join("intel_pstate/no_turbo"), "1\n").unwrap();
        fs::write(folder.join("loadavg"), "0.00 0.00 0.00 1/100 100\n").unwrap();
        fs::write(folder.join("swappiness"), "60\n").unwrap();
        let quiet = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        fs::write(folder.join("pressure"), quiet).unwrap();
        Emulated { folder }
    }

    fn script(&self) -> String {
        let of = |name: &str| self.folder.join(name).display().to_string();
        let mut binds = vec![
            (of("cpu"), "/sys/devices/system/cpu".to_owned()),
            (of("loadavg"), "/proc/loadavg".to_owned()),
            (of("swappiness"), "/proc/sys/vm/swappiness".to_owned()),
        ];
        for resource in ["cpu", "io", "memory"] {
            binds.push((of("pressure"), format!("/proc/pressure/{resource}")));
        }
        let bind =
            |(from, to): &(String, String)| format!("mount --bind '{from}' '{to}' || exit 77\n");
        let binds: String = binds.iter().map(bind).collect();
        format!("{binds}exec \"$@\"\n")
    }
}

/// Copies the files below `from` down to this depth, without unreadable files; does not follow
/// links.
fn copied(from: &Path, to: &Path, depth: u32) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (kind, target) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() && depth > 0 {
            copied(&entry.path(), &target, depth - 1);
        } else if kind.is_file()
            && let Ok(text) = fs::read(entry.path())
        {
            fs::write(target, text).unwrap();
        }
    }
}
