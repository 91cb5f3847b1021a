//! The last output and the end of a program that the collector started.

use std::io::Read;
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Waits for the end of a program; returns false if the limit comes first.
pub(crate) fn ended_within(child: &mut Child, limit: Duration) -> bool {
    let began = Instant::now();
    while !matches!(child.try_wait(), Ok(Some(_))) {
        if began.elapsed() >= limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Bytes kept of the output.
const KEPT: usize = 16 << 10;

/// The last output of a program, read by a thread for each stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramOutput {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Number of streams that are still read.
    open: Arc<AtomicUsize>,
}

impl ProgramOutput {
    /// Reads a stream to its end. Without a reader the pipe would fill up.
    pub fn read<R: Read + Send + 'static>(&self, stream: Option<R>) {
        let Some(mut stream) = stream else { return };
        let (bytes, open) = (Arc::clone(&self.bytes), Arc::clone(&self.open));
        open.fetch_add(1, Ordering::AcqRel);
        let listen = move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend_from_slice(&buffer[..n]);
                let much = bytes.len().saturating_sub(KEPT);
                bytes.drain(..much);
            }
            open.fetch_sub(1, Ordering::AcqRel);
        };
        let thread = std::thread::Builder::new().name("output".into()).stack_size(128 << 10);
        if thread.spawn(listen).is_err() {
            self.open.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Waits until every stream was read to its end, at most this long: a program that ended may
    /// have left another one that holds them open.
    pub fn wait(&self, limit: Duration) {
        let began = Instant::now();
        while self.open.load(Ordering::Acquire) > 0 && began.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the output so far.
    pub fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the last lines on one line; `None` if nothing was printed.
    pub fn last_words(&self) -> Option<String> {
        let words = last_words(&self.text());
        (words != NO_OUTPUT).then_some(words)
    }
}

/// Text used for a program without output.
pub(crate) const NO_OUTPUT: &str = "it printed nothing";

/// Joins the last lines of a program's output.
pub(crate) fn last_words(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let from = lines.len().saturating_sub(3);
    let words: String = lines[from..].join("; ").chars().take(400).collect();
    if words.is_empty() { NO_OUTPUT.to_owned() } else { words }
}
