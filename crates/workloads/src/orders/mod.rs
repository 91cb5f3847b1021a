//! The workload `orders`: the middle tier of a wholesale supplier in Java (`kits/orders`), in one or many
//! virtual machines at once. The lab starts a fresh process for every trial ([`trial`]), which has the
//! machines as its children ([`crate::copies`]), so that none outlives the other. `docs/orders.md` has the
//! definitions.

mod build;
mod instance;
mod java;
mod memory;
mod nodes;
mod params;
mod result;
mod results;
mod schedule;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::{Fact, Scalar, WorkloadSpec};
use serde::{Deserialize, Serialize};

pub use trial::run as trial;

use crate::capability::Judged;
use crate::declare::spec;
use crate::trial_spec::TrialSpec;
use crate::{Launch, Offers, TrialContext, Workload, WorkloadError};
use params::Params;

/// The trial spec.
type Spec = TrialSpec<Classes>;

/// The program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Classes {
    /// The class path: a folder of classes, or a jar.
    path: PathBuf,
    /// The hash of the classes that assay compiled; `None` for a jar that somebody gave.
    sha256: Option<String>,
}

/// Its name, and that of its program.
pub const NAME: &str = "orders";

/// The name of the primary metric and of its curve, which is also its unit.
pub const SCORE: &str = "orders/s";

spec! {
    /// The middle tier of a wholesale supplier in Java, in one or many virtual machines: rising
    /// numbers of warehouses, one thread each, and a score over those from the expected peak on.
    NAME, Params::rows();
    /// The score: transactions of all kinds a second, summed over the instances, and the mean over
    /// the points of N to 2N warehouses.
    "orders/s", "orders/s", Higher, Measured;
    /// The score over the instances.
    "orders/s per instance", "orders/s", Higher, Derived;
    /// The best point of all, scored or not.
    "peak", "orders/s", Higher, Measured;
    /// Warehouses of an instance at that point.
    "peak_warehouses", "1", Neither, Measured;
    /// Mean time of a new order over the scored points.
    "response_mean", "s", Lower, Measured;
    /// The longest transaction of the scored points.
    "response_max", "s", Lower, Measured;
    /// Time that the collectors report over the time of the scored points with their ramps, mean of
    /// the instances.
    "collection_share", "1", Lower, Measured;
    /// The largest heap in use of an instance at the end of a point, garbage included.
    "heap_used", "B", Lower, Measured;
    /// The sum of the instances' largest resident sets; missing where it cannot be read.
    "resident", "B", Lower, Measured;
    /// The share of the resident memory that huge pages hold at the end; missing likewise.
    "huge_share", "1", Neither, Measured;
    /// The most of a thread less the least, over the most: the largest of the scored points.
    "thread_spread", "1", Lower, Measured;
    /// How far apart instances began a point, at most; 0 for one.
    "start_spread", "s", Lower, Measured;
    /// How far apart they stopped, likewise.
    "stop_spread", "s", Lower, Measured;
    /// The longest time from the end of a point to the begin of the next one.
    "pause", "s", Lower, Measured;
    /// The share of a CPU that the process used which drives the instances, over the scored points.
    "controller_busy", "1", Lower, Measured;
}

/// Measures order processing in Java. Metrics: `orders/s` (primary), `orders/s per instance`, response
/// times, collections, memory. Curves over the warehouses: `orders/s`.
pub struct Orders;

impl Workload for Orders {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = Params::from_map(params)?;
        let java = java::find(&params.jvm)?;
        if params.jar.is_none() {
            build::compiler(&java)?;
        }
        Ok(())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let found = Params::from_map(params).and_then(|p| java::find(&p.jvm));
        let mut facts = match found {
            Ok(java) => java.facts(),
            Err(e) => [("workload.jvm".to_owned(), Fact::unknown(e.to_string()))].into(),
        };
        facts.insert("workload.kit.sha256".into(), Fact::known(build::sources_sha256()));
        facts
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        let params = Params::from_map(ctx.params)?;
        match &params.jar {
            Some(_) => Ok(()),
            None => build::classes(&java::find(&params.jvm)?, ctx.cache_dir).map(|_| ()),
        }
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let params = Params::from_map(ctx.params)?;
        let classes = if let Some(jar) = params.jar {
            Classes { path: jar, sha256: None }
        } else {
            build::classes(&java::find(&params.jvm)?, ctx.cache_dir)?
        };
        Spec::of(ctx, classes).launch(ctx, NAME)
    }

    fn offers(&self) -> Offers<'_> {
        let judged = Judged { artifact: results::RESULT, pack: "orders" };
        Offers { judged: Some(judged), ..Offers::default() }
    }
}
