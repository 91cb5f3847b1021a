//! The readings that words allow, and whether what they give is what is printed.

use crate::claim::{ClaimVerdict, Reading};

/// How exactly a claim is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Exact,
    /// "about", "around": within a tenth.
    About,
    /// "more than", "over", "at least".
    AtLeast,
    /// "nearly", "almost": a little less.
    Nearly,
    /// "up to", "at most", "less than".
    AtMost,
}

/// A printed value: its size, one unit in its last digit, how it is meant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Claimed {
    pub value: f64,
    pub step: f64,
    pub bound: Bound,
}

/// Room for the error of binary fractions.
const EPSILON: f64 = 1e-9;

impl Claimed {
    /// Whether a recomputed value is what is printed. `low` and `high` are what it can be when its
    /// inputs were rounded.
    pub(crate) fn fit(self, value: f64, low: f64, high: f64) -> ClaimVerdict {
        if !value.is_finite() {
            return ClaimVerdict::Wrong;
        }
        let (mut half, mut whole) = (self.step / 2.0, self.step);
        let edge = half.min(0.03 * self.value.abs());
        match self.bound {
            Bound::Exact => {}
            Bound::About => {
                half = half.max(0.1 * self.value.abs());
                whole = half.max(whole).max(0.15 * self.value.abs());
            }
            Bound::AtLeast => {
                // "more than 25" for 24.9 is a matter of rounding.
                if value >= self.value - EPSILON {
                    return ClaimVerdict::Holds;
                }
                half = 0.0;
                whole = edge;
            }
            Bound::AtMost => {
                // "less than three times" is none of 3.4.
                if value <= self.value + EPSILON {
                    return ClaimVerdict::Holds;
                }
                half = 0.0;
                whole = edge;
            }
            Bound::Nearly => {
                if value <= self.value && value >= 0.9 * self.value {
                    return ClaimVerdict::Holds;
                }
            }
        }
        let slack = EPSILON * self.value.abs().max(1.0);
        let away = (value - self.value).abs();
        if away <= half + slack {
            return ClaimVerdict::Holds;
        }
        let reach = if low <= self.value && self.value <= high {
            0.0
        } else {
            (low - self.value).abs().min((high - self.value).abs())
        };
        if away < whole - slack || reach <= half + slack {
            ClaimVerdict::OffByRounding
        } else {
            ClaimVerdict::Wrong
        }
    }
}

/// A value with the step it was printed with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Operand {
    pub value: f64,
    pub step: f64,
}

impl Operand {
    fn range(self) -> [f64; 2] {
        [self.value - self.step / 2.0, self.value + self.step / 2.0]
    }
}

/// A formula of two values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Formula {
    pub name: &'static str,
    pub compute: fn(f64, f64) -> f64,
}

/// How much more `a` is than `b`, per cent.
pub(crate) const MORE: Formula = Formula { name: "a/b - 1", compute: |a, b| (a / b - 1.0) * 100.0 };
/// How much less `a` is than `b`, per cent.
pub(crate) const LESS: Formula = Formula { name: "1 - a/b", compute: |a, b| (1.0 - a / b) * 100.0 };
/// How much more work in the same time when `a` is the time: speed-up, per cent.
pub(crate) const SPEEDUP: Formula =
    Formula { name: "b/a - 1", compute: |a, b| (b / a - 1.0) * 100.0 };
/// The difference of two percentages, points.
pub(crate) const POINTS: Formula = Formula { name: "a - b", compute: |a, b| a - b };
/// The difference the other way round.
pub(crate) const POINTS_LESS: Formula = Formula { name: "b - a", compute: |a, b| b - a };
/// The ratio.
pub(crate) const RATIO: Formula = Formula { name: "a/b", compute: |a, b| a / b };
/// The ratio of times.
pub(crate) const INVERSE: Formula = Formula { name: "b/a", compute: |a, b| b / a };
/// "N times more" as the ratio and one.
pub(crate) const RATIO_MORE: Formula = Formula { name: "a/b - 1", compute: |a, b| a / b - 1.0 };

/// What a formula gives for two values, and whether it is what is printed, before it is told to people.
#[derive(Clone, Copy)]
pub(crate) struct Computed {
    formula: Formula,
    operands: (Operand, Operand),
    /// What the formula gives, and one unit in the last digit of what is claimed.
    given: f64,
    step: f64,
    pub value: f64,
    pub verdict: ClaimVerdict,
}

impl Computed {
    pub(crate) fn of(formula: Formula, claimed: Claimed, a: Operand, b: Operand) -> Computed {
        let value = (formula.compute)(a.value, b.value);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in a.range() {
            for y in b.range() {
                let corner = (formula.compute)(x, y);
                (low, high) = (low.min(corner), high.max(corner));
            }
        }
        let verdict = claimed.fit(value, low, high);
        Computed { formula, operands: (a, b), given: value, step: claimed.step, value, verdict }
    }

    /// In words, with the numbers in the formula.
    pub(crate) fn told(&self) -> Reading {
        let (a, b) = self.operands;
        let name = self.formula.name;
        let printed = name.replacen('a', &figure(a.value), 1).replacen('b', &figure(b.value), 1);
        Reading {
            name,
            formula: format!("{printed} = {}", figure(round(self.given, self.step))),
            value: self.value,
            verdict: self.verdict,
        }
    }
}

/// What a formula gives for two values, and whether it is what is printed.
pub(crate) fn read(formula: Formula, claimed: Claimed, a: Operand, b: Operand) -> Reading {
    Computed::of(formula, claimed, a, b).told()
}

/// A value with two digits more than what is printed.
fn round(value: f64, step: f64) -> f64 {
    if !value.is_finite() || step <= 0.0 {
        return value;
    }
    let unit = step / 100.0;
    (value / unit).round() * unit
}

/// A number for people: without a tail of binary error.
pub(crate) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "undefined".into();
    }
    let size = value.abs();
    let decimals = if size >= 1000.0 || size == 0.0 {
        2
    } else {
        (4 - size.log10().floor() as i32).clamp(0, 8) as usize
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ClaimVerdict::{Holds, OffByRounding, Wrong};

    fn fit(value: f64, step: f64, bound: Bound, computed: f64) -> ClaimVerdict {
        Claimed { value, step, bound }.fit(computed, computed, computed)
    }

    #[test]
    fn rounding_holds_truncation_is_off_and_more_is_wrong() {
        assert_eq!(fit(5.0, 1.0, Bound::Exact, 4.93), Holds);
        assert_eq!(fit(5.0, 1.0, Bound::Exact, 5.9), OffByRounding);
        assert_eq!(fit(5.0, 1.0, Bound::Exact, 6.1), Wrong);
        assert_eq!(fit(2.6, 0.1, Bound::Exact, 2.65), Holds);
        assert_eq!(fit(2.6, 0.1, Bound::Exact, 2.71), Wrong);
    }

    #[test]
    fn words_of_measure_widen_what_fits() {
        assert_eq!(fit(30.0, 1.0, Bound::About, 31.8), Holds);
        assert_eq!(fit(25.0, 1.0, Bound::AtLeast, 60.0), Holds);
        assert_eq!(fit(25.0, 1.0, Bound::AtLeast, 20.0), Wrong);
        assert_eq!(fit(30.0, 1.0, Bound::AtMost, 12.0), Holds);
        assert_eq!(fit(2.0, 1.0, Bound::Nearly, 1.9), Holds);
    }

    #[test]
    fn rounded_inputs_can_explain_what_is_printed() {
        let operand = |value, step| Operand { value, step };
        let claimed = Claimed { value: 2.05, step: 0.01, bound: Bound::Exact };
        // 4/2 = 2.00, and 4.1/2.0 is possible behind the rounded inputs.
        assert_eq!(
            read(RATIO, claimed, operand(4.0, 1.0), operand(2.0, 0.1)).verdict,
            OffByRounding
        );
        assert_eq!(read(RATIO, claimed, operand(4.0, 0.01), operand(2.0, 0.01)).verdict, Wrong);
    }

    #[test]
    fn formulas_show_their_numbers() {
        let claimed = Claimed { value: 5.0, step: 1.0, bound: Bound::Exact };
        let r = read(
            MORE,
            claimed,
            Operand { value: 210.0, step: 1.0 },
            Operand { value: 200.0, step: 1.0 },
        );
        assert_eq!(r.formula, "210/200 - 1 = 5");
    }
}
