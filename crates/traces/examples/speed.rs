//! Measures the accesses per second that the simulator processes on one core, from a trace in
//! assay's own format. `speed MACHINE TRACE [REPEATS]` prints one line per repeat. `speed --make
//! KIND RECORDS FILE` writes a synthetic trace (`server`: from the module `synthetic`; `random`:
//! loads all over 64 MiB). `speed --convert TRACE FILE` converts any trace to assay's own format.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a tool of the bench scripts

use std::path::Path;
use std::time::Instant;

use assay_traces::translation::source::{self, AccessStream, Writer};
use assay_traces::translation::synthetic::{Load, Synthetic};
use assay_traces::translation::{Record, SimulatedMachine, Simulator};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text: Vec<&str> = args.iter().map(String::as_str).collect();
    match text.as_slice() {
        ["--make", kind, records, file] => make(kind, records.parse().unwrap(), file),
        ["--convert", from, to] => convert(from, to),
        [machine, trace] => measure(machine, trace, 1),
        [machine, trace, repeats] => measure(machine, trace, repeats.parse().unwrap()),
        _ => println!("speed MACHINE TRACE [REPEATS] | speed --make server|random RECORDS FILE"),
    }
}

fn convert(from: &str, to: &str) {
    let out = std::io::BufWriter::new(std::fs::File::create(to).unwrap());
    let mut writer = Writer::new(out).unwrap();
    let mut source = source::open(Path::new(from)).unwrap();
    let mut batch = Vec::new();
    loop {
        source.next(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        writer.write(&batch).unwrap();
    }
    writer.finish().unwrap();
}

fn make(kind: &str, records: u64, file: &str) {
    let out = std::io::BufWriter::new(std::fs::File::create(file).unwrap());
    let mut writer = Writer::new(out).unwrap();
    if kind == "random" {
        let mut random = 1u64;
        let mut batch = Vec::new();
        for i in 0..records {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            batch.push(Record::Load.with(0x10_0000_0000 + random % (64 << 20)));
            if batch.len() == source::BATCH || i + 1 == records {
                writer.write(&batch).unwrap();
                batch.clear();
            }
        }
    } else {
        let load = Load {
            processes: 4,
            smallest: 4 << 20,
            largest: 64 << 20,
            code: 1 << 20,
            slice: 100_000,
            accesses: records,
            seed: 1,
        };
        let mut stream = Synthetic::new(&load).unwrap();
        let mut batch = Vec::new();
        loop {
            stream.next(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            writer.write(&batch).unwrap();
        }
    }
    writer.finish().unwrap();
}

fn measure(machine: &str, trace: &str, repeats: u32) {
    let machine = SimulatedMachine::find(machine).unwrap();
    for _ in 0..repeats {
        let begin = Instant::now();
        let mut simulator = Simulator::new(&machine).unwrap();
        let mut source = source::open(Path::new(trace)).unwrap();
        let mut batch = Vec::new();
        loop {
            source.next(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            simulator.run(&batch).unwrap();
        }
        let seconds = begin.elapsed().as_secs_f64();
        let counts = simulator.counts();
        let accesses = counts.instruction.accesses + counts.data.accesses;
        let misses: u64 = [&counts.instruction, &counts.data]
            .iter()
            .flat_map(|s| s.pages.iter().map(|p| p.tlb_misses))
            .sum();
        println!(
            "{accesses} accesses, {misses} TLB misses, {seconds:.4} s, {:.1} M/s",
            accesses as f64 / seconds / 1e6
        );
    }
}
