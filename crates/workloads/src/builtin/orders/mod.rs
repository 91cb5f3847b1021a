//! The workload `orders`: the middle tier of a wholesale supplier in Java (`kits/orders`), in one
//! or many virtual machines at the same time. The lab starts a fresh process for every trial
//! ([`trial`]); the virtual machines are its children ([`crate::driver::copies`]), so that none
//! outlives the others. `docs/workloads/orders.md` has the definitions.

mod build;
mod instance;
mod java;
mod memory;
mod nodes;
mod params;
mod pauses;
mod rate;
mod response;
mod result;
mod results;
mod schedule;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::{Fact, Scalar, WorkloadSpec};
use serde::{Deserialize, Serialize};

pub use trial::run as trial;

use crate::capability::JudgedArtifact;
use crate::declare::spec;
use crate::driver::program::facts_of;
use crate::trial_spec::TrialSpec;
use crate::{Capabilities, Launch, TrialContext, Workload, WorkloadError};
use params::OrdersParams;

/// Trial spec with the compiled kit.
type Spec = TrialSpec<Classes>;

/// The compiled classes of the kit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Classes {
    /// Class path: a folder of classes, or a jar.
    path: PathBuf,
    /// SHA-256 of the classes that assay compiled; `None` for a jar given by the user.
    sha256: Option<String>,
}

/// Name of the workload and of its trial program.
pub const NAME: &str = "orders";

/// Name of the primary metric and of its curve, which is also its unit.
pub const SCORE: &str = "orders/s";

spec! {
    /// The middle tier of a wholesale supplier in Java, in one or many virtual machines: the number
    /// of warehouses, with one thread each, rises from point to point; the score covers the points
    /// from the expected peak on.
    NAME, OrdersParams::rows();
    /// Score: transactions of all kinds per second, summed over the instances, and averaged over
    /// the points from N to 2N warehouses. Under a rate: those of its one point.
    "orders/s", "orders/s", Higher, Measured;
    /// Score divided by the number of instances.
    "orders/s per instance", "orders/s", Higher, Derived;
    /// Throughput of the best point, scored or not; none under a rate.
    "peak", "orders/s", Higher, Measured;
    /// Number of warehouses per instance at the best point.
    "peak_warehouses", "1", Neither, Measured;
    /// Mean response time of new orders over the scored points; under a rate it counts from when
    /// they were due.
    "response_mean", "s", Lower, Measured;
    /// Longest response time of any transaction in the scored points.
    "response_max", "s", Lower, Measured;
    /// Median of the response times under a rate, from when each transaction was due.
    "response_p50", "s", Lower, Measured;
    /// 99th percentile of these; missing if fewer than ten lie beyond it.
    "response_p99", "s", Lower, Measured;
    /// 99.9th percentile of these; missing if fewer than ten lie beyond it.
    "response_p99.9", "s", Lower, Measured;
    /// 99.99th percentile of these; missing if fewer than ten lie beyond it.
    "response_p99.99", "s", Lower, Measured;
    /// Highest rate that kept `limit` (only `search`).
    "max_rate", "orders/s", Higher, Measured;
    /// Transactions per second that were due under a rate.
    "offered", "orders/s", Neither, Measured;
    /// Transactions that were due and refused, because too many waited, or not done by the end;
    /// they count as longer than any in the percentiles.
    "unanswered", "1", Lower, Measured;
    /// Share of the transactions that fell due while their thread slept, and that it saw more than
    /// 1 ms later: other work had its CPU, or a collection stopped it.
    "late_share", "1", Lower, Measured;
    /// Longest pause of a collector under a rate, from its log; missing if the log has none of the
    /// known form.
    "collection_pause", "s", Lower, Measured;
    /// Share of the time of the scored points, ramps included, that the collectors report for
    /// collections, averaged over the instances.
    "collection_share", "1", Lower, Measured;
    /// Largest used heap of an instance at the end of a point, garbage included.
    "heap_used", "B", Lower, Measured;
    /// Sum of the instances' maximum resident set sizes; missing if it cannot be read.
    "resident", "B", Lower, Measured;
    /// Share of the resident memory in huge pages at the end; missing if it cannot be read.
    "huge_share", "1", Neither, Measured;
    /// Spread of the transactions across the threads of an instance, `(max - min) / max`: the
    /// largest of the scored points.
    "thread_spread", "1", Lower, Measured;
    /// Maximum difference between the times at which instances began a point; 0 for one instance.
    "start_spread", "s", Lower, Measured;
    /// Maximum difference between the times at which instances stopped a point; 0 for one instance.
    "stop_spread", "s", Lower, Measured;
    /// Longest time from the end of a point to the start of the next.
    "pause", "s", Lower, Measured;
    /// CPU utilization of the process that drives the instances, over the scored points.
    "controller_busy", "1", Lower, Measured;
}

/// Measures order processing in Java. Metrics: `orders/s` (primary), `orders/s per instance`,
/// response times, collections, memory. Curve over the warehouses: `orders/s`.
pub struct Orders;

impl Workload for Orders {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn deciding(&self, params: &BTreeMap<String, Scalar>) -> Option<&'static str> {
        let params = OrdersParams::from_map(params).ok()?;
        let p99 = params.under_rate().then_some("response_p99");
        if params.search { Some("max_rate") } else { p99 }
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = OrdersParams::from_map(params)?;
        let java = java::find(&params.jvm)?;
        if params.jar.is_none() {
            build::compiler(&java)?;
        }
        Ok(())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let found = OrdersParams::from_map(params).and_then(|p| java::find(&p.jvm));
        let mut facts = facts_of("workload.jvm", found, |java| java.facts());
        facts.insert("workload.kit.sha256".into(), Fact::known(build::sources_sha256()));
        facts
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        let params = OrdersParams::from_map(ctx.params)?;
        match &params.jar {
            Some(_) => Ok(()),
            None => build::classes(&java::find(&params.jvm)?, ctx.cache_dir).map(|_| ()),
        }
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let params = OrdersParams::from_map(ctx.params)?;
        let classes = if let Some(jar) = params.jar {
            Classes { path: jar, sha256: None }
        } else {
            build::classes(&java::find(&params.jvm)?, ctx.cache_dir)?
        };
        Spec::new(ctx, classes).launch(ctx, NAME)
    }

    fn offers(&self) -> Capabilities<'_> {
        let judged = JudgedArtifact { artifact: results::RESULT, pack: "orders" };
        Capabilities { judged: Some(judged), ..Capabilities::default() }
    }
}
