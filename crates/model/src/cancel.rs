//! Cancels work whose result is no longer needed. Long loops call [`checkpoint`], which unwinds the
//! thread out of [`Cancel::run`]; outside of `Cancel::run` a checkpoint does nothing.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

/// Handle that cancels, from any thread, the work that [`Cancel::run`] runs.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// The payload with which [`checkpoint`] unwinds.
struct Cancelled;

impl Cancel {
    /// Cancels the work at its next checkpoint.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Runs `work` on this thread. Returns `None` if it was cancelled.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let outer = CURRENT.replace(Some(self.clone()));
        let done = catch_unwind(AssertUnwindSafe(work));
        CURRENT.set(outer);
        match done {
            Ok(value) => Some(value),
            Err(payload) if payload.is::<Cancelled>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// Unwinds out of [`Cancel::run`] if this thread's work was cancelled. Call it only where nothing
/// is half written.
pub fn checkpoint() {
    if CURRENT.with_borrow(|c| c.as_ref().is_some_and(|c| c.0.load(Ordering::Relaxed))) {
        resume_unwind(Box::new(Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelled_work_ends_at_its_next_checkpoint() {
        let (cancel, other) = (Cancel::default(), Cancel::default());
        assert_eq!(cancel.run(|| (checkpoint(), 7).1), Some(7));
        let mut steps = 0;
        let done = cancel.run(|| {
            loop {
                checkpoint();
                steps += 1;
                if steps == 3 {
                    cancel.cancel();
                }
            }
        });
        assert_eq!((done, steps), (None::<()>, 3));
        // The thread keeps no trace of the cancellation, and a panic remains a panic.
        checkpoint();
        assert_eq!(other.run(|| (checkpoint(), 7).1), Some(7));
        let panicked = catch_unwind(AssertUnwindSafe(|| other.run(|| resume_unwind(Box::new(5)))));
        assert!(panicked.is_err_and(|p| p.is::<i32>()));
    }
}
