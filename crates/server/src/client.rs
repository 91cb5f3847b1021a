//! HTTP client for the command line: one small request at a time over a plain socket.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::http::token;

/// Maximum size of a response that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// Timeout of each read. Longer than the longest wait that the server allows (60 s).
const TIMEOUT: Duration = Duration::from_secs(75);

/// Client for one server, with the token to use there.
#[derive(Clone)]
pub struct Client {
    /// `host:port` of the server.
    address: String,
    token: String,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Error of a request to a server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No server was given, and the state folder names no running one. Holds the path of the file
    /// that would name it.
    #[error("no server found ({}): start one with `assay serve`, or give its address with --server \
        HOST:PORT", .0.display())]
    NoServer(PathBuf),
    /// No token was given, and the token file of the state folder cannot be read. Holds its path.
    #[error("no token for the server ({}): set ASSAY_TOKEN", .0.display())]
    NoToken(PathBuf),
    /// The server cannot be reached, or the connection failed.
    #[error("cannot reach the server at {address}: {source}; is `assay serve` running there?")]
    Connection { address: String, source: io::Error },
    /// The response is not JSON over HTTP.
    #[error("{address} is not an assay server: {what}")]
    Format { address: String, what: String },
    /// The server refused the request.
    #[error("{message}")]
    Refused {
        /// Status code of the HTTP response.
        status: u16,
        /// Error message of the server.
        message: String,
    },
}

/// Returns the path of the file that holds the address of a state folder's server.
pub(crate) fn address_file(state_dir: &Path) -> PathBuf {
    state_dir.join("serve.address")
}

/// Returns the text of that file: an address that clients can connect to. An unspecified address
/// (`0.0.0.0`, `::`) is replaced by the loopback address.
pub(crate) fn address_text(address: SocketAddr) -> String {
    let mut callable = address;
    if address.ip().is_unspecified() {
        callable.set_ip(match address {
            SocketAddr::V4(_) => [127, 0, 0, 1].into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("{callable}\n")
}

impl Client {
    /// Creates a client for `server`, or for the server of `state_dir` if it is `None`. The token
    /// is `token`, or the one stored in `state_dir`.
    ///
    /// # Errors
    /// No server is given or recorded, or no token can be read.
    pub fn find(
        state_dir: &Path,
        server: Option<&str>,
        token: Option<&str>,
    ) -> Result<Self, ClientError> {
        let read = |path: &Path| std::fs::read_to_string(path).map(|t| t.trim().to_owned());
        let place = address_file(state_dir);
        let address = match server {
            Some(server) => server.trim_start_matches("http://").trim_end_matches('/').to_owned(),
            None => read(&place).map_err(|_| ClientError::NoServer(place))?,
        };
        let path = token::token_file(state_dir);
        let token = match token {
            Some(token) => token.trim().to_owned(),
            None => read(&path).map_err(|_| ClientError::NoToken(path))?,
        };
        Ok(Client { address, token })
    }

    /// Sends `GET /api/v1/{path}` and returns the JSON of the response.
    ///
    /// # Errors
    /// The server cannot be reached, refuses the request, or does not answer with JSON over HTTP.
    pub fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.send("GET", path, None)
    }

    /// Sends `POST /api/v1/{path}` with a JSON body and returns the JSON of the response.
    ///
    /// # Errors
    /// The same errors as [`Client::get`].
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        self.send("POST", path, Some(body))
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        let address = &self.address;
        let talk = |source| ClientError::Connection { address: address.clone(), source };
        let odd = |what: &str| ClientError::Format { address: address.clone(), what: what.into() };
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut request = format!(
            "{method} /api/v1/{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
            Connection: close\r\n",
            self.token
        );
        if method == "POST" {
            let _ = write!(
                request,
                "Content-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            );
        }
        request.push_str("\r\n");
        request.push_str(&body);
        let to = address.to_socket_addrs().map_err(talk)?.next();
        let to = to.ok_or_else(|| talk(io::ErrorKind::NotFound.into()))?;
        let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(10)).map_err(talk)?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(talk)?;
        stream.write_all(request.as_bytes()).map_err(talk)?;
        let mut answer = Vec::new();
        stream.take(MAX_BYTES).read_to_end(&mut answer).map_err(talk)?;
        let (status, body) = parse(&answer).ok_or_else(|| odd("its response is not HTTP"))?;
        let json: Value =
            serde_json::from_slice(body).map_err(|_| odd("its response is not JSON"))?;
        if (200..300).contains(&status) {
            return Ok(json);
        }
        let message = json["error"]["message"]
            .as_str()
            .unwrap_or("the server refused the request without a reason");
        Err(ClientError::Refused { status, message: message.to_owned() })
    }
}

/// Returns the status and the body of a response. `None` if it is not HTTP/1.1, or if its body is
/// shorter than its `Content-Length`.
fn parse(answer: &[u8]) -> Option<(u16, &[u8])> {
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    let length: usize = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, n)| n.trim().parse().ok())?;
    let body = answer.get(end + 4..end + 4 + length)?;
    Some((status, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_whole_or_not_at_all() {
        let good = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(parse(good), Some((404, b"{}".as_slice())));
        assert_eq!(parse(&good[..good.len() - 1]), None);
        assert_eq!(parse(b"SSH-2.0-x\r\n\r\n"), None);
    }

    #[test]
    fn an_address_that_listens_everywhere_is_called_here() {
        assert_eq!(address_text("0.0.0.0:80".parse().unwrap()), "127.0.0.1:80\n");
        assert_eq!(address_text("[::1]:80".parse().unwrap()), "[::1]:80\n");
    }
}
