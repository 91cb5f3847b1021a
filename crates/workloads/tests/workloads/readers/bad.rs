//! Tests that malformed files give a clear error with a position, and need limited memory.

use std::io::{Seek as _, SeekFrom, Write as _};

use assay_workloads::readers::{FORMATS, ForeignError, MAX_FILE, read_foreign};

use super::{data, error, parse, read_text, text, values};

/// The fixtures with their formats.
const GOOD: [(&str, &str); 14] = [
    ("hyperfine.json", "hyperfine"),
    ("google-benchmark.json", "google-benchmark"),
    ("fio.json", "fio"),
    ("jmh.json", "jmh"),
    ("memtier.json", "memtier"),
    ("mcperf.txt", "mcperf"),
    ("spec.rsf", "spec-rsf"),
    ("spec.csv", "spec-csv"),
    ("nightly.csv", "csv"),
    ("data.js", "github-action-benchmark"),
    ("asv.json", "asv"),
    ("bencher.json", "bencher"),
    ("conbench.json", "conbench"),
    ("git-perf.txt", "git-perf"),
];

#[test]
fn each_is_recognised_by_its_content_alone() {
    for (name, format) in GOOD {
        let bytes = std::fs::read(data(name)).unwrap();
        let known: Vec<&str> =
            FORMATS.iter().filter(|f| (f.detect)(&bytes)).map(|f| f.name).collect();
        assert_eq!(known, [format], "{name}");
        match read_text(&bytes, None) {
            Ok(set) => assert_eq!(set.format.name, format),
            Err(ForeignError::Series(_, read_as)) => assert_eq!(read_as, format),
            Err(other) => panic!("{name}: {other}"),
        }
    }
}

#[test]
fn a_cut_json_file_is_known_and_its_end_named() {
    for (name, format) in &GOOD[..5] {
        let bytes = text(name);
        let cut = &bytes[..bytes.len() - bytes.len() / 8];
        let message = error(cut.as_bytes(), None);
        let line = cut.lines().count();
        assert!(message.starts_with(&format!("file:{line}:")), "{name}: {message}");
        assert!(message.contains("EOF") && message.contains(format), "{name}: {message}");
    }
}

#[test]
fn cut_files_of_every_length_never_panic() {
    for (name, format) in GOOD {
        let bytes = std::fs::read(data(name)).unwrap();
        let format = FORMATS.iter().find(|f| f.name == format).unwrap();
        for cut in (0..bytes.len()).step_by(17) {
            let _ = (format.detect)(&bytes[..cut]);
            parse(format, &bytes[..cut]);
        }
        // Also a file of another format.
        for (other, _) in GOOD {
            parse(format, &std::fs::read(data(other)).unwrap());
        }
    }
}

#[test]
fn wrong_types_are_named_with_their_place() {
    let message = error(text("hyperfine.json").replacen("0.21,", "\"fast\",", 1).as_bytes(), None);
    assert!(message.starts_with("file: at results[0].times["), "{message}");
    assert!(message.contains("]: it is not a number (read as hyperfine)"), "{message}");
    let message = error(br#"{"fio version": "fio-3.33", "jobs": {}}"#, None);
    assert!(message.contains("file: at jobs: it is not a list"), "{message}");
    let changed = text("memtier.json").replacen("\"Ops/sec\": 11000.0", "\"Ops/sec\": \"many\"", 1);
    let message = error(changed.as_bytes(), None);
    assert!(
        message.contains(r#"at ["ALL STATS"].Totals["Ops/sec"]: it is not a number"#),
        "{message}"
    );
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    let infinite = text("hyperfine.json").replacen("0.21,", "1e999,", 1);
    assert!(error(infinite.as_bytes(), None).contains("number out of range"));
    let bare = text("hyperfine.json").replacen("0.21,", "NaN,", 1);
    assert!(error(bare.as_bytes(), None).contains("]: it is not a number"), "{bare}");
    let negative =
        text("hyperfine.json").replacen("0.214,\n        0.209", "-0.214,\n        0.209", 1);
    assert!(
        error(negative.as_bytes(), None).contains("at results[0].times[1]: -0.214 s is not a time")
    );
    let negative = text("google-benchmark.json").replacen("42.0", "-42.0", 1);
    assert!(error(negative.as_bytes(), None).contains("at benchmarks[1].real_time"));
    let negative = text("fio.json").replacen("\"bw\": 40000", "\"bw\": -1", 1);
    assert!(error(negative.as_bytes(), None).contains("at jobs[0].read.bw: -1 is not a rate"));
    let negative = text("jmh.json").replacen("510.0", "-510.0", 1);
    assert!(error(negative.as_bytes(), None).contains("[0].primaryMetric.rawData[0][1]"));
    let negative =
        text("memtier.json").replacen("\"Max Latency\": 8.2", "\"Max Latency\": -8.2", 1);
    assert!(error(negative.as_bytes(), None).contains("is negative"));
    let word = text("mcperf.txt").replace("8000.0 rsp/s", "nan rsp/s");
    assert!(error(word.as_bytes(), None).starts_with("file:12: `nan`"));
    let word = text("spec.rsf").replacen("128.000000", "-128", 1);
    assert!(error(word.as_bytes(), None).starts_with("file:20: `ratio` is `-128`"));
    let word = text("spec.csv").replacen("404.000000", "inf", 1);
    assert!(error(word.as_bytes(), None).starts_with("file:6: `base run time` is `inf`"));
}

#[test]
fn jmh_writes_nan_as_a_text() {
    let missing = text("jmh.json").replacen("510.0", "\"NaN\"", 1);
    let set = read_text(missing.as_bytes(), None).unwrap();
    assert_eq!(values(&set.results[0], 0, "throughput")[0], None);
    assert!(values(&set.results[0], 0, "throughput")[1].is_some());
}

#[test]
fn units_are_known_or_refused_and_never_mixed() {
    let unknown = text("google-benchmark.json").replacen("\"ms\"", "\"fortnight\"", 1);
    assert!(error(unknown.as_bytes(), None).contains("`fortnight` is not a unit of time"));
    let mixed = text("jmh.json").replacen("\"ops/ms\"", "\"s/op\"", 1);
    assert!(
        error(mixed.as_bytes(), None).contains("at [1].primaryMetric.scoreUnit: its unit is ops/s")
    );
    // Units of the same quantity are converted.
    let scaled = text("jmh.json").replacen("\"ops/ms\"", "\"ops/us\"", 1);
    let set = read_text(scaled.as_bytes(), None).unwrap();
    assert_eq!(values(&set.results[0], 0, "throughput")[0], Some(505e6));
    assert_eq!(values(&set.results[0], 1, "throughput")[0], Some(50.5e3));
}

#[test]
fn latin_1_is_read_as_such() {
    let mut bytes = text("hyperfine.json").replace("corpus", "caf\u{1}").into_bytes();
    for b in &mut bytes {
        if *b == 1 {
            *b = 0xe9;
        }
    }
    let set = read_text(&bytes, None).unwrap();
    assert_eq!(set.results[0].treatments[0].params["command"].to_text(), "pack -1 caf\u{e9}");
}

#[test]
fn what_is_no_file_of_results() {
    for nothing in [&b""[..], b" \n\t"] {
        assert!(matches!(read_text(nothing, None), Err(ForeignError::Empty { .. })));
    }
    let folder = tempfile::tempdir().unwrap();
    let of = |path: &std::path::Path| read_foreign(&[path.to_owned()], None).unwrap_err();
    assert!(matches!(of(folder.path()), ForeignError::NotAFile { .. }));
    assert!(matches!(of(&folder.path().join("none")), ForeignError::Io { .. }));
    for unknown in ["{}", "[]", "{\"a\": 1}", "hello", "\u{0}\u{1}"] {
        let message = error(unknown.as_bytes(), None);
        assert!(message.contains("known formats: hyperfine, google-benchmark, fio"), "{message}");
    }
    let both = br#"{"results": [{"command": "x"}], "context": {}, "benchmarks": []}"#;
    let message = error(both, None);
    assert!(
        message.contains(
            "could be hyperfine, google-benchmark; name the format with --as, or \
            --reader for a trial"
        ),
        "{message}"
    );
    assert!(error(both, Some("hyperfine")).contains("no single times"));
}

#[test]
fn files_without_repetitions_say_what_to_run_instead() {
    assert!(error(br#"{"results": []}"#, Some("hyperfine")).contains("it holds no command"));
    let cut = text("google-benchmark.json").replace("\"iteration\"", "\"aggregate\"");
    assert!(error(cut.as_bytes(), None).contains("report_aggregates_only"));
    let cut = text("jmh.json").replace("\"rawData\"", "\"raw\"");
    assert!(error(cut.as_bytes(), None).contains("a mean alone is not a trial"));
    let cut = text("memtier-runs.json").replace("RUN #", "#");
    assert!(error(cut.as_bytes(), None).contains("--print-all-runs"));
    assert!(error(b"[]", Some("jmh")).contains("it holds no benchmark"));
    assert!(error(b"spec.cpu2017.invalid: 0\n", None).contains("no timed run"));
}

#[test]
fn large_files_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    // 50 MB of times: within the size limit, but more trials than a run takes.
    let head = r#"{"results":[{"command":"x","mean":1,"times":[1"#;
    let mut bytes = Vec::with_capacity(50_000_010);
    bytes.extend_from_slice(head.as_bytes());
    while bytes.len() < 50_000_000 {
        bytes.extend_from_slice(b",1");
    }
    bytes.extend_from_slice(b"]}]}");
    std::fs::write(&path, &bytes).unwrap();
    let message = read_foreign(std::slice::from_ref(&path), None).unwrap_err().to_string();
    assert!(message.contains("it has more than 4000000 values"), "{message}");
    let times = format!("{head}{}]}}]}}", ",1".repeat(100_000));
    std::fs::write(&path, times).unwrap();
    let message = read_foreign(std::slice::from_ref(&path), None).unwrap_err().to_string();
    assert!(message.contains("it has 100001 trials, and a run has at most 100000"), "{message}");
    // As many as a run takes, and each without a value, because they contradict the mean.
    let times = format!("{head}{}]}}]}}", ",1.1".repeat(99_999));
    std::fs::write(&path, times).unwrap();
    let results = read_foreign(std::slice::from_ref(&path), None).unwrap().results;
    assert_eq!(results[0].trials.len(), 100_000);
    assert!(results[0].trials.iter().all(|t| t.metrics[0].value.is_none()));
    // A file above the size limit is not read at all (it is sparse).
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(MAX_FILE)).unwrap();
    file.write_all(b"}").unwrap();
    drop(file);
    let refused = read_foreign(&[path], None).unwrap_err();
    assert!(matches!(refused, ForeignError::TooLarge { limit: MAX_FILE, .. }), "{refused}");
}

#[test]
fn files_that_do_not_go_together() {
    let mixed = read_foreign(&[data("fio.json"), data("jmh.json")], None).unwrap_err();
    assert!(mixed.to_string().contains("is jmh, and the files before it are fio"), "{mixed}");
    let twice = read_foreign(&[data("fio.json"), data("fio.json")], None).unwrap_err();
    assert!(matches!(twice, ForeignError::Twice { .. }));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        failure_persistence: None, cases: 300, ..Default::default()
    })]
    #[test]
    fn changed_files_never_panic(
        which in 0usize..14,
    changes in proptest::collection::vec((0usize..20_000, 0u8..), 1..6)
    ) {
        let mut bytes = std::fs::read(data(GOOD[which].0)).unwrap();
        for (at, byte) in changes {
            let n = bytes.len();
            bytes[at % n] = byte;
        }
        for format in FORMATS {
            let _ = (format.detect)(&bytes);
            parse(format, &bytes);
        }
    }
}
