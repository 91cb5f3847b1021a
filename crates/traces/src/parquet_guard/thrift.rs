//! The part of Thrift's compact protocol (thrift/doc/specs/thrift-compact-protocol.md) that is
//! needed to check the sizes in a Parquet file before its reader uses them.

/// A cursor over compact-protocol bytes. Every method returns `None` if the bytes are malformed.
#[derive(Debug)]
pub(crate) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Type codes of the protocol.
pub(crate) const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;

impl<'a> Thrift<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Thrift { bytes, at: 0 }
    }

    /// Returns the number of bytes read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(crate) fn advance(&mut self, n: u64) -> Option<()> {
        let at = self.at.checked_add(usize::try_from(n).ok()?)?;
        if at > self.bytes.len() {
            return None;
        }
        self.at = at;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a zigzag integer.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        let raw = self.varint()?;
        Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    /// Reads the next field header of a structure and returns its id and type, or 0 and 0 at the
    /// end of the structure. `last` is the id of the preceding field, initially 0.
    pub(crate) fn field(&mut self, last: &mut i64) -> Option<(i64, u8)> {
        let head = self.byte()?;
        if head == 0 {
            return Some((0, 0));
        }
        *last = match head >> 4 {
            0 => self.integer()?,
            delta => last.checked_add(i64::from(delta))?,
        };
        Some((*last, head & 0x0f))
    }

    /// Reads the header of a list and returns the number and type of its elements.
    pub(crate) fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        Some((count, head & 0x0f))
    }

    /// Skips a byte string, which starts with its length.
    pub(crate) fn bytes(&mut self) -> Option<()> {
        let n = self.varint()?;
        self.advance(n)
    }
}
