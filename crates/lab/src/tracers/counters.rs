//! Hardware performance counters during a trial.

use std::path::Path;

use assay_model::{Better, Experiment, MetricKind, MetricValue};
use assay_observe::NotAvailable;
use assay_observe::counters::{CounterResult, RunningCounters, counter_ability};

use crate::tracers::running_tracer::Tracer;

/// Name of the tracer in experiments and records.
pub(crate) const NAME: &str = "counters";

/// Returns a request if the experiment lists this tracer.
pub(crate) fn request(experiment: &Experiment) -> Option<()> {
    experiment.observe.tracers.iter().any(|t| t == NAME).then_some(())
}

/// Returns the reason why requested counters are unavailable on this machine.
pub(crate) fn obstacle(experiment: &Experiment) -> Option<NotAvailable> {
    request(experiment)?;
    counter_ability(Path::new("/")).err()
}

impl Tracer for RunningCounters {
    const NAME: &str = NAME;
    const FILE: &str = "counters.json";
    type Request = ();
    type Observations = CounterResult;

    fn start(root: &Path, (): &()) -> Result<Self, NotAvailable> {
        RunningCounters::start(root)
    }

    fn begin(&mut self) {
        RunningCounters::begin(self);
    }

    fn end(&mut self) {
        RunningCounters::end(self);
    }

    fn stop(self) -> Result<CounterResult, NotAvailable> {
        Ok(RunningCounters::stop(self))
    }

    fn samples(seen: &CounterResult) -> u64 {
        seen.events.iter().filter(|e| e.running_ns > 0).count() as u64
    }

    fn not_seen(seen: &CounterResult) -> Vec<String> {
        seen.notes.clone()
    }

    fn metrics(seen: &CounterResult) -> Vec<MetricValue> {
        let metric = |m: &assay_observe::counters::ComputedMetric| {
            let name = format!("{NAME}.{}", m.name);
            MetricValue::new(name, m.value, &m.unit, Better::Neither, MetricKind::Measured)
        };
        seen.metrics.iter().map(metric).collect()
    }
}
