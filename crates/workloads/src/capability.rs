//! What a workload may offer beyond its core, a trait each. The lab asks for one with
//! [`Workload::offers`](crate::Workload::offers) and does without it where there is none.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use assay_model::{CurvePoint, Scalar};

use crate::span::Span;
use crate::{Launch, TrialContext, WorkloadError};

/// The capabilities of a workload; none by default.
#[derive(Clone, Copy, Default)]
pub struct Offers<'a> {
    /// It fetches or builds its program, which can be done before a run.
    pub builds: Option<&'a dyn Builds>,
    /// Part of a trial is the start of what runs its program, and that can be measured.
    pub calibrates: Option<&'a dyn Calibrates>,
    /// It has a model of its curves.
    pub chooses: Option<&'a dyn Chooses>,
    /// It leaves a result that a rule pack judges.
    pub judged: Option<Judged>,
    /// Its program reads files from the trial's storage.
    pub inputs: Option<&'a dyn Inputs>,
    /// Its server can be on a node of its own.
    pub serves: Option<&'a dyn Serves>,
    /// One program can run over all nodes of a trial.
    pub spans: Option<&'a dyn Spans>,
}

/// A program that is fetched or built once and kept in the cache.
pub trait Builds: Sync {
    /// Fetches and builds what a treatment of these parameters needs and the cache has not. The lab asks before
    /// it describes the system, so that no trial runs beside or right after a compiler. `say` hears a sentence
    /// before something that takes time.
    ///
    /// # Errors
    /// It could not be fetched or built; a trial of the treatment fails with the same error.
    fn build(
        &self,
        params: &BTreeMap<String, Scalar>,
        cache_dir: &Path,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), WorkloadError>;
}

/// What runs the program (an empty shell) can be started without it.
pub trait Calibrates: Sync {
    /// What to launch to see how much of a trial is that start. The lab runs it once in every trial, before
    /// the preparation and under the trial's controls, and hands its wall time back in
    /// [`Finished::empty_s`](crate::Finished::empty_s). It is shown beside the result and taken off nothing.
    /// `None`: this treatment has no such cost.
    fn empty_launch(&self, params: &BTreeMap<String, Scalar>) -> Option<Launch>;
}

/// A model that knows more of a curve than that its points have neighbours.
pub trait Chooses: Sync {
    /// Where a curve is best. `trials` are the `[x, value]` points of each trial. `None`: there is no model
    /// of this curve, and each point is judged with its neighbours.
    fn choose(&self, curve: &str, trials: &[Vec<[f64; 2]>]) -> Option<Choice>;
}

/// The places to know on a curve that a workload has a model for.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Where it is best, with what the model says of it.
    pub best: CurvePoint,
    /// The smallest x within 2 % of that.
    pub efficient: CurvePoint,
    /// How a value is judged, as the middle of a sentence.
    pub judged: &'static str,
}

/// A result among the artifacts of a trial, and the rule pack that judges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// The artifact's name.
    pub artifact: &'static str,
    /// The pack's id.
    pub pack: &'static str,
}

/// Files on the trial's storage. Only with these may that be one that holds nothing but what the program
/// reads (an image).
pub trait Inputs: Sync {
    /// Puts what the program reads into `dir`, after [`Workload::prepare`](crate::Workload::prepare). The
    /// folder lies on the trial's storage and is made cold then: what is in it is in no cache when the program
    /// starts, and may be read-only. The program finds it in `ASSAY_STORAGE`, or without a storage in its own
    /// folder.
    ///
    /// # Errors
    /// It could not be put there.
    fn place(&self, ctx: &TrialContext<'_>, dir: &Path) -> Result<(), WorkloadError>;
}

/// A server on one node, with clients on the others.
pub trait Serves: Sync {
    /// How to run the server for `clients` other nodes, which reach this one as `host`.
    ///
    /// # Errors
    /// The parameters do not go with a server on a node of its own, or something is missing.
    fn serve(
        &self,
        params: &BTreeMap<String, Scalar>,
        host: &str,
        clients: usize,
    ) -> Result<Serving, WorkloadError>;

    /// How to start that server, where it needs the trial's folder.
    ///
    /// # Errors
    /// The parameters cannot be turned into a command.
    fn launch_server(
        &self,
        _ctx: &TrialContext<'_>,
        serving: &Serving,
    ) -> Result<Launch, WorkloadError> {
        Ok(serving.launch.clone())
    }
}

/// How a workload's server is run on a node of its own.
#[derive(Debug, Clone)]
pub struct Serving {
    /// Its program.
    pub launch: Launch,
    /// Where it answers: a host and a port.
    pub address: String,
    /// Parameters that take the place of the treatment's on the clients.
    pub params: BTreeMap<String, Scalar>,
    /// More of them for each client; none: all are the same.
    pub each: Vec<BTreeMap<String, Scalar>>,
    /// The work that it has left when the clients are done; `None`: it is stopped then.
    pub done: Option<Done>,
}

/// How a server hears that its clients are done.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    /// A file in the run's folder that is there then. It holds when the first of them began (ns of this
    /// machine's `CLOCK_MONOTONIC`). The server ends by itself after that.
    pub file: &'static str,
    /// How long it may take until it answers.
    pub timeout: Duration,
}

/// One program over all nodes of a trial (ranks of MPI), instead of one on each.
pub trait Spans: Sync {
    /// Whether this treatment's program does.
    fn spans(&self, params: &BTreeMap<String, Scalar>) -> bool;

    /// What the first node starts; what it leaves is read by
    /// [`Workload::collect`](crate::Workload::collect).
    ///
    /// # Errors
    /// The parameters cannot be turned into a command.
    fn lead(&self, ctx: &TrialContext<'_>, span: &Span) -> Result<Launch, WorkloadError>;

    /// What every other node starts meanwhile: a watch of what the ranks do to it, which ends when
    /// asked and reports metrics of that node.
    ///
    /// # Errors
    /// The parameters cannot be turned into a command.
    fn follow(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError>;
}
