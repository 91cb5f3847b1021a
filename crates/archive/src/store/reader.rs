//! Reads runs and their records.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_model::cancel::checkpoint;
use assay_model::{
    ImportedFile, LedgerEntry, LedgerEvent, MetricValue, Plan, RunId, RunState, RunSummary,
    SampleSet, SystemDescription, TrialRecord,
};

use assay_system::redact::Redactor;
use assay_traces::{SharedTrace, TRACE_FILES, TraceFile};

use crate::format::chain::{self, Chain, Tip};
use crate::format::disk::{self, MAX_DATA, MAX_TEXT};
use crate::format::identity::{RunIdentity, RunMetrics};
use crate::format::layout::{
    EXPERIMENT, IDENTITY, IO_EVENTS, LEDGER, METRICS, PLAN, RECORDS, SAMPLES, STDERR, STDOUT,
    SYSTEM, trial_folder,
};
use crate::format::{records, samples, subjects};
use crate::store::account::{Account, LostTrial};
use crate::store::lock::{LockPurpose, LockState, read_state};
use crate::store::summary;
use crate::{Error, Result};

/// A run, open for reading. The ledger is the one at the time of opening; records are read from
/// disk each time.
#[derive(Debug, Clone)]
pub struct RunReader {
    folder: PathBuf,
    identity: RunIdentity,
    chain: Chain,
    state: RunState,
    /// Applied to everything that is read.
    redactor: Option<Arc<Redactor>>,
}

impl RunReader {
    /// Opens a run without writing anything.
    pub(crate) fn open(folder: &Path, id: &RunId) -> Result<Self> {
        let identity = RunIdentity::read(folder, id)?;
        // Check the lock first: a run that ends in between then shows as ended, not as interrupted.
        let held = read_state(folder);
        let chain = chain::read(&disk::read(&folder.join(LEDGER), MAX_DATA)?);
        let state = state_of(&chain.entries, &held);
        Ok(RunReader { folder: folder.to_owned(), identity, chain, state, redactor: None })
    }

    /// Returns the run with everything that is read from here on passed through `redactor`.
    #[must_use]
    pub fn redacted(mut self, redactor: Redactor) -> Self {
        let clean = |name: &str, json: serde_json::Result<String>| {
            json.ok().map(|text| redactor.json(name, &text).into_owned())
        };
        if let Some(text) = clean(IDENTITY, serde_json::to_string(&self.identity))
            && let Ok(identity) = serde_json::from_str(&text)
        {
            self.identity = identity;
        }
        for entry in self.chain.entries.iter_mut().filter(|entry| !is_wordless(&entry.event)) {
            if let Some(text) = clean(LEDGER, serde_json::to_string(&entry.event))
                && let Ok(event) = serde_json::from_str(&text)
            {
                entry.event = event;
            }
        }
        self.redactor = Some(Arc::new(redactor));
        self
    }

    /// Returns the environment variables that the experiment adds to those whose values are
    /// recorded.
    pub fn listed_variables(&self) -> Vec<String> {
        let experiment = self.experiment_toml().ok().and_then(|t| t.parse::<toml::Table>().ok());
        let listed = experiment
            .as_ref()
            .and_then(|table| table.get("observe")?.get("environment")?.as_array());
        listed.map_or_else(Vec::new, |names| {
            names.iter().filter_map(|n| n.as_str().map(str::to_owned)).collect()
        })
    }

    /// Redacts the content of a file.
    fn clean(&self, name: &str, bytes: Vec<u8>) -> Vec<u8> {
        let cleaned = self.redactor.as_ref().and_then(|r| match r.file(name, &bytes) {
            Some(Cow::Owned(clean)) => Some(clean),
            _ => None,
        });
        cleaned.unwrap_or(bytes)
    }

    pub fn id(&self) -> &RunId {
        &self.identity.id
    }

    /// Returns the run's folder.
    pub fn dir(&self) -> &Path {
        &self.folder
    }

    /// Returns the identity of the run: name, workload, tags, host, start.
    pub fn identity(&self) -> &RunIdentity {
        &self.identity
    }

    /// Returns the state of the run from its `Ended` entry; without one, `Started` while its
    /// process lives, else `Interrupted`.
    pub fn state(&self) -> RunState {
        self.state
    }

    /// Reads the experiment as it was declared.
    pub fn experiment_toml(&self) -> Result<String> {
        let path = self.folder.join(EXPERIMENT);
        let text = disk::read_text(&path)?;
        String::from_utf8(self.clean(EXPERIMENT, text.into_bytes()))
            .map_err(|e| Error::damaged(&path, e))
    }

    /// Reads the current plan.
    pub fn plan(&self) -> Result<Plan> {
        disk::parse_json(&self.clean(PLAN, self.plan_bytes()?), &self.folder.join(PLAN))
    }

    pub(crate) fn plan_bytes(&self) -> Result<Vec<u8>> {
        match self.chain.staged(&self.folder, PLAN)? {
            Some(staged) => Ok(staged),
            None => disk::read(&self.folder.join(PLAN), MAX_TEXT),
        }
    }

    /// Reads the description of the system under test at the start of the run.
    pub fn system(&self) -> Result<SystemDescription> {
        let path = self.folder.join(SYSTEM);
        disk::parse_json(&self.clean(SYSTEM, disk::read(&path, MAX_TEXT)?), &path)
    }

    /// Returns the ledger up to the end of its valid chain; `Archive::verify` reports whether that
    /// is all of it.
    pub fn ledger(&self) -> &[LedgerEntry] {
        &self.chain.entries
    }

    /// Returns the number of the ledger's last valid entry and the SHA-256 of its line; `None` for
    /// an empty ledger.
    pub fn ledger_head(&self) -> Option<(u64, &str)> {
        let Tip { seq, prev, .. } = &self.chain.tip;
        seq.checked_sub(1).map(|last| (last, prev.as_str()))
    }

    pub(crate) fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the program and the files that the trials were imported from; `None` if assay ran
    /// them.
    pub fn imported(&self) -> Option<(&str, &[ImportedFile])> {
        self.chain.entries.iter().find_map(|entry| match &entry.event {
            LedgerEvent::Imported { tool, files, .. } => Some((tool.as_str(), files.as_slice())),
            _ => None,
        })
    }

    /// Returns the values that belong to the run as a whole; may be empty.
    pub fn run_metrics(&self) -> Result<Vec<MetricValue>> {
        let path = self.folder.join(METRICS);
        let bytes = match self.chain.staged(&self.folder, METRICS)? {
            None => disk::read_if_there(&path, MAX_TEXT)?,
            staged => staged,
        };
        match bytes {
            Some(bytes) => disk::parse_json::<RunMetrics>(&self.clean(METRICS, bytes), &path)
                .map(|file| file.metrics),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the latest attempt of each trial that has a record, ordered by trial number, in one
    /// pass over the records.
    ///
    /// # Errors
    /// If a record cannot be read, or if one that the ledger has was removed: trials are never left
    /// out silently. (`Archive::verify` reports records that a power failure took.)
    pub fn records(&self) -> Result<Vec<TrialRecord>> {
        let mut latest: BTreeMap<u32, TrialRecord> = BTreeMap::new();
        for record in self.all_attempts()? {
            if latest.get(&record.number).is_none_or(|known| record.attempt >= known.attempt) {
                latest.insert(record.number, record);
            }
        }
        Ok(latest.into_values().collect())
    }

    /// Returns every attempt of every trial in the order in which they ended. Errors as for
    /// [`RunReader::records`].
    pub fn all_attempts(&self) -> Result<Vec<TrialRecord>> {
        let path = self.folder.join(RECORDS);
        let mut records = Vec::new();
        let mut wrong = None;
        let keep = |line: &[u8], record: TrialRecord| {
            checkpoint();
            match self.clean_line(line) {
                None => records.push(record),
                Some(clean) => match disk::parse_json(&clean, &path) {
                    Ok(record) => records.push(record),
                    Err(e) => wrong = wrong.take().or(Some(e)),
                },
            }
        };
        records::read_file(&path, keep)?.check(&path)?;
        if let Some(e) = wrong {
            return Err(e);
        }
        let there = records.iter().map(|r| (r.number, r.attempt)).collect();
        let gone = Account::from_entries(&self.chain.entries).gone(&there);
        match gone.iter().find(|gone| !gone.at_end) {
            None => Ok(records),
            Some(LostTrial { key: (number, attempt), .. }) => Err(Error::damaged(
                &path,
                format!("it lacks attempt {attempt} at trial {number}, which is in the ledger"),
            )),
        }
    }

    /// True if the redactor changes none of the records.
    ///
    /// # Errors
    /// If the records cannot be read.
    pub fn shows_records_as_written(&self) -> Result<bool> {
        let Some(redactor) = &self.redactor else { return Ok(true) };
        let bytes = disk::read(&self.folder.join(RECORDS), MAX_DATA)?;
        let as_is = |lines| matches!(redactor.file(RECORDS, lines), Some(Cow::Borrowed(_)));
        // A user waits for this, so half of the work runs on another CPU.
        let middle = bytes.len() / 2;
        let end_of_line = bytes[middle..].iter().position(|b| *b == b'\n');
        let (first, second) = bytes.split_at(end_of_line.map_or(0, |at| middle + at + 1));
        Ok(std::thread::scope(|threads| {
            let second = threads.spawn(|| as_is(second));
            as_is(first) && second.join().unwrap_or(false)
        }))
    }

    /// Returns a record's redacted line, or `None` if the redactor does not change it.
    fn clean_line(&self, line: &[u8]) -> Option<Vec<u8>> {
        match self.redactor.as_ref()?.file("record.json", line)? {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        }
    }

    /// Returns the monitors' samples of an attempt; `None` if none were kept.
    pub fn samples(&self, number: u32, attempt: u32) -> Result<Option<SampleSet>> {
        let path = self.trial_dir(number, attempt).join(SAMPLES);
        match File::open(&path) {
            Ok(file) => {
                let mut set = samples::decode(file).map_err(|e| Error::damaged(&path, e))?;
                if let Some(redactor) = &self.redactor {
                    subjects::clean(&mut set, redactor);
                }
                Ok(Some(set))
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, e)),
        }
    }

    /// Returns a tracer's trace of an attempt, added up over all nodes if the trial ran on nodes
    /// and the tracer's traces can be; `None` if there is no trace.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or does not hold such a trace.
    pub fn trace(
        &self,
        file: &TraceFile,
        number: u32,
        attempt: u32,
    ) -> Result<Option<SharedTrace>> {
        let folder = self.trial_dir(number, attempt);
        let read = |name: &str| -> Result<Option<SharedTrace>> {
            let Some(bytes) = self.answer(number, attempt, name)? else { return Ok(None) };
            let read = (file.read)(&bytes).map(Some);
            read.map_err(|e| Error::damaged(&folder.join(name), e.to_string()))
        };
        if let Some(own) = read(file.name)? {
            return Ok(Some(own));
        }
        let Some(merge) = file.merge else { return Ok(None) };
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io("read", &folder, e)),
        };
        // NODE.profile.json
        let ending = format!(".{}", file.name);
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .filter(|name| name.ends_with(&ending))
            .collect();
        names.sort_unstable();
        let mut nodes = Vec::new();
        for name in names {
            nodes.extend(read(&name)?);
        }
        Ok((!nodes.is_empty()).then(|| merge(&nodes)))
    }

    fn answer(&self, number: u32, attempt: u32, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.trial_dir(number, attempt).join(name);
        Ok(disk::read_if_there(&path, MAX_TEXT)?.map(|bytes| self.clean(name, bytes)))
    }

    /// Returns the folder of an attempt; it exists if the program printed something or the attempt
    /// has samples.
    pub fn trial_dir(&self, number: u32, attempt: u32) -> PathBuf {
        self.folder.join(trial_folder(number, attempt))
    }

    /// Summarizes the run in one row.
    pub fn summary(&self) -> Result<RunSummary> {
        summary::summarize(self, &self.records()?)
    }

    /// Like [`RunReader::summary`], for a caller that has read [`RunReader::records`] already.
    ///
    /// # Errors
    /// As for [`RunReader::summary`].
    pub fn summary_of(&self, records: &[TrialRecord]) -> Result<RunSummary> {
        summary::summarize(self, records)
    }
}

/// True if an event contains only numbers, hashes and names that assay assigned.
pub(crate) fn is_wordless(event: &LedgerEvent) -> bool {
    match event {
        LedgerEvent::TrialStarted { .. } => true,
        LedgerEvent::TrialEnded { files, .. } => {
            let own = |name: &str| {
                [STDOUT, STDERR, SAMPLES, IO_EVENTS].contains(&name)
                    || TRACE_FILES.iter().any(|file| file.name == name)
            };
            files.iter().flatten().all(|file| own(&file.path))
        }
        _ => false,
    }
}

fn state_of(entries: &[LedgerEntry], held: &LockState) -> RunState {
    let last = entries.iter().rev().find_map(|entry| match &entry.event {
        LedgerEvent::Ended { state, .. } => Some(Some(*state)),
        LedgerEvent::Resumed => Some(None),
        _ => None,
    });
    match (last.flatten(), held) {
        (Some(state), _) => state,
        (None, LockState::Alive(LockPurpose::Write, _)) => RunState::Started,
        (None, _) => RunState::Interrupted,
    }
}
