//! A tracer in a thread of its own, for trials: it learns when the measured part begins and ends, and
//! hands back its answer.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use assay_iotrace::{IoReport, Names};

use super::tracer::IoTracer;
use super::way::TraceRequest;
use crate::NotAvailable;
use crate::background::Background;

/// Between two looks into the ring.
const POLL: Duration = Duration::from_millis(5);
/// Between two looks where the kernel counts.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug)]
enum Tell {
    Begin,
    End,
}

/// What a tracer brings back from a trial.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The answer.
    pub report: IoReport,
    /// What could not be seen, and why.
    pub not_seen: Vec<String>,
    /// The file of single I/Os, if they were kept.
    pub events: Option<PathBuf>,
}

/// A tracer at work beside a trial. Dropped, it ends.
#[derive(Debug)]
pub struct IoWatch(Background<Tell, Traced>);

impl IoWatch {
    /// Begins to watch; returns when the probes are attached.
    pub fn start(root: &Path, ask: &TraceRequest) -> Result<Self, NotAvailable> {
        let (root, ask) = (root.to_owned(), ask.clone());
        let work = move |ready: &Sender<_>, requests: &Receiver<_>| {
            let names = Names::default();
            let tracer = IoTracer::start(&root, &ask, &names);
            let _ = ready.send(tracer.as_ref().err().cloned());
            watch(tracer?, &ask, requests)
        };
        Background::start("io tracer", "tracer", work).map(IoWatch)
    }

    /// The measured part begins now.
    pub fn begin(&self) {
        self.0.tell(Tell::Begin);
    }

    /// The measured part ends now.
    pub fn end(&self) {
        self.0.tell(Tell::End);
    }

    /// Stops and brings the answer.
    pub fn stop(self) -> Result<Traced, NotAvailable> {
        self.0.stop()
    }
}

fn watch(
    mut tracer: IoTracer<'_>,
    ask: &TraceRequest,
    requests: &Receiver<Tell>,
) -> Result<Traced, NotAvailable> {
    let tick = ask.question.tick_ns;
    let each = if ask.events || ask.save.is_some() { POLL } else { LOOK };
    let mut next = (tracer.began_ns() / tick + 1) * tick;
    loop {
        match requests.recv_timeout(each) {
            Ok(Tell::Begin) => tracer.begin_window(),
            Ok(Tell::End) => tracer.end_window(),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => tracer.poll(),
        }
        let now = assay_sut::clock::monotonic_ns();
        if now >= next {
            tracer.tick(next);
            next = (now / tick + 1) * tick;
        }
    }
    tracer.stop();
    tracer.finish().map_err(|e| NotAvailable::because(e.to_string()))?;
    let report = tracer.report();
    let not_seen = tracer.not_seen(&report);
    Ok(Traced { report, not_seen, events: ask.save.clone() })
}
