//! The workload `memcached`: a real memcached is started, filled, asked over many connections by assay's
//! own load generator (`assay_memload`), checked, and stopped. The lab starts a fresh process for every
//! trial ([`trial`]), which has the server as its child ([`server`]), so that neither outlives the other.
//! `docs/memcached.md` has the definitions.

mod about;
mod alone;
mod certificate;
mod finding;
mod honest;
mod memtier;
mod namespace;
mod params;
mod results;
mod server;
mod server_side;
mod spec;
mod split;
mod talk;
mod trial;

use std::collections::BTreeMap;

use assay_model::{Fact, Scalar, WorkloadSpec};

pub use spec::NAME;
pub use trial::run as trial;

use crate::trial_spec::TrialSpec;
use crate::{Failure, Launch, Offers, TrialContext, Workload, WorkloadError};
use params::{Driver, Find, Network, Params};

/// The trial spec: the rates that an earlier trial of the treatment chose for its curve, so that points of
/// several trials meet; empty: none did.
type Spec = TrialSpec<Vec<f64>>;

/// Measures a memcached. Metrics: `throughput` (primary), response times, hits, bytes, CPU times of both
/// sides. Histograms: `response_time.*`, ns. Curves (of `find = "saturation"`): `throughput`, `p50`,
/// `p99`, `p99.9` over the rate.
#[derive(Debug)]
pub struct Memcached;

impl Workload for Memcached {
    fn spec(&self) -> &WorkloadSpec {
        spec::spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = Params::from_map(params)?;
        if params.address.is_none() {
            server::program(&params)?;
        }
        if params.network == Network::Namespace {
            namespace::check()?;
        }
        if params.driver == Driver::Memtier {
            memtier::program(params.driver_path.as_deref())?;
        }
        Ok(())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        match Params::from_map(params) {
            Ok(params) => about::facts(&params),
            Err(e) => [("workload.server".to_owned(), Fact::unknown(e.to_string()))].into(),
        }
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let params = Params::from_map(ctx.params)?;
        let rates = match params.find {
            Find::Saturation => earlier_rates(ctx),
            _ => Vec::new(),
        };
        Spec::of(ctx, rates).launch(ctx, NAME)
    }

    fn offers(&self) -> Offers<'_> {
        Offers { serves: Some(self), ..Offers::default() }
    }
}

/// The rates of the first trial's curve.
fn earlier_rates(ctx: &TrialContext<'_>) -> Vec<f64> {
    let first = ctx.previous.iter().find_map(|r| r.curve("throughput"));
    first.map(|curve| curve.points.iter().map(|p| p[0]).collect()).unwrap_or_default()
}

impl From<assay_memload::Error> for Failure {
    fn from(error: assay_memload::Error) -> Self {
        Failure::other(error)
    }
}
