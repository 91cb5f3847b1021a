//! The clients: one psql for a single query, and the sessions that load files, one psql each.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use assay_system::end_with_parent;

use crate::builtin::bulkload::flat;
use crate::driver::program::last_lines;
use crate::{Failure, WorkloadError};

/// Database role that owns everything.
pub const ROLE: &str = "assay";
/// Port number in the name of the UNIX socket; nothing listens on that TCP port.
pub const PORT: &str = "5432";

/// Connection parameters of a server.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Path of the psql program.
    pub psql: PathBuf,
    /// Folder of the server's socket, or its host name.
    pub host: OsString,
    pub port: String,
    /// Password; `None` if the server needs none.
    pub key: Option<String>,
}

impl Connection {
    /// Returns a psql command for this connection, not yet started.
    pub fn psql(&self) -> Command {
        let mut command = Command::new(&self.psql);
        command
            .args(["-X", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-U", ROLE, "-d", "postgres"])
            .args(["-p", &self.port, "-h"])
            .arg(&self.host)
            .env("LC_ALL", "C")
            .env("PGOPTIONS", "")
            .process_group(0);
        for name in ["PGSERVICE", "PGSSLMODE", "PGPASSFILE", "PGPASSWORD"] {
            command.env_remove(name);
        }
        if let Some(key) = &self.key {
            command.env("PGPASSWORD", key);
        }
        end_with_parent(&mut command, None);
        command
    }
}

/// Maximum time from listening to accepting sessions.
const STARTS: Duration = Duration::from_secs(60);

/// Runs a query and returns psql's output. The query is passed on standard input, because all users
/// of the machine can read command lines.
///
/// # Errors
/// Fails with psql's message.
pub fn query(connection: &Connection, what: &str, sql: &str) -> Result<String, Failure> {
    let mut command = connection.psql();
    command.arg("-q").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Failure::start("psql"))?;
    if let Some(mut question) = child.stdin.take() {
        // If psql ends before it has read the query, its own message has the reason.
        let _ = writeln!(question, "{sql};");
    }
    let out = child.wait_with_output().map_err(Failure::start("psql"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned());
    }
    let output = String::from_utf8_lossy(&out.stderr);
    Err(Failure::program(what, last_lines(&output)))
}

/// Waits until a server accepts sessions, which it does a little later than it listens.
///
/// # Errors
/// Fails if it does not within [`STARTS`], if it refuses for another reason, or if the trial is
/// stopped.
pub fn wait_for(connection: &Connection, stop: &AtomicBool) -> Result<(), Failure> {
    let began = Instant::now();
    loop {
        match query(connection, "the server's first answer", "SELECT 1") {
            Err(Failure::Program { message: output, .. })
                if output.contains("is starting up") && began.elapsed() < STARTS =>
            {
                if stop.load(Ordering::Acquire) {
                    return Err(Failure::Stopped);
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            other => return other.map(drop),
        }
    }
}

/// Runs a query for a single whole number.
///
/// # Errors
/// Fails if psql fails or prints something else.
pub fn number(connection: &Connection, what: &str, sql: &str) -> Result<i64, Failure> {
    let output = query(connection, what, sql)?;
    output.parse().map_err(|_| Failure::program(format_args!("{what}: not a number"), output))
}

/// A psql session that waits for files to load.
pub struct PsqlSession {
    child: Child,
    ends: Option<(ChildStdin, BufReader<ChildStdout>)>,
    log: PathBuf,
    /// Numbers of the files to load.
    pub loads: Vec<u64>,
}

impl PsqlSession {
    /// Starts a session and waits for the server's first answer. The calling thread must live as
    /// long as the session, which is killed when it ends.
    ///
    /// # Errors
    /// Fails if psql does not start or is refused.
    pub fn open(connection: &Connection, log: PathBuf, loads: Vec<u64>) -> Result<Self, Failure> {
        let errors = File::create(&log).map_err(WorkloadError::io("make", &log))?;
        let mut command: Command = connection.psql();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().map_err(Failure::start("psql"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::start("psql")(std::io::ErrorKind::BrokenPipe.into()));
        };
        let ends = (stdin, BufReader::new(stdout));
        let mut session = PsqlSession { child, ends: Some(ends), log, loads };
        if let Some((stdin, stdout)) = &mut session.ends
            && say(stdin, stdout, "SELECT 'here';").as_deref() == Some("here")
        {
            return Ok(session);
        }
        Err(session.failed("a session was rejected"))
    }

    /// Ends the session and returns a failure with its output.
    pub fn failed(&mut self, what: &str) -> Failure {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let output = last_lines(&String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()));
        Failure::program(what, output)
    }

    /// Returns the two ends of the session's pipes, for the thread that loads.
    pub fn take(&mut self) -> Option<Loader> {
        let (stdin, stdout) = self.ends.take()?;
        Some(Loader { stdin, stdout, loads: self.loads.clone() })
    }

    /// Kills the session at once.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for PsqlSession {
    fn drop(&mut self) {
        self.ends = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The part of a session that a loading thread owns.
pub struct Loader {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    loads: Vec<u64>,
}

impl Loader {
    /// Waits for the start signal and loads the files one by one; adds each file whose commit psql
    /// reports to `done`. Returns `false` if it was interrupted.
    pub fn run(mut self, begin: &Mutex<Receiver<()>>, dir: &Path, done: &Mutex<Vec<u64>>) -> bool {
        let begun = begin.lock().is_ok_and(|begin| begin.recv().is_ok());
        if !begun {
            return false;
        }
        for load in self.loads {
            let path = flat::file(dir, load).display().to_string().replace('\'', "''");
            let line = format!("\\copy sales_fact FROM '{path}'");
            let answer = say(&mut self.stdin, &mut self.stdout, &line);
            if !answer.is_some_and(|a| a.starts_with("COPY ")) {
                return false;
            }
            if let Ok(mut done) = done.lock() {
                done.push(load);
            }
        }
        true
    }
}

/// Sends a line and returns the line of the answer, or `None` without one.
fn say(stdin: &mut ChildStdin, stdout: &mut BufReader<ChildStdout>, line: &str) -> Option<String> {
    writeln!(stdin, "{line}").and_then(|()| stdin.flush()).ok()?;
    let mut answer = String::new();
    let read = stdout.read_line(&mut answer).ok()?;
    (read > 0).then(|| answer.trim().to_owned())
}
