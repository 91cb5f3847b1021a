//! The normal and Student's t distributions. Wraps `statrs` so that arguments outside a function's
//! domain give NaN and never a panic. Checked against published tables below.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Returns the z with P(Z <= z) = `p`; NaN unless 0 < p < 1.
pub fn normal_quantile(p: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return f64::NAN;
    }
    Normal::standard().inverse_cdf(p)
}

/// Returns P(Z > z), with full precision where it is small; NaN for NaN.
pub fn normal_tail(z: f64) -> f64 {
    0.5 * statrs::function::erf::erfc(z / std::f64::consts::SQRT_2)
}

/// Returns P(T <= t) of Student's t with `df` degrees of freedom (any positive number); NaN for
/// other `df`.
pub fn student_cdf(t: f64, df: f64) -> f64 {
    if t.is_nan() {
        return f64::NAN;
    }
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |d| d.cdf(t))
}

/// Returns the t with P(T <= t) = `p`; NaN unless 0 < p < 1 and `df` > 0.
///
/// Newton steps on [`student_cdf`] refine the library's inverse, because inverses of the incomplete
/// beta function lose digits at small and at large `df`.
pub fn student_quantile(p: f64, df: f64) -> f64 {
    if !(p > 0.0 && p < 1.0 && df > 0.0) {
        return f64::NAN;
    }
    if p == 0.5 {
        return 0.0;
    }
    if df > 1e8 {
        return normal_quantile(p);
    }
    let Ok(student) = StudentsT::new(0.0, 1.0, df) else { return f64::NAN };
    // Compute only the upper half and use symmetry: P(T > t) keeps its digits where 1 - P(T <= t)
    // does not.
    let tail = p.min(1.0 - p);
    let mut t = student.inverse_cdf(tail).abs();
    if !t.is_finite() {
        t = normal_quantile(1.0 - tail);
    }
    for _ in 0..4 {
        let step = (student.sf(t) - tail) / statrs::distribution::Continuous::pdf(&student, t);
        if !step.is_finite() || step.abs() > t.abs() {
            break;
        }
        t += step;
        if step.abs() <= 1e-13 * t.abs() {
            break;
        }
    }
    if p < 0.5 { -t } else { t }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, upper critical values of
    /// Student's t, at 0.90, 0.95, 0.975, 0.99, 0.995.
    #[test]
    fn student_quantiles_of_the_table() {
        let table = [
            (1.0, [3.078, 6.314, 12.706, 31.821, 63.657]),
            (2.0, [1.886, 2.920, 4.303, 6.965, 9.925]),
            (3.0, [1.638, 2.353, 3.182, 4.541, 5.841]),
            (4.0, [1.533, 2.132, 2.776, 3.747, 4.604]),
            (5.0, [1.476, 2.015, 2.571, 3.365, 4.032]),
            (9.0, [1.383, 1.833, 2.262, 2.821, 3.250]),
            (10.0, [1.372, 1.812, 2.228, 2.764, 3.169]),
            (18.0, [1.330, 1.734, 2.101, 2.552, 2.878]),
            (30.0, [1.310, 1.697, 2.042, 2.457, 2.750]),
            (60.0, [1.296, 1.671, 2.000, 2.390, 2.660]),
            (120.0, [1.289, 1.658, 1.980, 2.358, 2.617]),
        ];
        for (df, row) in table {
            for (p, want) in [0.90, 0.95, 0.975, 0.99, 0.995].into_iter().zip(row) {
                let got = student_quantile(p, df);
                assert!((got - want).abs() < 6e-4, "t({p}; {df}) = {got}, table {want}");
                assert!((student_quantile(1.0 - p, df) + got).abs() < 1e-9);
            }
        }
    }

    /// Closed forms: df 1 is Cauchy, tan(pi (p - 1/2)); df 2 is (2p - 1) / sqrt(2 p (1 - p)).
    #[test]
    fn student_quantiles_of_closed_forms() {
        for p in [0.6, 0.8, 0.9, 0.975, 0.9929, 0.9995] {
            let cauchy = (std::f64::consts::PI * (p - 0.5)).tan();
            assert!((student_quantile(p, 1.0) / cauchy - 1.0).abs() < 1e-10);
            let two = (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt();
            assert!((student_quantile(p, 2.0) / two - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn quantile_inverts_cdf_at_any_df() {
        for df in [0.7, 1.0, 2.5, 7.3, 41.0, 333.3, 1e4, 1e6] {
            for p in [0.001, 0.0071, 0.1, 0.4, 0.5, 0.6, 0.8, 0.975, 0.9995] {
                let back = student_cdf(student_quantile(p, df), df);
                assert!((back - p).abs() < 1e-9, "df {df} p {p} back {back}");
            }
        }
        assert!((student_quantile(0.975, 1e9) - 1.959964).abs() < 1e-5);
    }

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.1.
    #[test]
    fn normal_of_the_table() {
        for (p, z) in [(0.90, 1.28155), (0.95, 1.64485), (0.975, 1.95996), (0.99, 2.32635)] {
            assert!((normal_quantile(p) - z).abs() < 1e-5);
        }
    }

    #[test]
    fn outside_the_domain_is_nan() {
        for bad in [-0.1, 0.0, 1.0, 1.1, f64::NAN] {
            assert!(student_quantile(bad, 5.0).is_nan());
            assert!(normal_quantile(bad).is_nan());
        }
        assert!(student_quantile(0.9, 0.0).is_nan());
        assert!(student_quantile(0.9, f64::NAN).is_nan());
        assert!(student_cdf(1.0, -1.0).is_nan());
        assert!(student_cdf(f64::NAN, 1.0).is_nan());
    }
}
