//! System call counts during a trial.

use std::path::Path;

use assay_model::{Better, Experiment, MetricKind, MetricValue};
use assay_observe::NotAvailable;
use assay_observe::syscalls::{SyscallRequest, SyscallWatch};
use assay_traces::syscalls::Syscalls;

use crate::tracers::running_tracer::Tracer;

/// Name of the tracer in experiments and records.
pub(crate) const NAME: &str = "syscalls";

/// Returns a request if the experiment lists this tracer.
pub(crate) fn request(experiment: &Experiment) -> Option<SyscallRequest> {
    let asked = experiment.observe.tracers.iter().any(|t| t == NAME);
    asked.then(SyscallRequest::default)
}

impl Tracer for SyscallWatch {
    const NAME: &str = NAME;
    const FILE: &str = assay_archive::SYSCALLS;
    type Request = SyscallRequest;
    type Observations = Syscalls;

    fn start(root: &Path, ask: &SyscallRequest) -> Result<Self, NotAvailable> {
        SyscallWatch::start(root, ask)
    }

    fn begin(&mut self) {
        SyscallWatch::begin(self);
    }

    fn end(&mut self) {
        SyscallWatch::end(self);
    }

    fn stop(self) -> Result<Syscalls, NotAvailable> {
        Ok(SyscallWatch::stop(self))
    }

    fn samples(seen: &Syscalls) -> u64 {
        seen.total().calls
    }

    fn not_seen(seen: &Syscalls) -> Vec<String> {
        seen.notes.clone()
    }

    fn metrics(seen: &Syscalls) -> Vec<MetricValue> {
        let all = seen.total();
        let metric = |name: &str, value: f64, unit: &str| {
            let name = format!("{NAME}.{name}");
            MetricValue::new(name, Some(value), unit, Better::Neither, MetricKind::Measured)
        };
        vec![
            metric("calls", all.calls as f64, "calls").counted(),
            metric("errors", all.errors as f64, "calls").counted(),
            metric("time", all.ns as f64 / 1e9, "s"),
        ]
    }
}
