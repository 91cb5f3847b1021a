//! The steady phase allocates nothing for an operation. An allocator that counts, in a test binary of
//! its own.
#![allow(unsafe_code)] // a global allocator is an unsafe trait
#![allow(clippy::unwrap_used)] // this is a test

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use assay_memload::{Protocol, preload, run};
use assay_model::Phase;
use support::{Memcached, never, quick};

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
fn the_steady_phase_allocates_nothing_per_operation() {
    let Some(server) = Memcached::tcp(&[]) else { return };
    for (protocol, depth) in
        [(Protocol::Text, 1), (Protocol::Text, 64), (Protocol::Meta, 64), (Protocol::Binary, 16)]
    {
        let mut config = quick(&server.target);
        (config.protocol, config.depth) = (protocol, depth);
        config.ramp_up = Duration::from_millis(400);
        config.steady = Duration::from_secs(1);
        preload(&config, &never()).unwrap();
        let mut counts = Vec::new();
        let report =
            run(&config, &never(), |_: Phase, _| counts.push(COUNT.load(Ordering::Relaxed)))
                .unwrap();
        let (allocated, operations) = (counts[2] - counts[1], report.completed());
        assert_eq!(report.errors.total(), 0);
        assert!(operations > 1_000);
        // Buffers that meet their largest batch late may still grow: a few, not one per operation.
        assert!(
            allocated < 100,
            "{protocol:?}: {allocated} allocations in {operations} operations"
        );
    }
}
