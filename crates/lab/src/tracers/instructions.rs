//! Instruction counts from Valgrind: a treatment's program is run once more under callgrind, in a
//! separate trial that is not timed. The counts are a second source of evidence when times vary,
//! but they do not measure time.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use assay_model::{Experiment, PlannedTrial, TrialOutcome, TrialRecord};
use assay_traces::profile::{INSTRUCTIONS, InstructionCounts, Profile, ReadError};

use super::running_tracer::{File, record_trace};

/// Name of the tracer; `instructions@5` counts in five blocks.
pub(super) const NAME: &str = INSTRUCTIONS.tracer;
/// Default number of blocks in which instructions are counted: functions have an interval from
/// three trials on.
const BLOCKS: u32 = 3;
const PROGRAM: &str = "valgrind";
/// Size limit in bytes of a file of counts; a larger file is skipped.
const MAX_BYTES: u64 = 256 << 20;

/// Parses the number of blocks from a tracer's name; `None` for another tracer.
pub(super) fn blocks(tracer: &str) -> Option<u32> {
    match tracer.strip_prefix(NAME)? {
        "" => Some(BLOCKS),
        rest => rest.strip_prefix('@')?.parse().ok().filter(|n| *n > 0),
    }
}

/// Reason why the instructions of a trial were not counted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CountError {
    #[error("{PROGRAM} is not installed (Debian package valgrind)")]
    NotInstalled,
    /// The output folder could not be emptied or created.
    #[error("{}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("the trial under {PROGRAM} did not complete: {0}")]
    Incomplete(String),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Counts(#[from] ReadError),
    #[error(
        "{PROGRAM} counted nothing: its programs were killed, or run without it (as another user, \
         in a container or through a server)"
    )]
    Nothing,
}

/// Settings of the instruction counts of an experiment.
#[derive(Debug)]
pub(crate) struct InstructionCounting {
    blocks: u32,
    /// Folder in which callgrind writes a file for each process.
    folder: PathBuf,
}

impl InstructionCounting {
    /// Returns `None` if the experiment requests no instruction counts.
    pub fn new(experiment: &Experiment, run_dir: &Path) -> Option<Self> {
        let blocks = experiment.observe.tracers.iter().find_map(|t| blocks(t))?;
        Some(InstructionCounting { blocks, folder: run_dir.join("callgrind") })
    }

    /// Returns true if this trial was successful and is to be followed by one that counts.
    pub fn wanted(&self, planned: &PlannedTrial, record: &TrialRecord) -> bool {
        !planned.warmup && planned.block < self.blocks && record.outcome == TrialOutcome::Completed
    }

    /// Empties the output folder and returns the words that precede the program's own command.
    ///
    /// # Errors
    /// Valgrind is not installed, or the folder cannot be created.
    pub fn prefix(&self) -> Result<Vec<OsString>, CountError> {
        if !on_path(PROGRAM) {
            return Err(CountError::NotInstalled);
        }
        let failed = |source| CountError::Folder { path: self.folder.clone(), source };
        // Files of an earlier trial must not be counted for this one.
        match std::fs::remove_dir_all(&self.folder) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let mut out = OsString::from("--callgrind-out-file=");
        out.push(self.folder.join("%p"));
        let fixed = ["--tool=callgrind", "--quiet", "--trace-children=yes"].map(OsString::from);
        Ok(std::iter::once(PROGRAM.into()).chain(fixed).chain([out]).collect())
    }

    /// Adds the counts of the trial under callgrind to the record of the timed trial before it, and
    /// returns the file to keep.
    pub fn put(
        &self,
        counted: Result<TrialRecord, CountError>,
        record: &mut TrialRecord,
    ) -> Option<File> {
        let trace = counted.and_then(|counted| match counted.outcome {
            TrialOutcome::Completed => self.read().map(InstructionCounts),
            _ => Err(CountError::Incomplete(counted.error)),
        });
        let kept = record_trace(record, NAME, trace, Vec::new())?;
        Some((INSTRUCTIONS.name.to_owned(), kept))
    }

    /// Reads and merges the counts of all processes.
    fn read(&self) -> Result<Profile, CountError> {
        let entries = std::fs::read_dir(&self.folder)?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        paths.sort();
        let mut all = Vec::new();
        for path in paths {
            let size = std::fs::metadata(&path)?.len();
            // A process that was killed leaves an empty file.
            if size == 0 || size > MAX_BYTES {
                continue;
            }
            let name = path.display().to_string();
            all.push(assay_traces::profile::read(&std::fs::read(&path)?, &name)?);
        }
        if all.is_empty() {
            return Err(CountError::Nothing);
        }
        Ok(Profile::merged(&all))
    }
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracer_may_name_its_blocks() {
        assert_eq!(blocks("instructions"), Some(3));
        assert_eq!(blocks("instructions@10"), Some(10));
        for wrong in ["instructions@0", "instructions@", "instructions@x", "instruction", "io"] {
            assert_eq!(blocks(wrong), None, "{wrong}");
        }
    }
}
