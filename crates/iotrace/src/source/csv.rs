//! Published block traces as CSV, one I/O a line:
//!
//! | format | fields |
//! |---|---|
//! | MSR Cambridge | time (100 ns since 1601), host, disk, `Read`/`Write`, offset (B), size (B), response time (100 ns) |
//! | Alibaba | volume, `R`/`W`, offset (B), size (B), time (µs since 1970) |
//! | Tencent | time (s since 1970), offset (sectors), size (sectors), 0 read/1 write, volume |
//!
//! The last two have no latencies.

use crate::event::{BLOCK_BYTES, FileFrom, Flags, Io, Op};
use crate::fields::Cursor;
use crate::names::{NameCache, Names};
use crate::series::Recorded;
use crate::source::rows::{Line, LineReader};

/// From 1601 to 1970, in units of 100 ns.
const FILETIME_1970: u64 = 116_444_736_000_000_000;

/// Which CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Msr,
    Alibaba,
    Tencent,
}

/// Reads lines of a dialect.
#[derive(Debug)]
pub(crate) struct CsvReader<'a> {
    dialect: Dialect,
    names: NameCache<'a>,
    /// The bytes that named the device of the line before, and its id.
    device: (Vec<u8>, u32),
    first: bool,
}

impl<'a> CsvReader<'a> {
    pub(crate) fn new(dialect: Dialect, names: &'a Names) -> Self {
        CsvReader { dialect, names: NameCache::new(names), device: (Vec::new(), 0), first: true }
    }

    fn device(&mut self, name: &[u8]) -> u32 {
        if self.device.0 == name {
            return self.device.1;
        }
        // MSR names a disk in two fields, `host,disk`.
        let mut written = [0u8; 64];
        let id = match written.get_mut(..name.len()) {
            Some(written) => {
                written.copy_from_slice(name);
                written.iter_mut().filter(|b| **b == b',').for_each(|b| *b = b'.');
                self.names.id(written)
            }
            None => self.names.id(name),
        };
        self.device.0.clear();
        self.device.0.extend_from_slice(name);
        self.device.1 = id;
        id
    }

    fn msr(&mut self, line: &[u8]) -> Option<Io> {
        let mut c = Cursor::new(line);
        let time = c.number()?;
        c.past(b',')?;
        let names = c.rest();
        let host = c.until(b',')?.len();
        let disk = c.rest();
        c.number()?;
        let name = &names[..host + 1 + disk.len() - c.rest().len()];
        c.past(b',')?;
        let op = match c.rest() {
            [b'R' | b'r', b'e', b'a', b'd', ..] => Op::Read,
            [b'W' | b'w', b'r', b'i', b't', b'e', ..] => Op::Write,
            _ => return None,
        };
        c.skip(if op == Op::Read { 4 } else { 5 });
        c.past(b',')?;
        let offset = c.number()?;
        c.past(b',')?;
        let bytes = c.number()?;
        c.past(b',')?;
        let response = c.number()?;
        if !c.rest().trim_ascii().is_empty() {
            return None;
        }
        // Times before 1970 are no times of these traces.
        let start_ns = time.checked_sub(FILETIME_1970)?.checked_mul(100)?;
        let latency = response.checked_mul(100)?;
        let device = self.device(name);
        Some(whole(start_ns, Some(latency), device, offset / BLOCK_BYTES, bytes, op))
    }

    fn alibaba(&mut self, line: &[u8]) -> Option<Io> {
        let mut c = Cursor::new(line);
        let volume = c.until(b',')?;
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
        if !c.rest().trim_ascii().is_empty() {
            return None;
        }
        let device = self.device(volume);
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
        let volume = c.rest().trim_ascii();
        // Seconds of the years 2001 to 2100, so that no other five numbers are taken for these.
        if !(1_000_000_000..4_102_444_800).contains(&seconds)
            || volume.is_empty()
            || volume.contains(&b',')
        {
            return None;
        }
        let device = self.device(volume);
        Some(whole(seconds * 1_000_000_000, None, device, sector, bytes, op))
    }
}

impl LineReader for CsvReader<'_> {
    fn recorded(&self) -> Recorded {
        Recorded { latency: self.dialect == Dialect::Msr, ..Recorded::default() }
    }

    fn line(&mut self, line: &[u8]) -> Line {
        let first = std::mem::take(&mut self.first);
        let io = match self.dialect {
            Dialect::Msr => self.msr(line),
            Dialect::Alibaba => self.alibaba(line),
            Dialect::Tencent => self.tencent(line),
        };
        match io {
            Some(io) => Line::Io(io),
            None if first && is_header(line) || line.is_empty() => Line::Skip,
            None => Line::Unreadable,
        }
    }
}

/// Names of columns: letters first, and several fields.
fn is_header(line: &[u8]) -> bool {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    line.first().is_some_and(u8::is_ascii_alphabetic) && line.contains(&b',')
}

fn whole(
    start_ns: u64,
    latency_ns: Option<u64>,
    device: u32,
    sector: u64,
    bytes: u64,
    op: Op,
) -> Io {
    Io {
        serial: 0,
        start_ns,
        latency_ns,
        queue_ns: None,
        device_ns: None,
        device,
        sector,
        bytes,
        op,
        flags: Flags::default(),
        pid: None,
        program: Names::NONE,
        file: Names::NONE,
        file_from: FileFrom::Nothing,
        cgroup: Names::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(dialect: Dialect, line: &str) -> (Line, String) {
        let names = Names::default();
        let read = CsvReader::new(dialect, &names).line(line.as_bytes());
        let device = match read {
            Line::Io(io) => names.text(io.device),
            _ => String::new(),
        };
        (read, device)
    }

    fn io(dialect: Dialect, line: &str) -> (Io, String) {
        match one(dialect, line) {
            (Line::Io(io), device) => (io, device),
            (other, _) => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn msr() {
        let (io, device) = io(Dialect::Msr, "128166372003061629,hm,1,Read,383496192,32768,1331");
        assert_eq!(device, "hm.1");
        assert_eq!((io.op, io.sector, io.bytes), (Op::Read, 383_496_192 / 512, 32_768));
        assert_eq!(io.latency_ns, Some(133_100));
        // 22 February 2007, 17:00 UTC, as the traces' description says.
        assert_eq!(io.start_ns / 1_000_000_000, 1_172_163_600);
        for wrong in [
            "128166372003061629,hm,1,Read,383496192,32768",
            "128166372003061629,hm,1,Read,383496192,32768,1331,7",
            "128166372003061629,hm,1,Reread,383496192,32768,1331",
            "128166372003061629,hm,x,Read,383496192,32768,1331",
            "1,hm,1,Read,383496192,32768,1331",
            "128166372003061629,hm,1,Write,383496192,99999999999999999999999,1331",
        ] {
            assert_eq!(one(Dialect::Msr, wrong).0, Line::Unreadable, "{wrong}");
        }
        let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
        assert_eq!(one(Dialect::Msr, header).0, Line::Skip);
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
        assert_eq!(one(Dialect::Tencent, "12,12910952,128,0,1063").0, Line::Unreadable);
        assert_eq!(one(Dialect::Tencent, "1538323200,12910952,128,2,1063").0, Line::Unreadable);
    }
}
