//! Means, and the summary of a suite: every member, the geometric mean, the ratio of totals, the
//! best and the worst. Authorities disagree on which mean is right (Fleming and Wallace 1986:
//! geometric; Eeckhout 2024: harmonic), so both are given, and a disagreement is reported.

use crate::summary::logs;

fn weights_fit(values: &[f64], weights: &[f64]) -> bool {
    !values.is_empty()
        && values.len() == weights.len()
        && values.iter().all(|v| v.is_finite())
        && weights.iter().all(|w| *w >= 0.0 && w.is_finite())
        && weights.iter().sum::<f64>() > 0.0
}

/// Returns the weighted mean Σwx / Σw; `None` without values, for different lengths, or for weights
/// that are negative or all 0.
pub fn weighted(values: &[f64], weights: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
    weights_fit(values, weights).then(|| sum / weights.iter().sum::<f64>())
}

/// Returns the weighted geometric mean exp(Σw ln x / Σw); `None` in the cases of [`weighted`] and
/// if a value is not positive.
pub fn weighted_geometric(values: &[f64], weights: &[f64]) -> Option<f64> {
    weighted(&logs(values)?, weights).map(f64::exp)
}

/// Returns the weighted harmonic mean Σw / Σ(w/x), the mean of rates over fixed work; `None` in the
/// cases of [`weighted_geometric`].
pub fn weighted_harmonic(values: &[f64], weights: &[f64]) -> Option<f64> {
    logs(values)?;
    let times: Vec<f64> = values.iter().map(|v| 1.0 / v).collect();
    weighted(&times, weights).map(|t| 1.0 / t)
}

/// Returns the geometric mean; `None` without values or if one is not positive.
pub fn geometric(values: &[f64]) -> Option<f64> {
    weighted_geometric(values, &vec![1.0; values.len()])
}

/// Kind of a suite's metric: an amount (time, energy) or a rate (operations per second).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Totals are sums of the members' values.
    Amount,
    /// The weight of a member is its work and weight / rate its time; the total rate is work /
    /// time.
    Rate,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MeanInput {
    pub name: String,
    /// Value of the baseline.
    pub baseline: f64,
    /// Value of the treatment.
    pub treatment: f64,
    /// Share of the member in the whole; 1 for equal shares.
    pub weight: f64,
}

/// The ratio treatment / baseline of one member.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberRatio {
    /// Name of the member.
    pub name: String,
    pub ratio: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SuiteSummary {
    /// Ratios of all members, in the order given.
    pub members: Vec<MemberRatio>,
    /// Weighted geometric mean of the ratios.
    pub geomean: f64,
    /// Ratio of weighted totals: of sums for amounts, of total work / total time for rates.
    pub totals: f64,
    /// Member with the highest ratio.
    pub highest: MemberRatio,
    /// Member with the lowest ratio.
    pub lowest: MemberRatio,
    /// True if the geometric mean and the ratio of totals are on different sides of 1, so that the
    /// choice of the mean decides which side leads (check F44).
    pub means_disagree: bool,
}

/// Returns the ratio of totals, treatment / baseline; `None` if a value is not positive or a weight
/// is invalid.
pub fn ratio_of_totals(members: &[MeanInput], quantity: Quantity) -> Option<f64> {
    let column = |f: fn(&MeanInput) -> f64| members.iter().map(f).collect::<Vec<f64>>();
    let (b, t) = (column(|m| m.baseline), column(|m| m.treatment));
    let weights = column(|m| m.weight);
    logs(&b)?;
    logs(&t)?;
    let total = match quantity {
        Quantity::Amount => weighted,
        Quantity::Rate => weighted_harmonic,
    };
    Some(total(&t, &weights)? / total(&b, &weights)?).filter(|r| r.is_finite())
}

/// Summarizes a suite; `None` without members, for a value that is not positive, or invalid
/// weights.
pub fn suite(members: &[MeanInput], quantity: Quantity) -> Option<SuiteSummary> {
    let totals = ratio_of_totals(members, quantity)?;
    let ratios: Vec<f64> = members.iter().map(|m| m.treatment / m.baseline).collect();
    let weights: Vec<f64> = members.iter().map(|m| m.weight).collect();
    let geomean = weighted_geometric(&ratios, &weights)?;
    let list: Vec<MemberRatio> = members
        .iter()
        .zip(ratios)
        .map(|(m, ratio)| MemberRatio { name: m.name.clone(), ratio })
        .collect();
    let by_ratio = |a: &&MemberRatio, b: &&MemberRatio| a.ratio.total_cmp(&b.ratio);
    let highest = list.iter().max_by(by_ratio)?.clone();
    let lowest = list.iter().min_by(by_ratio)?.clone();
    let means_disagree = (geomean - 1.0) * (totals - 1.0) < 0.0;
    Some(SuiteSummary { members: list, geomean, totals, highest, lowest, means_disagree })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(rows: &[(f64, f64)]) -> Vec<MeanInput> {
        let member = |(i, (b, t)): (usize, &(f64, f64))| MeanInput {
            name: format!("m{i}"),
            baseline: *b,
            treatment: *t,
            weight: 1.0,
        };
        rows.iter().enumerate().map(member).collect()
    }

    #[test]
    fn means_by_hand() {
        assert!((geometric(&[1.0, 4.0, 16.0]).unwrap() - 4.0).abs() < 1e-12);
        assert!((weighted_harmonic(&[40.0, 60.0], &[1.0; 2]).unwrap() - 48.0).abs() < 1e-12);
        assert_eq!(weighted(&[1.0, 5.0], &[3.0, 1.0]), Some(2.0));
        assert_eq!(geometric(&[1.0, 0.0]), None);
        assert_eq!(weighted_harmonic(&[], &[]), None);
        assert_eq!(weighted(&[1.0], &[0.0]), None);
        assert_eq!(weighted(&[1.0], &[1.0, 1.0]), None);
    }

    /// Smith, CACM 31 (1988) 1202: programs of 1 and 1000 s on A, 10 and 100 s on B, 20 and 20 s on
    /// C. The totals are 1001, 110 and 40; the geometric means √1000, √1000 and 20.
    #[test]
    fn the_example_of_smith() {
        let b_to_a = suite(&members(&[(1.0, 10.0), (1000.0, 100.0)]), Quantity::Amount).unwrap();
        assert!((b_to_a.geomean - 1.0).abs() < 1e-12);
        assert!((b_to_a.totals - 110.0 / 1001.0).abs() < 1e-12);
        assert_eq!((b_to_a.highest.ratio, b_to_a.lowest.ratio), (10.0, 0.1));
        let c_to_a = suite(&members(&[(1.0, 20.0), (1000.0, 20.0)]), Quantity::Amount).unwrap();
        assert!((c_to_a.geomean - 20.0 / 1000f64.sqrt()).abs() < 1e-12);
        assert!((c_to_a.totals - 40.0 / 1001.0).abs() < 1e-12 && !c_to_a.means_disagree);
    }

    #[test]
    fn says_when_the_means_disagree() {
        let s = suite(&members(&[(1.0, 0.5), (100.0, 110.0)]), Quantity::Amount).unwrap();
        assert!(s.geomean < 1.0 && s.totals > 1.0 && s.means_disagree);
        assert_eq!(suite(&members(&[(1.0, 0.0)]), Quantity::Amount), None);
        assert_eq!(suite(&[], Quantity::Rate), None);
    }

    #[test]
    fn rates_over_equal_work_are_times_turned_over() {
        let times = members(&[(2.0, 1.0), (4.0, 5.0), (1.0, 1.5)]);
        let rates: Vec<MeanInput> = times
            .iter()
            .map(|m| MeanInput {
                baseline: 1.0 / m.baseline,
                treatment: 1.0 / m.treatment,
                ..m.clone()
            })
            .collect();
        let t = suite(&times, Quantity::Amount).unwrap();
        let r = suite(&rates, Quantity::Rate).unwrap();
        assert!((t.totals * r.totals - 1.0).abs() < 1e-12);
        assert!((t.geomean * r.geomean - 1.0).abs() < 1e-12);
    }
}
