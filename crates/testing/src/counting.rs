//! An allocator that counts, for tests that something allocates nothing. It counts the allocations of all threads, so
//! such a test runs in a process of its own (`in_own_process`).
#![allow(unsafe_code)] // a global allocator is an unsafe trait

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counted: `#[global_allocator] static ALLOCATIONS: Counting = Counting::NEW;`.
#[derive(Debug)]
pub struct Counting(AtomicU64);

impl Counting {
    /// One that has counted nothing yet.
    #[allow(clippy::declare_interior_mutable_const)] // it is the value of one static
    pub const NEW: Self = Counting(AtomicU64::new(0));

    /// How many allocations there were so far, those of more room for what is there included.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the caller's contract is that of the system's allocator.
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
