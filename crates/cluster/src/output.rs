//! The last output of a program that the collector started.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes kept of the output.
const KEPT: usize = 16 << 10;

/// The last output of a program, read by a thread for each stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramOutput(Arc<Mutex<Vec<u8>>>);

impl ProgramOutput {
    /// Reads a stream to its end. Without a reader the pipe would fill up.
    pub fn read<R: Read + Send + 'static>(&self, stream: Option<R>) {
        let Some(mut stream) = stream else { return };
        let bytes = Arc::clone(&self.0);
        let listen = move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend_from_slice(&buffer[..n]);
                let much = bytes.len().saturating_sub(KEPT);
                bytes.drain(..much);
            }
        };
        let thread = std::thread::Builder::new().name("output".into()).stack_size(128 << 10);
        let _ = thread.spawn(listen);
    }

    /// Returns the output so far.
    pub fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
