//! A tracer of programs beside a trial: started before the program, informed of its phases, stopped
//! after it. What it saw is kept with the record, and its totals are metrics.

use std::cell::RefCell;
use std::path::Path;

use assay_model::{MetricValue, ObserverReport, Phase, TrialRecord};
use assay_observe::NotAvailable;

use crate::artifacts::File;

/// What a tracer of programs is.
pub(crate) trait Tracer: Sized {
    /// Its name in experiments, records and metrics.
    const NAME: &str;
    /// The file that is kept.
    const FILE: &str;
    /// What it is asked for.
    type Request;
    /// What it saw.
    type Seen: serde::Serialize;

    /// Starts it.
    ///
    /// # Errors
    /// This machine or these rights do not allow it.
    fn start(root: &Path, ask: &Self::Request) -> Result<Self, NotAvailable>;

    /// The measured part begins.
    fn begin(&mut self);

    /// The measured part ends.
    fn end(&mut self);

    /// Stops it.
    ///
    /// # Errors
    /// What was seen could not be read.
    fn stop(self) -> Result<Self::Seen, NotAvailable>;

    /// How much was seen: samples or events.
    fn samples(seen: &Self::Seen) -> u64;

    /// What was not seen, as sentences.
    fn not_seen(seen: &Self::Seen) -> Vec<String>;

    /// Totals, so that treatments are compared by them too.
    fn metrics(seen: &Self::Seen) -> Vec<MetricValue>;
}

/// A tracer in the trials of a run, if it is asked for.
#[derive(Debug)]
pub(crate) struct Beside<T: Tracer> {
    ask: Option<T::Request>,
    watch: RefCell<Option<Result<T, NotAvailable>>>,
}

impl<T: Tracer> Beside<T> {
    /// What an experiment asks for; `None`: nothing.
    pub fn new(ask: Option<T::Request>) -> Self {
        Beside { ask, watch: RefCell::new(None) }
    }

    /// Whether it is asked for.
    pub fn asked(&self) -> bool {
        self.ask.is_some()
    }

    /// Starts, if it is asked for. One that cannot is in the record.
    pub fn start(&self) {
        if let Some(ask) = &self.ask {
            *self.watch.borrow_mut() = Some(T::start(Path::new("/"), ask));
        }
    }

    /// The program has reported that a phase begins.
    pub fn phase(&self, phase: Phase) {
        if let Some(Ok(watch)) = &mut *self.watch.borrow_mut() {
            match phase {
                Phase::RampUp => {}
                Phase::Steady => watch.begin(),
                Phase::RampDown => watch.end(),
            }
        }
    }

    /// What a tracer at work says.
    pub fn ask<R>(&self, question: impl FnOnce(&T) -> R) -> Option<R> {
        self.watch.borrow().as_ref()?.as_ref().ok().map(question)
    }

    /// Stops and puts into the record what was seen; the file to keep.
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
