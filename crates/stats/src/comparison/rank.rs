//! Rank estimates on the log scale: the Walsh averages of one sample (the Hodges-Lehmann center and
//! the exact signed-rank interval) and the shift between two (with the exact Mann-Whitney
//! interval). See Hollander and Wolfe, Nonparametric Statistical Methods, chapters 3 and 4.
//!
//! The k-th smallest of the n(n+1)/2 averages or m·n differences is found by bisection over a count
//! that takes one pass of the sorted data, so that thousands of trials need no quadratic memory.

use assay_model::Interval;

use crate::distribution::normal_quantile;

/// Number of averages or differences above which the normal approximation with continuity
/// correction replaces the exact null distribution; it is then within two ranks of it.
const EXACT_LIMIT: usize = 10_000;
/// Minimum number of pairs for a signed-rank interval.
pub const MIN_PAIRS: usize = 6;
/// Minimum number of values in each sample for a Mann-Whitney interval.
pub const MIN_EACH: usize = 4;

/// Returns the largest k >= 1 with 2 · P(statistic <= k - 1) <= `alpha`, given the lower tail
/// `counts` of the null distribution out of `total`; `None` if not even the smallest value is rare
/// enough.
fn rank_of(counts: &[f64], total: f64, alpha: f64) -> Option<usize> {
    let mut sum = 0.0;
    let mut k = 0;
    for c in counts {
        sum += c;
        // The tolerance accepts a probability that equals alpha except for rounding.
        if 2.0 * sum / total > alpha * (1.0 + 1e-12) {
            break;
        }
        k += 1;
    }
    (k > 0).then_some(k)
}

fn rank_of_normal(mean: f64, sd: f64, alpha: f64) -> Option<usize> {
    let k = (mean + 0.5 + sd * normal_quantile(alpha / 2.0)).floor();
    (k >= 1.0).then_some(k as usize)
}

/// Returns the rank k of the signed-rank interval (W₍ₖ₎, W₍M+1−k₎) of `n` values at `level`, with M
/// = n(n+1)/2; `None` if `n` is too small for the level (below 6 at 0.95).
pub fn signed_rank_k(n: usize, level: f64) -> Option<usize> {
    let alpha = 1.0 - level;
    let m = n * (n + 1) / 2;
    if n == 0 || !(0.0..1.0).contains(&level) {
        return None;
    }
    if m > EXACT_LIMIT {
        let nf = n as f64;
        let sd = (nf * (nf + 1.0) * (2.0 * nf + 1.0) / 24.0).sqrt();
        return rank_of_normal(m as f64 / 2.0, sd, alpha);
    }
    // The coefficients of Π (1 + qⁱ), i = 1..n, halved at each step to make them probabilities.
    let mut p = vec![0.0; m / 2 + 1];
    p[0] = 1.0;
    for i in 1..=n {
        for j in (0..p.len()).rev() {
            let shifted = if j >= i { p[j - i] } else { 0.0 };
            p[j] = 0.5 * (p[j] + shifted);
        }
    }
    rank_of(&p, 1.0, alpha)
}

/// Returns the rank k of the Mann-Whitney interval (D₍ₖ₎, D₍mn+1−k₎) of samples of sizes `m` and
/// `n` at `level`; `None` if they are too small for the level.
pub fn rank_sum_k(m: usize, n: usize, level: f64) -> Option<usize> {
    let alpha = 1.0 - level;
    if m == 0 || n == 0 || !(0.0..1.0).contains(&level) {
        return None;
    }
    let (mf, nf) = (m as f64, n as f64);
    if m * n > EXACT_LIMIT {
        return rank_of_normal(mf * nf / 2.0, (mf * nf * (mf + nf + 1.0) / 12.0).sqrt(), alpha);
    }
    // The Gaussian binomial: multiply by (1 − q^(n+i)) and divide by (1 − qⁱ), i = 1..m. In this
    // order every step gives integer counts, and those of the tail are small and therefore exact.
    let mut c = vec![0.0; m * n / 2 + 1];
    c[0] = 1.0;
    let mut total = 1.0;
    for i in 1..=m {
        for j in (n + i..c.len()).rev() {
            c[j] -= c[j - n - i];
        }
        for j in i..c.len() {
            c[j] += c[j - i];
        }
        total *= (n + i) as f64 / i as f64;
    }
    rank_of(&c, total, alpha)
}

/// Finds the smallest x between `low` and `high` at which `count` reaches `k`.
fn select(k: usize, mut low: f64, mut high: f64, count: impl Fn(f64) -> usize) -> f64 {
    if count(low) >= k {
        return low;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if count(middle) >= k {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Counts the Walsh averages (xᵢ + xⱼ)/2, i <= j, of sorted values that are <= x.
fn count_walsh(sorted: &[f64], x: f64) -> usize {
    let mut count = 0;
    let mut j = sorted.len();
    for (i, v) in sorted.iter().enumerate() {
        while j > i && f64::midpoint(*v, sorted[j - 1]) > x {
            j -= 1;
        }
        if j <= i {
            break;
        }
        count += j - i;
    }
    count
}

/// Counts the differences b − a of two sorted samples that are <= x.
fn count_differences(a: &[f64], b: &[f64], x: f64) -> usize {
    let mut j = 0;
    a.iter()
        .map(|v| {
            while j < b.len() && b[j] - v <= x {
                j += 1;
            }
            j
        })
        .sum()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut v = values.to_vec();
    v.sort_unstable_by(f64::total_cmp);
    v
}

/// Returns the exact signed-rank interval of the center of finite values; `None` below
/// [`MIN_PAIRS`] values or if they are too few for `level`. Assumes a symmetric distribution, which
/// log ratios of pairs have if the two sides have the same shape.
pub fn walsh_interval(values: &[f64], level: f64) -> Option<Interval> {
    if values.len() < MIN_PAIRS {
        return None;
    }
    let k = signed_rank_k(values.len(), level)?;
    let s = sorted(values);
    let (low, high) = (*s.first()?, *s.last()?);
    let total = s.len() * (s.len() + 1) / 2;
    let at = |k| select(k, low, high, |x| count_walsh(&s, x));
    Some(Interval { low: at(k), high: at(total + 1 - k), level })
}

/// Returns the exact Mann-Whitney interval of the shift; `None` below [`MIN_EACH`] values in either
/// sample or if they are too few for `level`. Assumes that the two distributions differ only by a
/// shift.
pub fn shift_interval(a: &[f64], b: &[f64], level: f64) -> Option<Interval> {
    if a.len().min(b.len()) < MIN_EACH {
        return None;
    }
    let k = rank_sum_k(a.len(), b.len(), level)?;
    let (a, b) = (sorted(a), sorted(b));
    let (low, high) = (b.first()? - a.last()?, b.last()? - a.first()?);
    let at = |k| select(k, low, high, |x| count_differences(&a, &b, x));
    Some(Interval { low: at(k), high: at(a.len() * b.len() + 1 - k), level })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Critical values c of the signed-rank test, two-sided 0.05, from the usual table (Wilcoxon
    /// 1945; Hollander and Wolfe A.4): reject when W <= c, so k = c + 1.
    #[test]
    fn signed_rank_table() {
        let table =
            [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (15, 25), (20, 52), (25, 89)];
        for (n, c) in table {
            assert_eq!(signed_rank_k(n, 0.95), Some(c + 1), "n {n}");
        }
        assert_eq!(signed_rank_k(5, 0.95), None);
        assert_eq!(signed_rank_k(5, 0.90), Some(1));
        assert_eq!(signed_rank_k(6, 1.0 - 0.0142), None);
        assert_eq!(signed_rank_k(8, 1.0 - 0.0142), Some(1));
    }

    /// Critical values of the Mann-Whitney U, two-sided 0.05 (Mann and Whitney 1947, as reprinted
    /// in Siegel, table K): reject when U <= c.
    #[test]
    fn rank_sum_table() {
        let table = [
            (4, 4, 0),
            (5, 5, 2),
            (6, 6, 5),
            (7, 7, 8),
            (8, 8, 13),
            (10, 10, 23),
            (5, 10, 8),
            (20, 20, 127),
        ];
        for (m, n, c) in table {
            assert_eq!(rank_sum_k(m, n, 0.95), Some(c + 1), "{m} and {n}");
            assert_eq!(rank_sum_k(n, m, 0.95), Some(c + 1), "{n} and {m}");
        }
        assert_eq!(rank_sum_k(3, 3, 0.95), None);
    }

    #[test]
    fn approximation_meets_the_exact_ranks() {
        let exact = signed_rank_k(140, 0.95).unwrap() as f64;
        let sd = (140.0f64 * 141.0 * 281.0 / 24.0).sqrt();
        let normal = rank_of_normal(140.0 * 141.0 / 4.0, sd, 0.05).unwrap() as f64;
        assert!((exact - normal).abs() <= 2.0, "{exact} {normal}");
        let exact = rank_sum_k(100, 100, 0.95).unwrap() as f64;
        let normal = rank_of_normal(5000.0, (10_000.0f64 * 201.0 / 12.0).sqrt(), 0.05).unwrap();
        assert!((exact - normal as f64).abs() <= 2.0, "{exact} {normal}");
        assert!(signed_rank_k(3000, 0.95).is_some() && rank_sum_k(3000, 3000, 0.95).is_some());
    }

    #[test]
    fn selection_agrees_with_sorting() {
        let x = [0.3, -1.2, 0.3, 2.5, 0.0, 0.7, -0.1];
        let y = [1.0, 0.2, 0.2, -3.0, 4.0];
        let mut walsh = Vec::new();
        let mut differences = Vec::new();
        for (i, a) in x.iter().enumerate() {
            walsh.extend(x[i..].iter().map(|b| f64::midpoint(*a, *b)));
            differences.extend(y.iter().map(|b| b - a));
        }
        walsh.sort_unstable_by(f64::total_cmp);
        differences.sort_unstable_by(f64::total_cmp);
        let i = walsh_interval(&x, 0.95).unwrap();
        assert!((i.low - walsh[2]).abs() < 1e-12 && (i.high - walsh[28 - 3]).abs() < 1e-12);
        let k = rank_sum_k(7, 5, 0.95).unwrap();
        let i = shift_interval(&x, &y, 0.95).unwrap();
        assert!((i.low - differences[k - 1]).abs() < 1e-12);
        assert!((i.high - differences[35 - k]).abs() < 1e-12);
    }

    #[test]
    fn too_few_carry_nothing() {
        assert_eq!(walsh_interval(&[1.0; 5], 0.90), None);
        assert_eq!(shift_interval(&[1.0; 3], &[1.0; 9], 0.95), None);
    }

    proptest::proptest! {
        #[test]
        fn turning_the_sign_turns_the_interval(
            v in proptest::collection::vec(-5.0f64..5.0, 6..30)
        ) {
            let i = walsh_interval(&v, 0.95).unwrap();
            let negative: Vec<f64> = v.iter().map(|x| -x).collect();
            let j = walsh_interval(&negative, 0.95).unwrap();
            proptest::prop_assert!((i.low + j.high).abs() < 1e-9 && (i.high + j.low).abs() < 1e-9);
        }
    }
}
