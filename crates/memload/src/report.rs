//! The results of a run.

use std::time::Duration;

use assay_stats::warmup::Steady;
use hdrhistogram::Histogram;

use crate::heat::Heat;
use crate::limiter::Limit;

/// What an operation turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A get that found its value, which was right.
    GetHit,
    /// A get that found nothing.
    GetMiss,
    /// A set that was stored.
    Set,
}

/// All operations, in the order of their numbers.
pub const OPERATIONS: [Operation; 3] = [Operation::GetHit, Operation::GetMiss, Operation::Set];

impl Operation {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Operation::GetHit => "get-hit",
            Operation::GetMiss => "get-miss",
            Operation::Set => "set",
        }
    }
}

/// What can be wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A value of another length than was set.
    WrongLength,
    /// A value with other bytes than were set; see [`crate::content`].
    WrongContent,
    /// The answer names another key than was asked for.
    WrongKey,
    /// A value for a key that was never set.
    UnexpectedHit,
    /// A set was refused without an error.
    NotStored,
    /// `SERVER_ERROR`, or its like in the binary protocol.
    ServerError,
    /// `ERROR` or `CLIENT_ERROR`, or their like: the server did not understand.
    ClientError,
    /// Something that is no answer, or none that was asked for; the connection was opened again.
    Garbled,
    /// The connection was lost before the answer.
    ConnectionLost,
    /// No answer within the time that was set; the connection was opened again.
    TimedOut,
}

/// All kinds with their names in reports, in the order of their numbers.
pub const ERROR_KINDS: [(ErrorKind, &str); 10] = [
    (ErrorKind::WrongLength, "wrong length"),
    (ErrorKind::WrongContent, "wrong content"),
    (ErrorKind::WrongKey, "wrong key"),
    (ErrorKind::UnexpectedHit, "a value for a key that was never set"),
    (ErrorKind::NotStored, "not stored"),
    (ErrorKind::ServerError, "server error"),
    (ErrorKind::ClientError, "not understood by the server"),
    (ErrorKind::Garbled, "not an answer"),
    (ErrorKind::ConnectionLost, "connection lost"),
    (ErrorKind::TimedOut, "timed out"),
];

impl ErrorKind {
    /// Whether an answer came and was wrong, or an error. A missing answer is none.
    pub fn is_wrong_answer(self) -> bool {
        !matches!(self, ErrorKind::TimedOut | ErrorKind::ConnectionLost)
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        ERROR_KINDS[self as usize].1
    }
}

/// The errors of a whole run, ramps included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Errors {
    /// How many of each kind, by [`ERROR_KINDS`].
    pub counts: [u64; ERROR_KINDS.len()],
    /// The first few of each kind in words.
    pub texts: Vec<(ErrorKind, String)>,
}

impl Errors {
    /// How many of a kind.
    pub fn of(&self, kind: ErrorKind) -> u64 {
        self.counts[kind as usize]
    }

    /// How many in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many answers came and were wrong.
    pub fn wrong(&self) -> u64 {
        self.kinds().filter(|(kind, _)| kind.is_wrong_answer()).map(|(_, n)| n).sum()
    }

    /// How many answers did not come.
    pub fn missing(&self) -> u64 {
        self.total() - self.wrong()
    }

    /// The kinds of wrong answers in words, with the first of them; `None`: there was none.
    pub fn wrong_words(&self) -> Option<String> {
        let wrong = self.kinds().filter(|(kind, _)| kind.is_wrong_answer());
        let kinds: Vec<String> = wrong.map(|(kind, n)| format!("{n} {}", kind.name())).collect();
        let first = self.texts.iter().find(|(kind, _)| kind.is_wrong_answer());
        let first = first.map_or("", |t| t.1.as_str());
        (!kinds.is_empty()).then(|| format!("{} (the first: {first})", kinds.join(", ")))
    }

    /// The kinds that occurred, with their counts.
    pub fn kinds(&self) -> impl Iterator<Item = (ErrorKind, u64)> {
        ERROR_KINDS.into_iter().map(|(k, _)| (k, self.of(k))).filter(|(_, n)| *n > 0)
    }

    /// Takes in those of another run.
    pub fn add(&mut self, other: Errors) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.texts.extend(other.texts);
    }
}

/// One bin of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bin {
    /// Right answers that came in it.
    pub operations: u64,
    /// Of them, by [`OPERATIONS`].
    pub by_operation: [u64; OPERATIONS.len()],
    /// Errors that came to light in it.
    pub errors: u64,
    /// The sum of the response times of its answers, ns.
    pub time_sum_ns: u64,
    /// The longest of them, ns.
    pub time_max_ns: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
}

impl Bin {
    pub(crate) fn add(&mut self, other: &Bin) {
        self.operations += other.operations;
        self.by_operation.iter_mut().zip(other.by_operation).for_each(|(a, b)| *a += b);
        self.errors += other.errors;
        self.time_sum_ns += other.time_sum_ns;
        self.time_max_ns = self.time_max_ns.max(other.time_max_ns);
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
    }
}

/// How a run ended. Moments are of `CLOCK_MONOTONIC`, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As planned.
    Complete,
    /// At this moment the server refused connections or kept losing them.
    ServerGone(u64),
    /// At this moment the caller asked for it.
    Stopped(u64),
    /// At this moment the run was given up: the server had answered nothing for `give_up` while operations
    /// were outstanding.
    TimedOut(u64),
}

/// Response times and answers of one operation in one class.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The operation.
    pub operation: Operation,
    /// The class's name.
    pub class: String,
    /// Response times in ns of operations that were sent (closed loop) or due (open loop) in the
    /// measurement window.
    pub times: Histogram<u64>,
    /// Right answers that came in the measurement window.
    pub completed: u64,
}

/// What one thread used in the measurement window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThreadUse {
    /// The CPU that it was bound to.
    pub cpu: Option<usize>,
    /// Its CPU time, seconds.
    pub cpu_s: f64,
    /// The time between the two readings, seconds.
    pub wall_s: f64,
}

impl ThreadUse {
    /// The share of a CPU that it used; `None` for an empty window.
    pub fn busy(&self) -> Option<f64> {
        (self.wall_s > 0.0).then(|| self.cpu_s / self.wall_s)
    }
}

/// How far behind its schedule an open loop sent.
#[derive(Debug, Clone)]
pub struct Lateness {
    /// From due to sent, ns, whatever the reason.
    pub all: Histogram<u64>,
    /// The part of it that was the generator's own: from due, or from the moment a connection became
    /// free if that was later, to sent, ns.
    pub own: Histogram<u64>,
    /// Operations that were due in the measurement window and never sent, because no connection was
    /// free until the end.
    pub unsent: u64,
}

/// The results of a run.
///
/// *Response time* is from the moment an operation's batch was handed to the kernel (closed loop) or
/// the operation was due (open loop) to the moment the bytes that held the end of its answer were read;
/// with a depth above 1, operations of a batch share the first moment and those that were read at once
/// the second. *Throughput* is right answers that came in the measurement window over its length.
#[derive(Debug, Clone)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// The measurement window as far as it came, ns of `CLOCK_MONOTONIC`; empty (equal) when the run
    /// ended before.
    pub window_ns: (u64, u64),
    /// By operation and class; every operation with every class.
    pub cells: Vec<Cell>,
    /// Errors, of the whole run.
    pub errors: Errors,
    /// Gets in the window of keys that had been set and were gone (evicted, or never preloaded).
    pub evicted: u64,
    /// Operations sent or due in the window that came to no answer: connection lost, timed out, not
    /// answered when the run ended early, or never sent ([`Lateness::unsent`]).
    pub unanswered: u64,
    /// Bytes received in the window.
    pub bytes_in: u64,
    /// Bytes sent in the window.
    pub bytes_out: u64,
    /// When the first bin begins, ns of `CLOCK_MONOTONIC`: the start of the ramp-up.
    pub series_start_ns: u64,
    /// The width of a bin.
    pub bin: Duration,
    /// The series of the whole run, ramps included, up to where it came; the last bin may be cut short
    /// by the end.
    pub series: Vec<Bin>,
    /// Response times of the series' answers over its time.
    pub heat: Heat,
    /// What the generator's threads used.
    pub threads: Vec<ThreadUse>,
    /// How late an open loop sent; `None` for a closed loop.
    pub late: Option<Lateness>,
    /// What the throughput does over the bins of the measurement window.
    pub steady: Steady,
    /// What limited the throughput.
    pub limit: Limit,
    /// Connections opened again.
    pub reconnects: u64,
    /// Batches that took four times as long as usual (1 to 200 ms) while the kernel held readiness back
    /// until all of their answers were there. Either the server was slow, or the answers were shorter
    /// than foreseen (a key was gone, say), and their response times are too long by up to that.
    pub read_late: u64,
}

impl Report {
    /// The length of the measurement window, seconds.
    pub fn window_s(&self) -> f64 {
        (self.window_ns.1 - self.window_ns.0) as f64 / 1e9
    }

    /// Right answers in the window.
    pub fn completed(&self) -> u64 {
        self.cells.iter().map(|c| c.completed).sum()
    }

    /// Right answers of one operation in the window.
    pub fn completed_of(&self, operation: Operation) -> u64 {
        self.cells.iter().filter(|c| c.operation == operation).map(|c| c.completed).sum()
    }

    /// Right answers a second; `None` for an empty window.
    pub fn throughput(&self) -> Option<f64> {
        (self.window_s() > 0.0).then(|| self.completed() as f64 / self.window_s())
    }

    /// Hits among the gets of the window; `None` without gets.
    pub fn hit_ratio(&self) -> Option<f64> {
        let hits = self.completed_of(Operation::GetHit);
        let gets = hits + self.completed_of(Operation::GetMiss);
        (gets > 0).then(|| hits as f64 / gets as f64)
    }

    /// Response times, of all operations or one, all classes merged, ns.
    pub fn times(&self, operation: Option<Operation>) -> Histogram<u64> {
        let mut sum = crate::worker_stats::histogram();
        for cell in self.cells.iter().filter(|c| operation.is_none_or(|o| o == c.operation)) {
            sum += &cell.times;
        }
        sum
    }

    /// The `q` quantile (0 to 1) of the response times of all operations of the window, ns. Operations
    /// without an answer count as longer than any: `None` when the quantile lies among them, or there
    /// is nothing at all.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let times = self.times(None);
        let total = times.len() + self.unanswered;
        let rank = ((q.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1);
        (rank <= times.len())
            .then(|| times.value_at_quantile((rank as f64 / times.len() as f64).min(1.0)))
    }

    /// CPU time of the generator for an answer, microseconds; `None` without answers.
    pub fn cpu_us_per_operation(&self) -> Option<f64> {
        let n = self.completed();
        let cpu: f64 = self.threads.iter().map(|t| t.cpu_s).sum();
        (n > 0).then(|| cpu * 1e6 / n as f64)
    }

    /// The series in whole seconds from the start of the window: right answers in each.
    pub fn per_second(&self) -> Vec<u64> {
        let width = self.bin.as_nanos() as u64;
        let skip = (self.window_ns.0.saturating_sub(self.series_start_ns)).div_ceil(width.max(1));
        let many = (1_000_000_000 / width.max(1)).max(1) as usize;
        let seconds = (self.window_s() + 1e-9) as usize;
        let bins = self.series.get(skip as usize..).unwrap_or_default();
        bins.chunks(many)
            .take(seconds)
            .map(|second| second.iter().map(|b| b.operations).sum())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(times: &[u64], unanswered: u64) -> Report {
        let mut cell = Cell {
            operation: Operation::GetHit,
            class: "all".to_owned(),
            times: crate::worker_stats::histogram(),
            completed: times.len() as u64,
        };
        for time in times {
            cell.times.saturating_record(*time);
        }
        let missed = Cell { operation: Operation::GetMiss, completed: 1, ..cell.clone() };
        let bin = Duration::from_millis(100);
        let series: Vec<Bin> = (0..35).map(|i| Bin { operations: i, ..Bin::default() }).collect();
        Report {
            ended: Ended::Complete,
            window_ns: (5_500_000_000, 8_000_000_000),
            cells: vec![Cell { times: crate::worker_stats::histogram(), ..missed }, cell],
            errors: Errors::default(),
            evicted: 0,
            unanswered,
            bytes_in: 0,
            bytes_out: 0,
            series_start_ns: 5_000_000_000,
            bin,
            heat: Heat::new(series.len()),
            series,
            threads: vec![ThreadUse { cpu: None, cpu_s: 0.5, wall_s: 2.5 }],
            late: None,
            steady: assay_stats::warmup::steady_state(&[], assay_model::Better::Higher),
            limit: Limit {
                limiter: assay_model::LimitedBy::Unknown,
                reasons: vec![],
                generator_busy: None,
                server: None,
            },
            reconnects: 0,
            read_late: 0,
        }
    }

    #[test]
    fn what_has_no_answer_is_slower_than_anything() {
        let times: Vec<u64> = (1..=99).map(|t| t * 1000).collect();
        let close = |q: Option<u64>, want: u64| q.unwrap().abs_diff(want) <= want / 500;
        assert!(close(report(&times, 0).quantile(0.5), 50_000));
        assert!(close(report(&times, 1).quantile(0.99), 99_000));
        assert_eq!(report(&times, 1).quantile(0.995), None);
        assert!(close(report(&times, 99).quantile(0.5), 99_000));
        assert_eq!(report(&times, 100).quantile(0.5), None);
        assert_eq!(report(&[], 0).quantile(0.5), None);
    }

    #[test]
    fn shares_rates_and_seconds() {
        let r = report(&[1, 2, 3], 0);
        assert_eq!((r.completed(), r.hit_ratio()), (4, Some(0.75)));
        assert_eq!(r.throughput(), Some(1.6));
        assert_eq!(r.cpu_us_per_operation(), Some(125_000.0));
        // Two whole seconds of ten bins each, from the sixth bin on.
        assert_eq!(r.per_second(), [(5..15).sum::<u64>(), (15..25).sum()]);
    }

    #[test]
    fn numbers_and_lists_agree() {
        assert!(OPERATIONS.iter().enumerate().all(|(i, o)| *o as usize == i));
        assert!(ERROR_KINDS.iter().enumerate().all(|(i, (k, _))| *k as usize == i));
    }
}
