//! Data layouts shared by the probes in `bpf/` and this loader: the same as in `bpf/io.h`.
#![allow(unsafe_code)]

use crate::ebpf::shared_with_probes;

/// Bytes of a program's name.
pub(super) const COMM: usize = 16;
/// Maximum number of devices in a filter.
pub(super) const MAX_DEVICES: usize = 16;
/// Maximum number of programs, of processes and of control groups in a filter.
pub(super) const MAX_NAMES: usize = 8;
/// Number of log-linear buckets.
pub(super) const FINE: usize = 1152;
/// Number of buckets of a power-of-two histogram.
pub(super) const ROWS: usize = 65;
/// Maximum number of regions of a device.
pub(super) const REGIONS: usize = 1024;
/// Number of path components that are reported.
const PARTS: usize = 12;
/// Bytes of a path component.
const PART: usize = 64;

/// Configuration of the probes, set before they are loaded. With all fields 0 they record nothing:
/// start from [`IoProbeConfig::taking_all`].
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct IoProbeConfig {
    pub unit_ns: u64,
    pub iomap_end_io: u64,
    pub first_block: u64,
    pub last_block: u64,
    pub cgroups: [u64; MAX_NAMES],
    pub devices: [u32; MAX_DEVICES],
    pub pids: [u32; MAX_NAMES],
    pub programs: [[u8; COMM]; MAX_NAMES],
    pub n_cgroups: u32,
    pub n_devices: u32,
    pub n_pids: u32,
    pub n_programs: u32,
    pub groups: u32,
    pub sys_io_submit: u32,
    pub sys_io_uring_enter: u32,
    pub flags: u32,
    pub tracked: u8,
    pub events: u8,
    pub by_program: u8,
    pub by_pid: u8,
    pub by_cgroup: u8,
    pub by_file: u8,
    pub rows: u8,
    pub regions: u8,
    pub only_reads: u8,
    pub only_writes: u8,
    pub queue_before_request: u8,
    pub queue_before_bio: u8,
    pub issue: u8,
    pub waits: u8,
    pub pad: [u8; 2],
}

impl IoProbeConfig {
    /// Returns a configuration that records every I/O, without optional features.
    pub fn taking_all() -> Self {
        IoProbeConfig {
            unit_ns: 1,
            last_block: u64::MAX,
            sys_io_submit: libc::SYS_io_submit as u32,
            sys_io_uring_enter: libc::SYS_io_uring_enter as u32,
            flags: u32::MAX,
            ..IoProbeConfig::default()
        }
    }
}

/// Key that distinguishes groups; fields that the question does not need are 0.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct IoKey {
    pub cgroup: u64,
    pub ino: u64,
    pub dev: u32,
    pub op: u8,
    /// Certainty of the file, as in [`sure`].
    pub sure: u8,
    /// True for metadata, if files are distinguished.
    pub metadata: u8,
    pub pad: u8,
    pub tgid: u32,
    pub file_dev: u32,
    pub comm: [u8; COMM],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct TimeSums {
    pub n: u64,
    pub sum: u64,
    pub least: u64,
    pub greatest: u64,
}

/// Counts of one group on one CPU.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct IoCounts {
    pub ios: u64,
    pub bytes: u64,
    pub aio: u64,
    pub writeback: u64,
    pub readahead: u64,
    pub nosync: u64,
    pub times: [TimeSums; 3],
    pub fine: [[u32; FINE]; 3],
    pub rows: [[u32; ROWS]; 4],
    pub pad: [u32; 4],
}

/// Counts by region of one group on one CPU.
pub(super) type RegionCounts = [u32; REGIONS];

/// One completed I/O, as reported in the ring.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct RingEvent {
    pub start_ns: u64,
    pub issue_ns: u64,
    pub end_ns: u64,
    pub sector: u64,
    pub cgroup: u64,
    pub ino: u64,
    pub bytes: u32,
    pub dev: u32,
    pub tgid: u32,
    pub file_dev: u32,
    pub op: u8,
    pub flags: u8,
    pub sure: u8,
    pub known: u8,
    pub pad: u32,
    pub comm: [u8; COMM],
}

/// One I/O in flight.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct IoInFlight {
    /// Address of its request; 0 for an unused slot.
    pub id: u64,
    pub issue_ns: u64,
    pub sector: u64,
    pub cgroup: u64,
    pub ino: u64,
    pub bytes: u32,
    pub tgid: u32,
    pub file_dev: u32,
    pub flags: u8,
    pub sure: u8,
    pub left_out: u8,
    pub op: u8,
    pub dev: u32,
    pub claims: u32,
    pub start_ns: u64,
    pub comm: [u8; COMM],
}

/// Number of sets in the table of I/Os in flight.
pub(super) const SETS: u32 = 1 << 14;

/// Slots of one set.
pub(super) type Set = [IoInFlight; 4];

/// Number of event counters.
pub(super) const COUNTS: usize = 21;

/// Event counters of the probes, indexed by [`count`].
pub(super) type ProbeCounts = [u64; COUNTS];

/// Size of a CPU's cache of recent groups, in 64-bit words.
const CACHE: usize = 128 * 7;

/// Data that each CPU has for itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct PerCpuData {
    pub counts: ProbeCounts,
    pub cache: [u64; CACHE],
}

/// Path of a file, the last component first.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct PathRecord {
    pub ino: u64,
    pub file_dev: u32,
    pub parts: u32,
    pub part: [[u8; PART]; PARTS],
}

shared_with_probes! {
    IoProbeConfig: 368, IoKey: 48, IoCounts: 15024, RingEvent: 88, PathRecord: 784,
    IoInFlight: 88, PerCpuData: 7336,
}

/// Indexes of the event counters.
pub(super) mod count {
    pub const STARTS: usize = 0;
    pub const ENDS: usize = 1;
    pub const UNMATCHED: usize = 2;
    pub const FLUSH_ENDS: usize = 3;
    pub const TABLE_FULL: usize = 4;
    pub const RING_FULL: usize = 5;
    pub const BACKWARDS: usize = 6;
    pub const NO_ISSUE: usize = 7;
    pub const PARTIAL: usize = 9;
    pub const UNTOLD: usize = 10;
    pub const REQUEUED: usize = 11;
    pub const FLUSHES: usize = 12;
    pub const MERGED: usize = 13;
    pub const BEFORE: usize = 14;
    pub const LEFT_OUT: usize = 15;
    pub const FILE: usize = 16;
}

/// Certainty of an I/O's file, in the probes' numbers.
pub(super) mod sure {
    pub const OPEN: u8 = 1;
    pub const PAGE: u8 = 2;
    pub const PAGE_ABOVE: u8 = 3;
    pub const DEVICE: u8 = 4;
}
