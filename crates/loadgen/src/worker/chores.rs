//! Periodic chores: CPU readings at the ends of the window, timeouts, low-water marks that were too
//! high.

use rustix::fd::AsFd;

use super::{BATCH_GUESS, CHORES, Worker, wake_every};
use crate::clock::{now_ns, thread_cpu_ns};
use crate::connection::ConnectionStage;
use crate::latency::report::{ErrorKind, LoadEnd};
use crate::receive::low_water;

impl Worker<'_> {
    /// Runs the periodic chores: readings at the ends of the window, timeouts, low-water marks that
    /// were too high, connections to reopen.
    pub(super) fn chores(&mut self, now: u64) {
        self.next_chores = now + CHORES;
        for (reading, at) in self.readings.iter_mut().zip([self.line.steady, self.line.down]) {
            if reading.is_none() && now >= at {
                *reading = Some((now_ns(), thread_cpu_ns()));
            }
        }
        if self.marks {
            self.rescue(now);
            self.tick_by_batches();
        }
        if now < self.next_timeouts {
            return;
        }
        let config = self.common.config;
        let timeout = config.op_timeout.as_nanos() as u64;
        self.next_timeouts = now + timeout / 8;
        for i in 0..self.conns.len() {
            let conn = &self.conns[i];
            match conn.stage {
                ConnectionStage::Up(_)
                    if !conn.ring.is_empty() && now > conn.received_at + timeout =>
                {
                    let why = format!("no answer for {:?}", config.op_timeout);
                    self.lose(i, ErrorKind::TimedOut, &why);
                }
                ConnectionStage::Opening(_, since)
                    if now > since + config.connect_timeout.as_nanos() as u64 =>
                {
                    self.lose(i, ErrorKind::TimedOut, "not open in time");
                }
                ConnectionStage::Down(at) if now >= at => self.open(i, now),
                _ => {}
            }
        }
        if self.outstanding == 0 && self.losses == 0 {
            self.received_at = now;
        } else if now > self.received_at + config.give_up.as_nanos() as u64 {
            self.common.end.now(LoadEnd::TimedOut);
        }
    }

    /// Adapts the timer interval to the batch time. Every event also triggers the chores, so the
    /// timer only matters without events; if batches take long, the check for late ones may be as
    /// rare.
    fn tick_by_batches(&mut self) {
        let wanted = (self.batch_ns / 2).clamp(CHORES, 10 * CHORES);
        let near = self.tick_ns / 2 < wanted && wanted < self.tick_ns * 2;
        if !near && wake_every(&self.tick, wanted).is_ok() {
            self.tick_ns = wanted;
        }
    }

    /// Lowers the marks of connections whose batch takes much longer than usual: its responses may
    /// be shorter than predicted, so the kernel now reports any data.
    fn rescue(&mut self, now: u64) {
        // Well before the operations time out.
        let most = (8 * BATCH_GUESS).min(self.common.config.op_timeout.as_nanos() as u64 / 4);
        let limit = (4 * self.batch_ns).max(CHORES).min(most);
        let rescues = self.stats.rescues;
        for conn in &mut self.conns {
            let ConnectionStage::Up(link) = &conn.stage else { continue };
            let waits = conn.mark > 1 && !conn.ring.is_empty();
            if waits && now > conn.sent_at.max(conn.received_at) + limit {
                if low_water::set(link.as_fd(), 1).is_ok() {
                    conn.mark = 1;
                }
                self.stats.rescues += 1;
            }
        }
        if self.stats.rescues > rescues {
            self.pause_marks(now);
        }
    }

    /// Pauses low-water marks after one was too high. The pause doubles each time, so with keys
    /// that keep missing, marks soon stay off.
    pub(super) fn pause_marks(&mut self, now: u64) {
        if now >= self.marks_from {
            self.marks_from = now + self.mark_pause;
            self.mark_pause = self.mark_pause.saturating_mul(2);
        }
    }
}
