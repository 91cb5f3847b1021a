//! A PostgreSQL cluster that belongs to the trial: creating it, and starting, killing and stopping
//! its server.
//!
//! The server listens only on a UNIX socket in a folder that is accessible only to its user, unless
//! it is opened to clients on other nodes, which authenticate with a password. As root it runs in
//! an IPC namespace, so that the System V shared memory segment that guards the cluster is removed
//! with it, even if it is killed; nothing is left behind except the trial's folder.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use crate::builtin::bulkload::client::{Connection, PORT, ROLE, query};
use crate::builtin::bulkload::params::BulkloadParams;
use crate::builtin::bulkload::postgres::{Programs, User};
use crate::driver::program::{last_lines, log_to};
use crate::{Failure, WorkloadError};
use assay_system::end_with_parent;

/// Maximum length of a UNIX socket path in bytes (`sun_path`).
const SOCKET_PATH: usize = 107;
/// Time limit of a start; recovery reads all WAL since the last checkpoint.
const START: Duration = Duration::from_secs(600);
/// Time limit of an orderly shutdown, which writes a checkpoint.
const END: Duration = Duration::from_secs(120);
/// Time limit for processes to end after SIGKILL.
const DEATH: Duration = Duration::from_secs(10);

/// A cluster, with or without a running server.
pub struct Cluster {
    programs: Programs,
    user: Option<User>,
    /// Folder with the data, the socket and the log.
    dir: PathBuf,
    settings: Vec<String>,
    /// Address to listen on in addition to the socket; empty: none.
    listen: String,
    port: String,
    server: Option<Child>,
}

impl Cluster {
    /// Creates a cluster in `dir` for the sessions of `nodes` nodes.
    ///
    /// # Errors
    /// Fails if a program is missing or fails, or the server's user may not enter `dir`.
    pub fn make(params: &BulkloadParams, nodes: u64, dir: &Path) -> Result<Self, Failure> {
        let programs = Programs::find(params.bin.as_deref())?;
        let user = User::find(&params.user)?;
        if let Some(user) = user.as_ref().filter(|u| !u.may_enter(dir)) {
            return Err(Failure::other(format!(
                "the user {}, whom PostgreSQL runs as, cannot enter {}; set ASSAY_SCRATCH to a \
                 folder that everybody can enter",
                user.name,
                dir.display()
            )));
        }
        let own = dir.join("pg");
        fs::DirBuilder::new().mode(0o700).create(&own).map_err(WorkloadError::io("make", &own))?;
        if let Some(user) = &user {
            chown(&own, Some(user.uid), Some(user.gid)).map_err(WorkloadError::io("own", &own))?;
            crate::driver::ipc::own().map_err(Failure::step("an IPC namespace for the server"))?;
        }
        let shared = if user.is_some() { "sysv" } else { "mmap" };
        let mut settings = vec![format!("dynamic_shared_memory_type={shared}")];
        settings.extend(params.settings(nodes));
        let socket = own.join(format!(".s.PGSQL.{PORT}")).as_os_str().len();
        if socket > SOCKET_PATH {
            return Err(Failure::other(format!(
                "the path of the server's socket has {socket} bytes, of at most {SOCKET_PATH}; set \
                 ASSAY_SCRATCH to a shorter one"
            )));
        }
        let (listen, port) = (String::new(), PORT.to_owned());
        let cluster = Cluster { programs, user, dir: own, settings, listen, port, server: None };
        let mut initdb = cluster.command(&cluster.programs.initdb);
        initdb.arg("-D").arg(cluster.data());
        initdb.args(["-U", ROLE, "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        if params.checksums {
            initdb.arg("--data-checksums");
        }
        let program = cluster.programs.initdb.display();
        let out = initdb.output().map_err(Failure::start(program))?;
        if out.status.success() {
            return Ok(cluster);
        }
        let message = last_lines(&String::from_utf8_lossy(&out.stderr));
        Err(Failure::program(format_args!("initdb failed ({})", out.status), message))
    }

    /// Returns a command that runs as the server's user and is killed when this thread ends.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.dir).stdin(Stdio::null()).process_group(0).env("LC_ALL", "C");
        if let Some(user) = &self.user {
            command.uid(user.uid).gid(user.gid);
        }
        end_with_parent(&mut command, None);
        command
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    fn log(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    /// Returns the server's log, as far as it can be read.
    pub fn log_text(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.log()).unwrap_or_default()).into_owned()
    }

    /// Returns the last lines of the server's log.
    pub fn last_lines(&self) -> String {
        last_lines(&self.log_text())
    }

    /// Returns the connection to the server on this machine.
    pub fn connection(&self) -> Connection {
        Connection {
            psql: self.programs.psql.clone(),
            host: self.dir.clone().into(),
            port: self.port.clone(),
            key: None,
        }
    }

    /// Opens the server to clients that know the password, at that address and from its next start
    /// on; until then only the socket is open. The server must be running.
    ///
    /// # Errors
    /// Fails if the password cannot be set or pg_hba.conf cannot be written.
    pub fn open_to(&mut self, host: &str, port: u16, key: &str) -> Result<(), Failure> {
        let sql = format!("ALTER ROLE {ROLE} PASSWORD '{}'", key.replace('\'', "''"));
        query(&self.connection(), "setting the password", &sql)?;
        let list = self.data().join("pg_hba.conf");
        let who = "local all all trust\nhost all all all scram-sha-256\n";
        fs::write(&list, who).map_err(WorkloadError::io("write", &list))?;
        host.clone_into(&mut self.listen);
        self.port = port.to_string();
        Ok(())
    }

    /// Starts the server and waits until it accepts sessions; returns the elapsed time.
    ///
    /// # Errors
    /// Fails if it does not start.
    pub fn start(&mut self, stop: &AtomicBool) -> Result<Duration, Failure> {
        let mut command = self.command(&self.programs.postgres);
        command.arg("-D").arg(self.data()).arg("-k").arg(&self.dir).args(["-p", &self.port]);
        let listen = format!("listen_addresses={}", self.listen);
        command.args(["-c", &listen, "-c", "unix_socket_permissions=0700"]);
        command.args(self.settings.iter().flat_map(|s| ["-c", s]));
        log_to(&mut command, &self.log())?;
        let began = Instant::now();
        let program = self.programs.postgres.display();
        let child = command.spawn().map_err(Failure::start(program))?;
        let pid = child.id();
        let server = self.server.insert(child);
        let ready = self.dir.join("data/postmaster.pid");
        loop {
            if stop.load(Ordering::Acquire) {
                return Err(Failure::Stopped);
            }
            if let Ok(Some(status)) = server.try_wait() {
                self.server = None;
                let what = format_args!("the server ended at once ({status})");
                return Err(Failure::program(what, self.last_lines()));
            }
            if is_ready(&ready, pid) {
                return Ok(began.elapsed());
            }
            if began.elapsed() > START {
                let what = format!("the server takes no sessions after {} s", START.as_secs());
                return Err(Failure::program(what, self.last_lines()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the exit status if the server has ended.
    pub fn ended(&mut self) -> Option<std::process::ExitStatus> {
        self.server.as_mut().and_then(|s| s.try_wait().ok().flatten())
    }

    /// Kills all processes of the server with SIGKILL and waits until they have ended.
    ///
    /// # Errors
    /// Fails if they do not end.
    pub fn kill(&mut self) -> Result<(), Failure> {
        // The server's children become children of this process, which can then wait for them.
        let _ = rustix::process::set_child_subreaper(Some(getpid()));
        let Some(mut server) = self.server.take() else { return Ok(()) };
        let mut all = processes(server.id());
        // The server is stopped first, so that it does not start new children meanwhile.
        let _ = kill_process(Pid::from_child(&server), Signal::STOP);
        all.extend(processes(server.id()));
        let _ = server.kill();
        let _ = server.wait();
        let began = Instant::now();
        for pid in all.into_iter().filter_map(|p| Pid::from_raw(p.cast_signed())) {
            let _ = kill_process(pid, Signal::KILL);
            // The process is reaped when it has become a child of this one; an error means that it
            // is gone.
            while waitpid(Some(pid), WaitOptions::NOHANG).is_ok_and(|s| s.is_none())
                || rustix::process::test_kill_process(pid).is_ok()
            {
                if began.elapsed() > DEATH {
                    let message = format!("process {} still runs", pid.as_raw_nonzero());
                    return Err(Failure::program("the server could not be killed", message));
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(())
    }

    /// Stops the server in order (SIGINT: sessions end, a checkpoint is written); it can be started
    /// again. Returns a note if it had to be killed.
    pub fn halt(&mut self) -> Option<String> {
        let pid = self.server.as_ref().map(Pid::from_child)?;
        let _ = kill_process(pid, Signal::INT);
        let began = Instant::now();
        while began.elapsed() < END {
            if !matches!(self.server.as_mut().map(Child::try_wait), Some(Ok(None))) {
                self.server = None;
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.kill();
        Some(format!("the server did not end within {} s of SIGINT and was killed", END.as_secs()))
    }

    /// Returns the CPU time of the server and of its running and ended sessions in seconds.
    pub fn cpu_s(&self) -> Option<f64> {
        let server = self.server.as_ref()?.id();
        let tick = rustix::param::clock_ticks_per_second() as f64;
        let own = ticks(server, 4)?;
        let living: u64 = processes(server).into_iter().filter_map(|p| ticks(p, 2)).sum();
        Some((own + living) as f64 / tick)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The trial's cleanup removes the folder; here it only matters that no process is left.
        let _ = self.kill();
    }
}

/// Returns true if the server's pid file reports on its eighth line that it accepts sessions.
fn is_ready(file: &Path, pid: u32) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines();
    lines.next().is_some_and(|l| l.trim() == pid.to_string())
        && lines.nth(6).is_some_and(|l| l.trim() == "ready")
}

/// Returns the fields of `/proc/PID/stat` after the name.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// Returns the sum of a process's first `of` times (user, system, and those of waited-for
/// children), in clock ticks.
fn ticks(pid: u32, of: usize) -> Option<u64> {
    let fields = stat(pid)?;
    fields.get(11..11 + of)?.iter().map(|f| f.parse::<u64>().ok()).sum()
}

/// Returns the children of a process.
fn processes(parent: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    let of = parent.to_string();
    numbers.filter(|pid| stat(*pid).and_then(|f| f.get(1).cloned()).as_ref() == Some(&of)).collect()
}
