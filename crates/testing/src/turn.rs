//! Turns of the tests in one program. Most tests share the machine and run concurrently; a test
//! that loads, configures or counts the whole machine runs alone. Cargo runs one test program at a
//! time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{ThreadId, current};

struct Turns {
    shared: usize,
    alone: Option<ThreadId>,
    /// Number of tests that wait to run alone.
    waiting: usize,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { shared: 0, alone: None, waiting: 0 });
static ENDED: Condvar = Condvar::new();

/// The right to use the machine, until it is dropped.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub struct Turn(TurnKind);

#[derive(Debug)]
enum TurnKind {
    Shared,
    Alone,
    /// Nested in the turn of a test that runs alone.
    Nested,
}

/// Waits until no test runs alone. A test may hold several shared turns; a test that runs alone
/// gets nested turns on its own thread.
pub fn shared() -> Turn {
    let turns = lock();
    if turns.alone == Some(current().id()) {
        return Turn(TurnKind::Nested);
    }
    // If turns are shared already, the new one may belong to the same test, which must not wait for
    // a test that wants to run alone.
    wait(turns, |t| t.alone.is_some() || (t.waiting > 0 && t.shared == 0)).shared += 1;
    Turn(TurnKind::Shared)
}

/// Waits until no other test holds a turn. A test must call this before it takes a shared turn.
pub fn alone() -> Turn {
    let own = current().id();
    let mut turns = lock();
    if turns.alone == Some(own) {
        return Turn(TurnKind::Nested);
    }
    turns.waiting += 1;
    let mut turns = wait(turns, |t| t.alone.is_some() || t.shared > 0);
    turns.waiting -= 1;
    turns.alone = Some(own);
    Turn(TurnKind::Alone)
}

fn lock() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait(
    turns: MutexGuard<'static, Turns>,
    busy: impl Fn(&Turns) -> bool,
) -> MutexGuard<'static, Turns> {
    ENDED.wait_while(turns, |turns| busy(turns)).unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Turn {
    fn drop(&mut self) {
        match self.0 {
            TurnKind::Shared => lock().shared -= 1,
            TurnKind::Alone => lock().alone = None,
            TurnKind::Nested => {}
        }
        ENDED.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn nobody_shares_a_turn_with_one_that_is_alone() {
        let (sharing, lone) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for n in 0..6 {
                let (sharing, lone) = (&sharing, &lone);
                scope.spawn(move || {
                    for _ in 0..200 {
                        if n < 2 {
                            let _alone = alone();
                            let _within = (shared(), alone());
                            assert_eq!(lone.fetch_add(1, Ordering::SeqCst), 0);
                            assert_eq!(sharing.load(Ordering::SeqCst), 0);
                            thread::yield_now();
                            lone.fetch_sub(1, Ordering::SeqCst);
                        } else {
                            let _first = shared();
                            sharing.fetch_add(1, Ordering::SeqCst);
                            thread::yield_now();
                            let _second = shared();
                            assert_eq!(lone.load(Ordering::SeqCst), 0);
                            sharing.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
    }
}
