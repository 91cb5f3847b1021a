//! Concurrent copies of a program: each on its own CPUs and in its own scheduling class, controlled
//! by lines of text, synchronized at barriers, and ended together. A copy reads commands from
//! standard input and answers on standard output; standard error goes to a file. No copy outlives
//! this process, for whatever reason it ends.

mod error;
mod member;
mod nodes;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use assay_system::Sched;

pub use error::CopiesError;
pub use member::StartedCopy;
pub use nodes::{NodeCpus, Nodes, NodesError, on_nodes, places};

use member::Output;

/// Interval at which a waiting thread checks for the stop flag.
const LOOK: Duration = Duration::from_millis(200);

/// Command and placement of one copy.
#[derive(Debug, Clone, Default)]
pub struct Copy {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Working directory; `None`: that of this process.
    pub cwd: Option<PathBuf>,
    /// CPUs of the copy; `None`: those of this process.
    pub cpus: Option<Vec<usize>>,
    /// NUMA node of its memory; `None`: the policy of this process.
    pub node: Option<usize>,
    /// Scheduling class of the copy; `None`: that of this process.
    pub sched: Option<Sched>,
    /// File for standard error and for output that is not part of the protocol.
    pub log: PathBuf,
}

/// An answer of a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyAnswer<T> {
    pub value: T,
    /// Arrival time of the line, ns of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
}

/// The running copies. Dropping it kills those that still run.
#[derive(Debug)]
pub struct ProcessGroup {
    members: Vec<StartedCopy>,
    lines: Receiver<(usize, Output)>,
}

impl ProcessGroup {
    /// Starts all copies. The calling thread must live as long as they do, because they are killed
    /// when it ends.
    ///
    /// # Errors
    /// Fails if a copy cannot be started or placed; the others are ended.
    pub fn start(copies: &[Copy]) -> Result<Self, CopiesError> {
        let (sender, lines) = channel();
        let mut crew = ProcessGroup { members: Vec::with_capacity(copies.len()), lines };
        for (index, copy) in copies.iter().enumerate() {
            crew.members.push(StartedCopy::start(index, copy, sender.clone())?);
        }
        Ok(crew)
    }

    pub fn members(&self) -> &[StartedCopy] {
        &self.members
    }

    /// Sends a line to one copy. If that copy has ended, the next [`ProcessGroup::meet`] returns
    /// the error.
    pub fn send_line(&mut self, index: usize, line: &str) {
        if let Some(member) = self.members.get_mut(index) {
            member.send_line(line);
        }
    }

    /// Waits at a barrier until every copy has printed a line that `take` accepts, and returns the
    /// answers in the order of the copies. Other lines go to the copy's log.
    ///
    /// # Errors
    /// Fails if a copy ends, is late (`limit`), or prints a line that `take` rejects, or if `stop`
    /// is set.
    pub fn meet<T, E: std::fmt::Display>(
        &mut self,
        what: &'static str,
        limit: Duration,
        stop: &AtomicBool,
        mut take: impl FnMut(usize, &str) -> Result<Option<T>, E>,
    ) -> Result<Vec<CopyAnswer<T>>, CopiesError> {
        let began = Instant::now();
        let mut answers: Vec<Option<CopyAnswer<T>>> = self.members.iter().map(|_| None).collect();
        while answers.iter().any(Option::is_none) {
            if stop.load(Ordering::Acquire) {
                return Err(CopiesError::Stopped);
            }
            let left = limit.saturating_sub(began.elapsed());
            match self.lines.recv_timeout(left.min(LOOK)) {
                Ok((index, Output::Line(line, t_ns))) => match take(index, &line) {
                    Ok(Some(value)) => answers[index] = Some(CopyAnswer { value, t_ns }),
                    Ok(None) => self.members[index].log(&line),
                    Err(e) => {
                        let detail = e.to_string();
                        return Err(CopiesError::Refused { index: index + 1, detail });
                    }
                },
                Ok((index, Output::End)) => return Err(self.members[index].ended(what)),
                // Every copy's reader holds a sender until the copy ends, and that end is received
                // first.
                Err(RecvTimeoutError::Disconnected) => return Err(CopiesError::Stopped),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    let missing = answers.iter().enumerate().filter(|(_, a)| a.is_none());
                    let missing: Vec<usize> = missing.map(|(i, _)| i + 1).collect();
                    let stderr = missing.first().map(|i| self.members[i - 1].last_lines());
                    return Err(CopiesError::Late {
                        missing,
                        of: answers.len(),
                        what,
                        timeout: limit,
                        stderr: stderr.unwrap_or_default(),
                    });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests;
