//! Statistics of one thread: response times, counts, the time series and errors. Nothing here
//! allocates after creation, except for the texts of the first few errors.

use hdrhistogram::Histogram;

use crate::latency::heat::Heat;
use crate::latency::report::{Bin, ERROR_KINDS, ErrorKind, Errors, OPERATIONS, Operation};

/// Maximum of the response times in ns; longer ones are counted as this.
const MAX_NS: u64 = 1_000_000_000_000;
/// Approximate number of error texts to keep; `error` derives the number per kind from it.
const TEXTS: usize = 8;

/// Creates a histogram of times in ns: three significant digits, up to 1000 s.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_NS, 3).expect("1 to 10^12 at three digits is a valid range")
}

/// Phases of a run, in ns of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeline {
    /// Start of the load.
    pub start: u64,
    /// Start of the measurement window.
    pub steady: u64,
    /// End of the measurement window.
    pub down: u64,
    /// End of the load.
    pub end: u64,
    /// Width of a bin in ns.
    pub bin: u64,
}

impl Timeline {
    /// True if a time is in the measurement window.
    #[inline]
    pub fn measures(&self, at: u64) -> bool {
        self.steady <= at && at < self.down
    }

    /// Returns the number of bins from start to end.
    pub fn bins(&self) -> usize {
        ((self.end - self.start).div_ceil(self.bin)).max(1) as usize
    }
}

/// Statistics of one worker thread.
#[derive(Debug, Default)]
pub struct WorkerStats {
    line: Timeline,
    classes: usize,
    /// Time of the responses that are being read.
    now: u64,
    /// Bin of `now`, and the time at which it ends.
    bin: usize,
    bin_end: u64,
    measured: bool,
    /// Start of the response time of the pending responses. Correct responses with the same start
    /// and end share a response time and are entered together.
    since: u64,
    /// Number of pending responses by operation and class, and the indexes that are not 0.
    waiting: Vec<u64>,
    waiting_cells: Vec<usize>,
    /// Response times by operation and class.
    pub times: Vec<Histogram<u64>>,
    /// Responses in the measurement window, by operation and class.
    pub completed: Vec<u64>,
    /// Time series of the whole run.
    pub bins: Vec<Bin>,
    /// Heat map of the response times over the series.
    pub heat: Heat,
    pub errors: Errors,
    /// Gets in the measurement window for keys that were set and are gone.
    pub evicted: u64,
    /// The same count over the whole run.
    pub evicted_ever: u64,
    /// Keys of the multi-gets completed in the measurement window that were found, and those that
    /// were not.
    pub parts: [u64; 2],
    /// Correct responses over the whole run.
    pub answers: u64,
    /// Bytes received and sent in the measurement window.
    pub bytes: (u64, u64),
    /// Requests of the measurement window that got no response: connection lost or timed out.
    pub unanswered: u64,
    /// Batches whose responses were shorter than predicted and were read after a delay.
    pub rescues: u64,
    /// Number of connections that were reopened.
    pub reconnects: u64,
}

impl WorkerStats {
    /// Creates empty statistics for a run.
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

    /// Sets the time of the next responses; times never go back.
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

    /// Counts received bytes. Bytes after the last bin count in it.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        self.bytes.0 += if self.measured { bytes as u64 } else { 0 };
        self.bins[self.bin].bytes_in += bytes as u64;
    }

    /// Counts bytes that were handed to the kernel.
    #[inline]
    pub fn sent(&mut self, bytes: usize) {
        self.bytes.1 += if self.measured { bytes as u64 } else { 0 };
        self.bins[self.bin].bytes_out += bytes as u64;
    }

    /// Counts a correct response to an operation whose response time starts at `from`.
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

    /// Enters the pending responses, which share a response time.
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

    /// Counts the keys of a multi-get that were found, and those that were not; those after the end
    /// of the run are not in a bin.
    #[inline]
    pub fn parts(&mut self, parts: [u64; 2]) {
        for (at, keys) in parts.into_iter().enumerate() {
            self.parts[at] += if self.measured { keys } else { 0 };
            if self.now < self.line.end {
                self.bins[self.bin].parts[at] += keys;
            }
        }
    }

    /// Counts a get whose key was set and is gone.
    #[inline]
    pub fn missed(&mut self) {
        self.evicted += u64::from(self.measured);
        self.evicted_ever += 1;
    }

    /// Counts an error; `text` is only called while few texts are kept.
    #[cold]
    pub fn error(&mut self, kind: ErrorKind, text: impl FnOnce() -> String) {
        self.errors.counts[kind as usize] += 1;
        self.bins[self.bin].errors += 1;
        let kept = self.errors.texts.iter().filter(|t| t.0 == kind).count();
        if kept < TEXTS.div_ceil(ERROR_KINDS.len()) + 1 {
            self.errors.texts.push((kind, text()));
        }
    }

    /// Counts a request, whose response time starts at `from`, that will get no response.
    #[cold]
    pub fn give_up(&mut self, from: u64) {
        self.unanswered += u64::from(self.line.measures(from));
    }
}
