//! Shared code of the tests of the command line: the program in a world of its own (archive, state,
//! scratch and cache in a temporary folder).
#![allow(dead_code)] // each test program uses a part of it

pub mod axe;
pub mod chromium;
pub mod commits;
pub mod figures;
pub mod mini_suite;
pub mod says;
pub mod served;
pub mod virtual_hosts;
pub mod virtual_slurm;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A temporary world, whose test shares the machine with others.
pub struct World {
    folder: tempfile::TempDir,
    _turn: Option<assay_testing::Turn>,
}

/// Exit code and output of a command.
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl World {
    pub fn new() -> Self {
        World { _turn: Some(assay_testing::shared()), ..World::in_turn() }
    }

    /// Makes a world for a thread of a test that runs alone on the machine.
    pub fn in_turn() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["archive", "state", "scratch", "cache"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        World { folder, _turn: None }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Returns the command for the program in this world, not yet started.
    pub fn assay(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command
            .args(arguments)
            .env("ASSAY_ARCHIVE", self.path("archive"))
            .env("ASSAY_STATE", self.path("state"))
            .env("ASSAY_SCRATCH", self.path("scratch"))
            .env("ASSAY_CACHE", self.path("cache"))
            .env("ASSAY_KITS", repository().join("kits"))
            .env("NO_COLOR", "1")
            .current_dir(self.folder.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        done(&mut self.assay(arguments))
    }

    /// Returns the folders of the runs in the archive.
    pub fn runs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path("archive/runs"));
        entries.map(|e| e.flatten().map(|e| e.path()).collect()).unwrap_or_default()
    }

    /// Returns the folder of the run that was written last; ids from the same second have no order.
    pub fn newest(&self) -> PathBuf {
        let written = |run: &PathBuf| run.metadata().unwrap().modified().unwrap();
        self.runs().into_iter().max_by_key(written).unwrap()
    }
}

impl Done {
    /// Parses the output of `--json`.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}{}", self.stdout, self.stderr))
    }

    /// Returns the records in the output of `--json`.
    pub fn records(&self) -> Vec<Value> {
        self.json()["records"].as_array().unwrap().clone()
    }

    /// Returns the first record after checking its outcome.
    pub fn record(&self, outcome: &str) -> Value {
        let record = self.records().remove(0);
        assert_eq!(record["outcome"], outcome, "{record:#}{}", self.stderr);
        record
    }
}

/// Returns the value of a record's metric, or `None` if the value is missing; panics without the
/// metric.
pub fn metric(record: &Value, name: &str) -> Option<f64> {
    let all = record["metrics"].as_array().unwrap();
    let found = all.iter().find(|m| m["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {record}"))["value"].as_f64()
}

pub fn done(command: &mut Command) -> Done {
    let output = command.output().unwrap();
    Done {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns true if another process has `mark` in its command line.
pub fn alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let cmdline = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let own = entry.file_name().to_string_lossy() == std::process::id().to_string();
        !own && String::from_utf8_lossy(&cmdline).replace('\0', " ").contains(mark)
    })
}

pub fn root() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Checks that no line of an output is wider than 80 columns.
pub fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

/// Longest wait for a condition, many times the usual time on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Calls `ask` until it returns a value; returns `None` after [`PATIENCE`].
fn patiently<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        let found = ask();
        if found.is_some() || began.elapsed() > PATIENCE {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Calls `ask` until it returns a value, and returns that; `what` names the condition.
pub fn eventually<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    patiently(ask).unwrap_or_else(|| panic!("it never came to be that {what}"))
}

/// Waits until `there` is true; `what` is the error message otherwise.
pub fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    assert!(patiently(|| there().then_some(())).is_some(), "{what}");
}
