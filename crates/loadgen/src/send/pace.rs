//! Decides when a connection sends again: after its responses, after a think time, or on schedule.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use assay_stats::rng::Rng;
use hdrhistogram::Histogram;

use crate::config::{Mode, Think};
use crate::latency::worker_stats::histogram;
use crate::send::schedule::Schedule;

/// Pace of one thread's connections.
pub enum Pace {
    /// Closed loop with its thinking connections.
    Closed {
        think: Think,
        /// Connections in their think time, ordered by its end in ns.
        thinkers: BinaryHeap<Reverse<(u64, u32)>>,
    },
    /// Open loop with its schedule.
    Open(Box<OpenLoop>),
}

/// State of an open loop.
pub struct OpenLoop {
    /// Due times of the operations.
    pub schedule: Schedule,
    /// Connections that can take another operation, the longest-waiting first.
    pub free: VecDeque<u32>,
    /// Time from due to sent in ns.
    pub late: Histogram<u64>,
    /// The generator's own part of that time.
    pub own: Histogram<u64>,
    /// Operations of the window that were never sent.
    pub unsent: u64,
    /// Time that the timer is set to, in ns.
    pub armed: u64,
}

impl Pace {
    /// Creates the pace of thread `index` of `threads`, from `start_ns` on, for `connections`.
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
            Mode::Open { rate, arrivals } => Pace::Open(Box::new(OpenLoop {
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

/// Draws the think time of a connection in ns.
pub fn think_ns(think: Think, rng: &mut Rng) -> u64 {
    let ns = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
    match think {
        Think::None => 0,
        Think::Constant(time) => ns(time),
        Think::Exponential(mean) => (ns(mean) as f64 * rng.exponential()) as u64,
    }
}
