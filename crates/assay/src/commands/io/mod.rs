//! `assay io --from`: analyses the block I/O in a recorded trace. The options also apply to the
//! live system.

pub mod args;
pub(super) mod live;
pub(super) mod stages;

use std::fmt::Write;

use anyhow::Result;
use assay_model::units::parse_duration;
use assay_report::terminal::{io as io_text, io_ticks, iostat, printed};
use assay_traces::block_io::{
    BucketLayout, Error, Filter, Op, Options, Question, Steps, TraceAnswer, WrittenLines,
};

use crate::arguments::Global;
use crate::exit::{Exit, Usage, usage};
use crate::screen::{print_json, print_styled, say, style};

/// Analyses the trace and prints the answer.
pub fn io(global: &Global, asked: &args::Io) -> Result<Exit> {
    let question = question(asked)?;
    let Some(from) = &asked.from else {
        return if asked.stages && !asked.devices {
            stages::live(global, asked)
        } else {
            live::live(global, asked, question)
        };
    };
    if asked.stages {
        return stages::recorded(global, asked, from);
    }
    let mut options = Options::default();
    if let Some(threads) = asked.threads {
        options.threads = usize::from(threads);
    }
    options.save.clone_from(&asked.save);
    if let Some(format) = asked.format {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        return match assay_traces::block_io::write_events(
            from, &question, &options, format, &mut out,
        ) {
            Ok(written) => Ok(exit_of(written)),
            Err(error @ (Error::Save { .. } | Error::Write(_))) => Err(error.into()),
            Err(error) => usage(error.to_string()),
        };
    }
    let answer = match assay_traces::block_io::ask(from, &question, &options) {
        Ok(answer) => answer,
        Err(error @ Error::Save { .. }) => return Err(error.into()),
        Err(error) => return usage(error.to_string()),
    };
    match answer {
        TraceAnswer::Ios(report) => {
            if global.json {
                print_json(&report)?;
            } else {
                let mut text = io_text(&report, style());
                if asked.tick.is_some() {
                    let _ = write!(text, "\n{}", io_ticks(&report, style()));
                }
                print_styled(&text)?;
            }
            Ok(if report.completeness.selected == 0 { Exit::Nothing } else { Exit::Fine })
        }
        TraceAnswer::Iostat(log) if global.json => show_json(&log),
        TraceAnswer::Iostat(log) => show(&iostat(&log, asked.tick.is_some(), style())),
        TraceAnswer::Histograms(all) if global.json => show_json(&all),
        TraceAnswer::Histograms(all) => show(&printed(&all, style())),
    }
}

/// Prints warnings about I/Os that are missing or out of order in the text, and returns the exit
/// code.
pub(in crate::commands) fn exit_of(written: WrittenLines) -> Exit {
    if written.untimed > 0 {
        say(&format!("{} I/Os have no latency and are left out", written.untimed));
    }
    if written.late > 0 {
        say(&format!("{} lines are out of order", written.late));
    }
    if written.lines == 0 { Exit::Nothing } else { Exit::Fine }
}

fn show(text: &str) -> Result<Exit> {
    print_styled(text).map(|()| Exit::Fine)
}

fn show_json(answer: &impl serde::Serialize) -> Result<Exit> {
    print_json(answer).map(|()| Exit::Fine)
}

fn question(asked: &args::Io) -> Result<Question, Usage> {
    let tick_ns = match &asked.tick {
        Some(text) => duration("--tick", text)?,
        None => Question::default().tick_ns,
    };
    if tick_ns == 0 {
        return Err(Usage("--interval: give a time above 0, such as `100 ms`".to_owned()));
    }
    let shape = match &asked.linear {
        Some(text) => BucketLayout::Linear(steps(text)?),
        None if asked.quantize => BucketLayout::Quantize,
        None => BucketLayout::Usual,
    };
    Ok(Question {
        by: asked.by.clone(),
        histograms: asked.hist.clone(),
        shape,
        unit: asked.unit,
        tick_ns,
        top: asked.top,
        filter: filter(asked)?,
    })
}

fn filter(asked: &args::Io) -> Result<Filter, Usage> {
    let time = |option, text: &Option<String>| {
        text.as_ref().map(|text| duration(option, text)).transpose()
    };
    Ok(Filter {
        programs: asked.program.clone(),
        devices: asked.device.clone(),
        pids: asked.pid.clone(),
        files: asked.file.clone(),
        cgroups: asked.cgroup.clone(),
        op: match (asked.read, asked.write) {
            (true, _) => Some(Op::Read),
            (_, true) => Some(Op::Write),
            _ => None,
        },
        from_ns: time("--from-time", &asked.from_time)?,
        to_ns: time("--to-time", &asked.to_time)?,
        blocks: asked.blocks.as_deref().map(blocks).transpose()?,
    })
}

fn duration(option: &str, text: &str) -> Result<u64, Usage> {
    let duration = parse_duration(text).map_err(|e| Usage(format!("{option}: {e}")))?;
    u64::try_from(duration.as_nanos()).map_err(|_| Usage(format!("{option}: {text} is too long")))
}

fn blocks(text: &str) -> Result<(u64, u64), Usage> {
    let ends = text.split_once('-').map(|(a, b)| (a.trim().parse(), b.trim().parse()));
    match ends {
        Some((Ok(first), Ok(last))) if first <= last => Ok((first, last)),
        _ => Err(Usage(format!("--blocks: `{text}` is not a range such as 33554432-67108863"))),
    }
}

fn steps(text: &str) -> Result<Steps, Usage> {
    let numbers: Vec<i64> = text.split(',').map_while(|n| n.trim().parse().ok()).collect();
    match (numbers.as_slice(), text.split(',').count()) {
        ([from, to, step], 3) => {
            Steps::new(*from, *to, *step).map_err(|e| Usage(format!("--linear: {e}")))
        }
        _ => Err(Usage(format!("--linear: `{text}` is not FROM,TO,STEP such as 0,1000,50"))),
    }
}
