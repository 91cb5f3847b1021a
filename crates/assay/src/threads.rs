//! Work on two CPUs, where a person waits for both.

use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

/// Does one thing on a thread of its own while this one does the other.
pub fn beside<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|threads| {
        let one = threads.spawn(one);
        let other = other();
        (joined(one), other)
    })
}

/// What a thread returned; its panic goes on here.
pub fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
