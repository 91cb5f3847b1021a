//! Involuntary context switches of this thread, from `getrusage(2)` with `RUSAGE_THREAD`.
#![allow(unsafe_code)] // getrusage is a kernel interface that no safe crate here wraps.

use std::mem::MaybeUninit;

/// Returns the involuntary context switches of the calling thread since it began, or `None` if
/// getrusage(2) fails.
pub fn involuntary_switches() -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to writable memory of the size of `rusage`; the kernel fills all of it
    // when it returns 0, and it is read only in that case.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
            return None;
        }
        usage.assume_init()
    };
    u64::try_from(usage.ru_nivcsw).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn never_goes_back() {
        let before = crate::builtin::block_size::preemption::involuntary_switches()
            .expect("Linux counts them");
        let after = crate::builtin::block_size::preemption::involuntary_switches()
            .expect("Linux counts them");
        assert!(after >= before);
    }
}
