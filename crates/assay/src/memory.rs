//! How this process takes memory from the kernel.
#![allow(unsafe_code)] // neither the standard library nor rustix sets the parameters of malloc

/// For a verb that takes some megabytes on a few threads and ends: memory comes in large steps and goes back at the
/// end. In the usual small ones the threads wait for each other at each, and what was freed is faulted in again.
#[cfg(target_env = "gnu")]
pub fn soon_over() {
    let (step, keep, largest) = (4 << 20, 128 << 20, 32 << 20);
    for (parameter, bytes) in
        [(libc::M_TOP_PAD, step), (libc::M_TRIM_THRESHOLD, keep), (libc::M_MMAP_THRESHOLD, largest)]
    {
        // SAFETY: mallopt takes two numbers and sets one of malloc's own; one that it refuses changes nothing.
        unsafe { libc::mallopt(parameter, bytes) };
    }
}

/// Other C libraries have no such parameters.
#[cfg(not(target_env = "gnu"))]
pub fn soon_over() {}
