//! Observations made around the trials and recorded with them as evidence for the checks: the
//! programs that ran, the clock, changes to the system, and CPU frequencies. Little work is done
//! between two short trials: a program is hashed once and its file's state is checked after each
//! trial; everything else is checked at most once a second.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_checks::record_observation;
use assay_model::{Observation, Program, TrialRecord};
use assay_system::{FactWatch, Root, SourceTree, SourceTreeError};
use assay_workloads::Launch;

/// Minimum interval between two checks of the system.
const RECHECK: Duration = Duration::from_secs(1);

/// State of a file: inode, size and time of the last write (seconds and nanoseconds).
type FileState = [i64; 4];

/// Programs observed during a run.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// Paths of the names looked up in `$PATH`.
    found: BTreeMap<OsString, Option<PathBuf>>,
    /// Treatments that have had a trial.
    begun: BTreeSet<u32>,
    /// State of the program that each treatment's records report.
    reported: BTreeMap<u32, FileState>,
    known: BTreeMap<PathBuf, (FileState, Program)>,
    /// Version-controlled tree of each program; `None` if it is not in one.
    trees: BTreeMap<PathBuf, Option<Result<SourceTree, SourceTreeError>>>,
}

impl Programs {
    /// Returns the file that a launch starts; `None` if it is not found.
    pub fn file_of(&mut self, launch: &Launch, cwd: &Path) -> Option<PathBuf> {
        let name = launch.argv.first()?;
        let path = Path::new(name);
        if path.is_absolute() {
            return Some(path.to_owned());
        }
        if path.components().nth(1).is_some() {
            return Some(launch.cwd.as_deref().unwrap_or(cwd).join(path));
        }
        let found = self.found.entry(name.clone());
        found.or_insert_with(|| assay_system::which(name)).clone()
    }

    /// Returns true for the first trial of a treatment.
    pub fn begins(&mut self, treatment: u32) -> bool {
        self.begun.insert(treatment)
    }

    /// Records the program of a treatment with its first trial. If the program changes later, the
    /// record of that trial gets the new hash.
    pub fn see(&mut self, program: Option<&Path>, record: &mut TrialRecord) {
        let Some(path) = program else { return };
        let Ok(found) = path.metadata() else { return };
        let state = [found.ino() as i64, found.len() as i64, found.mtime(), found.mtime_nsec()];
        if self.reported.get(&record.treatment) == Some(&state) {
            return;
        }
        if self.known.get(path).is_none_or(|(known, _)| *known != state) {
            match assay_system::identify(path) {
                Ok(program) => {
                    self.known.insert(path.to_owned(), (state, program));
                }
                Err(e) => {
                    record.notes.push(format!("`{}` could not be hashed: {e}", path.display()));
                    return;
                }
            }
        }
        if let Some((_, program)) = self.known.get(path) {
            record_observation(record, Observation::Program { program: program.clone() });
            self.reported.insert(record.treatment, state);
            self.see_tree(path, record);
        }
    }
}

impl Programs {
    /// Records the version-controlled tree that contains a program. assay itself, which runs the
    /// built-in workloads, is skipped because the ledger has its version.
    fn see_tree(&mut self, path: &Path, record: &mut TrialRecord) {
        if std::env::current_exe().is_ok_and(|own| own == path) {
            return;
        }
        let tree = self.trees.entry(path.to_owned());
        match tree.or_insert_with(|| assay_system::source_tree(path)) {
            None => {}
            Some(Ok(SourceTree { commit, changed })) => {
                let commit = commit.clone();
                record_observation(record, Observation::SourceTree { commit, changed: *changed });
            }
            Some(Err(why)) => record.notes.push(format!(
                "cannot tell if `{}` is in a modified work tree: {why}",
                path.display()
            )),
        }
    }
}

/// Checks repeatedly for changes of things that should stay the same during a run.
#[derive(Debug)]
pub(crate) struct StabilityWatch {
    watch: FactWatch,
    checked: Instant,
    throttled: Option<u64>,
    io: Option<(String, u64)>,
    clock_reported: bool,
}

impl StabilityWatch {
    /// Takes the current state of the machine as the reference.
    pub fn new() -> Self {
        let root = Root::system();
        StabilityWatch {
            watch: FactWatch::new(&root),
            checked: Instant::now(),
            throttled: assay_system::fitness::throttle_count(&root),
            io: assay_system::limited_io(&root),
            clock_reported: false,
        }
    }

    /// Checks the machine after a trial: always after the last one, otherwise at most once a
    /// second.
    pub fn check_after_trial(&mut self, record: &mut TrialRecord, last: bool) {
        if !self.clock_reported {
            self.clock_reported = true;
            let (resolution, overhead) = assay_system::clock::quality();
            record_observation(record, Observation::Clock { resolution, overhead });
        }
        if !last && self.checked.elapsed() < RECHECK {
            return;
        }
        self.checked = Instant::now();
        record.changed = self.watch.changed();
        record_observation(
            record,
            Observation::Changed { paths: record.changed.keys().cloned().collect() },
        );
        let root = Root::system();
        let now = assay_system::fitness::throttle_count(&root);
        let throttled = self.throttled.zip(now).map(|(before, now)| now.saturating_sub(before));
        self.throttled = now;
        let hz = assay_system::fitness::frequency_hz(&root);
        if hz.is_some() || throttled.is_some() {
            record_observation(record, Observation::ClockRate { hz, throttled });
        }
        let now = assay_system::limited_io(&root);
        if let (Some((_, before)), Some((limits, now))) = (&self.io, now.clone()) {
            record_observation(
                record,
                Observation::LimitedIo { limits, bytes: now.saturating_sub(*before) },
            );
        }
        self.io = now;
    }
}
