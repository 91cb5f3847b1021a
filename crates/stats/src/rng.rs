//! A small seeded generator: xoshiro256++ (Blackman and Vigna, 2019), its state filled by
//! SplitMix64 (Steele, Lea and Flood, 2014). The same seed gives the same numbers on every machine
//! and in every version of assay, which a dependency would not promise. Not for secrets.

/// Random number generator, which is not cryptographically secure.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Creates a generator that always gives the same sequence for the same `seed`.
    pub fn new(seed: u64) -> Self {
        let mut z = seed;
        let state = std::array::from_fn(|_| {
            z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut x = z;
            x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            x ^ (x >> 31)
        });
        Rng { state }
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a uniform number in [0, 1) with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a uniform number in 0..`n`, or 0 if `n` is 0. The bias is negligible
    /// (multiply-shift: less than n / 2^64).
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Returns a standard normal number (Box and Muller, 1958; the second of the pair is discarded,
    /// so that the generator needs no further state).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Returns an exponentially distributed number with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Shuffles a slice (Fisher and Yates).
    pub fn shuffle<T>(&mut self, slice: &mut [T]) {
        for i in (1..slice.len()).rev() {
            slice.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first output of the reference SplitMix64 for seed 0 is 0xE220A8397B1DCDAF, the second
    /// 0x6E789E6AA1B965F4 (the reference C program).
    #[test]
    fn splitmix_fills_the_state() {
        let rng = Rng::new(0);
        assert_eq!(rng.state[0], 0xE220_A839_7B1D_CDAF);
        assert_eq!(rng.state[1], 0x6E78_9E6A_A1B9_65F4);
    }

    /// Output of the reference C program of xoshiro256++ from state 1, 2, 3, 4.
    #[test]
    fn xoshiro_reference_outputs() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let want = [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386];
        assert_eq!(std::array::from_fn(|_| rng.next_u64()), want);
    }

    #[test]
    fn moments_and_range() {
        let mut rng = Rng::new(42);
        let n = 100_000;
        let (mut u, mut z, mut z2, mut e) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..n {
            let x = rng.uniform();
            assert!((0.0..1.0).contains(&x));
            u += x;
            let g = rng.normal();
            z += g;
            z2 += g * g;
            e += rng.exponential();
        }
        let n = f64::from(n);
        assert!((u / n - 0.5).abs() < 0.005);
        assert!((z / n).abs() < 0.015 && (z2 / n - 1.0).abs() < 0.02);
        assert!((e / n - 1.0).abs() < 0.02);
    }

    #[test]
    fn shuffle_keeps_the_members_and_reaches_every_place() {
        let mut rng = Rng::new(1);
        let mut first = [0u32; 5];
        for _ in 0..5000 {
            let mut v = [0, 1, 2, 3, 4];
            rng.shuffle(&mut v);
            first[v[0]] += 1;
            v.sort_unstable();
            assert_eq!(v, [0, 1, 2, 3, 4]);
        }
        assert!(first.iter().all(|c| (850..1150).contains(c)), "{first:?}");
        assert_eq!(rng.below(0), 0);
    }
}
