//! The agent's connection to its collector. A separate thread reads it, responds to pings at once,
//! and fires the interrupt when the trial must end or the collector is gone.

use std::fs::File;
use std::io::{self, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_system::Interrupt;
use assay_system::clock::monotonic_ns;

use crate::clock::day_ns;
use crate::listen::tune;
use crate::message::{
    AgentMessage, AgentRole, CollectorMessage, Hello, PROTOCOL, Served, SetUp, Setup, TrialPart,
    TrialRequest,
};
use crate::token::{ADDRESS, TOKEN};
use crate::wire::{self, MAX_MESSAGE};

/// Maximum time for an agent to reach its collector, and for one attempt.
const REACH: Duration = Duration::from_secs(30);
const TRY: Duration = Duration::from_secs(5);
/// Maximum time without a sign of life from a collector that sends them.
const SILENCE: Duration = Duration::from_secs(20);
/// Interval between two checks for a signal while waiting.
const LOOK: Duration = Duration::from_millis(100);

/// Error that ends an agent.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The agent was not started by a collector.
    #[error("an agent is started by `assay run` with an engine of `[where]`: {0} is not set")]
    NotAnAgent(String),
    /// The collector cannot be reached.
    #[error("the collector cannot be reached from {host} at {tried}: {source}")]
    Reach {
        /// Name of this host.
        host: String,
        /// Addresses that were tried.
        tried: String,
        /// Error of the last attempt.
        source: io::Error,
    },
    /// The connection to the collector broke.
    #[error("the connection to the collector: {0}")]
    Broken(#[from] io::Error),
    /// The collector is gone.
    #[error("the collector is gone")]
    Gone,
    /// The trial was cancelled before it began.
    #[error("it was cancelled before it began")]
    CalledOff,
}

/// Identity of an agent in its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Number of the task in the job.
    pub rank: usize,
    /// Name of the node.
    pub node: String,
    /// Number of the task on the node.
    pub local: usize,
}

/// Identity of an agent whose standard input and output `ssh` connects to the collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverSsh {
    /// Name of this host in the run.
    pub node: String,
    /// Secret that the collector chose for the session.
    pub token: String,
}

/// Connection of an agent to its collector.
#[derive(Debug)]
pub struct Link {
    out: Arc<Mutex<File>>,
    orders: Mutex<Receiver<AgentMessage>>,
    interrupt: Interrupt,
    /// True if the collector requested the end of the trial.
    stopped: Arc<AtomicBool>,
    gone: Arc<AtomicBool>,
    /// Address of this node on the route to the collector.
    address: Option<String>,
    /// Identity of this agent.
    pub membership: Membership,
    /// True if the collector reached this machine by SSH, so that no scheduler reserves it.
    pub by_ssh: bool,
}

fn var(name: &str) -> Result<String, AgentError> {
    std::env::var(name).map_err(|_| AgentError::NotAnAgent(name.to_owned()))
}

fn number(name: &str) -> Result<usize, AgentError> {
    var(name)?.parse().map_err(|_| AgentError::NotAnAgent(name.to_owned()))
}

impl Link {
    /// Connects to the collector: over standard input and output, or to the one that the
    /// environment names, as the task that it names.
    ///
    /// # Errors
    /// The environment names no collector, or it cannot be reached.
    pub fn open(interrupt: Interrupt, over_ssh: Option<&OverSsh>) -> Result<Self, AgentError> {
        let host = crate::slurm::orphaned_jobs::host();
        let by_ssh = over_ssh.is_some();
        // On a host, and in a virtual machine, the agent is the only one.
        let alone = |node: &str| Membership { rank: 0, node: node.to_owned(), local: 0 };
        let (membership, token) = match (over_ssh, number("SLURM_PROCID")) {
            (Some(OverSsh { node, token }), _) => (alone(node), token.clone()),
            (None, Ok(rank)) => {
                let (node, local) = (var("SLURMD_NODENAME")?, number("SLURM_LOCALID")?);
                (Membership { rank, node, local }, var(TOKEN)?)
            }
            (None, Err(_)) => (alone(&host), var(TOKEN)?),
        };
        let (mut stream, ear, address) = if by_ssh {
            let (input, output) = take_stdio()?;
            // "CLIENT PORT SERVER PORT"
            let route = std::env::var("SSH_CONNECTION").unwrap_or_default();
            (output, input, route.split(' ').nth(2).map(str::to_owned))
        } else {
            let stream = reach(&var(ADDRESS)?, &host)?;
            tune(&stream)?;
            let own = stream.local_addr()?.ip().to_string();
            let stream = File::from(OwnedFd::from(stream));
            let ear = stream.try_clone()?;
            (stream, ear, Some(own))
        };
        let ear = Ear { stream: ear, silence: by_ssh.then_some(SILENCE) };
        let hello = CollectorMessage::Hello(Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").into(),
            token,
            rank: membership.rank,
            node: membership.node.clone(),
            local: membership.local,
            host,
            pid: std::process::id(),
            job: std::env::var("SLURM_JOB_ID").unwrap_or_default(),
        });
        wire::send(&mut stream, &hello)?;
        let (say, orders) = channel();
        let out = Arc::new(Mutex::new(stream));
        let (stopped, gone) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let link = Link {
            out: Arc::clone(&out),
            orders: Mutex::new(orders),
            interrupt: interrupt.clone(),
            stopped: Arc::clone(&stopped),
            gone: Arc::clone(&gone),
            address,
            membership,
            by_ssh,
        };
        let listen = move || {
            let mut ear = ear;
            loop {
                match wire::receive::<AgentMessage>(&mut ear, MAX_MESSAGE) {
                    Ok(Some(AgentMessage::Ping(n))) => {
                        let pong = CollectorMessage::Pong(n, monotonic_ns(), day_ns());
                        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                        let _ = wire::send(&mut *out, &pong);
                    }
                    Ok(Some(AgentMessage::Stop)) => {
                        stopped.store(true, Ordering::Release);
                        interrupt.fire();
                    }
                    Ok(Some(AgentMessage::Bye) | None) | Err(_) => {
                        gone.store(true, Ordering::Release);
                        interrupt.fire();
                        return;
                    }
                    Ok(Some(order)) => {
                        // A stop after the trial request is for this trial; an earlier one was not.
                        if matches!(order, AgentMessage::Trial(..))
                            && stopped.swap(false, Ordering::AcqRel)
                        {
                            interrupt.clear();
                        }
                        if say.send(order).is_err() {
                            return;
                        }
                    }
                }
            }
        };
        std::thread::Builder::new().name("collector".into()).spawn(listen)?;
        Ok(link)
    }

    /// Returns this node's address on the route to the collector, which the other nodes can reach
    /// too.
    ///
    /// # Errors
    /// The server of `ssh` does not tell it.
    pub fn address(&self) -> Result<&str, AgentError> {
        self.address.as_deref().ok_or_else(|| AgentError::NotAnAgent("SSH_CONNECTION".to_owned()))
    }

    fn send(&self, message: &CollectorMessage) -> Result<(), AgentError> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(wire::send(&mut *out, message)?)
    }

    fn received(&self) -> Result<AgentMessage, RecvTimeoutError> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK)
    }

    fn next(&self) -> Result<AgentMessage, AgentError> {
        loop {
            match self.received() {
                Ok(order) => return Ok(order),
                Err(RecvTimeoutError::Disconnected) => return Err(AgentError::Gone),
                Err(RecvTimeoutError::Timeout) => {
                    if self.gone.load(Ordering::Acquire) || self.ended() {
                        return Err(AgentError::Gone);
                    }
                }
            }
        }
    }

    /// True if the collector requested the end of the trial.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// True if a signal, not the collector, requests the end of this agent.
    fn ended(&self) -> bool {
        self.interrupt.signalled()
            || self.interrupt.fired() && !self.stopped.load(Ordering::Acquire)
    }

    /// Waits for the settings to set up.
    ///
    /// # Errors
    /// The collector is gone, or a signal arrived.
    pub fn setup(&self) -> Result<Setup, AgentError> {
        loop {
            if let AgentMessage::Setup(setup) = self.next()? {
                return Ok(*setup);
            }
        }
    }

    /// Reports a completed setup.
    ///
    /// # Errors
    /// The connection broke.
    pub fn is_set_up(&self, set_up: SetUp) -> Result<(), AgentError> {
        self.send(&CollectorMessage::SetUp(Box::new(set_up)))
    }

    /// Reports that this agent cannot set up, with the reason.
    ///
    /// # Errors
    /// The connection broke.
    pub fn refuse(&self, why: String) -> Result<(), AgentError> {
        self.send(&CollectorMessage::Refuse(why))
    }

    /// Waits for the next trial; `None` if the collector is gone or a signal arrived.
    ///
    /// # Errors
    /// Any failure other than these two; none occurs at present.
    pub fn order(&self) -> Result<Option<(TrialRequest, AgentRole)>, AgentError> {
        loop {
            match self.next() {
                Ok(AgentMessage::Trial(order, role)) => return Ok(Some((*order, role))),
                Ok(_) => {}
                Err(AgentError::Gone) => return Ok(None),
                Err(e) => return Err(e),
            }
        }
    }

    /// Waits at the barrier: reports that the trial is prepared, then sleeps until the common
    /// start.
    ///
    /// # Errors
    /// The trial was cancelled, or the collector is gone.
    pub fn meet(&self) -> Result<(), AgentError> {
        self.send(&CollectorMessage::Ready)?;
        loop {
            if self.interrupt.fired() {
                return Err(AgentError::CalledOff);
            }
            match self.received() {
                Ok(AgentMessage::Go(at)) => {
                    let left = Duration::from_nanos(at.saturating_sub(monotonic_ns()));
                    std::thread::sleep(left.min(Duration::from_secs(5)));
                    return Ok(());
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(AgentError::Gone),
            }
        }
    }

    /// Reports that this agent's server accepts requests.
    ///
    /// # Errors
    /// The connection broke.
    pub fn serves(&self, served: Served) -> Result<(), AgentError> {
        self.send(&CollectorMessage::Serves(served))
    }

    /// Waits until the clients of this agent's server are done. Returns their start on this node's
    /// monotonic clock; `None` if `over` was set or the collector is gone.
    pub fn done(&self, over: &AtomicBool) -> Option<u64> {
        while !over.load(Ordering::Acquire) {
            match self.received() {
                Ok(AgentMessage::Done(since)) => return Some(since),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    /// Sends this agent's part of the record.
    ///
    /// # Errors
    /// The connection broke.
    pub fn part(&self, part: TrialPart) -> Result<(), AgentError> {
        self.send(&CollectorMessage::Part(Box::new(part)))
    }
}

/// Takes standard input and output for the connection. Programs get /dev/null as their input, and
/// the agent's own output goes to standard error.
fn take_stdio() -> io::Result<(File, File)> {
    let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok((input.into(), output.into()))
}

/// The stream from the collector. A collector that sends signs of life and is silent is gone.
struct Ear {
    stream: File,
    silence: Option<Duration>,
}

impl Read for Ear {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(silence) = self.silence {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let limit = Timespec { tv_sec: silence.as_secs() as i64, tv_nsec: 0 };
            if poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], Some(&limit))? == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        self.stream.read(buffer)
    }
}

/// Connects to the first address that accepts: the name that the collector gave, then the host that
/// ran `srun`, as Slurm knows it.
fn reach(address: &str, host: &str) -> Result<TcpStream, AgentError> {
    let port = address.rsplit(':').next().unwrap_or_default();
    let mut wanted = vec![address.to_owned()];
    if let Ok(from) = std::env::var("SLURM_LAUNCH_NODE_IPADDR") {
        wanted.push(format!("{from}:{port}"));
    }
    let began = Instant::now();
    loop {
        let mut last = io::Error::other("no address");
        for at in &wanted {
            let tried = at.to_socket_addrs().and_then(|mut addresses| {
                let mut failed = io::Error::other("the name has no address");
                addresses
                    .find_map(|a| TcpStream::connect_timeout(&a, TRY).map_err(|e| failed = e).ok())
                    .ok_or(failed)
            });
            match tried {
                Ok(stream) => return Ok(stream),
                Err(e) => last = e,
            }
        }
        if began.elapsed() > REACH {
            let (host, tried) = (host.to_owned(), wanted.join(", "));
            return Err(AgentError::Reach { host, tried, source: last });
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
