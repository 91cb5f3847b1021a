//! The session with one host: an `ssh` whose remote command is the agent.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use assay_system::Interrupt;

use super::command::{self, AgentProgram, MARK, Sought};
use crate::ClusterError;
use crate::error::Result;
use crate::message::{CollectorMessage, Hello};
use crate::output::{ProgramOutput, ended_within};
use crate::wire::{self, STRANGER};

/// Interval between two checks for a signal while waiting.
const LOOK: Duration = Duration::from_millis(100);
/// Maximum length of what a login shell prints before the agent starts.
const NOISE: usize = 64 << 10;
/// Maximum time of one write to a host that takes nothing.
const WRITE: Duration = Duration::from_secs(20);
/// Maximum time for `ssh` to end after the connection of its agent did.
const LEAVE: Duration = Duration::from_secs(8);
/// The same limit when the host is lost.
const BROKEN: Duration = Duration::from_secs(1);

/// Request for a session with a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionRequest<'a> {
    pub host: &'a str,
    /// Additional options of `ssh`.
    pub options: &'a [String],
    /// Working folder of the agent.
    pub folder: Option<&'a str>,
    pub program: &'a AgentProgram,
    /// The program as the host is asked for it first.
    pub sought: &'a Sought,
    /// Marks the lines that are meant for this collector.
    pub token: &'a str,
    /// Maximum time for the agent to start, without the time for copying its program.
    pub timeout: Duration,
    pub interrupt: Option<&'a Interrupt>,
}

/// A running session with a host.
#[derive(Debug)]
pub(crate) struct HostSession {
    pub host: String,
    child: Child,
    output: ProgramOutput,
}

/// First line that the remote shell prints for the collector.
enum Greeting {
    /// The agent starts; the version of its program.
    Ready(String),
    /// The program is not there; the machine's architecture.
    Missing(String),
}

impl SessionRequest<'_> {
    fn fail<T>(&self, why: impl Into<String>) -> Result<T> {
        Err(ClusterError::SetUp { who: format!("host {}", self.host), why: why.into() })
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("ssh");
        command
            .args(["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5"])
            .args(["-o", "ServerAliveCountMax=3", "-o"])
            .arg(format!("ConnectTimeout={}", self.timeout.as_secs().clamp(1, 3600)))
            .args(self.options)
            .args(["--", self.host, line])
            .stderr(Stdio::piped())
            // Ctrl-C is for assay, which ends its agents in order.
            .process_group(0);
        command
    }

    /// Opens the session: starts the agent, after copying its program if the host lacks it.
    pub fn open(&self, say: &mut dyn FnMut(&str)) -> Result<(HostSession, Hello, File)> {
        let mut sought = self.sought.clone();
        let mut copied = false;
        loop {
            let (mut session, mut stream) = self.start(&sought)?;
            let machine = match self.greeting(&mut session, &mut stream)? {
                Greeting::Ready(version) => {
                    let hello = self.hello(&mut session, &mut stream, &version)?;
                    return Ok((session, hello, File::from(OwnedFd::from(stream))));
                }
                Greeting::Missing(machine) => machine,
            };
            let file = self.program.file(self.host, &machine)?;
            let wanted = Sought::copy_of(&file)?;
            if sought == wanted {
                if copied {
                    return self.fail("the program that was copied cannot be executed there");
                }
                say(&format!("copies assay to {}", self.host));
                self.copy(&file, &wanted)?;
                copied = true;
            }
            sought = wanted;
        }
    }

    fn start(&self, sought: &Sought) -> Result<(HostSession, UnixStream)> {
        let failed = |source| ClusterError::Ssh { source };
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        ours.set_write_timeout(Some(WRITE)).map_err(failed)?;
        let input = theirs.try_clone().map_err(failed)?;
        let line = command::agent(sought, self.token, self.host, self.folder);
        let mut command = self.command(&line);
        command.stdin(OwnedFd::from(input)).stdout(OwnedFd::from(theirs));
        let mut child = command.spawn().map_err(failed)?;
        let output = ProgramOutput::default();
        output.read(child.stderr.take());
        Ok((HostSession { host: self.host.to_owned(), child, output }, ours))
    }

    /// Reads lines until one is marked: the shell of the user may print others before.
    fn greeting(&self, session: &mut HostSession, stream: &mut UnixStream) -> Result<Greeting> {
        let mark = format!("{MARK} {} ", self.token);
        let mut waiting = self.waiting(stream);
        let mut line = Vec::new();
        for _ in 0..NOISE {
            let mut byte = [0];
            match waiting.read(&mut byte) {
                Ok(1) if byte[0] != b'\n' => line.push(byte[0]),
                Ok(1) => {
                    let text = String::from_utf8_lossy(&line);
                    match text.strip_prefix(&mark).and_then(|said| said.split_once(' ')) {
                        Some(("ready", version)) => return Ok(Greeting::Ready(version.into())),
                        Some(("missing", arch)) => return Ok(Greeting::Missing(arch.into())),
                        _ => line.clear(),
                    }
                }
                Ok(_) => return self.fail(session.explained()),
                Err(e) => return self.not_in_time(session, &e),
            }
        }
        self.fail("its shell prints without end when it starts")
    }

    fn hello(
        &self,
        session: &mut HostSession,
        stream: &mut UnixStream,
        version: &str,
    ) -> Result<Hello> {
        let own = concat!("assay ", env!("CARGO_PKG_VERSION"));
        if version != own {
            let version = if version.is_empty() { "no version that it prints" } else { version };
            return self.fail(format!(
                "the program there is {version}, and this is {own}; install the same, or leave \
                 out `where.program`"
            ));
        }
        match wire::receive(&mut self.waiting(stream), STRANGER) {
            Ok(Some(CollectorMessage::Hello(hello))) if hello.token == self.token => {
                stream.set_read_timeout(None).map_err(|source| ClusterError::Ssh { source })?;
                Ok(hello)
            }
            Ok(None) => self.fail(session.explained()),
            Ok(Some(_)) => self.fail("its agent does not introduce itself"),
            Err(e) => self.not_in_time(session, &e),
        }
    }

    fn not_in_time<T>(&self, session: &mut HostSession, e: &io::Error) -> Result<T> {
        match e.kind() {
            io::ErrorKind::ConnectionAborted => Err(ClusterError::Interrupted),
            io::ErrorKind::TimedOut => {
                let limit = assay_model::units::format_duration(self.timeout);
                let said = session.output.last_words();
                let said = said.map_or_else(String::new, |s| format!(": {s}"));
                self.fail(format!("no agent within {limit} (`where.start_timeout`){said}"))
            }
            _ => self.fail(format!("{e}; {}", session.explained())),
        }
    }

    fn waiting<'s>(&'s self, stream: &'s mut UnixStream) -> Waiting<'s> {
        let until = Instant::now() + self.timeout;
        Waiting { stream, until, interrupt: self.interrupt }
    }

    fn copy(&self, file: &Path, wanted: &Sought) -> Result<()> {
        let Sought::Copy(name) = wanted else { return Ok(()) };
        let failed = |source| ClusterError::Ssh { source };
        let source = File::open(file).map_err(failed)?;
        let bytes = source.metadata().map_err(failed)?.len();
        let mut command = self.command(&command::copy(name, bytes));
        let mut child = command.stdin(source).stdout(Stdio::null()).spawn().map_err(failed)?;
        let output = ProgramOutput::default();
        output.read(child.stderr.take());
        let mut session = HostSession { host: self.host.to_owned(), child, output };
        loop {
            match session.ended() {
                Some(status) if status.success() => return Ok(()),
                Some(_) => {
                    return self.fail(format!("assay cannot be copied: {}", session.explained()));
                }
                None if self.interrupt.is_some_and(Interrupt::fired) => {
                    return Err(ClusterError::Interrupted);
                }
                None => std::thread::sleep(LOOK),
            }
        }
    }
}

impl HostSession {
    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns the last lines that `ssh` and the agent printed on standard error.
    pub fn last_words(&self) -> Option<String> {
        self.output.last_words()
    }

    /// Explains the end of `ssh` before the agent started, with advice for the usual causes.
    fn explained(&mut self) -> String {
        ended_within(&mut self.child, BROKEN);
        self.output.wait(BROKEN);
        let host = &self.host;
        let said = self.output.last_words();
        let said = said.unwrap_or_else(|| match self.child.try_wait() {
            Ok(Some(status)) => format!("ssh ended without a message ({status})"),
            _ => "ssh closed the connection without a message".to_owned(),
        });
        let advice = if said.contains("Host key verification failed") {
            format!("; its key is not the one in known_hosts: compare it, then `ssh {host}` once")
        } else if said.contains("Permission denied") {
            format!(
                "; it wants a password, which assay never asks for: `ssh-copy-id {host}`, or \
                 `ssh-add` for a key with a passphrase"
            )
        } else {
            String::new()
        };
        format!("{said}{advice}")
    }

    /// Ends the session, whose stream is closed. Returns a sentence if the agent may still run.
    pub fn end(mut self, broken: bool) -> Option<String> {
        if ended_within(&mut self.child, if broken { BROKEN } else { LEAVE }) {
            return None;
        }
        let host = &self.host;
        Some(format!(
            "host {host} did not end its agent in time; the agent restores the host's settings \
             when it misses this side (`assay doctor --on ssh --host {host}` tells)"
        ))
    }
}

impl Drop for HostSession {
    fn drop(&mut self) {
        if self.ended().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Reads until a moment, or until a signal arrives.
struct Waiting<'a> {
    stream: &'a mut UnixStream,
    until: Instant,
    interrupt: Option<&'a Interrupt>,
}

impl Read for Waiting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(LOOK))?;
        loop {
            match self.stream.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    // `Interrupted` would make `read_exact` try again.
                    if self.interrupt.is_some_and(Interrupt::fired) {
                        return Err(io::ErrorKind::ConnectionAborted.into());
                    }
                    if Instant::now() >= self.until {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                other => return other,
            }
        }
    }
}
