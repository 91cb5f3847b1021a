//! Connections: how many there are, how long a client may take to ask and to read.

use std::future::{Future as _, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep, sleep};
use tower_service::Service;

use crate::connections::{Connection, Connections, Limits, Slot};

/// The head of a request must be there within this time, and the next one on the same connection.
const HEAD: Duration = Duration::from_secs(15);
/// A client must take some of an answer within this time.
const READ: Duration = Duration::from_secs(30);
/// One who is turned away is waited for this long.
const GOODBYE: Duration = Duration::from_secs(1);
/// The most headers of a request, and the buffer for them.
const HEADERS: usize = 64;
const BUFFER: usize = 32 * 1024;

/// What one hears for whom there is no slot.
const NO_SLOT: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

/// Who asks, over which connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub address: IpAddr,
    pub connection: Arc<Connection>,
}

/// Serves for ever.
pub(crate) async fn serve(listener: TcpListener, router: Router, limits: Limits) {
    let connections = Connections::new(limits);
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Too many open files.
            connections.make_room();
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        if let Some(slot) = connections.take(peer.ip()) {
            tokio::spawn(connection(stream, peer.ip(), router.clone(), slot));
        } else {
            tokio::spawn(turn_away(stream));
        }
    }
}

/// Says that there is no slot, and reads what was asked: what is left unread would take the answer back.
async fn turn_away(stream: TcpStream) {
    let closing = async {
        stream.writable().await?;
        stream.try_write(NO_SLOT)?;
        let mut bytes = [0; 1024];
        loop {
            stream.readable().await?;
            match stream.try_read(&mut bytes) {
                Ok(0) => return Ok(()),
                Err(e) if e.kind() != io::ErrorKind::WouldBlock => return Err(e),
                Ok(_) | Err(_) => {}
            }
        }
    };
    let _: Result<io::Result<()>, _> = tokio::time::timeout(GOODBYE, closing).await;
}

async fn connection(stream: TcpStream, address: IpAddr, router: Router, slot: Slot) {
    let _ = stream.set_nodelay(true);
    let peer = Peer { address, connection: Arc::clone(&slot.connection) };
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer.clone());
        let mut router = router.clone();
        async move { Service::call(&mut router, request.map(Body::new)).await }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_headers(HEADERS)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(Patient::new(stream)), service);
    let (mut served, mut ended) = (pin!(served), pin!(slot.connection.ended()));
    // A client that breaks the rules or goes away is no failure of the server.
    poll_fn(|context| {
        let over =
            served.as_mut().poll(context).is_ready() || ended.as_mut().poll(context).is_ready();
        if over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// A stream whose reader may not stall for ever.
struct Patient {
    stream: TcpStream,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream) -> Self {
        Patient { stream, stalled: None }
    }

    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + READ)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
