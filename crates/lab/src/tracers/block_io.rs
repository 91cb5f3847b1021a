//! The block I/O tracer of a trial. It observes the whole machine.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use assay_model::{Phase, TrialRecord, units};
use assay_observe::NotAvailable;
use assay_observe::io::{IoWatch, TraceRequest};
use assay_traces::block_io::{Dimension, FILE, Measure, Question};

use super::running_tracer::{File, record_trace};

/// Names of the tracer in experiments: with `io-events` it keeps single I/Os.
pub(super) const NAMES: [&str; 2] = [FILE.tracer, EVENTS];
const EVENTS: &str = "io-events";
/// Maximum size in bytes of the file of single I/Os that a node sends with its part of a trial.
const MAX_SENT: u64 = 256 << 20;

/// The block I/O tracer of a run's trials.
#[derive(Debug)]
pub(super) struct BlockIoTracer {
    request: TraceRequest,
    watch: RefCell<Option<Result<IoWatch, NotAvailable>>>,
}

/// Block I/O data of a trial to keep.
pub(crate) struct BlockIoResult {
    /// Report of the I/O tracer as JSON.
    pub answer: Vec<u8>,
    /// File of single I/Os.
    pub events: Option<PathBuf>,
}

impl BlockIoResult {
    /// Returns the data as files for the collecting machine. Single I/Os that are too large to send
    /// are dropped, with a note.
    pub fn files(self, record: &mut TrialRecord) -> Vec<File> {
        let mut files = vec![(FILE.name.to_owned(), self.answer)];
        let Some(path) = self.events else { return files };
        let size = std::fs::metadata(&path).map(|m| m.len());
        match size.and_then(
            |size| if size > MAX_SENT { Ok(None) } else { std::fs::read(&path).map(Some) },
        ) {
            Ok(Some(bytes)) => files.push((assay_archive::IO_EVENTS.to_owned(), bytes)),
            Ok(None) => record.notes.push(format!(
                "single I/Os are not kept: their file is larger than the {} that a node sends; \
                 trace `io`, or shorter trials",
                units::format_value(MAX_SENT as f64, "B")
            )),
            Err(e) => {
                record.notes.push(format!("single I/Os are not kept: {}: {e}", path.display()));
            }
        }
        // The next trial creates the file again.
        let _ = std::fs::remove_file(path);
        files
    }
}

impl BlockIoTracer {
    /// Creates the tracer; `None` if an experiment does not list it. Single I/Os are kept in
    /// `folder` until the trial is recorded.
    pub fn new(listed: &[String], tick_ns: u64, folder: &Path) -> Option<Self> {
        let events = listed.iter().any(|tracer| tracer == EVENTS);
        if !events && !listed.iter().any(|tracer| tracer == FILE.tracer) {
            return None;
        }
        let question = Question {
            by: vec![Dimension::Device, Dimension::Direction],
            histograms: vec![Measure::Size, Measure::Latency, Measure::Queue, Measure::Device],
            tick_ns: tick_ns.max(1),
            ..Question::default()
        };
        let request = TraceRequest {
            question,
            events,
            save: events.then(|| folder.join(assay_archive::IO_EVENTS)),
            classes: true,
            regions: true,
            ..TraceRequest::default()
        };
        Some(BlockIoTracer { request, watch: RefCell::new(None) })
    }

    /// Starts tracing. A failure to start goes into the record.
    pub fn start(&self) {
        *self.watch.borrow_mut() = Some(IoWatch::start(Path::new("/"), &self.request));
    }

    /// Informs the tracer that the program reported the start of a phase.
    pub fn phase(&self, phase: Phase) {
        if let Some(Ok(watch)) = &*self.watch.borrow() {
            match phase {
                Phase::RampUp => {}
                Phase::Steady => watch.begin(),
                Phase::RampDown => watch.end(),
            }
        }
    }

    /// Stops tracing and adds the observations to the record.
    pub fn stop(&self, record: &mut TrialRecord) -> Option<BlockIoResult> {
        let watch = self.watch.borrow_mut().take()?;
        let (trace, events, not_seen) = match watch.and_then(IoWatch::stop) {
            Ok(traced) => (Ok(traced.report), traced.events, traced.not_seen),
            Err(error) => (Err(error), None, Vec::new()),
        };
        let answer = record_trace(record, FILE.tracer, trace, not_seen)?;
        Some(BlockIoResult { answer, events })
    }
}
