//! The workload `memcached`: a real memcached is started, filled, asked over many connections by assay's
//! own load generator (`assay_memload`), checked, and stopped. The lab starts a fresh process for every
//! trial ([`trial`]), which has the server as its child ([`server`]), so that neither outlives the other.
//! `docs/memcached.md` has the definitions.

mod about;
mod alone;
mod finding;
mod honest;
mod memtier;
mod namespace;
mod params;
mod results;
mod server;
mod server_side;
mod split;
mod talk;
mod trial;

use std::collections::BTreeMap;

use assay_model::{Fact, Scalar, WorkloadSpec};

pub use trial::run as trial;

use crate::declare::spec;
use crate::{Failure, Launch, Offers, TrialContext, Workload, WorkloadError};
use params::{Driver, Find, Network, Params};
use trial::Spec;

/// Its name, and that of its program.
pub const NAME: &str = "memcached";

spec! {
    /// Starts a real memcached, fills it with small, medium and large objects, asks for them over
    /// many connections in a closed loop or at a rate, checks every value, and stops it.
    NAME, Params::rows();
    /// Right answers that came in the measurement window over its length. For `max-rate` that at
    /// the rate found; for `saturation` the highest of all rates.
    "throughput", "ops/s", Higher, Measured;
    /// The highest rate that kept the latency limit (`max-rate` alone).
    "max_rate", "ops/s", Higher, Measured;
    /// Median response time of gets, hits and misses of all classes.
    "p50", "s", Lower, Measured;
    /// 99th percentile; missing with fewer than ten gets beyond it.
    "p99", "s", Lower, Measured;
    /// 99.9th percentile, likewise.
    "p99.9", "s", Lower, Measured;
    /// 99th percentile of sets, likewise.
    "set_p99", "s", Lower, Measured;
    /// Hits among the gets of the window.
    "hit_ratio", "1", Neither, Measured;
    /// What the load generator received.
    "bytes_in", "B/s", Neither, Measured;
    /// What it sent.
    "bytes_out", "B/s", Neither, Measured;
    /// CPU time of the load generator for an answer.
    "client_cpu", "us/op", Lower, Derived;
    /// The share of a CPU that its busiest thread used.
    "client_busy", "1", Neither, Measured;
    /// CPU time of the server for an answer, by its own count; missing where it does not report it.
    "server_cpu", "us/op", Lower, Derived;
    /// The share of a CPU that its busiest thread used; missing for a server on another machine.
    "server_busy", "1", Neither, Measured;
    /// How many CPUs' worth of time it used, likewise.
    "server_cpus", "1", Neither, Measured;
    /// Objects that the server threw out for others in the window.
    "evictions", "1", Lower, Measured;
    /// Operations of the window that came to no answer.
    "timed_out", "1", Lower, Measured;
    /// Wrong answers of the whole trial; above 0 it is invalid.
    "errors", "1", Lower, Measured;
    /// Operations of the whole trial without an answer within `op_timeout`, or whose connection was
    /// lost; judged by `max_missing`.
    "missing", "1", Lower, Measured;
}

/// Measures a memcached. Metrics: `throughput` (primary), response times, hits, bytes, CPU times of both
/// sides. Histograms: `response_time.*`, ns. Curves (of `find = "saturation"`): `throughput`, `p50`,
/// `p99`, `p99.9` over the rate.
pub struct Memcached;

impl Workload for Memcached {
    fn spec(&self) -> &WorkloadSpec {
        spec()
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
