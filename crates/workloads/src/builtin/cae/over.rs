//! MUMPS over the nodes of a Slurm job: resources and placement of the ranks, and the check that
//! they formed one program.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::builtin::cae::mumps;
use crate::builtin::cae::run::SolverRun;
use crate::driver::span::{Span, placed, used};

/// Settings of a run over several nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanRun {
    /// The nodes of the job.
    pub span: Span,
    /// Path of assay, the same on every node.
    pub exe: PathBuf,
}

/// CPU time of a solver's processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolverCpuTime {
    /// CPU time in user mode in seconds; `None`: not every process reported it.
    pub user_s: Option<f64>,
    /// CPU time in the kernel in seconds; `None`: not every process reported it.
    pub system_s: Option<f64>,
    /// Number of CPUs that the processes can keep busy at the same time.
    pub at_once: f64,
}

impl SolverCpuTime {
    /// Returns the CPU time of processes on this machine that were waited for.
    pub fn here(ran: &SolverRun, processes: usize, cpus: usize) -> Self {
        SolverCpuTime {
            user_s: Some(ran.user_s),
            system_s: Some(ran.system_s),
            at_once: processes.min(cpus) as f64,
        }
    }

    /// Returns the share of the available CPU time that was not used.
    pub fn unused(&self, elapsed_s: f64) -> Option<f64> {
        let used = self.user_s? + self.system_s?;
        Some((1.0 - used / (self.at_once.max(1.0) * elapsed_s)).max(0.0))
    }
}

/// Maximum time for the helper of `srun` to notice its end.
const HELPER: Duration = Duration::from_secs(2);

/// Adopts the helper process that `srun` starts. The helper ends the step if `srun` is killed, and
/// notices a normal end a moment later. Must be called before `srun` is started.
pub fn adopt_helper() {
    // If this fails, the agent has to end the helper.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Waits until the helper has ended.
pub fn wait_for_helper() {
    let began = Instant::now();
    while began.elapsed() < HELPER {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(_) => return,
        }
    }
}

impl SpanRun {
    /// Returns the CPU time that the ranks reported, and a sentence on their placement.
    pub fn account(&self, printed: &str, each: usize) -> (SolverCpuTime, String) {
        let ranks = self.span.ranks(each);
        let all = used(printed, ranks);
        let sum = |of: fn(&crate::driver::span::RankCpuTime) -> f64| {
            all.as_ref().map(|a| a.iter().map(of).sum())
        };
        let busy = |used: &crate::driver::span::RankCpuTime| {
            (used.cpus as f64 / each.max(1) as f64).min(1.0)
        };
        let cpu = SolverCpuTime {
            user_s: sum(|u| u.user_s),
            system_s: sum(|u| u.system_s),
            at_once: all.as_ref().map_or(1.0, |a| a.iter().map(busy).sum()),
        };
        let on = all.as_deref().map_or_else(|| "not known where".to_owned(), placed);
        let sentence = format!(
            "{ranks} ranks ({on}), started by `{}`; {}",
            self.span.launcher(),
            mumps::mpi(printed)
        );
        (cpu, sentence)
    }

    /// Checks that the ranks formed one program: an MPI that does not support its launcher starts a
    /// separate program for each process.
    ///
    /// # Errors
    /// Fails if they did not.
    pub fn is_one(&self, printed: &str, each: usize) -> Result<(), Failure> {
        let ranks = self.span.ranks(each);
        let found = mumps::numbers(printed).get("processes").copied();
        if found == Some(ranks as f64) {
            return Ok(());
        }
        let found = found.map_or_else(|| "an unknown number".to_owned(), |n| format!("{n}"));
        Err(Failure::other(format!(
            "{ranks} ranks were started by `srun --mpi={}`, and MUMPS was one program of {found}: \
             this MPI does not understand it; see `srun --mpi=list` and set `where.mpi`",
            self.span.mpi
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_are_many_programs_are_found() {
        let span = Span {
            job: "1".into(),
            step: "s".into(),
            mpi: "pmix".into(),
            nodes: 2,
            tasks_per_node: 1,
        };
        let over = SpanRun { span, exe: "/bin/assay".into() };
        let printed = "processes 4\nmpi Open MPI v4.1.4, package\nassay-rank 0 n1 1 1.0 0.5\n\
                    assay-rank 1 n1 1 1.0 0.5\nassay-rank 2 n2 2 2.0 0.5\n\
                    assay-rank 3 n2 2 2.0 0.5\n";
        over.is_one(printed, 2).unwrap();
        let error = over.is_one(&printed.replace("processes 4", "processes 1"), 2).unwrap_err();
        assert!(error.to_string().contains("--mpi=pmix"), "{error}");
        let (cpu, sentence) = over.account(printed, 2);
        assert_eq!((cpu.user_s, cpu.system_s), (Some(6.0), Some(2.0)));
        // Two ranks share one CPU of n1 and have one each on n2.
        assert!((cpu.at_once - 3.0).abs() < 1e-9);
        assert!((cpu.unused(4.0).unwrap() - (1.0 - 8.0 / 12.0)).abs() < 1e-9);
        assert_eq!(
            sentence,
            "4 ranks (n1: 2, n2: 2), started by `srun --mpi=pmix`; Open MPI v4.1.4"
        );
        let (cpu, sentence) = over.account("noise", 2);
        assert_eq!((cpu.user_s, cpu.unused(1.0)), (None, None));
        assert!(sentence.contains("not known where"), "{sentence}");
    }
}
