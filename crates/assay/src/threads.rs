//! Work on two threads at once, where a person waits for both results.

use std::panic::resume_unwind;
use std::thread;

/// Runs `one` on a new thread while the current thread runs `other`; returns both results.
pub fn run_both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|threads| {
        let one = threads.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| resume_unwind(panic)), other)
    })
}
