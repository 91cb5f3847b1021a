//! What is looked after now and then: the window's ends, timeouts, marks that were too high.

use rustix::fd::AsFd;

use super::{BATCH_GUESS, CHORES, Worker, wake_every};
use crate::clock::{now_ns, thread_cpu_ns};
use crate::conn::Stage;
use crate::low_water;
use crate::report::{Ended, ErrorKind};

impl Worker<'_> {
    /// What is looked after now and then: the window's ends, timeouts, marks that were too high,
    /// connections to open again.
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
                Stage::Up(_) if !conn.ring.is_empty() && now > conn.received_at + timeout => {
                    let why = format!("no answer for {:?}", config.op_timeout);
                    self.lose(i, ErrorKind::TimedOut, &why);
                }
                Stage::Opening(_, since)
                    if now > since + config.connect_timeout.as_nanos() as u64 =>
                {
                    self.lose(i, ErrorKind::TimedOut, "not open in time");
                }
                Stage::Down(at) if now >= at => self.open(i, now),
                _ => {}
            }
        }
        if self.outstanding == 0 && self.losses == 0 {
            self.received_at = now;
        } else if now > self.received_at + config.give_up.as_nanos() as u64 {
            self.common.end.now(Ended::TimedOut);
        }
    }

    /// Chores come with any event, so the timer is for when there is none: where batches take long, so may
    /// the look whether one takes too long.
    fn tick_by_batches(&mut self) {
        let wanted = (self.batch_ns / 2).clamp(CHORES, 10 * CHORES);
        let near = self.tick_ns / 2 < wanted && wanted < self.tick_ns * 2;
        if !near && wake_every(&self.tick, wanted).is_ok() {
            self.tick_ns = wanted;
        }
    }

    /// Batches that take much longer than usual may be shorter than foreseen: their connections report
    /// what is there from now on.
    fn rescue(&mut self, now: u64) {
        // Well before the operations time out.
        let most = (8 * BATCH_GUESS).min(self.common.config.op_timeout.as_nanos() as u64 / 4);
        let limit = (4 * self.batch_ns).max(CHORES).min(most);
        let rescues = self.stats.rescues;
        for conn in &mut self.conns {
            let Stage::Up(link) = &conn.stage else { continue };
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

    /// A mark was too high. Where keys keep going missing, marks are soon no longer tried.
    pub(super) fn pause_marks(&mut self, now: u64) {
        if now >= self.marks_from {
            self.marks_from = now + self.mark_pause;
            self.mark_pause = self.mark_pause.saturating_mul(2);
        }
    }
}
