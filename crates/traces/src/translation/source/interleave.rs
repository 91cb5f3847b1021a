//! Interleaves several traces as processes that take turns on one processor, with a fixed number of
//! records per turn.

use super::{AccessStream, BATCH};
use crate::translation::access::{Record, kind_of, payload_of};
use crate::translation::error::Error;

struct Turn {
    source: Box<dyn AccessStream>,
    batch: Vec<u64>,
    at: usize,
    /// Record that names the process running in this trace.
    process: u64,
}

/// Traces that take turns until all have ended.
pub struct Interleaved {
    turns: Vec<Turn>,
    slice: usize,
    current: usize,
    left: usize,
    /// True if a record that names the process must come next.
    announce: bool,
}

impl Interleaved {
    /// Makes each of `sources` a process; a turn has `slice` records.
    pub fn new(sources: Vec<Box<dyn AccessStream>>, slice: usize) -> Self {
        let turn = |(i, source): (usize, Box<dyn AccessStream>)| Turn {
            source,
            batch: Vec::with_capacity(BATCH),
            at: 0,
            process: process(i, 0),
        };
        let turns: Vec<Turn> = sources.into_iter().enumerate().map(turn).collect();
        let slice = slice.max(1);
        Interleaved { turns, slice, current: 0, left: slice, announce: true }
    }
}

/// Combines the number of a trace and a process number within it, so that both stay distinct.
fn process(trace: usize, number: u64) -> u64 {
    Record::Process.with((trace as u64) << 40 | number & ((1 << 40) - 1))
}

impl AccessStream for Interleaved {
    fn next(&mut self, batch: &mut Vec<u64>) -> Result<(), Error> {
        batch.clear();
        while batch.len() < BATCH && !self.turns.is_empty() {
            let trace = self.current;
            let turn = &mut self.turns[trace];
            if turn.at == turn.batch.len() {
                turn.source.next(&mut turn.batch)?;
                turn.at = 0;
                if turn.batch.is_empty() {
                    self.turns.remove(trace);
                    self.current = if trace == self.turns.len() { 0 } else { trace };
                    (self.left, self.announce) = (self.slice, true);
                    continue;
                }
            }
            if self.announce {
                batch.push(turn.process);
                self.announce = false;
            }
            let many = self.left.min(turn.batch.len() - turn.at).min(BATCH);
            for record in &turn.batch[turn.at..turn.at + many] {
                let mut record = *record;
                if kind_of(record) == Record::Process as u64 {
                    record = process((payload_of(turn.process) >> 40) as usize, payload_of(record));
                    turn.process = record;
                }
                batch.push(record);
            }
            turn.at += many;
            self.left -= many;
            if self.left == 0 {
                self.current = (trace + 1) % self.turns.len();
                (self.left, self.announce) = (self.slice, self.turns.len() > 1);
            }
        }
        Ok(())
    }

    fn format(&self) -> &'static str {
        self.turns.first().map_or("nothing", |t| t.source.format())
    }
}
