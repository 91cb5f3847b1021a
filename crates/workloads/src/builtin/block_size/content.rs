//! Content of the data file: the output of SplitMix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", OOPSLA 2014), which computes each 8-byte word from the seed and
//! the word's number, so that any block can be checked alone.

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Output function of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns word `number` of the content for `seed`.
fn word(seed: u64, number: u64) -> [u8; 8] {
    mix(seed.wrapping_add(number.wrapping_add(1).wrapping_mul(GOLDEN))).to_le_bytes()
}

/// Fills `out` with the content for `seed`, starting at byte `offset`.
pub fn fill(seed: u64, offset: u64, out: &mut [u8]) {
    let skip = (offset % 8) as usize;
    let head = if skip == 0 { 0 } else { (8 - skip).min(out.len()) };
    let (first, rest) = out.split_at_mut(head);
    first.copy_from_slice(&word(seed, offset / 8)[skip % 8..][..head]);
    let numbers = (offset + head as u64) / 8..;
    for (number, chunk) in numbers.zip(rest.chunks_mut(8)) {
        chunk.copy_from_slice(&word(seed, number)[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_block_is_the_same_as_in_the_whole() {
        let mut whole = vec![0; 3000];
        fill(7, 0, &mut whole);
        for (offset, length) in [(0, 1), (1, 3), (3, 5), (5, 11), (8, 8), (4095 - 2000, 905)] {
            let mut part = vec![0; length];
            fill(7, offset as u64, &mut part);
            assert_eq!(part, whole[offset..offset + length], "{offset}+{length}");
        }
        let mut other = vec![0; 3000];
        fill(8, 0, &mut other);
        assert_ne!(whole, other);
    }

    #[test]
    fn words_are_those_of_the_reference_generator() {
        // First outputs of the reference SplitMix64 for seed 1234567.
        assert_eq!(word(1_234_567, 0), 6_457_827_717_110_365_317u64.to_le_bytes());
        assert_eq!(word(1_234_567, 1), 3_203_168_211_198_807_973u64.to_le_bytes());
    }
}
