//! Counts of a program's system calls, and sums of them by dimension.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::syscalls::names::{ReturnMeaning, returns};

/// Version of the file format.
pub const VERSION: u32 = 1;
/// Buckets of the latency histogram: bucket `n` holds calls of 2^n to 2^(n+1) ns, the first also
/// those of 0 ns, the last all that are longer.
pub const BUCKETS: usize = 40;

/// System calls of some programs over a time span, as stored in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Syscalls {
    /// Version of the file format.
    pub version: u32,
    /// Description of how the calls were counted, for a person.
    pub method: String,
    /// Architecture whose call numbers were translated to names.
    pub architecture: String,
    /// Length of the observation in nanoseconds; `None` if unknown.
    pub span_ns: Option<u64>,
    /// Calls that returned within the span.
    pub calls: Vec<Calls>,
    /// Errors of these calls, counted by name.
    pub errors: Vec<Errors>,
    pub lost: LostCalls,
    /// Remarks that a reader of the numbers needs.
    pub notes: Vec<String>,
}

/// Calls that agree in every dimension of the count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// Name of the call.
    pub call: String,
    /// Name of the calling thread when the call returned.
    pub program: String,
    /// Process id; `None` if calls were not counted by process.
    pub process: Option<u32>,
    /// Kind of object that the calls worked on.
    pub on: CallSubject,
    #[serde(flatten)]
    pub amounts: Amounts,
}

/// Object of a call: the kind of its file descriptor, or its role in asynchronous I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallSubject {
    /// The call takes no file descriptor, or not as its first argument.
    Nothing,
    /// A file or directory.
    File,
    Socket,
    Pipe,
    /// A device: a terminal, `/dev/null`, a disk.
    Device,
    /// epoll, eventfd, timerfd and the like.
    Other,
    /// A descriptor under which nothing is open.
    NotOpen,
    /// Submits asynchronous operations without waiting for any.
    Submission,
    /// Submits asynchronous operations and waits for completions.
    SubmissionAndWait,
    /// Only waits for completions of asynchronous operations.
    CompletionWait,
}

// In the numbering of the probes (`enum kind` in bpf/syscalls.h).
assay_model::names! {
    /// Returns the text shown in tables.
    pub CallSubject::words, ALL: Nothing = "-", File = "file", Socket = "socket", Pipe = "pipe",
        Device = "device", Other = "other", NotOpen = "not open", Submission = "async submission",
        SubmissionAndWait = "async submission, wait", CompletionWait = "async wait"
}

impl CallSubject {
    /// Returns true for calls that submit or wait for asynchronous I/O.
    pub fn is_asynchronous(self) -> bool {
        self >= CallSubject::Submission
    }
}

/// Counts and times of a group of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    pub calls: u64,
    /// Calls that returned an error.
    pub errors: u64,
    /// Total time from entry to return, nanoseconds. A call that began before the measurement
    /// window counts only with its part inside it.
    pub ns: u64,
    /// Duration of the longest call, nanoseconds.
    pub longest_ns: u64,
    /// Bytes that the calls returned; `None` for calls that return no byte count.
    pub bytes: Option<u64>,
    /// Operations (asynchronous, or messages) that the calls returned; `None` for calls that return
    /// no such count.
    pub operations: Option<u64>,
    /// Latency histogram: entry `n` counts the calls of 2^n to 2^(n+1) ns.
    pub times: Vec<u64>,
}

impl Amounts {
    /// Stores the sum of return values as bytes or operations, depending on what `call` returns;
    /// drops it for calls that return neither.
    #[must_use]
    pub fn with_returned(mut self, call: &str, amount: u64) -> Self {
        match returns(call) {
            ReturnMeaning::Bytes => self.bytes = Some(amount),
            ReturnMeaning::Operations => self.operations = Some(amount),
            ReturnMeaning::Status => {}
        }
        self
    }

    /// Adds the counts, times and histogram of `other`; keeps the longer maximum.
    pub fn add(&mut self, other: &Amounts) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.ns += other.ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
        };
        self.bytes = sum(self.bytes, other.bytes);
        self.operations = sum(self.operations, other.operations);
        self.times.resize(self.times.len().max(other.times.len()), 0);
        for (n, more) in self.times.iter_mut().zip(&other.times) {
            *n += more;
        }
    }

    /// Estimates quantile `q` of the call's latency from the histogram, interpolated within a
    /// bucket: at most a factor of two off. Returns `None` if fewer than ten calls lie beyond the
    /// quantile on its shorter side.
    pub fn quantile_ns(&self, q: f64) -> Option<f64> {
        let n: u64 = self.times.iter().sum();
        if (n as f64) * q.min(1.0 - q) < 10.0 {
            return None;
        }
        let rank = q * n as f64;
        let mut below = 0.0;
        for (at, count) in self.times.iter().enumerate().filter(|(_, count)| **count > 0) {
            let within = (rank - below) / *count as f64;
            if within <= 1.0 {
                let low = if at == 0 { 0.0 } else { (at as f64).exp2() };
                let high = ((at + 1) as f64).exp2().min(self.longest_ns as f64).max(low);
                return Some(low + (high - low) * within.max(0.0));
            }
            below += *count as f64;
        }
        None
    }
}

/// Errors that agree in call, name, program and process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// Name of the call.
    pub call: String,
    /// Name of the error, such as `EAGAIN`.
    pub error: String,
    /// Name of the calling thread.
    pub program: String,
    /// Process id; `None` if calls were not counted by process.
    pub process: Option<u32>,
    pub count: u64,
}

/// Losses of a count: what the probes could not record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostCalls {
    /// Calls that are missing because the table of groups was full.
    pub calls: u64,
    /// Time of the missing calls, nanoseconds.
    pub ns: u64,
    /// Errors that are counted in the calls but have no name, because the table of errors was full.
    pub errors: u64,
    /// Processes and threads that were not followed because the table of tasks was full.
    pub tasks: u64,
    /// Runs of a probe that the kernel skipped because the same probe was already running on that
    /// CPU.
    pub missed: u64,
}

/// Property by which calls can be grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    Call,
    /// Name of the calling thread.
    Program,
    Process,
    /// Kind of the file descriptor or of the asynchronous I/O: a [`CallSubject`].
    Kind,
}

assay_model::names! {
    /// Returns the title of the dimension's column.
    pub Dimension::title: Call = "call", Program = "program", Process = "process", Kind = "on"
}

/// Sum over the calls of one group.
#[derive(Debug, Clone, PartialEq)]
pub struct CallGroup {
    /// Common values of the group, in the order of the requested dimensions.
    pub key: Vec<String>,
    pub amounts: Amounts,
}

impl Syscalls {
    /// Returns the sum over all calls.
    pub fn total(&self) -> Amounts {
        let mut all = Amounts::default();
        self.calls.iter().for_each(|c| all.add(&c.amounts));
        all
    }

    /// Sums the calls by these dimensions; the group with the most time comes first.
    pub fn by(&self, dimensions: &[Dimension]) -> Vec<CallGroup> {
        let mut sums: BTreeMap<Vec<String>, Amounts> = BTreeMap::new();
        for c in &self.calls {
            let key = dimensions.iter().map(|d| match d {
                Dimension::Call => c.call.clone(),
                Dimension::Program => c.program.clone(),
                Dimension::Process => c.process.map_or_else(|| "-".to_owned(), |p| p.to_string()),
                Dimension::Kind => c.on.words().to_owned(),
            });
            sums.entry(key.collect()).or_default().add(&c.amounts);
        }
        let mut all: Vec<CallGroup> =
            sums.into_iter().map(|(key, amounts)| CallGroup { key, amounts }).collect();
        all.sort_by(|a, b| {
            (b.amounts.ns, b.amounts.calls, &a.key).cmp(&(a.amounts.ns, a.amounts.calls, &b.key))
        });
        all
    }

    /// Returns the number of errors by call and error name, the most frequent first.
    pub fn errors_by_call(&self) -> Vec<(String, String, u64)> {
        let mut sums: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for e in &self.errors {
            *sums.entry((&e.call, &e.error)).or_default() += e.count;
        }
        let mut all: Vec<_> = sums
            .into_iter()
            .map(|((call, error), n)| (call.to_owned(), error.to_owned(), n))
            .collect();
        all.sort_by(|a, b| (b.2, &a.0, &a.1).cmp(&(a.2, &b.0, &b.1)));
        all
    }

    /// Merges several observations: adds spans and losses, and appends calls and errors without
    /// grouping them.
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a Syscalls>) -> Syscalls {
        let mut merged = Syscalls::default();
        for one in all {
            if merged.version == 0 {
                merged = one.clone();
                continue;
            }
            merged.span_ns = merged.span_ns.zip(one.span_ns).map(|(a, b)| a + b);
            merged.calls.extend(one.calls.iter().cloned());
            merged.errors.extend(one.errors.iter().cloned());
            let (sum, more) = (&mut merged.lost, one.lost);
            sum.calls += more.calls;
            sum.ns += more.ns;
            sum.errors += more.errors;
            sum.tasks += more.tasks;
            sum.missed += more.missed;
            for note in &one.notes {
                if !merged.notes.contains(note) {
                    merged.notes.push(note.clone());
                }
            }
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(call: &str, program: &str, on: CallSubject, times: &[(usize, u64)]) -> Calls {
        let mut histogram = vec![0; BUCKETS];
        for (at, n) in times {
            histogram[*at] = *n;
        }
        let calls = times.iter().map(|t| t.1).sum();
        let ns = times.iter().map(|(at, n)| n << at).sum();
        let longest_ns = times.iter().map(|t| 1 << t.0).max().unwrap_or(0);
        let amounts =
            Amounts { calls, errors: 1, ns, longest_ns, times: histogram, ..Amounts::default() };
        Calls {
            call: call.into(),
            program: program.into(),
            process: None,
            on,
            amounts: amounts.with_returned(call, 10),
        }
    }

    fn seen() -> Syscalls {
        let error = |error: &str, count| Errors {
            call: "read".into(),
            error: error.into(),
            program: "a".into(),
            process: None,
            count,
        };
        Syscalls {
            version: VERSION,
            span_ns: Some(5),
            calls: vec![
                calls("read", "a", CallSubject::File, &[(10, 1000)]),
                calls("read", "b", CallSubject::Socket, &[(20, 1000)]),
                calls("io_submit", "b", CallSubject::Submission, &[(3, 7)]),
            ],
            errors: vec![error("EAGAIN", 2), error("EINTR", 1), error("EINTR", 3)],
            ..Syscalls::default()
        }
    }

    #[test]
    fn sums_by_dimension_are_those_of_the_whole() {
        let seen = seen();
        let total = seen.total();
        assert_eq!(
            (total.calls, total.errors, total.bytes, total.operations),
            (2007, 3, Some(20), Some(10))
        );
        for by in [Dimension::Call, Dimension::Program, Dimension::Process, Dimension::Kind] {
            let groups = seen.by(&[by]);
            assert_eq!(groups.iter().map(|g| g.amounts.calls).sum::<u64>(), 2007, "{by:?}");
            assert_eq!(groups.iter().map(|g| g.amounts.ns).sum::<u64>(), total.ns, "{by:?}");
            assert!(groups.is_sorted_by(|a, b| a.amounts.ns >= b.amounts.ns));
        }
        assert_eq!(seen.by(&[Dimension::Call, Dimension::Kind])[0].key, ["read", "socket"]);
        assert_eq!(seen.errors_by_call()[0], ("read".into(), "EINTR".into(), 4));
    }

    #[test]
    fn quantiles_are_in_their_bucket_and_asked_of_enough() {
        let of_file = &seen().calls[0].amounts;
        let p50 = of_file.quantile_ns(0.5).unwrap();
        assert!((1024.0..=2048.0).contains(&p50), "{p50}");
        assert_eq!(seen().calls[2].amounts.quantile_ns(0.5), None);
        let mut both = of_file.clone();
        both.add(&seen().calls[1].amounts);
        assert!(both.quantile_ns(0.99).unwrap() >= 1_048_576.0);
        assert_eq!(Amounts::default().quantile_ns(0.5), None);
    }

    #[test]
    fn it_is_read_as_it_was_written_and_merged() {
        let one = seen();
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Syscalls>(&text).unwrap(), one);
        let two = Syscalls::merged([&one, &one]);
        assert_eq!((two.total().calls, two.span_ns), (4014, Some(10)));
    }
}
