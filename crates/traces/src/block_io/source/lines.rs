//! Splits a text of any size into lines without copying or allocating. Lines above the maximum
//! length are skipped and counted.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// Maximum line length in bytes; longer lines are skipped.
pub const MAX_LINE: usize = 64 << 10;
/// Size of the read buffer in bytes.
const BUFFER: usize = 256 << 10;

/// Iterator-like reader of lines.
#[derive(Debug)]
pub(crate) struct LineBuffer<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Bytes returned or skipped so far.
    taken: u64,
    overlong: u64,
    unended: bool,
}

impl<R: Read> LineBuffer<R> {
    pub(crate) fn new(reader: R) -> Self {
        LineBuffer {
            reader,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            at_end: false,
            taken: 0,
            overlong: 0,
            unended: false,
        }
    }

    /// Returns the offset of the next line from the start of the reader, in bytes.
    pub(crate) fn position(&self) -> u64 {
        self.taken
    }

    /// Returns the number of lines that were too long.
    pub(crate) fn overlong(&self) -> u64 {
        self.overlong
    }

    /// True if the line returned last has no newline because the text ends there.
    pub(crate) fn unended(&self) -> bool {
        self.unended
    }

    /// Returns the next line without its line ending, or `None` at the end of the text.
    #[inline]
    pub(crate) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut looked = 0;
        loop {
            let waiting = &self.buffer[self.start..self.end];
            if let Some(found) = memchr::memchr(b'\n', &waiting[looked..]) {
                let length = looked + found;
                let line = self.start..self.start + length;
                self.start += length + 1;
                self.taken += length as u64 + 1;
                if length > MAX_LINE {
                    self.overlong += 1;
                    looked = 0;
                    continue;
                }
                return Ok(Some(without_return(&self.buffer[line])));
            }
            looked = waiting.len();
            if self.at_end {
                return Ok(self.last_line());
            }
            if looked > MAX_LINE {
                self.overlong += 1;
                self.skip_rest(u64::MAX)?;
                looked = 0;
            } else {
                self.fill()?;
            }
        }
    }

    /// Skips the rest of the current line; gives up after `most` bytes.
    pub(crate) fn skip_rest(&mut self, most: u64) -> io::Result<()> {
        while self.taken < most {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += found + 1;
                self.taken += found as u64 + 1;
                return Ok(());
            }
            self.taken += (self.end - self.start) as u64;
            self.start = self.end;
            if self.at_end {
                return Ok(());
            }
            self.fill()?;
        }
        Ok(())
    }

    fn last_line(&mut self) -> Option<&[u8]> {
        let line = self.start..self.end;
        if line.is_empty() {
            return None;
        }
        self.taken += line.len() as u64;
        self.start = self.end;
        self.unended = true;
        if line.len() > MAX_LINE {
            self.overlong += 1;
            return None;
        }
        Some(without_return(&self.buffer[line]))
    }

    fn fill(&mut self) -> io::Result<()> {
        self.at_end = refill(&mut self.reader, &mut self.buffer, &mut self.start, &mut self.end)?;
        Ok(())
    }
}

/// Moves the bytes between `start` and `end` to the front of the buffer and reads more behind them.
/// Returns true at the end of the input.
pub(crate) fn refill(
    reader: &mut impl Read,
    buffer: &mut [u8],
    start: &mut usize,
    end: &mut usize,
) -> io::Result<bool> {
    buffer.copy_within(*start..*end, 0);
    *end -= *start;
    *start = 0;
    loop {
        match reader.read(&mut buffer[*end..]) {
            Ok(n) => {
                *end += n;
                return Ok(n == 0);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Reader of a file from a byte offset. Several threads may read the same file at once.
#[derive(Debug)]
pub(crate) struct FileFrom<'a> {
    pub(crate) file: &'a File,
    pub(crate) at: u64,
}

impl Read for FileFrom<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(buffer, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> (Vec<Vec<u8>>, u64) {
        let mut lines = LineBuffer::new(text);
        let mut out = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            out.push(line.to_vec());
        }
        assert_eq!(lines.position(), text.len() as u64);
        (out, lines.overlong())
    }

    #[test]
    fn ends_of_all_kinds() {
        assert_eq!(all(b"").0.len(), 0);
        assert_eq!(all(b"a\r\n\nbc").0, [b"a".to_vec(), b"".to_vec(), b"bc".to_vec()]);
        assert_eq!(all(b"a\n").0, [b"a".to_vec()]);
    }

    #[test]
    fn lines_across_the_buffer_are_whole() {
        let text: Vec<u8> =
            (0..60_000u32).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
        let (lines, overlong) = all(&text);
        assert_eq!((lines.len(), overlong), (60_000, 0));
        assert_eq!(lines[59_999], b"line 59999");
    }

    #[test]
    fn too_long_is_passed_over_wherever_it_is() {
        for long in [MAX_LINE + 1, BUFFER, 3 * BUFFER + 7] {
            let mut text = b"before\n".to_vec();
            text.extend(std::iter::repeat_n(b'x', long));
            text.extend(b"\nafter\n");
            assert_eq!(all(&text), (vec![b"before".to_vec(), b"after".to_vec()], 1), "{long}");
            text.truncate(text.len() - 7);
            assert_eq!(all(&text), (vec![b"before".to_vec()], 1), "{long} at the end");
        }
        let mut text = vec![b'x'; MAX_LINE];
        text.push(b'\n');
        assert_eq!(all(&text).0.len(), 1, "just as long as it may be");
    }

    /// Repeats one byte, like a file of ten gigabytes without a newline.
    struct Endless(u64);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = (self.0).min(buffer.len() as u64) as usize;
            buffer[..n].fill(b'7');
            self.0 -= n as u64;
            Ok(n)
        }
    }

    #[test]
    fn a_line_of_ten_gigabytes_takes_no_more_memory_than_another() {
        let mut lines = LineBuffer::new(Endless(10_000_000_000));
        assert!(lines.next().unwrap().is_none());
        assert_eq!((lines.overlong(), lines.position()), (1, 10_000_000_000));
        assert_eq!(lines.buffer.capacity(), BUFFER);
    }
}
