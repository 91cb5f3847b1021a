//! PELT: splits a series into segments of constant mean and variance at minimum cost. Killick,
//! Fearnhead and Eckley, J. Am. Stat. Assoc. 107 (2012) 1590; cost and penalty as used for warm-up
//! by Barrett et al., OOPSLA 2017.

/// Minimum length of a segment; fewer points do not show a variance of their own.
const SHORTEST: usize = 5;

/// A segment of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// First index of the segment.
    pub start: usize,
    /// Index after the last one.
    pub end: usize,
    /// Mean of the segment.
    pub mean: f64,
    /// Standard deviation of the segment (divided by n).
    pub sd: f64,
}

/// Prefix sums that give mean and variance of any segment in constant time. They are taken about
/// the mean of the series, so that large values with small changes keep their digits.
struct PrefixSums {
    centre: f64,
    first: Vec<f64>,
    second: Vec<f64>,
    least_variance: f64,
}

impl PrefixSums {
    fn new(values: &[f64], least_sd: f64) -> Self {
        let centre = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let (mut first, mut second) = (vec![0.0], vec![0.0]);
        let (mut s1, mut s2) = (0.0, 0.0);
        for v in values {
            let d = v - centre;
            s1 += d;
            s2 += d * d;
            first.push(s1);
            second.push(s2);
        }
        PrefixSums { centre, first, second, least_variance: least_sd * least_sd }
    }

    fn moments(&self, start: usize, end: usize) -> (f64, f64) {
        let n = (end - start) as f64;
        let m = (self.first[end] - self.first[start]) / n;
        let v = (self.second[end] - self.second[start]) / n - m * m;
        (m, v.max(0.0))
    }

    /// Returns −2 ln likelihood of a normal segment, with a variance of at least `least_variance`
    /// and without constants.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let (_, v) = self.moments(start, end);
        let credited = v.max(self.least_variance);
        (end - start) as f64 * (credited.ln() + v / credited)
    }
}

/// Segments finite `values` with `penalty` per cut. `least_sd` is the standard deviation below
/// which a segment gains nothing by being quieter; it must be positive, or segments of equal values
/// would cost nothing. Returns no segments for fewer than five values or a `least_sd` that is not
/// positive.
pub fn pelt(values: &[f64], penalty: f64, least_sd: f64) -> Vec<Segment> {
    let n = values.len();
    if n < SHORTEST || least_sd.is_nan() || least_sd <= 0.0 || values.iter().any(|v| !v.is_finite())
    {
        return Vec::new();
    }
    let sums = PrefixSums::new(values, least_sd);
    let mut best = vec![f64::INFINITY; n + 1];
    best[0] = -penalty;
    let mut from = vec![0usize; n + 1];
    let mut candidates: Vec<usize> = Vec::new();
    for end in SHORTEST..=n {
        // A start that loses to a cut at `past` loses for good once a segment may begin at `past`,
        // which is from here on; before, it might still have won.
        let past = end - SHORTEST;
        if best[past].is_finite() {
            candidates
                .retain(|s| *s + SHORTEST > past || best[*s] + sums.cost(*s, past) <= best[past]);
            candidates.push(past);
        }
        let ends = candidates.iter().map(|s| (*s, best[*s] + sums.cost(*s, end)));
        if let Some((start, minimum)) = ends.min_by(|a, b| a.1.total_cmp(&b.1)) {
            best[end] = minimum + penalty;
            from[end] = start;
        }
    }
    let mut segments = Vec::new();
    let mut end = n;
    while end > 0 {
        let start = from[end];
        let (m, v) = sums.moments(start, end);
        segments.push(Segment { start, end, mean: m + sums.centre, sd: v.sqrt() });
        end = start;
    }
    segments.reverse();
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn noise(n: usize, mean: f64, sd: f64, rng: &mut Rng) -> Vec<f64> {
        (0..n).map(|_| mean + sd * rng.normal()).collect()
    }

    /// Tries every cut and returns the cost that PELT must reach.
    fn optimal_cost(values: &[f64], penalty: f64, least_sd: f64) -> f64 {
        let sums = PrefixSums::new(values, least_sd);
        let mut best = vec![f64::INFINITY; values.len() + 1];
        best[0] = -penalty;
        for end in SHORTEST..=values.len() {
            for start in 0..=end - SHORTEST {
                let c = best[start] + sums.cost(start, end) + penalty;
                best[end] = best[end].min(c);
            }
        }
        best[values.len()]
    }

    #[test]
    fn pruning_loses_nothing() {
        let mut rng = Rng::new(11);
        for _ in 0..50 {
            let mut v = noise(40, 1.0, 0.1, &mut rng);
            v.extend(noise(30, 1.2, 0.1, &mut rng));
            v.extend(noise(20, 1.2, 0.4, &mut rng));
            let segments = pelt(&v, 6.0, 0.01);
            let sums = PrefixSums::new(&v, 0.01);
            let cost: f64 = segments.iter().map(|s| sums.cost(s.start, s.end)).sum::<f64>()
                + 6.0 * (segments.len() - 1) as f64;
            assert!((cost - optimal_cost(&v, 6.0, 0.01)).abs() < 1e-9);
        }
    }

    #[test]
    fn finds_mean_and_variance_changes() {
        let mut rng = Rng::new(12);
        let mut v = noise(100, 5.0, 0.1, &mut rng);
        v.extend(noise(100, 4.0, 0.1, &mut rng));
        v.extend(noise(100, 4.0, 1.0, &mut rng));
        let segments = pelt(&v, 15.0 * 300f64.ln(), 0.01);
        let cuts: Vec<usize> = segments.iter().map(|s| s.start).collect();
        assert_eq!(cuts.len(), 3, "{cuts:?}");
        assert!(cuts[1].abs_diff(100) <= 2 && cuts[2].abs_diff(200) <= 6, "{cuts:?}");
    }

    #[test]
    fn quiet_and_bad_series() {
        assert_eq!(pelt(&[3.0; 200], 50.0, 1e-3).len(), 1);
        assert!(pelt(&[3.0; 4], 1.0, 1e-3).is_empty());
        assert!(pelt(&[f64::NAN; 40], 1.0, 1e-3).is_empty());
        assert!(pelt(&[3.0; 40], 1.0, 0.0).is_empty());
    }
}
