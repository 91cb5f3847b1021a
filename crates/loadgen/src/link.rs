//! Byte stream of a connection: plain (TCP or UNIX) or TLS, non-blocking once it is open.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::config::Target;
use crate::tls::{Settings, TlsLink};
use crate::{Error, tls};

/// A server with its resolved address and its TLS settings.
#[derive(Debug, Clone)]
pub struct ServerEndpoint {
    /// Name of the server in messages.
    pub name: String,
    endpoint: Endpoint,
    tls: Option<Arc<Settings>>,
}

#[derive(Debug, Clone)]
enum Endpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl ServerEndpoint {
    /// Resolves a target. If it has several addresses, the first one that accepts a connection is
    /// used.
    ///
    /// # Errors
    /// [`Error::Resolve`], [`Error::Connect`], [`Error::Tls`] or [`Error::Authorities`].
    pub fn new(target: &Target, timeout: Duration) -> Result<Self, Error> {
        let (name, endpoint) = match target {
            Target::Unix(path) => (path.display().to_string(), Endpoint::Unix(path.clone())),
            Target::Tcp(address) | Target::Tls { address, .. } => {
                (address.clone(), Endpoint::Tcp(resolve(address, timeout)?))
            }
        };
        let tls = match target {
            Target::Tls { name, trust, .. } => Some(Arc::new(tls::settings(name, trust)?)),
            _ => None,
        };
        Ok(ServerEndpoint { name, endpoint, tls })
    }

    /// True if the kernel can hold back readiness until a number of bytes has arrived.
    pub fn has_low_water(&self) -> bool {
        matches!(self.endpoint, Endpoint::Tcp(_)) && self.tls.is_none()
    }

    /// True if connections use TLS.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Opens a connection and waits until it is open, including the TLS handshake.
    ///
    /// # Errors
    /// An error of the kernel or of TLS; the latter as [`ErrorKind::InvalidData`].
    pub fn open(&self, timeout: Duration) -> io::Result<Link> {
        let fd: OwnedFd = match &self.endpoint {
            Endpoint::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, timeout)?;
                stream.set_nodelay(true)?;
                stream.into()
            }
            Endpoint::Unix(path) => UnixStream::connect(path)?.into(),
        };
        let link = match &self.tls {
            None => Link::Plain(fd),
            Some(settings) => Link::Tls(Box::new(TlsLink::open(fd, settings, timeout)?)),
        };
        rustix::io::ioctl_fionbio(link.as_fd(), true)?;
        Ok(link)
    }

    /// Starts to open a connection. It is open when it becomes writable; [`Link::opened`] returns
    /// the result. TLS shakes hands with the first bytes.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn begin(&self) -> io::Result<Link> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = match &self.endpoint {
            Endpoint::Tcp(address) => {
                let v4 = address.is_ipv4();
                let family = if v4 { AddressFamily::INET } else { AddressFamily::INET6 };
                let fd = net::socket_with(family, SocketType::STREAM, flags, None)?;
                net::sockopt::set_tcp_nodelay(&fd, true)?;
                in_progress(net::connect(&fd, address))?;
                fd
            }
            Endpoint::Unix(path) => {
                let fd = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
                in_progress(net::connect(&fd, &net::SocketAddrUnix::new(path.as_path())?))?;
                fd
            }
        };
        Ok(match &self.tls {
            None => Link::Plain(fd),
            Some(settings) => Link::Tls(Box::new(TlsLink::begin(fd, settings)?)),
        })
    }
}

fn in_progress(result: rustix::io::Result<()>) -> io::Result<()> {
    match result {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

fn resolve(address: &str, timeout: Duration) -> Result<SocketAddr, Error> {
    let failed = |source| Error::Resolve { address: address.to_owned(), source };
    let found: Vec<SocketAddr> = address.to_socket_addrs().map_err(failed)?.collect();
    let Some(first) = found.first() else {
        return Err(failed(io::Error::new(ErrorKind::NotFound, "no address")));
    };
    // `localhost` may resolve to ::1 first while the server listens on 127.0.0.1 only.
    let answers = |a: &&SocketAddr| TcpStream::connect_timeout(a, timeout).is_ok();
    Ok(if found.len() == 1 { *first } else { *found.iter().find(answers).unwrap_or(first) })
}

/// The byte stream of one connection.
#[derive(Debug)]
pub enum Link {
    /// TCP or UNIX socket.
    Plain(OwnedFd),
    /// TLS over a TCP connection.
    Tls(Box<TlsLink>),
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Link::Plain(fd) => fd.as_fd(),
            Link::Tls(tls) => tls.as_fd(),
        }
    }
}

impl Link {
    /// Checks that a connection that was started is open.
    ///
    /// # Errors
    /// The reason why it could not be opened.
    pub fn opened(&self) -> io::Result<()> {
        Ok(net::sockopt::socket_error(self.as_fd())??)
    }

    /// Sends as many bytes as the kernel accepts now.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if it accepts none; any other error means that the connection is
    /// lost.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Link::Plain(fd) => Ok(net::send(fd, bytes, SendFlags::NOSIGNAL)?),
            Link::Tls(tls) => tls.send(bytes),
        }
    }

    /// Receives the available bytes; 0 is the end of the stream.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if none are available; any other error means that the connection
    /// is lost.
    #[inline]
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Link::Plain(fd) => Ok(net::recv(fd, into, RecvFlags::empty())?.0),
            Link::Tls(tls) => tls.receive(into),
        }
    }

    /// True if a receive that did not fill the buffer has emptied the socket.
    #[inline]
    pub fn short_is_empty(&self) -> bool {
        matches!(self, Link::Plain(_))
    }

    /// Sends the bytes that TLS has encrypted. Returns true if none remain.
    ///
    /// # Errors
    /// The connection is lost.
    #[inline]
    pub fn flush(&mut self) -> io::Result<bool> {
        match self {
            Link::Plain(_) => Ok(true),
            Link::Tls(tls) => tls.flush(),
        }
    }
}
