//! Runs a step outside the measurement (fetch, build, prepare, validate, conclude): in its own
//! process group, with a time limit, and with its output in a log file, so that a failure can show
//! the last lines.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use assay_system::Interrupt;
use assay_system::process::guard;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::WorkloadError;
use crate::words::quote_words;

/// Maximum number of lines of a failed step's output in its error, taken from the last
/// `TAIL_BYTES`.
const TAIL_LINES: usize = 40;
const TAIL_BYTES: u64 = 16 * 1024;

/// Part of assay's environment that a step inherits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inherit {
    /// The whole environment of assay.
    All,
    /// Only `PATH`, `HOME` and `TMPDIR`, and `LC_ALL=C`, so that a build does not depend on the
    /// user's settings.
    Paths,
}

/// A program to run to its end.
#[derive(Debug)]
pub struct ProgramStep<'a> {
    /// Name of the step for errors (`build of kit zstd, step 2`).
    pub name: &'a str,
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// Environment variables to set.
    pub env: &'a [(OsString, OsString)],
    /// Inherited environment, which `env` overrides.
    pub inherit: Inherit,
    /// Working directory of the step.
    pub cwd: &'a Path,
    /// File to which both output streams are appended.
    pub log: &'a Path,
    /// File for standard input; `None`: `/dev/null`.
    pub stdin: Option<&'a Path>,
    /// Time limit after which the step's process group is killed.
    pub timeout: Duration,
}

/// A step that failed.
#[derive(Debug, thiserror::Error)]
#[error("`{line}`: {reason}; {output}")]
pub struct StepFailure {
    /// Command line of the step.
    line: String,
    reason: String,
    /// Last lines of its output.
    output: String,
}

impl<'a> ProgramStep<'a> {
    /// Returns a step that sets no variables and inherits [`Inherit::Paths`].
    pub fn new(
        name: &'a str,
        argv: &'a [OsString],
        cwd: &'a Path,
        log: &'a Path,
        timeout: Duration,
    ) -> Self {
        ProgramStep {
            name,
            argv,
            env: &[],
            inherit: Inherit::Paths,
            cwd,
            log,
            stdin: None,
            timeout,
        }
    }

    /// Runs the step; any exit code other than 0 is an error.
    ///
    /// # Errors
    /// Fails if the program is missing, cannot be started, fails, or exceeds its time limit.
    pub fn run(&self) -> Result<(), WorkloadError> {
        self.verdict()?.map_err(|failure| self.failed(failure.to_string()))
    }

    /// Runs the step. The inner result is an error if it failed, with the last lines of its output.
    ///
    /// # Errors
    /// Fails if the program is missing or cannot be started.
    pub fn verdict(&self) -> Result<Result<(), StepFailure>, WorkloadError> {
        let mut log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log)
            .map_err(WorkloadError::io("create", self.log))?;
        let start = log.seek(SeekFrom::End(0)).map_err(WorkloadError::io("read", self.log))?;
        let mut child = self.spawn(&log)?;
        guard::report_group(Some(Pid::from_child(&child)));
        let ended = wait(&mut child, self.timeout);
        guard::report_group(None);
        let ended = ended.map_err(|e| self.failed(format!("`{}`: {e}", self.line())))?;
        let reason = match ended {
            Some(status) if status.success() => return Ok(Ok(())),
            Some(status) => ending(status),
            None if Interrupt::installed().is_some_and(Interrupt::fired) => {
                "was ended by the signal that interrupts the run".to_owned()
            }
            None => format!(
                "ran longer than {} and was ended; a longer `timeout` may be right",
                assay_model::units::format_duration(self.timeout)
            ),
        };
        let tail = tail(self.log, start, TAIL_BYTES, TAIL_LINES).unwrap_or_default();
        let output = if tail.is_empty() {
            "it printed nothing".to_owned()
        } else {
            format!("its last lines:\n{tail}")
        };
        Ok(Err(StepFailure { line: self.line(), reason, output }))
    }

    fn spawn(&self, log: &File) -> Result<Child, WorkloadError> {
        let (program, args) =
            self.argv.split_first().ok_or_else(|| self.failed("its command is empty".into()))?;
        let stream = || log.try_clone().map_err(WorkloadError::io("open", self.log));
        let stdin = match self.stdin {
            Some(path) => File::open(path).map_err(WorkloadError::io("open", path))?.into(),
            None => Stdio::null(),
        };
        let mut command = Command::new(program);
        if self.inherit == Inherit::Paths {
            command.env_clear().env("LC_ALL", "C");
            for name in ["PATH", "HOME", "TMPDIR"] {
                command.envs(std::env::var_os(name).map(|value| (name, value)));
            }
        }
        command
            .args(args)
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .envs(guard::variable())
            .current_dir(self.cwd)
            .stdin(stdin)
            .stdout(stream()?)
            .stderr(stream()?)
            .process_group(0)
            .spawn()
            .map_err(|source| match source.kind() {
                io::ErrorKind::NotFound if self.cwd.is_dir() => WorkloadError::Missing {
                    what: format!("`{}` ({})", program.to_string_lossy(), self.name),
                    remedy: "install it, or give its path".into(),
                },
                _ => self.failed(format!("cannot start `{}`: {source}", self.line())),
            })
    }

    fn line(&self) -> String {
        quote_words(self.argv)
    }

    fn failed(&self, detail: String) -> WorkloadError {
        WorkloadError::step(self.name, detail)
    }
}

/// Formats an exit status: `exit code 3` or `ended by signal 9`.
fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended in an unknown way".into(),
    }
}

/// Waits for the child. If the limit is exceeded or the run is interrupted, kills its process group
/// and returns `None`.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let pid = Pid::from_child(child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let start = Instant::now();
    loop {
        let left = limit.saturating_sub(start.elapsed());
        let interrupt = Interrupt::installed();
        if left.is_zero() || interrupt.is_some_and(Interrupt::fired) {
            // The group may have ended already.
            let _ = kill_process_group(pid, Signal::KILL);
            let status = child.wait()?;
            // The child may have exited between the last check and the kill.
            return Ok((status.signal() != Some(9)).then_some(status));
        }
        // A limit that does not fit into the kernel's type is dropped.
        let timeout = Timespec::try_from(left).ok();
        let mut fds = vec![PollFd::new(&pidfd, PollFlags::IN)];
        fds.extend(interrupt.map(|i| PollFd::from_borrowed_fd(i.as_fd(), PollFlags::IN)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) if !fds[0].revents().is_empty() => return child.wait().map(Some),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => {
                let _ = kill_process_group(pid, Signal::KILL);
                child.wait()?;
                return Err(e.into());
            }
        }
    }
}

/// Returns at most `lines` last lines of the file, from byte `start` on and from its last `bytes`
/// bytes.
pub(crate) fn tail(path: &Path, start: u64, bytes: u64, lines: usize) -> io::Result<String> {
    let mut file = File::open(path)?;
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(start.max(end.saturating_sub(bytes))))?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    let text = String::from_utf8_lossy(&read);
    let all: Vec<&str> = text.trim_end().lines().collect();
    Ok(all[all.len().saturating_sub(lines)..].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(argv: &[&str], timeout: Duration) -> Result<(), WorkloadError> {
        let dir = tempfile::tempdir().unwrap();
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        let env = [("WORD".into(), "from the environment".into())];
        let log = dir.path().join("log");
        ProgramStep { env: &env, ..ProgramStep::new("try", &argv, dir.path(), &log, timeout) }.run()
    }

    #[test]
    fn a_failure_shows_code_and_last_lines() {
        let long = Duration::from_secs(60);
        assert!(run(&["true"], long).is_ok());
        let error = run(&["sh", "-c", "seq 100; echo $WORD >&2; exit 3"], long).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("exit code 3"), "{text}");
        assert!(text.ends_with("99\n100\nfrom the environment"), "{text}");
        assert!(text.contains("lines:\n62\n") && !text.contains("\n61\n"), "{text}");
        let error = run(&["sh", "-c", "kill -9 $$"], long).unwrap_err().to_string();
        assert!(error.contains("signal 9"), "{error}");
    }

    #[test]
    fn a_step_past_its_time_is_ended_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let child = dir.path().join("child");
        let line = format!("sleep 1000 & echo $! > {}; wait", child.display());
        let error = run(&["sh", "-c", &line], Duration::from_millis(300)).unwrap_err();
        assert!(error.to_string().contains("ran longer than"), "{error}");
        let pid: i32 = std::fs::read_to_string(child).unwrap().trim().parse().unwrap();
        // It is not a child of this process, so a file descriptor is used to wait for its end; it
        // may have ended already.
        if let Ok(fd) = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()) {
            let limit = Timespec { tv_sec: 30, tv_nsec: 0 };
            let ended = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&limit)).unwrap();
            assert_eq!(ended, 1, "the child of the step lives on");
        }
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&["no-such-program-anywhere"], Duration::from_secs(60)).unwrap_err();
        assert!(matches!(error, WorkloadError::Missing { .. }), "{error}");
    }
}
