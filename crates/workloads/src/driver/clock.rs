//! Waiting on the clock that all processes of a trial share.

pub use assay_system::clock::monotonic_ns as now_ns;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

/// Time before the deadline at which waiting changes from sleeping to spinning.
const SPIN_NS: u64 = 120_000;

/// Sleeps until `t_ns`. Returns at once if that is in the past.
pub fn sleep_until(t_ns: u64) {
    let moment =
        Timespec { tv_sec: (t_ns / 1_000_000_000) as i64, tv_nsec: (t_ns % 1_000_000_000) as _ };
    while now_ns() < t_ns {
        // A signal may interrupt the sleep; the loop sleeps for the rest.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &moment);
    }
}

/// Waits until `t_ns` to within a fraction of a microsecond; spins for up to [`SPIN_NS`].
pub fn spin_until(t_ns: u64) {
    if t_ns > now_ns() + 2 * SPIN_NS {
        sleep_until(t_ns - SPIN_NS);
    }
    while now_ns() < t_ns {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn waiting_ends_after_the_moment() {
        for wait in [crate::driver::clock::sleep_until, crate::driver::clock::spin_until] {
            let until = crate::driver::clock::now_ns() + 1_000_000;
            wait(until);
            assert!(crate::driver::clock::now_ns() >= until);
            wait(until);
        }
    }
}
