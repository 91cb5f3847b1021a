//! A tracer of programs that runs during a trial: it starts before the program, receives the
//! program's phases, and stops after it. Its observations are kept with the record, and its totals
//! become metrics.

use std::cell::RefCell;
use std::path::Path;

use assay_model::{MetricValue, ObserverReport, Phase, TrialRecord};
use assay_observe::NotAvailable;

use crate::trial::artifacts::File;

/// A tracer of programs that can run during a trial.
pub(crate) trait Tracer: Sized {
    /// Name in experiments, records and metrics.
    const NAME: &str;
    /// Name of the artifact with the observations.
    const FILE: &str;
    /// Settings from the experiment.
    type Request;
    /// Observations of one trial.
    type Observations: serde::Serialize;

    /// Starts the tracer before the program.
    ///
    /// # Errors
    /// The machine does not support it, or permissions are missing.
    fn start(root: &Path, ask: &Self::Request) -> Result<Self, NotAvailable>;

    /// Called when the measurement window begins.
    fn begin(&mut self);

    /// Called when the measurement window ends.
    fn end(&mut self);

    /// Stops the tracer and returns its observations.
    ///
    /// # Errors
    /// The observations could not be read.
    fn stop(self) -> Result<Self::Observations, NotAvailable>;

    /// Returns the number of samples or events observed.
    fn samples(seen: &Self::Observations) -> u64;

    /// Returns sentences about events that the tracer missed.
    fn not_seen(seen: &Self::Observations) -> Vec<String>;

    /// Returns totals as metrics, so that treatments are compared by them too.
    fn metrics(seen: &Self::Observations) -> Vec<MetricValue>;
}

/// A tracer for the trials of a run, if the experiment requests it.
#[derive(Debug)]
pub(crate) struct RunningTracer<T: Tracer> {
    ask: Option<T::Request>,
    watch: RefCell<Option<Result<T, NotAvailable>>>,
}

impl<T: Tracer> RunningTracer<T> {
    /// Creates the tracer's holder; `None` if the experiment does not request the tracer.
    pub fn new(ask: Option<T::Request>) -> Self {
        RunningTracer { ask, watch: RefCell::new(None) }
    }

    /// Returns true if the experiment requests the tracer.
    pub fn asked(&self) -> bool {
        self.ask.is_some()
    }

    /// Starts the tracer if it is requested. A failure to start goes into the record.
    pub fn start(&self) {
        if let Some(ask) = &self.ask {
            *self.watch.borrow_mut() = Some(T::start(Path::new("/"), ask));
        }
    }

    /// Informs the tracer that the program reported the start of a phase.
    pub fn phase(&self, phase: Phase) {
        if let Some(Ok(watch)) = &mut *self.watch.borrow_mut() {
            match phase {
                Phase::RampUp => {}
                Phase::Steady => watch.begin(),
                Phase::RampDown => watch.end(),
            }
        }
    }

    /// Queries the running tracer.
    pub fn ask<R>(&self, question: impl FnOnce(&T) -> R) -> Option<R> {
        self.watch.borrow().as_ref()?.as_ref().ok().map(question)
    }

    /// Stops the tracer, adds its observations to the record, and returns the file to keep.
    pub fn stop(&self, record: &mut TrialRecord) -> Option<File> {
        let watch = self.watch.borrow_mut().take()?;
        let mut report =
            ObserverReport { observer: T::NAME.to_owned(), samples: 0, not_seen: Vec::new() };
        let kept = match watch.and_then(T::stop) {
            Ok(seen) => {
                report.samples = T::samples(&seen);
                report.not_seen = T::not_seen(&seen);
                record.metrics.extend(T::metrics(&seen));
                serde_json::to_vec(&seen).ok().map(|bytes| (T::FILE.to_owned(), bytes))
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
