//! What is looked at beside the trials and recorded with them as evidence for the checks: the programs
//! that ran, the clock, whether anything changed meanwhile, how fast the CPUs ran. Between two short trials
//! stands little: a program is read once and asked for its state after each trial; the rest is looked at
//! once a second at most.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_checks::see;
use assay_model::{Observation, Program, TrialRecord};
use assay_sut::{Root, SourceTree, Watch};
use assay_workloads::Launch;

/// What is watched is read again at most so often.
const RECHECK: Duration = Duration::from_secs(1);

/// What tells one state of a file from another: inode, size, and when it was written.
type State = [i64; 4];

/// The programs that were looked at in a run.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// Where the names that are looked up in `$PATH` lead.
    found: BTreeMap<OsString, Option<PathBuf>>,
    /// The treatments that had a trial.
    begun: BTreeSet<u32>,
    /// The state of its program that each treatment's records tell of.
    reported: BTreeMap<u32, State>,
    known: BTreeMap<PathBuf, (State, Program)>,
    /// The version-controlled tree of each; `None`: it lies in none.
    trees: BTreeMap<PathBuf, Option<Result<SourceTree, String>>>,
}

impl Programs {
    /// The file that a launch starts; `None`: it is not found.
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
        found.or_insert_with(|| assay_sut::which(&name.to_string_lossy())).clone()
    }

    /// Returns true for the first trial of a treatment.
    pub fn begins(&mut self, treatment: u32) -> bool {
        self.begun.insert(treatment)
    }

    /// Records the program of a treatment with its first trial. One that changed on the way has another hash
    /// in a record of its own.
    pub fn see(&mut self, program: Option<&Path>, record: &mut TrialRecord) {
        let Some(path) = program else { return };
        let Ok(found) = path.metadata() else { return };
        let state = [found.ino() as i64, found.len() as i64, found.mtime(), found.mtime_nsec()];
        if self.reported.get(&record.treatment) == Some(&state) {
            return;
        }
        if self.known.get(path).is_none_or(|(known, _)| *known != state) {
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
            self.reported.insert(record.treatment, state);
            self.see_tree(path, record);
        }
    }
}

impl Programs {
    /// Records the version-controlled tree that a program lies in. assay itself, which runs the built-in
    /// workloads, has its version in the ledger.
    fn see_tree(&mut self, path: &Path, record: &mut TrialRecord) {
        if std::env::current_exe().is_ok_and(|own| own == path) {
            return;
        }
        let tree = self.trees.entry(path.to_owned());
        match tree.or_insert_with(|| assay_sut::source_tree(path)) {
            None => {}
            Some(Ok(SourceTree { commit, changed })) => {
                let commit = commit.clone();
                see(record, Observation::SourceTree { commit, changed: *changed });
            }
            Some(Err(why)) => record.notes.push(format!(
                "whether `{}` lies in a tree with changes is not known: {why}",
                path.display()
            )),
        }
    }
}

/// Looks again at what should not change.
#[derive(Debug)]
pub(crate) struct Witness {
    watch: Watch,
    checked: Instant,
    throttled: Option<u64>,
    io: Option<(String, u64)>,
    clock_reported: bool,
}

impl Witness {
    /// Takes the machine as it is now.
    pub fn new() -> Self {
        let root = Root::system();
        Witness {
            watch: Watch::new(&root),
            checked: Instant::now(),
            throttled: assay_sut::fitness::throttle_count(&root),
            io: assay_sut::limited_io(&root),
            clock_reported: false,
        }
    }

    /// Looks after a trial; always after the `last`.
    pub fn look(&mut self, record: &mut TrialRecord, last: bool) {
        if !self.clock_reported {
            self.clock_reported = true;
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
        let now = assay_sut::limited_io(&root);
        if let (Some((_, before)), Some((limits, now))) = (&self.io, now.clone()) {
            see(record, Observation::LimitedIo { limits, bytes: now.saturating_sub(*before) });
        }
        self.io = now;
    }
}
