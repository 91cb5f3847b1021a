//! Connections: how many there are, how long a client may take to ask and to read.

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use futures_util::future::select;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_io_timeout::TimeoutWriter;
use tower_service::Service;

use crate::http::connections::{Connection, Connections, Limits, Slot};

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
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(READ));
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
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    // A client that breaks the rules or goes away is no failure of the server.
    let _ = select(pin!(served), pin!(slot.connection.ended())).await;
}
