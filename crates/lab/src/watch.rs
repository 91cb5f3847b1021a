//! Who follows a run while it goes on: the progress bar, the server, a test.

use std::time::Duration;

use assay_model::{PlannedTrial, RunId, Treatment, TrialRecord};

/// Where a run stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing<'a> {
    /// The trial that is about to run or runs.
    pub trial: &'a PlannedTrial,
    /// Its treatment.
    pub treatment: &'a Treatment,
    /// How many trials have ended.
    pub done: usize,
    /// How many there will be, as far as is known.
    pub total: usize,
    /// The geometric mean of the deciding metric so far for this treatment, with its unit.
    pub estimate: Option<(f64, String)>,
    /// How long the rest will take, judged by the trials so far.
    pub left: Option<Duration>,
}

/// Hears of a run while it goes on. Every method may be left out.
pub trait Watcher {
    /// How often [`Watcher::tick`] is wanted while a trial runs. `None`: never, so that nothing wakes
    /// up beside the workload.
    fn every(&self) -> Option<Duration> {
        None
    }
    /// A sentence that the person should see now.
    fn say(&mut self, _sentence: &str) {}
    /// The run is registered.
    fn registered(&mut self, _run: &RunId, _trials: usize) {}
    /// A trial is about to start.
    fn started(&mut self, _standing: &Standing<'_>) {}
    /// The trial goes on; `progress` is the share that is done, where the workload says so.
    fn tick(&mut self, _progress: Option<f64>) {}
    /// A trial has ended and is recorded.
    fn ended(&mut self, _record: &TrialRecord) {}
    /// The run has ended.
    fn finished(&mut self) {}
}

/// A watcher that hears nothing.
impl Watcher for () {}
