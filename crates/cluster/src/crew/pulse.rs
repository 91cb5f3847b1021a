//! Signs of life to agents that have no TCP connection of their own.

use std::fs::File;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::message::AgentMessage;
use crate::wire;

/// Interval between two signs of life. An agent that misses them for [`crate::link::SILENCE`] ends.
const BEAT: Duration = Duration::from_secs(5);
/// Number of a ping that is a sign of life and measures nothing.
const LIFE: u64 = u64::MAX;

/// A thread that sends signs of life until it is dropped. TCP reports a
/// cut link to the host only after minutes; its agent ends when they fail to appear.
#[derive(Debug)]
pub(super) struct Pulse {
    _stop: Sender<()>,
}

impl Pulse {
    pub fn start(streams: impl Iterator<Item = Arc<Mutex<File>>>) -> Self {
        let streams: Vec<_> = streams.collect();
        let (stop, stopped) = channel::<()>();
        let beat = move || {
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                for stream in &streams {
                    // A stream that is in use carries another message.
                    if let Ok(mut stream) = stream.try_lock() {
                        let _ = wire::send(&mut *stream, &AgentMessage::Ping(LIFE));
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("pulse".into()).stack_size(128 << 10);
        let _ = thread.spawn(beat);
        Pulse { _stop: stop }
    }
}
