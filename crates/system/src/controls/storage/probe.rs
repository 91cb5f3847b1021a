//! Measures a storage's speed just before the trial: sequential and random writes and reads, each
//! for a quarter of the time.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSliceMut};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_model::{Better, MetricKind, MetricValue};
use rustix::fs::{Advice, OFlags, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// Bytes of a sequential operation.
const LONG: usize = 2 << 20;
/// Bytes of a random operation.
const SHORT: usize = 4096;
/// Number of concurrent random operations.
const AT_ONCE: u64 = 16;
/// Maximum size of the test file in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Measured rates of a storage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    pub write_bytes_s: f64,
    pub read_bytes_s: f64,
    pub write_ops_s: f64,
    pub read_ops_s: f64,
    /// True if the I/O bypassed the page cache.
    pub direct: bool,
    /// True if each random write was flushed.
    pub flushed: bool,
}

impl Figures {
    /// Returns the rates as metrics that describe the trial; none of them is its result.
    pub fn metrics(&self) -> [MetricValue; 4] {
        [
            ("storage_sequential_write", self.write_bytes_s, "B/s"),
            ("storage_sequential_read", self.read_bytes_s, "B/s"),
            ("storage_random_write", self.write_ops_s, "ops/s"),
            ("storage_random_read", self.read_ops_s, "ops/s"),
        ]
        .map(|(name, value, unit)| {
            MetricValue::new(name, Some(value), unit, Better::Neither, MetricKind::Measured)
        })
    }
}

/// Measures with a file in `dir`, which is removed afterwards. `size` is the storage's capacity in
/// bytes.
///
/// # Errors
/// The system's error.
pub(super) fn measure(dir: &Path, time: Duration, size: u64) -> io::Result<Figures> {
    let path = dir.join("assay-probe");
    let figures =
        File::create(&path).and_then(|_| with_file(&path, time / 4, MAX_BYTES.min(size / 8)));
    let removed = std::fs::remove_file(&path);
    let figures = figures?;
    removed?;
    Ok(figures)
}

/// Measures a block device whose content may be overwritten.
///
/// # Errors
/// The system's error.
pub(super) fn measure_device(path: &Path, time: Duration, size: u64) -> io::Result<Figures> {
    with_file(path, time / 4, MAX_BYTES.min(size))
}

fn with_file(path: &Path, time: Duration, size: u64) -> io::Result<Figures> {
    // Synchronous in either case, because data in a file system's cache is not written yet.
    let (direct, file) = match open(path, OFlags::DIRECT | OFlags::DSYNC) {
        Ok(file) => (true, file),
        Err(_) => (false, open(path, OFlags::DSYNC)?),
    };
    let size = (size / LONG as u64).max(1) * LONG as u64;
    let mut memory = vec![0u8; LONG + SHORT];
    let buffer = aligned(&mut memory, LONG);
    fill(buffer);
    let (written, took) = sequence(time, size, |at| file.write_all_at(buffer, at))?;
    let write_bytes_s = written as f64 / took;
    let reach = written.min(size);
    // Otherwise cached data would be read from the cache.
    fadvise(&file, 0, None, Advice::DontNeed)?;
    let (read, took) = sequence(time, reach, |at| file.read_exact_at(buffer, at))?;
    let read_bytes_s = read as f64 / took;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    let read_ops_s = scatter(time, reach, |at, b| file.read_exact_at(b, at))?;
    let unflushed = if direct { past_the_cache(path, buffer)? } else { None };
    let target = unflushed.as_ref().unwrap_or(&file);
    let write_ops_s = scatter(time, reach, |at, b| target.write_all_at(b, at))?;
    let flushed = unflushed.is_none();
    Ok(Figures { write_bytes_s, read_bytes_s, write_ops_s, read_ops_s, direct, flushed })
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(flags.bits() as i32).open(path)
}

/// Opens the file for writes that are on the device when they return, without a flush after each
/// one, which an operation limit would count as another operation. Returns `None` if the file
/// system puts them into its cache anyway (btrfs does when it compresses) or if this cannot be
/// determined.
fn past_the_cache(path: &Path, buffer: &[u8]) -> io::Result<Option<File>> {
    let file = open(path, OFlags::DIRECT)?;
    file.write_all_at(&buffer[..SHORT], 0)?;
    let mut byte = [0];
    let mut into = [IoSliceMut::new(&mut byte)];
    // Succeeds only if the data is in the cache.
    let looked = preadv2(File::open(path)?, &mut into, 0, ReadWriteFlags::NOWAIT);
    Ok((looked == Err(Errno::AGAIN)).then_some(file))
}

/// Runs sequential operations, starting again at offset 0 after `reach` bytes. Returns bytes and
/// seconds.
fn sequence(
    time: Duration,
    reach: u64,
    mut once: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<(u64, f64)> {
    let began = Instant::now();
    let mut done = 0;
    while began.elapsed() < time {
        once(done % reach)?;
        done += LONG as u64;
    }
    Ok((done, began.elapsed().as_secs_f64()))
}

/// Runs small operations at random offsets, several at once. Returns operations per second.
fn scatter(
    time: Duration,
    reach: u64,
    once: impl Fn(u64, &mut [u8]) -> io::Result<()> + Sync,
) -> io::Result<f64> {
    let done = AtomicU64::new(0);
    let began = Instant::now();
    let worker = |n: u64| -> io::Result<()> {
        let mut memory = vec![0u8; 2 * SHORT];
        let buffer = aligned(&mut memory, SHORT);
        fill(buffer);
        let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(n + 1);
        while began.elapsed() < time {
            let block = next(&mut state) % (reach / SHORT as u64);
            once(block * SHORT as u64, buffer)?;
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|n| scope.spawn(move || worker(n))).collect();
        threads.into_iter().try_for_each(|t| {
            t.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended in a fault")))
        })
    })?;
    Ok(done.into_inner() as f64 / began.elapsed().as_secs_f64())
}

/// Returns the part of `memory` that starts at a multiple of [`SHORT`], as direct I/O requires.
fn aligned(memory: &mut [u8], length: usize) -> &mut [u8] {
    let skip = memory.as_ptr().align_offset(SHORT);
    &mut memory[skip..skip + length]
}

/// Fills the buffer with data that no file system can compress, the same at each call.
fn fill(buffer: &mut [u8]) {
    let mut state = 0xA076_1D64_78BD_642F;
    for word in buffer.chunks_exact_mut(8) {
        word.copy_from_slice(&next(&mut state).to_le_bytes());
    }
}

/// Returns the next number of Marsaglia's 64-bit xorshift.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_measured_and_left_empty() {
        let dir = tempfile::tempdir().unwrap();
        let figures = measure(dir.path(), Duration::from_millis(40), 64 << 20).unwrap();
        for metric in figures.metrics() {
            assert!(metric.value.is_some_and(|v| v > 0.0 && v.is_finite()), "{metric:?}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(measure(&dir.path().join("none"), Duration::from_millis(40), 1 << 20).is_err());
    }
}
