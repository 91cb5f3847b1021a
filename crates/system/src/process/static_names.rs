//! Name resolution of a statically linked program.
#![allow(unsafe_code)] // calls the C library

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
}

/// Resolves names of hosts by `/etc/hosts` and DNS alone. The other services of `nsswitch.conf` are
/// shared libraries; loading them crashes a static program if glibc here is of another version.
pub fn configure() {
    // SAFETY: both are static C strings, and no other thread resolves a name yet.
    unsafe { __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr()) };
}
