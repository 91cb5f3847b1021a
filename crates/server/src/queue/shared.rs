//! Queue that requests and the dispatcher share.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::error::Refusal;
use crate::locked;
use crate::queue::child;
use crate::queue::job::{Job, JobState};
use crate::queue::store::{Queue, now};

/// Queue of a running server.
pub(crate) struct SharedQueue {
    queue: Mutex<Queue>,
    /// Signalled when the queue changes.
    wake: Condvar,
    /// Number of changes of the queue. Requests that wait for a change subscribe to it.
    changed: watch::Sender<u64>,
    /// True once the server has to stop.
    pub stop: watch::Sender<bool>,
}

impl SharedQueue {
    pub fn new(queue: Queue) -> Self {
        SharedQueue {
            queue: Mutex::new(queue),
            wake: Condvar::new(),
            changed: watch::Sender::new(0),
            stop: watch::Sender::new(false),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Queue> {
        locked(&self.queue)
    }

    /// Waits until the queue changes, for at most `most`.
    pub fn wait<'a>(&self, queue: MutexGuard<'a, Queue>, most: Duration) -> MutexGuard<'a, Queue> {
        self.wake.wait_timeout(queue, most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Wakes the dispatcher and all requests that wait for a change of the queue.
    pub fn notify_changed(&self) {
        self.wake.notify_all();
        self.changed.send_modify(|n| *n += 1);
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub fn stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns true if no run is in progress and the server does not have to stop.
    pub fn is_idle(&self) -> bool {
        !self.stopping() && self.lock().running().is_none()
    }

    pub fn job(&self, id: u64) -> Result<Job, Refusal> {
        self.lock().find(id).cloned()
    }

    /// Cancels a waiting job, or asks the run of a running job to end.
    pub fn cancel(&self, id: u64) -> Result<Job, Refusal> {
        let mut queue = self.lock();
        let job = queue.find(id)?;
        match job.state {
            JobState::Waiting => queue.change(id, |j| {
                j.state = JobState::Cancelled;
                j.ended_at = Some(now());
                j.reason = "cancelled before it started".into();
            })?,
            JobState::Running if job.cancel => {}
            JobState::Running => {
                if let Some(process) = &job.process {
                    child::interrupt(process);
                }
                // The run was already asked to end; a full disk does not undo that.
                let _ = queue.note(id, |j| j.cancel = true);
            }
            state => {
                return Err(Refusal::conflict(format!(
                    "job {id} has ended: it is {}",
                    state.name()
                )));
            }
        }
        drop(queue);
        self.notify_changed();
        self.job(id)
    }

    /// Puts a job whose run was cut off at the front of the queue, to continue where it stopped.
    pub fn resume(&self, id: u64) -> Result<Job, Refusal> {
        let job = self.job(id)?;
        if !job.can_resume() {
            let why = match job.state {
                JobState::Completed => "nothing is left to do",
                state if state.is_over() => "its run never started; submit it again",
                _ => "it has not ended",
            };
            let state = job.state.name();
            return Err(Refusal::conflict(format!("job {id} is {state}: {why}")));
        }
        let mut queue = self.lock();
        let first = queue.waiting().first().map_or(0, |j| j.order - 1);
        queue.change(id, |j| {
            j.state = JobState::Waiting;
            j.order = first;
            j.cancel = false;
            j.not_before = None;
            j.process = None;
            j.ended_at = None;
            j.exit = None;
            j.reason = String::new();
        })?;
        drop(queue);
        self.notify_changed();
        self.job(id)
    }
}
