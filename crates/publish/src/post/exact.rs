//! Computes quantities again as fractions, from the decimals that were read, so that no
//! intermediate rounding decides about a claim.

use assay_claims::exact::{Exact, from_f64, ten_to, to_f64};
use assay_claims::unit::{self, convert};
use assay_quoted::quantity::{Derivation, Quantity};
use num_traits::{One, Zero, pow};

/// Decimals of an irrational root.
const ROOT_DIGITS: i32 = 40;

/// Maximum number of values of a geometric mean: its cost grows with their square.
pub(super) const MAX_ROOT_VALUES: usize = 1000;

/// Computes a quantity from its derivation; `None` if a number is not finite or a divisor is 0.
pub(super) fn exact(q: &Quantity) -> Option<Exact> {
    Some(match &q.derivation {
        Derivation::Given(_) => from_f64(q.value)?,
        Derivation::Quotient(a, b) => divided(exact(a)?, &exact(b)?)?,
        Derivation::Product(a, b) => exact(a)? * exact(b)?,
        Derivation::Difference(a, b) => exact(a)? - exact(b)?,
        Derivation::Scaled(a, [times, over]) => {
            divided(exact(a)? * from_f64(*times)?, &from_f64(*over)?)?
        }
        Derivation::Together(how, of) => {
            let values = of.iter().map(exact).collect::<Option<Vec<_>>>()?;
            let count = Exact::from_integer(values.len().into());
            match how.as_str() {
                "sum" => values.iter().sum(),
                "mean" => divided(values.iter().sum(), &count)?,
                "min" | "least" => values.into_iter().min()?,
                "max" | "greatest" => values.into_iter().max()?,
                "geomean" => root(&values.iter().product(), values.len())?,
                "count" => count,
                _ => return None,
            }
        }
    })
}

fn divided(a: Exact, b: &Exact) -> Option<Exact> {
    (!b.is_zero()).then(|| a / b)
}

/// Returns the `n`th root: exact if it is a fraction, else cut after [`ROOT_DIGITS`] decimals, more
/// than any printed number has. `None` for a number below 0.
fn root(of: &Exact, n: usize) -> Option<Exact> {
    let power = u32::try_from(n).ok().filter(|n| *n > 0)?;
    if *of < Exact::zero() {
        return None;
    }
    let whole = Exact::new(of.numer().nth_root(power), of.denom().nth_root(power));
    if pow(whole.clone(), n) == *of {
        return Some(whole);
    }
    let scale = ten_to(ROOT_DIGITS);
    let radicand = of * pow(scale.clone(), n);
    Some(Exact::from_integer(radicand.to_integer().nth_root(power)) / scale)
}

/// Returns the factors that convert a value: multiply by the first, divide by the second. `None` if
/// the units have different dimensions.
pub(super) fn factors(from: &str, to: &str) -> Option<[f64; 2]> {
    let (from, to) = (unit::parse(from), unit::parse(to));
    let factor = convert(&Exact::one(), &from, &to)?;
    let part = |n: Exact| Some(to_f64(&n)).filter(|x| from_f64(*x).as_ref() == Some(&n));
    let whole = |n: &_| part(Exact::from_integer(Clone::clone(n)));
    Some([whole(factor.numer())?, whole(factor.denom())?])
}

/// Converts a quantity to another unit of its dimension.
pub(super) fn converted(q: &Quantity, unit: &str) -> Option<Quantity> {
    if q.unit == unit {
        return Some(q.clone());
    }
    let by = factors(&q.unit, unit)?;
    Some(if by == [1.0, 1.0] {
        Quantity { unit: unit.to_owned(), ..q.clone() }
    } else {
        q.scaled(by, unit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_claims::exact::{parse, shown};

    fn given(values: &[f64]) -> Vec<Quantity> {
        let of = |v: &f64| Quantity::given(*v, "s", assay_model::MetricKind::Quoted, "x", "y");
        values.iter().map(of).collect()
    }

    fn together(how: &str, values: &[f64]) -> Option<Exact> {
        exact(&Quantity::together(how, 1.0, &given(values))?)
    }

    #[test]
    fn a_root_is_a_fraction_where_there_is_one_and_has_forty_digits_else() {
        assert_eq!(together("geomean", &[2.0, 8.0]), parse("4"));
        assert_eq!(together("geomean", &[0.5, 0.5, 0.5]), parse("0.5"));
        let two = together("geomean", &[1.0, 2.0]).unwrap();
        let digits = assay_claims::exact::fixed(&two, 39);
        assert_eq!(digits, "1.414213562373095048801688724209698078570");
        assert_eq!(together("geomean", &[-1.0, 2.0]), None);
        assert_eq!(together("mean", &[0.1, 0.2]), parse("0.15"));
    }

    #[test]
    fn units_are_converted_by_whole_factors() {
        assert_eq!(factors("KiB/s", "MiB/s"), Some([1.0, 1024.0]));
        assert_eq!(factors("min", "s"), Some([60.0, 1.0]));
        assert_eq!(factors("s", "bops"), None);
        let q = converted(&given(&[90.0])[0], "min").unwrap();
        assert_eq!(shown(&exact(&q).unwrap()), "1.5");
    }
}
