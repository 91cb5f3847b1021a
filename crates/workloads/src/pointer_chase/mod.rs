//! The workload `pointer-chase`: dependent loads through working sets of many sizes ([`memory`]), with
//! the pages that are asked for, and the knees of the curve ([`knees`]).
//! `docs/address-translation.md` has the definitions.

mod knees;
mod memory;
mod params;
mod trial;

use std::collections::BTreeMap;

use assay_model::{Fact, Scalar, WorkloadSpec, units};

pub use trial::run as trial;

use crate::declare::spec;
use crate::trial_spec::TrialSpec;
use crate::{Launch, TrialContext, Workload, WorkloadError};
use params::Params;

/// Its name, and that of its program.
pub const NAME: &str = "pointer-chase";

spec! {
    /// Follows a chain of pointers through working sets of many sizes, each load waiting for the
    /// one before: what a load costs, and where caches and TLBs end.
    NAME, Params::rows();
    /// The time of a load in the largest working set.
    "latency", "s", Lower, Measured;
    /// The geometric mean over all working sets of the trial.
    "mean_latency", "s", Lower, Measured;
    /// The share of the memory that large pages back, from smaps, at the end.
    "huge_page_coverage", "1", Neither, Measured;
    /// Levels of the curve; their edges are its knees. Missing below ten working sets.
    "plateaus", "1", Neither, Estimated;
}

/// Measures what a load costs by the size of the working set. Metrics: `latency` (primary),
/// `mean_latency`, `huge_page_coverage`, `plateaus`. Curve: `latency`, bytes → seconds.
pub struct PointerChase;

impl Workload for PointerChase {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        Params::from_map(params).map(|_| ())
    }

    fn describe(&self, _params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let page = units::format_bytes(rustix::param::page_size() as u64);
        BTreeMap::from([("workload.page_size".to_owned(), Fact::known(page))])
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        TrialSpec::of(ctx, u64::from(ctx.number)).launch(ctx, NAME)
    }
}
