//! A memcached that the trial owns: started, awaited until it answers, and stopped.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_loadgen::Target;
use rustix::process::{Pid, Signal, kill_process};

use crate::builtin::memcached::admin::{AdminConnection, Endpoint};
use crate::builtin::memcached::namespace::{self, Cable};
use crate::builtin::memcached::params::{Network, Params, Transport};
use crate::{Failure, WorkloadError};

use crate::driver::program::{free_port, last_lines, log_to, need};
use assay_system::end_with_parent;

/// Maximum time from start to the first answer.
const START: Duration = Duration::from_secs(10);
/// Maximum time to exit after SIGTERM; memcached checks for it once a second.
const END: Duration = Duration::from_secs(3);
/// Maximum number of new ports to try if another program took the free port first.
const DRAWS: usize = 5;
/// Maximum length of a UNIX socket path in bytes (`sun_path`).
const SOCKET_PATH: usize = 107;
/// Connections and files that the server needs in addition to those of the load.
const SPARE_CONNECTIONS: usize = 64;
/// Connections per connection of the load that the server may have to hold before it notices that
/// older ones were closed: the load gives up after three lost connections.
const RECONNECTS: usize = 4;

/// Files of the self-signed certificate that is made for the server.
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// Returns the path of the memcached to start.
///
/// # Errors
/// Fails if it is not installed.
pub fn program(params: &Params) -> Result<PathBuf, WorkloadError> {
    let name = params.server_path.clone().unwrap_or_else(|| "memcached".into());
    let what = format!("the server `{}`", name.display());
    let remedy = "install the Debian package memcached, or give the path of one as `server.path`";
    need(name, what, remedy)
}

/// A server process that answers requests.
pub struct RunningServer {
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
}

/// Address that a server listens on, and the options for it.
struct ServerAddress {
    arguments: Vec<OsString>,
    port: u16,
    target: Target,
    place: Endpoint,
}

impl RunningServer {
    /// Starts the server described by `params`, with its files in `dir`, on `cpus` (`None`: all
    /// CPUs of this process). The calling thread must live as long as the server, which is killed
    /// when it ends.
    ///
    /// # Errors
    /// Fails if the program is missing, does not start, or does not answer.
    pub fn start(params: &Params, dir: &Path, cpus: Option<&[usize]>) -> Result<Self, Failure> {
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
            let answer = AdminConnection::open(&self.place).and_then(|mut talk| talk.stats(""));
            match answer {
                Ok(stats) => {
                    let other = stats.get("pid").cloned().unwrap_or_default();
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
                Err(e) if began.elapsed() > START => {
                    return Err(silent(&self.place, e));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
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
        killed.then(|| "memcached did not end within 3 s of SIGTERM and was killed".to_owned())
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(
    params: &Params,
    dir: &Path,
    cpus: Option<&[usize]>,
    address: IpAddr,
) -> Result<RunningServer, Failure> {
    let program = program(params)?;
    let ears = ears(params, dir, address)?;
    let mut argv: Vec<OsString> = vec![program.clone().into()];
    argv.extend(ears.arguments);
    argv.extend(settings(params));
    let log = dir.join("memcached.log");
    // Truncates the log, so that output of an earlier attempt is not taken for this one's.
    File::create(&log).map_err(WorkloadError::io("make", &log))?;
    let mut command = Command::new(&program);
    command.args(&argv[1..]).stdin(Stdio::null()).process_group(0);
    log_to(&mut command, &log)?;
    end_with_parent(&mut command, cpus);
    let child = command.spawn().map_err(Failure::start(program.display()))?;
    let (target, place) = (ears.target, ears.place);
    let notes = if ears.port == 0 {
        Vec::new()
    } else {
        vec![format!("the server listened on port {}", ears.port)]
    };
    Ok(RunningServer { child, log, argv, target, place, notes })
}

/// Returns the server options that do not depend on the address.
pub fn settings(params: &Params) -> Vec<OsString> {
    let connections = most_connections(params.connections);
    let mebibytes = (params.memory >> 20).max(1);
    let mut arguments: Vec<OsString> = ["-U", "0", "-t"].map(OsString::from).into();
    arguments.push(params.server_threads.to_string().into());
    arguments.extend(["-m".into(), mebibytes.to_string().into()]);
    arguments.extend(["-c".into(), connections.to_string().into()]);
    if rustix::process::geteuid().is_root() {
        // memcached refuses to run as root without `-u`. Changing the user would clear the
        // parent-death signal that ties it to the trial.
        arguments.extend(["-u".into(), "root".into()]);
    }
    arguments.extend(params.options.iter().cloned());
    arguments
}

/// Returns the server's connection limit: with room for connections that are reopened after a
/// stall, up to the limit on open files, beyond which memcached refuses to start.
fn most_connections(load: usize) -> usize {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let files = hard.map_or(usize::MAX, |most| most as usize);
    let minimum = load + SPARE_CONNECTIONS;
    (RECONNECTS * load + SPARE_CONNECTIONS)
        .min(files.saturating_sub(SPARE_CONNECTIONS))
        .max(minimum)
}

fn ears(params: &Params, dir: &Path, address: IpAddr) -> Result<ServerAddress, Failure> {
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    if params.transport == Transport::Unix {
        let path = dir.join("memcached.sock");
        if path.as_os_str().len() > SOCKET_PATH {
            return Err(silent(
                path.display(),
                format!(
                    "the path of a UNIX socket has at most {SOCKET_PATH} bytes; set ASSAY_SCRATCH to a shorter one"
                ),
            ));
        }
        let mut arguments = words(&["-s"]);
        arguments.push(path.clone().into());
        let (target, place) = (Target::Unix(path.clone()), Endpoint::Unix(path));
        return Ok(ServerAddress { arguments, port: 0, target, place });
    }
    let ip = address.to_string();
    let port = match params.port {
        0 => free_port(&ip)?,
        port => port,
    };
    let at = format!("{ip}:{port}");
    let mut arguments = words(&["-p", &port.to_string()]);
    if params.transport == Transport::Tcp {
        arguments.extend(words(&["-l", &ip]));
        return Ok(ServerAddress {
            arguments,
            port,
            target: Target::Tcp(at.clone()),
            place: Endpoint::Tcp(at),
        });
    }
    let plain = format!("{ip}:{}", free_port(&ip)?);
    arguments.extend(words(&["-l", &at, "-l", &format!("notls:{plain}")]));
    arguments.extend(certificate_options(dir));
    Ok(ServerAddress { arguments, port, target: params.tls(at), place: Endpoint::Tcp(plain) })
}

fn silent(place: impl Display, reason: impl Display) -> Failure {
    Failure::other(format!("memcached at {place} does not answer: {reason}"))
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

/// Returns memcached's options for the certificate and the key in `dir`.
fn certificate_options(dir: &Path) -> Vec<OsString> {
    let option = |name: &str, file: &str| {
        let mut option = OsString::from(format!("{name}="));
        option.push(dir.join(file));
        option
    };
    vec![
        "-Z".into(),
        "-o".into(),
        option("ssl_chain_cert", CERTIFICATE),
        "-o".into(),
        option("ssl_key", KEY),
    ]
}
