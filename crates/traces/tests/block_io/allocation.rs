//! A trace three times as long needs no more allocations and no more memory, whether its I/Os are
//! counted or written as text.

use std::io;
use std::path::Path;

use assay_testing::in_own_process;
use assay_traces::block_io::{
    Dimension, EventFormat, Measure, Options, Question, TraceAnswer, ask, write_events,
};

/// Answers a question that uses every feature, and returns the number of allocations.
fn allocations(trace: &Path, ios: u64, threads: usize) -> u64 {
    let question = Question {
        by: vec![Dimension::Program, Dimension::Direction, Dimension::Device],
        histograms: Measure::ALL.to_vec(),
        ..Question::default()
    };
    let before = crate::ALLOCATIONS.count();
    let answer = ask(trace, &question, &Options { threads, save: None }).unwrap();
    let after = crate::ALLOCATIONS.count();
    let TraceAnswer::Ios(report) = answer else { panic!("{answer:?}") };
    assert_eq!(report.completeness.ios, ios);
    after - before
}

/// Writes every I/O as text, and returns the number of allocations.
fn allocations_of_text(trace: &Path, ios: u64, format: EventFormat) -> u64 {
    let before = crate::ALLOCATIONS.count();
    let options = Options { threads: 1, save: None };
    let written =
        write_events(trace, &Question::default(), &options, format, &mut io::sink()).unwrap();
    let after = crate::ALLOCATIONS.count();
    assert!(written.lines >= ios);
    after - before
}

fn record(time: u64, sequence: u32, action: u32, sector: u64) -> [u8; 48] {
    let mut r = [0; 48];
    r[0..4].copy_from_slice(&0x6561_7407_u32.to_le_bytes());
    r[4..8].copy_from_slice(&sequence.to_le_bytes());
    r[8..16].copy_from_slice(&time.to_le_bytes());
    r[16..24].copy_from_slice(&sector.to_le_bytes());
    r[24..28].copy_from_slice(&4096u32.to_le_bytes());
    r[28..32].copy_from_slice(&(action | 0b1010 << 16).to_le_bytes());
    r[32..36].copy_from_slice(&42u32.to_le_bytes());
    r[36..40].copy_from_slice(&(8u32 << 20).to_le_bytes());
    r
}

/// All I/Os are within one second, so that there is one tick whatever their number.
fn blktrace(ios: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..ios {
        let (t, sector) = (i * 10, i * 7919 % 100_000 * 8);
        for (step, action) in [(0, 1), (2, 4), (4, 7), (9, 8)] {
            bytes.extend(record(t + step, (4 * i + step) as u32 + 1, action, sector));
        }
    }
    bytes
}

fn msr(ios: u64) -> Vec<u8> {
    let line = |i: u64| {
        let t = 128_166_372_003_061_629 + i;
        format!("{t},hm,{},Write,{},4096,{}\n", i % 3, i * 7919 % 100_000 * 4096, 90 + i % 800)
    };
    (0..ios).flat_map(|i| line(i).into_bytes()).collect()
}

/// Generates a trace with the given number of I/Os.
type Maker = fn(u64) -> Vec<u8>;

#[test]
fn events_are_free() {
    in_own_process("allocation::events_are_free", measure);
}

fn measure() {
    let folder = tempfile::tempdir().unwrap();
    for (name, make) in [("blktrace", blktrace as Maker), ("msr", msr)] {
        let [short, long] = [20_000, 60_000].map(|ios| {
            let path = folder.path().join(format!("{name}-{ios}"));
            std::fs::write(&path, make(ios)).unwrap();
            (path, ios)
        });
        for threads in [1, 2] {
            // The first call also creates data that lives as long as the program.
            allocations(&short.0, short.1, threads);
            let few = allocations(&short.0, short.1, threads);
            let many = allocations(&long.0, long.1, threads);
            // The test harness has its own thread, and waiting on channels may allocate.
            let more = many.saturating_sub(few);
            assert!(
                more < 100,
                "{name}, {threads} threads: {few} for 20,000 I/Os, {many} for 60,000"
            );
        }
        for format in [EventFormat::Blkparse, EventFormat::FioLog, EventFormat::Csv] {
            let few = allocations_of_text(&short.0, short.1, format);
            let many = allocations_of_text(&long.0, long.1, format);
            let more = many.saturating_sub(few);
            assert!(more < 100, "{name} as {format:?}: {few} for 20,000 I/Os, {many} for 60,000");
        }
    }
}
