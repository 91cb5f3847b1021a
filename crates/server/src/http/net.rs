//! Accepts connections. Limits their number, and the time that a client takes to send a request and
//! to read the response.

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

/// Time limit for receiving the head of a request, the first or the next on the same connection.
const HEAD: Duration = Duration::from_secs(15);
/// Time within which a client must read some part of a response.
const READ: Duration = Duration::from_secs(30);
/// Time to wait for a rejected client to close the connection.
const GOODBYE: Duration = Duration::from_secs(1);
/// Maximum number of headers of a request.
const HEADERS: usize = 64;
/// Maximum size of a connection's buffer, which also holds the headers, in bytes.
const BUFFER: usize = 32 * 1024;

/// Response sent when the connection limit is reached.
const NO_SLOT: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

/// Client of a request: its address and its connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub address: IpAddr,
    pub connection: Arc<Connection>,
}

/// Accepts and serves connections for ever.
pub(crate) async fn serve(listener: TcpListener, router: Router, limits: Limits) {
    let connections = Connections::new(limits);
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Usually too many open files.
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

/// Sends [`NO_SLOT`] and reads the request. If the socket were closed with unread data, the client
/// could lose the response.
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
    // Protocol errors and disconnects of a client are not failures of the server.
    let _ = select(pin!(served), pin!(slot.connection.ended())).await;
}
