//! The simulator and the reader of the own format allocate nothing for an access. An allocator that
//! counts, in a test binary of its own.
#![allow(unsafe_code)] // a global allocator is an unsafe trait
#![allow(clippy::unwrap_used)] // this is a test

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_tlb::source::{self, Source, Writer};
use assay_tlb::synthetic::{Load, Synthetic};
use assay_tlb::{Machine, Simulator};

static COUNT: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_allocated_once_the_tsbs_have_grown() {
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
    let mut simulator = Simulator::new(&Machine::preset("solaris-10").unwrap()).unwrap();
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
            second_half = Some(COUNT.load(Ordering::Relaxed));
        }
    }
    assert!(batches > 40, "{batches}");
    let grown = simulator.tsbs().iter().map(|t| t.bytes).max().unwrap();
    assert!(grown > 8 << 10, "{grown}");
    let since = COUNT.load(Ordering::Relaxed) - second_half.unwrap();
    // A TSB may double that late: two allocations each, never one for an access.
    assert!(since <= 8, "{since} allocations in the second half");
}
