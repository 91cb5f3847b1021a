//! The simulator and the reader of assay's own format allocate nothing per access.

use std::io::Cursor;

use assay_testing::in_own_process;
use assay_traces::translation::source::{self, AccessStream, Writer};
use assay_traces::translation::synthetic::{Load, Synthetic};
use assay_traces::translation::{SimulatedMachine, Simulator};

#[test]
fn nothing_is_allocated_once_the_tsbs_have_grown() {
    in_own_process("allocation::nothing_is_allocated_once_the_tsbs_have_grown", measure);
}

fn measure() {
    let load = Load {
        processes: 3,
        smallest: 1 << 20,
        largest: 16 << 20,
        code: 1 << 20,
        slice: 5_000,
        accesses: 3_000_000,
        seed: 7,
    };
    let mut stream = Synthetic::new(&load).unwrap();
    let mut writer = Writer::new(Vec::new()).unwrap();
    let mut batch = Vec::new();
    loop {
        stream.next(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        writer.write(&batch).unwrap();
    }
    let trace = writer.finish().unwrap();
    let mut simulator = Simulator::new(&SimulatedMachine::preset("solaris-10").unwrap()).unwrap();
    let mut source = source::from_reader(Box::new(Cursor::new(trace)), "trace".into()).unwrap();
    let mut second_half = None;
    let mut batches = 0;
    loop {
        source.next(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        simulator.run(&batch).unwrap();
        batches += 1;
        if batches == 20 {
            second_half = Some(crate::ALLOCATIONS.count());
        }
    }
    assert!(batches > 40, "{batches}");
    let grown = simulator.tsbs().iter().map(|t| t.bytes).max().unwrap();
    assert!(grown > 8 << 10, "{grown}");
    let since = crate::ALLOCATIONS.count() - second_half.unwrap();
    // A TSB may still double late: two allocations each, but never one per access.
    assert!(since <= 8, "{since} allocations in the second half");
}
