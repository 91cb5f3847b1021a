//! How a run ends before its time: set once, by the first thread to find out, and read by all.

use std::sync::OnceLock;

use crate::clock::now_ns;
use crate::report::Ended;

/// How a run ends before its time: the first to set it decides.
#[derive(Debug, Default)]
pub struct End(OnceLock<Ended>);

impl End {
    /// Ends the run now, if it has not been ended.
    pub fn now(&self, why: fn(u64) -> Ended) {
        // A later reason does not count.
        let _ = self.0.set(why(now_ns()));
    }

    /// Returns true if the run is to end now.
    #[inline]
    pub fn is_now(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns how the run ended.
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
