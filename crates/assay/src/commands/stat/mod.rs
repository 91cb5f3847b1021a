//! `assay stat`: CPU, disk, memory, pressure and power now, on one clock.

pub mod args;
pub(super) mod tasks;

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use assay_model::units;
use assay_observe::Sampler;
use assay_observe::io::BlockDevices;
use assay_observe::stat::{DiskTableLayout, Disks, Frame, Renderer, View};
use assay_report::terminal;
use assay_system::Interrupt;

use crate::arguments::Global;
use crate::commands::observed_command;
use crate::exit::{Exit, Usage, usage};
use crate::screen::{print, width};
use args::Stat;

/// Number of lines between two headers.
const SCREEN: u64 = 22;
/// Width of the column with the time of day.
const TIME: usize = 9;
/// Width of all columns of `iostat` on Linux and a name.
const WIDE: usize = 190;

/// Shows a line every interval until the count, an interrupt, or the end of the command.
pub fn stat(global: &Global, stat: &Stat) -> Result<Exit> {
    let interval =
        units::parse_duration(&stat.interval).map_err(|e| Usage(format!("--interval: {e}")))?;
    let lines = lines(stat, interval)?;
    if stat.tasks {
        return tasks::tasks(global, stat, interval, lines);
    }
    let names = ["all".to_owned()];
    let sampler =
        Sampler::start(Path::new("/"), &names, interval).map_err(assay_lab::LabError::Observe)?;
    let interrupt = Interrupt::install()?;
    let view = match (stat.disk, stat.cpu) {
        (true, _) => View::Disk,
        (_, true) => View::Cpu,
        _ => View::Summary,
    };
    let mut show =
        StatOutput { json: global.json, view, disks: disks(stat), renderer: None, lines: 0 };
    if stat.command.is_empty() {
        let start = sampler.newest_ns();
        watch(&sampler, &interrupt, lines, start, &mut show, &|| false)?;
        return Ok(Exit::Fine);
    }
    beside(&sampler, &interrupt, stat, lines, &mut show)
}

/// Returns the number of lines that `--count` or `--seconds` asks for; without either, no limit.
fn lines(stat: &Stat, interval: Duration) -> Result<u64> {
    match (stat.count, stat.seconds) {
        (_, Some(s)) if !(s.is_finite() && s > 0.0) => {
            usage(format!("--seconds {s}: give more than 0"))
        }
        (_, Some(s)) if s < interval.as_secs_f64() - 1e-6 => {
            usage(format!("--seconds {s}: shorter than one interval of {}", stat.interval))
        }
        // The last line may be cut by the end of the time; the cast saturates.
        (_, Some(s)) => Ok((s / interval.as_secs_f64() - 1e-6).ceil().max(1.0) as u64),
        (count, None) => Ok(count.unwrap_or(u64::MAX)),
    }
}

/// Returns the layout of the table of disks. Their names are read only if the table is shown.
fn disks(stat: &Stat) -> Disks {
    let usual = || if width() >= WIDE { DiskTableLayout::Linux } else { DiskTableLayout::Short };
    let shape = stat.shape.unwrap_or_else(usual);
    let devices = stat.disk.then(|| BlockDevices::read(Path::new("/")).unwrap_or_default());
    let devices = devices.unwrap_or_default();
    Disks { shape, skip_idle: stat.skip_idle, cpu: stat.cpu, naming: stat.names, devices }
}

/// Runs the command in a thread and shows lines while it runs.
fn beside(
    sampler: &Sampler,
    interrupt: &Interrupt,
    stat: &Stat,
    lines: u64,
    show: &mut StatOutput,
) -> Result<Exit> {
    let start = sampler.newest_ns();
    let command = observed_command::start(&stat.command, interrupt);
    watch(sampler, interrupt, lines, start, show, &|| command.is_finished())?;
    let ran = observed_command::ended(command)?;
    let used = &ran.resources;
    print(&format!(
        "\n{} wall, {} user, {} system, {}; {}",
        units::format_value(used.wall_s, "s"),
        units::format_value(used.user_s, "s"),
        units::format_value(used.system_s, "s"),
        used.peak_memory_bytes.map_or_else(
            || "peak memory below assay's own".to_owned(),
            |b| format!("{} peak memory", units::format_value(b as f64, "B"))
        ),
        match ran.exit {
            assay_model::Exit::Code(code) => format!("exit code {code}"),
            assay_model::Exit::Signal(signal) => format!("ended by signal {signal}"),
        }
    ))?;
    Ok(observed_command::exit(interrupt, &ran))
}

/// Shows each new tick after `start`.
fn watch(
    sampler: &Sampler,
    interrupt: &Interrupt,
    mut left: u64,
    start: u64,
    show: &mut StatOutput,
    done: &dyn Fn() -> bool,
) -> Result<()> {
    let mut last = start;
    while left > 0 && !interrupt.fired() && !done() {
        // Short waits, so that an interrupt and the end of the command are seen soon.
        let Some(at) = sampler.wait_after(last, Duration::from_millis(100)) else { continue };
        let samples = sampler.window(last + 1, at);
        sampler.discard_before(at + 1);
        last = at;
        if let Some(frame) = Frame::newest(&samples) {
            show.frame(&frame, &samples)?;
            left -= 1;
        }
    }
    Ok(())
}

/// Returns the time of day in UTC, as `assay io` prints it.
pub(in crate::commands) fn time_of_day() -> String {
    terminal::time_of_day(jiff::Timestamp::now().as_nanosecond(), 1_000_000_000)
}

struct StatOutput {
    json: bool,
    view: View,
    disks: Disks,
    renderer: Option<Renderer>,
    lines: u64,
}

impl StatOutput {
    fn frame(&mut self, frame: &Frame, samples: &assay_model::SampleSet) -> Result<()> {
        if self.json {
            return print(&json_line(samples));
        }
        let view = self.view;
        let disks = &self.disks;
        let room = width().saturating_sub(TIME);
        let renderer = self
            .renderer
            .get_or_insert_with(|| Renderer::new(view, room, frame).with_disks(disks.clone()));
        let time = time_of_day();
        if view != View::Summary {
            return print(&format!("{time}\n{}", renderer.lines(frame)));
        }
        let mut text = String::new();
        if self.lines.is_multiple_of(SCREEN) {
            for (title, line) in ["", "UTC"].iter().zip(renderer.header().lines()) {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{title:<TIME$}{line}");
            }
        }
        self.lines += 1;
        print(&format!("{text}{time:<TIME$}{}", renderer.lines(frame)))
    }
}

/// One tick as one line of JSON: monitor → subject → field → value.
fn json_line(samples: &assay_model::SampleSet) -> String {
    let mut line = serde_json::json!({ "t_ns": 0, "monitors": {} });
    for row in &samples.rows {
        line["t_ns"] = row.t_ns.into();
        let Some(key) = samples.series.get(row.series as usize) else { continue };
        let subject = if key.subject.is_empty() { "all" } else { &key.subject };
        line["monitors"][&key.monitor][subject][&key.field] = row.value.into();
    }
    line.to_string()
}
