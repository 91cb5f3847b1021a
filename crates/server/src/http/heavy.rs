//! Runs expensive work on blocking threads, one piece at a time. Work is cancelled when its request
//! ends; the next piece starts once it has stopped.

use std::sync::Arc;

use assay_model::cancel::Cancel;
use tokio::sync::Semaphore;

use crate::error::Refusal;

pub(crate) struct Heavy(Arc<Semaphore>);

impl Default for Heavy {
    fn default() -> Self {
        Heavy(Arc::new(Semaphore::new(1)))
    }
}

/// Cancels the work when the future that holds this value completes or is dropped.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Heavy {
    /// Waits for its turn, then runs `work` on a blocking thread.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let permit = Arc::clone(&self.0).acquire_owned().await.map_err(|e| Refusal::own(&e))?;
        let cancel = Cancel::default();
        let _with_request = CancelOnDrop(cancel.clone());
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            cancel.run(work)
        });
        let done = done.await.map_err(|e| Refusal::own(&e))?;
        done.unwrap_or_else(|| Err(Refusal::conflict("the request has ended")))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use assay_model::cancel::checkpoint;

    use super::*;

    #[test]
    fn work_ends_with_its_request_and_the_next_one_runs() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let heavy = Heavy::default();
            let (began, begins) = mpsc::channel();
            let mut endless = Box::pin(heavy.run(move || -> Result<(), Refusal> {
                began.send(()).unwrap();
                loop {
                    checkpoint();
                    std::thread::yield_now();
                }
            }));
            let first = std::future::poll_fn(|cx| {
                std::task::Poll::Ready(endless.as_mut().poll(cx).is_pending())
            });
            assert!(first.await);
            begins.recv().unwrap();
            // The request ends before its work does.
            drop(endless);
            assert_eq!(heavy.run(|| Ok(7)).await.ok(), Some(7));
        });
    }
}
