//! Reads text traces with one access per line. The format of a line is a function; this module
//! reads, splits lines and reports errors with their position.

use std::io::{self, Read};
use std::path::PathBuf;

use super::{AccessStream, BATCH};
use crate::translation::access::Access;
use crate::translation::error::Error;

/// Maximum length of a line in bytes.
const MAX_LINE: usize = 4096;
const BUFFER: usize = 256 << 10;

/// A line that is not of its format.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{line}` is not a line of {format}")]
pub(super) struct ForeignLine {
    /// Line as from [`shown`].
    pub line: String,
    /// Name of the format, and a hint.
    pub format: &'static str,
}

/// The access of a line, or `None` for a line without one.
pub(super) type ParsedLine = Result<Option<Access>, ForeignLine>;

/// Format of the lines of a trace.
#[derive(Clone, Copy)]
pub(super) struct LineFormat {
    /// Name of the format for messages.
    pub name: &'static str,
    /// Parses one line of a trace.
    pub line: fn(&[u8]) -> ParsedLine,
}

pub(super) struct TextTrace {
    reader: Box<dyn Read>,
    path: PathBuf,
    format: LineFormat,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    line: u64,
}

impl TextTrace {
    pub fn new(reader: Box<dyn Read>, path: PathBuf, format: LineFormat) -> Self {
        TextTrace { reader, path, format, buffer: vec![0; BUFFER], start: 0, end: 0, line: 0 }
    }

    fn bad(&self, reason: String) -> Error {
        let place = format!("line {}", self.line);
        Error::Bad { path: self.path.clone(), place, reason }
    }

    /// Reads more bytes behind the unread ones. Returns false at the end.
    fn fill(&mut self) -> Result<bool, Error> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    return Ok(n > 0);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Io { path: self.path.clone(), source }),
            }
        }
    }
}

impl AccessStream for TextTrace {
    fn next(&mut self, batch: &mut Vec<u64>) -> Result<(), Error> {
        batch.clear();
        while batch.len() + 1 < BATCH {
            let waiting = &self.buffer[self.start..self.end];
            let Some(length) = memchr::memchr(b'\n', waiting) else {
                if waiting.len() > MAX_LINE {
                    self.line += 1;
                    return Err(self.bad(format!(
                        "longer than {MAX_LINE} B: not a line of {}",
                        self.format.name
                    )));
                }
                if self.fill()? {
                    continue;
                }
                if self.start < self.end {
                    let reason = "its last line has no end".to_owned();
                    return Err(Error::Truncated { path: self.path.clone(), reason });
                }
                return Ok(());
            };
            self.line += 1;
            let line = &waiting[..length];
            let read = (self.format.line)(line.strip_suffix(b"\r").unwrap_or(line));
            self.start += length + 1;
            if let Some(access) = read.map_err(|e| self.bad(e.to_string()))? {
                access.pack(batch).map_err(|e| self.bad(e.to_string()))?;
            }
        }
        Ok(())
    }

    fn format(&self) -> &'static str {
        self.format.name
    }
}

/// Parses a hexadecimal number, with or without `0x`.
pub(super) fn hex(digits: &[u8]) -> Option<u64> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.iter().try_fold(0u64, |n, d| Some(n << 4 | u64::from((*d as char).to_digit(16)?)))
}

/// Parses a decimal number of up to nine digits, ignoring surrounding spaces.
pub(super) fn decimal(digits: &[u8]) -> Option<u32> {
    let digits = digits.trim_ascii();
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    digits.iter().try_fold(0u32, |n, d| Some(n * 10 + (*d as char).to_digit(10)?))
}

/// Shortens a line and replaces control characters, for messages.
pub(super) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(60)]);
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}
