//! Wraps `perf_event_open(2)`: the kernel's structure and the system call, for counters and for
//! rings of samples.
#![allow(unsafe_code)] // neither the standard library nor rustix has this call

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd, OwnedFd};

/// The kernel's `struct perf_event_attr`, version 8 (128 bytes). Older kernels accept it as long as
/// the fields that they do not know are 0.
#[repr(C)]
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    /// Type of the event: hardware, software, tracepoint, or the number of a PMU.
    pub kind: u32,
    size: u32,
    /// Event of that type.
    pub config: u64,
    /// Number of events per sample.
    pub sample_period: u64,
    /// Bit set of the fields of a sample.
    pub sample_type: u64,
    /// Bit set of the fields that a read returns.
    pub read_format: u64,
    /// Bit set of flags such as `disabled` and `inherit`.
    pub flags: u64,
    /// Number of events (or bytes, with a flag) after which a reader is woken.
    pub wakeup: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    /// Bit set of the user registers in a sample, with a bit in `sample_type`.
    pub sample_regs_user: u64,
    /// Number of bytes of the user stack in a sample, with a bit in `sample_type`.
    pub sample_stack_user: u32,
    /// Clock of the sample times, with a flag.
    pub clockid: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
    rest: [u64; 2],
}

const SIZE: u32 = 128;
const _: () = assert!(size_of::<Attributes>() == SIZE as usize);

/// Flag of an event that counts nothing until it is enabled.
pub const DISABLED: u64 = 1;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: u64 = 1 << 3;

impl Attributes {
    /// Describes an event of a type, with all other options off.
    pub fn new(kind: u32, config: u64) -> Self {
        Attributes { kind, size: SIZE, config, ..Attributes::default() }
    }

    /// Opens the event for a process (0: the calling thread, -1: all) on a CPU (-1: any).
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn open(&self, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
        self.open_in(pid, cpu, None)
    }

    /// Opens the event like [`Attributes::open`], in the group of another event, so that both are
    /// counted at the same times.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn open_in(
        &self,
        pid: i32,
        cpu: i32,
        leader: Option<BorrowedFd<'_>>,
    ) -> io::Result<OwnedFd> {
        let group = leader.map_or(-1, |leader| leader.as_raw_fd());
        // SAFETY: `self` is a complete `perf_event_attr` of the size that it states and outlives
        // the call, which only reads it; the other arguments are numbers.
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
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
    }
}
