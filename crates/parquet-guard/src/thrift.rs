//! Just enough of Thrift's compact protocol (thrift/doc/specs/thrift-compact-protocol.md) to look at
//! the sizes in a Parquet file before its reader acts on them.

/// A cursor over compact-protocol bytes; `None` from any method: the bytes are not that.
#[derive(Debug)]
pub(crate) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The type codes that are looked at.
pub(crate) const I32: u8 = 5;
pub(crate) const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;

/// How deep structures may be nested.
const DEPTH: u8 = 24;

impl<'a> Thrift<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Thrift { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn advance(&mut self, n: u64) -> Option<()> {
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

    /// A zigzag integer.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        let raw = self.varint()?;
        Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    /// The next field of a structure: its id and type, or 0 and 0 at the structure's end. `last` is
    /// the id of the field before, from 0.
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

    /// The head of a list: how many elements, of which type.
    pub(crate) fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        Some((count, head & 0x0f))
    }

    /// Passes over a value of a type.
    pub(crate) fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_at(kind, DEPTH)
    }

    fn skip_at(&mut self, kind: u8, depth: u8) -> Option<()> {
        let below = depth.checked_sub(1)?;
        match kind {
            1 | 2 => Some(()), // a boolean field: its type is its value
            3 => self.advance(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.advance(8),
            8 => {
                let n = self.varint()?;
                self.advance(n)
            }
            LIST | 10 => {
                let (count, of) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(of, below))
            }
            11 => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, below)?;
                    self.skip_element(kinds & 0x0f, below)
                })
            }
            STRUCT => {
                let mut last = 0;
                loop {
                    match self.field(&mut last)? {
                        (_, 0) => return Some(()),
                        (_, kind) => self.skip_at(kind, below)?,
                    }
                }
            }
            _ => None,
        }
    }

    /// An element of a list. Parquet has no booleans in lists before its rows, and the reader behind this
    /// one takes them to have no bytes: a few bytes would keep it busy for two thousand million of them.
    fn skip_element(&mut self, kind: u8, depth: u8) -> Option<()> {
        if matches!(kind, 1 | 2) { None } else { self.skip_at(kind, depth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_passed_over_unless_they_are_of_booleans() {
        let of = |kind: u8| [0x20 | kind, 2, 2];
        assert_eq!(Thrift::new(&of(I32)).skip(LIST), Some(()));
        assert_eq!(Thrift::new(&of(1)).skip(LIST), None, "found by fuzzing");
        // A map of one number to a boolean.
        assert_eq!(Thrift::new(&[1, I32 << 4 | 1, 2, 1]).skip(11), None);
    }
}
