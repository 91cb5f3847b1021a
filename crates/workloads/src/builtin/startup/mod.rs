//! The workload `startup`: copies of a solver of linear programs start at the same time, and each
//! reads one large file before it computes ([`model`]). It measures the time for which the CPUs
//! wait for the storage. `docs/workloads/startup.md` has the definitions.

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
use crate::driver::program::facts_of;
use crate::trial_spec::TrialSpec;
use crate::{Capabilities, Launch, TrialContext, Workload, WorkloadError};
use params::StartupParams;

/// Name of the workload and of its trial program.
pub const NAME: &str = "startup";

spec! {
    /// Copies of a solver start at the same time, read a large model each, and compute: measures
    /// the time until the CPUs do nothing but compute.
    NAME, StartupParams::rows();
    /// Time from the start of the copies to the start of the first window in which the trial's CPUs
    /// were in user mode for the share `user` of the time; missing if there was none.
    "time_to_user", "s", Lower, Measured;
    /// Time from the start of the copies to the end of the last one.
    "elapsed", "s", Lower, Measured;
    /// Time from the start of the copies to the last read from the devices; missing if the storage
    /// has no devices.
    "read_done", "s", Lower, Measured;
    /// Bytes read from all devices below the storage; missing if the storage has no devices.
    "device_read", "B", Lower, Measured, counted, summed;
    /// Sum of the sizes of the files that the copies read.
    "logical_read", "B", Neither, Derived, counted, summed;
    /// Share of the bytes read by the copies that did not come from a device: 1 - device_read /
    /// logical_read.
    "read_saved", "%", Higher, Derived, counted;
    /// Quotient of device_read and read_done.
    "device_read_rate", "B/s", Neither, Derived;
    /// CPU time of the whole host in the kernel, interrupts included.
    "host_system", "s", Lower, Measured, summed;
    /// CPU time of the copies in user mode.
    "user", "s", Lower, Measured, summed;
    /// CPU time of the copies in the kernel.
    "system", "s", Lower, Measured, summed;
    /// Largest maximum resident set size of a copy.
    "peak_memory", "B", Lower, Measured, counted;
    /// Time between the start of the first and of the last copy.
    "start_spread", "s", Neither, Measured;
}

/// Measures the time for which CPUs wait while many copies read their input. Metrics:
/// `time_to_user` (primary), `elapsed`, bytes read from devices and files, CPU time. Curves over
/// time: `cpu_user` and others.
pub struct Startup;

impl Workload for Startup {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        StartupParams::from_map(params)?.solver.find().map(|_| ())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        facts_of("workload.solver", StartupParams::from_map(params), |p| p.solver.facts())
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        place::generate(&StartupParams::from_map(ctx.params)?, ctx.run_dir)
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        StartupParams::from_map(ctx.params)?;
        TrialSpec::new(ctx, ()).launch(ctx, NAME)
    }

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { inputs: Some(self), ..Capabilities::default() }
    }
}

impl Inputs for Startup {
    fn place(&self, ctx: &TrialContext<'_>, dir: &Path) -> Result<(), WorkloadError> {
        place::place(&StartupParams::from_map(ctx.params)?, ctx.run_dir, dir)
    }
}
