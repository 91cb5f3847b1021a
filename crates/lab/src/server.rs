//! A server that an agent runs for others' clients: it is started, and that is all.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use assay_model::{Fact, Scalar, ValidationResult, WorkloadSpec};
use assay_workloads::{Collected, Finished, Launch, TrialContext, Workload, WorkloadError};

/// The launch of a server as something to run.
pub(crate) struct Server(pub Launch);

impl Workload for Server {
    fn spec(&self) -> &WorkloadSpec {
        static SPEC: OnceLock<WorkloadSpec> = OnceLock::new();
        SPEC.get_or_init(|| WorkloadSpec {
            name: "server".into(),
            help: String::new(),
            params: Vec::new(),
            metrics: Vec::new(),
            suite: None,
        })
    }

    fn check(&self, _: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        Ok(())
    }

    fn describe(&self, _: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        BTreeMap::new()
    }

    fn prepare(&self, _: &TrialContext<'_>) -> Result<(), WorkloadError> {
        Ok(())
    }

    fn launch(&self, _: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        Ok(self.0.clone())
    }

    fn collect(&self, _: &TrialContext<'_>, _: &Finished<'_>) -> Result<Collected, WorkloadError> {
        Ok(Collected {
            metrics: Vec::new(),
            validation: ValidationResult::NotReached,
            notes: Vec::new(),
        })
    }
}
