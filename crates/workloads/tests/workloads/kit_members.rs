//! The members of the suites `cpu-int` and `cpu-fp`: every kit is free of mistakes and keeps the
//! names that the suites rely on, and two quick ones are fetched, built, run and validated. That
//! part is skipped if apt-get, a compiler or the network is missing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_model::{Exit, ResourceUse, Scalar, ValidationResult};
use assay_workloads::kit::{Kit, check};
use assay_workloads::{FinishedProgram, TrialContext, Workload, WorkloadError};

fn suite(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kits").join(name)
}

fn members() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in ["cpu-int", "cpu-fp"] {
        for entry in fs::read_dir(suite(name)).expect("the suite's folder").flatten() {
            if entry.path().join("kit.toml").is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Returns true if there is an expected output for this size, for the only input or for that of
/// seed 1.
fn expects(dir: &Path, size: &str) -> bool {
    let expected = dir.join("expected");
    expected.join(size).is_file() || expected.join(format!("{size}-1")).is_file()
}

#[test]
fn every_member_is_a_kit_with_the_names_that_the_suites_rely_on() {
    for dir in members() {
        let problems = check(&dir);
        assert!(problems.is_empty(), "{problems:?}");
        let kit = Kit::load(&dir, None).unwrap_or_else(|e| panic!("{e}"));
        let spec = kit.spec();
        let has = |name: &str| spec.params.iter().any(|p| p.name == name);
        for name in ["size", "ldflags", "portability"] {
            assert!(has(name), "{} has no parameter {name}", dir.display());
        }
        for (compiler, flags) in [("cc", "cflags"), ("cxx", "cxxflags"), ("fc", "fflags")] {
            assert_eq!(has(compiler), has(flags), "{}: {compiler} and {flags}", dir.display());
        }
        let metrics: Vec<&str> = spec.metrics.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(metrics, ["elapsed", "user", "system", "peak_memory"], "{}", dir.display());
        for size in ["test", "train"] {
            assert!(expects(&dir, size), "{} expects nothing of {size}", dir.display());
        }
    }
}

#[test]
fn every_suite_lists_its_members_and_their_times() {
    for name in ["cpu-int", "cpu-fp"] {
        let path = suite(name).join("suite.toml");
        let text = fs::read_to_string(&path).expect("the suite's file");
        let table: toml::Table = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let mut listed: Vec<&str> = table["members"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|m| m.as_str())
            .collect();
        listed.sort_unstable();
        let all = members();
        let there: Vec<&str> = all
            .iter()
            .filter(|m| m.starts_with(suite(name)))
            .filter_map(|m| m.file_name().and_then(|n| n.to_str()))
            .collect();
        assert_eq!(listed, there, "{}", path.display());
        for size in ["test", "train", "ref"] {
            let times = table["reference"]["times"][size].as_table().expect("a table of times");
            for (member, time) in times {
                assert!(there.contains(&member.as_str()), "{member} is no member");
                assert!(time.as_float().is_some_and(|t| t > 0.0), "the time of {member}");
                assert!(expects(&suite(name).join(member), size), "{member} at {size}");
            }
            // For the longest size, only some members have a time.
            assert!(size == "ref" || times.len() == there.len(), "times of {size} in {name}");
        }
    }
}

struct Lab {
    dir: tempfile::TempDir,
    params: BTreeMap<String, Scalar>,
}

impl Lab {
    fn folder(&self, name: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::create_dir_all(&path).expect("a folder in a temporary folder");
        path
    }

    fn with<T>(&self, then: impl FnOnce(&TrialContext<'_>) -> T) -> T {
        then(&TrialContext {
            number: 1,
            block: 0,
            treatment: 0,
            params: &self.params,
            cpus: &[0],
            trial_dir: &self.folder("trial"),
            run_dir: &self.folder("run"),
            cache_dir: &self.folder("cache"),
            exe: Path::new("/nonexistent/assay"),
            previous: &[],
        })
    }

    /// Runs the program as the lab would, lets `spoil` change its output, and validates it.
    fn trial(&self, kit: &Kit, spoil: impl FnOnce(&Path)) -> ValidationResult {
        let launch = self.with(|ctx| kit.launch(ctx)).unwrap_or_else(|e| panic!("{e}"));
        let status = Command::new(&launch.argv[0])
            .args(&launch.argv[1..])
            .envs(launch.env)
            .current_dir(self.folder("trial"))
            .stdin(Stdio::null())
            .status()
            .expect("the built program starts");
        spoil(&self.folder("trial"));
        let finished = FinishedProgram {
            exit: Exit::Code(status.code().expect("it ends by itself")),
            resources: &ResourceUse { wall_s: 0.5, ..ResourceUse::default() },
            stdout: b"",
            stderr: b"",
            stdout_whole: true,
            empty_s: None,
        };
        self.with(|ctx| kit.collect(ctx, &finished)).unwrap_or_else(|e| panic!("{e}")).validation
    }
}

/// Builds and runs a member at size `test`, and validates it again with its output `file` changed.
fn member_counts_only_when_right(path: &str, file: &str) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let kit = Kit::load(&suite(path), Some(dir.path())).unwrap_or_else(|e| panic!("{e}"));
    let params = [("size".to_owned(), Scalar::from("test"))].into();
    let lab = Lab { dir, params };
    if let Err(e) = kit.check(&lab.params) {
        println!("skipped: because {e}");
        return;
    }
    match lab.with(|ctx| kit.prepare(ctx)) {
        Err(WorkloadError::Step { step, detail })
            if step.contains("index") || step.contains("fetch of") =>
        {
            println!("skipped: because nothing can be fetched here ({step}: {detail})");
            return;
        }
        other => other.unwrap_or_else(|e| panic!("{e}")),
    }
    let right = lab.trial(&kit, |_| {});
    assert!(matches!(right, ValidationResult::Passed { .. }), "{right:?}");
    let wrong = lab.trial(&kit, |trial| {
        let path = trial.join(file);
        let mut bytes = fs::read(&path).expect("the output");
        // Replaces a byte by a different digit.
        let at = bytes.iter().rposition(u8::is_ascii_digit).expect("a digit") - 10;
        bytes[at] = if bytes[at] == b'7' { b'3' } else { b'7' };
        fs::write(&path, bytes).expect("the output can be changed");
    });
    assert!(matches!(wrong, ValidationResult::Failed { .. }), "{wrong:?}");
}

#[test]
fn bzip2_counts_only_when_right() {
    member_counts_only_when_right("cpu-int/bzip2", "corpus.bz2");
}

#[test]
fn minpack_counts_only_when_right() {
    member_counts_only_when_right("cpu-fp/minpack", "out");
}
