//! The workload `cae`: structural analyses as engineers run them, with files on the trial's
//! storage. CalculiX, whose threads share memory, computes linear and nonlinear statics and natural
//! frequencies. MUMPS solves large systems of equations over MPI, with its factors in memory or in
//! files; on several nodes, one MUMPS runs over all of them ([`SpanRun`]). Each answer is compared
//! with a closed form or a known solution. The lab starts a fresh process for every trial
//! ([`trial`]); the solver is its child. `docs/workloads/cae.md` has the definitions.

mod answer;
mod cases;
mod ccx;
mod deck;
mod devices;
mod mesh;
mod mumps;
mod over;
mod params;
mod run;
mod theory;
mod trial;
mod watch;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use assay_model::{Fact, Scalar, WorkloadSpec};
use serde::{Deserialize, Serialize};

pub use over::SpanRun;
pub use trial::run as trial;
pub use watch::{WATCH, run as watch};

use crate::capability::Spans;
use crate::declare::spec;
use crate::driver::program::{fact, facts as program_facts, facts_of, version_line};
use crate::driver::span::Span;
use crate::trial_spec::TrialSpec;
use crate::{Capabilities, Launch, TrialContext, Workload, WorkloadError};
use cases::Solver;
use params::AnalysisParams;

/// Trial spec with the program to run.
type Spec = TrialSpec<SolverProgram>;

/// The solver's program and its nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SolverProgram {
    /// Folder of the run, for files that are not results.
    run: PathBuf,
    /// Program that assay built; `None`: an installed program is used.
    built: Option<PathBuf>,
    /// Nodes that the program runs over; `None`: only this machine.
    over: Option<SpanRun>,
}

/// Name of the workload and of its trial program.
pub const NAME: &str = "cae";

spec! {
    /// Structural analyses with CalculiX (threads) and MUMPS (MPI, factors in files): measures the
    /// elapsed time on the trial's storage and compares the answers with closed forms.
    NAME, AnalysisParams::rows();
    /// Wall time from the start of the solver to its end.
    "elapsed", "s", Lower, Measured;
    /// CPU time of the solver's processes in user mode, which includes busy waiting in MPI.
    "user", "s", Lower, Measured, summed;
    /// CPU time of the solver's processes in the kernel.
    "system", "s", Lower, Measured, summed;
    /// Share of the elapsed time in which some task of this machine was stalled on I/O (pressure
    /// stall information, io some); missing if the kernel does not report it.
    "io_stall_share", "1", Lower, Measured;
    /// 1 - CPU time / (processes * elapsed), with at most as many processes as CPUs: the share of
    /// waiting of all kinds that used no CPU.
    "unused_share", "1", Lower, Derived;
    /// Bytes that all programs read from the devices below the trial's folder.
    "device_read", "B", Lower, Measured, counted, summed;
    /// Bytes that all programs wrote to these devices until the solver ended.
    "device_written", "B", Lower, Measured, counted, summed;
    /// Maximum space used by the solver's files, sampled every 50 ms.
    "scratch", "B", Lower, Measured;
    /// Number of MUMPS processes as reported by MUMPS; on several nodes, of all of them.
    "ranks", "1", Neither, Measured, counted;
    /// Size of the factors as reported by MUMPS.
    "factors", "B", Neither, Measured, counted;
    /// Elapsed time of MUMPS's factorization.
    "factor_time", "s", Lower, Measured;
    /// Elapsed time of all solves of MUMPS.
    "solve_time", "s", Lower, Measured;
    /// Relative deviation of the worst answer from the closed form or the known solution.
    "deviation", "1", Lower, Measured;
}

/// Measures structural analyses. Metrics: `elapsed` (primary), CPU times, shares of waiting, bytes
/// of the devices, scratch space, deviation of the answer from the closed form.
pub struct Cae;

impl Cae {
    fn trial_spec(ctx: &TrialContext<'_>, over: Option<SpanRun>) -> Result<Spec, WorkloadError> {
        let built = match AnalysisParams::from_map(ctx.params)?.case.solver() {
            Solver::Ccx => None,
            Solver::Mumps => Some(mumps::build(ctx.cache_dir)?),
        };
        Ok(Spec::new(ctx, SolverProgram { run: ctx.run_dir.to_owned(), built, over }))
    }
}

impl Workload for Cae {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = AnalysisParams::from_map(params)?;
        match params.case.solver() {
            Solver::Ccx => ccx::program(params.ccx.as_deref()).map(|_| ()),
            Solver::Mumps => mumps::check(),
        }
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        facts_of("workload.solver", AnalysisParams::from_map(params), |p| facts(&p))
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        let params = AnalysisParams::from_map(ctx.params)?;
        match params.case.solver() {
            Solver::Ccx => deck::write(&params, ctx.trial_dir),
            Solver::Mumps => mumps::build(ctx.cache_dir).map(|_| ()),
        }
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        Cae::trial_spec(ctx, None)?.launch(ctx, NAME)
    }

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { spans: Some(self), ..Capabilities::default() }
    }
}

impl Spans for Cae {
    fn spans(&self, params: &BTreeMap<String, Scalar>) -> bool {
        AnalysisParams::from_map(params).is_ok_and(|p| p.case.solver() == Solver::Mumps)
    }

    fn lead(&self, ctx: &TrialContext<'_>, span: &Span) -> Result<Launch, WorkloadError> {
        let over = SpanRun { span: span.clone(), exe: ctx.exe.to_owned() };
        Cae::trial_spec(ctx, Some(over))?.launch(ctx, NAME)
    }

    fn follow(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        Cae::trial_spec(ctx, None)?.launch(ctx, WATCH)
    }
}

/// Returns the facts about solver, MPI and BLAS, named `workload.*`.
fn facts(params: &AnalysisParams) -> BTreeMap<String, Fact> {
    let mut facts = match params.case.solver() {
        Solver::Ccx => program_facts("workload.solver", &ccx::program(params.ccx.as_deref()), "-v"),
        Solver::Mumps => {
            let mpirun = mumps::launcher().map_err(|e| e.to_string());
            let version_of = |path: PathBuf| version_line(&path, &["--version".into()]);
            let mpi = mpirun.and_then(|path| version_of(path).map_err(String::from));
            BTreeMap::from([
                ("workload.solver.version".into(), fact(version())),
                ("workload.mpi.version".into(), fact(mpi)),
            ])
        }
    };
    facts.insert("workload.blas".into(), fact(blas()));
    facts
}

/// Returns the version of MUMPS from its header.
fn version() -> Result<String, String> {
    let text =
        fs::read_to_string(mumps::HEADER).map_err(|e| format!("read {}: {e}", mumps::HEADER))?;
    let line = text.lines().find_map(|l| l.split_once("define MUMPS_VERSION"));
    line.map(|(_, version)| format!("MUMPS {}", version.trim().trim_matches('"')))
        .ok_or_else(|| format!("{} does not define a version", mumps::HEADER))
}

/// Returns the path of the installed BLAS library, which determines the speed of the factorization.
fn blas() -> Result<String, String> {
    let folders = fs::read_dir("/usr/lib").map_err(|e| format!("read /usr/lib: {e}"))?;
    let found = folders.flatten().map(|e| e.path().join("libblas.so.3")).find(|p| p.exists());
    let path = found.ok_or("there is no libblas.so.3 in the folders of /usr/lib")?;
    let real = path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(real.display().to_string())
}
