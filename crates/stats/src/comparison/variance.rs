//! Variance by level (samples in trials, trials in builds), after Kalibera and Jones, ISMM 2013 and
//! Kent TR 4-12.

use crate::summary::{mean, variance};

/// Reason why the variance by level cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// The number of values is not the product of the repeats.
    #[error("{values} values do not fill a design of {design}; give a balanced one")]
    Unbalanced {
        values: usize,
        /// Product of the repeats.
        design: usize,
    },
    /// A level with one repeat has no variance.
    #[error("level {level} has {repeats} repeats; a variance needs at least two")]
    OneRepeat {
        /// Number of the level; 1 is the innermost.
        level: usize,
        /// Number of its repeats.
        repeats: usize,
    },
}

/// Computes the variance that each level adds, T₁² (innermost) to T_k². S_i² is the mean variance
/// among the units of level i of the means below them; T₁² = S₁², T_i² = S_i² − S_{i−1}²/r_{i−1}. A
/// negative T² means that the level adds nothing that could be detected. `values` are those of a
/// balanced design, with the innermost level varying fastest; `repeats` are r₁ (innermost) to r_k.
///
/// # Errors
/// If the design is not balanced, or a level has fewer than two repeats.
pub fn by_level(values: &[f64], repeats: &[usize]) -> Result<Vec<f64>, LevelError> {
    let design = repeats.iter().try_fold(1usize, |p, r| p.checked_mul(*r)).unwrap_or(usize::MAX);
    if repeats.is_empty() || design != values.len() {
        return Err(LevelError::Unbalanced { values: values.len(), design });
    }
    if let Some(i) = repeats.iter().position(|r| *r < 2) {
        return Err(LevelError::OneRepeat { level: i + 1, repeats: repeats[i] });
    }
    let mut means = values.to_vec();
    let mut t2 = Vec::with_capacity(repeats.len());
    let mut below = 0.0;
    for r in repeats {
        let spreads: Vec<f64> = means.chunks(*r).filter_map(variance).collect();
        let s2 = mean(&spreads).unwrap_or(f64::NAN);
        t2.push(s2 - below);
        below = s2 / *r as f64;
        means = means.chunks(*r).filter_map(mean).collect();
    }
    Ok(t2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Two trials of two samples, by hand: S₁² = (2 + 2)/2 = 2, means 2 and 6, S₂² = 8, T₂² = 8 −
    /// 2/2.
    #[test]
    fn two_levels_by_hand() {
        assert_eq!(by_level(&[1.0, 3.0, 5.0, 7.0], &[2, 2]), Ok(vec![2.0, 7.0]));
    }

    #[test]
    fn finds_the_variances_it_was_made_with() {
        let mut rng = Rng::new(5);
        let mut values = Vec::new();
        for _ in 0..20 {
            let build = 3.0 * rng.normal();
            for _ in 0..20 {
                let trial = 2.0 * rng.normal();
                values.extend((0..20).map(|_| build + trial + rng.normal()));
            }
        }
        let t2 = by_level(&values, &[20, 20, 20]).unwrap();
        assert!((t2[0] - 1.0).abs() < 0.05, "{t2:?}");
        assert!((t2[1] - 4.0).abs() < 0.8, "{t2:?}");
        assert!((t2[2] - 9.0).abs() < 6.0 && t2[2] > 3.0, "{t2:?}");
    }

    #[test]
    fn refuses_a_broken_design() {
        let e = by_level(&[1.0; 5], &[2, 2]);
        assert_eq!(e, Err(LevelError::Unbalanced { values: 5, design: 4 }));
        let e = by_level(&[1.0; 4], &[4, 1]);
        assert_eq!(e, Err(LevelError::OneRepeat { level: 2, repeats: 1 }));
        assert!(by_level(&[], &[]).is_err());
        assert!(by_level(&[1.0], &[usize::MAX, usize::MAX]).is_err());
    }
}
