//! Lost connections: their operations fail, and they are opened again.

use std::io::{self, ErrorKind as IoError};

use rustix::event::epoll;

use super::{READING, Worker};
use crate::clock::now_ns;
use crate::connection::ConnectionStage;
use crate::latency::report::{ErrorKind, LoadEnd};
use crate::protocol::InvalidReply;

/// Delay before another attempt to reconnect, in ns.
const RETRY: u64 = 10_000_000;

impl Worker<'_> {
    #[cold]
    pub(super) fn garbled(&mut self, i: usize, garbled: &InvalidReply) {
        self.lose(i, ErrorKind::Garbled, &garbled.to_string());
    }

    /// Gives up connection `i`: fails its operations and opens it again.
    #[cold]
    pub(super) fn lose(&mut self, i: usize, kind: ErrorKind, why: &str) {
        let now = now_ns();
        self.stats.at(now);
        let conn = &mut self.conns[i];
        let mut kind = kind;
        let all = matches!(kind, ErrorKind::TimedOut);
        for from in conn.outstanding() {
            self.stats.give_up(from);
            self.stats.error(kind, || format!("{}: {why}", kind.name()));
            if !all {
                kind = ErrorKind::ConnectionLost;
            }
        }
        if conn.ring.operations() == 0 {
            self.stats.error(kind, || format!("{}: {why}", kind.name()));
        }
        self.outstanding -= conn.ring.operations();
        self.losses += 1;
        conn.reset(self.common.encoder.parser(), ConnectionStage::Down(now));
        if self.losses > 3 * self.conns.len() + 10 {
            self.common.end.now(LoadEnd::ServerGone);
            return;
        }
        self.open(i, now);
    }

    /// Starts to reopen connection `i`.
    #[cold]
    pub(super) fn open(&mut self, i: usize, now: u64) {
        if now >= self.line.end || self.common.end.is_now() {
            return;
        }
        match self.common.server.begin() {
            Ok(link) => {
                let data = epoll::EventData::new_u64(i as u64);
                let flags = READING | epoll::EventFlags::OUT;
                if epoll::add(&self.epoll, &link, data, flags).is_ok() {
                    self.conns[i].stage = ConnectionStage::Opening(link, now);
                } else {
                    self.conns[i].stage = ConnectionStage::Down(now + RETRY);
                }
            }
            Err(e) if is_refusal(&e) => self.common.end.now(LoadEnd::ServerGone),
            Err(_) => self.conns[i].stage = ConnectionStage::Down(now + RETRY),
        }
    }

    /// Completes the opening of connection `i`, or handles its failure.
    #[cold]
    pub(super) fn opened(&mut self, i: usize) {
        let conn = &mut self.conns[i];
        let stage = std::mem::replace(&mut conn.stage, ConnectionStage::Down(0));
        let ConnectionStage::Opening(link, since) = stage else {
            conn.stage = stage;
            return;
        };
        match link.opened() {
            Ok(()) => {
                let now = now_ns();
                conn.stage = ConnectionStage::Up(link);
                conn.received_at = now;
                conn.watches_room = true;
                self.stats.reconnects += 1;
                self.watch_room(i, false);
                self.greet(i);
                self.free(i, now);
            }
            Err(e) if e.kind() == IoError::WouldBlock => {
                conn.stage = ConnectionStage::Opening(link, since);
            }
            Err(e) if is_refusal(&e) => self.common.end.now(LoadEnd::ServerGone),
            Err(e) => self.lose(i, ErrorKind::ConnectionLost, &e.to_string()),
        }
    }
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), IoError::ConnectionRefused | IoError::NotFound)
}

/// Maps an error to its kind: TLS errors count as garbled, all others as a lost connection.
pub(super) fn lost(error: &io::Error) -> ErrorKind {
    if error.kind() == IoError::InvalidData {
        ErrorKind::Garbled
    } else {
        ErrorKind::ConnectionLost
    }
}
