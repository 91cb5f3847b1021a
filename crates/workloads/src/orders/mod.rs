//! The workload `orders`: the middle tier of a wholesale supplier in Java (`kits/orders`), in one or many
//! virtual machines at once. The lab starts a fresh process for every trial ([`trial`]), which has the
//! machines as its children ([`crate::copies`]), so that none outlives the other. `docs/orders.md` has the
//! definitions.

mod build;
mod failure;
mod instance;
mod java;
mod memory;
mod nodes;
mod params;
mod result;
mod results;
mod schedule;
mod spec;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::{Fact, Scalar, WorkloadSpec};
use serde::{Deserialize, Serialize};

pub use spec::NAME;
pub use trial::run as trial;

use crate::capability::Judged;
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

/// Measures order processing in Java. Metrics: `orders/s` (primary), `orders/s per instance`, response
/// times, collections, memory. Curves over the warehouses: `orders/s`.
#[derive(Debug)]
pub struct Orders;

impl Workload for Orders {
    fn spec(&self) -> &WorkloadSpec {
        spec::spec()
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
            let built = build::classes(&java::find(&params.jvm)?, ctx.cache_dir)?;
            Classes { path: built.dir, sha256: Some(built.sha256) }
        };
        Spec::of(ctx, classes).launch(ctx, NAME)
    }

    fn offers(&self) -> Offers<'_> {
        let judged = Judged { artifact: results::RESULT, pack: "orders" };
        Offers { judged: Some(judged), ..Offers::default() }
    }
}
