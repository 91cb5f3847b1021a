//! Writing a run: the ledger, and trial after trial. A small trial costs two writes and the head's: its
//! record, and its end together with the start of the next.

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
use assay_redact::{CleanRecord, Recorder, Redactor};

use crate::account::Key;
use crate::appender::Appender;
use crate::chain::Tip;
use crate::disk::{self, Durability, MAX_DATA};
use crate::heads::{HeadFile, set_newest};
use crate::identity::RunMetrics;
use crate::layout::{
    IO, IO_EVENTS, LEDGER, METRICS, PLAN, RECORDS, RUNS, SAMPLES, STDERR, STDOUT, TRIAL_STAGING,
    TRIALS, may_keep, staged, trial_folder,
};
use crate::lock::Lock;
use crate::reader::RunReader;
use crate::records::MAX_LINE;
use crate::{Error, Result, finite, samples};

/// A trial this long is flushed at once; what is shorter may wait.
const FLUSH_AFTER: Duration = Duration::from_secs(1);
/// How long trials may wait to be flushed at most: what a lost power takes.
const FLUSH_EVERY: Duration = Duration::from_secs(30);
/// Between short trials a flush waits until this many times its own cost has passed, so that it takes
/// no more than a ten-thousandth of the run's time.
const FLUSH_SHARE: u32 = 10_000;

/// A run that this process writes. Dropping it without [`RunWriter::finish`] leaves an interrupted
/// run that can be resumed.
#[derive(Debug)]
pub struct RunWriter {
    id: RunId,
    folder: PathBuf,
    ledger: Appender,
    tip: Tip,
    /// The end of a short trial, which is written with the entry after it: its record counts already.
    owed: Vec<u8>,
    head: HeadFile,
    records: Appender,
    recorded: HashSet<Key>,
    /// The line being written: kept, so that no trial has to allocate it.
    line: Vec<u8>,
    durability: Durability,
    /// Files of trials and their folders, written since the last flush.
    unflushed: Vec<PathBuf>,
    flushed_at: Instant,
    /// How long trials that are short may wait now.
    flush_interval: Duration,
    broken: bool,
    /// The tracer's answer of the next trial, and the file of its single I/Os.
    io: Option<(Vec<u8>, Option<PathBuf>)>,
    _lock: Lock,
}

impl RunWriter {
    /// Opens a run that is in order and flushed.
    pub(crate) fn open(
        id: RunId,
        archive: &Path,
        lock: Lock,
        (tip, recorded): (Tip, HashSet<Key>),
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

    /// The run's id.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// The run's folder.
    pub fn dir(&self) -> &Path {
        &self.folder
    }

    /// The run as a reader sees it now, this process's own trials included.
    pub fn reader(&self) -> Result<RunReader> {
        RunReader::open(&self.folder, &self.id)
    }

    /// Adds an event to the ledger. It survives `kill -9` when this returns, and a lost power with
    /// the next flush.
    ///
    /// # Errors
    /// `Record` when it starts an attempt that is recorded already; the run goes on after it. After
    /// any other error nothing more is written, and the run can be resumed.
    pub fn ledger(&mut self, event: LedgerEvent) -> Result<()> {
        if let LedgerEvent::TrialStarted { number, attempt } = event {
            self.refuse_recorded((number, attempt))?;
        }
        self.guarded(|run| run.enter(event))
    }

    /// Keeps a trial: its logs where they are not empty, its samples, its record, and a `TrialEnded`
    /// in the ledger. The record's line is what counts: a trial without it did not end.
    ///
    /// Values that look like tokens are not kept: `[token]` stands for them.
    ///
    /// When this returns, the trial survives `kill -9`. It survives a lost power when it has samples
    /// or lasted a second; else once ten thousand times the cost of the last flush has passed (about
    /// 10 s on a usual disk, never less than 1 s, never more than 30 s), or with
    /// [`RunWriter::finish`].
    ///
    /// # Errors
    /// `Record` when the record cannot be read back as it is (a number that is not finite) or that
    /// attempt exists; the run goes on after it. After any other error nothing more is written, and
    /// the run can be resumed.
    pub fn write_trial(
        &mut self,
        record: &TrialRecord,
        stdout: &[u8],
        stderr: &[u8],
        samples: Option<&SampleSet>,
    ) -> Result<()> {
        let record = CleanRecord::new(record.clone(), None);
        self.write_trial_with(&record, stdout, stderr, samples, &[])
    }

    /// As [`RunWriter::write_trial`], with files of the workload's own beside the logs. A name must be plain
    /// and none that the archive uses ([`may_keep`]).
    ///
    /// # Errors
    /// As there; `Record` also for a name that cannot be.
    pub fn write_trial_with(
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
        // What a program prints is anybody's; what looks like a token is not kept.
        let (stdout, stderr) = (&*Recorder::log(stdout), &*Recorder::log(stderr));
        let secrets = LazyCell::new(|| {
            Redactor::secrets(assay_redact::Key::new(self.id.as_str()), Vec::new())
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

    /// Keeps what a tracer of block I/O saw beside the trial that is written next: its answer as JSON, and
    /// the file of single I/Os, which is moved.
    pub fn trace_next(&mut self, answer: Vec<u8>, events: Option<PathBuf>) {
        self.io = Some((answer, events));
    }

    /// Replaces the plan, whose number of blocks had been left open, and records it in the ledger.
    pub fn replace_plan(&mut self, plan: &Plan, reason: &str) -> Result<()> {
        let bytes = disk::to_json(plan, &self.folder.join(PLAN))?;
        let event = LedgerEvent::BlocksFixed {
            blocks: plan.trials.iter().map(|t| t.block + 1).max().unwrap_or(0),
            reason: reason.to_owned(),
            plan_sha256: disk::sha256(&bytes),
        };
        self.replace(PLAN, &bytes, event)
    }

    /// Keeps values that belong to the run as a whole (those that an imported file prints), in place of
    /// those kept before.
    pub fn set_run_metrics(&mut self, metrics: &[MetricValue]) -> Result<()> {
        let path = self.folder.join(METRICS);
        let file = RunMetrics { schema_version: SCHEMA_VERSION, metrics: metrics.to_vec() };
        let bytes = disk::to_json(&file, &path)?;
        let files = vec![disk::hash_of(METRICS, &bytes)];
        self.replace(METRICS, &bytes, LedgerEvent::FilesKept { files })
    }

    /// Replaces a file beside the trials by one that `event` has the hash of.
    fn replace(&mut self, name: &str, bytes: &[u8], event: LedgerEvent) -> Result<()> {
        self.guarded(|run| {
            // The ledger's line makes it the file; a reader finds it under either name.
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

    /// Keeps a file beside the run's own: `name` is a path of plain names inside its folder. It is
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

    /// Ends the run: everything is flushed, and the lock released. With `Interrupted` or `Failed`
    /// it can be resumed.
    pub fn finish(mut self, state: RunState, reason: &str) -> Result<()> {
        if let Some(archive) = self.folder.ancestors().nth(2) {
            set_newest(archive, &self.id);
        }
        self.guarded(|run| {
            // In this order: an end that is on disk vouches for every record before it.
            run.flush_files()?;
            if run.durability == Durability::Synced {
                run.records.sync()?;
            }
            run.enter(LedgerEvent::Ended { state, reason: reason.to_owned() })?;
            run.settle_ledger()
        })
    }

    /// Waits until the device has the ledger, and its head.
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

    /// Runs a step that writes; after its failure nothing more is written, so that what is on disk
    /// stays what a resume can put in order.
    fn guarded(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.refuse_broken()?;
        let done = step(self);
        self.broken = done.is_err();
        done
    }

    /// Adds a line to the ledger.
    fn enter(&mut self, event: LedgerEvent) -> Result<()> {
        self.owe(event)?;
        self.pay()
    }

    /// Makes a line of the ledger, which is written with the next one.
    fn owe(&mut self, event: LedgerEvent) -> Result<()> {
        let line = self.tip.line(event);
        self.owed.extend(line.map_err(|e| Error::damaged(&self.folder.join(LEDGER), e))?);
        Ok(())
    }

    /// Writes the lines that are owed, and the head.
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

    fn refuse_recorded(&self, key: Key) -> Result<()> {
        self.refuse_broken()?;
        if self.recorded.contains(&key) {
            let reason = format!("attempt {} is recorded already", key.1);
            return Err(Error::Record { run: self.id.clone(), number: key.0, reason });
        }
        Ok(())
    }

    /// Puts the record into `line` (with its newline) once it is certain that it can be read back.
    fn checked(&self, record: &TrialRecord, line: &mut Vec<u8>) -> Result<()> {
        let refuse =
            |reason: String| Error::Record { run: self.id.clone(), number: record.number, reason };
        self.refuse_recorded((record.number, record.attempt))?;
        // JSON has no NaN: it would become null, silently.
        if let Some(what) = finite::first_not_finite(record) {
            return Err(refuse(format!("its {what} is not finite")));
        }
        line.clear();
        serde_json::to_writer(&mut *line, record).map_err(|e| refuse(e.to_string()))?;
        line.push(b'\n');
        let size = line.len() as u64;
        if size > MAX_LINE || self.records.len() + size > MAX_DATA {
            return Err(refuse(format!(
                "it is {size} bytes, and at most {MAX_LINE} are read of a record and {MAX_DATA} of \
                 a run's"
            )));
        }
        Ok(())
    }

    /// The bytes of `samples.parquet`; empty without samples.
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
        let due =
            sampled || lasted >= FLUSH_AFTER || self.flushed_at.elapsed() >= self.flush_interval;
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
            self.flush_files()?; // before the record that speaks of them
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
        }
        if due && self.durability == Durability::Synced {
            self.records.sync()?;
            self.ledger.sync()?;
            self.head.ledger_is_flushed(&self.tip);
        }
        if due {
            self.flushed_at = Instant::now();
            let cost = self.flushed_at - began;
            self.flush_interval = (cost * FLUSH_SHARE).clamp(FLUSH_AFTER, FLUSH_EVERY);
        }
        Ok(())
    }

    /// Writes a trial's folder under another name and renames it, so that it is seen whole. Returns what
    /// is in it.
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
            // What cannot be written now is entered by a resume: the record is there.
            let _ = self.pay();
        }
    }
}
