//! Requests to a server apart from the load: its version, counters and settings. They are lines of
//! text over a separate connection.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use assay_loadgen::login::{first_request, refusal};
use assay_loadgen::{Config, Protocol};

/// Time limit for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of an answer in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Address of a server that accepts the plain-text protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// TCP address as `host:port`.
    Tcp(String),
    /// Path of a UNIX socket.
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp(address) => f.write_str(address),
            Endpoint::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Counters or settings of a server: name → value.
pub type Stats = BTreeMap<String, String>;

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection for requests about the server itself.
pub struct AdminConnection {
    stream: BufReader<Box<dyn Stream>>,
    /// Bytes that the answer to the last request may still have.
    left: u64,
}

impl AdminConnection {
    /// Connects to a server, with the credentials of `config` if it has any.
    ///
    /// # Errors
    /// Fails if nothing listens at `place`, or if the server refuses the credentials.
    pub fn open(place: &Endpoint, config: &Config) -> io::Result<Self> {
        let stream: Box<dyn Stream> = match place {
            Endpoint::Tcp(address) => {
                let address = address.to_socket_addrs()?.next().ok_or_else(|| {
                    io::Error::new(io::ErrorKind::NotFound, "the name has no address")
                })?;
                let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                Box::new(stream)
            }
            Endpoint::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                Box::new(stream)
            }
        };
        let mut talk = AdminConnection { stream: BufReader::new(stream), left: 0 };
        let plain = if config.protocol.is_resp() { Protocol::Resp2 } else { Protocol::Text };
        let login = first_request(plain, config.credentials.as_ref());
        if login.is_empty() {
            return Ok(talk);
        }
        talk.ask(&login)?;
        match talk.line()?.as_str() {
            "+OK" | "STORED" => Ok(talk),
            line => Err(unexpected_answer(&String::from_utf8_lossy(refusal(line.as_bytes())))),
        }
    }

    /// Sends a request to the server.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn ask(&mut self, question: impl AsRef<[u8]>) -> io::Result<()> {
        self.left = MAX_BYTES;
        let stream = self.stream.get_mut();
        stream.write_all(question.as_ref())?;
        stream.flush()
    }

    /// Reads the next line of an answer, without its end.
    ///
    /// # Errors
    /// The connection is lost, the answer is late, or it is longer than 1 MiB.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.left -= (&mut self.stream).take(self.left).read_until(b'\n', &mut line)? as u64;
        match line.last() {
            Some(b'\n') => {
                Ok(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())
            }
            _ if self.left == 0 => Err(unexpected_answer(&String::from_utf8_lossy(&line))),
            _ => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection")),
        }
    }
}

/// Creates an error about an answer that no server of this kind gives.
pub fn unexpected_answer(line: &str) -> io::Error {
    let shown: String = line.chars().take(80).collect();
    io::Error::new(io::ErrorKind::InvalidData, format!("it answered `{shown}`"))
}

/// Returns the remedy if `message` has a refusal for the lack of a password, or of this one.
pub fn login_remedy(message: &str, config: &Config) -> Option<&'static str> {
    let refusals = ["NOAUTH", "WRONGPASS", "unauthenticated", "authentication failure", "password"];
    refusals.iter().any(|part| message.contains(part)).then_some(match &config.credentials {
        None => "the server requires a password; set `auth.password_file` to a file that has it",
        Some(_) => "check `auth.user` and the file `auth.password_file`",
    })
}

/// Returns a counter, or `None` if the server has none of that name.
pub fn count(stats: &Stats, name: &str) -> Option<u64> {
    stats.get(name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Starts a server that sends `text` to the first client.
    fn says(text: &'static str) -> (tempfile::TempDir, Endpoint) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut question = [0; 64];
            let _ = stream.read(&mut question);
            let _ = stream.write_all(text.as_bytes());
        });
        (dir, Endpoint::Unix(path))
    }

    #[test]
    fn lines_are_read_up_to_the_end_of_the_connection() {
        let (_dir, place) = says("STAT x 1\r\nEND\r\ncut");
        let mut talk = AdminConnection::open(&place, &Config::default()).unwrap();
        talk.ask("stats\r\n").unwrap();
        assert_eq!((talk.line().unwrap(), talk.line().unwrap()), ("STAT x 1".into(), "END".into()));
        assert!(talk.line().unwrap_err().to_string().contains("closed"));
        assert!(
            AdminConnection::open(&Endpoint::Unix("/nonexistent".into()), &Config::default())
                .is_err()
        );
    }
}
