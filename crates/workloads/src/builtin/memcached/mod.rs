//! The workload `memcached`: starts a real memcached, fills it, loads it over many connections with
//! assay's own load generator (`assay_loadgen`), checks the answers and stops it. The lab starts a
//! fresh process for every trial ([`trial`]); the server is a child of that process ([`server`]),
//! so that neither outlives the other. `docs/workloads/memcached.md` defines the metrics.

mod about;
mod admin;
mod diagnostics;
mod finding;
mod memtier;
mod namespace;
mod params;
mod results;
mod server;
mod server_node;
mod server_side;
mod split;
mod trial;

use std::collections::BTreeMap;

use assay_model::{Fact, Scalar, WorkloadSpec};

pub use trial::run as trial;

use crate::declare::spec;
use crate::{Capabilities, Failure, Launch, TrialContext, Workload, WorkloadError};
use params::{Driver, Find, Network, Params};
use trial::Spec;

/// Name of the workload and of its trial program.
pub const NAME: &str = "memcached";

spec! {
    /// Starts a real memcached, fills it with small, medium and large objects, gets and sets them
    /// over many connections in a closed loop or at a fixed rate, checks every value, and stops it.
    NAME, Params::rows();
    /// Correct answers in the measurement window divided by its length. For `max-rate`: at the rate
    /// found; for `saturation`: the highest of all rates.
    "throughput", "ops/s", Higher, Measured;
    /// Highest rate that stayed within the latency limit (only `max-rate`).
    "max_rate", "ops/s", Higher, Measured;
    /// Median response time of gets (hits and misses, all classes).
    "p50", "s", Lower, Measured;
    /// 99th percentile of the response times of gets; missing if fewer than ten gets lie beyond it.
    "p99", "s", Lower, Measured;
    /// 99.9th percentile of the response times of gets; missing if fewer than ten gets lie beyond
    /// it.
    "p99.9", "s", Lower, Measured;
    /// 99th percentile of the response times of sets; missing if fewer than ten sets lie beyond it.
    "set_p99", "s", Lower, Measured;
    /// Share of the gets in the window that hit.
    "hit_ratio", "1", Neither, Measured;
    /// Bytes per second that the load generator received.
    "bytes_in", "B/s", Neither, Measured;
    /// Bytes per second that the load generator sent.
    "bytes_out", "B/s", Neither, Measured;
    /// CPU time of the load generator per answer.
    "client_cpu", "us/op", Lower, Derived;
    /// CPU utilization of the load generator's busiest thread.
    "client_busy", "1", Neither, Measured;
    /// CPU time of the server per answer, from its own counters; missing if it does not report
    /// them.
    "server_cpu", "us/op", Lower, Derived;
    /// CPU utilization of the server's busiest thread; missing for a server on another machine.
    "server_busy", "1", Neither, Measured;
    /// CPUs that the server used on average; missing for a server on another machine.
    "server_cpus", "1", Neither, Measured;
    /// Objects that the server evicted in the window.
    "evictions", "1", Lower, Measured;
    /// Operations of the window that got no answer.
    "timed_out", "1", Lower, Measured;
    /// Wrong answers in the whole trial; any makes the trial invalid.
    "errors", "1", Lower, Measured;
    /// Operations of the whole trial without an answer within `op_timeout`, or whose connection was
    /// lost; limited by `max_missing`.
    "missing", "1", Lower, Measured;
}

/// Measures a memcached. Metrics: `throughput` (primary), response times, hits, bytes, CPU times of
/// both sides. Histograms: `response_time.*`, ns. Curves (only `find = "saturation"`):
/// `throughput`, `p50`, `p99`, `p99.9` over the rate.
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

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { serves: Some(self), ..Capabilities::default() }
    }
}

/// Returns the rates of the first trial's curve, so that all trials measure at the same ones.
fn earlier_rates(ctx: &TrialContext<'_>) -> Vec<f64> {
    let first = ctx.previous.iter().find_map(|r| r.curve("throughput"));
    first.map(|curve| curve.points.iter().map(|p| p[0]).collect()).unwrap_or_default()
}

impl From<assay_loadgen::Error> for Failure {
    fn from(error: assay_loadgen::Error) -> Self {
        Failure::other(error)
    }
}
