//! `perf_event_open(2)`: the kernel's structure and the call, for counters and for rings of samples.
#![allow(unsafe_code)] // neither the standard library nor rustix has this call

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd, OwnedFd};

/// The kernel's `struct perf_event_attr`, of version 8 (128 bytes). Older kernels take it as long as the fields
/// that they do not know are 0.
#[repr(C)]
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    /// The type of event: hardware, software, tracepoint, or the number of a PMU.
    pub kind: u32,
    size: u32,
    /// Which event of that type.
    pub config: u64,
    /// Events from one sample to the next.
    pub sample_period: u64,
    /// What a sample holds.
    pub sample_type: u64,
    /// What a read of the counter gives.
    pub read_format: u64,
    /// Bits: disabled, inherit, ...
    pub flags: u64,
    /// Events, or with a flag bytes, after which a reader wakes.
    pub wakeup: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    /// Which registers of the program a sample holds, with a bit in `sample_type`.
    pub sample_regs_user: u64,
    /// How many bytes of the program's stack, likewise.
    pub sample_stack_user: u32,
    /// The clock of the samples, with a flag.
    pub clockid: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
    rest: [u64; 2],
}

const SIZE: u32 = 128;
const _: () = assert!(size_of::<Attributes>() == SIZE as usize);

/// The flag of an event that counts nothing until it is enabled.
pub const DISABLED: u64 = 1;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: u64 = 1 << 3;

impl Attributes {
    /// An event of a type, with everything else off.
    pub fn new(kind: u32, config: u64) -> Self {
        Attributes { kind, size: SIZE, config, ..Attributes::default() }
    }

    /// Opens the event for a process (0: the calling thread, -1: all) on a CPU (-1: any).
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn open(&self, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
        self.open_in(pid, cpu, None)
    }

    /// As [`Attributes::open`], in the group of another event: they are counted at the same times.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn open_in(
        &self,
        pid: i32,
        cpu: i32,
        leader: Option<BorrowedFd<'_>>,
    ) -> io::Result<OwnedFd> {
        let group = leader.map_or(-1, |leader| leader.as_raw_fd());
        // SAFETY: `self` is a whole `perf_event_attr` of the size that it states and outlives the call, which only
        // reads it; the other arguments are numbers.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                std::ptr::from_ref(self),
                pid,
                cpu,
                group,
                CLOSE_ON_EXEC,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given this descriptor to us alone.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
    }
}
