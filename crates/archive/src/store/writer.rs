//! Writes a run: the ledger, and one trial after the other. A small trial costs two writes plus the
//! head's: one for its record, and one for its end together with the start of the next trial.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_model::{
    FileHash, LedgerEvent, MetricValue, Plan, RunId, RunState, SCHEMA_VERSION, SampleSet,
    TrialRecord,
};
use assay_system::redact::{CleanRecord, Recorder, Redactor};

use crate::format::appender::Appender;
use crate::format::chain::Tip;
use crate::format::disk::{self, Durability, MAX_DATA};
use crate::format::finite;
use crate::format::identity::RunMetrics;
use crate::format::layout::{
    IO, IO_EVENTS, LEDGER, METRICS, PLAN, RECORDS, RUNS, SAMPLES, STDERR, STDOUT, TRIAL_STAGING,
    TRIALS, may_keep, staged, trial_folder,
};
use crate::format::records::MAX_LINE;
use crate::format::samples;
use crate::store::account::AttemptKey;
use crate::store::heads::{HeadFile, set_newest};
use crate::store::lock::Lock;
use crate::store::reader::RunReader;
use crate::{Error, Result};

/// A trial that lasted this long is flushed at once; shorter ones may wait.
const FLUSH_AFTER: Duration = Duration::from_secs(1);
/// Maximum time that trials wait to be flushed, and so the most that a power failure can lose.
const FLUSH_EVERY: Duration = Duration::from_secs(30);
/// Between short trials, a flush waits until this many times the cost of the last flush has passed,
/// so that flushing takes at most a ten-thousandth of the run's time.
const FLUSH_SHARE: u32 = 10_000;

/// A run that this process writes. Dropping it without [`RunWriter::finish`] leaves an interrupted
/// run that can be resumed.
#[derive(Debug)]
pub struct RunWriter {
    id: RunId,
    folder: PathBuf,
    ledger: Appender,
    tip: Tip,
    /// Ledger lines that are written together with the next entry: the end of a short trial, whose
    /// record is written already.
    owed: Vec<u8>,
    head: HeadFile,
    records: Appender,
    recorded: HashSet<AttemptKey>,
    /// Buffer of the line being written, reused so that no trial has to allocate it.
    line: Vec<u8>,
    durability: Durability,
    /// Files and folders of trials that were written since the last flush.
    unflushed: Vec<PathBuf>,
    flushed_at: Instant,
    /// Time that short trials may currently wait for a flush; with [`Duration::MAX`] all trials
    /// wait for the end of the run.
    pub(crate) flush_interval: Duration,
    broken: bool,
    /// The tracer's report on the next trial, and the file with its single I/Os.
    io: Option<(Vec<u8>, Option<PathBuf>)>,
    _lock: Lock,
}

impl RunWriter {
    /// Opens a run that is repaired and flushed.
    pub(crate) fn open(
        id: RunId,
        archive: &Path,
        lock: Lock,
        (tip, recorded): (Tip, HashSet<AttemptKey>),
        durability: Durability,
    ) -> Result<Self> {
        let folder = archive.join(RUNS).join(id.as_str());
        set_newest(archive, &id);
        Ok(RunWriter {
            head: HeadFile::open(archive, &id, &tip)?,
            id,
            ledger: Appender::open(folder.join(LEDGER))?,
            tip,
            owed: Vec::new(),
            records: Appender::open(folder.join(RECORDS))?,
            recorded,
            folder,
            line: Vec::new(),
            durability,
            unflushed: Vec::new(),
            flushed_at: Instant::now(),
            flush_interval: FLUSH_AFTER,
            broken: false,
            io: None,
            _lock: lock,
        })
    }

    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the run's folder.
    pub fn dir(&self) -> &Path {
        &self.folder
    }

    /// Opens the run for reading, including the trials that this process wrote.
    pub fn reader(&self) -> Result<RunReader> {
        RunReader::open(&self.folder, &self.id)
    }

    /// Appends an event to the ledger. The event survives `kill -9` when this returns, and a power
    /// failure after the next flush.
    ///
    /// # Errors
    /// `Record` if the event starts an attempt that is recorded already; the run can continue.
    /// After any other error nothing more is written, and the run can be resumed.
    pub fn ledger(&mut self, event: LedgerEvent) -> Result<()> {
        if let LedgerEvent::TrialStarted { number, attempt } = event {
            self.refuse_recorded((number, attempt))?;
        }
        self.guarded(|run| run.enter(event))
    }

    /// Stores a trial: its logs unless they are empty, its samples, files of the workload, its
    /// record, and a `TrialEnded` entry in the ledger. The names of the files must be plain and not
    /// used by the archive ([`may_keep`]). The record is decisive: a trial without one did not end.
    ///
    /// Values that look like tokens are replaced by `[token]`.
    ///
    /// When this returns, the trial survives `kill -9`. It also survives a power failure if it has
    /// samples or lasted a second. Otherwise it does so once ten thousand times the cost of the
    /// last flush has passed (about 10 s on a typical disk, at least 1 s, at most 30 s), or after
    /// [`RunWriter::finish`].
    ///
    /// # Errors
    /// `Record` if the record would change when read back (a number that is not finite), if the
    /// attempt exists already, or for a name that is not allowed; the run can continue. After any
    /// other error nothing more is written, and the run can be resumed.
    pub fn write_trial(
        &mut self,
        record: &CleanRecord,
        stdout: &[u8],
        stderr: &[u8],
        samples: Option<&SampleSet>,
        kept: &[(String, Vec<u8>)],
    ) -> Result<()> {
        if let Some((name, _)) = kept.iter().find(|(name, _)| !may_keep(name)) {
            let reason = format!("a file `{name}` cannot be kept with it");
            return Err(Error::Record { run: self.id.clone(), number: record.number, reason });
        }
        // A program may print anything, so everything that looks like a token is replaced.
        let (stdout, stderr) = (&*Recorder::log(stdout), &*Recorder::log(stderr));
        let secrets = LazyCell::new(|| {
            Redactor::secrets(assay_system::redact::RedactionKey::new(self.id.as_str()), Vec::new())
        });
        let clean: Vec<Cow<'_, [u8]>> = kept
            .iter()
            .map(|(name, bytes)| secrets.file(name, bytes).unwrap_or(Cow::Borrowed(bytes)))
            .collect();
        let mut line = std::mem::take(&mut self.line);
        let kept = self
            .checked(record, &mut line)
            .and_then(|()| self.encoded(record, samples))
            .and_then(|samples| {
                let mut files = vec![(STDOUT, stdout), (STDERR, stderr), (SAMPLES, &samples[..])];
                files.extend(
                    kept.iter().zip(&clean).map(|((name, _), bytes)| (name.as_str(), &**bytes)),
                );
                self.guarded(|run| run.keep(record, &line, &files))
            });
        self.line = line;
        kept
    }

    /// Stores the block I/O tracer's output with the trial that is written next: its report as
    /// JSON, and the file of single I/Os, which is moved.
    pub fn trace_next(&mut self, answer: Vec<u8>, events: Option<PathBuf>) {
        self.io = Some((answer, events));
    }

    /// Replaces a plan whose number of blocks had been left open, and records this in the ledger.
    pub fn replace_plan(&mut self, plan: &Plan, reason: &str) -> Result<()> {
        let bytes = disk::to_json(plan, &self.folder.join(PLAN))?;
        let event = LedgerEvent::BlocksFixed {
            blocks: plan.trials.iter().map(|t| t.block + 1).max().unwrap_or(0),
            reason: reason.to_owned(),
            plan_sha256: disk::sha256(&bytes),
        };
        self.replace(PLAN, &bytes, event)
    }

    /// Stores values that belong to the run as a whole (as printed in an imported file), replacing
    /// those stored before.
    pub fn set_run_metrics(&mut self, metrics: &[MetricValue]) -> Result<()> {
        let path = self.folder.join(METRICS);
        let file = RunMetrics { schema_version: SCHEMA_VERSION, metrics: metrics.to_vec() };
        let bytes = disk::to_json(&file, &path)?;
        let files = vec![disk::hash_of(METRICS, &bytes)];
        self.replace(METRICS, &bytes, LedgerEvent::FilesKept { files })
    }

    /// Replaces a file outside the trials by one whose hash is in `event`.
    fn replace(&mut self, name: &str, bytes: &[u8], event: LedgerEvent) -> Result<()> {
        self.guarded(|run| {
            // The ledger entry makes the replacement valid; readers find it under either name.
            let staged = run.folder.join(staged(name));
            let entered = disk::write_new(&staged, bytes, run.durability)
                .and_then(|()| run.sync_folder())
                .and_then(|()| run.enter(event));
            if let Err(error) = entered {
                let _ = disk::remove(&staged);
                return Err(error);
            }
            if run.durability == Durability::Synced {
                run.ledger.sync()?;
            }
            fs::rename(&staged, run.folder.join(name))
                .map_err(|e| Error::io("rename", &staged, e))?;
            run.sync_folder()
        })
    }

    /// Stores an additional file in the run's folder: `name` is a path of plain names. The file is
    /// flushed when this returns.
    pub(crate) fn keep_file(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.folder.join(name);
        self.guarded(|run| {
            if let Some(parent) = path.parent() {
                disk::make_folder(parent)?;
                disk::write_new(&path, bytes, run.durability)?;
                if run.durability == Durability::Synced {
                    disk::sync(parent)?;
                    run.sync_folder()?;
                }
            }
            Ok(())
        })
    }

    /// Ends the run: flushes everything and releases the lock. A run that ends as `Interrupted` or
    /// `Failed` can be resumed.
    pub fn finish(mut self, state: RunState, reason: &str) -> Result<()> {
        if let Some(archive) = self.folder.ancestors().nth(2) {
            set_newest(archive, &self.id);
        }
        self.guarded(|run| {
            // In this order, because an end on disk vouches for every record before it.
            run.flush_files()?;
            if run.durability == Durability::Synced {
                run.records.sync()?;
            }
            run.enter(LedgerEvent::Ended { state, reason: reason.to_owned() })?;
            run.settle_ledger()
        })
    }

    /// Waits until the ledger and its head are on the storage device.
    pub(crate) fn flush_ledger(&mut self) -> Result<()> {
        self.guarded(Self::settle_ledger)
    }

    fn settle_ledger(&mut self) -> Result<()> {
        self.pay()?;
        if self.durability == Durability::Synced {
            self.ledger.sync()?;
        }
        self.head.flushed(&self.tip, self.durability)
    }

    /// Runs a step that writes. After a failure nothing more is written, so that a resume can
    /// repair the files on disk.
    fn guarded(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.refuse_broken()?;
        let done = step(self);
        self.broken = done.is_err();
        done
    }

    /// Appends a line to the ledger.
    fn enter(&mut self, event: LedgerEvent) -> Result<()> {
        self.owe(event)?;
        self.pay()
    }

    /// Makes a ledger line that is written together with the next one.
    fn owe(&mut self, event: LedgerEvent) -> Result<()> {
        let line = self.tip.line(event);
        self.owed.extend(line.map_err(|e| Error::damaged(&self.folder.join(LEDGER), e))?);
        Ok(())
    }

    /// Writes the pending ledger lines and the head.
    fn pay(&mut self) -> Result<()> {
        if self.owed.is_empty() {
            return Ok(());
        }
        self.ledger.append(&self.owed)?;
        self.owed.clear();
        self.head.moves_to(&self.tip)
    }

    fn refuse_broken(&self) -> Result<()> {
        if self.broken { Err(Error::Broken { run: self.id.clone() }) } else { Ok(()) }
    }

    fn refuse_recorded(&self, key: AttemptKey) -> Result<()> {
        self.refuse_broken()?;
        if self.recorded.contains(&key) {
            let reason = format!("attempt {} is recorded already", key.1);
            return Err(Error::Record { run: self.id.clone(), number: key.0, reason });
        }
        Ok(())
    }

    /// Serializes the record into `line` (with its newline) after checking that it can be read
    /// back.
    fn checked(&self, record: &TrialRecord, line: &mut Vec<u8>) -> Result<()> {
        let refuse =
            |reason: String| Error::Record { run: self.id.clone(), number: record.number, reason };
        self.refuse_recorded((record.number, record.attempt))?;
        // JSON has no NaN: it would silently become null.
        if let Some(what) = finite::first_not_finite(record) {
            return Err(refuse(format!("its {what} is not finite")));
        }
        line.clear();
        serde_json::to_writer(&mut *line, record).map_err(|e| refuse(e.to_string()))?;
        line.push(b'\n');
        let size = line.len() as u64;
        if size > MAX_LINE || self.records.len() + size > MAX_DATA {
            return Err(refuse(format!(
                "it has {size} bytes; the limits are {MAX_LINE} for a record and {MAX_DATA} for a \
                 run"
            )));
        }
        Ok(())
    }

    /// Encodes `samples.parquet`; empty without samples.
    fn encoded(&self, record: &TrialRecord, set: Option<&SampleSet>) -> Result<Vec<u8>> {
        set.map_or(Ok(Vec::new()), samples::encode).map_err(|source| {
            let path = trial_folder(record.number, record.attempt).join(SAMPLES);
            Error::Parquet { path: self.folder.join(path), source }
        })
    }

    fn keep(&mut self, record: &TrialRecord, line: &[u8], files: &[(&str, &[u8])]) -> Result<()> {
        let key = (record.number, record.attempt);
        let io = self.io.take();
        let sampled =
            io.is_some() || files.iter().any(|(name, bytes)| *name == SAMPLES && !bytes.is_empty());
        let lasted = Duration::from_nanos(record.end_ns.saturating_sub(record.start_ns));
        let waited = self.flushed_at.elapsed();
        let due = self.flush_interval < Duration::MAX
            && (sampled || lasted >= FLUSH_AFTER || waited >= self.flush_interval);
        let began = Instant::now();
        let answer = io.as_ref().map_or(&[][..], |(answer, _)| answer);
        let events = io.as_ref().and_then(|(_, events)| events.as_deref());
        let mut files = [files, &[(IO, answer)]].concat();
        files.retain(|(_, bytes)| !bytes.is_empty());
        let mut hashes = Vec::new();
        if !files.is_empty() {
            hashes = self.put_files(&trial_folder(key.0, key.1), &files, events)?;
        }
        if due {
            self.flush_files()?; // before the record that refers to them
        }
        self.records.append(line)?;
        self.recorded.insert(key);
        self.owe(LedgerEvent::TrialEnded {
            number: key.0,
            attempt: key.1,
            outcome: record.outcome,
            record_sha256: disk::sha256(&line[..line.len() - 1]),
            files: Some(hashes),
        })?;
        if due {
            self.pay()?;
            if self.durability == Durability::Synced {
                self.records.sync()?;
                self.ledger.sync()?;
                self.head.ledger_is_flushed(&self.tip);
            }
            self.flushed_at = Instant::now();
            let cost = self.flushed_at - began;
            self.flush_interval = (cost * FLUSH_SHARE).clamp(FLUSH_AFTER, FLUSH_EVERY);
        }
        Ok(())
    }

    /// Writes a trial's folder under another name and renames it, so that readers see it completely
    /// or not at all. Returns the hashes of its files.
    fn put_files(
        &mut self,
        folder: &Path,
        files: &[(&str, &[u8])],
        events: Option<&Path>,
    ) -> Result<Vec<FileHash>> {
        let staging = self.folder.join(TRIAL_STAGING);
        let target = self.folder.join(folder);
        let put = || {
            fs::create_dir(&staging).map_err(|e| Error::io("create", &staging, e))?;
            let mut hashes = Vec::with_capacity(files.len() + 1);
            for (name, bytes) in files {
                disk::write_new(&staging.join(name), bytes, Durability::Cached)?;
                hashes.push(disk::hash_of(name, bytes));
            }
            if let Some(events) = events {
                let place = staging.join(IO_EVENTS);
                disk::move_file(events, &place)?;
                hashes.push(disk::hash_file(IO_EVENTS, &place)?);
            }
            fs::rename(&staging, &target).map_err(|e| Error::io("rename", &staging, e))?;
            Ok(hashes)
        };
        let hashes = match put() {
            Ok(hashes) => hashes,
            Err(error) => {
                let _ = disk::remove(&staging);
                return Err(error);
            }
        };
        self.unflushed.extend(hashes.iter().map(|file| target.join(&file.path)));
        self.unflushed.push(target);
        Ok(hashes)
    }

    /// Flushes the files of trials.
    fn flush_files(&mut self) -> Result<()> {
        if self.durability == Durability::Synced && !self.unflushed.is_empty() {
            for path in &self.unflushed {
                disk::sync(path)?;
            }
            disk::sync(&self.folder.join(TRIALS))?;
        }
        self.unflushed.clear();
        Ok(())
    }

    fn sync_folder(&self) -> Result<()> {
        match self.durability {
            Durability::Synced => disk::sync(&self.folder),
            Durability::Cached => Ok(()),
        }
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        if !self.broken {
            // If this fails, a resume adds the entries, because the records exist.
            let _ = self.pay();
        }
    }
}
