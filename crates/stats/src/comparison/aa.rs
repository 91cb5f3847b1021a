//! The A/A floor, which is the difference between identical treatments on this machine, and Holm's
//! correction for many comparisons.

use crate::percentile::quantile;

/// Minimum number of comparisons of identical code for a floor.
pub const MIN_COMPARISONS: usize = 20;

/// A/A floor of a machine, workload and schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AaNoise {
    /// The floor as a ratio above 1: 95 of 100 comparisons of identical treatments are within
    /// [1/ratio, ratio].
    pub ratio: f64,
    /// Number of comparisons it is based on.
    pub n: usize,
}

/// Computes the floor: the 95th percentile of |ln ratio| over at least 20 comparisons of identical
/// code made with one schedule, as a ratio. Returns `None` below 20 or if a ratio is not positive
/// and finite.
pub fn floor(ratios: &[f64]) -> Option<AaNoise> {
    if ratios.len() < MIN_COMPARISONS || ratios.iter().any(|r| !(*r > 0.0 && r.is_finite())) {
        return None;
    }
    let sizes: Vec<f64> = ratios.iter().map(|r| r.ln().abs()).collect();
    quantile(&sizes, 0.95).map(|q| AaNoise { ratio: q.exp(), n: ratios.len() })
}

/// Returns the order that sorts p-values in ascending order; `None` if one is not within 0..=1.
fn order(p: &[f64]) -> Option<Vec<usize>> {
    if p.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return None;
    }
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    Some(order)
}

/// Returns Holm's adjusted p-values (Scand. J. Stat. 6 (1979) 65), in the order given. Rejecting
/// those at most α keeps the familywise error at α. Used for gates. Returns `None` if a p is not
/// within 0..=1.
pub fn holm(p: &[f64]) -> Option<Vec<f64>> {
    holm_weighted(p, &vec![1.0; p.len()])
}

/// Returns Holm's adjusted p-values with weights (section 4 of the paper): a larger weight makes a
/// smaller effect significant, at the expense of the others. The familywise error holds if the
/// weights are independent of the p-values that have no effect. Returns `None` also if a weight is
/// not above 0.
pub fn holm_weighted(p: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
    if p.len() != weights.len() || !weights.iter().all(|w| w.is_finite() && *w > 0.0) {
        return None;
    }
    order(p)?;
    let mut by: Vec<usize> = (0..p.len()).collect();
    by.sort_by(|a, b| (p[*a] / weights[*a]).total_cmp(&(p[*b] / weights[*b])));
    let mut adjusted = vec![0.0; p.len()];
    let mut running_max = 0.0f64;
    for (rank, i) in by.iter().enumerate() {
        let left: f64 = by[rank..].iter().map(|i| weights[*i]).sum();
        running_max = running_max.max(left * p[*i] / weights[*i]).min(1.0);
        adjusted[*i] = running_max;
    }
    Some(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &[f64], b: &[f64]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?} {b:?}");
    }

    /// The fifteen p-values of the example in Benjamini and Hochberg (J. R. Statist. Soc. B 57
    /// (1995) 289), section 4.1: at 0.05 Bonferroni and Holm reject three.
    #[test]
    fn a_published_example() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0000,
        ];
        assert_eq!(holm(&p).unwrap().into_iter().filter(|p| *p <= 0.05).count(), 3);
    }

    #[test]
    fn weights_share_out_the_error() {
        // By hand: 0.02 / 0.75 comes first, then 0.01 / 0.25 has all the remaining weight.
        close(&holm_weighted(&[0.01, 0.02], &[0.25, 0.75]).unwrap(), &[0.02 / 0.75, 0.02 / 0.75]);
        close(&holm_weighted(&[0.03, 0.02], &[0.5, 0.5]).unwrap(), &holm(&[0.03, 0.02]).unwrap());
        assert_eq!(holm_weighted(&[0.1], &[0.0]), None);
        assert_eq!(holm_weighted(&[0.1], &[1.0, 1.0]), None);
        assert_eq!(holm_weighted(&[2.0], &[1.0]), None);
    }

    #[test]
    fn adjusted_by_hand() {
        close(&holm(&[0.04, 0.01, 0.03]).unwrap(), &[0.06, 0.03, 0.06]);
        assert_eq!(holm(&[0.5, f64::NAN]), None);
        assert_eq!(holm(&[1.5]), None);
        assert_eq!(holm(&[]), Some(vec![]));
    }

    #[test]
    fn floor_is_symmetric_and_needs_twenty() {
        let ratios: Vec<f64> = (0..21)
            .map(|i| (f64::from(i) * 0.001 * if i % 2 == 0 { 1.0 } else { -1.0 }).exp())
            .collect();
        let f = floor(&ratios).unwrap();
        assert!((f.ratio.ln() - 0.019).abs() < 1e-9);
        assert_eq!(floor(&ratios[..19]), None);
        assert_eq!(floor(&[0.0; 30]), None);
    }
}
