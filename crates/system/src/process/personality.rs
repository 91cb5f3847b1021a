//! The personality of the calling thread, which determines whether programs that it starts get a
//! randomized address space: `personality(2)`.
#![allow(unsafe_code)] // neither the standard library nor rustix has this call

use std::io;

/// Programs started with this bit get the same address space every time.
pub(crate) const NO_RANDOMIZE: u32 = libc::ADDR_NO_RANDOMIZE as u32;

/// Argument that reads the personality without changing it.
const QUERY: u32 = 0xffff_ffff;

/// Returns the personality of the calling thread.
pub(crate) fn current() -> io::Result<u32> {
    call(QUERY)
}

/// Sets the personality of the calling thread.
pub(crate) fn set(personality: u32) -> io::Result<()> {
    call(personality).map(|_| ())
}

fn call(personality: u32) -> io::Result<u32> {
    // SAFETY: the call takes a number and accesses no memory.
    let old = unsafe { libc::personality(libc::c_ulong::from(personality)) };
    if old < 0 { Err(io::Error::last_os_error()) } else { Ok(old as u32) }
}
