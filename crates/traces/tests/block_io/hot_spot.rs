//! Many concurrent I/Os for the same blocks: every one is matched, and the sum of their latencies
//! is exact.

use std::fs;
use std::path::Path;
use std::process::Command;

use assay_traces::block_io::{IoReport, Options, Question, TraceAnswer, ask};

const IOS: u64 = 40_000;

fn report(path: &Path) -> IoReport {
    match ask(path, &Question::default(), &Options { threads: 2, save: None }).unwrap() {
        TraceAnswer::Ios(report) => *report,
        other => panic!("{other:?}"),
    }
}

/// Computes the sum of completion times minus the sum of queueing times from the raw records.
fn sum_of_latencies(folder: &Path) -> u64 {
    let mut sum = 0u64;
    for cpu in 0..2 {
        let bytes = fs::read(folder.join(format!("t.blktrace.{cpu}"))).unwrap();
        let mut rest = bytes.as_slice();
        while rest.len() >= 48 {
            let head = &rest[..48];
            let time = u64::from_le_bytes(head[8..16].try_into().unwrap());
            match u32::from_le_bytes(head[28..32].try_into().unwrap()) {
                notice if notice & 1 << 26 != 0 => {}
                action if action & 0xFFFF == 1 => sum = sum.wrapping_sub(time),
                action if action & 0xFFFF == 8 => sum = sum.wrapping_add(time),
                _ => {}
            }
            rest = &rest[48 + usize::from(u16::from_le_bytes([rest[46], rest[47]]))..];
        }
    }
    sum
}

#[test]
fn all_are_matched_and_nothing_of_their_time_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("t");
    let mut generate = std::env::current_exe().unwrap();
    generate.pop();
    generate.pop();
    let done = Command::new(generate.join("examples/generate"))
        .args(["hot-spot", &IOS.to_string(), base.to_str().unwrap(), "2"])
        .status()
        .unwrap();
    assert!(done.success());
    let r = report(&base);
    let h = &r.completeness;
    assert_eq!((h.ios, h.matched, h.unmatched_ends, h.in_flight), (IOS, IOS, 0, 0));
    assert!(h.ambiguous > IOS / 20, "it is a hot spot: {}", h.ambiguous);
    let sum: f64 = r.ops.iter().map(|o| o.latency.mean_ns.unwrap() * o.latency.n as f64).sum();
    let exact = sum_of_latencies(folder.path()) as f64;
    assert!((sum / exact - 1.0).abs() < 1e-9, "{sum} for {exact}");
    btt_matches_no_more(folder.path());
}

/// btt is the reference analyzer, from the authors of blktrace.
fn btt_matches_no_more(folder: &Path) {
    let run = |program: &str, arguments: &[&str]| {
        Command::new(program).current_dir(folder).args(arguments).output()
    };
    let parsed = run("blkparse", &["-q", "-O", "-i", "t", "-d", "dump"]);
    let (Ok(_), Ok(_)) = (parsed, run("btt", &["-i", "dump", "-o", "btt"])) else {
        println!("skipped: because blkparse and btt are not installed (package blktrace)");
        return;
    };
    let text = fs::read_to_string(folder.join("btt.avg")).unwrap();
    let line = text.lines().find(|l| l.starts_with("D2C")).unwrap();
    let n: u64 = line.split_whitespace().last().unwrap().parse().unwrap();
    println!("btt gives a device latency of {n} of {IOS}");
    assert!(n <= IOS);
}
