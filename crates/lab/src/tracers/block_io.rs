//! The tracers of a trial: they start before the program, receive its phases and stop after it.
//! Anything they missed is in the record. This module holds the block I/O tracer; the tracers of
//! programs are in `running_tracer`.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use assay_model::{
    Better, Experiment, MetricKind, MetricValue, ObserverReport, Phase, TrialRecord, units,
};
use assay_observe::NotAvailable;
use assay_observe::counters::RunningCounters;
use assay_observe::io::{IoWatch, TraceRequest};
use assay_observe::profile::{ProfileWatch, Snapshot};
use assay_observe::syscalls::SyscallWatch;
use assay_traces::block_io::{Dimension, IoReport, Measure, Op, OpTotal, Question};

use crate::tracers::instructions::InstructionCounting;
use crate::tracers::running_tracer::RunningTracer;
use crate::tracers::{counters, instructions, profile, syscalls};
use crate::trial::artifacts::File;

/// Names of the tracers that an experiment may list.
pub(crate) const TRACERS: [&str; 6] =
    ["io", "io-events", profile::NAME, syscalls::NAME, counters::NAME, instructions::NAME];
const NAME: &str = "io";
/// Maximum size in bytes of the file of single I/Os that a node sends with its part of a trial.
const MAX_SENT: u64 = 256 << 20;

/// Tracers that are active during the trials of a run.
#[derive(Debug)]
pub(crate) struct BlockIoTracers {
    ask: Option<TraceRequest>,
    watch: RefCell<Option<Result<IoWatch, NotAvailable>>>,
    profiling: RunningTracer<ProfileWatch>,
    calls: RunningTracer<SyscallWatch>,
    counters: RunningTracer<RunningCounters>,
    /// Instruction counts, which need separate trials.
    pub instructions: Option<InstructionCounting>,
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
        let mut files = vec![(assay_archive::IO.to_owned(), self.answer)];
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

impl BlockIoTracers {
    /// Creates the tracers that the experiment requests. Single I/Os are kept in `folder` until the
    /// trial is recorded.
    pub fn new(experiment: &Experiment, tick_ns: u64, folder: &Path) -> Self {
        let asked = |name: &str| experiment.observe.tracers.iter().any(|t| t == name);
        let events = asked("io-events");
        let question = || Question {
            by: vec![Dimension::Device, Dimension::Direction],
            histograms: vec![Measure::Size, Measure::Latency, Measure::Queue, Measure::Device],
            tick_ns: tick_ns.max(1),
            ..Question::default()
        };
        let ask = (events || asked("io")).then(|| TraceRequest {
            question: question(),
            events,
            save: events.then(|| folder.join("io.parquet")),
            classes: true,
            regions: true,
            ..TraceRequest::default()
        });
        BlockIoTracers {
            ask,
            watch: RefCell::new(None),
            profiling: RunningTracer::new(profile::request(experiment)),
            calls: RunningTracer::new(syscalls::request(experiment)),
            counters: RunningTracer::new(counters::request(experiment)),
            instructions: InstructionCounting::new(experiment, folder),
        }
    }

    /// Creates a set without any tracer.
    pub fn off() -> Self {
        BlockIoTracers {
            ask: None,
            watch: RefCell::new(None),
            profiling: RunningTracer::new(None),
            calls: RunningTracer::new(None),
            counters: RunningTracer::new(None),
            instructions: None,
        }
    }

    /// Starts the requested tracers. A failure to start goes into the record.
    pub fn start(&self) {
        if let Some(ask) = &self.ask {
            *self.watch.borrow_mut() = Some(IoWatch::start(Path::new("/"), ask));
        }
        self.profiling.start();
        self.calls.start();
        self.counters.start();
    }

    /// Returns the environment variables that tracers need in programs.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        if self.profiling.asked() { profile::env() } else { Vec::new() }
    }

    /// Informs the tracers that the program reported the start of a phase.
    pub fn phase(&self, phase: Phase) {
        self.profiling.phase(phase);
        self.calls.phase(phase);
        self.counters.phase(phase);
        if let Some(Ok(watch)) = &*self.watch.borrow() {
            match phase {
                Phase::RampUp => {}
                Phase::Steady => watch.begin(),
                Phase::RampDown => watch.end(),
            }
        }
    }

    /// Requests the profile of the trial so far; `None` if the trial is not profiled.
    pub fn snapshot(&self) -> Option<Receiver<Snapshot>> {
        self.profiling.ask(ProfileWatch::snapshot)
    }

    /// Stops the profiler, the system call counter and the hardware counters, adds their
    /// observations to the record, and returns the files to keep.
    pub fn stop_programs(&self, record: &mut TrialRecord) -> impl Iterator<Item = File> + use<> {
        let seen =
            [self.counters.stop(record), self.calls.stop(record), self.profiling.stop(record)];
        seen.into_iter().flatten()
    }

    /// Stops the block I/O tracer and adds its observations to the record.
    pub fn stop(&self, record: &mut TrialRecord) -> Option<BlockIoResult> {
        let watch = self.watch.borrow_mut().take()?;
        let mut report =
            ObserverReport { observer: NAME.to_owned(), samples: 0, not_seen: Vec::new() };
        let kept = match watch.and_then(IoWatch::stop) {
            Ok(traced) => {
                report.samples = traced.report.completeness.selected;
                record.metrics.extend(metrics(&traced.report));
                report.not_seen = traced.not_seen;
                let answer = serde_json::to_vec(&traced.report).ok();
                answer.map(|answer| BlockIoResult { answer, events: traced.events })
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

/// Converts the tracer's observations of the measurement window to metrics, so that treatments are
/// compared by them too.
fn metrics(report: &IoReport) -> Vec<MetricValue> {
    let seconds = report.span_ns.map(|ns| ns as f64 / 1e9).filter(|s| *s > 0.0);
    let rate = |n: u64| seconds.map(|s| n as f64 / s);
    let metric = |name: &str, value: Option<f64>, unit: &str| {
        MetricValue::new(
            format!("io.{name}"),
            value.filter(|v| v.is_finite()),
            unit,
            Better::Neither,
            MetricKind::Measured,
        )
    };
    let mut all = Vec::new();
    for (op, word) in [(Op::Read, "read"), (Op::Write, "write")] {
        let of = report.ops.iter().find(|o| o.op == op);
        let ios = of.map_or(0, |o| o.ios);
        let bytes = of.map_or(0, |o| o.bytes);
        let size = (ios > 0).then(|| bytes as f64 / ios as f64);
        let time = |ns: fn(&OpTotal) -> Option<f64>| of.and_then(ns).map(|ns| ns / 1e9);
        all.push(metric(&format!("{word}s"), rate(ios), "I/Os/s"));
        all.push(metric(&format!("{word}_bytes"), rate(bytes), "B/s"));
        all.push(metric(&format!("{word}_size"), size, "B").counted());
        all.push(metric(&format!("{word}_p50"), time(|o| o.latency.p50_ns), "s"));
        all.push(metric(&format!("{word}_p99"), time(|o| o.latency.p99_ns), "s"));
    }
    let classes = &report.classes;
    for (name, n) in [
        ("aio", classes.aio),
        ("writeback", classes.writeback),
        ("readahead", classes.readahead),
        ("nosync", classes.nosync),
    ] {
        all.push(metric(name, n.and_then(rate), "I/Os/s"));
    }
    all
}
