//! Early end of a run: set once, by the first thread that finds a reason, and read by all threads.

use std::sync::OnceLock;

use crate::clock::now_ns;
use crate::latency::report::LoadEnd;

/// Reason and time of an early end; the first one to be set wins.
#[derive(Debug, Default)]
pub struct EarlyEnd(OnceLock<LoadEnd>);

impl EarlyEnd {
    /// Ends the run now, unless it has ended already.
    pub fn now(&self, why: fn(u64) -> LoadEnd) {
        // A later reason is ignored.
        let _ = self.0.set(why(now_ns()));
    }

    /// True if the run has to end now.
    #[inline]
    pub fn is_now(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns how the run ended; `Complete` if no early end was set.
    pub fn outcome(&self) -> LoadEnd {
        self.0.get().copied().unwrap_or(LoadEnd::Complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_say_so_decides() {
        let end = EarlyEnd::default();
        assert_eq!((end.is_now(), end.outcome()), (false, LoadEnd::Complete));
        end.now(LoadEnd::ServerGone);
        end.now(LoadEnd::Stopped);
        assert!(end.is_now() && matches!(end.outcome(), LoadEnd::ServerGone(at_ns) if at_ns > 0));
    }
}
