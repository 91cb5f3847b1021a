//! Tests with fresh output of the programs themselves, where they are installed.

use std::path::Path;
use std::process::Command;

use assay_workloads::readers::{ForeignSet, read_foreign};

use super::{one, values};

/// Runs a program that writes `out`; `None` if it is not installed.
fn run(program: &str, arguments: &[&str], folder: &Path) -> Option<()> {
    match Command::new(program).args(arguments).current_dir(folder).output() {
        Ok(done) => {
            assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
            Some(())
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: because {program} is not installed");
            None
        }
        Err(e) => panic!("{program}: {e}"),
    }
}

fn read(folder: &Path, name: &str) -> ForeignSet {
    read_foreign(&[folder.join(name)], None).unwrap()
}

#[test]
fn a_fresh_file_of_hyperfine() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["-N", "--runs", "3", "-P", "n", "1", "2", "echo {n}", "--export-json", "out.json"];
    if run("hyperfine", &arguments, folder.path()).is_none() {
        return;
    }
    let set = read(folder.path(), "out.json");
    assert_eq!(set.format.name, "hyperfine");
    let result = &set.results[0];
    assert_eq!((result.treatments.len(), result.trials.len()), (2, 6));
    assert_eq!(result.treatments[1].levels["n"].to_text(), "2");
    assert!(values(result, 0, "elapsed").iter().all(|v| v.is_some_and(|v| v > 0.0)));
    assert!(result.trials.iter().all(|t| t.findings().is_empty()));
}

#[test]
fn a_fresh_file_of_fio() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = |format: &'static str, out: &'static str| {
        [
            format,
            out,
            "--ioengine=sync",
            "--size=1M",
            "--bs=4k",
            "--name=seqwrite",
            "--rw=write",
            "--name=randread",
            "--stonewall",
            "--rw=randread",
            "--numjobs=2",
            "--group_reporting",
        ]
    };
    let plain = arguments("--output-format=json", "--output=out.json");
    if run("fio", &plain, folder.path()).is_none() {
        return;
    }
    run("fio", &arguments("--output-format=json+", "--output=plus.json"), folder.path()).unwrap();
    for name in ["out.json", "plus.json"] {
        let set = read(folder.path(), name);
        assert_eq!(set.format.name, "fio");
        let result = &set.results[0];
        assert_eq!(result.trials.len(), 2);
        assert!(one(result, 0, "write.throughput").0 > 0.0);
        assert!(one(result, 0, "write.clat.p99").0 > 0.0);
        assert!(result.version.is_some() && result.measured_at.is_some());
        assert!(result.trials.iter().all(|t| t.findings().is_empty()));
    }
}

#[test]
fn a_fresh_file_of_google_benchmark() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <benchmark/benchmark.h>\n\
        static void copy(benchmark::State& s) { for (auto _ : s) \
        { int x = 1; benchmark::DoNotOptimize(x); } }\n\
        BENCHMARK(copy)->Repetitions(3);\nBENCHMARK_MAIN();\n";
    std::fs::write(folder.path().join("b.cc"), source).unwrap();
    let built = Command::new("c++")
        .args(["b.cc", "-o", "b", "-lbenchmark", "-lpthread"])
        .current_dir(folder.path())
        .output();
    if !built.is_ok_and(|b| b.status.success()) {
        println!("skipped: because a C++ compiler and libbenchmark-dev are not installed");
        return;
    }
    let program = folder.path().join("b");
    let arguments =
        ["--benchmark_min_time=0.001", "--benchmark_out=out.json", "--benchmark_out_format=json"];
    run(program.to_str().unwrap(), &arguments, folder.path()).unwrap();
    let set = read(folder.path(), "out.json");
    assert_eq!(set.format.name, "google-benchmark");
    let result = &set.results[0];
    assert_eq!((result.treatments.len(), result.trials.len()), (1, 3));
    assert!(values(result, 0, "real_time").iter().all(Option::is_some));
    assert!(result.trials.iter().all(|t| t.findings().is_empty()));
    assert!(result.facts.contains_key("cpu.threads") && result.host.is_some());
}
