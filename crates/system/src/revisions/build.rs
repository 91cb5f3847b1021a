//! Builds a revision once and finds the build again: checks it out, builds it, hashes the products
//! and stores the outcome. A failed build is also an outcome, with the end of its output.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::Interrupt;
use crate::process::{Limits, ProcessEnd, ProgramSpec, Runner};
use crate::revisions::error::Result;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::revisions::checkout::checkout;
use crate::revisions::repository::Repository;
use crate::revisions::{Revision, RevisionError, cache, toolchain};

/// File with the outcome of a build; a folder without it was interrupted.
const RECORD: &str = "build.json";
const SOURCE: &str = "source";
/// Maximum bytes of a build's output that are kept.
const KEEP_BYTES: usize = 1 << 20;
/// Number of the last lines of output in the record of a failed build.
const TAIL_LINES: usize = 30;
/// Maximum number of error lines quoted before the last lines. None are quoted from output with no
/// more lines than this.
const ERROR_LINES: usize = 5;
/// Marks of error lines from compilers, linkers and interpreters, in lower case.
const ERRORS: [&str; 5] = ["error:", "error[", "error at ", "undefined reference", "cannot find "];

/// Outcome of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildOutcome {
    /// The build succeeded, and the program can be run.
    Built,
    /// The build failed or timed out.
    Failed {
        /// Reason with the last lines of the output.
        reason: String,
    },
}

/// Stored record of a build.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BuildRecord {
    tree: String,
    command: String,
    /// Outcome of the build.
    pub outcome: BuildOutcome,
    /// SHA-256 over all files that the build made, by path, mode and content. Without a build
    /// command it covers no files.
    pub sha256: String,
    /// Number of files that the build made.
    pub files: usize,
    /// Duration of the build in seconds. A cached build has the duration of the original one.
    pub seconds: f64,
    /// Sentences about content that the checkout lacks.
    pub notes: Vec<String>,
    /// Tools available to the build, each with the first line of its version.
    pub tools: BTreeMap<String, String>,
}

/// A revision that was built, or that does not build. Its folder is kept as long as this value
/// exists.
#[derive(Debug)]
pub struct Build {
    /// Folder of the source in which the program runs: the checkout, or the subfolder that the user
    /// named as the repository.
    pub folder: PathBuf,
    pub record: BuildRecord,
    /// True if the build came from the cache.
    pub cached: bool,
    _lock: File,
}

/// Builds revisions of one repository with one command.
#[derive(Debug)]
pub struct Builder<'a> {
    repo: &'a Repository,
    command: &'a str,
    cache: PathBuf,
    timeout: Duration,
    limit: u64,
    interrupt: Option<Interrupt>,
    tools: BTreeMap<String, String>,
}

impl<'a> Builder<'a> {
    /// Creates a builder for revisions of `repo` with the shell command line `command` (empty:
    /// nothing is built). Builds are kept below `cache` within `limit` bytes. A build that takes
    /// longer than `timeout` fails.
    pub fn new(
        repo: &'a Repository,
        command: &'a str,
        cache: &Path,
        (timeout, limit): (Duration, u64),
        interrupt: Option<Interrupt>,
    ) -> Self {
        let tools = if command.is_empty() { BTreeMap::new() } else { toolchain::tools() };
        let cache = cache.join("revisions");
        Builder { repo, command, cache, timeout, limit, interrupt, tools }
    }

    /// Returns the name of the cache folder for build `number` of a revision.
    fn key(&self, revision: &Revision, number: u32) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(b"1");
        add(revision.tree.as_bytes());
        add(self.repo.prefix.as_os_str().as_encoded_bytes());
        add(self.command.as_bytes());
        add(std::env::consts::ARCH.as_bytes());
        for (name, version) in &self.tools {
            add(name.as_bytes());
            add(version.as_bytes());
        }
        if !self.command.is_empty() {
            for (name, value) in toolchain::variables() {
                add(name.as_bytes());
                add(value.as_encoded_bytes());
            }
        }
        if number > 1 {
            add(&number.to_le_bytes());
        }
        crate::hex(&hash.finalize())[..32].to_owned()
    }

    /// Returns true if the cache has build `number` of `revision`.
    pub fn has(&self, revision: &Revision, number: u32) -> bool {
        read(&self.cache.join(self.key(revision, number))).is_some()
    }

    /// Returns build `number` (from 1) of `revision`, from the cache or made now.
    ///
    /// # Errors
    /// The revision cannot be checked out, the disk is full, or the build cannot be started or was
    /// interrupted. A build that fails is a [`BuildOutcome`].
    pub fn build(&self, revision: &Revision, number: u32) -> Result<Build> {
        let dir = self.cache.join(self.key(revision, number));
        // Running a build takes a shared lock; making or removing it takes an exclusive one.
        let lock = open(&dir, FlockOperation::LockShared)?;
        let (lock, kept, cached) = if let Some(kept) = read(&dir) {
            (lock, kept, true)
        } else {
            drop(lock);
            let lock = open(&dir, FlockOperation::LockExclusive)?;
            let there = read(&dir);
            let cached = there.is_some();
            let kept =
                there.map_or_else(|| self.make(revision, number, &dir), Ok).inspect_err(|_| {
                    // An incomplete folder is useless and may be what filled the disk.
                    let _ = fs::remove_dir_all(dir.join(SOURCE));
                })?;
            cache::take(&lock, FlockOperation::LockShared, &dir)?;
            (lock, kept, cached)
        };
        let _ = lock.set_modified(SystemTime::now());
        if !cached {
            cache::sweep(&self.cache, self.limit);
        }
        Ok(Build {
            folder: dir.join(SOURCE).join(&self.repo.prefix),
            record: kept,
            cached,
            _lock: lock,
        })
    }

    fn make(&self, revision: &Revision, number: u32, dir: &Path) -> Result<BuildRecord> {
        let source = dir.join(SOURCE);
        if source.exists() {
            fs::remove_dir_all(&source).map_err(RevisionError::io("remove", &source))?;
        }
        fs::create_dir_all(&source).map_err(RevisionError::io("create", &source))?;
        let files = checkout(self.repo, revision, &source)?;
        let folder = source.join(&self.repo.prefix);
        let start = crate::clock::monotonic_ns();
        let outcome = if !folder.is_dir() {
            let prefix = self.repo.prefix.display();
            BuildOutcome::Failed { reason: format!("it has no folder {prefix}") }
        } else if self.command.is_empty() {
            BuildOutcome::Built
        } else {
            self.run((revision, number), &folder, dir)?
        };
        let seconds = crate::clock::monotonic_ns().saturating_sub(start) as f64 / 1e9;
        let (sha256, made) = match outcome {
            BuildOutcome::Built => products(&source, &files.tracked)?,
            BuildOutcome::Failed { .. } => (String::new(), 0),
        };
        let kept = BuildRecord {
            tree: revision.tree.clone(),
            command: self.command.to_owned(),
            outcome,
            sha256,
            files: made,
            seconds,
            notes: files.notes,
            tools: self.tools.clone(),
        };
        let path = dir.join(RECORD);
        let new = dir.join("build.json.new");
        let text = serde_json::to_vec_pretty(&kept)
            .map_err(|e| RevisionError::io("write", &path)(std::io::Error::other(e)))?;
        fs::write(&new, text).map_err(RevisionError::io("write", &new))?;
        fs::rename(&new, &path).map_err(RevisionError::io("write", &path))?;
        Ok(kept)
    }

    fn run(
        &self,
        (revision, number): (&Revision, u32),
        folder: &Path,
        dir: &Path,
    ) -> Result<BuildOutcome> {
        let argv: Vec<OsString> = ["sh", "-c", self.command].map(OsString::from).into();
        let env: Vec<(OsString, OsString)> = vec![
            // The folder has no `.git`, and git must not find an unrelated one further up.
            ("GIT_CEILING_DIRECTORIES".into(), dir.into()),
            ("ASSAY_REVISION".into(), revision.commit.clone().unwrap_or_default().into()),
            ("ASSAY_BUILD".into(), number.to_string().into()),
        ];
        let cwd = Some(folder);
        let program = ProgramSpec { argv: &argv, env: &env, cwd, ..ProgramSpec::default() };
        let limits =
            Limits { timeout: self.timeout, grace: Duration::from_secs(5), keep_bytes: KEEP_BYTES };
        let mut runner = Runner::new(self.interrupt.clone());
        let ran = runner.run(&program, &limits, &mut ())?;
        let mut output = runner.stdout.bytes();
        output.extend_from_slice(&runner.stderr.bytes());
        let built = ran.end == ProcessEnd::Exited && ran.exit.success();
        if !built {
            // The source of a failed build is removed: the next attempt starts anew, and until then
            // it would only take space, perhaps all that is left.
            let _ = fs::remove_dir_all(dir.join(SOURCE));
        }
        let log = dir.join("build.log");
        let logged = fs::write(&log, &output).map_err(RevisionError::io("write", &log));
        let failed = |what: String| {
            let text = String::from_utf8_lossy(&output).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
            let errors = first_errors(&lines);
            let output = if tail.trim().is_empty() {
                "; it printed nothing".to_owned()
            } else {
                let of = match &logged {
                    Ok(()) => format!("of {}", log.display()),
                    Err(e) => format!("the rest was lost: {e}"),
                };
                match errors.as_slice() {
                    [] => format!("; its last lines, {of}:\n{tail}"),
                    _ => format!(
                        "; its first errors, {of}:\n{}\nits last lines:\n{tail}",
                        errors.join("\n")
                    ),
                }
            };
            BuildOutcome::Failed { reason: format!("`{}` {what}{output}", self.command) }
        };
        match (ran.end, ran.exit) {
            (ProcessEnd::Interrupted, _) => Err(RevisionError::Interrupted(revision.label.clone())),
            (ProcessEnd::TimedOut, _) => Ok(failed(format!(
                "took longer than {} and was ended",
                assay_model::units::format_duration(self.timeout)
            ))),
            (ProcessEnd::WantsTerminal, _) => {
                Ok(failed("asked for the terminal and was ended".into()))
            }
            (ProcessEnd::Exited, exit) if exit.success() => logged.map(|()| BuildOutcome::Built),
            (ProcessEnd::Exited, assay_model::Exit::Code(code)) => {
                Ok(failed(format!("exit code {code}")))
            }
            (ProcessEnd::Exited, assay_model::Exit::Signal(n)) => {
                Ok(failed(format!("ended by signal {n}")))
            }
        }
    }
}

/// Returns the first error lines of the output; none if the output has at most [`ERROR_LINES`]
/// lines.
fn first_errors<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let says = |line: &&&str| {
        let line = line.to_lowercase();
        ERRORS.iter().any(|word| line.contains(word))
    };
    let count = if lines.len() > ERROR_LINES { ERROR_LINES } else { 0 };
    lines.iter().filter(says).take(count).copied().collect()
}

/// Opens and locks the folder of a build.
fn open(dir: &Path, how: FlockOperation) -> Result<File> {
    loop {
        fs::create_dir_all(dir).map_err(RevisionError::io("create", dir))?;
        let lock = cache::lock_file(dir)?;
        cache::take(&lock, how, dir)?;
        // The previous holder of the lock may have removed the folder.
        if cache::is_the_one(&lock, dir) {
            return Ok(lock);
        }
    }
}

/// Reads the record of a successful build. A failed build is tried again, because disks get space
/// and compilers get installed.
fn read(dir: &Path) -> Option<BuildRecord> {
    let kept: BuildRecord = serde_json::from_slice(&fs::read(dir.join(RECORD)).ok()?).ok()?;
    (kept.outcome == BuildOutcome::Built).then_some(kept)
}

/// Returns the hash over all files below `source` that git does not track, and their number.
fn products(source: &Path, tracked: &HashSet<PathBuf>) -> Result<(String, usize)> {
    use std::os::unix::fs::PermissionsExt;
    let mut open = vec![PathBuf::new()];
    let mut found: BTreeMap<PathBuf, String> = BTreeMap::new();
    while let Some(below) = open.pop() {
        let dir = source.join(&below);
        for entry in fs::read_dir(&dir).map_err(RevisionError::io("read", &dir))? {
            let entry = entry.map_err(RevisionError::io("read", &dir))?;
            let path = below.join(entry.file_name());
            let full = entry.path();
            let kind = entry.file_type().map_err(RevisionError::io("read", &full))?;
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() && !tracked.contains(&path) {
                let mode = entry.metadata().map_err(RevisionError::io("read", &full))?;
                let hash = crate::sha256_file(&full).map_err(RevisionError::io("read", &full))?;
                found.insert(path, format!("{:o} {hash}", mode.permissions().mode() & 0o777));
            } else if kind.is_symlink() && !tracked.contains(&path) {
                let to = fs::read_link(&full).map_err(RevisionError::io("read", &full))?;
                found.insert(path, format!("-> {}", to.display()));
            }
        }
    }
    let mut hash = Sha256::new();
    for (path, what) in &found {
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(what.as_bytes());
        hash.update([0]);
    }
    Ok((crate::hex(&hash.finalize()), found.len()))
}
