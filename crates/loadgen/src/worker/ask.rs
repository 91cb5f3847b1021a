//! Sends operations: decides when, on which connection and how many in a batch.

use std::cmp::Reverse;

use rustix::fd::AsFd;
use rustix::time::{Itimerspec, TimerfdTimerFlags, timerfd_settime};

use super::recover::lost;
use super::{INPUT, Worker, kernel};
use crate::Error;
use crate::clock::{now_ns, timespec};
use crate::connection::ConnectionStage;
use crate::protocol::pending::{NOOP, Pending, WITH_BATCH};
use crate::receive::low_water;
use crate::send::mix::KeyAction;
use crate::send::pace::{Pace, think_ns};

impl Worker<'_> {
    /// Handles a connection that can send: queues it, sends, or starts its think time.
    #[inline]
    pub(super) fn free(&mut self, i: usize, now: u64) {
        match &mut self.pace {
            Pace::Open(open) => {
                if self.conns[i].queued || !self.conns[i].can_ask() {
                    return;
                }
                self.conns[i].free_since = now;
                let depth = self.common.config.depth;
                // If operations wait for a connection, the one that just became free takes them at
                // once: going through the queue would make client and server take turns.
                let waiting = if open.free.is_empty() && now < self.line.end {
                    open.schedule.due_by(now).min(depth - self.conns[i].ring.operations())
                } else {
                    0
                };
                if waiting > 0 {
                    self.ask(i, waiting);
                }
                let conn = &mut self.conns[i];
                if let Pace::Open(open) = &mut self.pace
                    && conn.can_ask()
                    && conn.ring.operations() < depth
                {
                    conn.queued = true;
                    open.free.push_back(i as u32);
                }
            }
            Pace::Closed { think, thinkers } => {
                if !self.conns[i].is_idle() || now >= self.line.end {
                    return;
                }
                match think_ns(*think, self.source.rng()) {
                    0 => self.ask(i, self.common.config.depth),
                    pause => {
                        thinkers.push(Reverse((now.saturating_add(pause), i as u32)));
                    }
                }
            }
        }
    }

    /// Sends all operations that are due by the schedule or the end of a think time, and sets the
    /// timer to the next one.
    #[inline]
    pub(super) fn ask_due(&mut self, mut now: u64) -> Result<(), Error> {
        let next = loop {
            if now >= self.line.end {
                return Ok(());
            }
            match &mut self.pace {
                Pace::Closed { thinkers, .. } => match thinkers.peek() {
                    Some(Reverse((at, i))) if *at <= now => {
                        let i = *i as usize;
                        thinkers.pop();
                        // The connection may have been lost meanwhile; it then sends once it is
                        // open again.
                        if self.conns[i].is_idle() {
                            self.ask(i, self.common.config.depth);
                        }
                    }
                    Some(Reverse((at, _))) => break *at,
                    None => return Ok(()),
                },
                Pace::Open(open) => {
                    let due = open.schedule.due_by(now);
                    let Some(i) = open.free.front().copied() else { return Ok(()) };
                    if due == 0 {
                        // Operations may have become due while the last ones were sent: read the
                        // clock again.
                        let next = open.schedule.peek();
                        let later = now_ns();
                        if next > later {
                            break next;
                        }
                        now = later;
                        continue;
                    }
                    let share = due.div_ceil(open.free.len());
                    open.free.pop_front();
                    let conn = &mut self.conns[i as usize];
                    conn.queued = false;
                    if !conn.can_ask() {
                        continue;
                    }
                    let room = self.common.config.depth - conn.ring.operations();
                    self.ask(i as usize, share.min(room).max(1));
                    self.free(i as usize, now);
                }
            }
        };
        if let Pace::Open(open) = &mut self.pace {
            if open.armed == next {
                return Ok(());
            }
            open.armed = next;
        }
        let timer = Itimerspec { it_interval: timespec(0), it_value: timespec(next) };
        timerfd_settime(&self.due, TimerfdTimerFlags::ABSTIME, &timer)
            .map_err(kernel("timerfd_settime"))?;
        Ok(())
    }

    /// Sends the first request of connection `i`, if its protocol has one. Its parser skips the
    /// response.
    pub(super) fn greet(&mut self, i: usize) {
        let greeting = &self.common.encoder.greeting;
        if greeting.is_empty() {
            return;
        }
        match self.conns[i].send(greeting) {
            Ok(true) => {}
            Ok(false) => self.watch_room(i, true),
            Err(e) => self.lose(i, lost(&e), &e.to_string()),
        }
    }

    /// Sends up to `count` operations on connection `i`.
    #[inline]
    pub(super) fn ask(&mut self, i: usize, count: usize) {
        let common = self.common;
        let conn = &mut self.conns[i];
        // With TLS, a no-op after a long value would not fit memcached's buffer, see
        // TLS_BATCH_BYTES.
        let quiet = common.encoder.quiet(count) && !common.server.is_tls();
        self.output.clear();
        let mut asked = 0;
        while asked < count && self.output.len() < self.batch_bytes {
            let drawn = match conn.state.refill.pop() {
                Some(key) => Some(self.source.fill(key)),
                None => self.source.draw(),
            };
            let Some(mut op) = drawn else {
                self.dry = true;
                break;
            };
            if op.action == KeyAction::Increment {
                (op.key, op.pad, op.class) = (conn.counter, 0, 0);
            }
            let number = conn.ring.next_number();
            conn.foreseen +=
                common.encoder.push(&op, number, quiet, common.content, &mut self.output);
            let at = match &mut self.pace {
                Pace::Closed { .. } => WITH_BATCH,
                Pace::Open(open) => open.schedule.take(),
            };
            if op.action == KeyAction::MultiGet {
                for _ in 0..op.length {
                    let part = self.source.part();
                    conn.foreseen += common.encoder.push_part(&part, &mut self.output);
                    conn.ring
                        .push(Pending { part: true, ..Pending::new(&part, WITH_BATCH, false) });
                }
            }
            conn.ring.push(Pending::new(&op, at, quiet));
            asked += 1;
        }
        if asked == 0 {
            return;
        }
        if quiet {
            conn.foreseen += common.encoder.close(&mut self.output);
            conn.ring.push(NOOP);
        }
        let now = now_ns();
        if conn.ring.operations() == asked {
            conn.received_at = now;
        }
        conn.sent_at = now;
        self.outstanding += asked;
        self.stats.at(now);
        self.stats.sent(self.output.len());
        if let Pace::Open(open) = &mut self.pace {
            let line = &self.line;
            let late = conn.ring.iter().filter(|p| p.at != WITH_BATCH);
            let skip = conn.ring.operations() - asked;
            for at in late.skip(skip).map(|p| p.at).filter(|at| line.measures(*at)) {
                open.late.saturating_record(now.saturating_sub(at).max(1));
                open.own.saturating_record(now.saturating_sub(at.max(conn.free_since)).max(1));
            }
        }
        if self.marks {
            self.mark(i, now);
        }
        match self.conns[i].send(&self.output) {
            Ok(true) => {}
            Ok(false) => self.watch_room(i, true),
            Err(e) => self.lose(i, lost(&e), &e.to_string()),
        }
    }

    /// Sets the low-water mark to the length of all responses of the batch, if that is safe.
    #[inline]
    pub(super) fn mark(&mut self, i: usize, now: u64) {
        let conn = &mut self.conns[i];
        let mark = if now < self.marks_from { 1 } else { conn.foreseen.clamp(1, INPUT) as u32 };
        let ConnectionStage::Up(link) = &conn.stage else { return };
        if mark != conn.mark && low_water::set(link.as_fd(), mark).is_ok() {
            conn.mark = mark;
        }
    }
}
