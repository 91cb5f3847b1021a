//! A worker thread that runs during a trial and learns by messages when its parts begin and end.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::NotAvailable;

type BackgroundResult<R> = Result<R, NotAvailable>;

/// A worker in a thread of its own: it receives messages `M` and returns `R`. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Background<M, R> {
    /// Name of the worker in messages.
    what: &'static str,
    /// Sender of messages; dropped to end the worker.
    messages: Option<Sender<M>>,
    thread: Option<JoinHandle<BackgroundResult<R>>>,
}

impl<M: Send + 'static, R: Send + 'static> Background<M, R> {
    /// Starts a thread with this name; returns when `work` has reported that it began, or why it
    /// could not.
    pub fn start(
        thread: &str,
        what: &'static str,
        work: impl FnOnce(&Sender<Option<NotAvailable>>, &Receiver<M>) -> BackgroundResult<R>
        + Send
        + 'static,
    ) -> Result<Self, NotAvailable> {
        let (messages, requests) = channel();
        let (ready, started) = channel();
        let thread = Builder::new()
            .name(thread.to_owned())
            .spawn(move || work(&ready, &requests))
            .map_err(|e| NotAvailable::because(format!("cannot start a thread: {e}")))?;
        match started.recv() {
            Ok(None) => Ok(Background { what, messages: Some(messages), thread: Some(thread) }),
            Ok(Some(error)) => Err(error),
            Err(_) => Err(NotAvailable::because(format!("the {what} ended before it began"))),
        }
    }
}

impl<M, R> Background<M, R> {
    /// Sends a message; it is lost if the worker has ended.
    pub fn send(&self, message: M) {
        if let Some(messages) = &self.messages {
            let _ = messages.send(message);
        }
    }

    /// Ends the worker and returns its result.
    pub fn stop(mut self) -> BackgroundResult<R> {
        match self.end() {
            Some(Ok(outcome)) => outcome,
            _ => Err(NotAvailable::because(format!("the {} failed while it ran", self.what))),
        }
    }

    fn end(&mut self) -> Option<std::thread::Result<BackgroundResult<R>>> {
        self.messages = None;
        self.thread.take().map(JoinHandle::join)
    }
}

impl<M, R> Drop for Background<M, R> {
    fn drop(&mut self) {
        self.end();
    }
}
