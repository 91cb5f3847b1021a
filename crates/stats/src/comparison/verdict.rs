//! Turns intervals into a verdict and a sentence with the reason. The rules are documented at
//! [`crate::comparison::compare::compare`].

use assay_model::{Better, Interval, Verdict, units};

use crate::comparison::ratio::Ratio;

/// Parameters of a verdict besides the data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerdictRule {
    /// Direction in which the metric is better.
    pub better: Better,
    /// Differences up to this fraction do not matter.
    pub margin: Option<f64>,
    /// True if better and worse require a difference beyond the margin.
    pub gate: bool,
}

impl VerdictRule {
    fn margin(self) -> f64 {
        self.margin.unwrap_or(0.0)
    }

    fn inside(self, tests: Interval) -> bool {
        let m = 1.0 + self.margin();
        1.0 / m <= tests.low && tests.high <= m
    }

    /// Returns the verdict of one interval and of the interval for the two one-sided tests.
    fn verdict(self, interval: Interval, tests: Option<Interval>) -> Verdict {
        if tests.is_some_and(|t| self.inside(t)) {
            return Verdict::Equivalent;
        }
        let limit = if self.gate { 1.0 + self.margin() } else { 1.0 };
        let above = interval.low > limit;
        let below = interval.high < 1.0 / limit;
        match (self.better, above, below) {
            (Better::Higher, true, _) | (Better::Lower, _, true) => Verdict::Better,
            (Better::Higher, _, true) | (Better::Lower, true, _) => Verdict::Worse,
            _ => Verdict::Inconclusive,
        }
    }
}

/// Formats a fraction as `95 %` or `98.58 %`.
pub(crate) fn per_cent(fraction: f64) -> String {
    format!("{} %", (fraction * 1e4).round() / 100.0)
}

fn range(i: Interval) -> String {
    let text = units::ratio((i.low * i.high).sqrt(), i.low, i.high);
    units::interval(&text.low, &text.high, None)
}

/// Returns the verdict of a ratio and its reason, a sentence without a full stop at its end.
pub(crate) fn judge(ratio: &Ratio, rule: VerdictRule) -> (Verdict, String) {
    let n = ratio.n;
    let Some(interval) = ratio.interval else {
        let what = if n == 1 { "one value of each is" } else { "two values of each are" };
        let why = if n < 3 {
            format!("{what} too few for an interval; use at least three, better six")
        } else {
            "the values spread too far for an interval".to_owned()
        };
        return (Verdict::Inconclusive, why);
    };
    let verdict = rule.verdict(interval, ratio.two_sided_tests);
    let reason = explain(ratio, rule, interval, verdict);
    let Some(sensitivity) = ratio.sensitivity else { return (verdict, reason) };
    let second = rule.verdict(sensitivity, ratio.sensitivity_two_sided_tests);
    if second == verdict {
        if verdict == Verdict::Inconclusive || ratio.no_spread {
            return (verdict, reason);
        }
        // The interval that was judged: for equivalence, that of the two one-sided tests.
        let judged = match verdict {
            Verdict::Equivalent => ratio.sensitivity_two_sided_tests.unwrap_or(sensitivity),
            _ => sensitivity,
        };
        return (verdict, format!("{reason}; the rank interval {} agrees", range(judged)));
    }
    let reason = format!(
        "the two intervals do not agree: {} by Student's t ({}), {} by ranks ({}); the shape of \
         the data (outliers, skew or two modes) decides, so inspect the single values",
        verdict.name(),
        range(interval),
        second.name(),
        range(sensitivity)
    );
    (Verdict::Inconclusive, reason)
}

fn explain(ratio: &Ratio, rule: VerdictRule, interval: Interval, verdict: Verdict) -> String {
    let level = per_cent(interval.level);
    let side = if interval.low > 1.0 {
        Some("above")
    } else if interval.high < 1.0 {
        Some("below")
    } else {
        None
    };
    let subject = if ratio.no_spread {
        format!("the values showed no spread, so the ratio {:.5} has no width", ratio.ratio)
    } else {
        format!("the {level} CI of the ratio, {},", range(interval))
    };
    let margin = per_cent(rule.margin());
    match (verdict, side) {
        (Verdict::Equivalent, _) if ratio.no_spread && rule.margin() == 0.0 => {
            "both gave exactly the same values".to_owned()
        }
        (Verdict::Equivalent, _) if ratio.no_spread => {
            format!("{subject}, and it lies within the margin of {margin}")
        }
        (Verdict::Equivalent, side) => {
            let tests = ratio.two_sided_tests.unwrap_or(interval);
            let clear = side.map_or(String::new(), |s| {
                format!("; the ratio lies {s} 1, but by less than matters")
            });
            let (range, level) = (range(tests), per_cent(tests.level));
            format!(
                "the {level} CI of the ratio, {range}, lies within the margin of {margin}{clear}"
            )
        }
        (Verdict::Better | Verdict::Worse, Some(side)) => {
            let join = if ratio.no_spread { ", and it" } else { "" };
            let beyond = if rule.gate && rule.margin() > 0.0 {
                format!(" by more than the margin of {margin}")
            } else {
                String::new()
            };
            format!("{subject}{join} lies {side} 1{beyond}, and {}", rule.better.words())
        }
        (_, Some(side)) if rule.better == Better::Neither => {
            let join = if ratio.no_spread { ", and it" } else { "" };
            format!("{subject}{join} lies {side} 1, but neither direction of this metric is better")
        }
        (_, Some(side)) => {
            let join = if ratio.no_spread { ", and it" } else { "" };
            format!("{subject}{join} lies {side} 1, but not beyond the margin of {margin}")
        }
        (_, None) => {
            let sees = ratio.detectable.map_or(String::new(), |d| {
                let size = units::significant((d - 1.0) * 100.0, 2);
                format!("; at this noise, this many trials detect differences from {size} %")
            });
            format!("{subject} contains 1{sees}")
        }
    }
}
