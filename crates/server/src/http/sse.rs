//! Server-sent events. The body of a response is produced as the viewer reads it: a slow viewer of
//! a run gets every event at its own pace. The write timeout of the connection disconnects a viewer
//! that stops reading.

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

use crate::http::extract::EventStream;
use crate::live::live_run::{LiveRun, frame};

/// Silence after which the server sends a heartbeat. With it, viewers notice within 5 s that the
/// server is gone, and the server notices lost connections.
const SILENCE: Duration = Duration::from_secs(2);
fn events(frames: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> EventStream {
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(frames))
}

fn beat() -> Bytes {
    frame(None, r#"{"event":"beat"}"#)
}

/// Viewer of a run, with its position in the events.
struct Viewer {
    live: Arc<LiveRun>,
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

/// Streams the events of a run from number `seen` on, until the run ends.
pub(crate) fn run(live: Arc<LiveRun>, seen: Option<u64>) -> EventStream {
    let changes = live.changes();
    let viewer = Viewer { live, changes, seen, ready: VecDeque::new(), over: false };
    events(stream::unfold(viewer, |mut viewer| async move {
        let frame = viewer.next().await?;
        Some((Ok(frame), viewer))
    }))
}

/// Streams the newest value of `from`, for as long as both sides exist. A slow viewer misses older
/// values.
pub(crate) fn newest(from: watch::Receiver<Bytes>) -> EventStream {
    events(stream::unfold(from, |mut from| async move {
        let bytes = match timeout(SILENCE, from.changed()).await {
            Ok(Ok(())) => from.borrow_and_update().clone(),
            Ok(Err(_)) => return None,
            Err(_) => beat(),
        };
        Some((Ok(bytes), from))
    }))
}
