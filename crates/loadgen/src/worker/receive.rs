//! Receives responses, validates them and records their response times; then the connection may
//! send again.

use std::io::ErrorKind as IoError;

use rustix::event::epoll;

use crate::clock::now_ns;
use crate::config::Protocol;
use crate::connection::ConnectionStage;
use crate::latency::report::ErrorKind;
use crate::receive::replies::Judge;
use crate::worker::recover::lost;
use crate::worker::{READING, Worker};

impl Worker<'_> {
    /// Handles a readiness event of connection `i`.
    #[inline]
    pub(super) fn event(&mut self, i: usize, flags: epoll::EventFlags) {
        if let ConnectionStage::Opening(..) = self.conns[i].stage {
            self.opened(i);
            return;
        }
        if flags.contains(epoll::EventFlags::OUT) && self.conns[i].watches_room {
            match self.conns[i].flush() {
                Ok(true) => {
                    self.watch_room(i, false);
                    self.free(i, now_ns());
                }
                Ok(false) => {}
                Err(e) => self.lose(i, lost(&e), &e.to_string()),
            }
        }
        // When a peer closes, end of file follows its last bytes, and no other event reports it.
        let ends = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        self.receive(i, flags.intersects(ends));
    }

    /// Reads and judges all received bytes (up to end of file if the connection `ends`), then sends
    /// again.
    #[inline]
    pub(super) fn receive(&mut self, i: usize, ends: bool) {
        loop {
            let conn = &mut self.conns[i];
            let ConnectionStage::Up(link) = &mut conn.stage else { return };
            let n = match link.receive(&mut self.input) {
                Ok(0) => return self.lose(i, ErrorKind::ConnectionLost, "closed by the server"),
                Ok(n) => n,
                Err(e) if e.kind() == IoError::WouldBlock => return,
                Err(e) if e.kind() == IoError::Interrupted => continue,
                Err(e) => return self.lose(i, lost(&e), &e.to_string()),
            };
            let empty = !ends && n < self.input.len() && link.short_is_empty();
            let now = now_ns();
            self.stats.at(now);
            self.stats.received(n);
            let before = conn.ring.operations();
            let evicted = self.stats.evicted_ever;
            let mut judge = Judge {
                ring: &mut conn.ring,
                state: &mut conn.state,
                sent_at: conn.sent_at,
                stats: &mut self.stats,
                content: self.common.content,
                encoder: self.common.encoder,
                text: self.common.config.protocol == Protocol::Text,
                refills: self.common.config.mix.read_through,
                own_counter: self.common.config.server_pid.is_some(),
            };
            let judged = conn.parser.feed(&self.input[..n], &mut judge);
            conn.foreseen = conn.foreseen.saturating_sub(n);
            let answered = before - conn.ring.operations();
            self.outstanding -= answered;
            if answered > 0 {
                conn.received_at = now;
                self.received_at = now;
                self.losses = 0;
            }
            if let Err(garbled) = judged {
                return self.garbled(i, &garbled);
            }
            let done = conn.ring.is_empty();
            if self.marks {
                if self.stats.evicted_ever > evicted {
                    self.pause_marks(now);
                }
                let conn = &mut self.conns[i];
                if done {
                    let took = now.saturating_sub(conn.sent_at);
                    self.batch_ns = self.batch_ns - self.batch_ns / 16 + took / 16;
                    conn.foreseen = 0;
                } else if conn.mark > 1 {
                    self.mark(i, now);
                }
            }
            if done || answered > 0 {
                self.free(i, now);
            }
            if empty {
                return;
            }
        }
    }

    pub(super) fn watch_room(&mut self, i: usize, watch: bool) {
        let conn = &mut self.conns[i];
        let ConnectionStage::Up(link) = &conn.stage else { return };
        if conn.watches_room == watch {
            return;
        }
        let flags = if watch { READING | epoll::EventFlags::OUT } else { READING };
        // The descriptor is registered, so this can only fail without kernel memory; the operation
        // then times out.
        if epoll::modify(&self.epoll, link, epoll::EventData::new_u64(i as u64), flags).is_ok() {
            conn.watches_room = watch;
        }
    }
}
