//! What is looked at beside the trials and recorded with them as evidence for the checks: the programs
//! that ran, the clock, whether anything changed meanwhile, how fast the CPUs ran. Nothing here is on the
//! path between two short trials: a program is looked at once a treatment, the rest at most once a second.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_checks::see;
use assay_model::{Observation, Program, TrialRecord};
use assay_sut::{Root, Watch};
use assay_workloads::Launch;

/// What is watched is read again at most so often.
const RECHECK: Duration = Duration::from_secs(1);

/// The programs that were looked at in a run.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    told: BTreeSet<u32>,
    known: BTreeMap<PathBuf, ([i64; 4], Program)>,
}

impl Programs {
    /// Records the program of a treatment with its first trial. One that changed on the way has another hash
    /// in a record of its own.
    pub fn see(&mut self, program: Option<&Path>, record: &mut TrialRecord) {
        let Some(path) = program else { return };
        let Ok(found) = path.metadata() else { return };
        let state = [found.ino() as i64, found.len() as i64, found.mtime(), found.mtime_nsec()];
        let same = self.known.get(path).is_some_and(|(known, _)| *known == state);
        if same && self.told.contains(&record.treatment) {
            return;
        }
        if !same {
            match assay_sut::identify(path) {
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
            see(record, Observation::Program { program: program.clone() });
            self.told.insert(record.treatment);
        }
    }
}

/// The file that a launch starts; `None`: it is not found.
pub(crate) fn program_of(launch: &Launch, cwd: &Path) -> Option<PathBuf> {
    let name = launch.argv.first()?;
    let path = Path::new(name);
    if path.is_absolute() || !name.to_string_lossy().contains('/') {
        return assay_sut::which(&name.to_string_lossy());
    }
    Some(launch.cwd.as_deref().unwrap_or(cwd).join(path))
}

/// Looks again at what should not change.
#[derive(Debug)]
pub(crate) struct Witness {
    watch: Watch,
    checked: Instant,
    throttled: Option<u64>,
    clock_told: bool,
}

impl Witness {
    /// Takes the machine as it is now.
    pub fn new() -> Self {
        let root = Root::system();
        Witness {
            watch: Watch::new(&root),
            checked: Instant::now(),
            throttled: assay_sut::fitness::throttle_count(&root),
            clock_told: false,
        }
    }

    /// Looks after a trial; always after the `last`.
    pub fn look(&mut self, record: &mut TrialRecord, last: bool) {
        if !self.clock_told {
            self.clock_told = true;
            let (resolution, overhead) = assay_sut::clock::quality();
            see(record, Observation::Clock { resolution, overhead });
        }
        if !last && self.checked.elapsed() < RECHECK {
            return;
        }
        self.checked = Instant::now();
        record.changed = self.watch.changed();
        see(record, Observation::Changed { paths: record.changed.keys().cloned().collect() });
        let root = Root::system();
        let now = assay_sut::fitness::throttle_count(&root);
        let throttled = self.throttled.zip(now).map(|(before, now)| now.saturating_sub(before));
        self.throttled = now;
        let hz = assay_sut::fitness::frequency_hz(&root);
        if hz.is_some() || throttled.is_some() {
            see(record, Observation::ClockRate { hz, throttled });
        }
    }
}
