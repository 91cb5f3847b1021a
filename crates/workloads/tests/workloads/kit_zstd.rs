//! The kit `zstd` with its real sources: fetched with apt-get, built, run and validated. Skipped if
//! apt-get, a compiler or the network is missing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_model::{Exit, ResourceUse, Scalar, ValidationResult};
use assay_workloads::kit::Kit;
use assay_workloads::{CollectedResults, FinishedProgram, TrialContext, Workload, WorkloadError};

struct Lab {
    dir: tempfile::TempDir,
    params: BTreeMap<String, Scalar>,
}

impl Lab {
    fn with<T>(&self, then: impl FnOnce(&TrialContext<'_>) -> T) -> T {
        let folder = |name: &str| {
            let path = self.dir.path().join(name);
            fs::create_dir_all(&path).expect("a folder in a temporary folder");
            path
        };
        then(&TrialContext {
            number: 1,
            block: 0,
            treatment: 0,
            params: &self.params,
            cpus: &[0],
            trial_dir: &folder("trial"),
            run_dir: &folder("run"),
            cache_dir: &folder("cache"),
            exe: Path::new("/nonexistent/assay"),
            previous: &[],
        })
    }

    /// Runs the program as the lab would, and collects its results.
    fn trial(&self, kit: &Kit, spoil: impl FnOnce(&Path)) -> CollectedResults {
        let launch = self.with(|ctx| kit.launch(ctx)).unwrap_or_else(|e| panic!("{e}"));
        let status = Command::new(&launch.argv[0])
            .args(&launch.argv[1..])
            .stdin(Stdio::null())
            .status()
            .expect("the built program starts");
        spoil(&self.dir.path().join("trial"));
        let resources = ResourceUse { wall_s: 0.5, ..ResourceUse::default() };
        let finished = FinishedProgram {
            exit: Exit::Code(status.code().expect("it ends by itself")),
            resources: &resources,
            stdout: b"",
            stderr: b"",
            stdout_whole: true,
            empty_s: None,
        };
        self.with(|ctx| kit.collect(ctx, &finished)).unwrap_or_else(|e| panic!("{e}"))
    }
}

fn metric(collected: &CollectedResults, name: &str) -> f64 {
    let found = collected.metrics.iter().find(|m| m.name == name);
    found.and_then(|m| m.value).unwrap_or_else(|| panic!("{name} is missing"))
}

fn fetched(cache: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(cache.join("kits/zstd")).ok()?;
    entries.flatten().map(|e| e.path()).find(|p| {
        p.is_dir() && p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("fetch-"))
    })
}

#[test]
fn fetches_builds_runs_and_validates() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let cache = dir.path().join("cache");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kits/zstd");
    let load = || Kit::load(&folder, Some(&cache)).unwrap_or_else(|e| panic!("{e}"));
    let kit = load();
    let params = [("size", Scalar::from("2 MiB")), ("level", Scalar::Int(1))];
    let params = params.map(|(k, v)| (k.to_owned(), v)).into();
    let mut lab = Lab { dir, params };
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
    let facts = kit.describe(&lab.params);
    let built = &facts["workload.kit.build.src/programs/zstd-nolegacy.sha256"];
    assert_eq!(built.value().map(str::len), Some(64));

    let fast = lab.trial(&kit, |_| {});
    assert!(matches!(fast.validation, ValidationResult::Passed { .. }), "{:?}", fast.validation);
    assert_eq!(metric(&fast, "throughput"), 2_097_152.0 / 0.5);
    assert!(metric(&fast, "ratio") > 1.2, "the corpus can be compressed");
    lab.params.insert("level".into(), Scalar::Int(9));
    lab.with(|ctx| kit.prepare(ctx)).unwrap_or_else(|e| panic!("{e}"));
    let small = lab.trial(&kit, |_| {});
    assert!(metric(&small, "compressed_size") < metric(&fast, "compressed_size"));

    let wrong = lab.trial(&kit, |trial| {
        let path = trial.join("corpus.zst");
        let mut bytes = fs::read(&path).expect("the output");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).expect("the output can be changed");
    });
    assert!(matches!(wrong.validation, ValidationResult::Failed { .. }), "{:?}", wrong.validation);

    let source =
        fetched(&cache).expect("the fetched files").join("libzstd_1.5.4+dfsg2.orig.tar.xz");
    let mut bytes = fs::read(&source).expect("the source");
    bytes.push(0);
    fs::write(&source, bytes).expect("the source can be changed");
    let refused = lab.with(|ctx| load().prepare(ctx)).expect_err("a changed source is refused");
    assert!(refused.to_string().contains("was rejected"), "{refused}");
}
