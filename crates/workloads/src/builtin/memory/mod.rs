//! The workload `memory`: bandwidth of kernels by working set ([`bandwidth`]), latency under load
//! ([`loaded_latency`]), latency between CPUs ([`core_to_core`]), and the time of page faults
//! ([`page_faults`]). `docs/workloads/memory.md` has the definitions.

mod bandwidth;
mod caches;
mod core_to_core;
mod kernels;
mod loaded_latency;
mod metrics;
mod page_faults;
mod params;
mod setup;
mod team;
mod trial;

use std::collections::BTreeMap;

use assay_model::{Scalar, WorkloadSpec};

pub use metrics::NAME;
pub use trial::run as trial;

use crate::trial_spec::TrialSpec;
use crate::{Launch, TrialContext, Workload, WorkloadError};
use params::{MemoryParams, Test};

/// Measures memory, caches and the paths between CPUs. The deciding metric depends on `test`.
pub struct Memory;

impl Workload for Memory {
    fn spec(&self) -> &WorkloadSpec {
        metrics::spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        MemoryParams::from_map(params).map(|_| ())
    }

    fn deciding(&self, params: &BTreeMap<String, Scalar>) -> Option<&'static str> {
        Some(match MemoryParams::from_map(params).ok()?.test {
            Test::Bandwidth => "bandwidth",
            Test::LoadedLatency => "loaded_latency",
            Test::CoreToCore => "core_latency",
            Test::PageFaults => "fault_time",
        })
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        TrialSpec::new(ctx, u64::from(ctx.number)).launch(ctx, NAME)
    }
}
