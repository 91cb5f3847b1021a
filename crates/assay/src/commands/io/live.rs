//! `assay io`: block I/O of the live system, while it happens.

use std::fmt::Write as _;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, anyhow};
use assay_model::units::format_bytes;
use assay_observe::io::{BlockDevices, IoTracer, TraceRequest};
use assay_report::terminal::{io as io_text, io_tick_header, io_tick_line};
use assay_system::Interrupt;
use assay_system::process::ProcessResult;
use assay_traces::block_io::{IoReport, NameTable, Question};

use crate::arguments::Global;
use crate::commands::io::args::Io;
use crate::commands::observed_command;
use crate::exit::{Exit, usage};
use crate::screen::{print, print_json, print_styled, say, style};

/// Between two looks into the rings of single I/Os.
pub(in crate::commands) const POLL: Duration = Duration::from_millis(5);
/// Between two looks where the kernel counts.
const LOOK: Duration = Duration::from_millis(50);
/// Lines between two headers.
const SCREEN: u64 = 22;

/// Watches until the count, an interrupt or the end of the command, and prints the answer.
pub fn live(global: &Global, asked: &Io, question: Question) -> Result<Exit> {
    if asked.devices {
        return list(global);
    }
    if asked.threads.is_some() {
        return usage("--threads: is for recorded traces (--from)");
    }
    check_devices(&question.filter.devices)?;
    let ask = TraceRequest {
        classes: asked.tick.is_some() || question.histograms.is_empty(),
        events: asked.events || asked.format.is_some(),
        save: asked.save.clone(),
        regions: question.histograms.is_empty(),
        question,
        ..TraceRequest::default()
    };
    let interrupt = Interrupt::install()?;
    let names = NameTable::default();
    let mut tracer = IoTracer::start(Path::new("/"), &ask, &names)?;
    if let Some(format) = asked.format {
        let out = Box::new(std::io::BufWriter::new(std::io::stdout()));
        tracer.write_events(format, out)?;
    }
    let command =
        (!asked.command.is_empty()).then(|| observed_command::start(&asked.command, &interrupt));
    if command.is_none() && asked.count.is_none() && !global.json {
        say("watching block I/O; Ctrl-C ends it and shows the answer");
    }
    let mut watch = LiveTable {
        tick_ns: ask.question.tick_ns,
        each: if ask.events || asked.save.is_some() { POLL } else { LOOK },
        show: asked.tick.is_some() && !global.json,
        left: asked.count.unwrap_or(u64::MAX),
        lines: 0,
    };
    watch.run(&mut tracer, &interrupt, command.as_ref())?;
    tracer.stop();
    tracer.finish()?;
    let report = tracer.report();
    let ran = command.map(observed_command::ended).transpose()?;
    if let Some(ran) = ran.as_ref().filter(|_| !global.json && asked.format.is_none()) {
        // The tracer sees the whole machine.
        let bytes = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), format_bytes);
        print(&format!(
            "{} read {} from storage and wrote {} (written back or not).\nBelow is the I/O of all \
             programs while it ran.\n\n",
            asked.command[0].display(),
            bytes(ran.resources.storage_read_bytes),
            bytes(ran.resources.storage_written_bytes),
        ))?;
    }
    let written = tracer.events_written()?;
    match written {
        None => show(global, &report, watch.show)?,
        Some(written) => {
            crate::commands::io::exit_of(written);
            // The answer, which is not shown, would list the losses.
            tracer.not_seen(&report).iter().for_each(|line| say(line));
        }
    }
    Ok(match ran {
        Some(ran) if !ran.exit.success() => Exit::Workload,
        _ if report.completeness.selected == 0 => Exit::Nothing,
        _ => Exit::Fine,
    })
}

/// A device that is not there is a mistake of who typed it.
pub(in crate::commands) fn check_devices(names: &[String]) -> Result<()> {
    let Ok(devices) = BlockDevices::read(Path::new("/")) else { return Ok(()) };
    match names.iter().find(|name| devices.find(name).is_none()) {
        Some(name) => usage(format!(
            "there is no block device `{name}`; `assay io --devices` lists the devices"
        )),
        None => Ok(()),
    }
}

fn show(global: &Global, report: &IoReport, after_ticks: bool) -> Result<()> {
    if global.json {
        return print_json(report);
    }
    let text = io_text(report, style());
    print_styled(&if after_ticks { format!("\n{text}") } else { text })
}

struct LiveTable {
    tick_ns: u64,
    each: Duration,
    show: bool,
    left: u64,
    lines: u64,
}

impl LiveTable {
    fn run(
        &mut self,
        tracer: &mut IoTracer<'_>,
        interrupt: &Interrupt,
        command: Option<&JoinHandle<Result<ProcessResult, assay_system::process::ProcessError>>>,
    ) -> Result<()> {
        let tick = self.tick_ns;
        let mut next = (tracer.began_ns() / tick + 1) * tick;
        // The first tick is cut short by the moment at which watching began: it is no line.
        let mut whole = false;
        while self.left > 0 && !interrupt.fired() && !command.is_some_and(JoinHandle::is_finished) {
            let now = assay_system::clock::monotonic_ns();
            if now < next {
                std::thread::sleep(self.each.min(Duration::from_nanos(next - now)));
                tracer.poll();
                continue;
            }
            tracer.tick(next);
            if self.show && whole {
                self.line(tracer, next)?;
            }
            self.left -= u64::from(whole);
            whole = true;
            next = (now / tick + 1) * tick;
        }
        Ok(())
    }

    fn line(&mut self, tracer: &IoTracer<'_>, end_ns: u64) -> Result<()> {
        if self.lines.is_multiple_of(SCREEN) {
            print(&io_tick_header())?;
        }
        self.lines += 1;
        let tick = tracer.tick_before(end_ns);
        print(&io_tick_line(tracer.wall_ns(end_ns), self.tick_ns, tick.as_ref()))
    }
}

/// Column of the places in the list of devices.
const PLACES: usize = 46;

/// Lists the devices: name, number, size, kind, where mounted, and the paths that lead to each.
fn list(global: &Global) -> Result<Exit> {
    let devices = BlockDevices::read(Path::new("/"))
        .map_err(|e| anyhow!("cannot read /sys/class/block: {e}"))?;
    if global.json {
        return print_json(&devices.all().collect::<Vec<_>>()).map(|()| Exit::Fine);
    }
    let mut text = format!(
        "{:<12} {:>8} {:>10}  {:<10} mounted, paths\n",
        "device", "number", "size", "seen as"
    );
    for d in devices.all() {
        let size = d.blocks.map_or_else(|| "unknown".to_owned(), |b| format_bytes(b * 512));
        let kind = match (&d.disk, d.bio_based) {
            (Some(_), _) => "part",
            (None, true) => "bios",
            (None, false) => "requests",
        };
        let mounted = d.mounted.iter().map(|p| p.display().to_string());
        let number = format!("{}:{}", d.major, d.minor);
        let mut places: Vec<String> = d.made_of.iter().map(|what| format!("= {what}")).collect();
        places.extend(mounted);
        places.extend(d.paths.iter().map(|p| p.display().to_string()));
        // A longer one has a line of its own, from near the left edge.
        let fits = |place: &String| place.chars().count() <= 80 - PLACES;
        let first = if places.first().is_some_and(fits) { places.remove(0) } else { String::new() };
        let _ = writeln!(text, "{:<12} {number:>8} {size:>10}  {kind:<10} {first}", d.name);
        for place in places {
            let indent = if fits(&place) { PLACES } else { 2 };
            let _ = writeln!(text, "{:indent$}{place}", "");
        }
    }
    print(&text).map(|()| Exit::Fine)
}
