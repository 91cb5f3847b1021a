//! A private IPC namespace: System V shared memory created in it is removed with its last process,
//! for whatever reason that ends.
#![allow(unsafe_code)] // rustix marks unshare(2) as unsafe because of a flag that is not used here

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Moves the calling thread and its future children into a new IPC namespace. Returns `false`
/// without root, which this needs.
///
/// # Errors
/// Returns the error of unshare(2).
pub(crate) fn own() -> std::io::Result<bool> {
    if !rustix::process::geteuid().is_root() {
        return Ok(false);
    }
    // SAFETY: of the flags, only CLONE_FILES breaks Rust's assumptions on file descriptors, and it
    // is not set.
    unsafe { unshare_unsafe(UnshareFlags::NEWIPC) }?;
    Ok(true)
}
