//! The memory policy of the calling thread: `get_mempolicy(2)`, `set_mempolicy(2)`.
#![allow(unsafe_code)] // neither the standard library nor rustix has these calls

use std::io;

use crate::process::setup::NumaPolicy;

/// The kernel's maximum number of nodes (`MAX_NUMNODES`) on every architecture.
const NODES: usize = 1024;
const WORD: usize = libc::c_ulong::BITS as usize;

type Mask = [libc::c_ulong; NODES / WORD];

/// A policy in the kernel's form: mode with flags, and the set of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SavedPolicy {
    mode: libc::c_int,
    mask: Mask,
}

/// Returns the policy of the calling thread.
pub(crate) fn current() -> io::Result<SavedPolicy> {
    let mut mode: libc::c_int = 0;
    let mut mask: Mask = [0; NODES / WORD];
    // SAFETY: the kernel writes one int to `mode` and at most NODES bits to `mask`, which has that
    // many.
    let got = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut mode,
            mask.as_mut_ptr(),
            NODES,
            std::ptr::null_mut::<libc::c_void>(),
            0,
        )
    };
    if got < 0 { Err(last_error()) } else { Ok(SavedPolicy { mode, mask }) }
}

/// Sets the policy of the calling thread.
pub(crate) fn set(policy: &NumaPolicy) -> io::Result<()> {
    let (mode, nodes) = match policy {
        NumaPolicy::Interleave(nodes) => (libc::MPOL_INTERLEAVE, nodes.as_slice()),
        NumaPolicy::Bind(nodes) => (libc::MPOL_BIND, nodes.as_slice()),
        NumaPolicy::Preferred(node) => (libc::MPOL_PREFERRED, std::slice::from_ref(node)),
    };
    let mut mask: Mask = [0; NODES / WORD];
    for node in nodes {
        let word = mask
            .get_mut(node / WORD)
            .ok_or_else(|| io::Error::other(format!("there is no node {node}")))?;
        *word |= 1 << (node % WORD);
    }
    restore(&SavedPolicy { mode, mask })
}

/// Restores a policy of the calling thread.
pub(crate) fn restore(policy: &SavedPolicy) -> io::Result<()> {
    // SAFETY: the kernel reads NODES bits from `mask`, which has that many; it takes the count to
    // be one more than the number of bits.
    let set = unsafe {
        libc::syscall(libc::SYS_set_mempolicy, policy.mode, policy.mask.as_ptr(), NODES + 1)
    };
    if set < 0 { Err(last_error()) } else { Ok(()) }
}

fn last_error() -> io::Error {
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ENOSYS) {
        return io::Error::other("this kernel is built without NUMA");
    }
    error
}

impl SavedPolicy {
    /// Formats the policy as a level of the `numa` control.
    pub(crate) fn words(&self) -> String {
        let nodes: Vec<usize> =
            (0..NODES).filter(|n| self.mask[n / WORD] >> (n % WORD) & 1 == 1).collect();
        let list = assay_model::environment::cpulist::format(&nodes);
        // The top bits of the mode are flags (static or relative nodes).
        match self.mode & 0xfff {
            libc::MPOL_DEFAULT => "default".to_owned(),
            libc::MPOL_PREFERRED => format!("preferred:{list}"),
            libc::MPOL_BIND => format!("bind:{list}"),
            libc::MPOL_INTERLEAVE => format!("interleave:{list}"),
            other => format!("policy {other}:{list}"),
        }
    }
}
