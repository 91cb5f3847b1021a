//! Rings of `perf_event_open`, one per CPU, for tracepoints, samples and changes of memory maps.
//! Nothing remains when this process ends.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering, fence};

use assay_traces::translation::perf_event::{Attributes, DISABLED};

/// Bytes of a ring: a power of two, and of pages of each size (4 KiB on x86-64, up to 64 KiB on
/// arm64).
const BYTES: usize = 4 << 20;
/// Bytes of a ring without privileges: with the header page, all that `kernel.perf_event_mlock_kb`
/// allows by default.
#[cfg(feature = "ebpf")]
const OWN_BYTES: usize = 512 << 10;

#[cfg(feature = "ebpf")]
const SOFTWARE: u32 = 1;
const TRACEPOINT: u32 = 2;
/// An event that never occurs, opened for the records that accompany events.
#[cfg(feature = "ebpf")]
const DUMMY: u64 = 9;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_RAW: u64 = 1 << 10;
#[cfg(feature = "ebpf")]
const FLAG_INHERIT: u64 = 1 << 1;
const FLAG_WATERMARK: u64 = 1 << 14;
const FLAG_USE_CLOCKID: u64 = 1 << 25;
/// Executable maps (mmap, mmap2), names with a mark at exec, forks and exits, with time and
/// process.
#[cfg(feature = "ebpf")]
const FLAGS_MAPS: u64 = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24;
/// Build ids in place of inodes (Linux 5.12 and later).
#[cfg(feature = "ebpf")]
const FLAG_BUILD_ID: u64 = 1 << 34;
const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;
const IOC_ENABLE: u32 = 0x2400;
const IOC_DISABLE: u32 = 0x2401;
const IOC_SET_OUTPUT: u32 = 0x2405;

/// One sample: time, process, and the raw data of the tracepoint.
pub(crate) struct Sample<'a> {
    pub time_ns: u64,
    pub pid: u32,
    pub raw: &'a [u8],
}

/// Events of one CPU and their ring.
pub(crate) struct CpuRing {
    events: Vec<OwnedFd>,
    base: *mut u8,
    /// Bytes of the header, one page, before the data.
    page: usize,
    bytes: usize,
    scratch: Vec<u8>,
}

// SAFETY: the mapping belongs to this value alone and is read by whoever holds it mutably.
unsafe impl Send for CpuRing {}

fn control(event: &OwnedFd, what: u32, value: i32) -> std::io::Result<()> {
    // SAFETY: these ioctls take an integer and do not touch this process's memory.
    let done = unsafe { libc::ioctl(event.as_raw_fd(), what.into(), value) };
    if done < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

impl CpuRing {
    /// Opens tracepoints on a CPU, given by their ids.
    pub fn open(cpu: i32, tracepoints: &[u64]) -> std::io::Result<Self> {
        let of = |id: &u64| {
            let mut event = Attributes::new(TRACEPOINT, *id);
            event.sample_period = 1;
            event.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_RAW;
            event
        };
        Self::open_events(cpu, tracepoints.iter().map(|id| (of(id), -1)), BYTES)
    }

    /// Opens the records of executable maps, programs and processes on a CPU.
    #[cfg(feature = "ebpf")]
    pub fn open_maps(cpu: i32) -> std::io::Result<Self> {
        let of = |flags| {
            let mut event = Attributes::new(SOFTWARE, DUMMY);
            event.sample_type = SAMPLE_TID | SAMPLE_TIME;
            event.flags = flags;
            event
        };
        let open = |flags| Self::open_events(cpu, [(of(flags), -1)].into_iter(), BYTES);
        open(FLAGS_MAPS | FLAG_BUILD_ID).or_else(|_| open(FLAGS_MAPS))
    }

    /// Opens samples of these threads and all that they start, with the records of their maps, on a
    /// CPU. Threads that have ended meanwhile are skipped.
    #[cfg(feature = "ebpf")]
    pub fn open_samples(cpu: i32, threads: &[u32], event: &Attributes) -> std::io::Result<Self> {
        let of = |flags| {
            let mut event = event.clone();
            event.flags |= FLAGS_MAPS | FLAG_INHERIT | flags;
            event
        };
        let open = |flags| {
            let events = threads.iter().map(|tid| (of(flags), *tid as i32));
            Self::open_events(cpu, events, OWN_BYTES)
        };
        open(FLAG_BUILD_ID).or_else(|_| open(0))
    }

    fn open_events(
        cpu: i32,
        wanted: impl Iterator<Item = (Attributes, i32)>,
        bytes: usize,
    ) -> std::io::Result<Self> {
        let mut events = Vec::new();
        for (mut event, pid) in wanted {
            event.flags |= DISABLED | FLAG_WATERMARK | FLAG_USE_CLOCKID;
            // Nobody sleeps on the ring: it is polled.
            event.wakeup = u32::MAX;
            event.clockid = libc::CLOCK_MONOTONIC;
            match event.open(pid, cpu) {
                Ok(opened) => events.push(opened),
                Err(e) if pid > 0 && e.raw_os_error() == Some(libc::ESRCH) => {}
                Err(e) => return Err(e),
            }
        }
        let first = events.first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let page = rustix::param::page_size();
        // SAFETY: a new shared mapping of the descriptor's ring; nothing else is at that address.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page + bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                first.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let ring = CpuRing { events, base: base.cast(), page, bytes, scratch: Vec::new() };
        for event in &ring.events[1..] {
            control(event, IOC_SET_OUTPUT, ring.events[0].as_raw_fd())?;
        }
        for event in &ring.events {
            control(event, IOC_ENABLE, 0)?;
        }
        Ok(ring)
    }

    /// Stops recording; the data in the ring can still be read.
    pub fn disable(&self) {
        for event in &self.events {
            // An event that is gone records nothing either.
            let _ = control(event, IOC_DISABLE, 0);
        }
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page of the ring holds the kernel's 64-bit counters at these offsets
        // (data_head at 1024, data_tail at 1032), aligned, and it lives as long as `self`.
        #[allow(clippy::cast_ptr_alignment)] // aligned, as said above
        unsafe {
            &*self.base.add(offset).cast::<AtomicU64>()
        }
    }

    /// Passes every sample to `each`; returns the number of records that the kernel lost.
    pub fn drain(&mut self, mut each: impl FnMut(Sample<'_>)) -> u64 {
        self.records(|kind, _, record| {
            if kind == RECORD_SAMPLE && record.len() >= 28 {
                let length = number(record, 24, 4) as usize;
                let raw = &record[28..record.len().min(28 + length)];
                let (pid, time_ns) = (number(record, 8, 4) as u32, number(record, 16, 8));
                each(Sample { time_ns, pid, raw });
            }
        })
    }

    /// Passes every record to `each`, with its kind and flags; returns the number of records that
    /// the kernel lost.
    pub fn records(&mut self, mut each: impl FnMut(u32, u16, &[u8])) -> u64 {
        let head = self.word(1024).load(Ordering::Acquire);
        let mut tail = self.word(1032).load(Ordering::Relaxed);
        let mut lost = 0;
        let mut scratch = std::mem::take(&mut self.scratch);
        while tail < head {
            self.copy(tail, 8, &mut scratch);
            let kind = number(&scratch, 0, 4) as u32;
            let flags = number(&scratch, 4, 2) as u16;
            let size = number(&scratch, 6, 2) as usize;
            if size < 8 {
                break;
            }
            self.copy(tail, size, &mut scratch);
            match kind {
                RECORD_LOST if size >= 24 => lost += number(&scratch, 16, 8),
                _ => each(kind, flags, &scratch),
            }
            tail += size as u64;
        }
        self.scratch = scratch;
        // All reads must finish before the kernel may overwrite the data.
        fence(Ordering::SeqCst);
        self.word(1032).store(tail, Ordering::Release);
        lost
    }

    /// Copies bytes from the ring, around its end.
    fn copy(&self, from: u64, length: usize, to: &mut Vec<u8>) {
        let at = from as usize % self.bytes;
        let first = length.min(self.bytes - at);
        to.clear();
        to.reserve(length);
        // SAFETY: both parts lie within the data pages of the mapping, which follow the first page,
        // and the kernel does not write between tail and head.
        unsafe {
            let data = self.base.add(self.page);
            std::ptr::copy_nonoverlapping(data.add(at), to.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(data, to.as_mut_ptr().add(first), length - first);
            to.set_len(length);
        }
    }
}

impl Drop for CpuRing {
    fn drop(&mut self) {
        // SAFETY: `open` made the mapping with this length, and it is not used any more.
        unsafe {
            libc::munmap(self.base.cast(), self.page + self.bytes);
        }
    }
}

/// Reads a number in native byte order from a record; returns 0 if the record is shorter.
pub(crate) fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(part) = bytes.get(at..at + size.min(8)) {
        word[..part.len()].copy_from_slice(part);
    }
    u64::from_ne_bytes(word)
}

/// Returns the CPUs that are online.
pub(crate) fn cpus() -> Vec<i32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let range = |part: &str| -> Option<std::ops::RangeInclusive<i32>> {
        let (a, b) = part.split_once('-').unwrap_or((part, part));
        Some(a.trim().parse().ok()?..=b.trim().parse().ok()?)
    };
    let all: Vec<i32> = text.trim().split(',').filter_map(range).flatten().collect();
    if all.is_empty() { vec![0] } else { all }
}

/// Reads a small file that describes a tracepoint.
pub(crate) fn describe(path: &std::path::Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    File::open(path)?.take(1 << 16).read_to_string(&mut text)?;
    Ok(text)
}
