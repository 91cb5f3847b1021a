//! Settings of malloc for this process.
#![allow(unsafe_code)] // neither the standard library nor rustix sets the parameters of malloc

/// Makes malloc take memory from the kernel in large steps and keep it until the process ends, for
/// a short verb that needs some megabytes on a few threads. With the small default steps, threads
/// wait for each other at every step, and freed memory causes page faults again.
#[cfg(target_env = "gnu")]
pub fn soon_over() {
    let (step, keep, largest) = (4 << 20, 128 << 20, 32 << 20);
    for (parameter, bytes) in
        [(libc::M_TOP_PAD, step), (libc::M_TRIM_THRESHOLD, keep), (libc::M_MMAP_THRESHOLD, largest)]
    {
        // SAFETY: mallopt takes two integers and sets a parameter of malloc; a value that it
        // rejects changes nothing.
        unsafe { libc::mallopt(parameter, bytes) };
    }
}

/// Does nothing, because other C libraries lack these parameters.
#[cfg(not(target_env = "gnu"))]
pub fn soon_over() {}
