//! Synthetic address streams: a few processes that behave like a server's, generated from a seed.
//! Each has a heap of its own size that it touches unevenly (some pages often, most rarely), and
//! code that it walks through. Results from these streams are simulated and are labeled so.

use crate::translation::access::Record;
use crate::translation::error::Error;
use crate::translation::source::{AccessStream, BATCH};

/// Parameters of the synthetic processes.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Number of processes that take turns.
    pub processes: u32,
    /// Data size of the smallest process, in bytes; the other sizes are spread evenly up to
    /// `largest`.
    pub smallest: u64,
    /// Data size of the largest process, in bytes.
    pub largest: u64,
    /// Code size of each process, in bytes.
    pub code: u64,
    /// Number of accesses in a time slice of one process.
    pub slice: u64,
    /// Total number of accesses.
    pub accesses: u64,
    /// Seed of the generator; the same seed gives the same stream.
    pub seed: u64,
}

/// Start addresses of code and data, the same in every process, as for instances of one program.
const CODE: u64 = 0x1_0000_0000;
const HEAP: u64 = 0x10_0000_0000;
/// Number of fetches in ten accesses.
const FETCHES: u64 = 6;
/// Number of consecutive accesses to one place in the data.
const RUN: u64 = 16;
/// Share of data accesses that go to the hot tenth of the data, in 16ths.
const HOT: u64 = 15;

struct Process {
    heap: u64,
    pc: u64,
    at: u64,
    left: u64,
}

/// Generator of a synthetic stream.
pub struct Synthetic {
    load: Load,
    processes: Vec<Process>,
    random: u64,
    done: u64,
    current: usize,
    left: u64,
    announce: bool,
}

impl Synthetic {
    /// Creates the stream of a load.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(load: &Load) -> Result<Self, Error> {
        let wrong = |reason: &str| Err(Error::machine("load", reason));
        let most = crate::translation::simulator::MAX_PROCESSES;
        if load.processes == 0 || load.processes as usize > most {
            return wrong(&format!("{} processes; it takes 1 to {most}", load.processes));
        }
        if load.smallest < 4096 || load.smallest > load.largest || load.largest > 1 << 40 {
            return wrong("data is from 4 KiB to 1 TiB, the smaller first");
        }
        if load.code < 4096 || load.code > 1 << 32 || load.slice == 0 {
            return wrong("code is from 4 KiB to 4 GiB, and a slice is at least one access");
        }
        let n = u64::from(load.processes);
        let heap = |i: u64| {
            let span = load.largest - load.smallest;
            if n == 1 {
                load.largest
            } else {
                load.smallest + (u128::from(span) * u128::from(i) / u128::from(n - 1)) as u64
            }
        };
        let process = |i| Process { heap: heap(i), pc: CODE, at: HEAP, left: 0 };
        Ok(Synthetic {
            processes: (0..n).map(process).collect(),
            random: load.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            done: 0,
            current: 0,
            left: load.slice,
            announce: true,
            load: load.clone(),
        })
    }

    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

impl AccessStream for Synthetic {
    fn next(&mut self, batch: &mut Vec<u64>) -> Result<(), Error> {
        batch.clear();
        while batch.len() < BATCH && self.done < self.load.accesses {
            if self.announce {
                batch.push(Record::Process.with(self.current as u64));
                self.announce = false;
            }
            let r = self.random();
            let code = self.load.code;
            let p = &mut self.processes[self.current];
            if self.done % 10 < FETCHES {
                p.pc += 4;
                // One fetch in 64 is a jump to another place.
                if r.trailing_zeros() >= 6 || p.pc >= CODE + code {
                    p.pc = CODE + (r >> 8) % code / 4 * 4;
                }
                batch.push(Record::Fetch.with(p.pc));
            } else {
                if p.left == 0 {
                    let reach = if r & 15 < HOT { (p.heap / 10).max(4096) } else { p.heap };
                    // The hot tenth is spread over the heap: one page of every ten.
                    let at = (r >> 8) % reach;
                    let page = if reach == p.heap { at / 8192 } else { at / 8192 * 10 };
                    p.at = HEAP + (page * 8192 + at % 8192).min(p.heap - 1) / 8 * 8;
                    p.left = RUN;
                }
                p.left -= 1;
                let kind =
                    if (r >> 4).trailing_zeros() >= 2 { Record::Store } else { Record::Load };
                batch.push(kind.with(p.at + (RUN - p.left) % 8 * 8 % 4096));
            }
            self.done += 1;
            self.left -= 1;
            if self.left == 0 {
                self.current = (self.current + 1) % self.processes.len();
                self.left = self.load.slice;
                self.announce = self.processes.len() > 1;
            }
        }
        Ok(())
    }

    fn format(&self) -> &'static str {
        "made up"
    }
}
