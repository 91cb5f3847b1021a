//! Redaction of runs that are shown or published: the archive's key, and copies of runs without
//! private values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use assay_model::{FileHash, LedgerEvent, RunId, Severity};
use assay_system::redact::{HiddenNames, RedactionKey, Redactor};
use assay_system::state_file::{URANDOM, random};

use crate::format::chain::Tip;
use crate::format::disk::{self, MAX_DATA, sha256};
use crate::format::layout::{
    EXPERIMENT, KEY, LEDGER, LOCK, METRICS, PLAN, RECORDS, RUNS, SAMPLES, staged, trial_folder,
};
use crate::format::records::TrialKey;
use crate::format::{samples, subjects};
use crate::store::bundle::{self, Manifest};
use crate::store::folder::Archive;
use crate::store::heads::{self, Head};
use crate::store::reader::{RunReader, is_wordless};
use crate::{Error, Result};

/// Length of a key in bytes.
const KEY_BYTES: usize = 32;

/// Report on the copy of a run for publication, which is made in an archive of its own.
#[derive(Debug)]
pub struct PublishedCopy {
    /// Files that are left out because their content is unknown.
    pub excluded: Vec<String>,
    /// The values that were replaced.
    pub found: Vec<assay_system::redact::ReplacedText>,
}

impl Archive {
    /// Returns the key with which values are hashed in this archive: `redact.key`, created on first
    /// use. It is never part of a run or a bundle, and only its owner may read it.
    ///
    /// # Errors
    /// If the key cannot be read or created.
    pub fn key(&self) -> Result<RedactionKey> {
        let path = self.path().join(KEY);
        loop {
            match fs::read_to_string(&path) {
                Ok(text) => {
                    let wrong =
                        || Error::damaged(&path, "it is not a key; remove it to get a new one");
                    return RedactionKey::from_hex(&text).ok_or_else(wrong);
                }
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(Error::io("read", &path, e)),
            }
            let bytes: [u8; KEY_BYTES] =
                random().map_err(|e| Error::io("read", Path::new(URANDOM), e))?;
            // Written under a temporary name first, so that other processes only ever see a
            // complete key.
            let key = RedactionKey::new(bytes);
            let staged = path.with_extension(format!("{}.tmp", std::process::id()));
            let made = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&staged)
                .and_then(|mut f| f.write_all(key.to_hex().as_bytes()).and_then(|()| f.sync_all()))
                .and_then(|()| fs::hard_link(&staged, &path));
            let _ = fs::remove_file(&staged);
            match made {
                Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(Error::io("write", &path, e));
                }
                _ => {}
            }
        }
    }

    /// Returns the key, or a temporary one if the archive has none and none can be created.
    fn key_or_one(&self) -> RedactionKey {
        self.key().unwrap_or_else(|_| {
            use std::hash::{BuildHasher, Hasher, RandomState};
            RedactionKey::new(RandomState::new().build_hasher().finish().to_be_bytes())
        })
    }

    /// Returns the redactor for showing a run to its owner. It replaces tokens and the values of
    /// unlisted environment variables, which archives of earlier versions contain.
    pub fn secrets(&self, run: &RunReader) -> Redactor {
        Redactor::secrets(self.key_or_one(), run.listed_variables())
    }

    /// Returns the redactor for publishing a run. It also replaces the names of machines and
    /// people, home folders and network shares. `names` are those of this machine and user.
    pub fn publication(&self, run: &RunReader, mut names: HiddenNames) -> Redactor {
        names.host(&run.identity().host);
        for path in [crate::format::layout::SYSTEM, EXPERIMENT] {
            names.learn(&disk::read_text(&run.dir().join(path)).unwrap_or_default());
        }
        for (path, fact) in run.system().unwrap_or_default().facts {
            let value = fact.value().unwrap_or_default();
            match path.rsplit('.').next().unwrap_or_default() {
                "name" if path.ends_with("host.name") => names.host(value),
                "HOSTNAME" | "HOST" if path.contains("env.") => names.host(value),
                "USER" | "LOGNAME" | "USERNAME" if path.contains("env.") => names.user(value),
                "HOME" if path.contains("env.") => names.home(value),
                "node_names" => value.split(' ').for_each(|name| names.host(name)),
                _ => {}
            }
        }
        Redactor::publication(self.key_or_one(), run.listed_variables(), names)
    }

    /// Returns the files of a run and their sizes in bytes, by name.
    ///
    /// # Errors
    /// If the run cannot be read.
    pub fn files(&self, id: &RunId) -> Result<Vec<(String, u64)>> {
        let files = Manifest::from_folder(self.run(id)?.dir(), id, None)?.files;
        Ok(files.into_iter().map(|f| (f.path, f.bytes)).collect())
    }

    /// Copies a run into `target` in the form in which it may be published, once
    /// [`Archive::check_copy`] accepts it there. The copy's ledger ends with the hash of the
    /// original ledger; if nothing had to be replaced, the copy is the run itself.
    ///
    /// # Errors
    /// `Busy` while the run is being written; an error if the run is damaged.
    pub fn copy_redacted(
        &self,
        run: &RunReader,
        redactor: &Redactor,
        target: &Archive,
    ) -> Result<PublishedCopy> {
        let id = run.id();
        if Self::is_being_written(run.dir()) {
            let lock = run.dir().join(LOCK);
            return Err(Error::Busy { run: id.clone(), owner: "another process".into(), lock });
        }
        run.chain().check(&run.dir().join(LEDGER))?;
        let folder = target.path().join(RUNS).join(id.as_str());
        let mut copy =
            Copy { redactor, run, excluded: Vec::new(), changed: false, were: HashMap::new() };
        let mut copies = HashMap::new();
        let mut files = bundle::names(run.dir())?;
        let replacement = |path: &str| [PLAN, METRICS].iter().any(|name| path == staged(name));
        files.retain(|name| name != LEDGER && !replacement(name));
        disk::make_folder(&folder)?;
        for (name, clean) in copy.cleaned(files, &folder) {
            let RedactedFile { was_sha256, bytes, changed } = clean?;
            copy.were.insert(name.clone(), was_sha256);
            copy.changed |= changed;
            let Some(bytes) = bytes else {
                copy.excluded.push(name);
                continue;
            };
            copies.insert(name, bytes);
        }
        copy.excluded.sort();
        disk::make_folder(&folder.join(crate::format::layout::TRIALS))?;
        let (ledger, tip) = copy.ledger(&copies)?;
        disk::write_new(&folder.join(LEDGER), &ledger, disk::Durability::Cached)?;
        heads::put(target.path(), id, &Head::flushed(&tip), disk::Durability::Cached)?;
        Ok(PublishedCopy { excluded: copy.excluded, found: redactor.found() })
    }

    /// Verifies a copy that [`Archive::copy_redacted`] made in this archive against its own ledger.
    /// A copy that fails must not be published.
    ///
    /// # Errors
    /// The first problem of the copy.
    pub fn check_copy(&self, copy: &RunReader) -> Result<()> {
        let (id, problems) = (copy.id(), self.verify_open(copy));
        match problems.iter().find(|p| p.severity() == Severity::Invalid) {
            None => Ok(()),
            Some(p) => Err(Error::damaged(
                &p.path,
                format!("the copy of run {id} cannot be published: {}", p.message),
            )),
        }
    }
}

struct Copy<'a> {
    redactor: &'a Redactor,
    run: &'a RunReader,
    excluded: Vec<String>,
    changed: bool,
    /// Original hashes of the files that were copied.
    were: HashMap<String, String>,
}

/// A file after redaction.
struct RedactedFile {
    /// Hash of the original content.
    was_sha256: String,
    /// The redacted content; `None` if the file may not be published.
    bytes: Option<Vec<u8>>,
    /// True if the redacted content differs from the original.
    changed: bool,
}

impl RedactedFile {
    fn put(self, folder: &Path, name: &str) -> Result<Self> {
        if let Some(bytes) = &self.bytes {
            let path = folder.join(name);
            if name.contains('/') {
                disk::make_folder(path.parent().unwrap_or(folder))?;
            }
            disk::write_new(&path, bytes, disk::Durability::Cached)?;
        }
        Ok(self)
    }
}

impl Copy<'_> {
    /// Redacts the files and writes them into a folder, in any order: two threads share the list.
    fn cleaned(&self, files: Vec<String>, into: &Path) -> Vec<(String, Result<RedactedFile>)> {
        let left = Mutex::new(files);
        let take = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let work = || {
            let clean = |name: String| (self.file(&name).and_then(|c| c.put(into, &name)), name);
            std::iter::from_fn(take).map(clean).map(|(clean, of)| (of, clean)).collect::<Vec<_>>()
        };
        std::thread::scope(|threads| {
            let other = threads.spawn(work);
            let mut all = work();
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            all
        })
    }

    fn file(&self, name: &str) -> Result<RedactedFile> {
        let path = self.run.dir().join(name);
        let was = disk::read(&path, MAX_DATA)?;
        let was_sha256 = sha256(&was);
        let bytes = if name == PLAN { self.run.plan_bytes()? } else { was };
        if name.ends_with(SAMPLES) {
            let open = File::open(&path).map_err(|e| Error::io("read", &path, e))?;
            let mut set = samples::decode(open).map_err(|e| Error::damaged(&path, e))?;
            if !subjects::clean(&mut set, self.redactor) {
                return Ok(RedactedFile { was_sha256, bytes: Some(bytes), changed: false });
            }
            let encoded =
                samples::encode(&set).map_err(|source| Error::Parquet { path, source })?;
            return Ok(RedactedFile { was_sha256, bytes: Some(encoded), changed: true });
        }
        let clean = match self.redactor.file(name, &bytes) {
            Some(Cow::Borrowed(_)) => (Some(bytes), false),
            Some(Cow::Owned(clean)) => (Some(clean), true),
            None => (None, true),
        };
        Ok(RedactedFile { was_sha256, bytes: clean.0, changed: clean.1 })
    }

    /// Builds the ledger of the copied files.
    fn ledger(&self, files: &HashMap<String, Vec<u8>>) -> Result<(Vec<u8>, Tip)> {
        let path = self.run.dir().join(LEDGER);
        let fail = |e: serde_json::Error| Error::damaged(&path, e.to_string());
        let hash = |name: &str| files.get(name).map(|bytes| sha256(bytes));
        let mut records = HashMap::new();
        for line in files.get(RECORDS).map_or(&[][..], |r| r).split(|b| *b == b'\n') {
            if let Ok(TrialKey { number, attempt, .. }) = serde_json::from_slice(line) {
                records.insert((number, attempt), sha256(line));
            }
        }
        let plan = self.run.chain().files().get(PLAN).map(|hash| (*hash).to_owned());
        let mut tip = Tip::default();
        let mut out = Vec::new();
        for entry in self.run.ledger() {
            let mut event = entry.event.clone();
            if !is_wordless(&event) {
                let text = serde_json::to_string(&event).map_err(fail)?;
                if let Cow::Owned(clean) = self.redactor.json(LEDGER, &text) {
                    event = serde_json::from_str(&clean).map_err(fail)?;
                }
            }
            match &mut event {
                LedgerEvent::Planned { experiment_sha256, plan_sha256, files: others, .. } => {
                    self.again(others, Path::new(""), files);
                    *experiment_sha256 = hash(EXPERIMENT).unwrap_or_default();
                    if Some(&*plan_sha256) == plan.as_ref() {
                        *plan_sha256 = hash(PLAN).unwrap_or_default();
                    }
                }
                LedgerEvent::BlocksFixed { plan_sha256, .. }
                    if Some(&*plan_sha256) == plan.as_ref() =>
                {
                    *plan_sha256 = hash(PLAN).unwrap_or_default();
                }
                LedgerEvent::FilesKept { files: kept } => self.again(kept, Path::new(""), files),
                LedgerEvent::TrialEnded { number, attempt, record_sha256, files: kept, .. } => {
                    if let Some(kept) = kept {
                        self.again(kept, &trial_folder(*number, *attempt), files);
                    }
                    if let Some(new) = records.get(&(*number, *attempt)) {
                        record_sha256.clone_from(new);
                    }
                }
                LedgerEvent::Imported { files: imported, .. } => {
                    for file in imported {
                        if let Some(bytes) = files.get(&file.kept) {
                            file.bytes = bytes.len() as u64;
                            file.sha256 = sha256(bytes);
                        }
                    }
                }
                _ => {}
            }
            out.extend(tip.again(&entry.at, event).map_err(fail)?);
        }
        if self.changed {
            let replaced = self.redactor.found().iter().map(|f| f.times).sum();
            let event = LedgerEvent::Redacted {
                ledger_sha256: self.run.chain().tip.prev.clone(),
                replaced,
                excluded: self.excluded.clone(),
                assay: env!("CARGO_PKG_VERSION").to_owned(),
            };
            out.extend(tip.line(event).map_err(fail)?);
        }
        Ok((out, tip))
    }

    /// Updates the hashes of files in `folder` to those of the copy and removes those of files that
    /// were left out.
    fn again(&self, list: &mut Vec<FileHash>, folder: &Path, files: &HashMap<String, Vec<u8>>) {
        let inside = |file: &FileHash| folder.join(&file.path).to_string_lossy().into_owned();
        list.retain(|file| !self.excluded.contains(&inside(file)));
        for file in list {
            let path = inside(file);
            // A file that was replaced later keeps the hash that this entry had.
            if self.were.get(&path) == Some(&file.sha256)
                && let Some(bytes) = files.get(&path)
            {
                *file = disk::hash_of(&file.path, bytes);
            }
        }
    }
}
