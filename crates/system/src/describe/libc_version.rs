//! Describes the C library that assay itself runs with. Reading its version takes a call into it.
#![allow(unsafe_code)] // the C library reports its version only through a C function

use super::facts::Facts;

pub(super) fn describe(facts: &mut Facts<'_>) {
    if !facts.root.is_system() {
        return facts.unknown("libc.version", "it can be asked only on the machine itself");
    }
    ask(facts);
}

#[cfg(target_env = "gnu")]
fn ask(facts: &mut Facts<'_>) {
    // SAFETY: the function takes no arguments and returns a pointer to a static, zero-terminated
    // text.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    facts.set("libc.version", format!("glibc {}", text.to_string_lossy()));
}

#[cfg(not(target_env = "gnu"))]
fn ask(facts: &mut Facts<'_>) {
    facts.unknown("libc.version", "this C library does not report its version");
}
