//! Every reader as a function of bytes, for fuzzing. A probe reads the input and checks invariants
//! that hold for any input. For one input in [`ANSWERED`] it also answers a question that uses
//! every feature and checks the answer. That costs about a hundred times as much as reading a few
//! lines, and runs the same code for every reader.

use std::io::Write;

use crate::block_io::answers::analysis::IoAnalysis;
use crate::block_io::answers::question::{Dimension, Measure, Question};
use crate::block_io::answers::report::IoSource;
use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::completeness::Completeness;
use crate::block_io::matching::event::{Io, Sink};
use crate::block_io::names::NameTable;
use crate::block_io::source::blkparse::BlkparseReader;
use crate::block_io::source::blktrace_record::ByteOrder;
use crate::block_io::source::csv::{CsvReader, Dialect};
use crate::block_io::source::detect::detect;
use crate::block_io::source::events::EventReader;
use crate::block_io::source::lines::LineBuffer;
use crate::block_io::source::rows::LineReader;
use crate::block_io::source::snoop::{Columns, SnoopReader};
use crate::block_io::source::tracepoints::TracepointReader;
use crate::block_io::source::{blktrace, events, parquet_read, rows};
use crate::block_io::text::{iostat_log, quantize_text};

/// A reader to fuzz.
pub struct Probe {
    pub name: &'static str,
    /// Reads bytes; panics if an invariant does not hold.
    pub read: fn(&[u8]),
    /// Returns inputs to start fuzzing with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

pub const PROBES: [Probe; 10] = [
    Probe { name: "blktrace", read: blktrace, seeds: blktrace_seeds },
    Probe { name: "blkparse", read: blkparse, seeds: || texts(&[BLKPARSE]) },
    Probe { name: "tracepoints", read: tracepoints, seeds: || texts(&[PERF]) },
    Probe { name: "snoop", read: snoop, seeds: || texts(&[SNOOP, SNOOP_BPFTRACE]) },
    Probe { name: "msr", read: |b| csv(Dialect::Msr, b), seeds: || texts(&[MSR]) },
    Probe { name: "alibaba", read: |b| csv(Dialect::Alibaba, b), seeds: || texts(&[ALIBABA]) },
    Probe { name: "tencent", read: |b| csv(Dialect::Tencent, b), seeds: || texts(&[TENCENT]) },
    Probe { name: "iostat", read: iostat, seeds: || texts(&[IOSTAT_LINUX, IOSTAT_SOLARIS]) },
    Probe { name: "quantize", read: quantize, seeds: || texts(&[QUANTIZE]) },
    Probe { name: "parquet", read: parquet, seeds: parquet_seeds },
];

/// One input in this many is also answered. The input alone decides, so that it is always or never
/// answered.
pub const ANSWERED: u32 = 16;

/// True if an input is also answered.
fn is_answered(bytes: &[u8]) -> bool {
    let mixed = bytes.iter().fold(1u32, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193));
    (mixed >> 8).is_multiple_of(ANSWERED)
}

/// Counts starts and ends of I/Os, and passes them to the analysis if there is one.
struct CountingSink<'a> {
    analysis: Option<IoAnalysis<'a>>,
    started: u64,
    ended: u64,
}

impl<'a> CountingSink<'a> {
    fn new(bytes: &[u8], names: &'a NameTable) -> Self {
        let question = Question {
            by: vec![Dimension::Program, Dimension::Direction],
            histograms: Measure::ALL.to_vec(),
            tick_ns: 1_000_000,
            ..Question::default()
        };
        let analysis = is_answered(bytes).then(|| IoAnalysis::new(&question, names));
        CountingSink { analysis, started: 0, ended: 0 }
    }

    fn check(self, completeness: Completeness, recorded: RecordedFields) {
        assert_eq!(self.started, self.ended, "every I/O that started ended");
        assert_eq!(self.started, completeness.ios, "every I/O is counted");
        assert!(
            completeness.matched + completeness.in_flight + completeness.given_up
                <= completeness.ios
                || !completeness.from_events
        );
        let Some(analysis) = self.analysis else { return };
        let source = IoSource { files: 1, recorded, ..IoSource::default() };
        let report = analysis.report(source, completeness, Some(0));
        assert_eq!(report.ops.iter().map(|o| o.ios).sum::<u64>(), self.ended);
        let ticks: u64 = report.series.ticks.iter().map(|t| t.reads + t.writes + t.others).sum();
        assert_eq!(ticks, self.ended);
        for group in &report.groups {
            let size = &group.histograms[0];
            assert_eq!(size.rows.iter().map(|r| r.count).sum::<u64>(), group.ios);
        }
    }
}

impl Sink for CountingSink<'_> {
    fn start(&mut self, io: &Io) {
        self.started += 1;
        if let Some(analysis) = &mut self.analysis {
            analysis.start(io);
        }
    }

    fn end(&mut self, io: &Io) {
        self.ended += 1;
        if let Some(analysis) = &mut self.analysis {
            analysis.end(io);
        }
    }
}

fn blktrace(bytes: &[u8]) {
    detect(bytes);
    // The first byte selects the byte order, and one stream or the streams of two CPUs.
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let order = if choice & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big };
    let (a, b) = bytes.split_at(if choice & 2 == 0 { bytes.len() } else { bytes.len() / 96 * 48 });
    let names = NameTable::default();
    let mut checked = CountingSink::new(bytes, &names);
    let found = blktrace::read(vec![a, b], order, &names, 1, &mut checked)
        .expect("bytes in memory can be read");
    checked.check(found.completeness, found.recorded);
}

fn of_events(reader: &mut impl EventReader, names: &NameTable, bytes: &[u8]) {
    let mut checked = CountingSink::new(bytes, names);
    let (completeness, recorded) =
        events::read(bytes, reader, &mut checked).expect("bytes in memory can be read");
    checked.check(completeness, recorded);
}

fn of_rows(reader: &mut impl LineReader, names: &NameTable, bytes: &[u8]) {
    let mut checked = CountingSink::new(bytes, names);
    let found = rows::read_part(&mut LineBuffer::new(bytes), u64::MAX, reader, &mut checked)
        .expect("bytes in memory can be read");
    checked.check(found.completeness, found.recorded);
}

fn blkparse(bytes: &[u8]) {
    detect(bytes);
    let names = NameTable::default();
    of_events(&mut BlkparseReader::new(&names), &names, bytes);
}

fn tracepoints(bytes: &[u8]) {
    let names = NameTable::default();
    of_events(&mut TracepointReader::new(&names), &names, bytes);
}

fn snoop(bytes: &[u8]) {
    let Some(columns) = bytes.split(|b| *b == b'\n').find_map(Columns::from_header) else { return };
    let names = NameTable::default();
    of_rows(&mut SnoopReader::new(columns, &names), &names, bytes);
}

fn csv(dialect: Dialect, bytes: &[u8]) {
    let names = NameTable::default();
    of_rows(&mut CsvReader::new(dialect, &names), &names, bytes);
}

fn iostat(bytes: &[u8]) {
    let log = iostat_log::read(bytes).expect("bytes in memory can be read");
    assert!(log.rows.iter().all(|r| r.device < log.devices.len()));
}

fn quantize(bytes: &[u8]) {
    let all = quantize_text::read(bytes).expect("bytes in memory can be read");
    assert!(all.histograms.iter().all(|h| !h.rows.is_empty()));
}

/// Creates a file in memory if the system has /dev/shm, else in the folder for temporary files.
fn file(bytes: &[u8]) -> std::io::Result<std::path::PathBuf> {
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let name = format!("assay-probe-{}-{:?}", std::process::id(), std::thread::current().id());
    let path = folder.join(name);
    std::fs::File::create(&path)?.write_all(bytes)?;
    Ok(path)
}

fn parquet(bytes: &[u8]) {
    let path = file(bytes).expect("a file for the probe can be written");
    let names = NameTable::default();
    let question = Question { by: Dimension::ALL.to_vec(), ..Question::default() };
    let mut analysis = IoAnalysis::new(&question, &names);
    // An error is an acceptable result, so it is ignored.
    let _ = parquet_read::read(&path, &names, 1, &mut analysis);
    let _ = std::fs::remove_file(&path);
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|t| t.as_bytes().to_vec()).collect()
}

fn blktrace_seeds() -> Vec<Vec<u8>> {
    let record = |time: u64, sequence: u32, action: u32, bytes: u32, extra: &[u8]| {
        let mut r = 0x6561_7407_u32.to_le_bytes().to_vec();
        r.extend(sequence.to_le_bytes());
        r.extend(time.to_le_bytes());
        r.extend(64u64.to_le_bytes());
        r.extend(bytes.to_le_bytes());
        r.extend(action.to_le_bytes());
        r.extend(42u32.to_le_bytes());
        r.extend((8u32 << 20).to_le_bytes());
        r.extend([0; 6]);
        r.extend((extra.len() as u16).to_le_bytes());
        r.extend(extra);
        r
    };
    let write = 0b1010 << 16;
    let mut little = vec![2];
    little.extend(record(1, 1, 1 << 26, 0, b"fio\0"));
    little.extend(record(2, 2, 1 << 26 | 1, 0, &[1; 8]));
    for action in [1, 4, 12, 2, 3, 13, 7, 6, 7, 8, 8] {
        let extra = if action == 13 { 80u64.to_be_bytes().to_vec() } else { Vec::new() };
        let sequence = little.len() as u32;
        little.extend(record(u64::from(sequence), sequence, action | write, 4096, &extra));
    }
    little.extend(record(900, 99, 7 | 1 << 18 | 1 << 16, 0, b""));
    little.extend(record(990, 100, 8 | 1 << 18 | 1 << 16 | 1 << 8, 0, &[3; 12]));
    let mut big = vec![1];
    big.extend(little[1..].chunks(4).flat_map(|c| c.iter().rev().copied()));
    vec![little, big]
}

fn parquet_seeds() -> Vec<Vec<u8>> {
    use crate::block_io::trace::{Options, ask};
    let Ok(csv) = file(MSR.repeat(40).as_bytes()) else { return Vec::new() };
    let kept = csv.with_extension("parquet");
    let options = Options { threads: 1, save: Some(kept.clone()) };
    let asked = ask(&csv, &Question::default(), &options);
    let bytes = std::fs::read(&kept);
    let _ = (std::fs::remove_file(&csv), std::fs::remove_file(&kept));
    match (asked, bytes) {
        (Ok(_), Ok(bytes)) => vec![bytes],
        _ => Vec::new(),
    }
}

const BLKPARSE: &str = "\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kworker/3:1 H]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    3        4     0.000005533   697  M   W 223498 + 8 [kjournald]
  8,0    3        5     0.000005633   697  X   W 223490 / 223494 [kjournald]
  8,0    3       11     0.009507758   697  D   W 223490 + 56 (    5000) [kjournald]
  8,0    1        5     0.010000000     0  C   W 223490 + 56 [0]
  8,0    1        6     0.011000000    12  Q FWS [jbd2]
  8,0    1        7     0.012000000     0  C  FN 0 [0]
CPU3 (8,0):
Skips: 2 forward (1,234 -   0.1%)
";

const PERF: &str = "\
fio 7 [000] 1.000000: block:block_bio_queue: 8,0 WS 8 + 8 [fio]
fio 7/9 [000] 1.000000: block:block_io_start: 8,0 WS 4096 () 8 + 8 0x2,0,4 [fio]
 fio-7    (    9) [000] d..2.   1.000100: block_rq_issue: 8,0 WS 4096 (12 00) 8 + 8 [kworker/0:1H]
swapper 0 [000] 1.000300: block:block_rq_complete: 8,0 WS () 8 + 8 [0]
swapper 0 [000] 1.000301: block:block_io_done: 8,0 WS 0 () 8 + 0 0x0,0,0 [swapper]
a 1 [001] 1.5: block:block_split: 8,0 W 100 / 164 [a]
CPU:1 [LOST 123 EVENTS]
# entries-in-buffer/entries-written: 205/2000   #P:2
";

const SNOOP: &str = "\
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  QUE(ms) LAT(ms)
0.000000    my prog 3      9546    nvme0n1   R 73092528   4096      0.01    0.42
0.000992    ?              0       nvme0n1   WS -1        8192      0.02    1.50
Possibly lost 12 samples
";

const SNOOP_BPFTRACE: &str = "\
Attaching 4 probes...
TIME(ms)     DISK    COMM             PID    LAT(ms)
611          nvme0n1 bash             4179        10
";

const MSR: &str = "\
128166372003061629,hm,1,Read,383496192,32768,1331
128166372003161629,hm,0,Write,8192,4096,99
";

const ALIBABA: &str = "419,W,8792731648,16384,1577808144360767\n7,R,0,4096,1577808144360769\n";

const TENCENT: &str = "1538323200,12910952,128,0,1063\n1538323201,8,8,1,9\n";

const IOSTAT_LINUX: &str = "\
11/21/26 09:00:00
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    0.50    0.10    0.00   98.40

Device            r/s     rkB/s     w/s     wkB/s  w_await  %util
sda              1.00      4.00    2.00     16,00     0.50   0.10
";

const IOSTAT_SOLARIS: &str = "\
                    extended device statistics
    r/s    w/s   kr/s    kw/s wait actv wsvc_t asvc_t  %w  %b device
    0.0    3.0    0.0    23.9  0.0  0.0    0.0    4.2   0   1 c0t1d0
";

const QUANTIZE: &str = "
  title
           value  ------------- Distribution ------------- count
             < 0 |                                         0
               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1
           >= 20 |                                         0
";
