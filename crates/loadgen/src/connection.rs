//! One connection: its link, its outstanding requests, and its unsent bytes.

use std::io::{self, ErrorKind};

use crate::link::Link;
use crate::protocol::Parser;
use crate::protocol::pending::{Ring, WITH_BATCH};
use crate::receive::replies::ResponseState;

/// Life-cycle stage of a connection.
#[derive(Debug)]
pub enum ConnectionStage {
    /// The connection is open.
    Up(Link),
    /// The connection is being reopened, since this time in ns.
    Opening(Link, u64),
    /// The connection will be reopened at this time in ns.
    Down(u64),
}

/// State of one connection.
#[derive(Debug)]
pub(crate) struct Conn {
    pub stage: ConnectionStage,
    /// Parser of its responses.
    pub parser: Parser,
    /// Outstanding requests in order.
    pub ring: Ring,
    /// State of its responses.
    pub state: ResponseState,
    /// Id of its counter.
    pub counter: u64,
    /// Bytes that the kernel did not accept yet.
    pub unsent: Vec<u8>,
    /// Number of these bytes that were sent since.
    pub unsent_at: usize,
    /// True if epoll watches the socket for writability.
    pub watches_room: bool,
    /// Time at which the last batch was sent, in ns.
    pub sent_at: u64,
    /// Time of the last response, or of the last send while nothing was outstanding, in ns.
    pub received_at: u64,
    /// Bytes of responses that will arrive if every operation succeeds.
    pub foreseen: usize,
    /// Current low-water mark in bytes.
    pub mark: u32,
    /// Time since which it could take another operation, in ns (open loop).
    pub free_since: u64,
    /// True if it is in the queue of free connections.
    pub queued: bool,
}

impl Conn {
    /// Creates an open connection with room for this number of requests.
    pub fn new(link: Link, parser: Parser, requests: usize, counter: u64) -> Self {
        Conn {
            stage: ConnectionStage::Up(link),
            parser,
            ring: Ring::new(requests),
            state: ResponseState::default(),
            counter,
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

    /// True if it is open and all requests were handed to the kernel.
    pub fn can_ask(&self) -> bool {
        matches!(self.stage, ConnectionStage::Up(_)) && self.unsent_at == self.unsent.len()
    }

    /// True if it is open and nothing is outstanding or unsent.
    pub fn is_idle(&self) -> bool {
        self.ring.is_empty() && self.can_ask()
    }

    /// Returns the start of the response time of each outstanding operation, in ns.
    pub fn outstanding(&self) -> impl Iterator<Item = u64> {
        self.ring
            .iter()
            .filter(|p| p.is_operation())
            .map(|p| if p.at == WITH_BATCH { self.sent_at } else { p.at })
    }

    /// Sends bytes, and keeps those that the kernel does not accept. Returns true if it accepted
    /// all.
    ///
    /// # Errors
    /// The connection is lost.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let ConnectionStage::Up(link) = &mut self.stage else {
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

    /// Sends the kept bytes. Returns true if none remain.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn flush(&mut self) -> io::Result<bool> {
        let ConnectionStage::Up(link) = &mut self.stage else { return Ok(false) };
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

    /// Resets the state that belonged to the lost link.
    pub fn reset(&mut self, parser: Parser, stage: ConnectionStage) {
        while self.ring.pop().is_some() {}
        self.parser = parser;
        self.state = ResponseState::default();
        self.unsent.clear();
        self.unsent_at = 0;
        self.watches_room = false;
        self.foreseen = 0;
        self.mark = 1;
        self.stage = stage;
    }
}
