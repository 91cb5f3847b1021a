//! `io.parquet` as a live tracer writes it, and as earlier versions of assay wrote it.

use std::path::Path;

use assay_traces::block_io::{
    Completeness, Dimension, FileFrom, Flags, Hints, Io, IoReport, IoWriter, NameTable, Op,
    Options, Question, RecordedFields, Sink, TraceAbout, TraceAnswer, ask,
};

fn report(path: &Path, question: &Question) -> IoReport {
    match ask(path, question, &Options::default()).unwrap() {
        TraceAnswer::Ios(report) => *report,
        other => panic!("{other:?}"),
    }
}

fn about(ios: u64) -> TraceAbout {
    TraceAbout {
        format: "live".to_owned(),
        latency_is: "from being queued to completion".to_owned(),
        recorded: RecordedFields {
            latency: true,
            queue: true,
            file: true,
            sync: true,
            aio: true,
            ..RecordedFields::default()
        },
        completeness: Completeness {
            events: 3 * ios,
            ios,
            matched: ios,
            ..Completeness::default()
        },
        wall_offset_ns: Some(1_700_000_000_000_000_000),
    }
}

#[test]
fn a_live_tracer_writes_what_is_read_again() {
    for at_end in [false, true] {
        writes_what_is_read_again(at_end);
    }
}

fn writes_what_is_read_again(at_end: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("io.parquet");
    let names = NameTable::default();
    let mut writer = IoWriter::create(&path, &names).unwrap();
    writer.set_hints(Hints { sync: true, aio: true });
    if at_end {
        writer.encode_at_end().unwrap();
    }
    for (i, from) in (0u64..).zip(FileFrom::ALL) {
        writer.end(&Io {
            serial: i,
            start_ns: 1_000 * i,
            latency_ns: Some(700),
            queue_ns: Some(200),
            device_ns: Some(500),
            device: names.id(b"vda"),
            sector: 8 * i,
            bytes: 4096,
            op: Op::Write,
            flags: Flags::AIO.with(Flags::FUA),
            pid: Some(7),
            program: names.id(b"fio"),
            file: if from == FileFrom::Nothing { NameTable::NONE } else { names.id(b"/data/log") },
            file_from: from,
            cgroup: NameTable::NONE,
        });
    }
    assert!(!path.exists(), "not before it is whole");
    writer.finish(&about(7)).unwrap();
    let r = report(&path, &Question { by: vec![Dimension::File], ..Question::default() });
    assert_eq!(r.source.format, "Parquet, from live");
    assert_eq!(r.groups[0].key, ["/data/log"]);
    assert_eq!((r.groups[0].ios, r.groups[1].ios, r.classes.aio), (6, 1, Some(7)));
    assert_eq!(r.wall_start_ns, Some(1_700_000_000_000_000_000));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

/// Written before the columns `file_from`, `preflush`, `fua` and `metadata` were added.
#[test]
fn a_file_of_yesterday_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/io-1.parquet");
    let r = report(&path, &Question::default());
    assert_eq!(
        (r.completeness.ios, r.completeness.matched, r.completeness.ambiguous),
        (300, 300, 75)
    );
    assert_eq!(r.ops.iter().map(|o| o.ios).sum::<u64>(), 300);
    assert!(r.source.recorded.queue && !r.source.recorded.file);
}
