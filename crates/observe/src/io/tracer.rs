//! Entry point of live block-I/O tracing: takes a question, chooses a way to ask the kernel, and
//! returns the answer so far.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use assay_system::clock::process_cpu_time;
use assay_traces::block_io::{
    Cost, EventFormat, EventText, Filter, IoAnalysis, IoReport, IoSource, IoWriter, NameTable,
    Question, Sink, TickRow, TraceAbout, WrittenLines,
};

use super::asked::{latency_is, missing, resolve, writer};
use super::counters::KernelCounters;
use super::devices::{BlockDevice, BlockDevices};
use super::ebpf;
use super::tracepoints::Tracepoints;
use super::way::{BoxedMethod, Method, TraceRequest};
use crate::NotAvailable;

struct Window<'n> {
    from_ns: u64,
    to_ns: Option<u64>,
    analysis: IoAnalysis<'n>,
}

/// A tracer of block I/O that answers one question on the running system.
pub struct IoTracer<'n> {
    way: BoxedMethod<'n>,
    /// Analysis of the whole observation.
    analysis: IoAnalysis<'n>,
    /// Analysis of the measurement window, once it has begun.
    window: Option<Window<'n>>,
    question: Question,
    names: &'n NameTable,
    writer: Option<IoWriter<'n>>,
    text: Option<EventText<'n, Box<dyn Write>>>,
    /// Reasons why better methods are not used.
    not_seen: Vec<String>,
    selection: Vec<String>,
    watched: String,
    began_ns: u64,
    ended_ns: Option<u64>,
    wall_offset_ns: i64,
    reader_began: Duration,
}

impl<'n> IoTracer<'n> {
    /// Starts tracing; `root` is `/` except in tests. Returns an error with the reason if the
    /// question cannot be answered on this system.
    pub fn start(
        root: &Path,
        ask: &TraceRequest,
        names: &'n NameTable,
    ) -> Result<Self, NotAvailable> {
        let devices = BlockDevices::read(root)
            .map_err(|e| NotAvailable::file(&root.join("sys/class/block"), &e))?;
        let mut ask = ask.clone();
        ask.events |= ask.save.is_some();
        resolve(&mut ask.question.filter, &devices)?;
        let writer = match &ask.save {
            Some(path) => Some(writer(path, names)?),
            None => None,
        };
        let (way, not_seen) = way(root, &ask, devices, names)?;
        let filter = std::mem::take(&mut ask.question.filter);
        let watched = match filter.devices.as_slice() {
            [] => "all block devices".to_owned(),
            some => some.join(", "),
        };
        // Filters that the probes do not apply themselves are left to the analysis.
        ask.question.filter = match way.method() {
            Method::Ebpf | Method::Counters => Filter {
                files: filter.files.clone(),
                from_ns: filter.from_ns,
                to_ns: filter.to_ns,
                ..Filter::default()
            },
            Method::Tracepoints => filter.clone(),
        };
        let began_ns = now_ns();
        let mut analysis = IoAnalysis::new(&ask.question, names);
        analysis.set_origin(began_ns);
        if way.counts() {
            analysis.counted_every(ask.question.tick_ns);
        }
        Ok(IoTracer {
            way,
            analysis,
            window: None,
            question: ask.question,
            names,
            writer,
            text: None,
            not_seen,
            selection: filter.words(),
            watched,
            began_ns,
            ended_ns: None,
            wall_offset_ns: wall_offset_ns(),
            reader_began: process_cpu_time(),
        })
    }

    /// Returns the method by which the kernel is asked.
    pub fn method(&self) -> Method {
        self.way.method()
    }

    /// Returns why a better method is not used, and what this kernel does not report; a sentence
    /// each.
    pub(super) fn limits(&self) -> Vec<String> {
        self.not_seen.iter().cloned().chain(self.way.limits()).collect()
    }

    /// Returns the devices that existed at the start.
    pub fn devices(&self) -> &BlockDevices {
        self.way.devices()
    }

    /// Returns the start of the observation, nanoseconds of the run's clock.
    pub fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// Converts a time of the run's clock to nanoseconds since 1970.
    pub fn wall_ns(&self, t_ns: u64) -> u64 {
        t_ns.saturating_add_signed(self.wall_offset_ns)
    }

    /// Processes the events that have arrived. Call it about every 10 milliseconds if single I/Os
    /// are requested.
    pub fn poll(&mut self) {
        let mut sinks: Vec<&mut dyn Sink> = vec![&mut self.analysis];
        if let Some(window) = self.window.as_mut().filter(|w| w.to_ns.is_none()) {
            sinks.push(&mut window.analysis);
        }
        if let Some(writer) = &mut self.writer {
            sinks.push(writer);
        }
        if let Some(text) = &mut self.text {
            sinks.push(text);
        }
        self.way.poll(&mut sinks);
    }

    /// Adds the counts since the last tick to the tick that ends at `end_ns` of the run's clock.
    pub fn tick(&mut self, end_ns: u64) {
        if self.ended_ns.is_none() {
            self.take_up(end_ns);
        }
    }

    fn take_up(&mut self, end_ns: u64) {
        self.poll();
        let t_ns = end_ns.max(self.began_ns + 1) - 1;
        let mut analyses = vec![&mut self.analysis];
        if let Some(window) = self.window.as_mut().filter(|w| w.to_ns.is_none()) {
            analyses.push(&mut window.analysis);
        }
        self.way.tick(t_ns, &mut analyses);
    }

    /// Begins a measurement window, which replaces an earlier one: the answer then covers the
    /// window. Time series and heat maps still cover the whole observation.
    pub fn begin_window(&mut self) {
        let now = now_ns();
        self.window = None;
        self.tick(now);
        let mut analysis = IoAnalysis::new(&self.question, self.names);
        analysis.set_origin(now);
        self.window = Some(Window { from_ns: now, to_ns: None, analysis });
    }

    /// Ends the window that [`IoTracer::begin_window`] began.
    pub fn end_window(&mut self) {
        let now = now_ns();
        self.tick(now);
        if let Some(window) = self.window.as_mut().filter(|w| w.to_ns.is_none()) {
            window.to_ns = Some(now);
        }
    }

    /// Stops tracing; the answer remains available.
    pub fn stop(&mut self) {
        if self.ended_ns.is_some() {
            return;
        }
        self.way.stop();
        let now = now_ns();
        self.ended_ns = Some(now);
        self.take_up(now);
    }

    /// Returns the last tick of the series that ended before `end_ns`, if it had any I/O.
    pub fn tick_before(&self, end_ns: u64) -> Option<TickRow> {
        self.analysis.tick_at(end_ns.checked_sub(1)?, self.way.recorded())
    }

    /// Returns the answer so far.
    pub fn report(&mut self) -> IoReport {
        let end = self.ended_ns.unwrap_or_else(now_ns);
        self.analysis.watched(self.began_ns, end);
        let about = self.about();
        let source = IoSource {
            name: self.watched.clone(),
            format: about.format,
            files: 0,
            latency_is: about.latency_is,
            recorded: about.recorded,
            notes: self.not_seen.iter().cloned().chain(self.way.notes()).collect(),
        };
        let wall = Some(i128::from(self.wall_offset_ns));
        let mut whole = self.analysis.report(source, about.completeness, wall);
        whole.cost = Some(self.cost(end));
        let mut report = match &mut self.window {
            Some(window) => window.report(whole, end, wall),
            None => whole,
        };
        report.selection.clone_from(&self.selection);
        let shown = |d: &&BlockDevice| report.devices.iter().any(|r| r.device == d.name);
        let made: Vec<String> = self
            .devices()
            .all()
            .filter(shown)
            .filter_map(|d| Some(format!("{} is {}.", d.name, d.made_of.as_ref()?)))
            .collect();
        report.source.notes.extend(made);
        report
    }

    /// Returns one sentence for each kind of I/O that was lost or not fully observed.
    pub fn not_seen(&self, report: &IoReport) -> Vec<String> {
        let mut all = self.not_seen.clone();
        let h = &report.completeness;
        for (n, what) in [
            (h.dropped.unwrap_or(0), "I/Os were lost by the tracer"),
            (h.unmatched_ends, "I/Os ended whose start was not seen"),
            (
                h.missed_completions,
                "I/Os have no latency: the kernel did not report their completion",
            ),
            (h.given_up, "I/Os were not followed, since too many were in flight"),
            (h.pooled, "I/Os are of groups beyond the limit"),
            (h.clock_backwards, "I/Os ended before they began, by the kernel's clock"),
        ] {
            if n > 0 {
                all.push(format!("{n} {what}"));
            }
        }
        all
    }

    /// Also writes every I/O as text, ordered by time; needs [`TraceRequest::events`].
    ///
    /// # Errors
    /// The method in use does not report single I/Os.
    pub fn write_events(
        &mut self,
        format: EventFormat,
        out: Box<dyn Write>,
    ) -> Result<(), NotAvailable> {
        if self.method() == Method::Counters {
            return Err(NotAvailable::because(self.not_seen.join("; ")));
        }
        let numbers = self.devices().all().map(|d| (d.name.clone(), (d.major, d.minor))).collect();
        let filter = &self.question.filter;
        // Tracepoints through perf report starts as well: the event before the issue is the
        // creation of the request.
        self.text = Some(EventText::new(out, self.names, format, filter, false, numbers));
        Ok(())
    }

    /// Finishes the text of the I/Os; `None` if none was requested.
    ///
    /// # Errors
    /// The text could not be written.
    pub fn events_written(&mut self) -> std::io::Result<Option<WrittenLines>> {
        self.stop();
        self.text.take().map(EventText::finish).transpose()
    }

    /// Finishes the file of single I/Os, if there is one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(&mut self) -> Result<(), assay_traces::block_io::Error> {
        self.stop();
        let about = self.about();
        self.writer.take().map_or(Ok(()), |writer| writer.finish(&about))
    }

    fn cost(&self, end_ns: u64) -> Cost {
        let mut cost = self.way.cost();
        let reader = process_cpu_time().saturating_sub(self.reader_began);
        let watched = end_ns.saturating_sub(self.began_ns).max(1);
        cost.reader_share = Some(reader.as_nanos() as f64 / watched as f64);
        cost
    }

    fn about(&self) -> TraceAbout {
        let recorded = self.way.recorded();
        let method = self.way.cost().method;
        let missing = missing(&self.question, recorded);
        TraceAbout {
            format: format!("live, {method}{missing}"),
            latency_is: latency_is(recorded).to_owned(),
            recorded,
            completeness: self.way.completeness(),
            wall_offset_ns: Some(self.wall_offset_ns),
        }
    }
}

impl Window<'_> {
    /// Returns the answer for the window, with the series and heat maps of the whole observation.
    fn report(&mut self, whole: IoReport, end_ns: u64, wall: Option<i128>) -> IoReport {
        let to_ns = self.to_ns.unwrap_or(end_ns);
        self.analysis.watched(self.from_ns, to_ns);
        let mut report = self.analysis.report(whole.source, whole.completeness, wall);
        for device in &mut report.devices {
            let all = whole.devices.iter().find(|d| d.device == device.device);
            device.heat = all.and_then(|d| d.heat.clone());
        }
        report.source.notes.push(
            "Counts and histograms cover the steady phase; losses and charts over time cover the \
             whole trial."
                .to_owned(),
        );
        IoReport {
            series: whole.series,
            latency_heat: whole.latency_heat,
            cost: whole.cost,
            ..report
        }
    }
}

/// Chooses the best available method; also returns why better ones are not used.
fn way<'n>(
    root: &Path,
    ask: &TraceRequest,
    devices: BlockDevices,
    names: &'n NameTable,
) -> Result<(BoxedMethod<'n>, Vec<String>), NotAvailable> {
    let mut why = Vec::new();
    if ask.method.is_none_or(|m| m == Method::Ebpf) {
        match ebpf::start(root, ask, devices.clone(), names) {
            Ok(ebpf) => return Ok((ebpf, why)),
            Err(error) if ask.method.is_some() => return Err(error),
            Err(error) => why.push(error.to_string()),
        }
    }
    let filter = &ask.question.filter;
    if ask.method.is_none_or(|m| m == Method::Tracepoints) {
        // Files and control groups are not reported, so nothing can be filtered by them.
        let selects_none = filter.files.is_empty() && filter.cgroups.is_empty();
        match Tracepoints::start(root, &ask.question, devices.clone(), names) {
            Ok(perf) if selects_none => return Ok((Box::new(perf), why)),
            Ok(_) => {
                why.push("the kernel's tracepoints report no file or control group".to_owned());
            }
            Err(error) if ask.method.is_some() => return Err(error),
            Err(error) => why.push(error.to_string()),
        }
    }
    let beyond = [&filter.programs, &filter.files, &filter.cgroups].iter().any(|l| !l.is_empty())
        || !filter.pids.is_empty()
        || filter.blocks.is_some()
        || ask.events;
    if beyond {
        let why = why.join("; ");
        return Err(NotAvailable::because(format!(
            "{why}; unprivileged, the kernel's counters separate devices and directions only"
        )));
    }
    let counters = KernelCounters::start(root, &ask.question, devices, names)?;
    Ok((Box::new(counters), why))
}

fn now_ns() -> u64 {
    assay_system::clock::monotonic_ns()
}

/// Returns the offset from the run's clock to nanoseconds since 1970.
fn wall_offset_ns() -> i64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let wall = i128::from(t.tv_sec) * 1_000_000_000 + i128::from(t.tv_nsec);
    i64::try_from(wall - i128::from(now_ns())).unwrap_or(0)
}
