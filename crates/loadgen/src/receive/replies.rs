//! Judges responses: matches each to its request, verifies it, and records it in the statistics.

use crate::latency::report::{ErrorKind, Operation};
use crate::latency::worker_stats::WorkerStats;
use crate::protocol::pending::{Pending, Ring, WITH_BATCH};
use crate::protocol::{Encoder, InvalidReply, OPAQUES, Reply, Sink};
use crate::send::content::{Content, ValueCheck};
use crate::send::mix::{KeyAction, key_digits, padding, write_key};

/// State of the response that a connection is receiving.
#[derive(Debug, Clone, Copy, Default)]
pub enum Current {
    /// No response has begun.
    #[default]
    Idle,
    /// A value that is being verified.
    Checking(ValueCheck),
    /// A value that is wrong regardless of its bytes.
    Wrong(ErrorKind),
    /// The value of a text get is complete and correct; its END is still to come.
    Right,
}

/// State of a connection's responses between two reads.
#[derive(Debug, Default)]
pub struct ResponseState {
    /// State of the response that is being received.
    pub current: Current,
    /// Values that the array of a multi-get still has.
    parts_left: u32,
    /// Keys of it that were found so far, and those that were not.
    parts: [u64; 2],
    /// True if one of its values was wrong.
    part_failed: bool,
    /// Last number of the connection's counter; `None` before the first one.
    counter: Option<i64>,
    /// Keys that were set and are gone, and are to be set again (read-through).
    pub refill: Vec<u64>,
}

/// Judge of the bytes of one read on one connection.
pub struct Judge<'a> {
    /// Outstanding requests of the connection.
    pub ring: &'a mut Ring,
    pub state: &'a mut ResponseState,
    /// Time at which the last batch was sent, in ns.
    pub sent_at: u64,
    /// Statistics that the responses go to.
    pub stats: &'a mut WorkerStats,
    pub content: &'a Content,
    pub encoder: &'a Encoder,
    /// True if END follows a value (text protocol).
    pub text: bool,
    /// True if keys that are gone are to be set again.
    pub refills: bool,
    /// True if nobody else increments the connection's counter.
    pub own_counter: bool,
}

const UNASKED: &str = "an answer without a request";

impl Judge<'_> {
    fn front(&self) -> Result<Pending, InvalidReply> {
        self.ring.front().copied().ok_or_else(|| InvalidReply::new(UNASKED, b""))
    }

    fn begin(
        &mut self,
        key: Option<&[u8]>,
        opaque: Option<u32>,
        length: u64,
    ) -> Result<(), InvalidReply> {
        let asked = self.find(opaque)?;
        let idle = matches!(self.state.current, Current::Idle);
        let get = matches!(asked.action, Some(KeyAction::Get | KeyAction::GetAbsent));
        if !idle || !get || !self.has_begun(&asked) {
            return Err(InvalidReply::new("a value without a request", key.unwrap_or_default()));
        }
        self.state.current = if key.is_some_and(|k| !self.is_key(k, &asked)) {
            Current::Wrong(ErrorKind::WrongKey)
        } else if asked.action == Some(KeyAction::GetAbsent) {
            Current::Wrong(ErrorKind::UnexpectedHit)
        } else if length != u64::from(asked.length) {
            Current::Wrong(ErrorKind::WrongLength)
        } else {
            Current::Checking(self.content.check(asked.key, asked.length))
        };
        Ok(())
    }

    fn is_key(&self, text: &[u8], asked: &Pending) -> bool {
        let digits = text.strip_prefix(self.encoder.prefix());
        let pad = digits.and_then(|d| d.strip_prefix(&key_digits(asked.key)));
        pad == Some(padding(asked.pad))
    }

    /// True unless the request is a key of a multi-get whose array has not begun.
    #[inline]
    fn has_begun(&self, asked: &Pending) -> bool {
        !asked.part || self.state.parts_left > 0
    }

    /// Returns the request that the response names, or the oldest one if it names none. Quiet
    /// requests before it had no response.
    #[inline]
    fn find(&mut self, opaque: Option<u32>) -> Result<Pending, InvalidReply> {
        let Some(opaque) = opaque else {
            let front = self.front()?;
            if front.quiet {
                return Err(InvalidReply::new(
                    "an answer without the opaque of a quiet request",
                    b"",
                ));
            }
            return Ok(front);
        };
        loop {
            let front = self.front()?;
            // Text has no opaques, meta has twelve bits of them, binary all 32.
            if (self.ring.head_number() ^ opaque).is_multiple_of(OPAQUES) {
                return Ok(front);
            }
            if !front.quiet {
                return Err(InvalidReply::new("an answer out of order", b""));
            }
            self.silent();
        }
    }

    /// Completes the oldest request, which was quiet and got no response.
    #[inline]
    fn silent(&mut self) {
        match self.ring.front().map(|p| p.action) {
            Some(Some(KeyAction::Set)) => self.right(Operation::Set),
            Some(_) => self.right(Operation::GetMiss),
            None => {}
        }
    }

    /// Returns the bytes after the next response, if `input` begins with it, complete, and it is a
    /// correct hit or needs no parser. In a quiet batch only gets have responses, so sets before it
    /// were stored.
    #[inline]
    fn hit<'b>(&mut self, input: &'b [u8]) -> Option<&'b [u8]> {
        let silent =
            self.ring.iter().position(|p| !(p.quiet && p.action == Some(KeyAction::Set)))?;
        let asked = *self.ring.iter().nth(silent)?;
        if !matches!(self.state.current, Current::Idle) {
            return None;
        }
        if asked.action == Some(KeyAction::Set) {
            let rest = self.encoder.stored(input)?;
            self.right(Operation::Set);
            return Some(rest);
        }
        if asked.action != Some(KeyAction::Get) || !self.has_begun(&asked) {
            return None;
        }
        let number = self.ring.head_number().wrapping_add(silent as u32);
        let number = asked.quiet.then_some(number);
        let (value, rest) = self.encoder.hit(&asked, number, input)?;
        let mut check = self.content.check(asked.key, asked.length);
        check.feed(self.content, value);
        if !check.passed() {
            return None;
        }
        for _ in 0..silent {
            self.silent();
        }
        self.right(Operation::GetHit);
        Some(rest)
    }

    /// Records the oldest request as answered correctly.
    #[inline]
    fn right(&mut self, operation: Operation) {
        let Some(asked) = self.ring.pop() else { return };
        if operation == Operation::GetMiss && asked.action == Some(KeyAction::Get) {
            self.stats.missed();
            if self.refills {
                self.state.refill.push(asked.key);
            }
        }
        if asked.part {
            self.state.parts[usize::from(operation != Operation::GetHit)] += 1;
            return self.end_part();
        }
        let from = if asked.at == WITH_BATCH { self.sent_at } else { asked.at };
        self.stats.answer(operation, asked.class, from);
    }

    /// Completes the multi-get after its last key.
    fn end_part(&mut self) {
        self.state.parts_left = self.state.parts_left.saturating_sub(1);
        if self.state.parts_left > 0 {
            return;
        }
        let parts = std::mem::take(&mut self.state.parts);
        if std::mem::take(&mut self.state.part_failed) {
            // The error was recorded with its key.
            self.ring.pop();
        } else {
            self.stats.parts(parts);
            self.right(Operation::MultiGet);
        }
    }

    /// Begins the array of a multi-get.
    fn begin_array(&mut self, values: u32) -> Result<(), InvalidReply> {
        let asked = self.ring.iter().take_while(|p| p.part).count();
        // The keys of the next multi-get are behind this one's own request, which is no part.
        if asked == 0 || self.state.parts_left > 0 {
            return Err(InvalidReply::new("an array without a request", b""));
        }
        if values as usize != asked {
            return Err(InvalidReply::new("an array of another length than requested", b""));
        }
        self.state.parts_left = values;
        Ok(())
    }

    /// Judges the number that a delete or an increment returned.
    fn number(&mut self, number: i64) -> Result<(), InvalidReply> {
        let (operation, right) = match self.front()?.action {
            Some(KeyAction::Delete) => (Operation::Delete, (0..=1).contains(&number)),
            Some(KeyAction::Increment) => {
                let last = self.state.counter.replace(number);
                let last = last.unwrap_or(number.wrapping_sub(1));
                // Others may increment the counter of a server that the trial did not start, and a
                // cache may evict it.
                let next = number == last.wrapping_add(1)
                    || (number > last && !self.own_counter)
                    || (number == 1 && self.refills);
                (Operation::Increment, next)
            }
            _ => return Err(InvalidReply::new("a number without a request", b"")),
        };
        if right {
            self.right(operation);
        } else {
            self.wrong(ErrorKind::WrongNumber, number.to_string().as_bytes());
        }
        Ok(())
    }

    #[cold]
    fn wrong(&mut self, kind: ErrorKind, message: &[u8]) {
        let Some(asked) = self.ring.pop() else { return };
        if !self.state.part_failed {
            self.record(kind, &asked, message);
        }
        if asked.part {
            // A multi-get is one operation and fails once.
            self.state.part_failed = true;
            self.end_part();
        }
    }

    #[cold]
    fn record(&mut self, kind: ErrorKind, asked: &Pending, message: &[u8]) {
        let encoder = self.encoder;
        self.stats.error(kind, || {
            let mut key = Vec::new();
            write_key(encoder.prefix(), asked.key, asked.pad, &mut key);
            let message = String::from_utf8_lossy(&message[..message.len().min(200)]);
            let to = match asked.action {
                Some(KeyAction::Set) => "set",
                Some(KeyAction::Delete) => "delete",
                Some(KeyAction::Increment) => "increment",
                _ => "get",
            };
            let key = String::from_utf8_lossy(&key);
            format!("{to} {key} ({} bytes): {} {message}", asked.length, kind.name())
                .trim_end()
                .to_owned()
        });
    }

    #[cold]
    fn failed(
        &mut self,
        kind: ErrorKind,
        opaque: Option<u32>,
        text: &[u8],
    ) -> Result<(), InvalidReply> {
        self.state.current = Current::Idle;
        if opaque.is_some() {
            self.find(opaque)?;
        } else if kind == ErrorKind::ServerError {
            // In a quiet batch this error names no request. Of the requests without a response, the
            // first set is the most likely one, because sets are the ones that fail.
            let before = {
                let mut batch = self.ring.iter().take_while(|p| p.quiet);
                batch.position(|p| p.action == Some(KeyAction::Set)).unwrap_or(0)
            };
            (0..before).for_each(|_| self.silent());
        }
        // An error in the array of a multi-get is not possible; one instead of it answers all keys.
        while self.ring.front().is_some_and(|p| p.part) {
            self.ring.pop();
        }
        (self.state.parts_left, self.state.parts, self.state.part_failed) = (0, [0; 2], false);
        let asked = self.ring.front().copied();
        match asked {
            Some(p) if p.action.is_some() => self.wrong(kind, text),
            _ => return Err(InvalidReply::new(UNASKED, text)),
        }
        Ok(())
    }

    fn finish_get(&mut self) {
        match std::mem::take(&mut self.state.current) {
            Current::Idle => self.right(Operation::GetMiss),
            Current::Right => self.right(Operation::GetHit),
            Current::Wrong(kind) => self.wrong(kind, b""),
            Current::Checking(_) => self.wrong(ErrorKind::WrongContent, b""),
        }
    }

    fn expect(&mut self, opaque: Option<u32>, set: bool) -> Result<(), InvalidReply> {
        let asked = self.find(opaque)?;
        let fits = match asked.action {
            Some(KeyAction::Set) => set,
            Some(KeyAction::Get | KeyAction::GetAbsent) => !set && self.has_begun(&asked),
            _ => false,
        };
        if fits {
            Ok(())
        } else {
            Err(InvalidReply::new("an answer to another kind of request", b""))
        }
    }
}

impl Sink for Judge<'_> {
    #[inline]
    fn expected<'a>(&mut self, mut input: &'a [u8]) -> &'a [u8] {
        while let Some(rest) = self.hit(input) {
            input = rest;
        }
        input
    }

    #[inline]
    fn reply(&mut self, reply: Reply<'_>) -> Result<(), InvalidReply> {
        match reply {
            Reply::Value { key, opaque, length } => self.begin(key, opaque, length)?,
            Reply::Chunk(bytes) => {
                if let Current::Checking(check) = &mut self.state.current {
                    check.feed(self.content, bytes);
                }
            }
            Reply::ValueEnd => {
                if let Current::Checking(check) = &self.state.current {
                    self.state.current = if check.passed() {
                        Current::Right
                    } else {
                        Current::Wrong(ErrorKind::WrongContent)
                    };
                }
                if !self.text {
                    self.finish_get();
                }
            }
            Reply::End => {
                self.expect(None, false)?;
                self.finish_get();
            }
            Reply::Miss(opaque) => {
                self.expect(opaque, false)?;
                self.right(Operation::GetMiss);
            }
            Reply::Stored(opaque) => {
                self.expect(opaque, true)?;
                self.right(Operation::Set);
            }
            Reply::NotStored(opaque) => {
                self.expect(opaque, true)?;
                self.wrong(ErrorKind::NotStored, b"");
            }
            Reply::Noop => {
                while self.ring.front().is_some_and(|p| p.quiet) {
                    self.silent();
                }
                if self.ring.front().is_none_or(|p| p.action.is_some()) {
                    return Err(InvalidReply::new(UNASKED, b"MN"));
                }
                self.ring.pop();
            }
            Reply::Integer(number) => self.number(number)?,
            Reply::Array(values) => self.begin_array(values)?,
            Reply::Error { kind, opaque, text } => self.failed(kind, opaque, text)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
