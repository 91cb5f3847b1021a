//! `kill -9` at 50 random moments of a run: every completed trial is kept, the next command
//! restores the settings, no file is half-written, and the run can be resumed. Also Ctrl-C, which
//! is gentler.

use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{World, alive, root, wait_for};
use rustix::process::{Pid, Signal, kill_process};

/// Sysctls below `/proc/sys/vm` that have little effect here. Tests that run in parallel set
/// different ones.
const KILLED: [&str; 2] = ["swappiness", "vfs_cache_pressure"];
const INTERRUPTED: &str = "stat_interval";

fn setting(sysctl: &str) -> String {
    std::fs::read_to_string(format!("/proc/sys/vm/{sysctl}")).unwrap()
}

/// Random numbers that are the same in every test run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

/// Starts a run in which every trial adds a line to `did.txt`; as root, it also sets a sysctl.
fn start(world: &World, sysctl: &str) -> std::process::Child {
    let script = format!("echo did >> {}; sleep 0.01", mark(world));
    let set = format!("controls.sysctl.vm.{sysctl}=33,77");
    let mut arguments = vec!["run", "--quiet", "--monitors", "cpu", "--interval", "100 ms"];
    if root() {
        arguments.extend(["--set", &set]);
    }
    arguments.extend(["--blocks", "400", "--shell", "--", &script]);
    world.assay(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns a text in the command lines of this world's trials only, because tests run in parallel.
fn mark(world: &World) -> String {
    world.path("did.txt").display().to_string()
}

fn lines(world: &World) -> usize {
    std::fs::read_to_string(world.path("did.txt")).map_or(0, |t| t.lines().count())
}

#[test]
fn killed_at_fifty_random_moments() {
    // Other tests compare the settings of the machine.
    let _alone = assay_testing::alone();
    let halves = std::thread::scope(|scope| {
        let halves = [(KILLED[0], 0..25), (KILLED[1], 25..50)].map(|(sysctl, rounds)| {
            let numbers = Numbers(20_261_121 + u64::from(rounds.start > 0));
            scope.spawn(move || killed(sysctl, numbers, rounds))
        });
        halves.map(|half| half.join().expect("a round failed: see above"))
    });
    let with_trials = halves[0].0 + halves[1].0;
    let changed = halves[0].1 + halves[1].1;
    assert!(with_trials >= 10, "only {with_trials} of 50 kills fell among trials");
    if root() {
        assert!(changed >= 5, "only {changed} of 50 kills left something to restore");
    } else {
        println!("skipped: putting a sysctl back, because changing one needs root");
    }
}

/// Returns the number of kills among trials, and the number that left the sysctl changed.
fn killed(sysctl: &str, mut numbers: Numbers, rounds: Range<usize>) -> (usize, usize) {
    let before = setting(sysctl);
    let (mut with_trials, mut changed) = (0, 0);
    for round in rounds {
        let world = World::in_turn();
        let mut child = start(&world, sysctl);
        // This sleep chooses the moment of the kill, which varies. Every second kill is among the
        // trials, however long a busy machine takes to reach them.
        let mut pause = numbers.below(900_000);
        if round % 2 == 1 {
            let trials = 2 + numbers.below(9) as usize;
            wait_for("too few trials ran", || lines(&world) >= trials);
            pause %= 50_000;
        }
        std::thread::sleep(Duration::from_micros(pause));
        child.kill().unwrap();
        child.wait().unwrap();
        changed += usize::from(setting(sysctl) != before);
        // Only the trial's own program may outlive assay, for a moment.
        wait_for("a trial's program lives on", || !alive(&mark(&world)));
        let did = lines(&world);

        let listed = world.run(&["archive", "list"]);
        assert_eq!(listed.code, 0, "round {round}: {}", listed.stderr);
        assert_eq!(
            setting(sysctl),
            before,
            "round {round}: the next command restores the settings"
        );
        let verified = world.run(&["archive", "verify"]);
        assert_eq!(verified.code, 0, "round {round}: {}{}", verified.stdout, verified.stderr);
        let Some(run) = world.runs().into_iter().find(|r| r.join("ledger.jsonl").exists()) else {
            assert_eq!(did, 0, "round {round}: trials ran, and there is no run");
            continue;
        };
        let id = run.file_name().unwrap().to_str().unwrap().to_owned();
        let shown = world.run(&["archive", "show", &id, "--json"]);
        assert_eq!(shown.code, 0, "round {round}: {}", shown.stderr);
        let result = shown.json();
        let kept = result["records"].as_array().unwrap().len();
        assert!(kept + 1 >= did, "round {round}: {did} trials ran and {kept} are kept");
        assert!(kept <= did, "round {round}: {kept} trials are kept and {did} ran");
        assert_eq!(result["summary"]["state"], "interrupted", "round {round}");
        with_trials += usize::from(kept > 0);
        // The next run removes the scratch folder of the dead run.
        if round % 10 == 0 {
            resumed(&world, &id, kept);
        }
    }
    (with_trials, changed)
}

fn resumed(world: &World, id: &str, kept: usize) {
    let mut command = world.assay(&["run", "--resume", id, "--quiet", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    wait_for("too few trials ran", || lines(world) >= kept + 8);
    // Ctrl-C ends the trial, restores the settings, keeps the results and prints how to continue.
    kill_process(pid, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let records = result["records"].as_array().unwrap();
    assert!(records.len() > kept, "it went on");
    let numbers: Vec<u64> = records.iter().map(|r| r["number"].as_u64().unwrap()).collect();
    let mut unique = numbers.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), numbers.len(), "no trial counts twice");
    assert_eq!(std::fs::read_dir(world.path("scratch")).unwrap().count(), 0, "scratch is swept");
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let _alone = assay_testing::alone();
    let before = setting(INTERRUPTED);
    let world = World::new();
    let child = start(&world, INTERRUPTED);
    let pid = Pid::from_child(&child);
    wait_for("too few trials ran", || lines(&world) >= 3);
    kill_process(pid, Signal::INT).unwrap();
    let status = child.wait_with_output().unwrap().status;
    assert_eq!((status.code(), status.signal()), (Some(130), None));
    assert_eq!(setting(INTERRUPTED), before, "it restores the settings itself");
    assert!(!alive(&mark(&world)));
    let shown = world.run(&["archive", "show", "last", "--json"]);
    let result = shown.json();
    assert_eq!(result["summary"]["state"], "interrupted");
    assert!(result["records"].as_array().unwrap().len() >= 2);
}

#[test]
fn ctrl_c_ends_a_preparation_too() {
    let world = World::new();
    let prepare = format!("sh -c 'echo did > {}; exec sleep 983.25'", mark(&world));
    let arguments = ["run", "--quiet", "--blocks", "2", "--prepare", &prepare, "--", "true"];
    let mut child = world.assay(&arguments).stdout(Stdio::null()).spawn().unwrap();
    wait_for("the preparation never ran", || lines(&world) > 0);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!alive("sleep 983.25"));
}
