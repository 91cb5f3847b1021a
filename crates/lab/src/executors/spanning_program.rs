//! Trials with one program that runs over all nodes. The first node starts it, and every node
//! prepares for its ranks and leaves a file with instructions for them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_cluster::{Link, slurm};
use assay_model::{Experiment, TrialOutcome, TrialRecord, WorkloadSpec};
use assay_system::{ProcessSetup, scratch};
use assay_workloads::capability::Spans;
use assay_workloads::driver::span::{Share, Span};
use assay_workloads::{
    Capabilities, CollectedResults, FinishedProgram, Launch, TrialContext, Workload, WorkloadError,
};

/// Folder of files in memory.
const MEMORY: &str = "/dev/shm";
/// Folder in the agent's folder in which ranks leave their process ids.
const RANKS: &str = "ranks";
/// Time limit for Slurm to end a step.
const END: Duration = Duration::from_secs(8);

/// Describes the step of a trial that spans the nodes; `None` if Slurm did not set the job's id.
pub(crate) fn span(experiment: &Experiment, number: u32, attempt: u32) -> Option<Span> {
    let job = std::env::var("SLURM_JOB_ID").ok()?;
    Some(Span {
        job,
        step: format!("assay-mpi-{number}-{attempt}"),
        mpi: experiment.place.mpi.clone(),
        nodes: experiment.place.nodes,
        tasks_per_node: experiment.place.tasks_per_node,
    })
}

/// Files prepared for the ranks on this node, removed when dropped.
pub(crate) struct RankFiles {
    folder: PathBuf,
    memory: Option<PathBuf>,
}

impl RankFiles {
    /// Prepares the folders; `folder` is the agent's own.
    pub fn new(folder: &Path) -> Self {
        let memory = Path::new(MEMORY);
        scratch::sweep(memory);
        // A node without such a folder shares data in files, as its MPI does by default.
        let memory = scratch::make(memory, scratch::OWNER).ok();
        // Remove what a killed trial left.
        let ranks = folder.join(RANKS);
        let _ = std::fs::remove_dir_all(&ranks);
        assay_system::look_at(Some(&ranks));
        RankFiles { folder: folder.to_owned(), memory }
    }

    /// Writes the instructions for the ranks.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(
        &self,
        span: &Span,
        ctx: &TrialContext<'_>,
        setup: &ProcessSetup,
    ) -> io::Result<()> {
        let share = Share {
            step: span.step.clone(),
            dir: ctx.trial_dir.to_owned(),
            cpus: ctx.cpus.to_vec(),
            setup: setup.clone(),
            ranks: self.folder.join(RANKS),
            memory: self.memory.clone(),
        };
        std::fs::create_dir_all(&share.ranks)?;
        share.write(&self.folder)
    }
}

impl Drop for RankFiles {
    fn drop(&mut self) {
        Share::remove(&self.folder);
        assay_system::look_at(None);
        let _ = std::fs::remove_dir_all(self.folder.join(RANKS));
        if let Some(memory) = &self.memory {
            let _ = std::fs::remove_dir_all(memory);
        }
    }
}

/// Ends the rest of a step whose program did not end on its own, and corrects the report of a node
/// that was asked to stop.
pub(crate) fn conclude(record: &mut TrialRecord, span: &Span, leads: bool, link: &Link) {
    // The ranks are not children of the process that this agent started, so its resources do not
    // cover them.
    record.resources = None;
    if leads {
        let by_itself = matches!(record.outcome, TrialOutcome::Completed | TrialOutcome::Invalid);
        if !by_itself && let Err(e) = slurm::end_step(&span.job, &span.step, END) {
            record.notes.push(format!("the ranks may still run: {e}"));
        }
    } else if record.outcome == TrialOutcome::Interrupted && link.stopped() {
        record.outcome = TrialOutcome::Completed;
        record.error.clear();
    } else if record.error.is_empty() {
        record.outcome = TrialOutcome::Failed;
        record.error = "its watch ended before the program did".into();
    }
}

/// A workload that runs its part of a program over several nodes.
pub(crate) struct Spanning<'a> {
    pub inner: &'a dyn Workload,
    /// The workload's capability to span nodes.
    pub spans: &'a dyn Spans,
    /// The step and its nodes.
    pub span: &'a Span,
    /// True if this node starts the program.
    pub leads: bool,
}

impl Workload for Spanning<'_> {
    fn spec(&self) -> &WorkloadSpec {
        self.inner.spec()
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        self.inner.prepare(ctx)
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let launch =
            if self.leads { self.spans.lead(ctx, self.span) } else { self.spans.follow(ctx) };
        launch.map(|launch| Launch { by_others: true, ..launch })
    }

    fn collect(
        &self,
        ctx: &TrialContext<'_>,
        finished: &FinishedProgram<'_>,
    ) -> Result<CollectedResults, WorkloadError> {
        self.inner.collect(ctx, finished)
    }
    fn offers(&self) -> Capabilities<'_> {
        Capabilities { inputs: self.inner.offers().inputs, ..Capabilities::default() }
    }
}
