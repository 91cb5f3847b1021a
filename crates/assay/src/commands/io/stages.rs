//! `assay io --stages`: time that I/Os take from stage to stage, by device, live or from a recorded
//! trace.

use std::fmt::Write as _;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use assay_model::nouns::count;
use assay_model::units::format_value;
use assay_observe::io::{ObservedStages, StageTracer};
use assay_system::Interrupt;
use assay_traces::block_io::{DeviceStages, NameTable, stages};

use crate::arguments::Global;
use crate::commands::io::args::Io;
use crate::commands::io::live::{POLL, check_devices};
use crate::commands::observed_command;
use crate::exit::{Exit, mistake};
use crate::screen::{answer, say};

/// Meaning of the stages, printed below the table.
const LEGEND: &str = "Q queued, G request allocated, M merged into a request, I inserted into the
scheduler, D issued to the driver, C completed; bio by bio, as btt counts
";

/// Shows the stages of a recorded trace.
pub(in crate::commands) fn recorded(global: &Global, asked: &Io, from: &Path) -> Result<Exit> {
    let mut all = stages(from).map_err(mistake)?;
    if !asked.device.is_empty() {
        all.retain(|d| asked.device.contains(&d.device));
    }
    answer(global.json, &all, || {
        format!("{}{}{LEGEND}", unjoined(&all), all.iter().map(device).collect::<String>())
    })?;
    Ok(if all.is_empty() { Exit::Nothing } else { Exit::Fine })
}

/// Shows the stages of the live system until the command ends, the given number of seconds has
/// passed or an interrupt arrives.
pub(in crate::commands) fn live(global: &Global, asked: &Io) -> Result<Exit> {
    check_devices(&asked.device)?;
    let interrupt = Interrupt::install()?;
    let names = NameTable::default();
    let mut tracer = StageTracer::start(Path::new("/"), &asked.device, &names)
        .map_err(|e| anyhow!("the stages of I/Os cannot be seen here: {e}"))?;
    let command =
        (!asked.command.is_empty()).then(|| observed_command::start(&asked.command, &interrupt));
    if command.is_none() && asked.count.is_none() && !global.json {
        say("watching the stages of block I/O; Ctrl-C ends it and shows the answer");
    }
    let began = Instant::now();
    let limit = asked.count.map_or(Duration::MAX, Duration::from_secs);
    let over = || command.as_ref().is_some_and(JoinHandle::is_finished);
    while began.elapsed() < limit && !interrupt.fired() && !over() {
        std::thread::sleep(POLL);
        tracer.poll();
    }
    let seen = tracer.stop();
    let ran = command.map(observed_command::ended).transpose()?;
    answer(global.json, &seen, || text(&seen))?;
    Ok(match ran {
        Some(ran) if !ran.exit.success() => Exit::Workload,
        _ if seen.devices.is_empty() => Exit::Nothing,
        _ => Exit::Fine,
    })
}

/// Formats the stages, after a list of the missing data.
fn text(seen: &ObservedStages) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    if !seen.not_recorded.is_empty() {
        let _ = writeln!(text, "not recorded by this kernel: {}", seen.not_recorded.join("; "));
    }
    if seen.lost > 0 {
        let events = count(usize::try_from(seen.lost).unwrap_or(usize::MAX), "event");
        let _ = writeln!(text, "{events} lost: some I/Os are missing from the stages");
    }
    text.push_str(&unjoined(&seen.devices));
    if seen.devices.is_empty() {
        text.push_str("no I/O was queued\n");
    }
    text.extend(seen.devices.iter().map(device));
    text + LEGEND
}

/// Returns a line for each device with requests that are in no stage.
fn unjoined(devices: &[DeviceStages]) -> String {
    let mut text = String::new();
    for d in devices.iter().filter(|d| d.unjoined > 0) {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}: {} of its {} requests are in no stage: the queueing of their bios was not seen",
            d.device, d.unjoined, d.issued
        );
    }
    text
}

fn device(d: &DeviceStages) -> String {
    let mut text = format!(
        "{}: {} bios queued, {} requests issued; merged: {} back, {} front; split: {}\n",
        d.device, d.queued, d.issued, d.merged_back, d.merged_front, d.splits
    );
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{:<6} {:>10} {:>12} {:>12} {:>12}", "stage", "n", "min", "mean", "max");
    for s in &d.stages {
        let time = |ns: f64| format_value(ns * 1e-9, "s");
        let (minimum, maximum) = (time(s.min_ns as f64), time(s.max_ns as f64));
        let mean = time(s.mean_ns);
        let _ = writeln!(text, "{:<6} {:>10} {minimum:>12} {mean:>12} {maximum:>12}", s.stage, s.n);
    }
    let each = d.unplugged_mean.map(|n| format!(" ({n:.2} requests each)")).unwrap_or_default();
    let _ = writeln!(
        text,
        "plugged {} times, unplugged {} times{each}, {} of them implicitly",
        d.plugs, d.unplugs, d.implicit_unplugs
    );
    if d.given_up > 0 {
        let _ = writeln!(text, "{} bios were not followed: too many were in flight", d.given_up);
    }
    text.push('\n');
    text
}
