//! Verifies the files of a run against the hashes in its ledger.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{ProblemKind, RunVerification};
use crate::Result;
use crate::format::chain::Chain;
use crate::format::disk;
use crate::format::layout::{
    EXPERIMENT, LEDGER, LOCK, METRICS, PLAN, RECORDS, REPLACED, SAMPLES, SYSTEM, TRIALS,
    trial_folder,
};
use crate::format::samples;
use crate::store::account::{Account, AttemptKey, TrialFiles};
use crate::store::reader::RunReader;
use crate::store::repair;

const NOT_THERE: &str = "it is not in the ledger: it was added, or its writer died before it was \
                         entered";
const PERHAPS_LOST: &str = "the power failed before it was flushed, or it was changed later";

/// A file as listed in the ledger.
struct ListedFile<'a> {
    sha256: &'a str,
    /// Size in bytes if a power failure may have taken the file.
    bytes: Option<u64>,
}

impl RunVerification<'_> {
    /// Checks that every file matches its hash in the ledger and that no listed file is missing.
    pub(super) fn files(
        &mut self,
        run: &RunReader,
        account: &Account<'_>,
        recorded: &HashSet<AttemptKey>,
        live: bool,
    ) {
        let chain = run.chain();
        let of_run = chain.files();
        if !of_run.contains_key(PLAN) {
            let message = format!("it does not have the hashes of {EXPERIMENT} and {PLAN}");
            self.found(&self.folder.join(LEDGER), ProblemKind::Chain, message);
        }
        let mut wanted: BTreeMap<String, ListedFile<'_>> = BTreeMap::new();
        for (name, sha256) in of_run {
            wanted.insert(name.to_owned(), ListedFile { sha256, bytes: None });
        }
        let trials: BTreeSet<AttemptKey> = recorded.iter().copied().collect();
        for key in &trials {
            let Some(TrialFiles { files: Some(files), perhaps_lost }) = account.files(*key) else {
                continue;
            };
            for file in files {
                let name = trial_folder(key.0, key.1).join(&file.path);
                let bytes = perhaps_lost.then_some(file.bytes);
                let wants = ListedFile { sha256: &file.sha256, bytes };
                wanted.insert(name.to_string_lossy().into_owned(), wants);
            }
        }
        // A file with the hash in the ledger is as it was written, so it need not be parsed.
        let (mut whole, mut wrong) = (HashSet::new(), HashSet::new());
        for (name, path) in self.listed() {
            let wants = wanted.remove(&name);
            let regular = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
            let trial = name.strip_prefix("trials/").map(|rest| rest.split('/').next());
            match (wants, trial) {
                (_, None) if !regular => {
                    self.found(&path, ProblemKind::Unknown, "it is not a regular file");
                }
                (Some(wants), _) => {
                    let whole =
                        self.is_wanted(chain, &name, &path, &wants, live).then_some(&mut whole);
                    whole.unwrap_or(&mut wrong).insert(name);
                }
                (None, None) if chain.has_all_files() => {
                    self.found(&path, ProblemKind::Unknown, NOT_THERE);
                }
                (None, None) => self.not_recorded.push(name),
                (None, Some(folder)) => {
                    let folder = self.folder.join(TRIALS).join(folder.unwrap_or_default());
                    let Some(key) = repair::trial_of(&folder).filter(|k| recorded.contains(k))
                    else {
                        continue; // the folder is reported
                    };
                    match account.files(key) {
                        Some(TrialFiles { files: Some(_), .. }) => {
                            self.found(&path, ProblemKind::Unknown, NOT_THERE);
                        }
                        None if live => {}
                        _ => {
                            self.samples(&name, &path);
                            self.not_recorded.push(name);
                        }
                    }
                }
            }
        }
        for (name, wants) in wanted {
            if live || matches!(chain.staged(self.folder, &name), Ok(Some(_))) {
                continue;
            }
            let path = self.folder.join(&name);
            wrong.insert(name);
            if wants.bytes.is_some() {
                self.found(&path, ProblemKind::Lost, format!("it is missing: {PERHAPS_LOST}"));
            } else {
                self.found(&path, ProblemKind::Missing, "it is in the ledger but missing");
            }
        }
        let reads: [(&str, &dyn Fn() -> Result<()>); 3] = [
            (PLAN, &|| run.plan().map(drop)),
            (SYSTEM, &|| run.system().map(drop)),
            (METRICS, &|| run.run_metrics().map(drop)),
        ];
        for (name, read) in reads {
            if (live || !whole.contains(name))
                && !wrong.contains(name)
                && let Err(error) = read()
            {
                self.error(&self.folder.join(name), &error);
            }
        }
    }

    /// True if the file matches its hash in the ledger.
    fn is_wanted(
        &mut self,
        chain: &Chain,
        name: &str,
        path: &Path,
        wants: &ListedFile<'_>,
        live: bool,
    ) -> bool {
        let hash = match disk::hash_file(name, path) {
            Ok(hash) => hash,
            Err(error) => {
                self.error(path, &error);
                return false;
            }
        };
        let replaced = || {
            REPLACED.contains(&name)
                && (live || matches!(chain.staged(self.folder, name), Ok(Some(_))))
        };
        if hash.sha256 == wants.sha256 || replaced() {
            return true;
        }
        if wants.bytes.is_some_and(|bytes| hash.bytes < bytes || ends_in_zeros(path)) {
            self.found(path, ProblemKind::Lost, format!("it is incomplete: {PERHAPS_LOST}"));
        } else {
            let message = "its hash is not the one in the ledger: it was changed later";
            self.found(path, ProblemKind::Hash, message);
        }
        false
    }

    /// Checks that samples without a hash in the ledger can at least be decoded.
    fn samples(&mut self, name: &str, path: &Path) {
        if name.ends_with(SAMPLES)
            && let Ok(file) = File::open(path)
            && let Err(error) = samples::decode(file)
        {
            self.found(path, ProblemKind::Unreadable, error.to_string());
        }
    }

    /// Returns the files of the run by name, except the ledger, the records, the lock and
    /// leftovers.
    fn listed(&mut self) -> Vec<(String, PathBuf)> {
        let mut files = Vec::new();
        let mut folders = vec![(String::new(), self.folder.to_owned())];
        while let Some((inside, folder)) = folders.pop() {
            let paths = match repair::list(&folder) {
                Ok(paths) => paths,
                Err(error) => {
                    self.error(&folder, &error);
                    continue;
                }
            };
            for path in paths {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let name = format!("{inside}{name}");
                let own = [LEDGER, RECORDS, LOCK].contains(&name.as_str());
                if own || (inside.is_empty() && repair::is_staged(&path)) {
                    continue;
                }
                if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
                    folders.push((format!("{name}/"), path));
                } else {
                    files.push((name, path));
                }
            }
        }
        files.sort();
        files
    }
}

/// Maximum number of files named in one sentence.
const NAMED: usize = 6;

/// Formats the names of files that cannot be checked as a sentence.
pub(super) fn not_recorded(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "not recorded in the ledger, by an older assay or by a process that died, so a change \
         cannot be detected: {shown}{more}"
    )
}

/// True if the last byte is zero, as in a block that the file system had not written yet.
fn ends_in_zeros(path: &Path) -> bool {
    let last = File::open(path).and_then(|mut file| {
        let mut byte = [1];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut byte)?;
        Ok(byte[0])
    });
    last.is_ok_and(|byte| byte == 0)
}
