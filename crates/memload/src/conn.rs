//! One connection: its link, what it has asked, and what is left to send.

use std::io::{self, ErrorKind};

use crate::link::Link;
use crate::pending::{Ring, WITH_BATCH};
use crate::protocol::Parser;
use crate::replies::Current;

/// Where a connection is in its life.
#[derive(Debug)]
pub enum Stage {
    /// Open.
    Up(Link),
    /// Being opened again, since when.
    Opening(Link, u64),
    /// To be opened again at this moment.
    Down(u64),
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Conn {
    /// Its link.
    pub stage: Stage,
    /// Reads its answers.
    pub parser: Parser,
    /// What it has asked.
    pub ring: Ring,
    /// The answer that it is in the middle of.
    pub current: Current,
    /// Bytes that the kernel did not take.
    pub unsent: Vec<u8>,
    /// How many of them have been sent by now.
    pub unsent_at: usize,
    /// Whether the kernel has been asked to say when it takes more.
    pub watches_room: bool,
    /// When the last batch was sent.
    pub sent_at: u64,
    /// When an answer last came, or something was sent while nothing was outstanding.
    pub received_at: u64,
    /// Bytes of answers that are to come if every operation succeeds.
    pub foreseen: usize,
    /// Its low-water mark.
    pub mark: u32,
    /// Since when it could take another operation (open loop).
    pub free_since: u64,
    /// Whether it is in the queue of those that can.
    pub queued: bool,
}

impl Conn {
    /// An open connection that has asked nothing.
    pub fn new(link: Link, parser: Parser, depth: usize) -> Self {
        Conn {
            stage: Stage::Up(link),
            parser,
            ring: Ring::new(depth),
            current: Current::Idle,
            unsent: Vec::new(),
            unsent_at: 0,
            watches_room: false,
            sent_at: 0,
            received_at: 0,
            foreseen: 0,
            mark: 1,
            free_since: 0,
            queued: false,
        }
    }

    /// Whether it is open and everything asked was handed to the kernel.
    pub fn can_ask(&self) -> bool {
        matches!(self.stage, Stage::Up(_)) && self.unsent_at == self.unsent.len()
    }

    /// Whether it is open, and nothing is unanswered or unsent.
    pub fn is_idle(&self) -> bool {
        self.ring.is_empty() && self.can_ask()
    }

    /// From when the response time of each unanswered operation counts.
    pub fn outstanding(&self) -> impl Iterator<Item = u64> {
        self.ring
            .iter()
            .filter(|p| p.action.is_some())
            .map(|p| if p.at == WITH_BATCH { self.sent_at } else { p.at })
    }

    /// Sends bytes, and keeps what the kernel does not take. True when it took all.
    ///
    /// # Errors
    /// The connection is lost.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let Stage::Up(link) = &mut self.stage else {
            return Err(ErrorKind::NotConnected.into());
        };
        let taken = match link.send(bytes) {
            Ok(n) => n,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(e) => return Err(e),
        };
        if taken < bytes.len() {
            self.unsent.extend_from_slice(&bytes[taken..]);
            return Ok(false);
        }
        link.flush()
    }

    /// Sends what was kept. True when nothing is left.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn flush(&mut self) -> io::Result<bool> {
        let Stage::Up(link) = &mut self.stage else { return Ok(false) };
        while self.unsent_at < self.unsent.len() {
            match link.send(&self.unsent[self.unsent_at..]) {
                Ok(n) => self.unsent_at += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.unsent.clear();
        self.unsent_at = 0;
        link.flush()
    }

    /// Forgets everything about the link that was lost.
    pub fn reset(&mut self, parser: Parser, stage: Stage) {
        while self.ring.pop().is_some() {}
        self.parser = parser;
        self.current = Current::Idle;
        self.unsent.clear();
        self.unsent_at = 0;
        self.watches_room = false;
        self.foreseen = 0;
        self.mark = 1;
        self.stage = stage;
    }
}
