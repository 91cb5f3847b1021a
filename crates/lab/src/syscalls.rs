//! System calls counted beside a trial: started before the program, told of its phases, stopped after it.
//! What was counted is kept with the record.

use std::cell::RefCell;
use std::path::Path;

use assay_model::{Better, Experiment, Kind, MetricValue, ObserverReport, Phase, TrialRecord};
use assay_observe::NotAvailable;
use assay_observe::syscalls::{SyscallRequest, SyscallWatch};
use assay_syscalls::Syscalls;

use crate::artifacts::File;

/// The tracer's name.
pub(crate) const NAME: &str = "syscalls";

/// The counting in the trials of a run.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    asked: bool,
    watch: RefCell<Option<Result<SyscallWatch, NotAvailable>>>,
}

impl Counting {
    /// What the experiment asks for.
    pub fn new(experiment: &Experiment) -> Self {
        let asked = experiment.observe.tracers.iter().any(|t| t == NAME);
        Counting { asked, watch: RefCell::default() }
    }

    /// Starts, if it is asked for. One that cannot is in the record.
    pub fn start(&self) {
        if self.asked {
            let watch = SyscallWatch::start(Path::new("/"), &SyscallRequest::default());
            *self.watch.borrow_mut() = Some(watch);
        }
    }

    /// The program has said that a phase begins.
    pub fn phase(&self, phase: Phase) {
        if let Some(Ok(watch)) = &mut *self.watch.borrow_mut() {
            match phase {
                Phase::RampUp => {}
                Phase::Steady => watch.begin(),
                Phase::RampDown => watch.end(),
            }
        }
    }

    /// Stops and puts into the record what was counted; the file to keep.
    pub fn stop(&self, record: &mut TrialRecord) -> Option<File> {
        let watch = self.watch.borrow_mut().take()?;
        let mut report =
            ObserverReport { observer: NAME.to_owned(), samples: 0, not_seen: Vec::new() };
        let kept = match watch {
            Ok(watch) => {
                let seen = watch.stop();
                report.samples = seen.total().calls;
                report.not_seen.clone_from(&seen.notes);
                record.metrics.extend(metrics(&seen));
                let file = assay_archive::SYSCALLS.to_owned();
                serde_json::to_vec(&seen).ok().map(|bytes| (file, bytes))
            }
            Err(error) => {
                report.not_seen = vec![error.to_string()];
                None
            }
        };
        record.observers.push(report);
        kept
    }
}

/// All calls together as metrics: so treatments are compared by them too.
fn metrics(seen: &Syscalls) -> [MetricValue; 3] {
    let all = seen.total();
    let metric = |name: &str, value: f64, unit: &str| {
        let name = format!("{NAME}.{name}");
        MetricValue::new(name, Some(value), unit, Better::Neither, Kind::Measured)
    };
    [
        metric("calls", all.calls as f64, "calls"),
        metric("errors", all.errors as f64, "calls"),
        metric("time", all.ns as f64 / 1e9, "s"),
    ]
}
