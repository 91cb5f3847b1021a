//! What one thread writes down while it works: response times, counts, the series, errors. Nothing here
//! allocates once it is made, except for the texts of the first few errors.

use hdrhistogram::Histogram;

use crate::heat::Heat;
use crate::report::{Bin, ERROR_KINDS, ErrorKind, Errors, OPERATIONS, Operation};

/// The maximum of the response times, ns; greater ones are counted as this.
const MAX_NS: u64 = 1_000_000_000_000;
/// Error texts kept.
const TEXTS: usize = 8;

/// A histogram of times in ns: three digits, up to 1000 s.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_NS, 3).expect("1 to 10^12 at three digits is a valid range")
}

/// The moments of a run, ns of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeline {
    /// The load begins.
    pub start: u64,
    /// The measurement window begins.
    pub steady: u64,
    /// The measurement window ends.
    pub down: u64,
    /// The load ends.
    pub end: u64,
    /// The width of a bin.
    pub bin: u64,
}

impl Timeline {
    /// Whether a moment is in the measurement window.
    #[inline]
    pub fn measures(&self, at: u64) -> bool {
        self.steady <= at && at < self.down
    }

    /// How many bins there are, from start to end.
    pub fn bins(&self) -> usize {
        ((self.end - self.start).div_ceil(self.bin)).max(1) as usize
    }
}

/// The stats of one thread.
#[derive(Debug, Default)]
pub struct WorkerStats {
    line: Timeline,
    classes: usize,
    /// The moment of the answers that are being read.
    now: u64,
    /// The bin of `now`, and when it ends.
    bin: usize,
    bin_end: u64,
    measured: bool,
    /// Right answers of `now` to operations that count from `since`: they share a response time, and
    /// are entered together.
    since: u64,
    /// How many of them, by operation and class, and which of these are not 0.
    waiting: Vec<u64>,
    waiting_cells: Vec<usize>,
    /// By operation and class.
    pub times: Vec<Histogram<u64>>,
    /// Answers in the measurement window, by operation and class.
    pub completed: Vec<u64>,
    /// The series.
    pub bins: Vec<Bin>,
    /// Response times over the series.
    pub heat: Heat,
    /// Errors.
    pub errors: Errors,
    /// Gets of keys that were set and are gone, in the measurement window.
    pub evicted: u64,
    /// The same over all the run.
    pub evicted_ever: u64,
    /// Answers of any kind over all the run.
    pub answers: u64,
    /// Bytes received and sent in the measurement window.
    pub bytes: (u64, u64),
    /// Requests of the measurement window that came to no answer: connection lost or timed out.
    pub unanswered: u64,
    /// Batches whose answers were shorter than foreseen and were read after a wait.
    pub rescues: u64,
    /// Connections opened again.
    pub reconnects: u64,
}

impl WorkerStats {
    /// Empty stats.
    pub fn new(line: Timeline, classes: usize) -> Self {
        let cells = OPERATIONS.len() * classes;
        WorkerStats {
            line,
            classes,
            now: line.start,
            bin_end: line.start.saturating_add(line.bin),
            since: line.start,
            waiting: vec![0; cells],
            waiting_cells: Vec::with_capacity(cells),
            times: (0..cells).map(|_| histogram()).collect(),
            completed: vec![0; cells],
            bins: vec![Bin::default(); line.bins()],
            heat: Heat::new(line.bins()),
            ..WorkerStats::default()
        }
    }

    /// Answers from here on are of this moment; moments do not go back.
    #[inline]
    pub fn at(&mut self, now: u64) {
        self.enter();
        self.now = now;
        self.measured = self.line.measures(now);
        while now >= self.bin_end && self.bin + 1 < self.bins.len() {
            self.bin += 1;
            self.bin_end += self.line.bin;
            self.heat.at(self.bin);
        }
    }

    /// Bytes that came. What comes after the last bin belongs to none.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        self.bytes.0 += if self.measured { bytes as u64 } else { 0 };
        self.bins[self.bin].bytes_in += bytes as u64;
    }

    /// Bytes that were handed to the kernel.
    #[inline]
    pub fn sent(&mut self, bytes: usize) {
        self.bytes.1 += if self.measured { bytes as u64 } else { 0 };
        self.bins[self.bin].bytes_out += bytes as u64;
    }

    /// A right answer to an operation that counts from `from`.
    #[inline]
    pub fn answer(&mut self, operation: Operation, class: u8, from: u64) {
        if from != self.since {
            self.enter();
            self.since = from;
        }
        let cell = operation as usize * self.classes + usize::from(class);
        if self.waiting[cell] == 0 {
            self.waiting_cells.push(cell);
        }
        self.waiting[cell] += 1;
    }

    /// Enters the answers that share a response time.
    #[inline]
    fn enter(&mut self) {
        let time = self.now.saturating_sub(self.since);
        let mut answers = 0;
        for cell in self.waiting_cells.drain(..) {
            let n = std::mem::take(&mut self.waiting[cell]);
            answers += n;
            self.completed[cell] += if self.measured { n } else { 0 };
            if self.line.measures(self.since) {
                self.times[cell].saturating_record_n(time.max(1), n);
            }
            if self.now < self.line.end {
                self.bins[self.bin].by_operation[cell / self.classes] += n;
            }
        }
        self.answers += answers;
        if answers > 0 && self.now < self.line.end {
            let bin = &mut self.bins[self.bin];
            bin.operations += answers;
            bin.time_sum_ns += answers * time;
            bin.time_max_ns = bin.time_max_ns.max(time);
            self.heat.count(time, answers);
        }
    }

    /// A key that was set is gone.
    #[inline]
    pub fn missed(&mut self) {
        self.evicted += u64::from(self.measured);
        self.evicted_ever += 1;
    }

    /// An error; `text` is asked for only while few have been kept.
    #[cold]
    pub fn error(&mut self, kind: ErrorKind, text: impl FnOnce() -> String) {
        self.errors.counts[kind as usize] += 1;
        self.bins[self.bin].errors += 1;
        let kept = self.errors.texts.iter().filter(|t| t.0 == kind).count();
        if kept < TEXTS.div_ceil(ERROR_KINDS.len()) + 1 {
            self.errors.texts.push((kind, text()));
        }
    }

    /// A request that counts from `from` will not be answered any more.
    #[cold]
    pub fn give_up(&mut self, from: u64) {
        self.unanswered += u64::from(self.line.measures(from));
    }
}
