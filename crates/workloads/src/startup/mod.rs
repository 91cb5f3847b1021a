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
mod spec;
mod trial;

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{Fact, Scalar, WorkloadSpec};

pub use spec::NAME;
pub use trial::run as trial;

use crate::capability::Inputs;
use crate::trial_spec::TrialSpec;
use crate::{Launch, Offers, TrialContext, Workload, WorkloadError};
use params::Params;

/// Measures how long CPUs wait while many copies read their input. Metrics: `time_to_user` (primary),
/// `elapsed`, what was read of devices and of files, CPU time. Curves over time: `cpu_user` and others.
#[derive(Debug)]
pub struct Startup;

impl Workload for Startup {
    fn spec(&self) -> &WorkloadSpec {
        spec::spec()
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
