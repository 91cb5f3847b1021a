//! The same I/Os in several formats, read by one thread or by many, give the same answer.

use std::fs;
use std::path::Path;
use std::process::Command;

use assay_traces::block_io::{
    BucketLayout, Dimension, EventFormat, Filter, IoReport, Measure, Op, Options, Question, Steps,
    TraceAnswer, ask, write_events,
};

/// Runs the example that generates traces.
fn generate(kind: &str, ios: u32, out: &Path, cpus: u32) {
    let mut example = std::env::current_exe().unwrap();
    example.pop();
    example.pop();
    let done = Command::new(example.join("examples/generate"))
        .args([kind, &ios.to_string(), out.to_str().unwrap(), &cpus.to_string()])
        .status()
        .unwrap();
    assert!(done.success());
}

fn report(path: &Path, question: &Question, threads: usize) -> IoReport {
    let options = Options { threads, save: None };
    match ask(path, question, &options).unwrap() {
        TraceAnswer::Ios(report) => *report,
        other => panic!("{other:?}"),
    }
}

fn questions() -> Vec<Question> {
    let all = Question {
        by: vec![Dimension::Program, Dimension::Direction],
        histograms: Measure::ALL.to_vec(),
        tick_ns: 10_000_000,
        top: 1000,
        ..Question::default()
    };
    let linear = BucketLayout::Linear(Steps::new(0, 1000, 7).unwrap());
    vec![
        Question { shape: BucketLayout::Quantize, ..all.clone() },
        Question { shape: linear, by: vec![Dimension::Device, Dimension::Pid], ..all.clone() },
        Question {
            filter: Filter {
                op: Some(Op::Write),
                from_ns: Some(5_000_000),
                to_ns: Some(20_000_000),
                ..Filter::default()
            },
            ..all.clone()
        },
        all,
    ]
}

/// Clears the parts of a report that depend on the source.
fn trace_part(mut report: IoReport) -> IoReport {
    report.source.name = String::new();
    report.source.format = String::new();
    report.source.files = 0;
    report
}

#[test]
fn many_threads_say_what_one_says() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("m.csv");
    generate("msr", 400_000, &csv, 1);
    for question in questions() {
        let one = report(&csv, &question, 1);
        assert_eq!(one.completeness.ios, 400_000);
        for threads in [2, 3, 7] {
            assert_eq!(report(&csv, &question, threads), one, "{threads} threads");
        }
    }
}

#[test]
fn seeks_of_a_table_by_ends_follow_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("biosnoop.txt");
    // Sequential by start; every second I/O ends before the one that started before it.
    let mut text = String::from("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n");
    for n in (0..100u64).step_by(2) {
        let line = |n: u64, end_us: u64, latency_us: u64| {
            format!("0.{end_us:06} fio 1 sda R {} 4096 0.{latency_us:03}\n", n * 8)
        };
        let start = 1000 + n * 100;
        text += &line(n + 1, start + 150, 100);
        text += &line(n, start + 190, 190);
    }
    fs::write(&path, text).unwrap();
    let report = report(&path, &Question::default(), 1);
    let seeks = &report.devices[0].seeks;
    assert_eq!((seeks.followers, seeks.sequential), (99, 99));
    assert!(report.source.notes.is_empty());
}

#[test]
fn events_are_written_in_the_order_of_time_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, kept) = (folder.path().join("trace"), folder.path().join("io.parquet"));
    generate("hot-spot", 20_000, &trace, 1);
    let options = Options { threads: 1, save: Some(kept.clone()) };
    ask(&trace, &Question::default(), &options).unwrap();
    let options = Options { threads: 2, save: None };
    let written = |path: &Path, format| {
        let mut out = Vec::new();
        let w = write_events(path, &Question::default(), &options, format, &mut out).unwrap();
        assert_eq!(w.late, 0);
        String::from_utf8(out).unwrap()
    };
    for format in [EventFormat::Csv, EventFormat::FioLog, EventFormat::Blkparse] {
        assert_eq!(written(&trace, format), written(&kept, format), "{format:?}");
    }
    let again = folder.path().join("again.txt");
    fs::write(&again, written(&trace, EventFormat::Blkparse)).unwrap();
    let question = Question::default();
    let (first, second) = (report(&trace, &question, 1), report(&again, &question, 1));
    let totals = |r: &IoReport| r.ops.iter().map(|o| (o.op, o.ios, o.bytes)).collect::<Vec<_>>();
    assert_eq!(totals(&first), totals(&second));
}

#[test]
fn parquet_holds_what_the_trace_holds() {
    let folder = tempfile::tempdir().unwrap();
    generate("hot-spot", 200_000, &folder.path().join("t"), 3);
    generate("msr", 150_000, &folder.path().join("m.csv"), 1);
    for trace in ["t", "m.csv"] {
        let trace = folder.path().join(trace);
        let kept = folder.path().join("io.parquet");
        let options = Options { threads: 2, save: Some(kept.clone()) };
        ask(&trace, &Question::default(), &options).unwrap();
        for question in questions() {
            let first = trace_part(report(&trace, &question, 2));
            assert!(first.completeness.ios >= 150_000);
            for threads in [1, 2, 5] {
                assert_eq!(
                    trace_part(report(&kept, &question, threads)),
                    first,
                    "{threads} threads"
                );
            }
        }
    }
}

/// blkparse is the reference reader, from the authors of blktrace.
#[test]
fn the_text_and_the_dump_of_blkparse_say_what_the_files_say() {
    if Command::new("blkparse").arg("-V").output().is_err() {
        println!("skipped: because blkparse is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("t");
    generate("hot-spot", 20_000, &base, 2);
    let dump = folder.path().join("dump.bin");
    let text = folder.path().join("text.txt");
    let output = Command::new("blkparse")
        .current_dir(folder.path())
        .args(["-i", "t", "-d", "dump.bin"])
        .output()
        .unwrap();
    assert!(output.status.success());
    fs::write(&text, &output.stdout).unwrap();
    for question in questions() {
        let files = report(&base, &question, 1);
        assert_eq!(files.completeness.matched, 20_000);
        for trace in [&dump, &text] {
            // blkparse counts its times from the first event, so data on a time grid differs.
            let read = report(trace, &question, 1);
            assert_eq!(read.groups, files.groups);
            assert_eq!(read.ops, files.ops);
            assert_eq!(read.devices[0].seeks, files.devices[0].seeks);
            assert_eq!(read.devices[0].regions, files.devices[0].regions);
            let (a, b) = (&read.completeness, &files.completeness);
            assert_eq!((a.matched, a.ambiguous, a.selected), (b.matched, b.ambiguous, b.selected));
        }
    }
}
