//! One slice: repeated calls with one buffer size until its time is over. Nothing here allocates,
//! and the clock is read only after a batch of calls that lasts at least 100 times as long as
//! reading it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::builtin::block_size::content;
use crate::builtin::block_size::params::Direction;
use crate::builtin::block_size::preemption::involuntary_switches;
use crate::driver::clock::{now_ns, sleep_until, spin_until};

/// Minimum time between two readings of the clock, in nanoseconds (a reading takes 20 to 50 ns).
const BATCH_NS: u64 = 5_000;
/// Alignment of buffers in bytes, the same as dd's.
const PAGE: usize = 4096;

/// A page-aligned buffer whose pages are all resident.
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    /// Allocates a buffer of `length` bytes and writes to all of it.
    pub fn new(length: usize) -> Self {
        let mut bytes = vec![1u8; length + PAGE];
        let start = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        bytes[start..start + length].fill(2);
        Buffer { bytes, start, length }
    }

    /// Returns the bytes of the buffer.
    pub fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

/// System calls that a slice repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SliceAction {
    /// A read(2) per step.
    Read,
    /// A write(2) per step.
    Write,
    /// A read(2), then a write(2) of the same bytes to `/dev/null`.
    Copy,
}

/// Start and length of a slice.
#[derive(Debug, Clone, Copy)]
pub struct SliceTime {
    /// Start of the slice in nanoseconds of `CLOCK_MONOTONIC`; `None` for a single process, which
    /// need not wait for others.
    pub start_ns: Option<u64>,
    /// Length of the slice in nanoseconds.
    pub length_ns: u64,
    /// True if processes share CPUs: then none spins, and the time before a process gets its CPU
    /// counts.
    pub shared: bool,
}

/// Measurements of a process in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceOutcome {
    /// Sum of the bytes that the calls returned.
    pub bytes: u64,
    /// Number of calls in the slice.
    pub calls: u64,
    /// Time from the start of the slice to the end of its last call, in nanoseconds.
    pub elapsed_ns: u64,
    /// True if the kernel gave the CPU to another program during the slice.
    pub preempted: bool,
    /// True if the process began after the start of the slice.
    pub late: bool,
}

impl SliceOutcome {
    /// Returns the outcome of a slice of `length_ns` in which the process did nothing.
    pub fn nothing(length_ns: u64) -> Self {
        SliceOutcome { bytes: 0, calls: 0, elapsed_ns: length_ns, preempted: false, late: true }
    }
}

/// Sequential access to a file.
pub struct Walk {
    file: OwnedFd,
    null: OwnedFd,
    path: PathBuf,
    file_size: u64,
    position: u64,
}

impl Walk {
    /// Creates a walk over `file`, which is `file_size` bytes long, from its beginning; copies are
    /// written to `null`.
    pub fn new(file: OwnedFd, null: OwnedFd, path: PathBuf, file_size: u64) -> Self {
        Walk { file, null, path, file_size, position: 0 }
    }

    /// Runs one slice with calls of `size` bytes.
    ///
    /// # Errors
    /// Returns [`Failure::Step`] if a call fails.
    pub fn slice(
        &mut self,
        buffer: &mut Buffer,
        size: u64,
        action: SliceAction,
        when: SliceTime,
    ) -> Result<SliceOutcome, Failure> {
        let block = &mut buffer.get()[..size as usize];
        // Starts at a multiple of the size, as if the walk had begun at 0 with this size.
        self.go(self.position / size * size, size)?;
        if when.start_ns.is_none_or(|start| start > now_ns()) {
            // A call before the slice, so that its code and buffer are in the caches.
            self.one(block, action)?;
        }
        let before = involuntary_switches();
        let ready_ns = now_ns();
        let start_ns = when.start_ns.unwrap_or(ready_ns);
        if when.shared {
            sleep_until(start_ns);
        } else {
            spin_until(start_ns);
        }
        let late = ready_ns > start_ns;
        let from_ns = if when.shared { start_ns } else { ready_ns.max(start_ns) };
        let end_ns = start_ns + when.length_ns;
        let (mut bytes, mut calls, mut batch) = (0, 0, 1u64);
        let mut last = now_ns();
        let to_ns = loop {
            for _ in 0..batch {
                bytes += self.one(block, action)?;
            }
            calls += batch;
            let now = now_ns();
            if now >= end_ns {
                break now;
            }
            if now - last < BATCH_NS {
                batch *= 2;
            }
            last = now;
        };
        let preempted = match (before, involuntary_switches()) {
            (Some(before), Some(after)) => after > before,
            _ => false,
        };
        Ok(SliceOutcome { bytes, calls, elapsed_ns: to_ns - from_ns, preempted, late })
    }

    /// Makes one call (or two, for a copy) and returns the number of bytes moved. Continues at the
    /// beginning of the file after its end.
    fn one(&mut self, block: &mut [u8], action: SliceAction) -> Result<u64, Failure> {
        let size = block.len() as u64;
        if action == SliceAction::Write {
            if self.position + size > self.file_size {
                self.go(0, size)?;
            }
            let n = again(|| rustix::io::write(&self.file, block))
                .map_err(|e| self.failed("write(2)", size, e))? as u64;
            if n < size {
                return Err(self.failed("write(2)", size, short(n)));
            }
            self.position += n;
            return Ok(n);
        }
        let n = again(|| rustix::io::read(&self.file, &mut *block))
            .map_err(|e| self.failed("read(2)", size, e))? as u64;
        if n == 0 && self.position < self.file_size {
            return Err(self.failed("read(2)", size, short(0)));
        }
        if action == SliceAction::Copy {
            again(|| rustix::io::write(&self.null, &block[..n as usize]))
                .map_err(|e| self.failed("write(2) to /dev/null", size, e))?;
        }
        self.position += n;
        if n < size {
            self.go(0, size)?;
        }
        Ok(n)
    }

    fn go(&mut self, position: u64, size: u64) -> Result<(), Failure> {
        seek(&self.file, SeekFrom::Start(position))
            .map_err(|e| self.failed("lseek(2)", size, e))?;
        self.position = position;
        Ok(())
    }

    /// Returns true if the kernel's file position equals the sum of the bytes that the calls
    /// returned.
    ///
    /// # Errors
    /// Returns [`Failure::Step`] if lseek(2) fails.
    pub fn adds_up(&self) -> Result<bool, Failure> {
        let kernel =
            seek(&self.file, SeekFrom::Current(0)).map_err(|e| self.failed("lseek(2)", 0, e))?;
        Ok(kernel == self.position)
    }

    /// Reads the block of `block.len()` bytes at `position` with one read(2).
    ///
    /// # Errors
    /// Returns [`Failure::Step`] if the call fails or returns fewer bytes.
    pub fn read_at(&mut self, position: u64, block: &mut [u8]) -> Result<(), Failure> {
        let size = block.len() as u64;
        self.go(position, size)?;
        let n = self.one(block, SliceAction::Read)?;
        if n < size { Err(self.failed("read(2)", size, short(n))) } else { Ok(()) }
    }

    /// Writes the block at `position` with one write(2).
    ///
    /// # Errors
    /// Returns [`Failure::Step`] if the call fails.
    pub fn write_at(&mut self, position: u64, block: &mut [u8]) -> Result<(), Failure> {
        self.go(position, block.len() as u64)?;
        self.one(block, SliceAction::Write).map(|_| ())
    }

    fn failed(&self, call: &str, size: u64, source: impl Into<io::Error>) -> Failure {
        let (position, file) = (self.position, self.path.display());
        Failure::step(format_args!("{call} of {size} B at byte {position} of {file}"))(source)
    }
}

fn short(n: u64) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("only {n} B were moved"))
}

fn again(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// Fills `buffer` with the content that process `index` writes.
pub fn fill_for_writing(buffer: &mut Buffer, index: u32) {
    content::fill(write_seed(index), 0, buffer.get());
}

/// Returns the seed of the content that process `index` writes during the measurement.
pub fn write_seed(index: u32) -> u64 {
    0x5752_4954_4500_0000 | u64::from(index)
}

/// Returns the action that measures a direction.
pub fn action_of(direction: Direction) -> SliceAction {
    match direction {
        Direction::Read => SliceAction::Read,
        Direction::Write => SliceAction::Write,
    }
}
