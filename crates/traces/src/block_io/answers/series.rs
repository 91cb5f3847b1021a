//! I/O counts over time, tick by tick: the data of `tick-1s` lines and of the charts of a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block_io::answers::counted::{ClassCounts, CountedIos};
use crate::block_io::answers::grid::{GridCell, IntervalGrid};
use crate::block_io::matching::event::{Io, Op};

/// Maximum number of ticks; a longer trace gets wider ticks.
pub const MAX_TICKS: usize = 65_536;

/// Counters of one tick.
#[derive(Debug, Clone, Default)]
struct Tick {
    reads: u64,
    writes: u64,
    others: u64,
    classes: ClassCounts,
    read_bytes: u64,
    write_bytes: u64,
    /// I/O time within the tick of the I/Os that started or ended in it, in nanoseconds.
    partly: u64,
    /// Starts minus ends of I/Os that are in flight for whole ticks, from this tick on.
    filling: i64,
}

impl GridCell for Tick {
    fn join(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.others += other.others;
        self.classes.add(&other.classes);
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.write_bytes = self.write_bytes.saturating_add(other.write_bytes);
        self.partly = self.partly.saturating_add(other.partly);
        self.filling += other.filling;
    }

    fn before_widening(cells: &mut [Self], width_ns: u64) {
        // `filling` is a difference from tick to tick, which is only meaningful at one width.
        let mut filling = 0;
        for cell in cells {
            filling += std::mem::take(&mut cell.filling);
            cell.partly =
                cell.partly.saturating_add(width_ns.saturating_mul(filling.max(0) as u64));
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct IoSeries {
    grid: IntervalGrid<Tick>,
    /// Observed time of a live system, from and to, in nanoseconds; all time for a recorded trace.
    pub(crate) watched: (u64, u64),
}

impl IoSeries {
    pub(crate) fn new(tick_ns: u64) -> Self {
        IoSeries { grid: IntervalGrid::new(tick_ns, MAX_TICKS), watched: (0, u64::MAX) }
    }

    /// Counts an I/O in the tick in which it started, and its time in every tick it was in flight.
    #[inline]
    pub(crate) fn add(&mut self, io: &Io) {
        let (tick, room) = self.grid.at_with_room(io.start_ns);
        // The direction is unpredictable, so the code does not branch on it.
        let (read, write) = (u64::from(io.op == Op::Read), u64::from(io.op == Op::Write));
        tick.reads += read;
        tick.writes += write;
        tick.others += 1 - read - write;
        tick.read_bytes = tick.read_bytes.saturating_add(io.bytes * read);
        tick.write_bytes = tick.write_bytes.saturating_add(io.bytes * write);
        if !io.op.moves_data() {
            return;
        }
        tick.classes.add(&ClassCounts::from_io(io));
        let Some(end) = io.end_ns() else { return };
        if end - io.start_ns < room {
            tick.partly = tick.partly.saturating_add(end - io.start_ns);
        } else {
            self.spread(io.start_ns, end);
        }
    }

    /// Returns the class counts of all ticks together.
    pub(crate) fn classes(&self) -> ClassCounts {
        let mut all = ClassCounts::default();
        self.grid.cells().iter().for_each(|tick| all.add(&tick.classes));
        all
    }

    /// Counts I/Os that ended in the tick at `t_ns`. All their time in flight is added to that
    /// tick.
    pub(crate) fn add_counted(&mut self, t_ns: u64, c: &CountedIos) {
        let tick = self.grid.at(t_ns);
        match c.op {
            Op::Read => {
                tick.reads += c.ios;
                tick.read_bytes = tick.read_bytes.saturating_add(c.bytes);
            }
            Op::Write => {
                tick.writes += c.ios;
                tick.write_bytes = tick.write_bytes.saturating_add(c.bytes);
            }
            _ => tick.others += c.ios,
        }
        if !c.op.moves_data() {
            return;
        }
        tick.classes.add(&c.classes);
        let time = if c.device_time.count() > 0 { &c.device_time } else { &c.latency };
        tick.partly = tick.partly.saturating_add(u64::try_from(time.sum()).unwrap_or(u64::MAX));
    }

    /// Spreads the time of an I/O that ends in a later tick than it started in.
    fn spread(&mut self, start: u64, end: u64) {
        // Create the last tick first: it may widen all ticks.
        self.grid.at(end);
        let width = self.grid.width_ns();
        let (first, last) = (start / width, end / width);
        if first == last {
            let tick = self.grid.at(start);
            tick.partly = tick.partly.saturating_add(end - start);
            return;
        }
        let tick = self.grid.at(start);
        tick.partly = tick.partly.saturating_add(width - start % width);
        let tick = self.grid.at(end);
        tick.partly = tick.partly.saturating_add(end % width);
        tick.filling -= 1;
        self.grid.at((first + 1) * width).filling += 1;
    }

    pub(crate) fn merge(&mut self, other: IoSeries) {
        self.grid.merge(other.grid);
    }

    /// Returns the ticks, with `None` for values that the trace does not record. `asked_ns` is the
    /// tick width that was requested.
    pub(crate) fn report(&self, asked_ns: u64, recorded: RecordedFields) -> TickSeries {
        let width = self.grid.width_ns();
        let mut filling = 0;
        let ticks = self.grid.cells().iter().enumerate().map(|(i, t)| {
            filling += t.filling;
            let under_way = t.partly as f64 + filling as f64 * width as f64;
            let t_ns = self.grid.start_ns().saturating_add(width.saturating_mul(i as u64));
            let end_ns = t_ns.saturating_add(width);
            let length = end_ns.min(self.watched.1).saturating_sub(t_ns.max(self.watched.0));
            let partial = length < end_ns - t_ns;
            TickRow {
                t_ns,
                partial,
                seconds: partial.then_some(length as f64 / 1e9),
                reads: t.reads,
                writes: t.writes,
                others: t.others,
                aio: recorded.aio.then_some(t.classes.aio),
                writeback: recorded.sync.then_some(t.classes.writeback),
                readahead: recorded.readahead.then_some(t.classes.readahead),
                nosync: recorded.sync.then_some(t.classes.nosync),
                read_bytes: t.read_bytes,
                write_bytes: t.write_bytes,
                depth: (recorded.latency && length > 0).then_some(under_way / length as f64),
            }
        });
        TickSeries { tick_ns: width, asked_ns, ticks: ticks.collect() }
    }
}

/// Data that a trace records, to distinguish a missing value from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RecordedFields {
    /// True if the trace records when I/Os ended.
    pub latency: bool,
    /// True if the trace records queue time separately from device time.
    pub queue: bool,
    /// True if the trace records program names.
    pub program: bool,
    /// True if the trace records process ids.
    pub pid: bool,
    /// True if the trace records files.
    pub file: bool,
    /// True if the trace records control groups.
    pub cgroup: bool,
    /// True if the trace records REQ_SYNC, and with it nosync and writeback.
    pub sync: bool,
    /// True if the trace records REQ_RAHEAD.
    pub readahead: bool,
    /// True if the trace records asynchronous submission (`io_submit`, io_uring).
    pub aio: bool,
}

impl RecordedFields {
    /// Returns the union of both: data that either records.
    #[must_use]
    pub fn or(self, other: RecordedFields) -> RecordedFields {
        RecordedFields {
            latency: self.latency || other.latency,
            queue: self.queue || other.queue,
            program: self.program || other.program,
            pid: self.pid || other.pid,
            file: self.file || other.file,
            cgroup: self.cgroup || other.cgroup,
            sync: self.sync || other.sync,
            readahead: self.readahead || other.readahead,
            aio: self.aio || other.aio,
        }
    }
}

/// One tick of a time series. An I/O is counted in the tick in which it started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TickRow {
    /// Start of the tick, in nanoseconds of the trace's clock.
    pub t_ns: u64,
    /// True if only a part of the tick was observed: the first and last tick of a live observation.
    /// Absent: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Observed length of the tick, in seconds; divide by it to get rates. Absent: the whole tick
    /// was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Reads that started in the tick.
    pub reads: u64,
    /// Writes that started in the tick.
    pub writes: u64,
    /// Discards, flushes, other operations, and I/Os whose operation is not recorded.
    pub others: u64,
    /// Reads and writes submitted asynchronously; `null`: not recorded.
    pub aio: Option<u64>,
    /// Writes by kernel threads that write back dirty pages; `null`: not recorded.
    pub writeback: Option<u64>,
    /// Reads with REQ_RAHEAD; `null`: not recorded.
    pub readahead: Option<u64>,
    /// Reads and writes without REQ_SYNC; `null`: not recorded.
    pub nosync: Option<u64>,
    /// Bytes of the tick's reads.
    pub read_bytes: u64,
    /// Bytes of the tick's writes.
    pub write_bytes: u64,
    /// Mean number of reads and writes in flight, without I/Os that never ended; `null`: not
    /// recorded.
    pub depth: Option<f64>,
}

/// Time series of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TickSeries {
    /// Width of a tick, in nanoseconds.
    pub tick_ns: u64,
    /// Requested tick width, in nanoseconds; smaller than `tick_ns` if the trace would need too
    /// many ticks.
    pub asked_ns: u64,
    /// Ticks from the first with an I/O to the last.
    pub ticks: Vec<TickRow>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::fixtures::io;

    const ALL: RecordedFields = RecordedFields {
        latency: true,
        queue: true,
        program: true,
        pid: true,
        file: true,
        cgroup: true,
        sync: true,
        readahead: true,
        aio: true,
    };

    #[test]
    fn depth_is_the_time_under_way_by_the_length_of_the_tick() {
        let mut s = IoSeries::new(1_000);
        s.add(&io(500, 2_000, Op::Read)); // half of tick 0, all of 1, half of 2
        s.add(&io(1_250, 500, Op::Write)); // half of tick 1
        let r = s.report(1_000, ALL);
        let depths: Vec<f64> = r.ticks.iter().map(|t| t.depth.unwrap()).collect();
        assert_eq!(depths, [0.5, 1.5, 0.5]);
        assert_eq!((r.ticks[0].reads, r.ticks[1].writes), (1, 1));
        assert_eq!(r.ticks[1].t_ns, 1_000);
    }

    #[test]
    fn a_tick_that_was_watched_in_part_is_marked_and_divided_by_that_part() {
        let mut s = IoSeries::new(1_000);
        s.add(&io(900, 100, Op::Read));
        s.add(&io(1_000, 500, Op::Read));
        s.add(&io(2_100, 100, Op::Read));
        let mut parts = |watched| -> Vec<(bool, Option<f64>, Option<f64>)> {
            s.watched = watched;
            let ticks = s.report(1_000, ALL).ticks;
            ticks.iter().map(|t| (t.partial, t.seconds, t.depth)).collect()
        };
        let whole = |depth| (false, None, Some(depth));
        assert_eq!(parts((0, u64::MAX)), [whole(0.1), whole(0.5), whole(0.1)]);
        assert_eq!(parts((0, 3_000)), [whole(0.1), whole(0.5), whole(0.1)]);
        // An I/O that started before the observation has no rate in the tick of its start.
        assert_eq!(parts((1_000, 3_000))[0], (true, Some(0.0), None));
        let cut = |seconds, depth| (true, Some(seconds), Some(depth));
        assert_eq!(parts((800, 2_400)), [cut(2e-7, 0.5), whole(0.5), cut(4e-7, 0.25)]);
        let json = serde_json::to_string(&s.report(1_000, ALL).ticks).unwrap();
        assert_eq!(json.matches("\"partial\":true").count(), 2, "{json}");
        assert_eq!(json.matches("\"partial\"").count(), 2, "{json}");
    }

    #[test]
    fn widening_keeps_the_time_under_way() {
        let mut rng = assay_stats::rng::Rng::new(11);
        let (mut fine, mut halves) = (IoSeries::new(10), [IoSeries::new(10), IoSeries::new(10)]);
        let mut under_way = 0.0;
        for i in 0..2_000 {
            let start = rng.below(3_000_000) as u64;
            let long = rng.below(90_000) as u64;
            fine.add(&io(start, long, Op::Read));
            halves[i % 2].add(&io(start, long, Op::Read));
            under_way += long as f64;
        }
        let [mut a, b] = halves;
        a.merge(b);
        for s in [fine, a] {
            let r = s.report(10, ALL);
            assert!(r.tick_ns > 10 && r.ticks.len() <= MAX_TICKS);
            let sum: f64 = r.ticks.iter().map(|t| t.depth.unwrap() * r.tick_ns as f64).sum();
            assert!((sum / under_way - 1.0).abs() < 1e-9, "{sum} {under_way}");
            assert!(r.ticks.iter().all(|t| t.depth.unwrap() >= 0.0));
        }
    }

    #[test]
    fn what_is_not_recorded_is_missing() {
        let mut s = IoSeries::new(1_000);
        s.add(&io(0, 10, Op::Write));
        let t = &s.report(1_000, RecordedFields::default()).ticks[0];
        assert_eq!(
            (t.aio, t.writeback, t.readahead, t.nosync, t.depth),
            (None, None, None, None, None)
        );
        let t = &s.report(1_000, ALL).ticks[0];
        assert_eq!(
            (t.aio, t.writeback, t.readahead, t.nosync),
            (Some(0), Some(1), Some(0), Some(1))
        );
    }
}
