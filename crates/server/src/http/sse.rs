//! Server-sent events: a body that is made as a viewer reads it. One that reads slowly gets everything, at its own
//! pace; one that stops reading is let go by its connection.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::http::extract::Events;
use crate::live::live_run::{Live, frame};

/// After this much silence the server sends a sign of life: viewers notice its end within 5 s, and
/// a connection that is gone is noticed.
const SILENCE: Duration = Duration::from_secs(2);
fn events(frames: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Events {
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(frames))
}

fn beat() -> Bytes {
    frame(None, r#"{"event":"beat"}"#)
}

/// A viewer of a run.
struct Viewer {
    live: Arc<Live>,
    changes: watch::Receiver<u64>,
    /// Number of the first event that the viewer has not seen.
    seen: Option<u64>,
    ready: VecDeque<Bytes>,
    over: bool,
}

impl Viewer {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            if self.over {
                return None;
            }
            self.changes.mark_unchanged();
            let batch = self.live.after(self.seen);
            self.seen = Some(batch.next);
            self.ready.extend(batch.frames);
            if batch.over {
                self.over = true;
                self.ready.push_back(frame(None, r#"{"event":"over"}"#));
            } else if self.ready.is_empty() {
                match timeout(SILENCE, self.changes.changed()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return None,
                    Err(_) => return Some(beat()),
                }
            }
        }
    }
}

/// The events of a run from those on that the viewer has not seen, until the run is over.
pub(crate) fn run(live: Arc<Live>, seen: Option<u64>) -> Events {
    let changes = live.changes();
    let viewer = Viewer { live, changes, seen, ready: VecDeque::new(), over: false };
    events(stream::unfold(viewer, |mut viewer| async move {
        let frame = viewer.next().await?;
        Some((Ok(frame), viewer))
    }))
}

/// The newest of what is sent, for as long as both are there. A slow viewer misses what is old.
pub(crate) fn newest(from: watch::Receiver<Bytes>) -> Events {
    events(stream::unfold(from, |mut from| async move {
        let bytes = match timeout(SILENCE, from.changed()).await {
            Ok(Ok(())) => from.borrow_and_update().clone(),
            Ok(Err(_)) => return None,
            Err(_) => beat(),
        };
        Some((Ok(bytes), from))
    }))
}
