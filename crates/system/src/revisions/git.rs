//! Runs git without changing the user's repository: no optional locks, prompts or network
//! access.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::revisions::RevisionError;
use crate::revisions::error::Result;

/// Runs git in one folder with a fixed environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Git {
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
}

/// Variables that would direct git to another repository, as inside a hook.
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
    /// Prepares git commands that start in `dir`.
    pub fn at(dir: &Path) -> Self {
        Git { dir: dir.to_owned(), env: Vec::new() }
    }

    /// Sets an environment variable for the commands.
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
            // Prevent the user's file system monitor and hooks from running.
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

    /// Returns the output of git; the inner error is a failure of git.
    pub fn try_run(&self, args: &[&OsStr]) -> Result<Result<Vec<u8>>> {
        let output = self.command(args).output().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound if self.dir.is_dir() => RevisionError::NoGit,
            _ => RevisionError::io("enter", &self.dir)(source),
        })?;
        if output.status.success() {
            return Ok(Ok(output.stdout));
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let message = message.strip_prefix("fatal: ").unwrap_or(&message).to_owned();
        // Nothing is fetched for a measurement, so files that lazy fetching would bring are
        // reported as missing.
        if message.contains("promisor remote") {
            return Ok(Err(RevisionError::Partial));
        }
        let message = if message.is_empty() { output.status.to_string() } else { message };
        let command = args.iter().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ");
        Ok(Err(RevisionError::Git { command, message }))
    }

    /// Returns the output of git; a failure is an error.
    pub fn run(&self, args: &[&OsStr]) -> Result<Vec<u8>> {
        self.try_run(args)?
    }

    /// Returns the output of git as text, without its final line break.
    pub fn text(&self, args: &[&str]) -> Result<String> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let out = self.run(&args)?;
        Ok(String::from_utf8_lossy(&out).trim_end_matches('\n').to_owned())
    }

    /// Runs one `git cat-file` process for all objects and returns its output in their order
    /// (`--batch`: their contents; `--batch-check`: their kinds).
    fn cat_file(&self, how: &str, objects: &[&str]) -> Result<Vec<u8>> {
        let args = ["cat-file", how].map(OsStr::new);
        let fail =
            |message: String| RevisionError::Git { command: format!("cat-file {how}"), message };
        let mut child = self
            .command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| match source.kind() {
                io::ErrorKind::NotFound if self.dir.is_dir() => RevisionError::NoGit,
                _ => RevisionError::io("enter", &self.dir)(source),
            })?;
        let mut names = objects.join("\n");
        names.push('\n');
        let stdin = child.stdin.take();
        // git answers while it reads, so both pipes must be served at the same time.
        let (wrote, output) = std::thread::scope(|scope| {
            let writer = scope.spawn(move || match stdin {
                Some(mut stdin) => stdin.write_all(names.as_bytes()),
                None => Ok(()),
            });
            let output = child.wait_with_output();
            (writer.join(), output)
        });
        let output = output.map_err(|e| fail(e.to_string()))?;
        if !output.status.success() || !matches!(wrote, Ok(Ok(()))) {
            return Err(fail(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        Ok(output.stdout)
    }

    /// Returns the contents of objects in their order; `None` if an object is missing.
    pub fn contents(&self, objects: &[&str]) -> Result<Vec<Option<Vec<u8>>>> {
        let out = self.cat_file("--batch", objects)?;
        let mut rest = out.as_slice();
        let mut all = Vec::with_capacity(objects.len());
        for _ in objects {
            let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = rest.get(end + 1..).unwrap_or_default();
            // The line is `HASH KIND SIZE`, or `NAME missing`.
            let size = head.split(' ').nth(2).and_then(|size| size.parse::<usize>().ok());
            all.push(size.and_then(|size| rest.get(..size)).map(<[u8]>::to_vec));
            if let Some(size) = size {
                rest = rest.get(size + 1..).unwrap_or_default();
            }
        }
        Ok(all)
    }

    /// Returns true for each object that exists, in their order.
    pub fn are_there(&self, objects: &[&str]) -> Result<Vec<bool>> {
        let out = self.cat_file("--batch-check", objects)?;
        let text = String::from_utf8_lossy(&out);
        Ok(text.lines().map(|line| line.split(' ').count() == 3).collect())
    }
}
