//! Data layouts shared by the probes in `bpf/profile.bpf.c` and this loader: the same as in
//! `bpf/profile.h`.
#![allow(unsafe_code)]

use std::mem::offset_of;

use crate::ebpf::shared_with_probes;

/// Bytes of a thread's name.
pub(super) const COMM: usize = 16;
/// Maximum number of frames of a stack.
pub(super) const DEPTH: usize = 127;
/// Bytes of a program's stack that are copied for unwinding.
pub(super) const STACK_BYTES: usize = 16384;
/// Maximum number of registers, in words.
const REGISTERS: usize = 34;
/// Number of words that the kernel keeps of a program's registers on this architecture; 0 if the
/// layout is unknown.
pub(super) const OWN_REGISTERS: u32 = if cfg!(target_arch = "x86_64") {
    21
} else if cfg!(target_arch = "aarch64") {
    34
} else {
    0
};
/// Stack id of a group whose stack was dropped because the table was full.
pub(super) const NO_ROOM: u64 = u64::MAX;

/// State of a thread, in the probes' numbers.
pub(super) mod state {
    pub const ON_CPU: u8 = 0;
    pub const IO_WAIT: u8 = 3;
    pub const RUNNABLE: u8 = 4;
    pub const ON_CPU_EXACT: u8 = 6;
}

/// Indexes of the probes' counters (`enum counter` in `bpf/profile.h`).
pub(super) mod counter {
    pub const LOST_GROUPS: u32 = 1;
    pub const LOST_STACKS: u32 = 2;
    pub const LOST_TASKS: u32 = 3;
    pub const LOST_NS: u32 = 4;
    pub const LOST_UNWINDS: u32 = 5;
    pub const SHORT_WAITS: u32 = 6;
    pub const CHOSEN_WAITS: u32 = 7;
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct ProfileConfig {
    pub period_ns: u64,
    pub short_ns: u64,
    pub root: u32,
    pub all: u8,
    pub off_cpu: u8,
    pub state_argument: u8,
    pub kernel: u8,
    pub registers: u32,
    pub walks: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct StackGroup {
    pub kernel_stack: u64,
    pub user_stack: u64,
    pub tgid: u32,
    pub generation: u32,
    pub comm: [u8; COMM],
    pub state: u8,
    pub measured: u8,
    pub pad: [u8; 6],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct StackTime {
    pub n: u64,
    pub ns: u64,
}

/// State of a followed thread.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct FollowedThread {
    pub since_ns: u64,
    pub woken_ns: u64,
    pub kernel_stack: u64,
    pub user_stack: u64,
    /// CPU time outside of and in the measurement window that is not in any group yet, nanoseconds.
    pub exact_ns: [u64; 2],
    pub tgid: u32,
    pub generation: u32,
    pub comm: [u8; COMM],
    pub state: u8,
    pub pad: [u8; 7],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Stack {
    pub n: u64,
    pub ip: [u64; DEPTH],
}

/// A sample to be unwound, with the layout of its ring entry.
#[repr(C)]
struct UnwindSample {
    group: StackGroup,
    registers: [u64; REGISTERS],
    base: u64,
    bytes: u64,
    frames: u64,
    ip: [u64; DEPTH],
    stack: [u8; STACK_BYTES],
}

/// A sample to be unwound, reduced to the bytes in use.
#[derive(Debug)]
pub(super) struct RawSample {
    /// Group of the sample, with the stack found by frame pointers.
    pub group: StackGroup,
    /// Registers of the program, in the kernel's order.
    pub registers: [u64; REGISTERS],
    /// Address of the first byte in `stack`.
    pub base: u64,
    /// Copy of the innermost part of the stack.
    pub stack: Vec<u8>,
    /// Addresses found by frame pointers, innermost first.
    pub frames: Vec<u64>,
}

impl RawSample {
    /// Reads a sample from a ring entry; returns `None` if it is too short.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < size_of::<UnwindSample>() {
            return None;
        }
        let word = |at: usize| crate::io::perf_ring::number(bytes, at, 8);
        let words = |at: usize, n: usize| (0..n).map(move |i| word(at + 8 * i));
        let mut registers = [0; REGISTERS];
        for (register, value) in
            registers.iter_mut().zip(words(offset_of!(UnwindSample, registers), REGISTERS))
        {
            *register = value;
        }
        let stack = &bytes[offset_of!(UnwindSample, stack)..];
        let length = (word(offset_of!(UnwindSample, bytes)) as usize).min(STACK_BYTES);
        let frames = (word(offset_of!(UnwindSample, frames)) as usize).min(DEPTH);
        Some(RawSample {
            // SAFETY: the bytes begin with a group, as the length says, and every pattern of bits
            // is one.
            group: unsafe { bytes.as_ptr().cast::<StackGroup>().read_unaligned() },
            registers,
            base: word(offset_of!(UnwindSample, base)),
            stack: stack[..length].to_vec(),
            frames: words(offset_of!(UnwindSample, ip), frames).collect(),
        })
    }
}

// The layout of a ring entry, which is read by its offsets.
const _: () = assert!(size_of::<UnwindSample>() == 17744);
shared_with_probes! {
    ProfileConfig: 32, StackGroup: 48, StackTime: 16, FollowedThread: 80, Stack: 1024,
}
