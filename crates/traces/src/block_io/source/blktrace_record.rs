//! Parses records of blktrace version 7 (`struct blk_io_trace` in linux/blktrace_api.h), of either
//! byte order, from a stream of any size. Damaged bytes are skipped up to the next record.
#![allow(clippy::inline_always)] // The calling loop is in another module; measured.

use std::io::{self, Read};

use crate::block_io::source::lines::refill;

/// First three bytes of every record's magic number; the fourth is the version.
const MAGIC: u32 = 0x6561_7400;
/// Supported version of the format.
const VERSION: u8 = 7;
const MAGIC_OF_VERSION: u32 = MAGIC | VERSION as u32;
/// Size of a record's head in bytes.
pub(crate) const HEAD: usize = 48;
/// Must hold the longest record, which is `HEAD` plus 65,535 bytes.
const SMALLEST_BUFFER: usize = 128 << 10;

/// One record of a trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) sequence: u32,
    pub(crate) time_ns: u64,
    pub(crate) sector: u64,
    pub(crate) bytes: u32,
    pub(crate) action: u32,
    pub(crate) pid: u32,
    pub(crate) device: u32,
    pub(crate) cpu: u32,
    /// Bytes that follow the head of the record.
    pub(crate) extra: &'a [u8],
}

/// Byte order of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(crate) fn u32(self, bytes: &[u8]) -> Option<u32> {
        let bytes = bytes.get(..4)?.try_into().ok()?;
        Some(match self {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }
}

/// Returns the byte order and version of a file that begins like blktrace, else `None`.
pub(crate) fn recognise(head: &[u8]) -> Option<(ByteOrder, u8)> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| {
        let magic = order.u32(head)?;
        (magic & 0xFFFF_FF00 == MAGIC).then_some((order, magic as u8))
    })
}

/// True if records of a version are supported.
pub(crate) fn is_read(version: u8) -> bool {
    version == VERSION
}

/// Reader of the records of a stream.
#[derive(Debug)]
pub(crate) struct Records<R> {
    reader: R,
    order: ByteOrder,
    /// First bytes of every record.
    magic: [u8; 4],
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Bytes that belong to no record.
    pub(crate) skipped: u64,
    /// True if the stream ends in the middle of a record.
    pub(crate) truncated: bool,
}

impl<R: Read> Records<R> {
    /// Creates a reader for a byte order that reads `buffer` bytes at once.
    pub(crate) fn new(reader: R, order: ByteOrder, buffer: usize) -> Self {
        Records {
            reader,
            order,
            magic: match order {
                ByteOrder::Little => MAGIC_OF_VERSION.to_le_bytes(),
                ByteOrder::Big => MAGIC_OF_VERSION.to_be_bytes(),
            },
            buffer: vec![0; buffer.max(SMALLEST_BUFFER)],
            start: 0,
            end: 0,
            at_end: false,
            skipped: 0,
            truncated: false,
        }
    }

    /// Returns the time of the next record without consuming it, or `None` at the end.
    #[inline]
    pub(crate) fn peek_time(&mut self) -> io::Result<Option<u64>> {
        if !self.find_record()? {
            return Ok(None);
        }
        Ok(Some(self.head().0.time_ns))
    }

    /// Returns the next record if its time is at or before `until`, else `None`, also at the end.
    /// `BIG` is the byte order.
    #[inline(always)]
    pub(crate) fn next_until<const BIG: bool>(
        &mut self,
        until: u64,
    ) -> io::Result<Option<Record<'_>>> {
        debug_assert_eq!(BIG, self.order == ByteOrder::Big);
        loop {
            let waiting = &self.buffer[self.start..self.end];
            if let Some(head) = waiting.first_chunk::<HEAD>()
                && head[..4] == self.magic
            {
                let (record, extra) = decoded::<BIG>(head);
                let next = self.start + HEAD + extra;
                if record.time_ns > until {
                    return Ok(None);
                }
                if next <= self.end {
                    self.start = next;
                    return Ok(Some(Record { extra: &self.buffer[next - extra..next], ..record }));
                }
            }
            if !self.find_record()? {
                return Ok(None);
            }
        }
    }

    /// Decodes the head at the start of the buffer, and the number of bytes that follow it.
    #[inline]
    fn head(&self) -> (Record<'static>, usize) {
        let head = self.buffer[self.start..].first_chunk().expect("a whole head");
        match self.order {
            ByteOrder::Little => decoded::<false>(head),
            ByteOrder::Big => decoded::<true>(head),
        }
    }

    #[inline]
    /// Reads and skips bytes until a whole record is at the start of the buffer. Returns false at
    /// the end.
    fn find_record(&mut self) -> io::Result<bool> {
        loop {
            let waiting = self.end - self.start;
            if waiting >= HEAD {
                if self.buffer[self.start..self.start + 4] != self.magic {
                    self.start += 1;
                    self.skipped += 1;
                    continue;
                }
                if waiting >= HEAD + self.head().1 {
                    return Ok(true);
                }
            }
            if self.at_end {
                // Less than a record is left.
                self.truncated |= waiting > 0;
                self.start = self.end;
                return Ok(false);
            }
            self.at_end =
                refill(&mut self.reader, &mut self.buffer, &mut self.start, &mut self.end)?;
        }
    }
}

/// Decodes the head of a record, and the number of bytes that follow it.
#[inline]
fn decoded<'a, const BIG: bool>(head: &[u8; HEAD]) -> (Record<'a>, usize) {
    let word = |at: usize| {
        let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
        if BIG { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    let long = |at: usize| {
        let (a, b) = (u64::from(word(at)), u64::from(word(at + 4)));
        if BIG { a << 32 | b } else { b << 32 | a }
    };
    let bytes = [head[46], head[47]];
    let extra = if BIG { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    let record = Record {
        sequence: word(4),
        time_ns: long(8),
        sector: long(16),
        bytes: word(24),
        action: word(28),
        pid: word(32),
        device: word(36),
        cpu: word(40),
        extra: &[],
    };
    (record, usize::from(extra))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::fixtures::record;

    fn times(bytes: &[u8], order: ByteOrder) -> (Vec<u64>, u64, bool) {
        // Reading one byte at a time covers every way in which a record can straddle reads.
        struct Drip<'a>(&'a [u8]);
        impl Read for Drip<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
                buffer[0] = *first;
                self.0 = rest;
                Ok(1)
            }
        }
        let mut all = Vec::new();
        let mut records = Records::new(Drip(bytes), order, 0);
        while let Some(peeked) = records.peek_time().unwrap() {
            let record = match order {
                ByteOrder::Little => records.next_until::<false>(u64::MAX),
                ByteOrder::Big => records.next_until::<true>(u64::MAX),
            };
            let record = record.unwrap().unwrap();
            assert_eq!(record.time_ns, peeked);
            all.push(peeked);
        }
        (all, records.skipped, records.truncated)
    }

    #[test]
    fn damage_is_passed_over_and_counted() {
        let mut bytes = record(1, 7, 8, 4096, b"four");
        bytes.extend(b"damaged beyond recognition");
        bytes.extend(record(2, 7, 8, 4096, b""));
        assert_eq!(times(&bytes, ByteOrder::Little), (vec![1, 2], 26, false));
        bytes.truncate(bytes.len() - 1);
        let (all, _, truncated) = times(&bytes, ByteOrder::Little);
        assert_eq!((all, truncated), (vec![1], true));
    }

    #[test]
    fn both_byte_orders() {
        let little = record(0x0102_0304, 7, 8, 4096, b"");
        assert_eq!(recognise(&little), Some((ByteOrder::Little, 7)));
        let mut big = little.clone();
        for field in
            [0..4, 4..8, 8..16, 16..24, 24..28, 28..32, 32..36, 36..40, 40..44, 44..46, 46..48]
        {
            big[field].reverse();
        }
        assert_eq!(recognise(&big), Some((ByteOrder::Big, 7)));
        assert_eq!(times(&big, ByteOrder::Big).0, [0x0102_0304]);
        assert_eq!(recognise(b"\x08tae"), Some((ByteOrder::Little, 8)));
        assert_eq!(recognise(b"PAR1"), None);
    }
}
