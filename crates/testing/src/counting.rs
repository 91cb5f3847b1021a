//! An allocator that counts allocations, for tests that assert that code does not allocate. It
//! counts the allocations of all threads, so such a test must run in a separate process
//! (`in_own_process`).
#![allow(unsafe_code)] // a global allocator is an unsafe trait

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system allocator with a counter: `#[global_allocator] static ALLOCATIONS: Counting =
/// Counting::NEW;`.
#[derive(Debug)]
pub struct CountingAllocator(AtomicU64);

impl CountingAllocator {
    /// An allocator whose counter is 0.
    #[allow(clippy::declare_interior_mutable_const)] // it is the value of one static
    pub const NEW: Self = CountingAllocator(AtomicU64::new(0));

    /// Returns the number of allocations so far, including reallocations.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the caller's contract is that of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.0.fetch_add(1, Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
