//! Runs a producer and a consumer of events in two threads, preserving the order of events.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::block_io::matching::event::Event;

/// Events per batch: some tens of kilobytes, so that a batch stays in the CPU cache.
const BATCH: usize = 1024;
/// Number of batches in circulation. All are allocated at the start and reused.
const WAITING: usize = 8;

/// Runs `make` in a thread of its own and passes its events to `take` in this one. An error of
/// `make` is returned after all its events were taken.
pub(crate) fn pipeline(
    make: impl FnOnce(&mut EventSender) -> io::Result<()> + Send,
    mut take: impl FnMut(&Event),
) -> io::Result<()> {
    let (full, arriving) = sync_channel::<Vec<Event>>(WAITING);
    let (empty, returning) = sync_channel::<Vec<Event>>(WAITING);
    for _ in 0..WAITING {
        // The channel has room for all of them.
        let _ = empty.send(Vec::with_capacity(BATCH));
    }
    // The closure owns the channel ends, so the producer stops waiting even if `take` panics.
    std::thread::scope(move |scope| {
        let maker = scope.spawn(move || {
            let mut out = EventSender { batch: Vec::with_capacity(BATCH), full, returning };
            make(&mut out).and_then(|()| out.send())
        });
        for mut batch in arriving {
            batch.iter().for_each(&mut take);
            batch.clear();
            // Fails after the producer's last batch, when it needs none back.
            let _ = empty.send(batch);
        }
        maker.join().unwrap_or_else(|_| Err(io::Error::other("the thread of the reader failed")))
    })
}

/// Sending end for events, which collects them into batches.
pub(crate) struct EventSender {
    batch: Vec<Event>,
    full: SyncSender<Vec<Event>>,
    returning: Receiver<Vec<Event>>,
}

impl EventSender {
    /// Appends an event, and sends the batch when it is full.
    #[inline]
    pub(crate) fn give(&mut self, event: &Event) -> io::Result<()> {
        self.batch.push(*event);
        if self.batch.len() == BATCH { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> io::Result<()> {
        let gone = || io::Error::other("the reader has no consumer");
        let next = self.returning.recv().map_err(|_| gone())?;
        let batch = std::mem::replace(&mut self.batch, next);
        self.full.send(batch).map_err(|_| gone())
    }
}
