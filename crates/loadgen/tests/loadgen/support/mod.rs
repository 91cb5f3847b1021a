//! Servers for the tests: a real memcached if one is installed, and fakes that follow a script.
#![allow(dead_code)] // each test binary uses its part
#![allow(clippy::unwrap_used, clippy::print_stderr)] // tests, though not marked as such

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use assay_loadgen::sizes::Sizes;
use assay_loadgen::{Config, Mix, SizeClass, Target};

/// A memcached process of this test, ended on drop.
pub struct Memcached {
    child: Child,
    pub target: Target,
    _folder: tempfile::TempDir,
}

impl Memcached {
    /// Starts one on a UNIX socket; `None` (with a message) if memcached is not installed.
    pub fn unix(arguments: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let socket = path.clone();
        let ready = move || UnixStream::connect(&socket).is_ok();
        let target = Target::Unix(path.clone());
        Self::start(&[&["-s", path.to_str().unwrap()], arguments].concat(), target, folder, ready)
    }

    /// Starts one on a port that was free a moment ago.
    pub fn tcp(arguments: &[&str]) -> Option<Self> {
        let address = free_address();
        let port = address.rsplit(':').next().unwrap().to_owned();
        let target = Target::Tcp(address.clone());
        let ready = move || TcpStream::connect(&address).is_ok();
        let folder = tempfile::tempdir().unwrap();
        let arguments = [&["-l", "127.0.0.1", "-U", "0", "-p", &port], arguments].concat();
        Self::start(&arguments, target, folder, ready)
    }

    fn start(
        arguments: &[&str],
        target: Target,
        folder: tempfile::TempDir,
        ready: impl Fn() -> bool,
    ) -> Option<Self> {
        let mut command = Command::new("memcached");
        command.args(["-t", "1"]).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "root"]);
        }
        let Ok(mut child) = command.spawn() else {
            eprintln!("skipped: because memcached is not installed");
            return None;
        };
        let until = Instant::now() + Duration::from_secs(100);
        while !ready() {
            assert!(child.try_wait().unwrap().is_none(), "memcached ended: {command:?}");
            assert!(Instant::now() < until, "memcached does not listen: {command:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(Memcached { child, target, _folder: folder })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns one value of the `stats` command.
    pub fn stat(&self, name: &str) -> u64 {
        let lines = match &self.target {
            Target::Unix(path) => stats(UnixStream::connect(path).unwrap()),
            Target::Tcp(address) | Target::Tls { address, .. } => {
                stats(TcpStream::connect(address).unwrap())
            }
        };
        let head = format!("STAT {name} ");
        let line = lines.iter().find_map(|l| l.strip_prefix(&head));
        line.unwrap_or_else(|| panic!("no {name} in {lines:?}")).parse().unwrap()
    }
}

fn stats(mut stream: impl Read + Write) -> Vec<String> {
    stream.write_all(b"stats\r\n").unwrap();
    let lines = BufReader::new(stream).lines().map(|l| l.unwrap());
    lines.take_while(|l| l != "END").collect()
}

impl Drop for Memcached {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Starts a server that passes each connection to `serve` on a thread of its own. Threads end with
/// their connections, the listening thread with the test process.
pub fn fake(serve: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::Tcp(listener.local_addr().unwrap().to_string());
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream, number));
        }
    });
    target
}

/// A request as the fake server sees it.
pub enum Request {
    Get(String),
    Set(String, Vec<u8>),
}

/// Reads text requests until the connection ends.
pub fn requests(stream: &TcpStream) -> impl Iterator<Item = Request> + use<> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    std::iter::from_fn(move || {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["get", key] => Some(Request::Get(key.to_owned())),
            ["set", key, _, _, length] => {
                let mut value = vec![0; length.parse::<usize>().unwrap() + 2];
                reader.read_exact(&mut value).ok()?;
                value.truncate(value.len() - 2);
                Some(Request::Set(key.to_owned(), value))
            }
            _ => panic!("not a request: {line:?}"),
        }
    })
}

/// Returns a short run with few keys on one thread.
pub fn quick(target: &Target) -> Config {
    Config {
        target: target.clone(),
        connections: 4,
        ramp_up: Duration::from_millis(50),
        steady: Duration::from_millis(300),
        ramp_down: Duration::from_millis(50),
        bin: Duration::from_millis(10),
        mix: Mix { keys: 500, ..Mix::default() },
        ..Config::default()
    }
}

/// Returns one class of values with a fixed length.
pub fn one_length(length: u32) -> Vec<SizeClass> {
    vec![SizeClass { name: "all".to_owned(), sizes: Sizes::uniform(length, length), share: 1.0 }]
}

pub fn never() -> AtomicBool {
    AtomicBool::new(false)
}

pub fn in_folder(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}
