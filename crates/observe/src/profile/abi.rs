//! What the probes in `bpf/profile.bpf.c` and this loader share: the layouts of `bpf/profile.h`.
#![allow(unsafe_code)]

use aya::Pod;

/// Bytes of a thread's name.
pub(super) const COMM: usize = 16;
/// The most frames of a stack.
pub(super) const DEPTH: usize = 127;
/// The stack of a group whose stack had no room.
pub(super) const NO_ROOM: u64 = u64::MAX;

/// What a thread is doing, in the probes' numbers.
pub(super) mod state {
    pub const ON_CPU: u8 = 0;
    pub const IO_WAIT: u8 = 3;
    pub const RUNNABLE: u8 = 4;
    pub const BEFORE: u8 = 5;
    pub const ON_CPU_EXACT: u8 = 6;
}

/// What the probes count besides.
pub(super) mod counter {
    pub const LOST_GROUPS: u32 = 1;
    pub const LOST_STACKS: u32 = 2;
    pub const LOST_TASKS: u32 = 3;
    pub const LOST_NS: u32 = 4;
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Config {
    pub period_ns: u64,
    pub root: u32,
    pub all: u8,
    pub off_cpu: u8,
    pub state_argument: u8,
    pub kernel: u8,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Window {
    pub begin_ns: u64,
    pub end_ns: u64,
}

/// A process that is followed.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Target {
    pub generation: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Group {
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
pub(super) struct Amount {
    pub n: u64,
    pub ns: u64,
}

/// A thread that is followed.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Task {
    pub since_ns: u64,
    pub woken_ns: u64,
    pub kernel_stack: u64,
    pub user_stack: u64,
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

// The same numbers stand in bpf/profile.h.
const _: () = assert!(size_of::<Config>() == 16);
const _: () = assert!(size_of::<Group>() == 48);
const _: () = assert!(size_of::<Task>() == 64);
const _: () = assert!(size_of::<Stack>() == 1024);

// SAFETY: whole numbers and arrays of them in C layout without padding (the pads are fields), so every
// pattern of bits is a value.
unsafe impl Pod for Config {}
// SAFETY: as above.
unsafe impl Pod for Window {}
// SAFETY: as above.
unsafe impl Pod for Target {}
// SAFETY: as above.
unsafe impl Pod for Group {}
// SAFETY: as above.
unsafe impl Pod for Amount {}
// SAFETY: as above.
unsafe impl Pod for Task {}
// SAFETY: as above.
unsafe impl Pod for Stack {}
