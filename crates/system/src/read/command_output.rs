//! Runs a program to its end and reads its output, within a time limit.

use std::io::{self, Read};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of bytes that are returned of each stream.
const MAX_OUTPUT: u64 = 16 << 20;

/// Runs a program without standard input, and returns its status and output. The program is
/// killed at the time limit, and when `stopped` returns true; the result is then `None`.
///
/// # Errors
/// The program cannot be started.
pub fn output_within(
    command: &mut Command,
    limit: Duration,
    stopped: impl Fn() -> bool,
) -> io::Result<Option<Output>> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take().map(drain), child.stderr.take().map(drain));
    let until = Instant::now() + limit;
    let mut pause = Duration::from_micros(100);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < until && !stopped() => {
                // Meters run programs during a trial, so this thread wakes rarely for a slow one.
                thread::sleep(pause);
                pause = (2 * pause).min(Duration::from_millis(10));
            }
            Ok(None) | Err(_) => {
                // The program may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
        }
    };
    let receive = |from: Option<Receiver<Vec<u8>>>| {
        let left = until.saturating_duration_since(Instant::now());
        from.and_then(|from| from.recv_timeout(left).ok()).unwrap_or_default()
    };
    Ok(Some(Output { status, stdout: receive(stdout), stderr: receive(stderr) }))
}

/// Reads to the end on a thread of its own, so that a program that leaves a child with its output
/// open cannot block the caller.
fn drain(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
        let _ = send.send(bytes);
        let _ = io::copy(&mut from, &mut io::sink());
    });
    receive
}
