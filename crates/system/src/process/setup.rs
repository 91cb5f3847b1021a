//! Settings that apply to the measured program instead of the machine.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::process::container::engine::ContainerRequest;

/// A scheduling class, with its static priority if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Sched {
    /// The kernel's default, time-shared.
    Other,
    /// Time-shared, treated as CPU-bound and not interactive.
    Batch,
    /// Runs only when no other task wants to run.
    Idle,
    /// Real time, first in first out: runs until it blocks. Priority 1 to 99.
    Fifo(u8),
    /// Real time, round robin among tasks of equal priority. Priority 1 to 99.
    Rr(u8),
}

impl fmt::Display for Sched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sched::Other => f.write_str("other"),
            Sched::Batch => f.write_str("batch"),
            Sched::Idle => f.write_str("idle"),
            Sched::Fifo(priority) => write!(f, "fifo:{priority}"),
            Sched::Rr(priority) => write!(f, "rr:{priority}"),
        }
    }
}

/// A text that is not a scheduling class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a scheduling class")]
pub struct SchedError(String);

impl FromStr for Sched {
    type Err = SchedError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let priority = |digits: &str| {
            digits
                .parse::<u8>()
                .ok()
                .filter(|p| (1..=99).contains(p) && !digits.starts_with('+'))
                .ok_or_else(|| SchedError(text.to_owned()))
        };
        match text.split_once(':') {
            None => match text {
                "other" => Ok(Sched::Other),
                "batch" => Ok(Sched::Batch),
                "idle" => Ok(Sched::Idle),
                _ => Err(SchedError(text.to_owned())),
            },
            Some(("fifo", p)) => priority(p).map(Sched::Fifo),
            Some(("rr", p)) => priority(p).map(Sched::Rr),
            Some(_) => Err(SchedError(text.to_owned())),
        }
    }
}

/// NUMA nodes from which memory is allocated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NumaPolicy {
    /// Page by page from each of these nodes in turn.
    Interleave(Vec<usize>),
    /// From these nodes only.
    Bind(Vec<usize>),
    /// From this node while it has free memory, else from others.
    Preferred(usize),
}

/// Settings of the program: environment variables are set when it is started; [`crate::enter`]
/// applies the rest to the thread that starts it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessSetup {
    /// Environment variables on top of the inherited ones.
    pub env: Vec<(String, String)>,
    /// The CPUs that the program may run on.
    pub cpus: Option<Vec<usize>>,
    pub sched: Option<Sched>,
    /// Nice value, -20 to 19.
    pub nice: Option<i32>,
    pub numa: Option<NumaPolicy>,
    /// True if the address space is not randomized.
    pub no_aslr: bool,
    /// True if transparent huge pages are disabled for the program.
    pub no_thp: bool,
    /// The pages for the program's memory, as a level of the control `pages`.
    pub pages: Option<String>,
    /// Folders of control groups that the program joins before it starts.
    pub groups: Vec<PathBuf>,
    /// The container in which the program runs; `None`: in none.
    pub container: Option<ContainerRequest>,
    /// An existing folder for the program's files, if a control determines it.
    pub storage: Option<PathBuf>,
    /// A separate folder for the program's input, if there is one; it is read-only after
    /// [`crate::AppliedSettings::make_cold`].
    pub inputs: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_read_back() {
        for sched in [Sched::Other, Sched::Batch, Sched::Idle, Sched::Fifo(1), Sched::Rr(99)] {
            assert_eq!(sched.to_string().parse(), Ok(sched));
        }
        for bad in ["", "fifo", "fifo:0", "fifo:100", "rr:+5", "rr:-1", "other:1", "deadline"] {
            assert!(bad.parse::<Sched>().is_err(), "{bad}");
        }
    }
}
