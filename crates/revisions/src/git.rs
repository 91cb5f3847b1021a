//! Runs git so that it changes nothing of the user's: no optional locks, no prompts, no network.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::RevisionError;

/// git on one repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct Git {
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
}

/// Variables that would point git elsewhere than it is told, as inside a hook.
const FOREIGN: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_COMMON_DIR",
];

impl Git {
    /// git started in `dir`.
    pub fn at(dir: &Path) -> Self {
        Git { dir: dir.to_owned(), env: Vec::new() }
    }

    /// The same with a variable set.
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    fn command(&self, args: &[&OsStr]) -> Command {
        let mut command = Command::new("git");
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
            // Neither a monitor of files nor a hook of the user's runs.
            .args([
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.hooksPath=/dev/null",
                "-c",
                "gc.auto=0",
            ])
            .args(args)
            .current_dir(&self.dir)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_LFS_SKIP_SMUDGE", "1")
            .env("LC_ALL", "C")
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null());
        command
    }

    /// What git printed, or what it complained of.
    pub fn try_run(&self, args: &[&OsStr]) -> Result<Result<Vec<u8>, String>, RevisionError> {
        let output = self.command(args).output().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound if self.dir.is_dir() => RevisionError::NoGit,
            _ => RevisionError::io("enter", &self.dir)(source),
        })?;
        if output.status.success() {
            return Ok(Ok(output.stdout));
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let said = said.strip_prefix("fatal: ").unwrap_or(&said).to_owned();
        Ok(Err(if said.is_empty() { output.status.to_string() } else { said }))
    }

    /// What git printed; anything but success is an error.
    pub fn run(&self, args: &[&OsStr]) -> Result<Vec<u8>, RevisionError> {
        self.try_run(args)?.map_err(|said| RevisionError::Git {
            command: args.iter().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" "),
            said,
        })
    }

    /// The same as a text without its last line break.
    pub fn text(&self, args: &[&str]) -> Result<String, RevisionError> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let out = self.run(&args)?;
        Ok(String::from_utf8_lossy(&out).trim_end_matches('\n').to_owned())
    }
}
