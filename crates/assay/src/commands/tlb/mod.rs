//! `assay tlb`: measures the cost of address translation with hardware counters, or simulates it.

pub mod args;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use assay_model::units;
use assay_report::terminal::{simulation, tlb as table_text};
use assay_system::Interrupt;
use assay_traces::translation::counters::{self, CountScope, PerfGroup, Readings};
use assay_traces::translation::source::{self, AccessStream, Interleaved, Writer};
use assay_traces::translation::{SimulatedMachine, SimulationOptions};

use crate::arguments::Global;
use crate::commands::observed_command;
use crate::exit::{Exit, Usage, mistake, usage};
use crate::screen::{answer_styled, print_json, say, style};

/// Counts while a command runs, or simulates.
pub fn tlb(global: &Global, asked: &args::Tlb) -> Result<Exit> {
    if !asked.simulate.is_empty() {
        return simulate(global, asked);
    }
    if asked.command.is_empty() {
        let text =
            "name a command to count (`assay tlb -- COMMAND`), or a trace (`--simulate TRACE`)";
        return usage(text);
    }
    count(global, asked)
}

fn simulate(global: &Global, asked: &args::Tlb) -> Result<Exit> {
    let mut machine = SimulatedMachine::find(&asked.machine).map_err(mistake)?;
    let size = |name: &str, text: &Option<String>| -> Result<Option<u64>, Usage> {
        let read = |t: &String| units::parse_bytes(t).map_err(|e| Usage(format!("{name}: {e}")));
        text.as_ref().map(read).transpose()
    };
    if let Some(page) = size("--page", &asked.page)? {
        machine.pages.data = page;
    }
    if let Some(page) = size("--instruction-page", &asked.instruction_page)? {
        machine.pages.instruction = page;
    }
    if asked.every == Some(0) || asked.slice == 0 {
        return usage("--every and --slice take 1 or more accesses");
    }
    let mut sources = Vec::new();
    for path in &asked.simulate {
        sources.push(source::open(path).map_err(mistake)?);
    }
    let mut source: Box<dyn AccessStream> = match sources.len() {
        1 => sources.remove(0),
        _ => {
            Box::new(Interleaved::new(sources, usize::try_from(asked.slice).unwrap_or(usize::MAX)))
        }
    };
    let mut writer = asked.record.as_deref().map(record).transpose()?;
    let wish = SimulationOptions { every: asked.every, record: writer.as_mut(), progress: None };
    let done =
        assay_traces::translation::simulate(&machine, source.as_mut(), wish).map_err(mistake)?;
    if let (Some(writer), Some(path)) = (writer, &asked.record) {
        writer.finish().with_context(|| format!("cannot write {}", path.display()))?;
    }
    answer_styled(global.json, &done, || simulation(&done, style()))?;
    Ok(if done.accesses == 0 { Exit::Nothing } else { Exit::Fine })
}

fn record(path: &Path) -> Result<Writer<Box<dyn Write>>> {
    let doing = || format!("write {}", path.display());
    let file: Box<dyn Write> = Box::new(BufWriter::new(File::create(path).with_context(doing)?));
    Writer::new(file).with_context(doing)
}

/// Counts while the command runs, and prints a line per interval.
fn count(global: &Global, asked: &args::Tlb) -> Result<Exit> {
    let interval =
        units::parse_duration(&asked.interval).map_err(|e| Usage(format!("--interval: {e}")))?;
    if interval < Duration::from_millis(1) {
        return usage("--interval: 1 ms or more");
    }
    // The same thread opens the counters and starts the program, because they count only what that
    // thread starts.
    let interrupt = Interrupt::install()?;
    let (open, opened) = std::sync::mpsc::channel();
    let ends_it = interrupt.clone();
    let argv = asked.command.clone();
    let command = std::thread::spawn(move || {
        let group = PerfGroup::open(CountScope::NextProgram);
        let counting = group.is_ok();
        if open.send(group).is_err() || !counting {
            return None;
        }
        Some(observed_command::run(&argv, ends_it))
    });
    let mut group = match opened.recv().context("the thread of the command failed")? {
        Ok(group) => group,
        Err(missing) => {
            missing_counters(global, &missing)?;
            return Ok(Exit::Nothing);
        }
    };
    let begin = Instant::now();
    let mut intervals: Vec<(f64, f64, Readings)> = Vec::new();
    let mut before = Readings::new();
    loop {
        let done = command.is_finished();
        let at = begin.elapsed().as_secs_f64();
        let last = intervals.last().map_or(0.0, |i| i.0);
        if done || at - last >= interval.as_secs_f64() {
            let now = group.read();
            let since = now.iter().map(|(name, reading)| {
                let earlier = before.get(name).copied().unwrap_or_default();
                (name.clone(), reading.since(earlier))
            });
            intervals.push((at, at - last, since.collect()));
            before = now;
        }
        if done {
            break;
        }
        std::thread::sleep(
            Duration::from_millis(1).max(interval / 100).min(Duration::from_millis(20)),
        );
    }
    let ran = command.join().map_err(|_| anyhow::anyhow!("the thread of the command failed"))?;
    let ran = ran.context("the command was not started")?.map_err(mistake)?;
    let of = asked.command.iter().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let table = counters::table(group.arch(), &intervals, &before, of);
    answer_styled(global.json, &table, || table_text(&table, style()))?;
    Ok(observed_command::exit(&interrupt, &ran))
}

/// Prints which counters are missing, and the two alternatives.
fn missing_counters(global: &Global, missing: &counters::CountersUnavailable) -> Result<()> {
    let ways = [
        ("by experiment", "assay run experiments/large-pages.toml"),
        ("by simulation", "assay tlb --simulate TRACE (see `assay tlb --help`)"),
    ];
    if global.json {
        let (missing, ways) = (missing.to_string(), std::collections::BTreeMap::from(ways));
        let answer = serde_json::json!({ "measured": null, "missing": missing, "instead": ways });
        return print_json(&answer);
    }
    say(&format!(
        "cannot count the cost of translation here, and the command was not run: {missing}"
    ));
    for (way, how) in ways {
        say(&format!("{way}: {how}"));
    }
    Ok(())
}
