//! What was counted of a program's system calls, and sums of it by what tells calls apart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names::{Returns, returns};

/// The version of the file.
pub const VERSION: u32 = 1;
/// Buckets of times: the n-th holds calls of 2^n to 2^(n+1) ns, the first also those of 0, the last all longer.
pub const BUCKETS: usize = 40;

/// System calls of some programs during some time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Syscalls {
    /// The version of the format.
    pub version: u32,
    /// How they were counted, for a person.
    pub method: String,
    /// Whose numbers the names are of.
    pub architecture: String,
    /// How long was looked; `None`: not known.
    pub span_ns: Option<u64>,
    /// The calls that returned in that time.
    pub calls: Vec<Calls>,
    /// Their errors by name.
    pub errors: Vec<Errors>,
    /// What is missing.
    pub lost: Lost,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// Calls that agree in every dimension of the count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// The call.
    pub call: String,
    /// The name of the thread that made it (as it was when the call returned).
    pub program: String,
    /// The process; `None`: not counted by process.
    pub process: Option<u32>,
    /// What it was about.
    pub on: Subject,
    /// The numbers.
    #[serde(flatten)]
    pub amounts: Amounts,
}

/// What a call was about: the kind of its file descriptor, or what it asks of asynchronous I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// It takes no file descriptor (or not as its first argument).
    Nothing,
    /// A file or folder.
    File,
    /// A socket.
    Socket,
    /// A pipe.
    Pipe,
    /// A device: a terminal, `/dev/null`, a disk.
    Device,
    /// epoll, eventfd, timerfd and the like.
    Other,
    /// A descriptor under which nothing is open.
    NotOpen,
    /// Hands over asynchronous operations and waits for none.
    Submission,
    /// Hands over asynchronous operations and waits.
    SubmissionAndWait,
    /// Waits for asynchronous operations.
    CompletionWait,
}

impl Subject {
    /// All, in the probes' order.
    pub const ALL: [Subject; 10] = [
        Subject::Nothing,
        Subject::File,
        Subject::Socket,
        Subject::Pipe,
        Subject::Device,
        Subject::Other,
        Subject::NotOpen,
        Subject::Submission,
        Subject::SubmissionAndWait,
        Subject::CompletionWait,
    ];

    /// Its words.
    pub fn words(self) -> &'static str {
        match self {
            Subject::Nothing => "-",
            Subject::File => "file",
            Subject::Socket => "socket",
            Subject::Pipe => "pipe",
            Subject::Device => "device",
            Subject::Other => "other",
            Subject::NotOpen => "not open",
            Subject::Submission => "async submission",
            Subject::SubmissionAndWait => "async submission, wait",
            Subject::CompletionWait => "async wait",
        }
    }

    /// Whether it is about asynchronous I/O.
    pub fn is_asynchronous(self) -> bool {
        self >= Subject::Submission
    }
}

/// The numbers of some calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// How many.
    pub calls: u64,
    /// How many of them returned an error.
    pub errors: u64,
    /// Their time from entry to return, nanoseconds; of a call that began before the measured part, what was in it.
    pub ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// Bytes that they returned; `None`: they return no bytes.
    pub bytes: Option<u64>,
    /// Operations (asynchronous, or messages) that they returned; `None`: they return none.
    pub operations: Option<u64>,
    /// How many took 2^n to 2^(n+1) ns.
    pub times: Vec<u64>,
}

impl Amounts {
    /// What is returned goes where the call says it belongs.
    #[must_use]
    pub fn with_returned(mut self, call: &str, amount: u64) -> Self {
        match returns(call) {
            Returns::Bytes => self.bytes = Some(amount),
            Returns::Operations => self.operations = Some(amount),
            Returns::Status => {}
        }
        self
    }

    /// Adds others.
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

    /// A quantile of the time of a call, by the histogram: right to within its bucket, so to a factor of two.
    /// `None`: no call, or fewer than ten beyond the quantile on its shorter side.
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

/// Errors of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// The call.
    pub call: String,
    /// The error's name.
    pub error: String,
    /// Who made the call.
    pub program: String,
    /// The process; `None`: not counted by process.
    pub process: Option<u32>,
    /// How many.
    pub count: u64,
}

/// What could not be kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Calls that are missing for want of room.
    pub calls: u64,
    /// Their time.
    pub ns: u64,
    /// Errors that are counted without their name.
    pub errors: u64,
    /// Processes and threads that were not followed for want of room.
    pub tasks: u64,
    /// Times that the kernel did not run a probe, because the same was running there.
    pub missed: u64,
}

/// What tells calls apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// The call.
    Call,
    /// The program.
    Program,
    /// The process.
    Process,
    /// The kind of the file descriptor.
    Kind,
}

/// Calls of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped {
    /// What they have in common, in the order of the dimensions.
    pub key: Vec<String>,
    /// The numbers.
    pub amounts: Amounts,
}

impl Syscalls {
    /// All together.
    pub fn total(&self) -> Amounts {
        let mut all = Amounts::default();
        self.calls.iter().for_each(|c| all.add(&c.amounts));
        all
    }

    /// Sums by these dimensions, most time first.
    pub fn by(&self, dimensions: &[Dimension]) -> Vec<Grouped> {
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
        let mut all: Vec<Grouped> =
            sums.into_iter().map(|(key, amounts)| Grouped { key, amounts }).collect();
        all.sort_by(|a, b| {
            (b.amounts.ns, b.amounts.calls, &a.key).cmp(&(a.amounts.ns, a.amounts.calls, &b.key))
        });
        all
    }

    /// Errors by call and name, the most frequent first.
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

    /// Several looks as one.
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

    fn calls(call: &str, program: &str, on: Subject, times: &[(usize, u64)]) -> Calls {
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
                calls("read", "a", Subject::File, &[(10, 1000)]),
                calls("read", "b", Subject::Socket, &[(20, 1000)]),
                calls("io_submit", "b", Subject::Submission, &[(3, 7)]),
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
