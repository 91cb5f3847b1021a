//! Decodes Parquet's "RLE/bit-packing hybrid" of small integers: runs of one repeated integer, and
//! runs of bit-packed integers, lowest bits first.

use std::ops::Range;

use parquet::errors::Result;

use crate::block_io::source::parquet_pages::wrong;

/// Decoder of the runs in a range of a page's bytes. The range starts after the decoded part.
#[derive(Clone)]
pub(super) struct Runs {
    width: u32,
    bytes: Range<usize>,
    /// Integers left in the current run.
    left: usize,
    run: ValueRun,
}

#[derive(Clone, Copy)]
enum ValueRun {
    /// One integer that is repeated.
    Same(u32),
    /// Packed integers that start at this bit of the page.
    Packed(usize),
}

impl Runs {
    /// Creates a decoder for integers of `width` bits, or returns `None` if it exceeds 32.
    pub(super) fn new(width: u32, bytes: Range<usize>) -> Option<Self> {
        (width <= 32).then_some(Runs { width, bytes, left: 0, run: ValueRun::Same(0) })
    }

    /// True if the first `count` integers are a single run of `number`.
    pub(super) fn begins_with(mut self, number: u32, count: usize, page: &[u8]) -> bool {
        self.begin(page).is_ok()
            && self.left >= count
            && matches!(self.run, ValueRun::Same(same) if same == number)
    }

    /// Decodes the next integers into `out`.
    pub(super) fn decode(&mut self, page: &[u8], mut out: &mut [u32]) -> Result<()> {
        while !out.is_empty() {
            if self.left == 0 {
                self.begin(page)?;
            }
            let n = self.left.min(out.len());
            let (now, later) = out.split_at_mut(n);
            match &mut self.run {
                ValueRun::Same(number) => now.fill(*number),
                ValueRun::Packed(bit) => {
                    unpack(page, *bit, self.width, now);
                    *bit += n * self.width as usize;
                }
            }
            self.left -= n;
            out = later;
        }
        Ok(())
    }

    /// Reads the header of the next run. It is twice the count of a repeated integer, or twice the
    /// number of groups of eight packed integers, plus one.
    fn begin(&mut self, page: &[u8]) -> Result<()> {
        let cut = || wrong("a page has fewer values than its header states");
        let bytes = page.get(self.bytes.clone()).ok_or_else(cut)?;
        let (mut head, mut length) = (0u64, 0);
        loop {
            let byte = *bytes.get(length).filter(|_| length < 5).ok_or_else(cut)?;
            head |= u64::from(byte & 0x7f) << (7 * length);
            length += 1;
            if byte < 0x80 {
                break;
            }
        }
        let (start, count) = (self.bytes.start + length, (head >> 1) as usize);
        let size = if head & 1 == 1 {
            self.left = count * 8;
            self.run = ValueRun::Packed(start * 8);
            count * self.width as usize
        } else {
            let size = self.width.div_ceil(8) as usize;
            let number = bytes.get(length..length + size).ok_or_else(cut)?;
            self.left = count;
            self.run =
                ValueRun::Same(number.iter().rev().fold(0, |n, byte| n << 8 | u32::from(*byte)));
            size
        };
        self.bytes.start = start + size;
        if self.bytes.start > self.bytes.end {
            return Err(cut());
        }
        Ok(())
    }
}

/// Unpacks integers of `width` bits from bit `from` on. The caller ensures that the page is long
/// enough.
fn unpack(page: &[u8], from: usize, width: u32, out: &mut [u32]) {
    let mask = (1u64 << width) - 1;
    let mut bit = from;
    for number in out {
        let bytes = page.get(bit / 8..).unwrap_or_default();
        let word = match bytes.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        *number = (word >> (bit % 8) & mask) as u32;
        bit += width as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Encodes runs of integers of `width` bits like a Parquet writer.
    fn written(runs: &[(bool, Vec<u32>)], width: u32) -> (Vec<u8>, Vec<u32>) {
        let (mut bytes, mut numbers) = (Vec::new(), Vec::new());
        for (packed, some) in runs {
            let head = if *packed { some.len() / 8 * 2 + 1 } else { some.len() * 2 };
            let mut rest = head;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
            if *packed {
                let mut bits = vec![0u8; some.len() / 8 * width as usize];
                for bit in 0..some.len() * width as usize {
                    let set = some[bit / width as usize] >> (bit % width as usize) & 1;
                    bits[bit / 8] |= (set as u8) << (bit % 8);
                }
                bytes.extend(bits);
            } else {
                bytes.extend(&some[0].to_le_bytes()[..width.div_ceil(8) as usize]);
            }
            numbers.extend(some);
        }
        (bytes, numbers)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_in_any_parts(
            width in 1u32..=32,
            shape in prop::collection::vec((any::<bool>(), 1usize..40, any::<u32>()), 1..8),
            part in 1usize..50,
        ) {
            let mask = ((1u64 << width) - 1) as u32;
            let run = |(packed, n, seed): &(bool, usize, u32)| {
                let many = if *packed { n * 8 } else { *n };
                let number = |i: usize| seed.wrapping_mul(
                if *packed { i as u32 + 1 } else { 1 })
                & mask;
                (*packed, (0..many).map(number).collect::<Vec<u32>>())
            };
            let runs: Vec<_> = shape.iter().map(run).collect();
            let (mut bytes, numbers) = written(&runs, width);
            let end = bytes.len() + 3;
            bytes.splice(0..0, [7, 7, 7]);
            let mut decoder = Runs::new(width, 3..end).unwrap();
            let mut read = vec![0; numbers.len()];
            for part in read.chunks_mut(part) {
                decoder.decode(&bytes, part).unwrap();
            }
            prop_assert_eq!(read, numbers);
            prop_assert!(decoder.decode(&bytes, &mut [0]).is_err(), "there is no more");
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..60), width in 0u32..=33,
        ) {
            if let Some(mut decoder) = Runs::new(width, 0..bytes.len()) {
                let _ = decoder.decode(&bytes, &mut [0; 300]);
            }
        }
    }
}
