//! Hardware performance counters during a trial.

use std::path::Path;

use assay_model::{Better, Experiment, Kind, MetricValue};
use assay_observe::NotAvailable;
use assay_observe::counters::{Counted, Counters, counter_ability};

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

impl Tracer for Counters {
    const NAME: &str = NAME;
    const FILE: &str = "counters.json";
    type Request = ();
    type Seen = Counted;

    fn start(root: &Path, (): &()) -> Result<Self, NotAvailable> {
        Counters::start(root)
    }

    fn begin(&mut self) {
        Counters::begin(self);
    }

    fn end(&mut self) {
        Counters::end(self);
    }

    fn stop(self) -> Result<Counted, NotAvailable> {
        Ok(Counters::stop(self))
    }

    fn samples(seen: &Counted) -> u64 {
        seen.events.iter().filter(|e| e.running_ns > 0).count() as u64
    }

    fn not_seen(seen: &Counted) -> Vec<String> {
        seen.notes.clone()
    }

    fn metrics(seen: &Counted) -> Vec<MetricValue> {
        let metric = |m: &assay_observe::counters::Computed| {
            let name = format!("{NAME}.{}", m.name);
            MetricValue::new(name, m.value, &m.unit, Better::Neither, Kind::Measured)
        };
        seen.metrics.iter().map(metric).collect()
    }
}
