//! Reads published block traces in CSV, with one I/O per line. The fields are:
//!
//! - MSR Cambridge: time (100 ns since 1601), host, disk, `Read`/`Write`, offset (B), size (B),
//!   response time (100 ns)
//! - Alibaba: volume, `R`/`W`, offset (B), size (B), time (µs since 1970)
//! - Tencent: time (s since 1970), offset (sectors), size (sectors), 0 read/1 write, volume
//!
//! The Alibaba and Tencent traces have no latencies.

use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::event::{BLOCK_BYTES, Io, Op};
use crate::block_io::names::NameTable;
use crate::block_io::source::fields::{Cursor, bytes_that_are};
use crate::block_io::source::rows::{LineReader, ParsedLine};

/// Time from 1601 to 1970, in units of 100 ns.
const FILETIME_1970: u64 = 116_444_736_000_000_000;

/// Trace collection, which determines the fields of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Msr,
    Alibaba,
    Tencent,
}

/// Parser of the lines of one dialect.
#[derive(Debug)]
pub(crate) struct CsvReader<'a> {
    dialect: Dialect,
    names: &'a NameTable,
    /// Ids of recently seen devices by the bytes of their name. The key 0 belongs to no name.
    devices: [(u128, u32); DEVICES],
    first: bool,
}

/// Number of cached devices, a power of two.
const DEVICES: usize = 64;
/// Longest name that is cached, in bytes. None of the traces has longer ones.
const SHORT: usize = 15;

impl<'a> CsvReader<'a> {
    pub(crate) fn new(dialect: Dialect, names: &'a NameTable) -> Self {
        CsvReader { dialect, names, devices: [(0, NameTable::NONE); DEVICES], first: true }
    }

    /// Returns the id of the device whose name is the next `n` bytes.
    #[inline]
    fn device(&mut self, name: &Cursor<'_>, n: usize) -> u32 {
        if n == 0 || n > SHORT {
            return self.name(&name.rest()[..n]);
        }
        let key = name_key(name.key(n), n);
        let (known, id) = self.devices[place(key)];
        if known == key {
            return id;
        }
        let id = self.name(&name.rest()[..n]);
        self.devices[place(key)] = (key, id);
        id
    }

    /// Returns the id of the device that MSR names in the next two fields, and skips them. A cached
    /// name is recognized by its bytes alone, without parsing the fields.
    #[inline]
    fn host_and_disk(&mut self, c: &mut Cursor<'_>) -> Option<u32> {
        let word = c.word8();
        let commas = bytes_that_are(b',', word);
        let second = commas & commas.wrapping_sub(1);
        if second != 0 {
            let n = second.trailing_zeros() as usize / 8;
            let key = name_key(u128::from(word & ((1 << (8 * n)) - 1)), n);
            let (known, id) = self.devices[place(key)];
            if known == key {
                c.skip(n + 1);
                return Some(id);
            }
        }
        let name = *c;
        c.until(b',')?;
        c.number()?;
        let length = name.rest().len() - c.rest().len();
        c.past(b',')?;
        Some(self.device(&name, length))
    }

    /// Interns a name. MSR names a disk in two fields, `host,disk`, which become `host.disk`.
    #[cold]
    fn name(&self, name: &[u8]) -> u32 {
        let mut written = name.to_vec();
        written.iter_mut().filter(|b| **b == b',').for_each(|b| *b = b'.');
        self.names.id(&written)
    }

    #[inline]
    fn msr(&mut self, line: &[u8]) -> Option<Io> {
        let mut c = Cursor::new(line);
        let time = c.number()?;
        c.past(b',')?;
        let device = self.host_and_disk(&mut c)?;
        // The direction is unpredictable, so the code does not branch on it.
        let word = (c.word8() | 0x20_2020_2020) & 0xFF_FFFF_FFFF;
        let (read, write) = (word == word_of(*b"read,"), word == word_of(*b"write"));
        if !(read | write) {
            return None;
        }
        let op = if read { Op::Read } else { Op::Write };
        c.skip(5 - usize::from(read));
        c.past(b',')?;
        let offset = c.number()?;
        c.past(b',')?;
        let bytes = c.number()?;
        c.past(b',')?;
        let response = c.number()?;
        if !c.rest().is_empty() && !c.rest().trim_ascii().is_empty() {
            return None;
        }
        // Times before 1970 do not occur in these traces.
        let start_ns = time.checked_sub(FILETIME_1970)?.checked_mul(100)?;
        let latency = response.checked_mul(100)?;
        Some(whole(start_ns, Some(latency), device, offset / BLOCK_BYTES, bytes, op))
    }

    fn alibaba(&mut self, line: &[u8]) -> Option<Io> {
        let mut c = Cursor::new(line);
        let (volume, length) = (c, c.until(b',')?.len());
        let op = match c.until(b',')? {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return None,
        };
        let offset = c.number()?;
        c.past(b',')?;
        let bytes = c.number()?;
        c.past(b',')?;
        let start_ns = c.number()?.checked_mul(1_000)?;
        if !c.rest().is_empty() && !c.rest().trim_ascii().is_empty() {
            return None;
        }
        let device = self.device(&volume, length);
        Some(whole(start_ns, None, device, offset / BLOCK_BYTES, bytes, op))
    }

    fn tencent(&mut self, line: &[u8]) -> Option<Io> {
        let mut c = Cursor::new(line);
        let seconds = c.number()?;
        c.past(b',')?;
        let sector = c.number()?;
        c.past(b',')?;
        let bytes = c.number()?.checked_mul(BLOCK_BYTES)?;
        c.past(b',')?;
        let op = match c.number()? {
            0 => Op::Read,
            1 => Op::Write,
            _ => return None,
        };
        c.past(b',')?;
        c.blanks();
        let (name, volume) = (c, c.rest().trim_ascii_end());
        // Accept only seconds of the years 2001 to 2100, so that other lines of five numbers are
        // not mistaken for this format.
        if !(1_000_000_000..4_102_444_800).contains(&seconds)
            || volume.is_empty()
            || volume.contains(&b',')
        {
            return None;
        }
        let device = self.device(&name, volume.len());
        Some(whole(seconds * 1_000_000_000, None, device, sector, bytes, op))
    }
}

impl LineReader for CsvReader<'_> {
    fn recorded(&self) -> RecordedFields {
        RecordedFields { latency: self.dialect == Dialect::Msr, ..RecordedFields::default() }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> ParsedLine {
        let first = std::mem::take(&mut self.first);
        let io = match self.dialect {
            Dialect::Msr => self.msr(line),
            Dialect::Alibaba => self.alibaba(line),
            Dialect::Tencent => self.tencent(line),
        };
        match io {
            Some(io) => ParsedLine::Io(io),
            None if first && is_header(line) || line.is_empty() => ParsedLine::Skip,
            None => ParsedLine::Unreadable,
        }
    }
}

/// Packs a name of `n` bytes, at most [`SHORT`], into a unique number. The top byte is the length,
/// since a name may end with zeros.
#[inline]
fn name_key(bytes: u128, n: usize) -> u128 {
    bytes | (n as u128) << 120
}

/// Returns the cache slot of a name.
#[inline]
fn place(key: u128) -> usize {
    let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 58) as usize % DEVICES
}

/// Packs five bytes like [`Cursor::word8`].
const fn word_of(bytes: [u8; 5]) -> u64 {
    let [a, b, c, d, e] = bytes;
    u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
}

/// True for a header: a line of several fields that begins with a letter.
fn is_header(line: &[u8]) -> bool {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    line.first().is_some_and(u8::is_ascii_alphabetic) && line.contains(&b',')
}

#[inline]
fn whole(
    start_ns: u64,
    latency_ns: Option<u64>,
    device: u32,
    sector: u64,
    bytes: u64,
    op: Op,
) -> Io {
    Io { start_ns, latency_ns, device, sector, bytes, op, ..Io::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(dialect: Dialect, line: &str) -> (ParsedLine, String) {
        let names = NameTable::default();
        let read = CsvReader::new(dialect, &names).line(line.as_bytes());
        let device = match read {
            ParsedLine::Io(io) => names.text(io.device),
            _ => String::new(),
        };
        (read, device)
    }

    fn io(dialect: Dialect, line: &str) -> (Io, String) {
        match one(dialect, line) {
            (ParsedLine::Io(io), device) => (io, device),
            (other, _) => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn msr() {
        let (io, device) = io(Dialect::Msr, "128166372003061629,hm,1,Read,383496192,32768,1331");
        assert_eq!(device, "hm.1");
        assert_eq!((io.op, io.sector, io.bytes), (Op::Read, 383_496_192 / 512, 32_768));
        assert_eq!(io.latency_ns, Some(133_100));
        // 22 February 2007, 17:00 UTC, as in the description of the traces.
        assert_eq!(io.start_ns / 1_000_000_000, 1_172_163_600);
        for wrong in [
            "128166372003061629,hm,1,Read,383496192,32768",
            "128166372003061629,hm,1,Read,383496192,32768,1331,7",
            "128166372003061629,hm,1,Reread,383496192,32768,1331",
            "128166372003061629,hm,x,Read,383496192,32768,1331",
            "1,hm,1,Read,383496192,32768,1331",
            "128166372003061629,hm,1,Write,383496192,99999999999999999999999,1331",
        ] {
            assert_eq!(one(Dialect::Msr, wrong).0, ParsedLine::Unreadable, "{wrong}");
        }
        let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
        assert_eq!(one(Dialect::Msr, header).0, ParsedLine::Skip);
    }

    #[test]
    fn alibaba_and_tencent_have_no_latency() {
        let (a, device) = io(Dialect::Alibaba, "419,W,8792731648,16384,1577808144360767");
        assert_eq!(
            (a.op, a.sector, a.bytes, device.as_str()),
            (Op::Write, 17_173_304, 16_384, "419")
        );
        assert_eq!((a.latency_ns, a.start_ns), (None, 1_577_808_144_360_767_000));
        let (t, device) = io(Dialect::Tencent, "1538323200,12910952,128,0,1063");
        assert_eq!(
            (t.op, t.sector, t.bytes, device.as_str()),
            (Op::Read, 12_910_952, 65_536, "1063")
        );
        assert_eq!(one(Dialect::Tencent, "12,12910952,128,0,1063").0, ParsedLine::Unreadable);
        assert_eq!(
            one(Dialect::Tencent, "1538323200,12910952,128,2,1063").0,
            ParsedLine::Unreadable
        );
    }
}
