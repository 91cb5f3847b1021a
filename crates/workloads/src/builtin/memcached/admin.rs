//! Requests to a memcached apart from the load: its version, counters and settings. Uses the text
//! protocol over a separate connection.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

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

/// Answer to `stats`: name → value.
pub type Stats = BTreeMap<String, String>;

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection for requests about the server itself.
pub struct AdminConnection(BufReader<Box<dyn Stream>>);

impl AdminConnection {
    /// Connects to a server.
    ///
    /// # Errors
    /// Fails if nothing listens at `place`.
    pub fn open(place: &Endpoint) -> io::Result<Self> {
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
        Ok(AdminConnection(BufReader::new(stream)))
    }

    fn ask(&mut self, question: &str) -> io::Result<()> {
        let stream = self.0.get_mut();
        stream.write_all(question.as_bytes())?;
        stream.flush()
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        (&mut self.0).take(MAX_BYTES).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection"));
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Returns the version, such as `1.6.18`.
    ///
    /// # Errors
    /// Fails if the server does not answer or the answer is not memcached's.
    pub fn version(&mut self) -> io::Result<String> {
        self.ask("version\r\n")?;
        let line = self.line()?;
        line.strip_prefix("VERSION ").map(str::to_owned).ok_or_else(|| strange(&line))
    }

    /// Returns the server's counters (`which` is `""`) or its settings (`"settings"`).
    ///
    /// # Errors
    /// Fails if the server does not answer or the answer is not memcached's.
    pub fn stats(&mut self, which: &str) -> io::Result<Stats> {
        self.ask(&format!("{}\r\n", format!("stats {which}").trim_end()))?;
        let mut stats = Stats::new();
        let mut length = 0;
        loop {
            let line = self.line()?;
            if line == "END" {
                return Ok(stats);
            }
            length += line.len() as u64;
            let words = line.strip_prefix("STAT ").filter(|_| length < MAX_BYTES);
            let words = words.ok_or_else(|| strange(&line))?;
            let (name, value) = words.split_once(' ').unwrap_or((words, ""));
            stats.insert(name.to_owned(), value.to_owned());
        }
    }
}

fn strange(line: &str) -> io::Error {
    let shown: String = line.chars().take(80).collect();
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("it answered `{shown}`, which memcached never does"),
    )
}

/// Returns a counter, or `None` if the server has none of that name.
pub fn count(stats: &Stats, name: &str) -> Option<u64> {
    stats.get(name)?.parse().ok()
}

/// Returns the server's CPU time so far in seconds, from its own counters.
pub fn cpu_s(stats: &Stats) -> Option<f64> {
    let seconds = |name: &str| stats.get(name)?.parse::<f64>().ok();
    Some(seconds("rusage_user")? + seconds("rusage_system")?)
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
    fn counts_are_read() {
        let (_dir, place) = says(
            "STAT get_hits 12\r\nSTAT rusage_user 0.5\r\nSTAT rusage_system 0.25\r\nSTAT x\r\nEND\r\n",
        );
        let stats = AdminConnection::open(&place).unwrap().stats("").unwrap();
        assert_eq!(count(&stats, "get_hits"), Some(12));
        assert_eq!(count(&stats, "x"), None);
        assert_eq!(cpu_s(&stats), Some(0.75));
    }

    #[test]
    fn what_is_no_memcached_is_reported() {
        for (text, word) in [("220 smtp\r\n", "smtp"), ("", "closed"), ("STAT a 1\r\n", "closed")] {
            let (_dir, place) = says(text);
            let error = AdminConnection::open(&place).unwrap().stats("").unwrap_err().to_string();
            assert!(error.contains(word), "{text:?}: {error}");
        }
        let (_dir, place) = says("VERSION 1.6.18\r\n");
        assert_eq!(AdminConnection::open(&place).unwrap().version().unwrap(), "1.6.18");
        assert!(AdminConnection::open(&Endpoint::Unix("/nonexistent".into())).is_err());
    }
}
