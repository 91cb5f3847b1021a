//! A memcached of the trial's own: started, waited for until it answers, stopped.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_memload::Target;
use rustix::process::{Pid, Signal, kill_process};

use super::namespace::{self, Cable};
use super::params::{Network, Params, Transport};
use super::talk::{Endpoint, Talk};
use crate::Failure;

use crate::WorkloadError;
use crate::program::{free_port, last_lines, log_to, need};
use assay_sut::end_with_parent;

/// How long a server may take until it answers.
const START: Duration = Duration::from_secs(10);
/// How long it may take to end after SIGTERM; memcached looks once a second.
const END: Duration = Duration::from_secs(3);
/// How often a free port is drawn again when another program was quicker.
const DRAWS: usize = 5;
/// The longest path of a UNIX socket, bytes (`sun_path`).
const SOCKET_PATH: usize = 107;
/// Connections and files that the server has beside those of the load.
const SPARE_CONNECTIONS: usize = 64;
/// So many connections in the place of each of the load the server may have to take before it sees that the
/// older ones were closed: the load gives up after three that were lost.
const RECONNECTS: usize = 4;

/// The files of the certificate that the server makes itself.
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// The memcached to start.
///
/// # Errors
/// There is none.
pub fn program(params: &Params) -> Result<PathBuf, WorkloadError> {
    let name = params.server_path.clone().unwrap_or_else(|| "memcached".into());
    let what = format!("the server `{}`", name.display());
    let remedy = "install the Debian package memcached, or give the path of one as `server.path`";
    need(name, what, remedy)
}

/// A server that answers.
pub struct Running {
    child: Child,
    log: PathBuf,
    /// Its command line.
    pub argv: Vec<OsString>,
    /// Where the load goes.
    pub target: Target,
    /// Where it can be asked about itself.
    pub place: Endpoint,
    /// Sentences for the record.
    pub notes: Vec<String>,
}

/// Where a server listens.
struct Ears {
    arguments: Vec<OsString>,
    port: u16,
    target: Target,
    place: Endpoint,
}

impl Running {
    /// Starts the server that `params` ask for, with its files in `dir`, on `cpus` (`None`: all that this
    /// process may use). To be called on the thread that lives as long as the server shall.
    ///
    /// # Errors
    /// It is missing, does not start, or does not answer.
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

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it answers, and makes sure that it is this one that does.
    fn wait_until_it_answers(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(self.refused(&status.to_string()));
            }
            let answer = Talk::open(&self.place).and_then(|mut talk| talk.stats(""));
            match answer {
                Ok(stats) => {
                    let other = stats.get("pid").cloned().unwrap_or_default();
                    if other == self.pid().to_string() {
                        return Ok(());
                    }
                    // The port's other owner may answer before ours has found it taken.
                    if let Some(status) = self.ended_within(Duration::from_secs(1)) {
                        return Err(self.refused(&status));
                    }
                    let place = self.place.to_string();
                    return Err(Failure::other(format!(
                        "at {place} another server answers (its process is {other}, the one started is {})",
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

    /// The end of what it printed.
    pub fn last_lines(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        last_lines(&String::from_utf8_lossy(&text))
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// Asks it to end, and ends it when it does not. Returns a sentence when it had to be killed.
    pub fn stop(mut self) -> Option<String> {
        let pid = Pid::from_child(&self.child);
        if self.ended().is_none() {
            // It may end by itself meanwhile, which is as good.
            let _ = kill_process(pid, Signal::TERM);
        }
        let killed = self.ended_within(END).is_none();
        // Dropping kills what is left.
        killed.then(|| "memcached did not end within 3 s of SIGTERM and was killed".to_owned())
    }
}

impl Drop for Running {
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
) -> Result<Running, Failure> {
    let program = program(params)?;
    let ears = ears(params, dir, address)?;
    let mut argv: Vec<OsString> = vec![program.clone().into()];
    argv.extend(ears.arguments);
    argv.extend(settings(params));
    let log = dir.join("memcached.log");
    // The output of an earlier try must not be taken for this one's.
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
    Ok(Running { child, log, argv, target, place, notes })
}

/// The options that do not say where it listens.
pub fn settings(params: &Params) -> Vec<OsString> {
    let connections = most_connections(params.connections);
    let mebibytes = (params.memory >> 20).max(1);
    let mut arguments: Vec<OsString> = ["-U", "0", "-t"].map(OsString::from).into();
    arguments.push(params.server_threads.to_string().into());
    arguments.extend(["-m".into(), mebibytes.to_string().into()]);
    arguments.extend(["-c".into(), connections.to_string().into()]);
    if rustix::process::geteuid().is_root() {
        // It refuses to run as root without an option. A change of user would untie it from the
        // trial.
        arguments.extend(["-u".into(), "root".into()]);
    }
    arguments.extend(params.options.iter().cloned());
    arguments
}

/// The connections that the server takes: with room for those that are opened again after a stall, as far
/// as the limit on open files goes, without which memcached refuses to start.
fn most_connections(load: usize) -> usize {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let files = hard.map_or(usize::MAX, |most| most as usize);
    let minimum = load + SPARE_CONNECTIONS;
    (RECONNECTS * load + SPARE_CONNECTIONS)
        .min(files.saturating_sub(SPARE_CONNECTIONS))
        .max(minimum)
}

fn ears(params: &Params, dir: &Path, address: IpAddr) -> Result<Ears, Failure> {
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
        return Ok(Ears { arguments, port: 0, target, place });
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
        return Ok(Ears {
            arguments,
            port,
            target: Target::Tcp(at.clone()),
            place: Endpoint::Tcp(at),
        });
    }
    let plain = format!("{ip}:{}", free_port(&ip)?);
    arguments.extend(words(&["-l", &at, "-l", &format!("notls:{plain}")]));
    arguments.extend(certificate_options(dir));
    Ok(Ears { arguments, port, target: params.tls(at), place: Endpoint::Tcp(plain) })
}

fn silent(place: impl Display, reason: impl Display) -> Failure {
    Failure::other(format!("memcached at {place} does not answer: {reason}"))
}

/// Makes a certificate for `name` in `dir`, and its key: for `transport = "tls"`, good for two days.
///
/// # Errors
/// openssl is missing or refuses.
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
