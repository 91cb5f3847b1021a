//! A server that the trial owns: started, awaited until it answers, and stopped.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_loadgen::{Config, Target};
use rustix::process::{Pid, Signal, kill_process};

use crate::builtin::key_value::admin::{AdminConnection, Endpoint, login_remedy};
use crate::builtin::key_value::dialect::{CERTIFICATE, Dialect, KEY, ServerPlace};
use crate::builtin::key_value::namespace::{self, Cable};
use crate::builtin::key_value::params::{KeyValueParams, Network, Transport};
use crate::{Failure, WorkloadError};

use crate::driver::program::{free_port, last_lines, log_to, need};
use assay_system::end_with_parent;

/// Maximum time from start to the first answer.
const START: Duration = Duration::from_secs(10);
/// Maximum time to exit after SIGTERM; servers check for it about once a second.
const END: Duration = Duration::from_secs(3);
/// Maximum number of new ports to try if another program took the free port first.
const DRAWS: usize = 5;
/// Maximum length of a UNIX socket path in bytes (`sun_path`).
const SOCKET_PATH: usize = 107;
/// Returns the path of the server's program.
///
/// # Errors
/// Fails if it is not installed.
pub fn program(params: &KeyValueParams) -> Result<PathBuf, WorkloadError> {
    let Dialect { program, package, .. } = params.dialect;
    let name = params.server_path.clone().unwrap_or_else(|| program.into());
    let what = format!("the server `{}`", name.display());
    let remedy =
        format!("install the Debian package {package}, or give the path of one as `server.path`");
    need(name, what, remedy)
}

/// A server process that answers requests.
pub struct RunningServer {
    dialect: &'static Dialect,
    child: Child,
    log: PathBuf,
    /// Command line of the server.
    pub argv: Vec<OsString>,
    /// Address for the load generator.
    pub target: Target,
    /// Plain-text address for statistics; differs from the target's for TLS.
    pub place: Endpoint,
    /// Notes for the record.
    pub notes: Vec<String>,
    load: Config,
}

impl RunningServer {
    /// Starts the server described by `params`, with its files in `dir`, on `cpus` (`None`: all
    /// CPUs of this process). The calling thread must live as long as the server, which is killed
    /// when it ends.
    ///
    /// # Errors
    /// Fails if the program is missing, does not start, or does not answer.
    pub fn start(
        params: &KeyValueParams,
        dir: &Path,
        cpus: Option<&[usize]>,
    ) -> Result<Self, Failure> {
        if params.transport == Transport::Tls {
            make_certificate(dir, &params.tls_name)?;
        }
        if params.network == Network::Namespace {
            let start = |cable: &Cable| spawn(params, dir, cpus, cable.server.into());
            let (mut running, _, notes) = namespace::inside(start)?;
            running.notes.extend(notes);
            running.wait_until_it_answers()?;
            return Ok(running);
        }
        let mut draws = 0;
        loop {
            let mut running = spawn(params, dir, cpus, Ipv4Addr::LOCALHOST.into())?;
            match running.wait_until_it_answers() {
                Ok(()) => return Ok(running),
                Err(Failure::PortTaken { .. }) if params.port == 0 && draws < DRAWS => draws += 1,
                Err(e) => return Err(e),
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the server answers, and checks by its process id that no other server answered.
    fn wait_until_it_answers(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(self.refused(&status.to_string()));
            }
            let answer = AdminConnection::open(&self.place, &self.load)
                .and_then(|mut talk| (self.dialect.stats)(&mut talk));
            match answer {
                Ok(stats) => {
                    let other = stats.get(self.dialect.pid).cloned().unwrap_or_default();
                    if other == self.pid().to_string() {
                        return Ok(());
                    }
                    // Another owner of the port may answer before this server finds the port taken.
                    if let Some(status) = self.ended_within(Duration::from_secs(1)) {
                        return Err(self.refused(&status));
                    }
                    let place = self.place.to_string();
                    return Err(Failure::other(format!(
                        "another server answers at {place}: process {other}, but assay started {}",
                        self.pid()
                    )));
                }
                Err(e) => {
                    if let Some(remedy) = login_remedy(&e.to_string(), &self.load) {
                        let (name, place) = (self.dialect.name, &self.place);
                        return Err(Failure::other(format!("{name} at {place}: {e}; {remedy}")));
                    }
                    if began.elapsed() > START {
                        return Err(silent(self.dialect, &self.place, e));
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        }
    }

    fn ended_within(&mut self, limit: Duration) -> Option<String> {
        let began = Instant::now();
        while began.elapsed() < limit {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status.to_string());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }

    fn refused(&self, status: &str) -> Failure {
        let message = self.last_lines();
        let place = self.place.to_string();
        let port = place.rsplit(':').next().and_then(|p| p.parse().ok());
        match port {
            Some(port) if message.contains("in use") => Failure::PortTaken { port, message },
            _ => Failure::Program {
                what: format!("{} ended at once ({status})", crate::words::quote_words(&self.argv)),
                message,
            },
        }
    }

    /// Returns the last lines of the server's output.
    pub fn last_lines(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        last_lines(&String::from_utf8_lossy(&text))
    }

    /// Returns the exit status if the server has ended.
    pub fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// Sends SIGTERM, and SIGKILL if the server does not exit. Returns a note if it had to be
    /// killed.
    pub fn stop(mut self) -> Option<String> {
        let pid = Pid::from_child(&self.child);
        if self.ended().is_none() {
            // The server may have ended since the check.
            let _ = kill_process(pid, Signal::TERM);
        }
        let killed = self.ended_within(END).is_none();
        // Dropping `self` kills a server that is still running.
        let name = self.dialect.name;
        killed.then(|| format!("{name} did not end within 3 s of SIGTERM and was killed"))
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(
    params: &KeyValueParams,
    dir: &Path,
    cpus: Option<&[usize]>,
    address: IpAddr,
) -> Result<RunningServer, Failure> {
    let program = program(params)?;
    let listening = server_place(params, dir, address)?;
    let mut argv: Vec<OsString> = vec![program.clone().into()];
    argv.extend((params.dialect.listen)(&listening, dir));
    argv.extend((params.dialect.settings)(params));
    let log = dir.join("server.log");
    // Truncates the log, so that output of an earlier attempt is not taken for this one's.
    File::create(&log).map_err(WorkloadError::io("make", &log))?;
    let mut command = Command::new(&program);
    command.args(&argv[1..]).stdin(Stdio::null()).process_group(0);
    log_to(&mut command, &log)?;
    end_with_parent(&mut command, cpus);
    let child = command.spawn().map_err(Failure::start(program.display()))?;
    let (target, place, port) = match listening {
        ServerPlace::Unix(path) => (Target::Unix(path.clone()), Endpoint::Unix(path), None),
        ServerPlace::Tcp { ip, port } => {
            let at = format!("{ip}:{port}");
            (Target::Tcp(at.clone()), Endpoint::Tcp(at), Some(port))
        }
        ServerPlace::Tls { ip, port, plain } => {
            let target = params.tls(format!("{ip}:{port}"));
            (target, Endpoint::Tcp(format!("{ip}:{plain}")), Some(port))
        }
    };
    let notes = port.map(|port| format!("the server listened on port {port}"));
    let (notes, dialect, load) = (notes.into_iter().collect(), params.dialect, params.load()?);
    Ok(RunningServer { dialect, child, log, argv, target, place, notes, load })
}

/// Chooses the place that a server listens on: a socket in `dir`, or free ports of `address`.
fn server_place(
    params: &KeyValueParams,
    dir: &Path,
    address: IpAddr,
) -> Result<ServerPlace, Failure> {
    if params.transport == Transport::Unix {
        let path = dir.join("server.sock");
        if path.as_os_str().len() > SOCKET_PATH {
            let why = format!(
                "the path of a UNIX socket has at most {SOCKET_PATH} bytes; set ASSAY_SCRATCH to a \
                 shorter one"
            );
            return Err(silent(params.dialect, path.display(), why));
        }
        return Ok(ServerPlace::Unix(path));
    }
    let ip = address.to_string();
    let port = match params.port {
        0 => free_port(&ip)?,
        port => port,
    };
    Ok(match params.transport {
        Transport::Tls => ServerPlace::Tls { plain: free_port(&ip)?, ip, port },
        _ => ServerPlace::Tcp { ip, port },
    })
}

fn silent(dialect: &Dialect, place: impl Display, reason: impl Display) -> Failure {
    Failure::other(format!("{} at {place} does not answer: {reason}", dialect.name))
}

/// Makes a certificate for `name`, valid for two days, and its key in `dir`.
///
/// # Errors
/// Fails if openssl is missing or exits with an error.
fn make_certificate(dir: &Path, name: &str) -> Result<(), Failure> {
    let failed = |message: String| Failure::Program { what: "openssl".into(), message };
    let out = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .arg("-nodes")
        .args(["-days", "2", "-subj", &format!("/CN={name}")])
        .args(["-addext", &format!("subjectAltName=DNS:{name}")])
        .arg("-keyout")
        .arg(dir.join(KEY))
        .arg("-out")
        .arg(dir.join(CERTIFICATE))
        .stdin(Stdio::null())
        .output()
        .map_err(|e| {
            failed(format!(
                "{e}; it makes the server's certificate: install the Debian package openssl"
            ))
        })?;
    if out.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&out.stderr).trim().to_owned()))
}
