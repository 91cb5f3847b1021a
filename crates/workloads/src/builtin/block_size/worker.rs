//! One process of a trial: `assay __work block-size-worker JSON`. Reads a line with the slices and
//! a line with the start time, both JSON, from standard input. Writes one [`WorkerReport`] per line
//! to standard output.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::path::Path;

use rustix::process::Signal;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::builtin::block_size::params::{Cache, Direction};
use crate::builtin::block_size::slice::{
    Buffer, SliceAction, SliceOutcome, SliceTime, Walk, fill_for_writing,
};
use crate::builtin::block_size::trial_spec::{TrialSpec, WorkerSpec};
use crate::builtin::block_size::{file, verify};
use crate::driver::clock::{now_ns, sleep_until};

/// Report of a process, one JSON line each.
#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerReport {
    /// The process is ready to begin.
    Ready,
    /// Outcomes in the order of the slices; fewer than slices if time ran out.
    Outcomes(Vec<SliceOutcome>),
    /// Number of blocks that were compared and found equal.
    Checked(u64),
    /// Description of the first wrong bytes.
    Wrong(String),
    /// Error that ended the process.
    Error(String),
}

/// Maximum duration as a multiple of the planned time. After the planned time (plus 10 %), passes
/// after the first are cut short; after this multiple the first pass is too, so that a device that
/// is far slower than expected does not block the run.
const TIMEOUT: u64 = 4;

/// Runs the process as described by `json` and standard input.
///
/// # Errors
/// Returns a [`Failure`], which is also sent to the parent as [`WorkerReport::Error`].
pub fn run(json: &str) -> Result<(), Failure> {
    let served = serve(json);
    if let Err(failure) = &served {
        // The parent may have ended; then the report is lost.
        let _ = say("failing", &WorkerReport::Error(failure.to_string()));
    }
    served
}

fn serve(json: &str) -> Result<(), Failure> {
    let WorkerSpec { trial: spec, index } = serde_json::from_str(json)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(Failure::step("ask to end with the parent"))?;
    if let Some(cpu) = spec.cpus.get(index as usize % spec.cpus.len().max(1)) {
        stay_on(*cpu)?;
    }
    let mut walk = open(&spec, index)?;
    let mut buffers = buffers(&spec, index);
    let mut lines = io::stdin().lock().lines();
    let slots = read_slots(&mut lines, spec.largest())?;
    say("saying that it is ready", &WorkerReport::Ready)?;
    let begin: u64 = read(&mut lines, "waiting for the start")?;
    sleep_until(begin.saturating_sub(1_000_000));
    let outcomes = measure(&spec, index, &mut walk, &mut buffers, &slots, begin)?;
    say("reporting", &WorkerReport::Outcomes(outcomes))?;
    let sizes: BTreeSet<u64> = slots.iter().map(|(_, size)| *size).collect();
    let checked = verify::blocks(&spec, index, &mut walk, &sizes)?;
    let wrong = |byte: verify::WrongByte| WorkerReport::Wrong(byte.to_string());
    say("reporting", &checked.map_or_else(wrong, WorkerReport::Checked))
}

/// Allocates the buffers that the passes use in turn. The address of a buffer decides which cache
/// lines it shares with other data, which changes the result by some percent at some sizes; with a
/// single buffer a process would measure its luck.
fn buffers(spec: &TrialSpec, index: u32) -> Vec<Buffer> {
    const MAX_BUFFERS: usize = 16;
    const MEMORY: usize = 64 << 20;
    let largest = spec.largest() as usize;
    let count = (MEMORY / largest.max(1)).clamp(1, MAX_BUFFERS).min(spec.timing.passes as usize);
    let mut buffers: Vec<Buffer> = (0..count.max(1)).map(|_| Buffer::new(largest)).collect();
    if spec.direction == Direction::Write {
        for buffer in &mut buffers {
            fill_for_writing(buffer, index);
        }
    }
    buffers
}

/// Binds the calling thread to a CPU.
///
/// # Errors
/// Fails if the process may not use this CPU.
pub fn stay_on(cpu: usize) -> Result<(), Failure> {
    let mut set = CpuSet::new();
    if cpu < CpuSet::MAX_CPU {
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(Failure::step(format_args!("stay on CPU {cpu}")))
}

fn open(spec: &TrialSpec, index: u32) -> Result<Walk, Failure> {
    let path = spec.file_of(index);
    let file = file::open(&path, spec.direction, spec.cache)?;
    let null = file::open(Path::new("/dev/null"), Direction::Write, Cache::Page)?;
    Ok(Walk::new(file, null, path, spec.file_size))
}

fn measure(
    spec: &TrialSpec,
    index: u32,
    walk: &mut Walk,
    buffers: &mut [Buffer],
    slots: &[(SliceAction, u64)],
    begin: u64,
) -> Result<Vec<SliceOutcome>, Failure> {
    let (timing, alone) = (spec.timing, spec.processes == 1);
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
        // A single process needs no schedule. Several keep to it, so that they work at the same
        // time: a process that is too late skips the slice to be in time for a later one.
        let too_late = nominal + timing.slice_ns / if timing.shared { 1 } else { 2 };
        if !alone && now > too_late {
            outcomes.push(SliceOutcome::nothing(timing.slice_ns));
            continue;
        }
        let when = SliceTime {
            start_ns: (!alone).then_some(nominal),
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
            return Err(process_failed(index, what));
        }
    }
    Ok(outcomes)
}

fn say(during: &str, report: &WorkerReport) -> Result<(), Failure> {
    let line = serde_json::to_string(report)? + "\n";
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(|source| lost(during, source))
}

/// Reads and parses the next line.
fn read<T: DeserializeOwned>(
    lines: &mut impl Iterator<Item = io::Result<String>>,
    during: &str,
) -> Result<T, Failure> {
    let line = lines.next().unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
    let value = line.and_then(|line| Ok(serde_json::from_str(&line)?));
    value.map_err(|source| lost(during, source))
}

fn read_slots(
    lines: &mut impl Iterator<Item = io::Result<String>>,
    largest: u64,
) -> Result<Vec<(SliceAction, u64)>, Failure> {
    let slots: Vec<(SliceAction, u64)> = read(lines, "reading the slices")?;
    match slots.iter().find(|(_, size)| !(1..=largest).contains(size)) {
        Some((_, size)) => Err(lost(
            "reading the slices",
            io::Error::new(io::ErrorKind::InvalidData, format!("no slice has size {size} B")),
        )),
        None => Ok(slots),
    }
}

/// Returns the failure of a broken pipe between the processes of the trial.
pub fn lost(during: &str, source: io::Error) -> Failure {
    Failure::step(format_args!("the processes of the trial lost each other while {during}"))(source)
}

/// Returns the failure of one process of the trial, with its message.
pub fn process_failed(index: u32, message: impl Into<String>) -> Failure {
    Failure::program(format_args!("process {index} of the trial"), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_larger_than_the_buffer_is_refused() {
        let slots = |text: &str| read_slots(&mut [Ok(text.to_owned())].into_iter(), 4096);
        assert_eq!(slots(r#"[["Read",4096],["Copy",1]]"#).unwrap().len(), 2);
        assert!(slots(r#"[["Read",4097]]"#).is_err() && slots(r#"[["Read",0]]"#).is_err());
        assert!(slots(r#"[["Read",1]"#).is_err());
    }
}
