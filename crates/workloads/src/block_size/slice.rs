//! One slice: call after call at one buffer size until its time is over. Nothing here allocates,
//! and the clock is read only after enough calls that reading it costs less than one hundredth.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::clock::{now_ns, sleep_until, spin_until};
use super::content;
use super::params::Direction;
use super::preemption::involuntary_switches;
use crate::Failure;

/// The clock is read when at least this long has passed since the last time (its reading takes 20 to
/// 50 ns).
const BATCH_NS: u64 = 5_000;
/// Buffers begin at a multiple of this, as those of dd do.
const PAGE: usize = 4096;

/// A buffer that begins on a page, touched from end to end.
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    /// A buffer of `length` bytes.
    pub fn new(length: usize) -> Self {
        let mut bytes = vec![1u8; length + PAGE];
        let start = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        bytes[start..start + length].fill(2);
        Buffer { bytes, start, length }
    }

    /// Its bytes.
    pub fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

/// What a slice calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// read(2).
    Read,
    /// write(2).
    Write,
    /// read(2), then write(2) of the same bytes to `/dev/null`.
    Copy,
}

/// When a slice is.
#[derive(Debug, Clone, Copy)]
pub struct When {
    /// Its beginning, nanoseconds of `CLOCK_MONOTONIC`; `None` for a process that works alone and need
    /// not wait for others.
    pub start_ns: Option<u64>,
    /// How long it lasts, nanoseconds.
    pub length_ns: u64,
    /// Whether processes share CPUs: nobody spins, and the time before a process gets its CPU counts.
    pub shared: bool,
}

/// What a process measured in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Bytes that the calls returned.
    pub bytes: u64,
    /// How many calls.
    pub calls: u64,
    /// From the beginning of the slice to the end of its last call, nanoseconds.
    pub elapsed_ns: u64,
    /// Whether the kernel gave the CPU to another program meanwhile.
    pub preempted: bool,
    /// Whether it began after its time.
    pub late: bool,
}

impl Outcome {
    /// Nothing was done in a slice of `length_ns`.
    pub fn nothing(length_ns: u64) -> Self {
        Outcome { bytes: 0, calls: 0, elapsed_ns: length_ns, preempted: false, late: true }
    }
}

/// A file being walked.
pub struct Walk {
    file: OwnedFd,
    null: OwnedFd,
    path: PathBuf,
    file_size: u64,
    position: u64,
}

impl Walk {
    /// Walks `file`, `file_size` bytes long, from its beginning; `null` is where copies go.
    pub fn new(file: OwnedFd, null: OwnedFd, path: PathBuf, file_size: u64) -> Self {
        Walk { file, null, path, file_size, position: 0 }
    }

    /// Runs one slice with calls of `size` bytes.
    ///
    /// # Errors
    /// [`Failure::Step`].
    pub fn slice(
        &mut self,
        buffer: &mut Buffer,
        size: u64,
        action: Action,
        when: When,
    ) -> Result<Outcome, Failure> {
        let block = &mut buffer.get()[..size as usize];
        // As if the walk had begun at 0 with this size: at a multiple of it.
        self.go(self.position / size * size, size)?;
        if when.start_ns.is_none_or(|start| start > now_ns()) {
            // One call ahead of time, so that the slice finds its code and its buffer warm.
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
        Ok(Outcome { bytes, calls, elapsed_ns: to_ns - from_ns, preempted, late })
    }

    /// One call (or two, for a copy); the number of bytes it moved. Goes back to the beginning of the
    /// file at its end.
    fn one(&mut self, block: &mut [u8], action: Action) -> Result<u64, Failure> {
        let size = block.len() as u64;
        if action == Action::Write {
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
        if action == Action::Copy {
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

    /// Whether the kernel agrees on where in the file the calls have led, which is the sum of the
    /// bytes that they returned.
    ///
    /// # Errors
    /// [`Failure::Step`].
    pub fn adds_up(&self) -> Result<bool, Failure> {
        let kernel =
            seek(&self.file, SeekFrom::Current(0)).map_err(|e| self.failed("lseek(2)", 0, e))?;
        Ok(kernel == self.position)
    }

    /// Reads the block of `block.len()` bytes at `position` with one read(2).
    ///
    /// # Errors
    /// [`Failure::Step`], also when fewer bytes come.
    pub fn read_at(&mut self, position: u64, block: &mut [u8]) -> Result<(), Failure> {
        let size = block.len() as u64;
        self.go(position, size)?;
        let n = self.one(block, Action::Read)?;
        if n < size { Err(self.failed("read(2)", size, short(n))) } else { Ok(()) }
    }

    /// Writes the block at `position` with one write(2).
    ///
    /// # Errors
    /// [`Failure::Step`].
    pub fn write_at(&mut self, position: u64, block: &mut [u8]) -> Result<(), Failure> {
        self.go(position, block.len() as u64)?;
        self.one(block, Action::Write).map(|_| ())
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

/// Fills `buffer` with the content that a process writes.
pub fn fill_for_writing(buffer: &mut Buffer, index: u32) {
    content::fill(write_seed(index), 0, buffer.get());
}

/// The seed of what process `index` writes while it measures.
pub fn write_seed(index: u32) -> u64 {
    0x5752_4954_4500_0000 | u64::from(index)
}

/// The action that measures a direction.
pub fn action_of(direction: Direction) -> Action {
    match direction {
        Direction::Read => Action::Read,
        Direction::Write => Action::Write,
    }
}
