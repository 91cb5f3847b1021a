//! A tracer in a thread of its own, for trials: the caller marks the beginning and the end of the
//! measurement window, and gets the answer at the end.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use assay_traces::block_io::{IoReport, NameTable};

use super::tracer::IoTracer;
use super::way::TraceRequest;
use crate::NotAvailable;
use crate::sampling::background::Background;

/// Interval between two reads of the ring.
const POLL: Duration = Duration::from_millis(5);
/// Interval between two reads if the kernel counts.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug)]
enum TracerCommand {
    Begin,
    End,
}

/// Result of tracing a trial.
#[derive(Debug, Clone)]
pub struct TraceResult {
    pub report: IoReport,
    /// I/Os that were lost or not fully observed, a sentence each.
    pub not_seen: Vec<String>,
    /// File of single I/Os, if they were saved.
    pub events: Option<PathBuf>,
}

/// A tracer that runs during a trial. Dropping it ends it.
#[derive(Debug)]
pub struct IoWatch(Background<TracerCommand, TraceResult>);

impl IoWatch {
    /// Starts tracing; returns when the probes are attached.
    pub fn start(root: &Path, ask: &TraceRequest) -> Result<Self, NotAvailable> {
        let (root, ask) = (root.to_owned(), ask.clone());
        let work = move |ready: &Sender<_>, requests: &Receiver<_>| {
            let names = NameTable::default();
            let tracer = IoTracer::start(&root, &ask, &names);
            let _ = ready.send(tracer.as_ref().err().cloned());
            watch(tracer?, &ask, requests)
        };
        Background::start("io tracer", "tracer", work).map(IoWatch)
    }

    /// Begins the measurement window now.
    pub fn begin(&self) {
        self.0.send(TracerCommand::Begin);
    }

    /// Ends the measurement window now.
    pub fn end(&self) {
        self.0.send(TracerCommand::End);
    }

    /// Stops tracing and returns the answer.
    pub fn stop(self) -> Result<TraceResult, NotAvailable> {
        self.0.stop()
    }
}

fn watch(
    mut tracer: IoTracer<'_>,
    ask: &TraceRequest,
    requests: &Receiver<TracerCommand>,
) -> Result<TraceResult, NotAvailable> {
    let tick = ask.question.tick_ns;
    let each = if ask.events || ask.save.is_some() { POLL } else { LOOK };
    let mut next = (tracer.began_ns() / tick + 1) * tick;
    loop {
        match requests.recv_timeout(each) {
            Ok(TracerCommand::Begin) => tracer.begin_window(),
            Ok(TracerCommand::End) => tracer.end_window(),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => tracer.poll(),
        }
        let now = assay_system::clock::monotonic_ns();
        if now >= next {
            tracer.tick(next);
            next = (now / tick + 1) * tick;
        }
    }
    tracer.stop();
    tracer.finish().map_err(|e| NotAvailable::because(e.to_string()))?;
    let report = tracer.report();
    let not_seen = tracer.not_seen(&report);
    Ok(TraceResult { report, not_seen, events: ask.save.clone() })
}
