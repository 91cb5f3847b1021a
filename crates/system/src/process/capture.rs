//! Keeps the beginning and the end of a program's output up to a limit, and counts the bytes in
//! between. Also splits the stream of the metrics protocol into lines.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

const CHUNK: usize = 64 * 1024;
/// Maximum length of a line of the metrics protocol in bytes: enough for a histogram in base64, but
/// a limit for a runaway program.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
pub struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    tail_start: usize,
    half: usize,
    total: u64,
    chunk: Vec<u8>,
    /// Number of bytes in `chunk` from the last read.
    filled: usize,
}

impl Capture {
    /// Clears the last stream; keeps at most `keep_bytes` of the next one.
    pub fn reset(&mut self, keep_bytes: usize) {
        self.head.clear();
        self.tail.clear();
        self.tail_start = 0;
        self.half = keep_bytes / 2;
        self.total = 0;
    }

    /// Returns the number of bytes in the stream.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of bytes that are kept.
    pub fn kept(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64
    }

    /// Returns the kept bytes. If the middle was left out, a line in its place states its size.
    pub fn bytes(&self) -> Vec<u8> {
        if self.total == 0 {
            return Vec::new();
        }
        let mut all = Vec::with_capacity(self.head.len() + self.tail.len() + 64);
        all.extend_from_slice(&self.head);
        if self.total > self.kept() {
            let excluded = self.total - self.kept();
            all.extend_from_slice(format!("\n[{excluded} bytes left out]\n").as_bytes());
        }
        all.extend_from_slice(&self.tail[self.tail_start..]);
        all.extend_from_slice(&self.tail[..self.tail_start]);
        all
    }

    /// True if the whole stream is kept.
    pub fn whole(&self) -> bool {
        self.total == self.kept()
    }

    /// Reads once from a stream. Returns false at its end.
    pub(crate) fn read_from(&mut self, fd: &OwnedFd) -> bool {
        let mut chunk = std::mem::take(&mut self.chunk);
        let read = read_once(fd, &mut chunk);
        self.filled = read.unwrap_or(0);
        self.push(&chunk[..self.filled]);
        self.chunk = chunk;
        read.is_some()
    }

    /// Returns the bytes of the last read.
    pub(crate) fn newest(&self) -> &[u8] {
        &self.chunk[..self.filled]
    }

    fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        bytes = &bytes[room..];
        if bytes.len() > self.half {
            bytes = &bytes[bytes.len() - self.half..];
        }
        let grow = (self.half - self.tail.len().min(self.half)).min(bytes.len());
        self.tail.extend_from_slice(&bytes[..grow]);
        for chunk in bytes[grow..].chunks(self.half.max(1)) {
            self.overwrite(chunk);
        }
    }

    /// Overwrites the oldest bytes of the full tail.
    fn overwrite(&mut self, bytes: &[u8]) {
        let first = bytes.len().min(self.tail.len() - self.tail_start);
        self.tail[self.tail_start..self.tail_start + first].copy_from_slice(&bytes[..first]);
        self.tail[..bytes.len() - first].copy_from_slice(&bytes[first..]);
        self.tail_start = (self.tail_start + bytes.len()) % self.tail.len().max(1);
    }
}

/// Reads once from a stream into `chunk` and returns the number of bytes, 0 if none are there yet;
/// `None` at the stream's end.
fn read_once(fd: &OwnedFd, chunk: &mut Vec<u8>) -> Option<usize> {
    chunk.resize(CHUNK, 0);
    match rustix::io::read(fd, &mut chunk[..]) {
        Ok(0) => None,
        Ok(n) => Some(n),
        Err(Errno::AGAIN | Errno::INTR) => Some(0),
        Err(_) => None,
    }
}

/// Splits a stream of bytes into lines.
#[derive(Debug, Default)]
pub(crate) struct LineSplitter {
    pending: Vec<u8>,
    skipping: bool,
    dropped: u64,
    total: u64,
    chunk: Vec<u8>,
}

impl LineSplitter {
    pub(crate) fn reset(&mut self) {
        self.pending.clear();
        self.skipping = false;
        self.dropped = 0;
        self.total = 0;
    }

    /// Returns the number of lines that were dropped because they were too long.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the number of bytes read.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Reads once from a stream and passes complete lines to `line`. Returns false at the stream's
    /// end.
    pub(crate) fn read_from(&mut self, fd: &OwnedFd, line: &mut dyn FnMut(&[u8])) -> bool {
        let mut chunk = std::mem::take(&mut self.chunk);
        let read = read_once(fd, &mut chunk);
        self.push(&chunk[..read.unwrap_or(0)], line);
        self.chunk = chunk;
        read.is_some()
    }

    /// Passes the last line to `line` if it has no newline.
    pub(crate) fn finish(&mut self, line: &mut dyn FnMut(&[u8])) {
        if !self.pending.is_empty() && !self.skipping {
            line(&self.pending);
        }
        self.pending.clear();
    }

    fn push(&mut self, bytes: &[u8], line: &mut dyn FnMut(&[u8])) {
        self.total += bytes.len() as u64;
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            let (body, ended) = match part.split_last() {
                Some((b'\n', body)) => (body, true),
                _ => (part, false),
            };
            if self.pending.len() + body.len() > MAX_LINE && !self.skipping {
                self.skipping = true;
                self.dropped += 1;
                self.pending.clear();
            }
            if !self.skipping {
                self.pending.extend_from_slice(body);
            }
            if ended {
                if !self.skipping {
                    line(&self.pending);
                }
                self.pending.clear();
                self.skipping = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(keep: usize, parts: &[&[u8]]) -> Capture {
        let mut c = Capture::default();
        c.reset(keep);
        for p in parts {
            c.push(p);
        }
        c
    }

    #[test]
    fn keeps_both_ends() {
        let c = captured(8, &[b"abcd", b"efgh"]);
        assert!(c.whole());
        assert_eq!(c.bytes(), b"abcdefgh");
        let c = captured(8, &[b"abcdefghij", b"klmnop", b"q"]);
        assert_eq!(c.total(), 17);
        assert_eq!(String::from_utf8(c.bytes()).unwrap(), "abcd\n[9 bytes left out]\nnopq");
    }

    proptest::proptest! {
        #[test]
        fn any_parts_keep_the_same(keep in 0usize..40, parts in proptest::collection::vec(
            proptest::collection::vec(0u8..255, 0..30), 0..8)) {
            let whole: Vec<u8> = parts.concat();
            let c = captured(keep, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
            assert_eq!(c.total(), whole.len() as u64);
            let half = keep / 2;
            if whole.len() <= 2 * half {
                assert_eq!(c.bytes(), whole);
            } else {
                assert!(c.bytes().starts_with(&whole[..half]));
                assert!(c.bytes().ends_with(&whole[whole.len() - half..]));
            }
        }
    }

    #[test]
    fn lines_across_chunks() {
        let mut lines = LineSplitter::default();
        let mut seen = Vec::new();
        for part in ["a\nb", "c\n", "\nd"] {
            lines
                .push(part.as_bytes(), &mut |l| seen.push(String::from_utf8_lossy(l).into_owned()));
        }
        lines.finish(&mut |l| seen.push(String::from_utf8_lossy(l).into_owned()));
        assert_eq!(seen, ["a", "bc", "", "d"]);
    }

    #[test]
    fn an_endless_line_is_dropped() {
        let mut lines = LineSplitter::default();
        let mut seen = 0;
        let part = vec![b'x'; 1 << 20];
        for _ in 0..20 {
            lines.push(&part, &mut |_| seen += 1);
        }
        lines.push(b"\nok\n", &mut |l| assert_eq!(l, b"ok"));
        assert_eq!((seen, lines.dropped()), (0, 1));
        assert!(lines.pending.capacity() <= 2 * MAX_LINE);
    }
}
