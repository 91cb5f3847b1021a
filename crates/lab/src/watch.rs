//! Who follows a run while it goes on: the progress bar, the server, a test.

use std::time::Duration;

use crate::live_profile::LiveProfile;

use assay_model::{Event, PlannedTrial, RunId, RunState, SampleSet, Treatment, TrialRecord};
use assay_sut::process::Stream;

/// What happens while a trial's program runs.
#[derive(Debug)]
pub(crate) enum News<'a> {
    /// Time has passed.
    Tick,
    /// An event of the program on descriptor 3, at this time.
    Event(&'a Event, u64),
    /// The program printed something.
    Printed(Stream, &'a [u8]),
    /// The program has ended.
    Ended,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<'a> {
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
    fn started(&mut self, _standing: &Progress<'_>) {}
    /// The trial goes on; `progress` is the share that is done, where the workload reports it.
    fn tick(&mut self, _progress: Option<f64>) {}
    /// What the program says on descriptor 3, as it says it (`CLOCK_MONOTONIC`).
    fn event(&mut self, _event: &Event, _t_ns: u64) {}
    /// Whether [`Watcher::samples`] and [`Watcher::printed`] want to be called.
    fn wants_all(&self) -> bool {
        false
    }
    /// What the monitors saw since the last call.
    fn samples(&mut self, _samples: &SampleSet) {}
    /// Whether somebody wants to see the profile of the trial that runs.
    fn wants_profile(&mut self) -> bool {
        false
    }
    /// The profile so far.
    fn profile(&mut self, _profile: &LiveProfile) {}
    /// What the program printed.
    fn printed(&mut self, _stream: Stream, _bytes: &[u8]) {}
    /// A trial has ended and is recorded.
    fn ended(&mut self, _record: &TrialRecord) {}
    /// No trial follows.
    fn finished(&mut self) {}
    /// The run's end is recorded.
    fn concluded(&mut self, _state: RunState, _reason: &str) {}
}

/// A watcher that hears nothing.
impl Watcher for () {}

/// Two who both hear everything.
pub struct Both<'a>(pub &'a mut dyn Watcher, pub &'a mut dyn Watcher);

impl Watcher for Both<'_> {
    fn every(&self) -> Option<Duration> {
        self.0.every().into_iter().chain(self.1.every()).min()
    }
    fn say(&mut self, sentence: &str) {
        self.0.say(sentence);
        self.1.say(sentence);
    }
    fn registered(&mut self, run: &RunId, trials: usize) {
        self.0.registered(run, trials);
        self.1.registered(run, trials);
    }
    fn started(&mut self, progress: &Progress<'_>) {
        self.0.started(progress);
        self.1.started(progress);
    }
    fn tick(&mut self, progress: Option<f64>) {
        self.0.tick(progress);
        self.1.tick(progress);
    }
    fn event(&mut self, event: &Event, t_ns: u64) {
        self.0.event(event, t_ns);
        self.1.event(event, t_ns);
    }
    fn wants_all(&self) -> bool {
        self.0.wants_all() || self.1.wants_all()
    }
    fn samples(&mut self, samples: &SampleSet) {
        self.0.samples(samples);
        self.1.samples(samples);
    }
    fn wants_profile(&mut self) -> bool {
        self.0.wants_profile() || self.1.wants_profile()
    }
    fn profile(&mut self, profile: &LiveProfile) {
        self.0.profile(profile);
        self.1.profile(profile);
    }
    fn printed(&mut self, stream: Stream, bytes: &[u8]) {
        self.0.printed(stream, bytes);
        self.1.printed(stream, bytes);
    }
    fn ended(&mut self, record: &TrialRecord) {
        self.0.ended(record);
        self.1.ended(record);
    }
    fn finished(&mut self) {
        self.0.finished();
        self.1.finished();
    }
    fn concluded(&mut self, state: RunState, reason: &str) {
        self.0.concluded(state, reason);
        self.1.concluded(state, reason);
    }
}
