//! Threads that are bound to a CPU each and work at the same time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use assay_system::clock::monotonic_ns;

use crate::Failure;
use crate::builtin::block_size::stay_on;
use crate::driver::work::Channel;
use crate::failure::Result;

/// Time from the release of the threads to their common start: all of them are awake by then.
const START_NS: u64 = 200_000;

/// Threads on these CPUs.
pub struct Team<'a> {
    cpus: &'a [usize],
    barrier: Barrier,
    start: AtomicU64,
    failed: AtomicBool,
}

impl<'a> Team<'a> {
    pub fn new(cpus: &'a [usize]) -> Self {
        let (start, failed) = (AtomicU64::new(0), AtomicBool::new(false));
        Team { cpus, barrier: Barrier::new(cpus.len()), start, failed }
    }

    /// Waits until every thread is here.
    pub fn wait(&self) {
        self.barrier.wait();
    }

    /// Starts a repetition in all threads at the same time, and returns that time (ns of
    /// `CLOCK_MONOTONIC`).
    pub fn start(&self) -> u64 {
        if self.barrier.wait().is_leader() {
            self.start.store(monotonic_ns() + START_NS, Ordering::Relaxed);
        }
        self.barrier.wait();
        let start = self.start.load(Ordering::Relaxed);
        while monotonic_ns() < start {
            std::hint::spin_loop();
        }
        start
    }

    /// Binds the thread to its CPU, completes its set-up with `own`, and waits for the others.
    ///
    /// # Errors
    /// Fails in every thread if the set-up of one failed.
    pub fn ready<T>(&self, thread: usize, own: impl FnOnce() -> Result<T>) -> Result<T> {
        let own = stay_on(self.cpus[thread]).and_then(|()| own());
        self.failed.fetch_or(own.is_err(), Ordering::Relaxed);
        self.wait();
        let failed = self.failed.load(Ordering::Relaxed);
        own.and_then(|own| if failed { Err(Failure::Stopped) } else { Ok(own) })
    }

    /// Runs `work` in every thread, with the number of the thread, and returns the results in their
    /// order. Number 0 is the calling thread and has the channel.
    ///
    /// # Errors
    /// Fails if `work` fails in a thread.
    pub fn run<T: Send>(
        &self,
        channel: &mut Channel,
        work: impl Fn(usize, Option<&mut Channel>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let (work, count) = (&work, self.cpus.len());
        thread::scope(|scope| {
            let others: Vec<_> = (1..count).map(|i| scope.spawn(move || work(i, None))).collect();
            let mut all = vec![work(0, Some(channel))];
            let panicked = |_| Err(Failure::other("a thread panicked"));
            all.extend(others.into_iter().map(|t| t.join().unwrap_or_else(panicked)));
            // The failure with a reason comes before those that followed from it.
            let first =
                all.iter().position(|r| matches!(r, Err(e) if !matches!(e, Failure::Stopped)));
            match first {
                Some(i) => all.swap_remove(i).map(|one| vec![one]),
                None => all.into_iter().collect(),
            }
        })
    }
}
