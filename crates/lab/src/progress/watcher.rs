//! Watchers that follow a run in progress: the progress bar, the server, a test.

use std::time::Duration;

use crate::progress::live_profile::LiveProfile;

use assay_model::{Event, PlannedTrial, RunId, RunState, SampleSet, Treatment, TrialRecord};
use assay_system::process::Stream;

/// News while a trial's program runs.
#[derive(Debug)]
pub(crate) enum TrialNews<'a> {
    /// An interval passed without other news.
    Tick,
    /// Event that the program wrote to descriptor 3, with its time.
    Event(&'a Event, u64),
    /// Output of the program.
    Printed(Stream, &'a [u8]),
    /// The program has ended.
    Ended,
}

/// Progress of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<'a> {
    /// The trial that is running or about to run.
    pub trial: &'a PlannedTrial,
    pub treatment: &'a Treatment,
    /// Number of trials that have ended.
    pub done: usize,
    /// Expected total number of trials.
    pub total: usize,
    /// Geometric mean of the deciding metric so far for this treatment, with its unit.
    pub estimate: Option<(f64, String)>,
    /// Expected remaining time, from the trials so far.
    pub left: Option<Duration>,
}

/// Returns a function that calls [`Watcher::tick`] for a trial that runs elsewhere, at the interval
/// that the watcher asks for.
pub(crate) fn ticks(watcher: &mut dyn Watcher) -> impl FnMut() + '_ {
    let every = watcher.every();
    let mut last = std::time::Instant::now();
    move || {
        if every.is_some_and(|every| last.elapsed() >= every) {
            last = std::time::Instant::now();
            watcher.tick(None);
        }
    }
}

/// Receives news of a run in progress. Every method has a default that does nothing.
pub trait Watcher {
    /// Returns the interval of [`Watcher::tick`] while a trial runs. `None` means never, so that no
    /// wake-up disturbs the workload.
    fn every(&self) -> Option<Duration> {
        None
    }
    /// Called with a sentence that the user should see at once.
    fn say(&mut self, _sentence: &str) {}
    /// Called when the run is registered.
    fn registered(&mut self, _run: &RunId, _trials: usize) {}
    /// Called when a trial is about to start.
    fn started(&mut self, _standing: &Progress<'_>) {}
    /// Called during a trial; `progress` is the completed share, if the workload reports it.
    fn tick(&mut self, _progress: Option<f64>) {}
    /// Called for each event on descriptor 3 when the program writes it (`CLOCK_MONOTONIC`).
    fn event(&mut self, _event: &Event, _t_ns: u64) {}
    /// Returns true if [`Watcher::samples`] and [`Watcher::printed`] are to be called.
    fn wants_all(&self) -> bool {
        false
    }
    /// Called with the monitors' samples since the last call.
    fn samples(&mut self, _samples: &SampleSet) {}
    /// Returns true if a viewer wants the profile of the running trial.
    fn wants_profile(&mut self) -> bool {
        false
    }
    /// Called with the profile of the running trial so far.
    fn profile(&mut self, _profile: &LiveProfile) {}
    /// Called with output of the program.
    fn printed(&mut self, _stream: Stream, _bytes: &[u8]) {}
    /// Called when a trial has ended and is recorded.
    fn ended(&mut self, _record: &TrialRecord) {}
    /// Called when no trial follows.
    fn finished(&mut self) {}
    /// Called when the end of the run is recorded.
    fn concluded(&mut self, _state: RunState, _reason: &str) {}
}

/// A watcher that ignores everything.
impl Watcher for () {}

/// Passes all calls to two watchers.
pub struct Tee<'a>(pub &'a mut dyn Watcher, pub &'a mut dyn Watcher);

impl Watcher for Tee<'_> {
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
