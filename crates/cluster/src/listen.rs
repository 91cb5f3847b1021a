//! The collector's listener: agents connect and show the token; a thread for each reads its
//! messages and records their time of arrival.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use assay_system::clock::monotonic_ns;
use rustix::net::sockopt;

use crate::ClusterError;
use crate::error::Result;
use crate::message::{CollectorMessage, Hello, PROTOCOL};
use crate::wire::{self, MAX_MESSAGE, STRANGER};

/// Maximum time for a peer to show the token after it connected.
const INTRODUCE: Duration = Duration::from_secs(10);
/// Maximum number of peers that have not shown the token yet.
const STRANGERS: usize = 1024;
/// TCP keepalive: idle time before the first probe, interval of the probes, and number of failed
/// probes before the connection is closed. The kernel does this without waking a process of assay.
const SILENT: Duration = Duration::from_secs(10);
const ASK: Duration = Duration::from_secs(5);
const GIVE_UP: u32 = 3;

/// Events on the connections to agents.
#[derive(Debug)]
pub(crate) enum AgentEvent {
    /// An agent connected and showed the token; its socket.
    Connected(Hello, File),
    /// A message from an agent (its rank), with its time of arrival in ns of `CLOCK_MONOTONIC`.
    Message(usize, CollectorMessage, u64),
    /// An agent (its rank) disconnected; the reason may be empty.
    Gone(usize, String),
}

/// Accepts connections until it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Listener {
    /// Listens on `at` (`None`: every address of this machine) at a free port.
    pub fn open(at: Option<&str>, token: &str, sender: Sender<AgentEvent>) -> Result<Self> {
        let wanted = at.unwrap_or("0.0.0.0").to_owned();
        let failed = |source| ClusterError::Listen { address: wanted.clone(), source };
        let listener = TcpListener::bind((wanted.as_str(), 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, token) = (Arc::clone(&stop), token.to_owned());
        std::thread::Builder::new()
            .name("agents".into())
            .spawn(move || accept(&listener, &flag, &token, &sender))
            .map_err(failed)?;
        Ok(Listener { address, stop })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Connects once to wake the thread that waits in `accept`.
        let ip = if self.address.ip().is_unspecified() {
            std::net::Ipv4Addr::LOCALHOST.into()
        } else {
            self.address.ip()
        };
        let _ = TcpStream::connect_timeout(&(ip, self.address.port()).into(), SILENT);
    }
}

fn accept(listener: &TcpListener, stop: &AtomicBool, token: &str, sender: &Sender<AgentEvent>) {
    let strangers = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stop.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            // Most likely out of file descriptors: others may be closed meanwhile.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        if strangers.fetch_add(1, Ordering::AcqRel) >= STRANGERS {
            strangers.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let (token, sender, count) = (token.to_owned(), sender.clone(), Arc::clone(&strangers));
        let thread = std::thread::Builder::new().name("agent".into()).stack_size(256 << 10);
        let thread = thread.spawn(move || {
            let agent = introduce(stream, &token);
            count.fetch_sub(1, Ordering::AcqRel);
            // A peer without the token gets no response.
            if let Ok((hello, stream)) = agent {
                attend(hello, File::from(OwnedFd::from(stream)), &sender);
            }
        });
        if thread.is_err() {
            strangers.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Disables Nagle's algorithm and enables keepalive, to detect a peer that is gone.
pub(crate) fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, SILENT)?;
    sockopt::set_tcp_keepintvl(stream, ASK)?;
    sockopt::set_tcp_keepcnt(stream, GIVE_UP)?;
    Ok(())
}

fn introduce(mut stream: TcpStream, token: &str) -> io::Result<(Hello, TcpStream)> {
    tune(&stream)?;
    stream.set_read_timeout(Some(INTRODUCE))?;
    let hello = match wire::receive(&mut stream, STRANGER)? {
        Some(CollectorMessage::Hello(hello)) if same(&hello.token, token) => hello,
        _ => return Err(io::ErrorKind::PermissionDenied.into()),
    };
    stream.set_read_timeout(None)?;
    Ok((hello, stream))
}

/// Compares two texts in a time that does not depend on the position of the first difference.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Announces an agent and passes on its messages until its connection ends.
pub(crate) fn attend(hello: Hello, mut stream: File, sender: &Sender<AgentEvent>) {
    let rank = hello.rank;
    let Ok(ours) = stream.try_clone() else { return };
    if hello.protocol != PROTOCOL {
        let _ = sender.send(AgentEvent::Connected(hello, ours));
        return;
    }
    let _ = sender.send(AgentEvent::Connected(hello, ours));
    loop {
        let received = wire::receive(&mut stream, MAX_MESSAGE);
        let now = monotonic_ns();
        let (word, last) = match received {
            Ok(Some(message)) => (AgentEvent::Message(rank, message, now), false),
            Ok(None) => (AgentEvent::Gone(rank, String::new()), true),
            Err(e) => (AgentEvent::Gone(rank, e.to_string()), true),
        };
        if sender.send(word).is_err() || last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn hello(token: &str) -> CollectorMessage {
        CollectorMessage::Hello(Hello {
            protocol: PROTOCOL,
            version: "1".into(),
            token: token.into(),
            rank: 3,
            node: "n1".into(),
            local: 0,
            host: "h".into(),
            pid: 1,
            job: "7".into(),
        })
    }

    #[test]
    fn only_those_with_the_token_are_received() {
        let (sender, events) = channel();
        let listening = Listener::open(Some("127.0.0.1"), "secret", sender).unwrap();
        let mut stranger = TcpStream::connect(listening.address).unwrap();
        wire::send(&mut stranger, &hello("secres")).unwrap();
        let nobody: Option<CollectorMessage> = wire::receive(&mut stranger, 100).unwrap_or(None);
        assert_eq!(nobody, None, "it is shown out");
        let mut friend = TcpStream::connect(listening.address).unwrap();
        wire::send(&mut friend, &hello("secret")).unwrap();
        assert!(matches!(events.recv().unwrap(), AgentEvent::Connected(h, _) if h.rank == 3));
        wire::send(&mut friend, &CollectorMessage::Ready).unwrap();
        assert!(matches!(
            events.recv().unwrap(),
            AgentEvent::Message(3, CollectorMessage::Ready, _)
        ));
        drop(friend);
        assert!(matches!(events.recv().unwrap(), AgentEvent::Gone(3, _)));
        drop(listening);
        assert!(events.recv().is_err(), "nobody listens any more");
    }
}
