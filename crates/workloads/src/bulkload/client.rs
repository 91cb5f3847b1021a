//! The clients: one psql for a question, and the sessions that load files, one psql each.

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

use assay_sut::end_with_parent;

use super::flat;
use crate::program::last_lines;
use crate::{Failure, WorkloadError};

/// The role that owns everything.
pub const ROLE: &str = "assay";
/// The number in a socket's name; nothing listens on such a port.
pub const PORT: &str = "5432";

/// The way to a server.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The client.
    pub psql: PathBuf,
    /// The folder of its socket, or its host.
    pub host: OsString,
    /// Its port.
    pub port: String,
    /// Its password; `None`: it asks for none.
    pub key: Option<String>,
}

impl Connection {
    /// A client of it, not yet started.
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

/// How long a server that listens may take until it takes sessions.
const STARTS: Duration = Duration::from_secs(60);

/// Asks the server one thing and returns what psql prints. The question is on no command line, where everybody on
/// the machine could read it.
///
/// # Errors
/// psql fails, with its own words.
pub fn ask(connection: &Connection, what: &str, sql: &str) -> Result<String, Failure> {
    let mut command = connection.psql();
    command.arg("-q").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Failure::start("psql"))?;
    if let Some(mut question) = child.stdin.take() {
        // One that ends before it has read says why itself.
        let _ = writeln!(question, "{sql};");
    }
    let out = child.wait_with_output().map_err(Failure::start("psql"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned());
    }
    let output = String::from_utf8_lossy(&out.stderr);
    Err(Failure::program(what, last_lines(&output)))
}

/// Waits until a server that listens takes sessions: it listens a little before.
///
/// # Errors
/// It does not within [`STARTS`], it refuses for another reason, or the trial is stopped.
pub fn wait_for(connection: &Connection, stop: &AtomicBool) -> Result<(), Failure> {
    let began = Instant::now();
    loop {
        match ask(connection, "the server's first answer", "SELECT 1") {
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

/// Asks for one whole number.
///
/// # Errors
/// psql fails, or says something else.
pub fn number(connection: &Connection, what: &str, sql: &str) -> Result<i64, Failure> {
    let output = ask(connection, what, sql)?;
    output.parse().map_err(|_| Failure::program(format_args!("{what}: no number"), output))
}

/// A session, waiting for files to load.
pub struct Session {
    child: Child,
    ends: Option<(ChildStdin, BufReader<ChildStdout>)>,
    log: PathBuf,
    /// The files that it is to load.
    pub loads: Vec<u64>,
}

impl Session {
    /// Starts a session and waits until the server has answered it. To be called on the thread that lives
    /// as long as the session shall.
    ///
    /// # Errors
    /// psql does not start or is not let in.
    pub fn open(connection: &Connection, log: PathBuf, loads: Vec<u64>) -> Result<Self, Failure> {
        let errors = File::create(&log).map_err(WorkloadError::io("make", &log))?;
        let mut command: Command = connection.psql();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().map_err(Failure::start("psql"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::start("psql")(std::io::ErrorKind::BrokenPipe.into()));
        };
        let ends = (stdin, BufReader::new(stdout));
        let mut session = Session { child, ends: Some(ends), log, loads };
        if let Some((stdin, stdout)) = &mut session.ends
            && say(stdin, stdout, "SELECT 'here';").as_deref() == Some("here")
        {
            return Ok(session);
        }
        Err(session.failed("a session was not let in"))
    }

    /// Ends it; the failure has what it printed.
    pub fn failed(&mut self, what: &str) -> Failure {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let output = last_lines(&String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()));
        Failure::program(what, output)
    }

    /// The two ends of its pipes, for the thread that loads.
    pub fn take(&mut self) -> Option<Loader> {
        let (stdin, stdout) = self.ends.take()?;
        Some(Loader { stdin, stdout, loads: self.loads.clone() })
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.ends = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The part of a session that a thread has.
pub struct Loader {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    loads: Vec<u64>,
}

impl Loader {
    /// Waits for the word to begin and loads the files one by one; each that psql says is committed is put
    /// into `done`. `false`: it broke off.
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

/// Says a line and returns the line that comes back; `None` when none does.
fn say(stdin: &mut ChildStdin, stdout: &mut BufReader<ChildStdout>, line: &str) -> Option<String> {
    writeln!(stdin, "{line}").and_then(|()| stdin.flush()).ok()?;
    let mut answer = String::new();
    let read = stdout.read_line(&mut answer).ok()?;
    (read > 0).then(|| answer.trim().to_owned())
}
