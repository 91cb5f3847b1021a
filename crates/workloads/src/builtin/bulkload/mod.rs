//! The workload `bulkload`: several sessions load flat files into a PostgreSQL cluster that belongs
//! to the trial, as a data warehouse is filled. The lab starts a fresh process for every trial
//! ([`trial`]); the server and the sessions are its children, so that none outlives the others.
//! `docs/workloads/bulkload.md` has the definitions.

mod about;
mod check;
mod client;
mod flat;
mod params;
mod postgres;
mod results;
mod server;
mod server_node;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::{Fact, Scalar, WorkloadSpec};

pub use server_node::{SERVER, run as server};
pub use trial::run as trial;

use crate::declare::spec;
use crate::driver::program::facts_of;
use crate::trial_spec::TrialSpec;
use crate::{Capabilities, Launch, TrialContext, Workload, WorkloadError};
use params::BulkloadParams;

/// Trial spec with the folder of the flat files.
type Spec = TrialSpec<PathBuf>;

/// Name of the workload and of its trial program.
pub const NAME: &str = "bulkload";

spec! {
    /// PostgreSQL loads flat files: sessions COPY them into a fact table of a cluster on the
    /// trial's storage; counts and sums are checked.
    NAME, BulkloadParams::rows();
    /// Rows of all files divided by the time from the first COPY to the last COMMIT.
    "throughput", "rows/s", Higher, Measured;
    /// Bytes of the flat files divided by the same time.
    "bytes", "B/s", Higher, Measured;
    /// Rows divided by the time from the first COPY to the end of a checkpoint after the last
    /// COMMIT, when all data is on the device.
    "written", "rows/s", Higher, Measured;
    /// Time from the first COPY to the last COMMIT.
    "load_time", "s", Lower, Measured;
    /// Time of the checkpoint after the last COMMIT.
    "checkpoint_time", "s", Lower, Measured;
    /// Size of the WAL that the load wrote.
    "wal", "B", Lower, Measured, counted;
    /// Size of the table with its indexes.
    "table", "B", Neither, Measured, counted;
    /// CPU time of the server's processes during the load; missing with `kill`.
    "server_cpu", "s", Lower, Measured;
    /// Time from the restart after the kill until the server accepts sessions; missing without
    /// `kill`.
    "recovery", "s", Lower, Measured;
}

/// Measures how fast PostgreSQL loads flat files. Metrics: `throughput` (primary), bytes, rows up
/// to the end of a checkpoint, sizes, CPU time of the server, recovery.
pub struct Bulkload;

impl Workload for Bulkload {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = BulkloadParams::from_map(params)?;
        postgres::Programs::find(params.bin.as_deref())?;
        postgres::User::find(&params.user).map(|_| ())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        facts_of("workload.server", BulkloadParams::from_map(params), |p| about::facts(&p))
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        let params = BulkloadParams::from_map(ctx.params)?;
        flat::make(&params, &flat::folder(&params, ctx.run_dir)).map(|_| ())
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let params = BulkloadParams::from_map(ctx.params)?;
        let mut spec = Spec::new(ctx, flat::folder(&params, ctx.run_dir));
        spec.params.insert("server.key".into(), "".into());
        let launch = spec.launch(ctx, NAME)?;
        Ok(server_node::with_key(launch, ctx.params))
    }

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { serves: Some(self), ..Capabilities::default() }
    }
}
