//! Once a monitor has met its subjects, a sample allocates nothing.
// A counting allocator cannot be written without `unsafe`; it only passes on to the system's.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_observe::{Recorder, Tree};
use assay_sut::clock;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator with the arguments as they came; counting
// touches nothing but an atomic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of `alloc`, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, so from the system, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_sample_allocates_nothing() {
    let tree = Tree::new(Path::new("/"));
    let mut out = Recorder::new();
    out.reserve(100_000);
    for spec in assay_observe::all() {
        let Ok(mut monitor) = (spec.open)(&tree) else {
            println!("skipped: because {} is not available here", spec.name);
            continue;
        };
        let mut allocations = || {
            let before = ALLOCATIONS.load(Ordering::SeqCst);
            monitor.sample(clock::monotonic_ns(), &mut out);
            ALLOCATIONS.load(Ordering::SeqCst) - before
        };
        // A device may appear or a file grow at any moment, and the test harness has a thread of
        // its own: over many samples, nearly all must be free of allocations.
        let counts: Vec<u64> = (0..50).map(|_| allocations()).collect();
        let free = counts.iter().filter(|count| **count == 0).count();
        assert!(free >= 40, "{}: {counts:?}", spec.name);
    }
}
