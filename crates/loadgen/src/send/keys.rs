//! Draws keys: uniform, or Zipf by rejection-inversion. It needs no table and no allocation, so its
//! cost does not depend on the number of keys.

use assay_stats::rng::Rng;

use crate::config::Popularity;

/// Draws key ids from 0 to below the number of keys.
#[derive(Debug, Clone)]
pub struct Keys {
    count: u64,
    zipf: Option<Zipf>,
}

impl Keys {
    /// Creates a source of ids 0..`count`, the most popular first.
    pub fn new(count: u64, popularity: Popularity) -> Self {
        let zipf = match popularity {
            Popularity::Uniform => None,
            Popularity::Zipf { exponent } => Some(Zipf::new(count, exponent)),
        };
        Keys { count, zipf }
    }

    /// Draws the next id.
    #[inline]
    pub fn next(&self, rng: &mut Rng) -> u64 {
        match &self.zipf {
            None => rng.below(self.count as usize) as u64,
            Some(zipf) => zipf.next(rng) - 1,
        }
    }
}

/// Zipf distribution P(k) ∝ k^−s for k in 1..=n, by Hörmann and Derflinger, "Rejection-inversion to
/// generate variates from monotone discrete distributions", ACM TOMACS 6 (1996) 169. H is the
/// integral of x^−s with H(1) = 0.
#[derive(Debug, Clone)]
struct Zipf {
    n: f64,
    s: f64,
    h_first: f64,
    h_last: f64,
    /// Distance from k below which no rejection test is needed.
    squeeze: f64,
}

impl Zipf {
    fn new(n: u64, s: f64) -> Self {
        let n = n as f64;
        let mut z = Zipf { n, s, h_first: 0.0, h_last: 0.0, squeeze: 0.0 };
        z.h_first = z.integral(1.5) - 1.0;
        z.h_last = z.integral(n + 0.5);
        z.squeeze = 2.0 - z.inverse(z.integral(2.5) - z.density(2.0));
        z
    }

    fn density(&self, x: f64) -> f64 {
        (-self.s * x.ln()).exp()
    }

    /// Computes (x^(1−s) − 1) / (1 − s), which is ln x for s = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.s) * log;
        if t.abs() > 1e-8 { t.exp_m1() / t * log } else { log * (1.0 + t / 2.0) }
    }

    fn inverse(&self, y: f64) -> f64 {
        // Rounding must not take the argument of the logarithm below its range.
        let t = (y * (1.0 - self.s)).max(-1.0);
        let scale = if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 };
        (scale * y).exp()
    }

    fn next(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.h_last + rng.uniform() * (self.h_first - self.h_last);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.squeeze || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(keys: &Keys, n: usize, draws: u32) -> Vec<f64> {
        let mut rng = Rng::new(7);
        let mut seen = vec![0u32; n];
        for _ in 0..draws {
            seen[keys.next(&mut rng) as usize] += 1;
        }
        seen.iter().map(|c| f64::from(*c)).collect()
    }

    #[test]
    fn zipf_has_its_probabilities() {
        for s in [0.5, 0.99, 1.0, 1.3, 3.0] {
            let n = 50;
            let draws = 400_000;
            let seen = counts(&Keys::new(n as u64, Popularity::Zipf { exponent: s }), n, draws);
            let total: f64 = (1..=n).map(|k| (k as f64).powf(-s)).sum();
            for (i, c) in seen.iter().enumerate() {
                let p = ((i + 1) as f64).powf(-s) / total;
                let expected = p * f64::from(draws);
                let sd = (expected * (1.0 - p)).sqrt();
                assert!((c - expected).abs() < 5.0 * sd + 1.0, "s {s} k {} {c} {expected}", i + 1);
            }
        }
    }

    #[test]
    fn uniform_reaches_all_and_the_ends_hold() {
        let seen = counts(&Keys::new(10, Popularity::Uniform), 10, 20_000);
        assert!(seen.iter().all(|c| (1800.0..2200.0).contains(c)), "{seen:?}");
        let mut rng = Rng::new(1);
        assert_eq!(Keys::new(1, Popularity::Zipf { exponent: 1.0 }).next(&mut rng), 0);
        let many = Keys::new((1 << 39) - 1, Popularity::Zipf { exponent: 0.6 });
        assert!((0..10_000).all(|_| many.next(&mut rng) < (1 << 39) - 1));
    }
}
