//! Traces that are cut, damaged, empty or of an unknown format.

use std::fs;
use std::path::{Path, PathBuf};

use assay_traces::block_io::{
    Dimension, Error, IoReport, Measure, Op, Options, Question, TraceAnswer, ask,
};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn with(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn asked(path: &Path) -> Result<TraceAnswer, Error> {
    let question = Question {
        by: vec![Dimension::Program],
        histograms: vec![Measure::Size],
        ..Question::default()
    };
    ask(path, &question, &Options::default())
}

fn report(path: &Path) -> IoReport {
    match asked(path).unwrap() {
        TraceAnswer::Ios(report) => *report,
        other => panic!("{other:?}"),
    }
}

/// Returns a blktrace record of device 8,0: a synchronous write.
fn record(time: u64, sequence: u32, action: u32, sector: u64) -> Vec<u8> {
    let mut r = Vec::new();
    r.extend(0x6561_7407_u32.to_le_bytes());
    r.extend(sequence.to_le_bytes());
    r.extend(time.to_le_bytes());
    r.extend(sector.to_le_bytes());
    r.extend(4096u32.to_le_bytes());
    r.extend((action | 0b1010 << 16).to_le_bytes());
    r.extend(42u32.to_le_bytes());
    r.extend((8u32 << 20).to_le_bytes());
    r.extend([0; 8]);
    r
}

/// Returns forty I/Os, issued and completed.
fn trace() -> Vec<u8> {
    (0..40u64)
        .flat_map(|i| {
            let sequence = 2 * i as u32 + 1;
            [record(i * 100, sequence, 7, i * 8), record(i * 100 + 50, sequence + 1, 8, i * 8)]
        })
        .flatten()
        .collect()
}

/// Returns the same record in the other byte order.
fn swapped(record: &[u8]) -> Vec<u8> {
    let mut r = record.to_vec();
    for field in [0..4, 4..8, 8..16, 16..24, 24..28, 28..32, 32..36, 36..40, 40..44, 44..46, 46..48]
    {
        r[field].reverse();
    }
    r
}

#[test]
fn a_whole_trace_is_whole() {
    let folder = Folder::new();
    let h = report(&folder.with("t", &trace())).completeness;
    assert_eq!((h.events, h.ios, h.matched, h.dropped), (80, 40, 40, Some(0)));
    assert!(!h.lost() && !h.truncated);
}

#[test]
fn a_cut_trace_tells_what_came_before_the_cut() {
    let folder = Folder::new();
    let whole = trace();
    for cut in [whole.len() - 1, whole.len() - 47, 48 * 9 + 3] {
        let h = report(&folder.with("t", &whole[..cut])).completeness;
        assert!(h.truncated, "{cut}");
        assert_eq!(h.events as usize, cut / 48);
    }
    let error = asked(&folder.with("t", &whole[..20])).unwrap_err();
    assert!(matches!(error, Error::Nothing { .. }), "{error}");
}

#[test]
fn big_endian_is_read() {
    let folder = Folder::new();
    let big: Vec<u8> = trace().chunks(48).flat_map(swapped).collect();
    let there = report(&folder.with("big", &big));
    assert!(there.source.format.contains("big-endian"));
    let here = report(&folder.with("little", &trace()));
    assert_eq!((there.ops, there.groups, there.devices), (here.ops, here.groups, here.devices));
}

#[test]
fn damage_in_the_middle_is_counted_as_loss() {
    let folder = Folder::new();
    let mut bytes = trace();
    bytes[48 * 10..48 * 12 + 5].fill(0xEE);
    let r = report(&folder.with("t", &bytes));
    assert_eq!((r.completeness.skipped_bytes, r.completeness.dropped), (144, Some(3)));
    assert!(r.completeness.lost() && r.ops[0].latency.lower_bounds);
    assert!(!r.completeness.truncated);
}

#[test]
fn a_newer_blktrace_is_refused_with_its_version() {
    let folder = Folder::new();
    let mut bytes = trace();
    bytes[0] = 8;
    let error = asked(&folder.with("t", &bytes)).unwrap_err().to_string();
    assert!(error.contains("version 8") && error.contains("version 7 is read"), "{error}");
}

#[test]
fn a_clock_that_goes_backwards_is_counted() {
    let folder = Folder::new();
    let mut bytes = record(1_000, 1, 7, 8);
    bytes.extend(record(900, 2, 8, 8));
    let r = report(&folder.with("t", &bytes));
    assert_eq!((r.completeness.matched, r.completeness.clock_backwards), (1, 2));
    assert_eq!(r.ops[0].latency.n, 0, "no latency is made of it");
}

#[test]
fn ends_without_a_start_make_percentiles_lower_bounds() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..30u64).flat_map(|i| record(i, i as u32 + 1, 8, i * 8)).collect();
    let r = report(&folder.with("t", &bytes));
    assert_eq!((r.completeness.ios, r.completeness.unmatched_ends), (0, 30));
    assert!(r.completeness.lost() && r.ops.is_empty());
}

#[test]
fn nothing_and_nothing_known() {
    let folder = Folder::new();
    assert!(matches!(asked(&folder.with("e", b"")), Err(Error::Empty(_))));
    assert!(matches!(asked(folder.0.path()), Err(Error::Folder(_))));
    assert!(matches!(asked(&folder.0.path().join("none")), Err(Error::Read { .. })));
    let unknown = asked(&folder.with("u", b"to be or not\nto be\n")).unwrap_err().to_string();
    for known in ["blktrace", "perf script", "MSR Cambridge", "Parquet", "iostat"] {
        assert!(unknown.contains(known), "{unknown}");
    }
    let packed = asked(&folder.with("z", b"\x1f\x8b\x08\0\0\0")).unwrap_err().to_string();
    assert!(packed.contains("zcat"), "{packed}");
}

#[test]
fn bad_lines_are_counted_and_the_others_read() {
    let folder = Folder::new();
    let good = "128166372003061629,hm,1,Read,383496192,32768,1331\n";
    let mut text = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n".to_owned();
    for _ in 0..20 {
        text += good;
    }
    text += "128166372003061629,hm,1,Read,oops,32768,1331\n\n";
    text += &"x".repeat(200_000);
    text += "\n";
    text += good;
    text += "128166372003061629,hm,1,Rea";
    let r = report(&folder.with("m.csv", text.as_bytes()));
    assert_eq!(
        (r.completeness.ios, r.completeness.unreadable, r.completeness.truncated),
        (21, 2, true)
    );
    assert!(r.ops[0].latency.lower_bounds);
}

#[test]
fn a_line_without_an_end_is_no_format() {
    let folder = Folder::new();
    let path = folder.with("long", &vec![b'7'; 5 << 20]);
    assert!(matches!(asked(&path), Err(Error::Unknown(_))));
}

#[test]
fn damaged_parquet_is_an_error() {
    let folder = Folder::new();
    let path = folder.with("t", &trace());
    let kept = folder.0.path().join("io.parquet");
    let options = Options { save: Some(kept.clone()), ..Options::default() };
    ask(&path, &Question::default(), &options).unwrap();
    let whole = fs::read(&kept).unwrap();
    assert_eq!(report(&kept).completeness.matched, 40);
    for cut in [4, 50, whole.len() / 2, whole.len() - 1] {
        let error = asked(&folder.with("cut", &whole[..cut])).unwrap_err();
        assert!(matches!(error, Error::Parquet { .. }), "{cut}: {error}");
    }
    let not_ours = folder.with("other", b"PAR1PAR1PAR1PAR1");
    assert!(matches!(asked(&not_ours), Err(Error::Parquet { .. })));
}

#[test]
fn parquet_is_kept_whole_or_not_at_all() {
    let folder = Folder::new();
    let path = folder.with("t", &trace());
    let nowhere = folder.0.path().join("no/such/folder/io.parquet");
    let options = Options { save: Some(nowhere), ..Options::default() };
    assert!(matches!(ask(&path, &Question::default(), &options), Err(Error::Save { .. })));
    let log = folder.with("log", b"Device r/s w/s rkB/s\nsda 1 2 3\n");
    let kept = folder.0.path().join("io.parquet");
    let options = Options { save: Some(kept.clone()), ..Options::default() };
    assert!(matches!(ask(&log, &Question::default(), &options), Err(Error::NoIos { .. })));
    assert!(!kept.exists());
}

/// Recorded with perf 6.1 on Linux 6.18 while dd wrote 40 times 16 KiB past the page cache.
#[test]
fn a_real_recording_is_read_to_the_last_line() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/perf-script-6.18.txt");
    let r = report(&path);
    let h = &r.completeness;
    assert_eq!((h.unreadable, h.unmatched_ends, h.queue_unknown, h.clock_backwards), (0, 0, 0, 0));
    assert_eq!((h.ios, h.matched, h.ambiguous), (20, 20, 0));
    assert!(r.source.recorded.queue && r.source.recorded.program);
    let writes = r.ops.iter().find(|o| o.op == Op::Write).unwrap();
    assert_eq!((writes.ios, writes.bytes), (17, 17 * 16_384));
    assert_eq!(r.groups[0].key, ["dd"]);
    assert_eq!(r.classes.nosync, Some(3), "reads ahead by dd");
}
