//! Results of a run.

use std::time::Duration;

use assay_stats::curves::warmup::Steady;
use hdrhistogram::Histogram;

use crate::latency::heat::Heat;
use crate::latency::limiter::Limit;

/// Result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A get that returned the correct value.
    GetHit,
    /// A get whose key was not found.
    GetMiss,
    /// A set that was stored.
    Set,
    /// A delete, of a key that existed or not.
    Delete,
    /// An increment that returned the next number.
    Increment,
    /// A multi-get whose values were all correct, or missing.
    MultiGet,
}

/// All operations, in the order of their numbers.
pub const OPERATIONS: [Operation; 6] = [
    Operation::GetHit,
    Operation::GetMiss,
    Operation::Set,
    Operation::Delete,
    Operation::Increment,
    Operation::MultiGet,
];

assay_model::names! {
    /// Returns the operation's name in reports.
    pub Operation::name: GetHit = "get-hit", GetMiss = "get-miss", Set = "set", Delete = "delete",
        Increment = "increment", MultiGet = "multi-get"
}

/// Kinds of errors in responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A value whose length differs from the one that was set.
    WrongLength,
    /// A value whose bytes differ from those that were set; see [`crate::send::content`].
    WrongContent,
    /// A response that names another key than requested.
    WrongKey,
    /// A value for a key that was never set.
    UnexpectedHit,
    /// A set that was rejected without an error.
    NotStored,
    /// `SERVER_ERROR`, its equivalent in the binary protocol, or an error of RESP without a kind of
    /// its own.
    ServerError,
    /// `ERROR` or `CLIENT_ERROR`, or their equivalents: the server did not understand the request.
    ClientError,
    /// `-OOM`: the server has no memory for the value.
    OutOfMemory,
    /// `-LOADING`, `-BUSY`: the server does not serve requests now.
    NotReady,
    /// `-MOVED`, `-ASK`, `-CLUSTERDOWN`: the key belongs to another server of a cluster.
    Moved,
    /// A number that is not the next one of a counter, or no number of deleted keys.
    WrongNumber,
    /// Bytes that are no response, or a response to no request; the connection was reopened.
    Garbled,
    /// The connection was lost before the response.
    ConnectionLost,
    /// No response within `op_timeout`; the connection was reopened.
    TimedOut,
}

/// All kinds with their names in reports, in the order of their numbers.
pub const ERROR_KINDS: [(ErrorKind, &str); 14] = [
    (ErrorKind::WrongLength, "wrong length"),
    (ErrorKind::WrongContent, "wrong content"),
    (ErrorKind::WrongKey, "wrong key"),
    (ErrorKind::UnexpectedHit, "a value for a key that was never set"),
    (ErrorKind::NotStored, "not stored"),
    (ErrorKind::ServerError, "server error"),
    (ErrorKind::ClientError, "not understood by the server"),
    (ErrorKind::OutOfMemory, "out of memory"),
    (ErrorKind::NotReady, "not ready"),
    (ErrorKind::Moved, "moved to another server"),
    (ErrorKind::WrongNumber, "wrong number"),
    (ErrorKind::Garbled, "not an answer"),
    (ErrorKind::ConnectionLost, "connection lost"),
    (ErrorKind::TimedOut, "timed out"),
];

impl ErrorKind {
    /// True if a response arrived and was wrong or an error; a missing response is not.
    pub fn is_wrong_answer(self) -> bool {
        !matches!(self, ErrorKind::TimedOut | ErrorKind::ConnectionLost)
    }

    /// True if the server refused the operation with an error message.
    pub fn is_refusal(self) -> bool {
        use ErrorKind::{ClientError, Moved, NotReady, NotStored, OutOfMemory, ServerError};
        matches!(self, NotStored | ServerError | ClientError | OutOfMemory | NotReady | Moved)
    }

    /// Returns the kind's name in reports.
    pub fn name(self) -> &'static str {
        ERROR_KINDS[self as usize].1
    }
}

/// Errors of a whole run, including its ramps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Errors {
    /// Number of errors of each kind, in the order of [`ERROR_KINDS`].
    pub counts: [u64; ERROR_KINDS.len()],
    /// Messages of the first few errors of each kind.
    pub texts: Vec<(ErrorKind, String)>,
}

impl Errors {
    /// Returns the number of errors of one kind.
    pub fn count(&self, kind: ErrorKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Returns the number of all errors.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of wrong responses.
    pub fn wrong(&self) -> u64 {
        self.kinds().filter(|(kind, _)| kind.is_wrong_answer()).map(|(_, n)| n).sum()
    }

    /// Returns the number of operations that the server refused.
    pub fn refused(&self) -> u64 {
        self.kinds().filter(|(kind, _)| kind.is_refusal()).map(|(_, n)| n).sum()
    }

    /// Returns the number of missing responses.
    pub fn missing(&self) -> u64 {
        self.total() - self.wrong()
    }

    /// Describes the kinds of wrong responses and the first of them; `None` without wrong
    /// responses.
    pub fn wrong_words(&self) -> Option<String> {
        self.words_of(ErrorKind::is_wrong_answer)
    }

    /// Describes the kinds that are in `of`, and the first error of them; `None` without any.
    pub fn words_of(&self, of: fn(ErrorKind) -> bool) -> Option<String> {
        let wrong = self.kinds().filter(|(kind, _)| of(*kind));
        let kinds: Vec<String> = wrong.map(|(kind, n)| format!("{n} {}", kind.name())).collect();
        let first = self.texts.iter().find(|(kind, _)| of(*kind));
        let first = first.map_or("", |t| t.1.as_str());
        (!kinds.is_empty()).then(|| format!("{} (the first: {first})", kinds.join(", ")))
    }

    /// Iterates over the kinds that occurred, with their counts.
    pub fn kinds(&self) -> impl Iterator<Item = (ErrorKind, u64)> {
        ERROR_KINDS.into_iter().map(|(k, _)| (k, self.count(k))).filter(|(_, n)| *n > 0)
    }

    /// Adds the errors of another thread or run.
    pub fn add(&mut self, other: Errors) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.texts.extend(other.texts);
    }
}

/// One bin of the time series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bin {
    /// Correct responses that arrived in the bin.
    pub operations: u64,
    /// Correct responses by operation, in the order of [`OPERATIONS`].
    pub by_operation: [u64; OPERATIONS.len()],
    /// Keys of multi-gets that were found, and those that were not.
    pub parts: [u64; 2],
    /// Errors that were detected in the bin.
    pub errors: u64,
    /// Sum of the response times of its responses, ns.
    pub time_sum_ns: u64,
    /// Longest of these response times, ns.
    pub time_max_ns: u64,
    /// Bytes received in the bin.
    pub bytes_in: u64,
    /// Bytes sent in the bin.
    pub bytes_out: u64,
}

impl Bin {
    pub(crate) fn add(&mut self, other: &Bin) {
        self.operations += other.operations;
        self.by_operation.iter_mut().zip(other.by_operation).for_each(|(a, b)| *a += b);
        self.parts.iter_mut().zip(other.parts).for_each(|(a, b)| *a += b);
        self.errors += other.errors;
        self.time_sum_ns += other.time_sum_ns;
        self.time_max_ns = self.time_max_ns.max(other.time_max_ns);
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
    }
}

/// End of a run. Times are `CLOCK_MONOTONIC` in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadEnd {
    /// The run ended as planned.
    Complete,
    /// At this time the server refused connections or kept losing them.
    ServerGone(u64),
    /// At this time the caller stopped the run.
    Stopped(u64),
    /// At this time the run was given up: the server had sent no response for `give_up` while
    /// operations were outstanding.
    TimedOut(u64),
}

/// Response times and number of responses for one operation and size class.
#[derive(Debug, Clone)]
pub struct OperationResults {
    pub operation: Operation,
    /// Name of the size class.
    pub class: String,
    /// Response times in ns of operations that were sent (closed loop) or due (open loop) in the
    /// measurement window.
    pub times: Histogram<u64>,
    /// Correct responses that arrived in the measurement window.
    pub completed: u64,
}

/// CPU use of one thread in the measurement window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThreadUse {
    /// CPU that the thread was bound to.
    pub cpu: Option<usize>,
    /// CPU time of the thread in seconds.
    pub cpu_s: f64,
    /// Wall time between the two readings in seconds.
    pub wall_s: f64,
}

impl ThreadUse {
    /// Returns the share of a CPU that the thread used; `None` for an empty window.
    pub fn busy(&self) -> Option<f64> {
        (self.wall_s > 0.0).then(|| self.cpu_s / self.wall_s)
    }
}

/// Lateness of an open loop against its schedule.
#[derive(Debug, Clone)]
pub struct Lateness {
    /// Time from due to sent in ns, for any reason.
    pub all: Histogram<u64>,
    /// The generator's own part of the lateness in ns: from due, or from the moment a connection
    /// became free if that was later, to sent.
    pub own: Histogram<u64>,
    /// Operations that were due in the measurement window and never sent, because no connection
    /// became free.
    pub unsent: u64,
}

/// Results of a run.
///
/// *Response time* is the time from the moment at which an operation's batch was handed to the
/// kernel (closed loop) or at which the operation was due (open loop), to the read that returned
/// the end of its response. With a depth above 1, operations of a batch share the start time, and
/// responses that were read at once share the end time. *Throughput* is the number of correct
/// responses that arrived in the measurement window, divided by its length.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// Reason for the end of the run.
    pub ended: LoadEnd,
    /// The measurement window as far as it was reached, in ns of `CLOCK_MONOTONIC`; empty (equal
    /// values) if the run ended before it.
    pub window_ns: (u64, u64),
    /// Results for every combination of operation and class.
    pub cells: Vec<OperationResults>,
    /// Errors of the whole run.
    pub errors: Errors,
    /// Gets in the window for keys that had been set and were gone (evicted, or never preloaded).
    pub evicted: u64,
    /// Keys of the multi-gets in the window that were found, and those that were not.
    pub parts: [u64; 2],
    /// Operations sent or due in the window that got no response: connection lost, timed out, still
    /// outstanding when the run ended early, or never sent ([`Lateness::unsent`]).
    pub unanswered: u64,
    /// Bytes received in the window.
    pub bytes_in: u64,
    /// Bytes sent in the window.
    pub bytes_out: u64,
    /// Start of the first bin in ns of `CLOCK_MONOTONIC`: the start of the ramp-up.
    pub series_start_ns: u64,
    /// Width of a bin.
    pub bin: Duration,
    /// Time series of the whole run, including ramps, up to its end; the last bin may be cut short.
    pub series: Vec<Bin>,
    /// Heat map of the response times over the series.
    pub heat: Heat,
    /// CPU use of the generator's threads.
    pub threads: Vec<ThreadUse>,
    /// Lateness of an open loop; `None` for a closed loop.
    pub late: Option<Lateness>,
    /// Steady-state analysis of the throughput over the bins of the measurement window.
    pub steady: Steady,
    /// Limit of the throughput.
    pub limit: Limit,
    /// Number of connections that were reopened.
    pub reconnects: u64,
    /// Batches that took four times as long as usual (1 to 200 ms) while the kernel held back
    /// readiness until all of their responses had arrived. Either the server was slow, or the
    /// responses were shorter than predicted (a key was gone, say), and their response times are
    /// too long by up to that time.
    pub read_late: u64,
}

impl LoadReport {
    /// Returns the length of the measurement window in seconds.
    pub fn window_s(&self) -> f64 {
        (self.window_ns.1 - self.window_ns.0) as f64 / 1e9
    }

    /// Returns the number of correct responses in the window.
    pub fn completed(&self) -> u64 {
        self.cells.iter().map(|c| c.completed).sum()
    }

    /// Returns the number of correct responses of one operation in the window.
    pub fn completed_of(&self, operation: Operation) -> u64 {
        self.cells.iter().filter(|c| c.operation == operation).map(|c| c.completed).sum()
    }

    /// Returns the correct responses per second; `None` for an empty window.
    pub fn throughput(&self) -> Option<f64> {
        (self.window_s() > 0.0).then(|| self.completed() as f64 / self.window_s())
    }

    /// Returns the share of hits among the gets of the window, those of multi-gets included; `None`
    /// without gets.
    pub fn hit_ratio(&self) -> Option<f64> {
        let hits = self.completed_of(Operation::GetHit) + self.parts[0];
        let gets = hits + self.completed_of(Operation::GetMiss) + self.parts[1];
        (gets > 0).then(|| hits as f64 / gets as f64)
    }

    /// Returns the response times in ns of one operation or of all, with all classes merged.
    pub fn times(&self, operation: Option<Operation>) -> Histogram<u64> {
        let mut sum = crate::latency::worker_stats::histogram();
        for cell in self.cells.iter().filter(|c| operation.is_none_or(|o| o == c.operation)) {
            sum += &cell.times;
        }
        sum
    }

    /// Returns the `q` quantile (0 to 1) of the response times of all operations of the window, in
    /// ns. Operations without a response count as slower than any other: `None` if the quantile
    /// falls among them, or if there are no operations.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let times = self.times(None);
        let total = times.len() + self.unanswered;
        let rank = ((q.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1);
        (rank <= times.len())
            .then(|| times.value_at_quantile((rank as f64 / times.len() as f64).min(1.0)))
    }

    /// Returns the generator's CPU time per response in microseconds; `None` without responses.
    pub fn cpu_us_per_operation(&self) -> Option<f64> {
        let n = self.completed();
        let cpu: f64 = self.threads.iter().map(|t| t.cpu_s).sum();
        (n > 0).then(|| cpu * 1e6 / n as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(times: &[u64], unanswered: u64) -> LoadReport {
        let mut cell = OperationResults {
            operation: Operation::GetHit,
            class: "all".to_owned(),
            times: crate::latency::worker_stats::histogram(),
            completed: times.len() as u64,
        };
        for time in times {
            cell.times.saturating_record(*time);
        }
        let missed =
            OperationResults { operation: Operation::GetMiss, completed: 1, ..cell.clone() };
        let bin = Duration::from_millis(100);
        let series: Vec<Bin> = (0..35).map(|i| Bin { operations: i, ..Bin::default() }).collect();
        LoadReport {
            ended: LoadEnd::Complete,
            window_ns: (5_500_000_000, 8_000_000_000),
            cells: vec![
                OperationResults { times: crate::latency::worker_stats::histogram(), ..missed },
                cell,
            ],
            errors: Errors::default(),
            evicted: 0,
            parts: [0; 2],
            unanswered,
            bytes_in: 0,
            bytes_out: 0,
            series_start_ns: 5_000_000_000,
            bin,
            heat: Heat::new(series.len()),
            series,
            threads: vec![ThreadUse { cpu: None, cpu_s: 0.5, wall_s: 2.5 }],
            late: None,
            steady: assay_stats::curves::warmup::steady_state(&[], assay_model::Better::Higher),
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
    }

    #[test]
    fn numbers_and_lists_agree() {
        assert!(OPERATIONS.iter().enumerate().all(|(i, o)| *o as usize == i));
        assert!(ERROR_KINDS.iter().enumerate().all(|(i, (k, _))| *k as usize == i));
    }
}
