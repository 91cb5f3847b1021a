//! The workload `cae`: structures are analysed as engineers do it, with files in the trial's storage: linear and
//! nonlinear statics and natural frequencies with CalculiX, whose threads share memory, and large systems of
//! equations with MUMPS over MPI, whose factors are in memory or in files; on nodes, one MUMPS goes over all of them ([`Over`]).
//! Each answer is compared with a closed form. The lab starts a fresh process for every trial ([`trial`]), which has the solver as its child.
//! `docs/cae.md` has the definitions.

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

pub use over::Over;
pub use trial::run as trial;
pub use watch::{WATCH, run as watch};

use crate::capability::Spans;
use crate::declare::spec;
use crate::program::{fact, facts as program_facts, version_line};
use crate::span::Span;
use crate::trial_spec::TrialSpec;
use crate::{Launch, Offers, TrialContext, Workload, WorkloadError};
use cases::Solver;
use params::Params;

/// The trial spec.
type Spec = TrialSpec<Program>;

/// What it runs, beside the treatment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Program {
    /// The folder of the run, for what is no result.
    run: PathBuf,
    /// The program that was built for it; `None`: it runs one of the machine's.
    built: Option<PathBuf>,
    /// Over which nodes it goes; `None`: this machine alone.
    over: Option<Over>,
}

/// Its name, and that of its program.
pub const NAME: &str = "cae";

spec! {
    /// Structures analysed with CalculiX (threads) and MUMPS (MPI, its factors in files): elapsed
    /// time on the trial's storage, answers compared with closed forms.
    NAME, Params::rows();
    /// From the start of the solver to its end.
    "elapsed", "s", Lower, Measured;
    /// CPU time of the solver's processes in user mode; waiting in MPI counts.
    "user", "s", Lower, Measured, summed;
    /// CPU time of the same in the kernel.
    "system", "s", Lower, Measured, summed;
    /// The share of the elapsed time in which some task of this machine waited for I/O (pressure
    /// stall information, io some); missing where the kernel does not report it.
    "io_stall_share", "1", Lower, Measured;
    /// 1 - CPU time / (processes * elapsed), with at most as many processes as CPUs: waiting of all
    /// kinds that used no CPU.
    "unused_share", "1", Lower, Derived;
    /// Bytes read from the devices below the trial's folder, whoever did it.
    "device_read", "B", Lower, Measured, counted, summed;
    /// Bytes written to them until the solver ended.
    "device_written", "B", Lower, Measured, counted, summed;
    /// The most space that the solver's files took, of looks every 50 ms.
    "scratch", "B", Lower, Measured;
    /// Processes of MUMPS, by its own count; on nodes, of all of them.
    "ranks", "1", Neither, Measured, counted;
    /// The factors, by MUMPS's own count.
    "factors", "B", Neither, Measured, counted;
    /// Elapsed time of the factorization of MUMPS.
    "factor_time", "s", Lower, Measured;
    /// Elapsed time of all solves of MUMPS.
    "solve_time", "s", Lower, Measured;
    /// How far the worst of the answers is from the closed form, or from the known solution, as a
    /// share.
    "deviation", "1", Lower, Measured;
}

/// Measures structural analyses. Metrics: `elapsed` (primary), CPU times, shares of waiting, bytes of the devices,
/// space in scratch, how far the answer is from the closed form.
pub struct Cae;

impl Cae {
    fn trial_spec(ctx: &TrialContext<'_>, over: Option<Over>) -> Result<Spec, WorkloadError> {
        let built = match Params::from_map(ctx.params)?.case.solver() {
            Solver::Ccx => None,
            Solver::Mumps => Some(mumps::build(ctx.cache_dir)?),
        };
        Ok(Spec::of(ctx, Program { run: ctx.run_dir.to_owned(), built, over }))
    }
}

impl Workload for Cae {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = Params::from_map(params)?;
        match params.case.solver() {
            Solver::Ccx => ccx::program(params.ccx.as_deref()).map(|_| ()),
            Solver::Mumps => mumps::check(),
        }
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        match Params::from_map(params) {
            Ok(params) => facts(&params),
            Err(e) => [("workload.solver".to_owned(), Fact::unknown(e.to_string()))].into(),
        }
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        let params = Params::from_map(ctx.params)?;
        match params.case.solver() {
            Solver::Ccx => deck::write(&params, ctx.trial_dir),
            Solver::Mumps => mumps::build(ctx.cache_dir).map(|_| ()),
        }
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        Cae::trial_spec(ctx, None)?.launch(ctx, NAME)
    }

    fn offers(&self) -> Offers<'_> {
        Offers { spans: Some(self), ..Offers::default() }
    }
}

impl Spans for Cae {
    fn spans(&self, params: &BTreeMap<String, Scalar>) -> bool {
        Params::from_map(params).is_ok_and(|p| p.case.solver() == Solver::Mumps)
    }

    fn lead(&self, ctx: &TrialContext<'_>, span: &Span) -> Result<Launch, WorkloadError> {
        let over = Over { span: span.clone(), exe: ctx.exe.to_owned() };
        Cae::trial_spec(ctx, Some(over))?.launch(ctx, NAME)
    }

    fn follow(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        Cae::trial_spec(ctx, None)?.launch(ctx, WATCH)
    }
}

/// The facts, below `workload.`.
fn facts(params: &Params) -> BTreeMap<String, Fact> {
    let mut facts = match params.case.solver() {
        Solver::Ccx => program_facts("workload.solver", &ccx::program(params.ccx.as_deref()), "-v"),
        Solver::Mumps => {
            let mpirun = mumps::launcher().map_err(|e| e.to_string());
            let mpi = mpirun.and_then(|path| version_line(&path, &["--version".into()]));
            BTreeMap::from([
                ("workload.solver.version".into(), fact(version())),
                ("workload.mpi.version".into(), fact(mpi)),
            ])
        }
    };
    facts.insert("workload.blas".into(), fact(blas()));
    facts
}

/// The version of MUMPS, from its header.
fn version() -> Result<String, String> {
    let text =
        fs::read_to_string(mumps::HEADER).map_err(|e| format!("read {}: {e}", mumps::HEADER))?;
    let line = text.lines().find_map(|l| l.split_once("define MUMPS_VERSION"));
    line.map(|(_, version)| format!("MUMPS {}", version.trim().trim_matches('"')))
        .ok_or_else(|| format!("{} names no version", mumps::HEADER))
}

/// The library of linear algebra that programs find, which decides how fast factors are made.
fn blas() -> Result<String, String> {
    let folders = fs::read_dir("/usr/lib").map_err(|e| format!("read /usr/lib: {e}"))?;
    let found = folders.flatten().map(|e| e.path().join("libblas.so.3")).find(|p| p.exists());
    let path = found.ok_or("there is no libblas.so.3 in the folders of /usr/lib")?;
    let real = path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(real.display().to_string())
}
