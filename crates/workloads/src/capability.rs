//! Optional capabilities of a workload, one trait each. The lab queries them with
//! [`Workload::offers`](crate::Workload::offers) and works without those that are missing.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use assay_model::{CurvePoint, Scalar};

use crate::driver::span::Span;
use crate::error::Result;
use crate::{Launch, TrialContext};

/// Capabilities of a workload; none by default.
#[derive(Clone, Copy, Default)]
pub struct Capabilities<'a> {
    /// The workload's program is fetched or built, which can be done before a run.
    pub builds: Option<&'a dyn Buildable>,
    /// A trial includes the start-up of a shell or similar, which can be measured separately.
    pub calibrates: Option<&'a dyn Calibratable>,
    /// The workload has a model of its curves.
    pub chooses: Option<&'a dyn CurveChooser>,
    /// The workload leaves a result that a rule pack judges.
    pub judged: Option<JudgedArtifact>,
    /// The workload's program reads files from the trial's storage.
    pub inputs: Option<&'a dyn Inputs>,
    /// The workload's server can run on a node of its own.
    pub serves: Option<&'a dyn ServerWorkload>,
    /// One program can run over all nodes of a trial.
    pub spans: Option<&'a dyn Spans>,
}

/// A program that is fetched or built once and kept in the cache.
pub trait Buildable: Sync {
    /// Fetches and builds whatever a treatment with these parameters needs and the cache lacks. The
    /// lab calls this before it describes the system, so that no trial runs during or right after a
    /// compilation. `say` gets a sentence before each step that takes time.
    ///
    /// # Errors
    /// Fails if something cannot be fetched or built; a trial of the treatment would fail with the
    /// same error.
    fn build(
        &self,
        params: &BTreeMap<String, Scalar>,
        cache_dir: &Path,
        say: &mut dyn FnMut(&str),
    ) -> Result<()>;
}

/// A program that is started by something else, such as a shell, which can be started without it.
pub trait Calibratable: Sync {
    /// Returns the command that measures this start-up alone, such as an empty shell. The lab runs
    /// it once in every trial, before the preparation and under the trial's controls, and passes
    /// its wall time in [`FinishedProgram::empty_s`](crate::FinishedProgram::empty_s). The time is
    /// shown next to the result and never subtracted. `None`: this treatment has no such cost.
    fn empty_launch(&self, params: &BTreeMap<String, Scalar>) -> Option<Launch>;
}

/// A model of a curve that uses more than the neighbours of a point.
pub trait CurveChooser: Sync {
    /// Returns the best place on a curve. `trials` are the `[x, value]` points of each trial.
    /// `None`: there is no model of this curve, and each point is judged with its neighbours.
    fn choose(&self, curve: &str, trials: &[Vec<[f64; 2]>]) -> Option<NotablePoints>;
}

/// The notable places on a curve that a workload has a model for.
#[derive(Debug, Clone, PartialEq)]
pub struct NotablePoints {
    /// The best point, with the model's prediction.
    pub best: CurvePoint,
    /// The point with the smallest x whose value is within 2 % of the best.
    pub efficient: CurvePoint,
    /// Basis of the judgement, as the middle of a sentence.
    pub judged: &'static str,
}

/// A result among the artifacts of a trial, and the rule pack that judges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedArtifact {
    /// Name of the artifact.
    pub artifact: &'static str,
    /// Id of the rule pack.
    pub pack: &'static str,
}

/// Input files on the trial's storage. Only workloads with this capability may run on a storage
/// that holds nothing but the input (an image).
pub trait Inputs: Sync {
    /// Puts the program's input into `dir`, after [`Workload::prepare`](crate::Workload::prepare).
    /// The folder is on the trial's storage, which is then made cold: nothing in it is in a cache
    /// when the program starts. It may be read-only by then. The program finds it in
    /// `ASSAY_STORAGE`, or without a storage in its own folder.
    ///
    /// # Errors
    /// Fails if the files cannot be written.
    fn place(&self, ctx: &TrialContext<'_>, dir: &Path) -> Result<()>;
}

/// A server on one node, with clients on the others.
pub trait ServerWorkload: Sync {
    /// Returns the command and settings of a server for `clients` other nodes, which reach this
    /// node as `host`.
    ///
    /// # Errors
    /// Fails if the parameters do not allow a server on a node of its own, or something is missing.
    fn serve(
        &self,
        params: &BTreeMap<String, Scalar>,
        host: &str,
        clients: usize,
    ) -> Result<ServerLaunch>;

    /// Returns the command that starts the server, for workloads where it depends on the trial's
    /// folder.
    ///
    /// # Errors
    /// Fails if the parameters cannot be turned into a command.
    fn launch_server(&self, _ctx: &TrialContext<'_>, serving: &ServerLaunch) -> Result<Launch> {
        Ok(serving.launch.clone())
    }
}

/// A workload's server on a node of its own.
#[derive(Debug, Clone)]
pub struct ServerLaunch {
    /// Command that starts the server.
    pub launch: Launch,
    /// Address of the server: a host and a port.
    pub address: String,
    /// Parameters that replace the treatment's on all clients.
    pub params: BTreeMap<String, Scalar>,
    /// Additional parameters for each client; if empty, all clients have the same.
    pub each: Vec<BTreeMap<String, Scalar>>,
    /// Work that remains for the server when the clients are done; `None`: it is stopped then.
    pub done: Option<DoneSignal>,
}

/// Signal by which a server learns that its clients are done.
#[derive(Debug, Clone, Copy)]
pub struct DoneSignal {
    /// File in the run's folder that is created when all clients are done. It contains the time at
    /// which the first of them began (ns of this machine's `CLOCK_MONOTONIC`). The server then
    /// finishes and exits.
    pub file: &'static str,
    /// Time limit until the server answers.
    pub timeout: Duration,
}

/// One program over all nodes of a trial (MPI ranks), instead of one on each.
pub trait Spans: Sync {
    /// Returns true if this treatment's program runs over all nodes.
    fn spans(&self, params: &BTreeMap<String, Scalar>) -> bool;

    /// Returns the command that the first node starts;
    /// [`Workload::collect`](crate::Workload::collect) reads its results.
    ///
    /// # Errors
    /// Fails if the parameters cannot be turned into a command.
    fn lead(&self, ctx: &TrialContext<'_>, span: &Span) -> Result<Launch>;

    /// Returns the command that every other node starts meanwhile: a watcher that reports the load
    /// which the ranks put on that node as metrics, and ends when asked.
    ///
    /// # Errors
    /// Fails if the parameters cannot be turned into a command.
    fn follow(&self, ctx: &TrialContext<'_>) -> Result<Launch>;
}
