//! The workload `pointer-chase`: dependent loads through working sets of many sizes ([`memory`])
//! with the requested pages, and the knees of the curve ([`knees`]).
//! `docs/watch/address-translation.md` has the definitions.

pub(super) mod knees;
pub(super) mod memory;
pub(super) mod params;
mod trial;

use std::collections::BTreeMap;

use assay_model::{Fact, Scalar, WorkloadSpec, units};

pub use trial::run as trial;
pub(super) use trial::{from_control, verdict};

use crate::declare::spec;
use crate::trial_spec::TrialSpec;
use crate::{Launch, TrialContext, Workload, WorkloadError};
use params::ChaseParams;

/// Name of the workload and of its trial program.
pub const NAME: &str = "pointer-chase";

spec! {
    /// Follows a chain of pointers through working sets of many sizes, where each load depends on
    /// the one before: measures the latency of a load, and where the capacities of caches and TLBs
    /// end.
    NAME, ChaseParams::rows();
    /// Latency of a load in the largest working set.
    "latency", "s", Lower, Measured;
    /// Geometric mean of the latency over all working sets of the trial.
    "mean_latency", "s", Lower, Measured;
    /// Share of the memory that huge pages back at the end, from smaps.
    "huge_page_coverage", "1", Neither, Measured;
    /// Number of plateaus of the curve; their edges are its knees. Missing for fewer than ten
    /// working sets.
    "plateaus", "1", Neither, Estimated;
}

/// Measures the latency of a load by the size of the working set. Metrics: `latency` (primary),
/// `mean_latency`, `huge_page_coverage`, `plateaus`. Curve: `latency`, in seconds over bytes.
pub struct PointerChase;

impl Workload for PointerChase {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        ChaseParams::from_map(params).map(|_| ())
    }

    fn describe(&self, _params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let page = units::format_bytes(rustix::param::page_size() as u64);
        BTreeMap::from([("workload.page_size".to_owned(), Fact::known(page))])
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        TrialSpec::new(ctx, u64::from(ctx.number)).launch(ctx, NAME)
    }
}
