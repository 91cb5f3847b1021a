//! One process of a trial: `assay __work block-size-worker JSON`. Standard input brings the slices
//! (`r 4096`, one a line, an empty line at the end) and the moment to begin (`go NANOSECONDS`);
//! standard output takes `ready`, a line for each slice, and what became of the check of the bytes.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::path::Path;

use rustix::process::Signal;
use rustix::thread::{CpuSet, sched_setaffinity};

use super::clock::{now_ns, sleep_until};
use super::file;
use super::params::{Cache, Direction};
use super::slice::{Action, Buffer, Outcome, Walk, When, action_of, fill_for_writing};
use super::trial_spec::WorkerSpec;
use super::verify;
use crate::Failure;

/// When the planned time is over, the passes after the first are cut short. After this many times the
/// planned time the first is too: a device that is far slower than thought must not hold the run for
/// ever.
const TIMEOUT: u64 = 4;

/// Runs the process: does what `json` and standard input say.
///
/// # Errors
/// [`Failure`]; also sent to the parent as a line `error ...`.
pub fn run(json: &str) -> Result<(), Failure> {
    let served = serve(json);
    if let Err(failure) = &served {
        // The parent may be gone; then nobody listens.
        let _ = writeln!(io::stdout(), "error {failure}");
    }
    served
}

fn serve(json: &str) -> Result<(), Failure> {
    let spec: WorkerSpec = serde_json::from_str(json)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(Failure::step("ask to end with the parent"))?;
    if let Some(cpu) = spec.cpu {
        stay_on(cpu)?;
    }
    let mut walk = open(&spec)?;
    let mut buffers = buffers(&spec);
    let mut lines = io::stdin().lock().lines();
    let slots = read_slots(&mut lines, spec.largest)?;
    say("saying that it is ready", "ready\n")?;
    let begin = read_begin(&mut lines)?;
    sleep_until(begin.saturating_sub(1_000_000));
    let outcomes = measure(&spec, &mut walk, &mut buffers, &slots, begin)?;
    let mut report = String::new();
    for outcome in &outcomes {
        report.push_str(&line_of(outcome));
    }
    report.push_str("end\n");
    say("reporting", &report)?;
    let sizes: BTreeSet<u64> = slots.iter().map(|(_, size)| *size).collect();
    let verdict = match verify::blocks(&spec, &mut walk, &sizes)? {
        Ok(compared) => format!("checked {compared}\n"),
        Err(wrong) => format!("wrong {wrong}\n"),
    };
    say("reporting", &verdict)
}

/// The buffers that the passes take in turn. Where a buffer lies in memory decides which lines of the
/// caches it shares with what, worth some percent at some sizes; a process with one buffer would
/// measure its own luck.
fn buffers(spec: &WorkerSpec) -> Vec<Buffer> {
    const MAX_BUFFERS: usize = 16;
    const MEMORY: usize = 64 << 20;
    let largest = spec.largest as usize;
    let count = (MEMORY / largest.max(1)).clamp(1, MAX_BUFFERS).min(spec.timing.passes as usize);
    let mut buffers: Vec<Buffer> = (0..count.max(1)).map(|_| Buffer::new(largest)).collect();
    if spec.direction == Direction::Write {
        for buffer in &mut buffers {
            fill_for_writing(buffer, spec.index);
        }
    }
    buffers
}

fn stay_on(cpu: usize) -> Result<(), Failure> {
    let mut set = CpuSet::new();
    if cpu < CpuSet::MAX_CPU {
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(Failure::step(format_args!("stay on CPU {cpu}")))
}

fn open(spec: &WorkerSpec) -> Result<Walk, Failure> {
    let file = file::open(&spec.file, spec.direction, spec.cache)?;
    let null = file::open(Path::new("/dev/null"), Direction::Write, Cache::Page)?;
    Ok(Walk::new(file, null, spec.file.clone(), spec.file_size))
}

fn measure(
    spec: &WorkerSpec,
    walk: &mut Walk,
    buffers: &mut [Buffer],
    slots: &[(Action, u64)],
    begin: u64,
) -> Result<Vec<Outcome>, Failure> {
    let timing = spec.timing;
    let pitch = timing.slice_ns + timing.gap_ns;
    let planned = pitch * slots.len() as u64;
    let first_pass = slots.len() / timing.passes.max(1) as usize;
    let mut outcomes = Vec::with_capacity(slots.len());
    for (i, &(action, size)) in slots.iter().enumerate() {
        let now = now_ns();
        let over = now.saturating_sub(begin);
        if over > planned * TIMEOUT || (i >= first_pass && over > planned + planned / 10) {
            break;
        }
        let nominal = begin + pitch * i as u64;
        // One process alone needs no timetable. Several keep to it, or they would not work at once: a
        // process that is too late leaves the slice out and is in time for a later one.
        let too_late = nominal + timing.slice_ns / if timing.shared { 1 } else { 2 };
        if !spec.alone && now > too_late {
            outcomes.push(Outcome::nothing(timing.slice_ns));
            continue;
        }
        let when = When {
            start_ns: (!spec.alone).then_some(nominal),
            length_ns: timing.slice_ns,
            shared: timing.shared,
        };
        let pass = i / first_pass.max(1);
        let turn = pass % buffers.len();
        let buffer = &mut buffers[turn];
        outcomes.push(walk.slice(buffer, size, action, when)?);
        if !walk.adds_up()? {
            let what = format!(
                "the bytes moved in blocks of {size} B do not add up to the file's position"
            );
            return Err(process_failed(spec.index, what));
        }
    }
    Ok(outcomes)
}

fn say(during: &'static str, text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|source| lost(during, source))
}

fn read_slots(
    lines: &mut impl Iterator<Item = io::Result<String>>,
    largest: u64,
) -> Result<Vec<(Action, u64)>, Failure> {
    let mut slots = Vec::new();
    for line in lines {
        let line = line.map_err(|source| lost("reading the slices", source))?;
        if line.is_empty() {
            return Ok(slots);
        }
        let slot = slot_of(&line).filter(|(_, size)| (1..=largest).contains(size));
        let none = || io::Error::new(io::ErrorKind::InvalidData, format!("`{line}` is no slice"));
        slots.push(slot.ok_or_else(|| lost("reading the slices", none()))?);
    }
    Err(ended("reading the slices"))
}

fn read_begin(lines: &mut impl Iterator<Item = io::Result<String>>) -> Result<u64, Failure> {
    let during = "waiting for the start";
    let line = lines.next().ok_or_else(|| ended(during))?;
    let line = line.map_err(|source| lost(during, source))?;
    line.strip_prefix("go ").and_then(|t| t.parse().ok()).ok_or_else(|| ended(during))
}

fn ended(during: &'static str) -> Failure {
    lost(during, io::ErrorKind::UnexpectedEof.into())
}

/// The processes of the trial no longer reach each other.
pub fn lost(during: &str, source: io::Error) -> Failure {
    Failure::step(format_args!("the processes of the trial lost each other while {during}"))(source)
}

/// A process of the trial failed, with its message.
pub fn process_failed(index: u32, message: impl Into<String>) -> Failure {
    Failure::program(format_args!("process {index} of the trial"), message)
}

/// A slice as the parent writes it: `r 4096`.
pub fn slot_line(action: Action, size: u64) -> String {
    let letter = match action {
        Action::Read => 'r',
        Action::Write => 'w',
        Action::Copy => 'c',
    };
    format!("{letter} {size}\n")
}

fn slot_of(line: &str) -> Option<(Action, u64)> {
    let (letter, size) = line.split_once(' ')?;
    let action = match letter {
        "r" => action_of(Direction::Read),
        "w" => action_of(Direction::Write),
        "c" => Action::Copy,
        _ => return None,
    };
    Some((action, size.parse().ok()?))
}

fn line_of(o: &Outcome) -> String {
    format!(
        "{} {} {} {} {}\n",
        o.bytes,
        o.calls,
        o.elapsed_ns,
        u8::from(o.preempted),
        u8::from(o.late)
    )
}

/// A slice's outcome as the parent reads it.
pub fn outcome_of(line: &str) -> Option<Outcome> {
    let mut words = line.split(' ').map(|w| w.parse::<u64>().ok());
    let mut next = || words.next().flatten();
    Some(Outcome {
        bytes: next()?,
        calls: next()?,
        elapsed_ns: next()?,
        preempted: next()? != 0,
        late: next()? != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back() {
        let outcome = Outcome { bytes: 5, calls: 2, elapsed_ns: 9, preempted: true, late: false };
        assert_eq!(outcome_of(line_of(&outcome).trim_end()), Some(outcome));
        assert_eq!(outcome_of("error no"), None);
        for (action, size) in [(Action::Read, 1), (Action::Write, 4096), (Action::Copy, 512)] {
            assert_eq!(slot_of(slot_line(action, size).trim_end()), Some((action, size)));
        }
    }

    #[test]
    fn a_slice_larger_than_the_buffer_is_refused() {
        let lines = ["r 4097".to_owned(), String::new()];
        assert!(read_slots(&mut lines.into_iter().map(Ok), 4096).is_err());
        let cut = ["r 1".to_owned()];
        assert!(read_slots(&mut cut.into_iter().map(Ok), 4096).is_err());
    }
}
