//! How a run ends before its time: set once, by the first thread to find out, and read by all.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::clock::now_ns;
use crate::report::Ended;

/// How a run ends before its time: the first to set it decides.
#[derive(Debug, Default)]
pub struct End {
    /// Set once the run is to end.
    halt: AtomicBool,
    /// 0 none, 1 gone, 2 stopped, 3 timed out.
    why: AtomicU64,
    at: AtomicU64,
}

impl End {
    /// Ends the run now, if it has not been ended.
    pub fn now(&self, why: fn(u64) -> Ended) {
        let at = now_ns();
        let code = match why(at) {
            Ended::Complete => return,
            Ended::ServerGone { .. } => 1,
            Ended::Stopped { .. } => 2,
            Ended::TimedOut { .. } => 3,
        };
        if self.why.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.at.store(at, Ordering::Release);
            self.halt.store(true, Ordering::Release);
        }
    }

    /// Whether the run is to end now.
    #[inline]
    pub fn is_now(&self) -> bool {
        self.halt.load(Ordering::Acquire)
    }

    /// How the run ended.
    pub fn how(&self) -> Ended {
        if !self.is_now() {
            return Ended::Complete;
        }
        let at_ns = self.at.load(Ordering::Acquire);
        match self.why.load(Ordering::Acquire) {
            1 => Ended::ServerGone { at_ns },
            2 => Ended::Stopped { at_ns },
            _ => Ended::TimedOut { at_ns },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_say_so_decides() {
        let end = End::default();
        assert_eq!((end.is_now(), end.how()), (false, Ended::Complete));
        end.now(|at_ns| Ended::ServerGone { at_ns });
        end.now(|at_ns| Ended::Stopped { at_ns });
        assert!(end.is_now() && matches!(end.how(), Ended::ServerGone { at_ns } if at_ns > 0));
    }
}
