//! A tracer of programs that runs during a trial: it starts before the program, receives the
//! program's phases, and stops after it. Its observations are kept with the record, and its totals
//! become metrics.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::Receiver;

use assay_model::{ObserverReport, Phase, TrialRecord};
use assay_observe::{NotAvailable, ProfileSnapshot, Tracer};
use assay_traces::TraceData;

/// Name and content of a file.
pub(crate) type File = (String, Vec<u8>);

/// A tracer of any type, for the trials of a run.
pub(super) trait TrialTracer {
    /// Starts the tracer. A failure to start goes into the record.
    fn start(&self);

    /// Informs the tracer that the program reported the start of a phase.
    fn phase(&self, phase: Phase);

    /// Stops the tracer, adds its observations to the record, and returns the file to keep.
    fn stop(&self, record: &mut TrialRecord) -> Option<File>;

    /// Returns environment variables for the programs.
    fn env(&self) -> Vec<(OsString, OsString)>;

    /// Requests the profile so far; `None` if the tracer records none, or does not run.
    fn snapshot(&self) -> Option<Receiver<ProfileSnapshot>>;
}

/// A row of the list of tracers.
pub(super) struct TracerRow {
    pub name: &'static str,
    /// Creates the tracer as an experiment lists it; `None` if it lists another tracer.
    pub create: fn(&str) -> Option<Box<dyn TrialTracer>>,
    /// Returns the reason why the tracer is known to record nothing on this machine.
    pub obstacle: fn() -> Option<NotAvailable>,
}

/// Returns the row of a tracer.
pub(super) const fn row<T: Tracer>() -> TracerRow {
    TracerRow {
        name: T::NAME,
        create: |listed| {
            let request = T::request(listed)?;
            Some(Box::new(RunningTracer::<T> { request, watch: RefCell::new(None) }))
        },
        obstacle: T::obstacle,
    }
}

struct RunningTracer<T: Tracer> {
    request: T::Request,
    watch: RefCell<Option<Result<T, NotAvailable>>>,
}

impl<T: Tracer> TrialTracer for RunningTracer<T> {
    fn start(&self) {
        *self.watch.borrow_mut() = Some(T::start(Path::new("/"), &self.request));
    }

    fn phase(&self, phase: Phase) {
        if let Some(Ok(watch)) = &mut *self.watch.borrow_mut() {
            match phase {
                Phase::RampUp => {}
                Phase::Steady => watch.begin(),
                Phase::RampDown => watch.end(),
            }
        }
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        T::env()
    }

    fn snapshot(&self) -> Option<Receiver<ProfileSnapshot>> {
        self.watch.borrow().as_ref()?.as_ref().ok()?.snapshot()
    }

    fn stop(&self, record: &mut TrialRecord) -> Option<File> {
        let watch = self.watch.borrow_mut().take()?;
        let kept = record_trace(record, T::NAME, watch.and_then(T::stop), Vec::new())?;
        Some((T::FILE.to_owned(), kept))
    }
}

/// Adds the totals, the number of samples and the missed events of a trace to the trial's record; a
/// tracer that failed adds the reason. Returns the trace as JSON.
pub(super) fn record_trace<T: TraceData + serde::Serialize, E: ToString>(
    record: &mut TrialRecord,
    tracer: &str,
    trace: Result<T, E>,
    not_seen: Vec<String>,
) -> Option<Vec<u8>> {
    let mut report = ObserverReport { observer: tracer.to_owned(), samples: 0, not_seen };
    let kept = match trace {
        Ok(trace) => {
            report.samples = trace.samples();
            report.not_seen.extend(trace.not_seen());
            record.metrics.extend(trace.metrics());
            serde_json::to_vec(&trace).ok()
        }
        Err(e) => {
            report.not_seen.push(e.to_string());
            None
        }
    };
    record.observers.push(report);
    kept
}
