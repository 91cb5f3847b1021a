//! Completeness of a trace: how many events were read, matched and lost. It accompanies every
//! answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts of a trace's events and I/Os: read, selected, matched and lost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Completeness {
    /// True if I/Os were assembled from events; false if every row of the trace was a whole I/O.
    pub from_events: bool,
    /// Events (or rows) read.
    pub events: u64,
    /// I/Os that started within the trace.
    pub ios: u64,
    /// I/Os that the filter selected.
    pub selected: u64,
    /// I/Os whose end was found.
    pub matched: u64,
    /// Matched I/Os that had a twin in flight (same device, block, size and operation), so that the
    /// latencies of the two may be swapped. The sum of the latencies is still right.
    pub ambiguous: u64,
    /// Ends of reads, writes and discards whose start was not seen: it was before the trace, or was
    /// lost.
    pub unmatched_ends: u64,
    /// Ends of flushes, and of writes with a flush or FUA, that the kernel reports without a start
    /// or twice.
    pub flush_ends: u64,
    /// I/Os in flight when the trace ended.
    pub in_flight: u64,
    /// I/Os whose completion the tracer missed: counted, without latencies.
    #[serde(default)]
    #[serde(alias = "untold_ends")]
    pub missed_completions: u64,
    /// I/Os that were given up because too many were in flight: their ends are lost.
    pub given_up: u64,
    /// I/Os that the driver returned and that were issued again.
    pub requeued: u64,
    /// I/Os without a queueing event although other I/Os of the device have one.
    pub queue_unknown: u64,
    /// Events that the tracer reports as dropped; `null`: the format does not record it.
    pub dropped: Option<u64>,
    /// Events with a time before that of the preceding event, and ends before their start.
    pub clock_backwards: u64,
    /// Lines or records that could not be parsed.
    pub unreadable: u64,
    /// Bytes that belong to no record.
    pub skipped_bytes: u64,
    /// True if the trace ends in the middle of a record or line.
    pub truncated: bool,
    /// I/Os of groups beyond the number kept separately; they are reported under `(others)`.
    pub pooled: u64,
}

impl Completeness {
    /// True if anything was lost, which makes percentiles lower bounds: slow I/Os are lost more
    /// easily than fast ones.
    pub fn lost(&self) -> bool {
        self.dropped.is_some_and(|n| n > 0)
            || self.unmatched_ends > 0
            || self.missed_completions > 0
            || self.given_up > 0
            || self.unreadable > 0
            || self.skipped_bytes > 0
    }

    /// Adds the counts of another part of the same trace.
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
