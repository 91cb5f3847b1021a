//! Two threads with events between them: one makes them, the other takes them, in the same order.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::event::Event;

/// Events that are handed over at once: some tens of kilobytes, so that they stay in a cache.
const BATCH: usize = 1024;
/// Batches that may wait. All are made at the beginning and go round.
const WAITING: usize = 8;

/// Runs `make` in a thread of its own; `take` gets here what it gives. An error of `make` comes after
/// all that it gave.
pub(crate) fn pipeline(
    make: impl FnOnce(&mut Giver) -> io::Result<()> + Send,
    mut take: impl FnMut(&Event),
) -> io::Result<()> {
    let (full, arriving) = sync_channel::<Vec<Event>>(WAITING);
    let (empty, returning) = sync_channel::<Vec<Event>>(WAITING);
    for _ in 0..WAITING {
        // There is room for all of them.
        let _ = empty.send(Vec::with_capacity(BATCH));
    }
    // All that the maker waits for goes with this closure, also when `take` panics.
    std::thread::scope(move |scope| {
        let maker = scope.spawn(move || {
            let mut out = Giver { batch: Vec::with_capacity(BATCH), full, returning };
            make(&mut out).and_then(|()| out.send())
        });
        for mut batch in arriving {
            batch.iter().for_each(&mut take);
            batch.clear();
            // After its last batch the maker wants none back.
            let _ = empty.send(batch);
        }
        maker.join().unwrap_or_else(|_| Err(io::Error::other("the thread of the reader failed")))
    })
}

/// What events are given to.
pub(crate) struct Giver {
    batch: Vec<Event>,
    full: SyncSender<Vec<Event>>,
    returning: Receiver<Vec<Event>>,
}

impl Giver {
    /// Hands an event over, or keeps it until there are enough.
    #[inline]
    pub(crate) fn give(&mut self, event: &Event) -> io::Result<()> {
        self.batch.push(*event);
        if self.batch.len() == BATCH { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> io::Result<()> {
        let gone = || io::Error::other("nothing takes what is read");
        let next = self.returning.recv().map_err(|_| gone())?;
        let batch = std::mem::replace(&mut self.batch, next);
        self.full.send(batch).map_err(|_| gone())
    }
}
