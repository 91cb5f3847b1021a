//! Measures the cost of writing an I/O as text, in each of the formats.

use std::collections::HashMap;
use std::hint::black_box;
use std::io;

use assay_traces::block_io::{
    EventFormat, EventText, FileFrom, Filter, Flags, Io, NameTable, Op, Sink,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const IOS: u64 = 10_000;

fn text(criterion: &mut Criterion) {
    let names = NameTable::default();
    let io = |serial: u64| Io {
        serial,
        start_ns: serial * 1000,
        latency_ns: Some(700_500),
        queue_ns: Some(500),
        device_ns: Some(700_000),
        device: names.id(b"nvme0n1"),
        sector: serial * 7919 % 1_000_000,
        bytes: 4096,
        op: if serial.is_multiple_of(3) { Op::Write } else { Op::Read },
        flags: Flags::SYNC,
        pid: Some(42),
        program: names.id(b"postgres"),
        file: names.id(b"/srv/data/base/16384/2619"),
        file_from: FileFrom::Nothing,
        cgroup: names.id(b"/system.slice/postgresql.service"),
    };
    let ios: Vec<Io> = (0..IOS).map(io).collect();
    let filter = Filter::default();
    let mut group = criterion.benchmark_group("event text");
    group.throughput(Throughput::Elements(IOS));
    for format in [EventFormat::Blkparse, EventFormat::FioLog, EventFormat::Csv] {
        group.bench_function(format!("{format:?}"), |b| {
            b.iter(|| {
                let devices = HashMap::from([("nvme0n1".to_owned(), (259, 0))]);
                let out = io::sink();
                let mut text = EventText::new(out, &names, format, &filter, true, devices);
                for io in &ios {
                    text.end(black_box(io));
                }
                text.finish()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, text);
criterion_main!(benches);
