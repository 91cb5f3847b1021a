//! When a connection asks next: after its answers, after a thought, or at its time in the schedule.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use assay_stats::rng::Rng;
use hdrhistogram::Histogram;

use crate::config::{Mode, Think};
use crate::schedule::Schedule;
use crate::worker_stats::histogram;

/// The pace of one thread's connections.
pub enum Pace {
    /// Closed loop: who thinks until when.
    Closed {
        /// The think time.
        think: Think,
        /// Connections that think, by the moment at which they stop.
        thinkers: BinaryHeap<Reverse<(u64, u32)>>,
    },
    /// Open loop.
    Open(Box<Open>),
}

/// An open loop.
pub struct Open {
    /// When operations are due.
    pub schedule: Schedule,
    /// Connections that can take another operation, the one that waits longest first.
    pub free: VecDeque<u32>,
    /// From due to sent.
    pub late: Histogram<u64>,
    /// The generator's own part of that.
    pub own: Histogram<u64>,
    /// Operations of the window that were never sent.
    pub unsent: u64,
    /// The moment that the timer is set to.
    pub armed: u64,
}

impl Pace {
    /// The pace of thread `index` of `threads` from `start_ns` on, over `connections`.
    pub fn new(
        mode: Mode,
        start_ns: u64,
        (index, threads): (usize, usize),
        connections: usize,
        seed: u64,
    ) -> Self {
        match mode {
            Mode::Closed { think } => {
                Pace::Closed { think, thinkers: BinaryHeap::with_capacity(connections) }
            }
            Mode::Open { rate, arrivals } => Pace::Open(Box::new(Open {
                schedule: Schedule::new(rate, arrivals, start_ns, (index, threads), seed),
                free: VecDeque::with_capacity(connections),
                late: histogram(),
                own: histogram(),
                unsent: 0,
                armed: 0,
            })),
        }
    }
}

/// How long a connection thinks now, ns.
pub fn think_ns(think: Think, rng: &mut Rng) -> u64 {
    let ns = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
    match think {
        Think::None => 0,
        Think::Constant(time) => ns(time),
        Think::Exponential(mean) => (ns(mean) as f64 * rng.exponential()) as u64,
    }
}
