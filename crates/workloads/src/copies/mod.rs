//! N copies of a program at once: each on its own CPUs and in its own scheduling class, spoken to a line
//! at a time, meeting at barriers, and ended together. A copy reads commands from its standard input and
//! answers on standard output; standard error goes to a file. None outlives this process, however it ends.

mod error;
mod member;
mod nodes;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use assay_sut::Sched;

pub use error::CopiesError;
pub use member::Member;
pub use nodes::{Nodes, OnNode, on_nodes, places};

use member::Output;

/// How often a wait looks whether a signal came.
const LOOK: Duration = Duration::from_millis(200);

/// How one copy is started.
#[derive(Debug, Clone, Default)]
pub struct Copy {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Its working directory; this process's when absent.
    pub cwd: Option<PathBuf>,
    /// Its CPUs; `None`: those of this process.
    pub cpus: Option<Vec<usize>>,
    /// The NUMA node that its memory comes from; `None`: as this process's does.
    pub node: Option<usize>,
    /// Its scheduling class; `None`: that of this process.
    pub sched: Option<Sched>,
    /// Where its standard error, and what it prints beside the protocol, goes.
    pub log: PathBuf,
}

/// An answer of a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<T> {
    /// Its value.
    pub value: T,
    /// When the line arrived, ns of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
}

/// The copies. Dropping it kills what still runs.
#[derive(Debug)]
pub struct Crew {
    members: Vec<Member>,
    lines: Receiver<(usize, Output)>,
}

impl Crew {
    /// Starts them all. To be called on the thread that lives as long as they shall.
    ///
    /// # Errors
    /// One could not be started or placed; those that were are ended.
    pub fn start(copies: &[Copy]) -> Result<Self, CopiesError> {
        let (sender, lines) = channel();
        let mut crew = Crew { members: Vec::with_capacity(copies.len()), lines };
        for (index, copy) in copies.iter().enumerate() {
            crew.members.push(Member::start(index, copy, sender.clone())?);
        }
        Ok(crew)
    }

    /// The copies.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Says a line to one copy. A copy that is gone is found by the next [`Crew::meet`].
    pub fn tell(&mut self, index: usize, line: &str) {
        if let Some(member) = self.members.get_mut(index) {
            member.tell(line);
        }
    }

    /// A barrier: waits until every copy has printed a line that `take` accepts, and returns
    /// those in the order of the copies. Other lines go to the copy's log.
    ///
    /// # Errors
    /// A copy ended, or did not come within `limit`, or printed what `take` refuses; or `stop` was
    /// set.
    pub fn meet<T>(
        &mut self,
        what: &'static str,
        limit: Duration,
        stop: &AtomicBool,
        mut take: impl FnMut(usize, &str) -> Result<Option<T>, String>,
    ) -> Result<Vec<Answer<T>>, CopiesError> {
        let began = Instant::now();
        let mut answers: Vec<Option<Answer<T>>> = self.members.iter().map(|_| None).collect();
        while answers.iter().any(Option::is_none) {
            if stop.load(Ordering::Acquire) {
                return Err(CopiesError::Stopped);
            }
            let left = limit.saturating_sub(began.elapsed());
            match self.lines.recv_timeout(left.min(LOOK)) {
                Ok((index, Output::Line(line, t_ns))) => match take(index, &line) {
                    Ok(Some(value)) => answers[index] = Some(Answer { value, t_ns }),
                    Ok(None) => self.members[index].log(&line),
                    Err(detail) => {
                        return Err(CopiesError::Refused { index: index + 1, detail });
                    }
                },
                Ok((index, Output::End)) => return Err(self.members[index].ended(what)),
                // Every copy's reader holds a sender until its copy ends, which is read first.
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
