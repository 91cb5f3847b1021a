//! Common part of the workloads that load a key-value server with assay's load generator
//! (`assay_loadgen`): they start a server, fill it, load it over many connections, check every
//! answer and stop it. The lab starts a fresh process for every trial ([`trial`]); the server is a
//! child of that process ([`server`]), so that neither outlives the other.

mod about;
pub(super) mod admin;
mod answers;
pub(super) mod diagnostics;
pub(super) mod dialect;
mod finding;
mod namespace;
pub(super) mod params;
mod results;
pub(super) mod server;
mod server_node;
pub(super) mod server_side;
mod split;
pub(super) mod trial;

use std::collections::BTreeMap;

use assay_model::{Fact, MetricSpec, Scalar, WorkloadSpec};

use crate::declare::metrics;
use crate::driver::program::facts_of;
use crate::{Capabilities, Failure, Launch, TrialContext, Workload, WorkloadError};
use dialect::Dialect;
use params::Network;
use trial::{EarlierTrials, Spec};

/// Returns the metrics of every workload of a key-value server.
pub fn metrics() -> Vec<MetricSpec> {
    metrics! {
        /// Correct answers in the measurement window divided by its length. For `max-rate`: at the
        /// rate found; for `saturation`: the highest of all rates.
        "throughput", "ops/s", Higher, Measured;
        /// Highest rate that stayed within the latency limit (only `max-rate`).
        "max_rate", "ops/s", Higher, Measured;
        /// Median response time of gets (hits and misses, all classes).
        "p50", "s", Lower, Measured;
        /// 99th percentile of the response times of gets; missing if fewer than ten gets lie beyond
        /// it.
        "p99", "s", Lower, Measured;
        /// 99.9th percentile of the response times of gets; missing if fewer than ten gets lie
        /// beyond it.
        "p99.9", "s", Lower, Measured;
        /// 99th percentile of the response times of sets; missing if fewer than ten sets lie beyond
        /// it.
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
        /// Wrong answers and refusals in the whole trial; any makes the trial invalid, except for
        /// refusals within `max_errors`.
        "errors", "1", Lower, Measured;
        /// Operations of the whole trial without an answer within `op_timeout`, or whose connection
        /// was lost; limited by `max_missing`.
        "missing", "1", Lower, Measured;
        /// Share of wrong answers and refusals among the operations of the whole trial; refusals
        /// are limited by `max_errors`.
        "error_rate", "1", Lower, Measured;
        /// Share of missing answers among the operations of the whole trial.
        "missing_rate", "1", Lower, Measured;
    }
}

/// Workload that measures one kind of server. Metrics: `throughput` (primary), response times,
/// hits, bytes, CPU times of both sides. Histograms: `response_time.*`, ns. Curves (only `find =
/// "saturation"`): `throughput`, `p50`, `p99`, `p99.9` over the rate.
pub struct KeyValue(pub &'static Dialect);

impl Workload for KeyValue {
    fn spec(&self) -> &WorkloadSpec {
        (self.0.spec)()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = (self.0.read)(params)?;
        if params.address.is_none() {
            server::program(&params)?;
        }
        if params.network == Network::Namespace {
            namespace::check()?;
        }
        params.driver.as_ref().map_or(Ok(()), |driver| (driver.check)(&params))
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        facts_of("workload.server", (self.0.read)(params), |p| about::facts(&p))
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        (self.0.read)(ctx.params)?;
        Spec::new(ctx, EarlierTrials::new(ctx)).launch(ctx, self.0.name)
    }

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { serves: Some(self), ..Capabilities::default() }
    }
}

impl From<assay_loadgen::Error> for Failure {
    fn from(error: assay_loadgen::Error) -> Self {
        Failure::other(error)
    }
}
