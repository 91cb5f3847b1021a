//! Output of benchmark tools, as a trial reads it. The files are outputs of the tools themselves,
//! but those of BenchmarkDotNet, k6, Dart and the two lists, which follow their schemas.

use std::collections::BTreeMap;
use std::path::Path;

use assay_workloads::readers::{FORMATS, format, read_output, recognized};

use super::data;

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(data("suites").join(file)).unwrap()
}

/// A file, its reader, the number of its benchmarks that have a value, and one value of it with its
/// unit, as the file prints it.
pub(super) type Case = (&'static str, &'static str, usize, &'static str, f64, &'static str);

pub(super) const CASES: &[Case] = &[
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
    (
        "catch2-wrapped.txt",
        "catch2",
        3,
        "long names: fibonacci of five with a name that is longer than its column",
        53.0942e-9,
        "s",
    ),
    ("catch2-wrapped.txt", "catch2", 3, "long names: fib 6", 32.7811e-9, "s"),
    (
        "catch2-no-analysis.txt",
        "catch2",
        3,
        "long names: fibonacci of five with a name that is longer than its column",
        22.0686e-9,
        "s",
    ),
    ("catch2-no-analysis.txt", "catch2", 3, "long names: fib 6", 33.0996e-9, "s"),
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
    ("wrk2.txt", "wrk", 1, "throughput", 498.78, "requests/s"),
    ("wrk2.txt", "wrk", 1, "latency.p99.9", 6.17e-3, "s"),
    ("wrk2-u.txt", "wrk", 1, "latency.p99", 5.15e-3, "s"),
    ("memtier.json", "memtier", 1, "throughput", 57_308.79, "ops/s"),
    ("memtier.json", "memtier", 1, "latency.p99.9", 3.567e-3, "s"),
    ("memtier.json", "memtier", 1, "Sets.latency.mean", 0.07e-3, "s"),
    ("memtier-runs.json", "memtier", 1, "throughput", 115_206.34 / 3.0, "ops/s"),
    ("gungraun.txt", "gungraun", 3, "lib::group::fibonacci short:(10)", 1805.0, "1"),
    (
        "gungraun.txt",
        "gungraun",
        3,
        r#"lib::group::bytes wide:("ein Name,\nzwei Zeilen"): Estimated Cycles"#,
        381.0,
        "1",
    ),
    ("gungraun.json", "gungraun", 2, "lib::group::fibonacci short:(10)", 1805.0, "1"),
    ("iai.txt", "gungraun", 2, "fib_long: L1 Accesses", 315_848.0, "1"),
    ("benchmark-js.txt", "benchmark-js", 3, "größe x 2, \"a b\"", 284_240.0, "ops/s"),
    ("ruby-benchmark.txt", "ruby-benchmark", 4, "sort_by, größe", 0.079828, "s"),
    ("ruby-benchmark.txt", "ruby-benchmark", 4, "for", 0.046551, "s"),
    ("dart-benchmark.txt", "dart-benchmark", 2, "Sort, größe", 2013.25e-6, "s"),
    (
        "vitest.json",
        "vitest",
        2,
        "v/fib.bench.js > fib, größe > fib 20",
        0.080_638_851_762_821_25e-3,
        "s",
    ),
    ("oha.json", "oha", 1, "throughput", 18_140.346_381_569_598, "requests/s"),
    ("oha.json", "oha", 1, "latency.p99.9", 0.004_525_78, "s"),
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
    ("phoronix.xml", "phoronix", 5, "gzip & friends, Level: 6, after, gre", 0.601_563_511, "s"),
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
            || ["hyperfine", "fio", "jmh", "mcperf", "console-time"].contains(&format.name);
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

/// Outputs with repetitions of a benchmark, whose mean changes with their number.
const AVERAGED: [&str; 4] =
    ["go-count3.txt", "memtier-runs.json", "catch2.xml", "google-benchmark.txt"];

/// The values of an output by name. A benchmark that failed has none.
fn values(bytes: &[u8], reader: Option<&str>) -> Result<BTreeMap<String, Option<f64>>, String> {
    let format = reader.map(|name| format(name).unwrap());
    let read = read_output(Path::new("out"), bytes, format).map_err(|e| e.to_string())?;
    Ok(read.metrics.into_iter().map(|m| (m.name, m.value)).collect())
}

/// Returns the outputs with their readers, each once.
fn outputs() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let mut all: Vec<(&str, &str, Vec<u8>)> = Vec::new();
    for (file, reader, ..) in CASES {
        if !all.iter().any(|o| o.0 == *file) {
            all.push((file, reader, bytes(file)));
        }
    }
    all.push(("console-time.txt", "console-time", bytes("console-time.txt")));
    all
}

#[test]
fn no_reader_reads_the_output_of_another_tool_by_its_name() {
    let mut wrong = Vec::new();
    for (file, reader, bytes) in outputs() {
        for other in FORMATS.iter().filter(|f| f.live && f.name != reader) {
            if let Ok(values) = values(&bytes, Some(other.name)) {
                wrong.push(format!("{file}: {} reads {values:?}", other.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn encodings_line_ends_and_colors_change_no_value() {
    let mut wrong = Vec::new();
    for (file, reader, bytes) in outputs() {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let whole = values(&bytes, Some(reader)).unwrap();
        let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            format!("\u{feff}{text}").encode_utf16().flat_map(order).collect()
        };
        let colored = |text: &str| {
            text.lines()
                .map(|l| format!("{l}\u{1b}[0m\n"))
                .collect::<Vec<_>>()
                .concat()
                .into_bytes()
        };
        let mut variants = vec![
            ("CRLF", text.replace('\n', "\r\n").into_bytes()),
            ("UTF-8 with a mark", format!("\u{feff}{text}").into_bytes()),
            ("UTF-16 LE", utf16(u16::to_le_bytes)),
            ("UTF-16 BE", utf16(u16::to_be_bytes)),
        ];
        if !text.starts_with(['{', '[', '<']) {
            variants.push(("colors", colored(&text)));
            variants.push(("progress", format!("building\rdone 100 %\n{text}").into_bytes()));
        }
        for (name, variant) in variants {
            let found = recognized(&variant).map(|f| f.name);
            let same = values(&variant, Some(reader)).as_ref() == Ok(&whole);
            if !same || (found != Some(reader) && reader != "console-time") {
                wrong.push(format!("{file}: {name}: {same}, {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_part_of_an_output_is_an_error_or_a_part_of_its_benchmarks() {
    for (file, reader, bytes) in outputs() {
        let whole = values(&bytes, Some(reader)).unwrap();
        for eighths in 0..8 {
            // A tool writes lines.
            let cut = &bytes[..bytes.len() * eighths / 8];
            let cut = &cut[..cut.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1)];
            for (name, value) in values(cut, Some(reader)).unwrap_or_default() {
                let known = whole.get(&name);
                let same = value.is_none() || known == Some(&value) || AVERAGED.contains(&file);
                assert!(known.is_some() && same, "{file}: {eighths}/8: {name}: {value:?}");
            }
        }
    }
}

#[test]
fn a_broken_number_is_an_error_or_a_missing_value() {
    let mut wrong = Vec::new();
    for (file, reader, bytes) in outputs() {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let json = text.starts_with(['{', '[']);
        let whole = values(&bytes, Some(reader)).unwrap();
        let number = regex_lite::Regex::new(r"[0-9]+\.[0-9]+").unwrap();
        for at in number.find_iter(&text).take(60) {
            for broken in ["12,5", "NaN", "inf", "-nan", "x"] {
                // In JSON a comma separates values.
                if json && broken == "12,5" {
                    continue;
                }
                let changed = format!("{}{broken}{}", &text[..at.start()], &text[at.end()..]);
                for (name, value) in values(changed.as_bytes(), Some(reader)).unwrap_or_default() {
                    // The number may be a part of a name.
                    let Some(known) = whole.get(&name).filter(|_| !AVERAGED.contains(&file)) else {
                        continue;
                    };
                    let same = value.is_none() || *known == value;
                    if !same {
                        wrong
                            .push(format!("{file}: {} as {broken}: {name} {value:?}", at.as_str()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_tools_in_one_output_are_named_and_none_is_chosen() {
    let text = |file: &str| String::from_utf8(bytes(file)).unwrap();
    let both = format!("{}\n{}", text("criterion.txt"), text("go.txt"));
    let error = values(both.as_bytes(), None).unwrap_err();
    assert!(error.contains("could be criterion, go-bench"), "{error}");
    assert_eq!(values(b" \n", None).unwrap_err(), "out is empty");
}

#[test]
fn too_many_benchmarks_and_negative_times_are_errors() {
    let lines: [(&str, &str, &str); 6] = [
        ("go-bench", "Benchmark", " 1000 5 ns/op"),
        ("libtest", "test ", " ... bench: 5 ns/iter (+/- 1)"),
        ("criterion", "", "                      time:   [5 ns 5 ns 5 ns]"),
        ("benchmark-js", "", " x 5 ops/sec ±1% (2 runs sampled)"),
        ("dart-benchmark", "", "(RunTime): 5 us."),
        ("console-time", "", ": 5ms"),
    ];
    for (reader, before, after) in lines {
        let name = format!("N{}/ä, b", "x".repeat(2_000));
        let one = format!("{before}{}{after}\n", if reader == "go-bench" { "N" } else { &name });
        assert_eq!(values(one.as_bytes(), Some(reader)).unwrap().len(), 1, "{reader}");
        let many: Vec<String> = (0..20_000).map(|i| format!("{before}N{i}{after}\n")).collect();
        let many = many.concat();
        let error = values(many.as_bytes(), Some(reader)).unwrap_err();
        assert!(error.contains("more than 5000 benchmarks"), "{reader}: {error}");
        let negative = one.replace(" 5 ", " -5 ").replace(": 5", ": -5").replace("[5", "[-5");
        let read = values(negative.as_bytes(), Some(reader));
        assert!(read.is_err(), "{reader}: {read:?}");
    }
}

#[test]
fn a_server_that_refuses_has_no_rate() {
    let read = read_output(Path::new("oha"), &bytes("oha-refused.json"), None).unwrap();
    assert_eq!(read.failed, ["no request succeeded"]);
    assert!(read.metrics.is_empty(), "{:?}", read.metrics);
}

const REDIS: &str = "====== SET ======\n  100000 requests completed in 1.23 seconds\n\nSummary:\n\
    \x20 throughput summary: 81300.81 requests per second\n  latency summary (msec):\n\
    \x20         avg       min       p50       p95       p99       max\n\
    \x20       0.330     0.112     0.311     0.503     0.703     2.303\n";

#[test]
fn figures_of_a_tool_that_contradict_each_other_have_no_number_and_zeros_a_note() {
    let text = |file: &str| String::from_utf8(bytes(file)).unwrap();
    for (output, from, to, name, value) in [
        (REDIS.to_owned(), "81300.81", "1300.81", "SET", None),
        (text("sysbench.txt"), "5.09", "95.09", "latency.p95", None),
        (text("stress-ng.txt"), "62705.59", "32705.59", "vm: throughput_by_cpu_time", None),
        (text("pgbench.txt"), "processed: 2360", "processed: 1360", "throughput", None),
        (text("libtest.txt"), "2,136,486.12", "0", "tests::sleeps_2_ms", Some(0.0)),
    ] {
        let read = values(output.as_bytes(), None).unwrap();
        assert!(read[name].is_some(), "{name}: {read:?}");
        let changed = output.replacen(from, to, 1);
        let read = read_output(Path::new("out"), changed.as_bytes(), None).unwrap();
        let found = read.metrics.iter().find(|m| m.name == name).unwrap();
        assert_eq!(found.value, value, "{name}");
        assert!(!read.evidence.is_empty() || !read.notes.is_empty(), "{name}");
    }
}

#[test]
fn no_figure_is_dropped_without_a_word() {
    let text = |file: &str| String::from_utf8(bytes(file)).unwrap();
    let median = text("sysbench.txt").replace("95th percentile", "50th percentile");
    assert!(values(median.as_bytes(), None).unwrap().contains_key("latency.p50"));
    let refused = text("oha.json").replace("\"200\": 2000", "\"200\": 1500, \"503\": 500");
    assert_eq!(values(refused.as_bytes(), None).unwrap()["errors"], Some(500.0));
    let counters = "Benchmark      Time       CPU   Iterations UserCounters...\n\
        BM_a        1.2 ns    1.2 ns    583 foo=12.5k\n";
    let read = read_output(Path::new("out"), counters.as_bytes(), None).unwrap();
    assert!(read.notes.iter().any(|note| note.contains("counters are left out")));
}

#[test]
fn console_time_is_read_only_by_its_name() {
    let output = bytes("console-time.txt");
    assert!(recognized(&output).is_none());
    let read = values(&output, Some("console-time")).unwrap();
    assert_eq!(read.len(), 3);
    let near = |name: &str, seconds: f64| {
        assert!((read[name].unwrap() / seconds - 1.0).abs() < 1e-12, "{read:?}");
    };
    near("a/b: größe", 180.779e-3);
    near("slept", 61.558);
}

#[test]
fn a_benchmark_that_failed_is_named() {
    let read =
        |file: &str| read_output(Path::new(file), &bytes(file), None).unwrap().failed.join("\n");
    assert!(read("go-failing.txt").contains("BenchmarkErrors: the benchmark failed"));
    assert!(read("go-panic.txt").contains("panic: boom"));
}

#[test]
fn names_and_units_that_only_some_tools_print() {
    // A long name may go on to the left of the numbers.
    let rows = "-------------------------------------\nc\n-------------------------------------\n\n\
        benchmark name      samples       iterations    estimated\n\
        -------------------------------------\n\
        fib 10 with             100           208     7.1968 ms \n\
        a long name          344 ns        341 ns        349 ns \n\
        \x20                     19 ns         11 ns         29 ns \n";
    for (output, name, value) in [
        (rows, "c: fib 10 with a long name", 344e-9),
        ("Benchmarkuber_zap_text 1 3631320 text-bytes\n", "Benchmarkuber_zap_text", 3_631_320.0),
        ("test a ... bench: 12 \u{3bc}s/iter (+/- 1)\n", "a", 12e-6),
    ] {
        let read = values(output.as_bytes(), None).unwrap();
        let near = read.get(name).is_some_and(|v| (v.unwrap() / value - 1.0).abs() < 1e-12);
        assert!(near, "{output}: {read:?}");
    }
}
