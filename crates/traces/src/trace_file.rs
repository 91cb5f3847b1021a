//! Files of tracers in the record of a trial: one row for each tracer whose file is read again.
//!
//! A row has the tracer's name, its file and its reader; the traces implement [`TraceData`]. The
//! archive, the explanation of a difference and the reports iterate over
//! [`TRACE_FILES`](crate::TRACE_FILES) and name no tracer.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use assay_model::{Better, MetricKind, MetricValue, Observed};

/// Latest version of the files that this crate reads, and the one that it writes.
pub const VERSION: u32 = 1;

/// Trace of one trial.
pub trait TraceData: Any + Debug + Send + Sync {
    /// Returns the numbers that are compared between treatments; none by default.
    fn numbers(&self) -> Vec<TracedNumber> {
        Vec::new()
    }

    /// Returns totals as metrics of the trial, so that treatments are compared by them too.
    fn metrics(&self) -> Vec<MetricValue> {
        Vec::new()
    }

    /// Returns the number of samples or events observed.
    fn samples(&self) -> u64 {
        0
    }

    /// Returns sentences about events that the tracer missed.
    fn not_seen(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Creates a metric `TRACER.NAME` of a trace; neither direction is better.
pub fn traced_metric(tracer: &str, name: &str, value: Option<f64>, unit: &str) -> MetricValue {
    let name = format!("{tracer}.{name}");
    MetricValue::new(name, value, unit, Better::Neither, MetricKind::Measured)
}

/// Trace of one trial, of any tracer.
pub type SharedTrace = Arc<dyn TraceData>;

/// A number in a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedNumber {
    /// Object of the number: a system call, a function.
    pub subject: String,
    /// Name of the quantity.
    pub name: &'static str,
    pub unit: &'static str,
    pub value: f64,
}

/// Reason why the file of a tracer cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("it has version {0} and this assay reads up to {VERSION}; a newer assay reads it")]
    Newer(u32),
}

/// The file that a tracer keeps with each trial.
#[derive(Debug)]
pub struct TraceFile {
    /// Name of the tracer in experiments and records, and source of its numbers.
    pub tracer: &'static str,
    /// Name of the file.
    pub name: &'static str,
    /// Plural of its numbers, for sentences: `numbers of system calls`.
    pub numbers: &'static str,
    /// True if the tracer counts everything in a trial, so that a missing number is 0.
    pub complete: bool,
    /// Reads the content of the file.
    pub read: fn(&[u8]) -> Result<SharedTrace, TraceFileError>,
    /// Adds up the traces of a trial's nodes; `None` if they are not added up.
    pub merge: Option<fn(&[SharedTrace]) -> SharedTrace>,
    /// Compares two treatments in another way than by [`TraceData::numbers`].
    pub compare: Option<fn(&TracePair<'_>) -> Vec<Observed>>,
}

/// Traces of the trials of two treatments.
#[derive(Debug)]
pub struct TracePair<'a> {
    pub baseline: Vec<&'a dyn TraceData>,
    pub treatment: Vec<&'a dyn TraceData>,
    /// Mean length of the baseline's measurement window in nanoseconds; `None` without a window.
    pub window_ns: Option<f64>,
    /// Confidence level of all intervals together.
    pub confidence: f64,
}

/// Reads a trace from JSON.
pub(crate) fn from_json<T>(bytes: &[u8]) -> Result<SharedTrace, TraceFileError>
where
    T: TraceData + serde::de::DeserializeOwned,
{
    Ok(Arc::new(serde_json::from_slice::<T>(bytes)?))
}

/// Returns a trace as its own type.
pub fn typed<T: TraceData>(trace: &dyn TraceData) -> Option<&T> {
    (trace as &dyn Any).downcast_ref()
}

/// Traces of the trials of a run.
#[derive(Debug, Clone, Default)]
pub struct RunTraces(BTreeMap<(&'static str, u32), SharedTrace>);

impl RunTraces {
    /// Adds the trace of a trial.
    pub fn insert(&mut self, file: &TraceFile, trial: u32, trace: SharedTrace) {
        self.0.insert((file.tracer, trial), trace);
    }

    /// Returns the trace of a trial.
    pub fn trial(&self, file: &TraceFile, trial: u32) -> Option<&dyn TraceData> {
        self.0.get(&(file.tracer, trial)).map(|trace| &**trace)
    }

    /// Returns the trace of a trial as its own type.
    pub fn get<T: TraceData>(&self, file: &TraceFile, trial: u32) -> Option<&T> {
        typed(self.trial(file, trial)?)
    }
}
