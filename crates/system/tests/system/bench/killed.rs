//! Starts a child that sets up storage and kills it, then asserts that everything is restored and
//! that nothing is left. The child is the test program itself.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay_system::{Controller, Root, restore_pending};

use super::{Bench, settings, zrams};

const STATE: &str = "ASSAY_TEST_STATE";
const SETTINGS: &str = "ASSAY_TEST_SETTINGS";
const CHILD: &str = "bench::killed::child_that_sets_storage_and_hangs";

#[test]
#[ignore = "the other test starts it as a child"]
fn child_that_sets_storage_and_hangs() {
    let var = |name: &str| std::env::var(name).unwrap();
    println!("started");
    let controller = Controller::new(var(STATE), Root::system());
    let applied = controller.apply(&settings(&var(SETTINGS))).unwrap();
    applied.make_cold().unwrap();
    let dir = applied.setup.inputs.clone().or(applied.setup.storage.clone());
    let mut program = Command::new("sleep");
    program.arg("600").current_dir(dir.unwrap());
    program.envs(applied.setup.env.iter().cloned());
    let mut program = program.spawn().unwrap();
    println!("changed");
    program.wait().unwrap();
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Seed from which the times of the kills are derived.
const SEED: &str = "ASSAY_TEST_SEED";
const KILLS: &str = "ASSAY_TEST_KILLS";

/// Starts a child that applies `text` and kills it, `kills` times, each time after a random part of
/// `longest`. After each kill, restores the remains and asserts that nothing remains on the
/// machine.
pub fn kill_and_put_back(text: &str, kills: u64, longest: Duration) {
    let _turn = assay_testing::alone();
    let bench = Bench::new();
    if bench.settings(text).is_none() {
        return;
    }
    let text = text.replace("IMAGES", &bench.images().to_string_lossy());
    let state = bench.dir.path().join("state");
    let before = zrams();
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().unwrap());
    let kills = number(KILLS).unwrap_or(kills);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = number(SEED).unwrap_or(u64::from(since.subsec_nanos()));
    println!("{SEED}={seed} makes the same moments again");
    let mut random = seed | 1;
    for n in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "--ignored", "--nocapture", CHILD]);
        child.env(STATE, &state).env(SETTINGS, &text).stdout(Stdio::piped());
        child.env("ASSAY_SCRATCH", bench.images());
        let mut child = Killed(child.spawn().unwrap());
        let pid = child.0.id();
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        if n == 0 {
            // The first kill comes when everything is set up and the program runs in it.
            assert!(lines.any(|l| l.unwrap().contains("changed")), "it could not be set");
        } else {
            assert!(lines.any(|l| l.unwrap().contains("started")));
            // From the first step to the last; the random moments are the point of the test.
            std::thread::sleep(longest.mul_f64(uniform(&mut random)));
        }
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        for report in restore_pending(&state, &Root::system()).unwrap() {
            assert!(report.done, "kill {n}: {report:?}");
        }
        let mut left = bench.left();
        left.extend(groups_of(pid));
        left.extend(limits_of_nobody());
        assert_eq!(left, Vec::<String>::new(), "kill {n} of seed {seed}");
        assert_eq!(zrams(), before, "kill {n} of seed {seed}");
    }
}

/// Returns a uniform number from 0 to 1, by Marsaglia's xorshift.
fn uniform(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the control groups that a process created.
fn groups_of(pid: u32) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(&format!("assay-{pid}-")) {
                    found.push(entry.path().display().to_string());
                }
                folders.push(entry.path());
            }
        }
    }
    found
}

/// Returns limits on loop devices that have no file attached.
fn limits_of_nobody() -> Vec<String> {
    let limits = "/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device";
    let limits = std::fs::read_to_string(limits).unwrap_or_default();
    let numbers = limits.lines().filter_map(|l| Some(l.split_once(' ')?.0.to_owned()));
    numbers
        .filter(|n| n.starts_with("7:"))
        .filter(|n| !Path::new(&format!("/sys/dev/block/{n}/loop/backing_file")).exists())
        .map(|n| format!("a limit on {n}"))
        .collect()
}
