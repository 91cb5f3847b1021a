//! `SO_RCVLOWAT`: the kernel reports a TCP connection as readable only once this number of bytes
//! has arrived. With a deep pipeline this avoids most wake-ups, because memcached answers a
//! pipeline with many small writes.
#![allow(unsafe_code)] // neither the standard library nor rustix has this socket option

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

/// Sets the low-water mark in bytes. Lowering it below the number of buffered bytes makes the
/// connection readable at once.
///
/// # Errors
/// The kernel's error.
pub fn set(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    let value: libc::c_int = i32::try_from(bytes).unwrap_or(i32::MAX);
    // SAFETY: the descriptor is open while `socket` is borrowed; the pointer and the length
    // describe `value`, which lives until the call returns, and the kernel only reads it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
