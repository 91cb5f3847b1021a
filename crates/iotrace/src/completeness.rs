//! What stands beside every answer: what was seen, what fitted together, and what was lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happened to the events of a trace on their way to an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Completeness {
    /// Whether I/Os were put together from events; else every row of the trace was a whole I/O.
    pub from_events: bool,
    /// Events (or rows) read.
    pub events: u64,
    /// I/Os that started within the trace.
    pub ios: u64,
    /// Those that the filter took.
    pub selected: u64,
    /// Those whose end was found.
    pub matched: u64,
    /// Of those, I/Os that had a twin (same device, block, size and operation) under way, so that the
    /// latencies of the two may be exchanged. Their sum is right all the same.
    pub ambiguous: u64,
    /// Ends of reads, writes and discards whose start was not seen: started before the trace, or lost.
    pub unmatched_ends: u64,
    /// Ends of flushes, and of writes with a flush, that the kernel tells of without a start or twice.
    pub flush_ends: u64,
    /// I/Os under way when the trace ended.
    pub in_flight: u64,
    /// I/Os whose completion the tracer missed: counted, without latencies.
    #[serde(default)]
    #[serde(alias = "untold_ends")]
    pub missed_completions: u64,
    /// I/Os that were given up since too many were under way: their ends are lost.
    pub given_up: u64,
    /// I/Os that the driver gave back and that were issued again.
    pub requeued: u64,
    /// I/Os whose queueing was not seen though that of others was.
    pub queue_unknown: u64,
    /// Events that the tracer says it dropped; `null`: the format does not tell.
    pub dropped: Option<u64>,
    /// Times that lie before the time of the event before, or ends before their start.
    pub clock_backwards: u64,
    /// Lines or records that could not be read.
    pub unreadable: u64,
    /// Bytes that belong to no record.
    pub skipped_bytes: u64,
    /// Whether the trace ends in the middle of a record or line.
    pub truncated: bool,
    /// I/Os of groups beyond those that are kept apart; they are under `(others)`.
    pub pooled: u64,
}

impl Completeness {
    /// Whether anything was lost, so that percentiles are only lower bounds: what is slow is lost more
    /// easily than what is fast.
    pub fn lost(&self) -> bool {
        self.dropped.is_some_and(|n| n > 0)
            || self.unmatched_ends > 0
            || self.missed_completions > 0
            || self.given_up > 0
            || self.unreadable > 0
            || self.skipped_bytes > 0
    }

    /// Takes up what another part of the same trace met.
    pub fn merge(&mut self, other: &Completeness) {
        self.from_events |= other.from_events;
        self.events += other.events;
        self.ios += other.ios;
        self.selected += other.selected;
        self.matched += other.matched;
        self.ambiguous += other.ambiguous;
        self.unmatched_ends += other.unmatched_ends;
        self.flush_ends += other.flush_ends;
        self.in_flight += other.in_flight;
        self.missed_completions += other.missed_completions;
        self.given_up += other.given_up;
        self.requeued += other.requeued;
        self.queue_unknown += other.queue_unknown;
        self.dropped = match (self.dropped, other.dropped) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.clock_backwards += other.clock_backwards;
        self.unreadable += other.unreadable;
        self.skipped_bytes += other.skipped_bytes;
        self.truncated |= other.truncated;
        self.pooled += other.pooled;
    }
}
