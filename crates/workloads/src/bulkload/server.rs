//! A PostgreSQL of the trial's own: a cluster made, a server started, waited for, killed, stopped.
//!
//! It listens on a UNIX socket only, in a folder that is its user's alone, unless it is opened to clients on
//! other nodes, who show a password. As root it runs in an IPC
//! namespace, so that the piece of shared memory by which it guards its cluster goes with it, also when it
//! is killed; nothing of it is left behind but the trial's folder.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use super::client::{Connection, PORT, ROLE, ask};
use super::params::Params;
use super::postgres::{Programs, User};
use crate::program::{last_lines, log_to};
use crate::{Failure, WorkloadError};
use assay_sut::end_with_parent;

/// The longest path of a UNIX socket, bytes (`sun_path`).
const SOCKET_PATH: usize = 107;
/// How long a start may take; recovery reads all WAL since the last checkpoint.
const START: Duration = Duration::from_secs(600);
/// How long an orderly end may take: it writes a checkpoint.
const END: Duration = Duration::from_secs(120);
/// How long processes may take to die of SIGKILL.
const DEATH: Duration = Duration::from_secs(10);

/// A cluster, with or without a server.
pub struct Cluster {
    programs: Programs,
    user: Option<User>,
    /// Holds the data, the socket and the log.
    dir: PathBuf,
    settings: Vec<String>,
    /// Where it listens beside its socket; empty: nowhere.
    listen: String,
    port: String,
    server: Option<Child>,
}

impl Cluster {
    /// Makes a cluster in `dir` for the sessions of so many nodes.
    ///
    /// # Errors
    /// A program is missing or fails, or the server's user cannot get there.
    pub fn make(params: &Params, nodes: u64, dir: &Path) -> Result<Self, Failure> {
        let programs = Programs::find(params.bin.as_deref())?;
        let user = User::find(&params.user)?;
        if let Some(user) = user.as_ref().filter(|u| !u.may_enter(dir)) {
            return Err(Failure::other(format!(
                "the user {}, whom PostgreSQL runs as, may not enter {}; set ASSAY_SCRATCH to a folder that everybody \
                 may enter",
                user.name,
                dir.display()
            )));
        }
        let own = dir.join("pg");
        fs::DirBuilder::new().mode(0o700).create(&own).map_err(WorkloadError::io("make", &own))?;
        if let Some(user) = &user {
            chown(&own, Some(user.uid), Some(user.gid)).map_err(WorkloadError::io("own", &own))?;
            crate::ipc::own().map_err(Failure::step("an IPC namespace for the server"))?;
        }
        let shared = if user.is_some() { "sysv" } else { "mmap" };
        let mut settings = vec![format!("dynamic_shared_memory_type={shared}")];
        settings.extend(params.settings(nodes));
        let socket = own.join(format!(".s.PGSQL.{PORT}")).as_os_str().len();
        if socket > SOCKET_PATH {
            return Err(Failure::other(format!(
                "the path of the server's socket has {socket} bytes, of at most {SOCKET_PATH}; set ASSAY_SCRATCH to a \
                 shorter one"
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

    /// A program as the server's user, tied to this thread.
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

    /// The whole of the server's log, as far as it can be read.
    pub fn log_text(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.log()).unwrap_or_default()).into_owned()
    }

    /// The end of the server's log.
    pub fn last_lines(&self) -> String {
        last_lines(&self.log_text())
    }

    /// The way to it on this machine.
    pub fn connection(&self) -> Connection {
        Connection {
            psql: self.programs.psql.clone(),
            host: self.dir.clone().into(),
            port: self.port.clone(),
            key: None,
        }
    }

    /// Lets in whoever knows the password at that address, from its next start on; until then nobody but by
    /// the socket. The server must run.
    ///
    /// # Errors
    /// It does not take the password, or its list of who may enter cannot be written.
    pub fn open_to(&mut self, host: &str, port: u16, key: &str) -> Result<(), Failure> {
        let sql = format!("ALTER ROLE {ROLE} PASSWORD '{}'", key.replace('\'', "''"));
        ask(&self.connection(), "setting the password", &sql)?;
        let list = self.data().join("pg_hba.conf");
        let who = "local all all trust\nhost all all all scram-sha-256\n";
        fs::write(&list, who).map_err(WorkloadError::io("write", &list))?;
        host.clone_into(&mut self.listen);
        self.port = port.to_string();
        Ok(())
    }

    /// Starts the server and waits until it takes sessions; returns how long that took.
    ///
    /// # Errors
    /// It does not start.
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

    /// How the server ended, if it has.
    pub fn ended(&mut self) -> Option<std::process::ExitStatus> {
        self.server.as_mut().and_then(|s| s.try_wait().ok().flatten())
    }

    /// Kills every process of the server at once (SIGKILL) and waits until all are gone.
    ///
    /// # Errors
    /// They do not go.
    pub fn kill(&mut self) -> Result<(), Failure> {
        // Its children come to this process then, which waits for them.
        let _ = rustix::process::set_child_subreaper(Some(getpid()));
        let Some(mut server) = self.server.take() else { return Ok(()) };
        let mut all = processes(server.id());
        // Stopped first, so that it starts no more of them meanwhile.
        let _ = kill_process(Pid::from_child(&server), Signal::STOP);
        all.extend(processes(server.id()));
        let _ = server.kill();
        let _ = server.wait();
        let began = Instant::now();
        for pid in all.into_iter().filter_map(|p| Pid::from_raw(p.cast_signed())) {
            let _ = kill_process(pid, Signal::KILL);
            // Reaped once it is this process's; an error is that it is nobody's any more.
            while waitpid(Some(pid), WaitOptions::NOHANG).is_ok_and(|s| s.is_none())
                || rustix::process::test_kill_process(pid).is_ok()
            {
                if began.elapsed() > DEATH {
                    let message = format!("process {} lives on", pid.as_raw_nonzero());
                    return Err(Failure::program("the server could not be killed", message));
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(())
    }

    /// Stops the server in order (SIGINT: sessions end, a checkpoint is written); it can be started again.
    /// Returns a sentence when it had to be killed.
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

    /// CPU time of the server and of its sessions that ended, seconds.
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
        // Its folder goes with the trial's; what matters is that nothing runs.
        let _ = self.kill();
    }
}

/// Whether the server's own file says that it takes sessions: its eighth line.
fn is_ready(file: &Path, pid: u32) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines();
    lines.next().is_some_and(|l| l.trim() == pid.to_string())
        && lines.nth(6).is_some_and(|l| l.trim() == "ready")
}

/// Fields of `/proc/PID/stat` after the name.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// The first `of` of its times (user, system, and those of children that it waited for), ticks.
fn ticks(pid: u32, of: usize) -> Option<u64> {
    let fields = stat(pid)?;
    fields.get(11..11 + of)?.iter().map(|f| f.parse::<u64>().ok()).sum()
}

/// The children of a process.
fn processes(parent: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    let of = parent.to_string();
    numbers.filter(|pid| stat(*pid).and_then(|f| f.get(1).cloned()).as_ref() == Some(&of)).collect()
}
