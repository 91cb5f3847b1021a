//! Data layouts shared by the probes in `bpf/syscalls.bpf.c` and this loader: the same as in
//! `bpf/syscalls.h`.
#![allow(unsafe_code)]

use crate::ebpf::shared_with_probes;
use assay_traces::syscalls::BUCKETS;

/// Bytes of a thread's name.
pub(super) const COMM: usize = 16;

/// Indexes of the probes' counters (`enum counter` in `bpf/syscalls.h`).
pub(super) mod counter {
    pub const LOST_CALLS: u32 = 1;
    pub const LOST_NS: u32 = 2;
    pub const LOST_ERRORS: u32 = 3;
    pub const LOST_TASKS: u32 = 4;
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct SyscallConfig {
    pub root: u32,
    pub all: u8,
    pub by_process: u8,
    pub pad: [u8; 2],
}

#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct SyscallGroup {
    pub number: u32,
    pub tgid: u32,
    pub comm: [u8; COMM],
    pub kind: u8,
    pub measured: u8,
    pub narrow: u8,
    pub pad: [u8; 5],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CallTotals {
    pub calls: u64,
    pub errors: u64,
    pub ns: u64,
    pub most_ns: u64,
    pub returned: u64,
    pub times: [u64; BUCKETS],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct SyscallError {
    pub of: SyscallGroup,
    pub number: u64,
}

/// Traits of each call by number, as the probes use them.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Traits(pub [u8; assay_traces::syscalls::NUMBERS]);

shared_with_probes! {
    SyscallConfig: 8, SyscallGroup: 32, SyscallError: 40, CallTotals: 360,
    Traits: assay_traces::syscalls::NUMBERS,
}
