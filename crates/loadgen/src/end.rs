//! Early end of a run: set once, by the first thread that finds a reason, and read by all threads.

use std::sync::OnceLock;

use crate::clock::now_ns;
use crate::report::Ended;

/// Reason and time of an early end; the first one to be set wins.
#[derive(Debug, Default)]
pub struct End(OnceLock<Ended>);

impl End {
    /// Ends the run now, unless it has ended already.
    pub fn now(&self, why: fn(u64) -> Ended) {
        // A later reason is ignored.
        let _ = self.0.set(why(now_ns()));
    }

    /// True if the run has to end now.
    #[inline]
    pub fn is_now(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns how the run ended; `Complete` if no early end was set.
    pub fn how(&self) -> Ended {
        self.0.get().copied().unwrap_or(Ended::Complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_say_so_decides() {
        let end = End::default();
        assert_eq!((end.is_now(), end.how()), (false, Ended::Complete));
        end.now(Ended::ServerGone);
        end.now(Ended::Stopped);
        assert!(end.is_now() && matches!(end.how(), Ended::ServerGone(at_ns) if at_ns > 0));
    }
}
