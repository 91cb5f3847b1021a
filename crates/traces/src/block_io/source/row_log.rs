//! Stores completed I/Os in an unnamed file while a load runs. Storing one copies some bytes;
//! encoding it in columns would take a hundred times as long, on a CPU that the load may need.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::block_io::matching::event::{FileFrom, Flags, Io, Op};

/// Size of a stored I/O in bytes.
const ROW: usize = 9 * 8 + 4 + 3;
/// Number of bytes written or read at once.
const CHUNK: usize = 4096 * ROW;
/// Marks an unknown value; no real value is as large.
const NO_U64: u64 = u64::MAX;
const NO_U32: u32 = u32::MAX;

/// The file. It disappears when the log is dropped or the process is killed.
#[derive(Debug)]
pub(super) struct RowLog {
    file: File,
    /// Rows that are not in the file yet.
    chunk: Vec<u8>,
    rows: u64,
}

impl RowLog {
    /// Creates a file at `path` and unlinks it at once. An existing file is replaced.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        std::fs::remove_file(path)?;
        Ok(RowLog { file, chunk: Vec::with_capacity(CHUNK), rows: 0 })
    }

    /// Returns the size of all rows in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.rows * ROW as u64
    }

    #[inline]
    pub(super) fn push(&mut self, io: &Io) -> io::Result<()> {
        self.chunk.extend_from_slice(&packed(io));
        self.rows += 1;
        if self.chunk.len() < CHUNK {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }

    /// Passes every I/O to `each`, in the order in which they were added.
    pub(super) fn read(mut self, mut each: impl FnMut(Io)) -> io::Result<()> {
        self.flush()?;
        self.file.seek(SeekFrom::Start(0))?;
        let mut left = self.bytes();
        while left > 0 {
            self.chunk.resize(CHUNK.min(left as usize), 0);
            self.file.read_exact(&mut self.chunk)?;
            left -= self.chunk.len() as u64;
            let (rows, _) = self.chunk.as_chunks::<ROW>();
            for row in rows {
                each(unpacked(row));
            }
        }
        Ok(())
    }
}

fn packed(io: &Io) -> [u8; ROW] {
    let mut row = [0; ROW];
    let (words, rest) = row.as_chunks_mut::<8>();
    let or = |n: Option<u64>| n.unwrap_or(NO_U64);
    let numbers = [
        io.serial,
        io.start_ns,
        or(io.latency_ns),
        or(io.queue_ns),
        or(io.device_ns),
        io.sector,
        io.bytes,
        pair(io.device, io.pid.unwrap_or(NO_U32)),
        pair(io.program, io.file),
    ];
    for (word, number) in words.iter_mut().zip(numbers) {
        *word = number.to_le_bytes();
    }
    rest[..4].copy_from_slice(&io.cgroup.to_le_bytes());
    rest[4..].copy_from_slice(&[io.flags.0, io.op as u8, io.file_from as u8]);
    row
}

fn unpacked(row: &[u8; ROW]) -> Io {
    let (words, rest) = row.as_chunks::<8>();
    let word = |i: usize| u64::from_le_bytes(words[i]);
    let known = |n: u64| (n != NO_U64).then_some(n);
    let [device, pid] = halves(word(7));
    let [program, file] = halves(word(8));
    Io {
        serial: word(0),
        start_ns: word(1),
        latency_ns: known(word(2)),
        queue_ns: known(word(3)),
        device_ns: known(word(4)),
        device,
        sector: word(5),
        bytes: word(6),
        op: Op::ALL[usize::from(rest[5])],
        flags: Flags(rest[4]),
        pid: (pid != NO_U32).then_some(pid),
        program,
        file,
        file_from: FileFrom::ALL[usize::from(rest[6])],
        cgroup: u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]),
    }
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config {
            failure_persistence: None, ..Default::default()
        })]
        #[test]
        fn what_goes_in_comes_out(
            numbers: [u32; 12], flags: u8, op in 0usize..6, from in 0usize..7,
            there: [bool; 4], rows in 0usize..9000,
        ) {
            let some = |i: usize, n: u32| there[i].then_some(u64::from(n));
            let io = |serial: u64| Io {
                serial,
                start_ns: u64::from(numbers[0]) << 30,
                latency_ns: some(0, numbers[1]),
                queue_ns: some(1, numbers[2]),
                device_ns: some(2, numbers[3]),
                device: numbers[4],
                sector: u64::from(numbers[5]) << 31,
                bytes: u64::from(numbers[6]),
                op: Op::ALL[op],
                flags: Flags(flags),
                pid: there[3].then_some(numbers[7] >> 1),
                program: numbers[8],
                file: numbers[9],
                file_from: FileFrom::ALL[from],
                cgroup: numbers[10],
            };
            let folder = tempfile::tempdir().unwrap();
            let mut log = RowLog::create(&folder.path().join("rows")).unwrap();
            proptest::prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
            (0..rows as u64).for_each(|serial| log.push(&io(serial)).unwrap());
            let mut next = 0;
            log.read(|found| {
                assert_eq!(found, io(next));
                next += 1;
            })
            .unwrap();
            proptest::prop_assert_eq!(next, rows as u64);
        }
    }
}
