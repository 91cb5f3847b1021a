//! Lengths of keys and values: a distribution, limited to a range.

use std::sync::Arc;

use assay_stats::distribution::normal_quantile;

/// Maximum length of a value in bytes.
pub const MAX_VALUE_BYTES: u32 = 64 << 20;

/// Reason why a text or a list of weights is no distribution.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SizesError {
    #[error(
        "line {number}: `{line}`; a line has a length of at most {MAX_VALUE_BYTES} bytes and a \
         weight of 0 or more (1 without one)"
    )]
    Line { number: usize, line: String },
    #[error("it has no length with a weight above 0")]
    NoWeight,
}

/// Distribution of lengths in bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// All lengths of the range are equally likely.
    Uniform,
    /// Lognormal with this median and this standard deviation of the logarithm.
    Lognormal { median: f64, sigma: f64 },
    /// Generalized Pareto, such as for values: `location + scale/shape · ((1 − u)^−shape − 1)`.
    Pareto { location: f64, scale: f64, shape: f64 },
    /// Generalized extreme value, such as for keys: `location + scale/shape · ((−ln u)^−shape −
    /// 1)`.
    ExtremeValue { location: f64, scale: f64, shape: f64 },
    /// Lengths in ascending order with their cumulative shares, of which the last is 1.
    Empirical(Arc<[(f64, u32)]>),
}

/// Lengths in bytes: a distribution, whose shorter and longer lengths become `min` and `max`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    pub distribution: Distribution,
    pub min: u32,
    pub max: u32,
}

impl Sizes {
    /// Creates uniformly distributed lengths.
    pub fn uniform(min: u32, max: u32) -> Self {
        Sizes { distribution: Distribution::Uniform, min, max }
    }

    /// Returns the length at the quantile `hash / 2^32`.
    #[inline]
    pub fn at(&self, hash: u32) -> u32 {
        let Sizes { distribution, min, max } = self;
        if let Distribution::Uniform = distribution {
            let lengths = u64::from(max - min) + 1;
            return min + ((u64::from(hash) * lengths) >> 32) as u32;
        }
        // In the middle of its interval, so that neither end is infinite.
        let u = (f64::from(hash) + 0.5) / 2f64.powi(32);
        let length = match distribution {
            Distribution::Uniform => unreachable!("returned above"),
            Distribution::Lognormal { median, sigma } => {
                median * (sigma * normal_quantile(u)).exp()
            }
            Distribution::Pareto { location, scale, shape } => {
                location + scale / shape * ((1.0 - u).powf(-shape) - 1.0)
            }
            Distribution::ExtremeValue { location, scale, shape } => {
                location + scale / shape * ((-u.ln()).powf(-shape) - 1.0)
            }
            Distribution::Empirical(rows) => {
                let at = rows.partition_point(|(share, _)| *share < u);
                f64::from(rows[at.min(rows.len() - 1)].1)
            }
        };
        (length.round() as u32).clamp(*min, *max)
    }

    /// Parses lengths and their weights: a line for each, `BYTES` or `BYTES WEIGHT`; `#` begins a
    /// comment.
    ///
    /// # Errors
    /// A line is something else, or no weight is above 0.
    pub fn empirical(text: &str) -> Result<Self, SizesError> {
        let mut rows: Vec<(f64, u32)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let wrong = || SizesError::Line { number: number + 1, line: line.trim().to_owned() };
            let (length, weight) = match words[..] {
                [] => continue,
                [length] => (length, "1"),
                [length, weight] => (length, weight),
                _ => return Err(wrong()),
            };
            let length = length.parse().ok().filter(|n| *n <= MAX_VALUE_BYTES).ok_or_else(wrong)?;
            let weight = weight.parse().ok().filter(|w: &f64| w.is_finite() && *w >= 0.0);
            rows.push((weight.ok_or_else(wrong)?, length));
        }
        Self::weighted(rows)
    }

    /// Creates the distribution of lengths with these weights.
    ///
    /// # Errors
    /// No weight is above 0.
    pub fn weighted(mut rows: Vec<(f64, u32)>) -> Result<Self, SizesError> {
        rows.sort_by_key(|row| row.1);
        let total: f64 = rows.iter().map(|row| row.0).sum();
        rows.retain(|row| row.0 > 0.0);
        let [(_, min), .., (_, max)] = rows[..] else {
            return match rows[..] {
                [(_, only)] => Ok(Sizes::uniform(only, only)),
                _ => Err(SizesError::NoWeight),
            };
        };
        let mut sum = 0.0;
        for row in &mut rows {
            sum += row.0;
            row.0 = sum / total;
        }
        Ok(Sizes { distribution: Distribution::Empirical(rows.into()), min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantiles(sizes: &Sizes, at: &[f64]) -> Vec<u32> {
        at.iter().map(|q| sizes.at((q * 2f64.powi(32)) as u32)).collect()
    }

    /// Medians and upper quantiles by the closed forms, computed with Python.
    #[test]
    fn quantiles_are_those_of_the_distribution() {
        let sizes = |distribution| Sizes { distribution, min: 1, max: 1 << 20 };
        let pareto =
            sizes(Distribution::Pareto { location: 15.0, scale: 214.476, shape: 0.348238 });
        assert_eq!(quantiles(&pareto, &[0.0, 0.5, 0.99]), [15, 183, 2461]);
        let keys = sizes(Distribution::ExtremeValue {
            location: 30.7984,
            scale: 8.20449,
            shape: 0.078688,
        });
        assert_eq!(quantiles(&keys, &[0.5, 0.99]), [34, 76]);
        let lognormal = sizes(Distribution::Lognormal { median: 300.0, sigma: 1.0 });
        assert_eq!(quantiles(&lognormal, &[0.5, 0.841_344_75]), [300, 815]);
        assert_eq!(quantiles(&Sizes::uniform(4, 7), &[0.0, 0.25, 0.999]), [4, 5, 7]);
    }

    #[test]
    fn a_file_of_lengths_is_read_and_mistakes_are_named() {
        let sizes = Sizes::empirical("# bytes weight\n100 3\n\n4\n").unwrap();
        assert_eq!((sizes.min, sizes.max), (4, 100));
        assert_eq!(quantiles(&sizes, &[0.0, 0.24, 0.26, 0.999]), [4, 4, 100, 100]);
        assert_eq!(Sizes::empirical("7").unwrap(), Sizes::uniform(7, 7));
        for (text, word) in [
            ("4\n5 NaN\n", "line 2: `5 NaN`"),
            ("NaN\n", "line 1"),
            ("4 -1", "line 1"),
            ("4 inf", "line 1"),
            ("4 1 1", "line 1"),
            ("99999999999", "line 1"),
            ("4 0", "no length"),
            ("", "no length"),
        ] {
            let error = Sizes::empirical(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text:?}: {error}");
        }
    }
}
