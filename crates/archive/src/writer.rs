//! Writing a run: the ledger, and trial after trial, each durable before the next one starts.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use assay_model::{
    LedgerEvent, MetricValue, Plan, RunId, RunState, SCHEMA_VERSION, SampleSet, TrialRecord,
};

use crate::chain::Tip;
use crate::disk::{self, Durability};
use crate::identity::RunMetrics;
use crate::layout::{
    LEDGER, METRICS, PLAN, RECORD, SAMPLES, STDERR, STDOUT, TRIAL_STAGING, TRIALS, WAL,
    trial_folder,
};
use crate::lock::Lock;
use crate::reader::RunReader;
use crate::wal::{INLINE_MAX, RunFile, Wal};
use crate::{Error, Result, samples};

/// A run that this process writes. Dropping it without [`RunWriter::finish`] leaves an interrupted
/// run that can be resumed.
#[derive(Debug)]
pub struct RunWriter {
    id: RunId,
    folder: PathBuf,
    ledger: File,
    tip: Tip,
    /// Ledger lines that are written but not yet in the write-ahead file.
    pending: Vec<u8>,
    /// `None` where durability was given up.
    wal: Option<Wal>,
    /// Files and folders of trials that are written but not yet flushed.
    unflushed: Vec<PathBuf>,
    broken: bool,
    _lock: Lock,
}

impl RunWriter {
    pub(crate) fn open(
        id: RunId,
        folder: PathBuf,
        lock: Lock,
        tip: Tip,
        wal: Option<Wal>,
    ) -> Result<Self> {
        let path = folder.join(LEDGER);
        let ledger = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|e| Error::io("write", &path, e))?;
        Ok(RunWriter {
            id,
            folder,
            ledger,
            tip,
            pending: Vec::new(),
            wal,
            unflushed: Vec::new(),
            broken: false,
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
        RunReader::open_as_it_is(&self.folder, &self.id)
    }

    /// Adds an event to the ledger. It has left this process when this returns, and is durable with
    /// the next trial.
    pub fn ledger(&mut self, event: LedgerEvent) -> Result<()> {
        self.guarded(|run| {
            let line = run.line(event)?;
            run.append_ledger(&line)?;
            run.pending.extend_from_slice(&line);
            if run.pending.len() > INLINE_MAX { run.commit(&[], &[]) } else { Ok(()) }
        })
    }

    /// Keeps a trial: its record, its logs where they are not empty, its samples, and a
    /// `TrialEnded` in the ledger. When this returns, the trial survives `kill -9` and a lost power.
    ///
    /// # Errors
    /// `Record` when the record cannot be read back as it is (a number in a curve that is not
    /// finite) or that attempt exists; the run goes on after it. After any other error nothing more
    /// is written, and the run can be resumed.
    pub fn write_trial(
        &mut self,
        record: &TrialRecord,
        stdout: &[u8],
        stderr: &[u8],
        samples: Option<&SampleSet>,
    ) -> Result<()> {
        let folder = trial_folder(record.number, record.attempt);
        let bytes = self.checked_record(record, &folder)?;
        let event = LedgerEvent::TrialEnded {
            number: record.number,
            attempt: record.attempt,
            outcome: record.outcome,
            record_sha256: disk::sha256(&bytes),
        };
        let mut files = vec![RunFile { path: folder.join(RECORD), bytes }];
        for (name, log) in [(STDOUT, stdout), (STDERR, stderr)] {
            if !log.is_empty() {
                files.push(RunFile { path: folder.join(name), bytes: log.to_vec() });
            }
        }
        if let Some(set) = samples {
            let path = folder.join(SAMPLES);
            let bytes = samples::encode(set)
                .map_err(|source| Error::Parquet { path: self.folder.join(&path), source })?;
            files.push(RunFile { path, bytes });
        }
        self.guarded(|run| {
            let line = run.line(event)?;
            let size: usize = files.iter().map(|f| f.bytes.len()).sum();
            if size > INLINE_MAX {
                // Too large to be written twice: flushed in its place before the ledger says so.
                run.put_trial(&folder, &files, run.durability())?;
                run.commit(&[], &line)?;
            } else {
                run.commit(&files, &line)?;
                run.put_trial(&folder, &files, Durability::Cached)?;
                run.unflushed.extend(files.iter().map(|f| run.folder.join(&f.path)));
                run.unflushed.push(run.folder.join(&folder));
            }
            run.append_ledger(&line)
        })
    }

    /// Replaces the plan, whose number of blocks had been left open, and says so in the ledger.
    pub fn replace_plan(&mut self, plan: &Plan, reason: &str) -> Result<()> {
        let bytes = disk::to_json(plan, &self.folder.join(PLAN))?;
        let event = LedgerEvent::BlocksFixed {
            blocks: plan.trials.iter().map(|t| t.block + 1).max().unwrap_or(0),
            reason: reason.to_owned(),
            plan_sha256: disk::sha256(&bytes),
        };
        self.guarded(|run| {
            let line = run.line(event)?;
            let path = run.folder.join(PLAN);
            if bytes.len() > INLINE_MAX {
                disk::replace(&path, &bytes, run.durability())?;
                run.commit(&[], &line)?;
            } else {
                let file = RunFile { path: PLAN.into(), bytes: bytes.clone() };
                run.commit(&[file], &line)?;
                disk::replace(&path, &bytes, run.durability())?;
            }
            run.append_ledger(&line)
        })
    }

    /// Keeps values that belong to the run as a whole (`shell_startup`, the A/A floor), in place of
    /// those kept before.
    pub fn set_run_metrics(&mut self, metrics: &[MetricValue]) -> Result<()> {
        let path = self.folder.join(METRICS);
        let file = RunMetrics { schema_version: SCHEMA_VERSION, metrics: metrics.to_vec() };
        let bytes = disk::to_json(&file, &path)?;
        self.guarded(|run| disk::replace(&path, &bytes, run.durability()))
    }

    /// Ends the run: everything is flushed, and the lock released. With `Interrupted` or `Failed`
    /// it can be resumed.
    pub fn finish(mut self, state: RunState, reason: &str) -> Result<()> {
        self.ledger(LedgerEvent::Ended { state, reason: reason.to_owned() })?;
        self.guarded(Self::flush)?;
        disk::remove(&self.folder.join(WAL))?;
        if self.wal.is_some() { disk::sync(&self.folder) } else { Ok(()) }
    }

    fn durability(&self) -> Durability {
        if self.wal.is_some() { Durability::Synced } else { Durability::Cached }
    }

    /// Runs a step that writes; after its failure nothing more is written, so that what is on disk
    /// stays what the write-ahead file can put in order.
    fn guarded(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.broken {
            return Err(Error::Broken { run: self.id.clone() });
        }
        let sound = self.tip.bytes;
        let done = step(self);
        if done.is_err() {
            self.broken = true;
            // A part of a line must not stay; cutting needs no space.
            let _ = self.ledger.set_len(sound);
            let _ = disk::remove(&self.folder.join(TRIAL_STAGING));
        }
        done
    }

    fn line(&mut self, event: LedgerEvent) -> Result<Vec<u8>> {
        self.tip.line(event).map_err(|e| Error::damaged(&self.folder.join(LEDGER), e))
    }

    fn append_ledger(&mut self, line: &[u8]) -> Result<()> {
        self.ledger.write_all(line).map_err(|e| Error::io("write", &self.folder.join(LEDGER), e))
    }

    /// Makes `files`, the pending ledger lines and `line` (the latest, not yet in the ledger file)
    /// durable by one flush.
    fn commit(&mut self, files: &[RunFile], line: &[u8]) -> Result<()> {
        let Some(wal) = &self.wal else {
            self.pending.clear();
            return Ok(());
        };
        let mut ledger = std::mem::take(&mut self.pending);
        ledger.extend_from_slice(line);
        let size = ledger.len() + files.iter().map(|f| f.bytes.len()).sum::<usize>();
        if !wal.has_room(size) {
            self.flush()?;
        }
        let offset = self.tip.bytes - ledger.len() as u64;
        self.wal.as_mut().map_or(Ok(()), |wal| wal.append(offset, &ledger, files))
    }

    /// Flushes everything in its place and lets the write-ahead file begin again.
    fn flush(&mut self) -> Result<()> {
        let Some(wal) = &mut self.wal else { return Ok(()) };
        for path in &self.unflushed {
            disk::sync(path)?;
        }
        disk::sync(&self.folder.join(TRIALS))?;
        self.ledger.sync_all().map_err(|e| Error::io("flush", &self.folder.join(LEDGER), e))?;
        self.unflushed.clear();
        self.pending.clear();
        wal.restart();
        Ok(())
    }

    /// Writes a trial's folder under another name and renames it, so that it is seen whole.
    fn put_trial(&self, folder: &Path, files: &[RunFile], durability: Durability) -> Result<()> {
        let staging = self.folder.join(TRIAL_STAGING);
        fs::create_dir(&staging).map_err(|e| Error::io("create", &staging, e))?;
        for file in files {
            let name = file.path.file_name().unwrap_or_default();
            disk::write_new(&staging.join(name), &file.bytes, durability)?;
        }
        if durability == Durability::Synced {
            disk::sync(&staging)?;
        }
        let target = self.folder.join(folder);
        fs::rename(&staging, &target).map_err(|e| Error::io("rename", &staging, e))?;
        if durability == Durability::Synced {
            disk::sync(&self.folder.join(TRIALS))?;
        }
        Ok(())
    }

    fn checked_record(&self, record: &TrialRecord, folder: &Path) -> Result<Vec<u8>> {
        let refuse =
            |reason: String| Error::Record { run: self.id.clone(), number: record.number, reason };
        if self.folder.join(folder).exists() {
            return Err(refuse(format!("attempt {} is recorded already", record.attempt)));
        }
        let mut bytes = serde_json::to_vec(record).map_err(|e| refuse(e.to_string()))?;
        // JSON has no NaN: it would become null, which a point of a curve cannot be.
        serde_json::from_slice::<TrialRecord>(&bytes)
            .map_err(|e| refuse(format!("it holds a number that is not finite ({e})")))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
