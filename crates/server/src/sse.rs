//! Server-sent events: a body that is fed by a task for each viewer. A viewer that stops reading is let
//! go after a while; one that reads slowly gets everything, at its own pace.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body::Frame;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::live::Live;

/// After this much silence the server sends a sign of life: viewers notice its end within 5 s, and
/// a connection that is gone is noticed.
const SILENCE: Duration = Duration::from_secs(2);
/// A viewer that takes nothing for this long is let go.
const STALLED: Duration = Duration::from_secs(30);

struct Fed(mpsc::Receiver<Bytes>);

impl http_body::Body for Fed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
    }
}

fn response(receiver: mpsc::Receiver<Bytes>) -> Response {
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    (headers, Body::new(Fed(receiver))).into_response()
}

async fn send(to: &mpsc::Sender<Bytes>, bytes: Bytes) -> bool {
    matches!(timeout(STALLED, to.send(bytes)).await, Ok(Ok(())))
}

fn beat() -> Bytes {
    crate::live::frame(None, r#"{"event":"beat"}"#)
}

/// The events of a run from what the viewer has seen on, until the run is over.
pub(crate) fn run(live: Arc<Live>, mut seen: Option<u64>) -> Response {
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        let mut changes = live.changes();
        loop {
            changes.mark_unchanged();
            let batch = live.after(seen);
            seen = Some(batch.next);
            for frame in batch.frames {
                if !send(&sender, frame).await {
                    return;
                }
            }
            if batch.over {
                let _ = send(&sender, crate::live::frame(None, r#"{"event":"over"}"#)).await;
                return;
            }
            match timeout(SILENCE, changes.changed()).await {
                Ok(Err(_)) => return,
                Err(_) if !send(&sender, beat()).await => return,
                Ok(Ok(())) | Err(_) => {}
            }
        }
    });
    response(receiver)
}

/// The newest of what is sent, for as long as both are there. A slow viewer misses what is old.
pub(crate) fn newest(mut from: watch::Receiver<Bytes>) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            match timeout(SILENCE, from.changed()).await {
                Ok(Ok(())) => {
                    let bytes = from.borrow_and_update().clone();
                    if !send(&sender, bytes).await {
                        return;
                    }
                }
                Ok(Err(_)) => return,
                Err(_) if !send(&sender, beat()).await => return,
                Err(_) => {}
            }
            if sender.is_closed() {
                return;
            }
        }
    });
    response(receiver)
}
