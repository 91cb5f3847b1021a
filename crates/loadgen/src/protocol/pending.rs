//! Outstanding operations of a connection in order: a ring of fixed size.

use crate::send::mix::{KeyAction, Op};

/// Time stamp of operations whose response time counts from the sending of their batch.
pub const WITH_BATCH: u64 = u64::MAX;

/// One outstanding request of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Pending {
    /// Start of its response time in ns; [`WITH_BATCH`] for the connection's last send.
    pub at: u64,
    /// Id of the key.
    pub key: u64,
    /// Bytes of padding after the key's digits.
    pub pad: u8,
    /// Length of its value in bytes.
    pub length: u32,
    /// Size class of its value.
    pub class: u8,
    /// The operation; `None` for a no-op that closes a quiet batch.
    pub action: Option<KeyAction>,
    /// True if silence means success of a set or a miss of a get.
    pub quiet: bool,
    /// True for a key of a multi-get. Its keys are before the multi-get itself, which is the
    /// operation.
    pub part: bool,
}

impl Pending {
    /// Creates the request of an operation.
    #[inline]
    pub fn new(op: &Op, at: u64, quiet: bool) -> Self {
        let Op { action, key, pad, class, length, .. } = *op;
        Pending { at, key, pad, length, class, action: Some(action), quiet, part: false }
    }

    /// True for an operation: neither a no-op nor a key of a multi-get.
    #[inline]
    pub fn is_operation(&self) -> bool {
        self.action.is_some() && !self.part
    }
}

/// The no-op that closes a quiet batch.
pub const NOOP: Pending = Pending {
    at: WITH_BATCH,
    key: 0,
    pad: 0,
    length: 0,
    class: 0,
    action: None,
    quiet: false,
    part: false,
};

/// Ring of outstanding requests. They are numbered in order, wrapping at 2^32; the number is the
/// request's opaque.
#[derive(Debug)]
pub struct Ring {
    slots: Box<[Pending]>,
    head: u32,
    tail: u32,
    operations: u32,
}

impl Ring {
    /// Creates a ring with room for `depth` requests and as many no-ops.
    pub fn new(depth: usize) -> Self {
        let slots = vec![NOOP; (2 * depth).next_power_of_two()].into_boxed_slice();
        Ring { slots, head: 0, tail: 0, operations: 0 }
    }

    fn slot(&self, number: u32) -> usize {
        number as usize & (self.slots.len() - 1)
    }

    /// Returns the number of the next request.
    #[inline]
    pub fn next_number(&self) -> u32 {
        self.tail
    }

    /// Returns the number of the oldest request.
    #[inline]
    pub fn head_number(&self) -> u32 {
        self.head
    }

    /// Adds a request. The caller keeps to the depth.
    #[inline]
    pub fn push(&mut self, pending: Pending) {
        debug_assert!(self.tail.wrapping_sub(self.head) < self.slots.len() as u32);
        self.operations += u32::from(pending.is_operation());
        let slot = self.slot(self.tail);
        self.slots[slot] = pending;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Returns the oldest request.
    #[inline]
    pub fn front(&self) -> Option<&Pending> {
        (self.head != self.tail).then(|| &self.slots[self.slot(self.head)])
    }

    /// Removes and returns the oldest request.
    #[inline]
    pub fn pop(&mut self) -> Option<Pending> {
        let pending = *self.front()?;
        self.head = self.head.wrapping_add(1);
        self.operations -= u32::from(pending.is_operation());
        Some(pending)
    }

    /// Iterates over all requests, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Pending> {
        (0..self.tail.wrapping_sub(self.head))
            .map(|i| &self.slots[self.slot(self.head.wrapping_add(i))])
    }

    /// Returns the number of outstanding operations.
    #[inline]
    pub fn operations(&self) -> usize {
        self.operations as usize
    }

    /// True if no request is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_around_the_end() {
        let mut ring = Ring::new(3);
        for round in 0..50u64 {
            for i in 0..3 {
                ring.push(Pending { key: round * 3 + i, action: Some(KeyAction::Get), ..NOOP });
            }
            ring.push(NOOP);
            assert_eq!((ring.operations(), ring.iter().count()), (3, 4));
            for i in 0..3 {
                assert_eq!(ring.pop().unwrap().key, round * 3 + i);
            }
            assert_eq!(ring.pop().unwrap().action, None);
            assert!(ring.is_empty() && ring.pop().is_none());
        }
    }
}
