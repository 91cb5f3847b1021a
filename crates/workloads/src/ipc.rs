//! An IPC namespace of one's own: shared memory of System V that was made in it goes with its processes,
//! however they end.
#![allow(unsafe_code)] // unshare(2) is unsafe to rustix for a flag that is not used here

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Moves the calling thread, and what it starts from now on, into one. `false`: not root, which it takes.
///
/// # Errors
/// The system's error.
pub(crate) fn own() -> std::io::Result<bool> {
    if !rustix::process::geteuid().is_root() {
        return Ok(false);
    }
    // SAFETY: only CLONE_FILES has an effect that Rust's ideas of file descriptors do not allow for.
    unsafe { unshare_unsafe(UnshareFlags::NEWIPC) }?;
    Ok(true)
}
