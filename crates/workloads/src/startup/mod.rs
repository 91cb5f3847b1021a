//! The workload `startup`: copies of a solver of linear programs begin together, and each reads one large
//! file before it computes ([`model`]). How long the CPUs wait for the storage is what is measured.
//! `docs/startup.md` has the definitions.

mod host;
mod model;
mod params;
mod place;
mod results;
mod series;
mod solver;
mod trial;

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{Fact, Scalar, WorkloadSpec};

pub use trial::run as trial;

use crate::capability::Inputs;
use crate::declare::spec;
use crate::trial_spec::TrialSpec;
use crate::{Launch, Offers, TrialContext, Workload, WorkloadError};
use params::Params;

/// Its name, and that of its program.
pub const NAME: &str = "startup";

spec! {
    /// Copies of a solver begin together, read a large model each, and compute: how long until the
    /// CPUs do nothing else.
    NAME, Params::rows();
    /// From the begin of the copies to that of the first window in which the trial's CPUs were in
    /// user mode for the share `user` of the time; missing when there was none.
    "time_to_user", "s", Lower, Measured;
    /// From the begin of the copies to the end of the last one.
    "elapsed", "s", Lower, Measured;
    /// From the begin of the copies to the last read from the devices; missing where the storage
    /// has none.
    "read_done", "s", Lower, Measured;
    /// Read from the devices below the storage, all together; missing likewise.
    "device_read", "B", Lower, Measured, counted, summed;
    /// The sizes of the files that the copies read, summed.
    "logical_read", "B", Neither, Derived, counted, summed;
    /// The share of the bytes that the copies read which did not come from a device: 1 -
    /// device_read / logical_read.
    "read_saved", "%", Higher, Derived, counted;
    /// device_read over read_done.
    "device_read_rate", "B/s", Neither, Derived;
    /// CPU time in the kernel of the whole host, interrupts among it.
    "host_system", "s", Lower, Measured, summed;
    /// CPU time of the copies in user mode.
    "user", "s", Lower, Measured, summed;
    /// CPU time of the copies in the kernel.
    "system", "s", Lower, Measured, summed;
    /// The largest resident set of a copy.
    "peak_memory", "B", Lower, Measured, counted;
    /// How far apart the copies began.
    "start_spread", "s", Neither, Measured;
}

/// Measures how long CPUs wait while many copies read their input. Metrics: `time_to_user` (primary),
/// `elapsed`, what was read of devices and of files, CPU time. Curves over time: `cpu_user` and others.
pub struct Startup;

impl Workload for Startup {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        Params::from_map(params)?.solver.find().map(|_| ())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        match Params::from_map(params) {
            Ok(params) => params.solver.facts(),
            Err(e) => [("workload.solver".to_owned(), Fact::unknown(e.to_string()))].into(),
        }
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        place::generate(&Params::from_map(ctx.params)?, ctx.run_dir)
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        Params::from_map(ctx.params)?;
        TrialSpec::of(ctx, ()).launch(ctx, NAME)
    }

    fn offers(&self) -> Offers<'_> {
        Offers { inputs: Some(self), ..Offers::default() }
    }
}

impl Inputs for Startup {
    fn place(&self, ctx: &TrialContext<'_>, dir: &Path) -> Result<(), WorkloadError> {
        place::place(&Params::from_map(ctx.params)?, ctx.run_dir, dir)
    }
}
