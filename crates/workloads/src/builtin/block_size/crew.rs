//! The processes of a trial, from the parent's side: each is newly started and prepared, all start
//! to measure at the same time, and their reports are read to the end.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use assay_model::Phase;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Failure;
use crate::builtin::block_size::slice::{SliceAction, SliceOutcome, action_of};
use crate::builtin::block_size::slots::{SliceRole, SliceSlot};
use crate::builtin::block_size::trial_spec::{TrialSpec, WorkerSpec};
use crate::builtin::block_size::worker::{WorkerReport, lost, process_failed};
use crate::driver::clock::{now_ns, sleep_until};
use crate::driver::work::Channel;

/// Workload name under which assay runs one process of a trial.
pub const WORKER: &str = "block-size-worker";
/// Time from the start message to the first slice, in which every process reads the message.
const START_NS: u64 = 5_000_000;

/// Measurements of all processes of a trial.
#[derive(Debug)]
pub struct SliceMeasurements {
    /// Time at which the last report arrived.
    pub end_ns: u64,
    /// Outcomes of each process in the order of the slices; fewer than slices if time ran out.
    pub outcomes: Vec<Vec<SliceOutcome>>,
    /// Number of blocks compared, over all processes.
    pub checked: u64,
    /// Description of wrong bytes, if there were any.
    pub wrong: Option<String>,
}

struct SliceProcess {
    child: Child,
    index: u32,
    out: BufReader<ChildStdout>,
}

impl Drop for SliceProcess {
    fn drop(&mut self) {
        // Normally the process has ended already, and both calls do nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl SliceProcess {
    fn start(spec: WorkerSpec, slots: &[SliceSlot]) -> Result<Self, Failure> {
        let json = serde_json::to_string(&spec)?;
        let WorkerSpec { trial, index } = spec;
        let failed = Failure::step::<io::Error>;
        let start = format!("start process {index}");
        // This link leads to the running program even if its file was replaced.
        let mut child = Command::new("/proc/self/exe")
            .args(["__work", WORKER, &json])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed(&start))?;
        let out =
            child.stdout.take().ok_or_else(|| failed(&start)(io::ErrorKind::BrokenPipe.into()))?;
        let mut member = SliceProcess { child, index, out: BufReader::new(out) };
        let action = |slot: &SliceSlot| match slot.role {
            SliceRole::Copy(_) => SliceAction::Copy,
            SliceRole::Visit(_) | SliceRole::Plain(_) => action_of(trial.direction),
        };
        let slots: Vec<(SliceAction, u64)> =
            slots.iter().map(|slot| (action(slot), slot.size)).collect();
        member.tell(&serde_json::to_string(&slots)?)?;
        Ok(member)
    }

    fn tell(&mut self, line: &str) -> Result<(), Failure> {
        let sent = match &mut self.child.stdin {
            Some(stdin) => writeln!(stdin, "{line}").and_then(|()| stdin.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        // A process that has ended has printed the reason.
        sent.map_err(|source| match self.hear() {
            Err(failure @ Failure::Program { .. }) => failure,
            _ => lost("sending the slices", source),
        })
    }

    fn hear(&mut self) -> Result<WorkerReport, Failure> {
        let mut line = String::new();
        let n = self.out.read_line(&mut line).map_err(|source| lost("listening", source))?;
        if n == 0 {
            return Err(process_failed(self.index, "ended without a message"));
        }
        match serde_json::from_str(&line) {
            Ok(WorkerReport::Error(message)) => Err(process_failed(self.index, message)),
            Ok(report) => Ok(report),
            Err(_) => Err(process_failed(self.index, format!("`{}` is not a report", line.trim()))),
        }
    }

    fn outcomes(&mut self) -> Result<Vec<SliceOutcome>, Failure> {
        match self.hear()? {
            WorkerReport::Outcomes(outcomes) => Ok(outcomes),
            other => Err(process_failed(self.index, format!("{other:?} is not an outcome"))),
        }
    }
}

/// Measures the slices in all processes at once. Sends the time of the first slice to `channel`,
/// and the elapsed share of the time about twice a second.
///
/// # Errors
/// Returns a [`Failure`] after the processes were ended.
pub fn measure(
    spec: &TrialSpec,
    slots: &[SliceSlot],
    channel: &mut Channel,
) -> Result<SliceMeasurements, Failure> {
    allow_files(2 * u64::from(spec.processes) + 64)?;
    // The slices contain the sizes. Of the trial's list a process needs only the largest, for its
    // buffers.
    let trial = TrialSpec { sizes: vec![spec.largest()], notes: Vec::new(), ..spec.clone() };
    let mut crew = (0..spec.processes)
        .map(|index| SliceProcess::start(WorkerSpec { trial: trial.clone(), index }, slots))
        .collect::<Result<Vec<_>, _>>()?;
    for member in &mut crew {
        member.hear()?;
    }
    // Sending to a process takes a system call; the start time allows for all of them.
    let begin_ns = now_ns() + START_NS + 50_000 * u64::from(spec.processes);
    for member in &mut crew {
        member.tell(&begin_ns.to_string())?;
    }
    channel.phase(Phase::Steady, Some(begin_ns));
    let planned = (spec.timing.slice_ns + spec.timing.gap_ns) * slots.len() as u64;
    let steps = planned / 500_000_000;
    for step in 1..=steps {
        sleep_until(begin_ns + planned * step / (steps + 1));
        channel.progress(step as f64 / (steps + 1) as f64);
    }
    let outcomes = crew.iter_mut().map(SliceProcess::outcomes).collect::<Result<Vec<_>, _>>()?;
    let end_ns = now_ns();
    let mut measured = SliceMeasurements { end_ns, outcomes, checked: 0, wrong: None };
    for member in &mut crew {
        match member.hear()? {
            WorkerReport::Checked(n) => measured.checked += n,
            WorkerReport::Wrong(wrong) => measured.wrong = measured.wrong.or(Some(wrong)),
            other => {
                let what = format!("{other:?} is not a check of the bytes");
                return Err(process_failed(member.index, what));
            }
        }
    }
    Ok(measured)
}

/// Raises the soft limit on open files to `wanted` if it is lower: each process takes two pipes.
fn allow_files(wanted: u64) -> Result<(), Failure> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|now| now >= wanted) {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum })
        .map_err(Failure::step(format_args!("open {wanted} files at once")))
}
