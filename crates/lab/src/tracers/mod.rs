//! Tracers of a trial: they start before the program, receive its phases and stop after it.
//! Anything they missed is in the record.
//!
//! A tracer of programs implements [`Tracer`], and has a line in [`PROGRAM_TRACERS`]. The block I/O
//! tracer observes the whole machine and keeps a second file; instructions are counted in separate
//! trials.

mod block_io;
mod instructions;
mod running_tracer;

use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::Receiver;

use assay_model::{Experiment, Phase, TrialRecord};
use assay_observe::counters::RunningCounters;
use assay_observe::profile::ProfileWatch;
use assay_observe::runqueue::RunQueueWatch;
use assay_observe::syscalls::SyscallWatch;
use assay_observe::{NotAvailable, ProfileSnapshot, Tracer};

pub(crate) use block_io::BlockIoResult;
use block_io::BlockIoTracer;
use instructions::InstructionCounting;
pub(crate) use running_tracer::File;
use running_tracer::{TracerRow, TrialTracer, row};

/// Tracers of programs, in the order in which they start.
const PROGRAM_TRACERS: [TracerRow; 4] = [
    row::<ProfileWatch>(),
    row::<SyscallWatch>(),
    row::<RunQueueWatch>(),
    row::<RunningCounters>(),
];

/// Returns the names of the tracers that an experiment may list.
pub(crate) fn names() -> Vec<&'static str> {
    let programs = PROGRAM_TRACERS.iter().map(|row| row.name);
    block_io::NAMES.into_iter().chain(programs).chain([instructions::NAME]).collect()
}

/// Returns true if an experiment may list this tracer.
pub(crate) fn is_known(tracer: &str) -> bool {
    block_io::NAMES.contains(&tracer)
        || PROGRAM_TRACERS.iter().any(|row| (row.create)(tracer).is_some())
        || instructions::blocks(tracer).is_some()
}

/// Returns true if this is the profiler.
pub fn is_profile(tracer: &str) -> bool {
    ProfileWatch::request(tracer).is_some()
}

/// Returns the tracers of an experiment that are known to record nothing on this machine, with the
/// reasons.
pub(crate) fn obstacles(experiment: &Experiment) -> Vec<(&'static str, NotAvailable)> {
    let listed = |row: &&TracerRow| {
        experiment.observe.tracers.iter().any(|tracer| (row.create)(tracer).is_some())
    };
    let rows = PROGRAM_TRACERS.iter().filter(listed);
    rows.filter_map(|row| Some((row.name, (row.obstacle)()?))).collect()
}

/// Tracers that are active during the trials of a run.
#[derive(Default)]
pub(crate) struct Tracers {
    block_io: Option<BlockIoTracer>,
    programs: Vec<Box<dyn TrialTracer>>,
    /// Instruction counts, which need separate trials.
    pub instructions: Option<InstructionCounting>,
}

impl Tracers {
    /// Creates the tracers that the experiment lists. Single I/Os are kept in `folder` until the
    /// trial is recorded.
    pub fn new(experiment: &Experiment, tick_ns: u64, folder: &Path) -> Self {
        let listed = &experiment.observe.tracers;
        let program = |row: &TracerRow| listed.iter().find_map(|tracer| (row.create)(tracer));
        Tracers {
            block_io: BlockIoTracer::new(listed, tick_ns, folder),
            programs: PROGRAM_TRACERS.iter().filter_map(program).collect(),
            instructions: InstructionCounting::new(experiment, folder),
        }
    }

    /// Starts the tracers. A failure to start goes into the record.
    pub fn start(&self) {
        self.block_io.iter().for_each(BlockIoTracer::start);
        self.programs.iter().for_each(|tracer| tracer.start());
    }

    /// Returns the environment variables that tracers need in programs.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        self.programs.iter().flat_map(|tracer| tracer.env()).collect()
    }

    /// Informs the tracers that the program reported the start of a phase.
    pub fn phase(&self, phase: Phase) {
        self.programs.iter().for_each(|tracer| tracer.phase(phase));
        self.block_io.iter().for_each(|tracer| tracer.phase(phase));
    }

    /// Requests the profile of the trial so far; `None` if the trial is not profiled.
    pub fn snapshot(&self) -> Option<Receiver<ProfileSnapshot>> {
        self.programs.iter().find_map(|tracer| tracer.snapshot())
    }

    /// Stops the tracers of programs, adds their observations to the record, and returns the files
    /// to keep.
    pub fn stop_programs(&self, record: &mut TrialRecord) -> Vec<File> {
        self.programs.iter().rev().filter_map(|tracer| tracer.stop(record)).collect()
    }

    /// Stops the block I/O tracer and adds its observations to the record.
    pub fn stop_block_io(&self, record: &mut TrialRecord) -> Option<BlockIoResult> {
        self.block_io.as_ref()?.stop(record)
    }
}
