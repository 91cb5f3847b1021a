//! Output of benchmark tools, as a trial reads it. The files are outputs of the tools themselves,
//! but those of BenchmarkDotNet, k6, oha, Phoronix, and the two lists, which follow their schemas.

use std::path::Path;

use assay_workloads::readers::{FORMATS, read_output, recognized};

use super::data;

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(data("suites").join(file)).unwrap()
}

/// A file, its reader, the number of its benchmarks that have a value, and one value of it with its
/// unit, as the file prints it.
type Case = (&'static str, &'static str, usize, &'static str, f64, &'static str);

const CASES: &[Case] = &[
    ("criterion.txt", "criterion", 10, "fib 15", 1.9706e-6, "s"),
    ("criterion.txt", "criterion", 10, "time: [1 ns 2 ns 3 ns]", 15.027e-9, "s"),
    (
        "criterion.txt",
        "criterion",
        10,
        "codec/encode, fast/ein Wert, ä/b: throughput",
        7.9528e9,
        "elem/s",
    ),
    ("libtest.txt", "libtest", 5, "tests::sleeps_2_ms", 2_136_486.12e-9, "s"),
    ("go.txt", "go-bench", 16, "BenchmarkFib10-2", 344.9e-9, "s"),
    ("go.txt", "go-bench", 16, "BenchmarkCopy/size=64/kind=copy-2: throughput", 20_824.32e6, "B/s"),
    ("go.json", "go-bench", 10, "BenchmarkFib10-2", 362.6e-9, "s"),
    ("go-count3.txt", "go-bench", 9, "BenchmarkFib10-2", 518.366_666_666_666_7e-9, "s"),
    ("go-failing.txt", "go-bench", 5, "BenchmarkZAfter-2", 0.3857e-9, "s"),
    ("go-panic.txt", "go-bench", 1, "BenchmarkBefore-2", 0.7644e-9, "s"),
    (
        "pytest-benchmark.json",
        "pytest-benchmark",
        3,
        "test_extreme.py::test_one_round",
        0.302_852_287_000_860_1,
        "s",
    ),
    ("catch2.txt", "catch2", 8, "Fibonacci, first: fib 10", 195.789e-9, "s"),
    ("catch2.xml", "catch2", 7, "Fibonacci, first: größe µ 名前", 5.85934e-9, "s"),
    ("google-benchmark.txt", "google-benchmark", 9, "BM_Sleep/real_time", 2.08e-3, "s"),
    ("google-benchmark.csv", "google-benchmark", 4, "BM_Fib/5: cpu_time", 18.3646e-9, "s"),
    (
        "benchmark-dotnet.json",
        "benchmark-dotnet",
        4,
        "Fx.Größe.Codec.Encode(N: 1024, Kind: \"a, b\")",
        24.576_923_076_923_077e-9,
        "s",
    ),
    ("asv-run.txt", "asv-run", 13, "existing-py_venv_bin_python: suite.time_plain", 1.04e-6, "s"),
    (
        "asv-run.txt",
        "asv-run",
        13,
        "existing-py_venv_bin_python: suite.TimeCodec.time_fib(5, größe)",
        593e-9,
        "s",
    ),
    (
        "asv-run.txt",
        "asv-run",
        13,
        "existing-py_venv_bin_python: suite.Params.time_partly(3)",
        243e-9,
        "s",
    ),
    ("wrk.txt", "wrk", 1, "throughput", 34_769.33, "requests/s"),
    ("wrk.txt", "wrk", 1, "latency.p99", 7.16e-3, "s"),
    ("oha.json", "oha", 1, "throughput", 3_838.771_593_090_211, "requests/s"),
    ("k6.json", "k6", 1, "throughput", 199.689_18, "requests/s"),
    ("sysbench.txt", "sysbench", 1, "throughput", 2167.10, "events/s"),
    ("sysbench.txt", "sysbench", 1, "latency.p95", 5.09e-3, "s"),
    ("pgbench.txt", "pgbench", 1, "throughput", 2_396.888_108, "transactions/s"),
    ("pgbench-rate.txt", "pgbench", 1, "latency.stddev", 1.380e-3, "s"),
    ("redis-benchmark.csv", "redis-benchmark", 20, "PING_INLINE", 20_833.33, "requests/s"),
    ("redis-benchmark-q.txt", "redis-benchmark", 20, "PING_MBULK: latency.p50", 0.359e-3, "s"),
    ("iperf3.json", "iperf3", 1, "throughput", 10_652_836_083.883_236 / 8.0, "B/s"),
    ("stress-ng.txt", "stress-ng", 2, "vm", 18_043.68, "ops/s"),
    ("perf-stat.csv", "perf-stat", 1, "page-faults", 77.0, "1"),
    ("perf-stat.json", "perf-stat", 1, "task-clock", 0.900_612e-3, "s"),
    (
        "phoronix.xml",
        "phoronix",
        4,
        "Timed Linux Kernel Compilation, Build: defconfig",
        1801.25,
        "s",
    ),
    ("bmf.json", "bmf", 3, "my_binary", 42.0, "1"),
    ("benchmark-list.json", "benchmark-list", 5, "codec/encode, fast (größe 64 KiB)", 2.5e-3, "s"),
];

#[test]
fn output_is_recognized_and_gives_the_values_that_it_prints() {
    let mut wrong = Vec::new();
    for (file, reader, count, name, value, unit) in CASES {
        let bytes = bytes(file);
        let found = recognized(&bytes).map(|f| f.name);
        let read = read_output(Path::new(file), &bytes, None).map_err(|e| e.to_string());
        let Ok(read) = read else {
            wrong.push(format!("{file}: {found:?}: {}", read.unwrap_err()));
            continue;
        };
        let benchmarks = read.metrics.iter().filter(|m| m.benchmark && m.value.is_some()).count();
        let metric = read.metrics.iter().find(|m| m.name == *name);
        let near = metric.and_then(|m| m.value).is_some_and(|v| (v / value - 1.0).abs() < 1e-9);
        let same = metric.is_some_and(|m| m.unit == *unit) && near;
        if found != Some(*reader) || benchmarks != *count || !same {
            let names: Vec<&str> = read.metrics.iter().map(|m| m.name.as_str()).take(12).collect();
            wrong.push(format!(
                "{file}: {found:?}, {benchmarks} benchmarks, {name}: {metric:?}; {names:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_reader_of_a_tool_has_an_output_and_takes_no_other() {
    for format in FORMATS.iter().filter(|f| f.live) {
        let own = CASES.iter().any(|c| c.1 == format.name)
            || ["hyperfine", "fio", "jmh", "memtier", "mcperf"].contains(&format.name);
        assert!(own, "{} has no output", format.name);
        for (file, reader, ..) in CASES.iter().filter(|c| c.1 != format.name) {
            assert!(
                !(format.detect)(&bytes(file)),
                "{file} of {reader} is taken for {}",
                format.name
            );
        }
    }
}

#[test]
fn a_part_of_an_output_is_an_error_or_a_part_of_its_benchmarks() {
    for (file, _, count, ..) in CASES {
        let bytes = bytes(file);
        for eighths in 0..8 {
            let cut = &bytes[..bytes.len() * eighths / 8];
            if let Ok(read) = read_output(Path::new(file), cut, None) {
                let found =
                    read.metrics.iter().filter(|m| m.benchmark && m.value.is_some()).count();
                assert!(found <= *count, "{file}: {eighths}/8");
            }
        }
    }
}

#[test]
fn a_benchmark_that_failed_is_named() {
    let read =
        |file: &str| read_output(Path::new(file), &bytes(file), None).unwrap().failed.join("\n");
    assert!(read("go-failing.txt").contains("BenchmarkErrors: the benchmark failed"));
    assert!(read("go-panic.txt").contains("panic: boom"));
}
