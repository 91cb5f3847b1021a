//! The server of a workload as a program to run. It is started, informed when its clients are done,
//! and its results are collected if it has any.

use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_cluster::{Link, Served};
use assay_model::WorkloadSpec;
use assay_workloads::capability::{ServerLaunch, ServerWorkload};
use assay_workloads::{
    CollectedResults, FinishedProgram, Launch, TrialContext, Workload, WorkloadError,
};

/// Time limit for a server to accept its first connection.
const ANSWERS: Duration = Duration::from_secs(20);

/// A workload that runs the server part of another workload.
pub(crate) struct ServerProgram<'a> {
    pub workload: &'a dyn Workload,
    /// The workload's capability to serve.
    pub serves: &'a dyn ServerWorkload,
    /// Settings of the server: address, parameters and its end.
    pub serving: ServerLaunch,
}

impl ServerProgram<'_> {
    /// Informs the collector when the server accepts connections, and the server when its clients
    /// are done; `over` ends the waiting.
    pub fn announce(&self, link: &Link, run_dir: &Path, over: &AtomicBool) {
        let ServerLaunch { address, params, each, done, .. } = &self.serving;
        let limit = done.as_ref().map_or(ANSWERS, |d| d.timeout);
        if !answers(address, limit, over) {
            return;
        }
        let (params, each) = (params.clone(), each.clone());
        if link.serves(Served { params, each, finishes: done.is_some() }).is_err() {
            return;
        }
        let Some(done) = done else { return };
        if let Some(since) = link.done(over) {
            // If the server does not get the file, it reaches its time limit and the record states
            // it.
            let path = run_dir.join(done.file);
            let _ = assay_system::state_file::write(&path, since.to_string().as_bytes());
        }
    }
}

impl Workload for ServerProgram<'_> {
    fn spec(&self) -> &WorkloadSpec {
        self.workload.spec()
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        if let Some(done) = &self.serving.done {
            // Remove the file of the previous trial.
            let _ = std::fs::remove_file(ctx.run_dir.join(done.file));
        }
        self.serves.launch_server(ctx, &self.serving)
    }

    fn collect(
        &self,
        ctx: &TrialContext<'_>,
        finished: &FinishedProgram<'_>,
    ) -> Result<CollectedResults, WorkloadError> {
        if self.serving.done.is_some() {
            return self.workload.collect(ctx, finished);
        }
        Ok(CollectedResults::default())
    }
}

/// Waits until a connection to `address` succeeds; `false` if the limit or `over` comes first.
fn answers(address: &str, limit: Duration, over: &AtomicBool) -> bool {
    let began = Instant::now();
    while !over.load(Ordering::Acquire) && began.elapsed() < limit {
        if TcpStream::connect(address).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}
