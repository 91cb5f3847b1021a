//! Whether a reading agrees with the number or the words of a claim.

use super::reading::{Fit, Reading, is_bound};
use super::say::{Say, What};
use crate::claim::ClaimVerdict;
use crate::detect::pointing::Way;
use crate::evidence::amount::{Agreement, Amount, Dimension};
use crate::evidence::extreme::Most;
use crate::evidence::grid::Better;
use crate::evidence::statement::{Much, Statement};
use crate::judge::reading::{self as formula, Bound, Claimed, Computed, Operand};

/// How far apart, as a logarithm, two values may be that are called the same.
const SAME: f64 = 0.03;

fn statement(say: &Say, way: Way) -> Statement {
    let much = match say.what {
        What::Percent => Much::Percent,
        What::Orders => Much::Orders,
        _ => Much::Times,
    };
    Statement {
        at: say.own.start,
        end: say.own.end,
        much,
        way,
        value: say.value,
        step: say.step,
        bound: say.bound,
        word: say.word.unwrap_or(say.own.start),
    }
}

/// The ways that words may mean.
fn ways(say: &Say) -> Vec<Way> {
    match say.way {
        Some(way) => vec![way],
        None if say.what == What::Percent => vec![Way::More, Way::Less, Way::Of],
        None => vec![Way::More, Way::Less],
    }
}

fn lesses(better: Better) -> &'static [bool] {
    match better {
        Better::Less => &[true],
        Better::More => &[false],
        Better::Unknown => &[false, true],
    }
}

fn operand(a: Amount) -> Operand {
    Operand { value: a.value, step: a.step }
}

/// What the words give for two amounts: the readings of their formulas, the strict ones and whether a loose one agrees.
fn compared(say: &Say, a: Amount, b: Amount, better: Better) -> (Vec<Computed>, Fit) {
    let mut all = Vec::new();
    let mut fit = Fit::No;
    for way in ways(say) {
        for less in lesses(better) {
            let s = statement(say, way);
            let claimed = Claimed { value: s.value, step: s.step, bound: s.bound };
            for f in s.formulas(*less) {
                let mut read = if s.much == Much::Orders {
                    let mut ratio = Computed::of(
                        f,
                        Claimed { value: f64::NAN, step: 1.0, bound: Bound::Exact },
                        operand(a),
                        operand(b),
                    );
                    let orders = ratio.value.log10();
                    (ratio.value, ratio.verdict) = (orders, claimed.fit(orders, orders, orders));
                    ratio
                } else {
                    Computed::of(f, claimed, operand(a), operand(b))
                };
                if s.understates(read.value) {
                    read.verdict = ClaimVerdict::Ambiguous;
                }
                if matches!(read.verdict, ClaimVerdict::Holds | ClaimVerdict::OffByRounding) {
                    // What is better is not known: of a score it is more.
                    let guess = better == Better::Unknown
                        && *less
                        && matches!(way, Way::Faster | Way::Slower);
                    // Values of few digits agree with much.
                    let far = read.verdict == ClaimVerdict::OffByRounding
                        && (read.value - s.value).abs() > 1.6 * s.step;
                    fit = if (guess || far) && fit == Fit::No {
                        Fit::Loose
                    } else if guess || far {
                        fit
                    } else {
                        Fit::Yes
                    };
                }
                if read.verdict == ClaimVerdict::Ambiguous && fit == Fit::No {
                    fit = Fit::Loose;
                }
                all.push(read);
            }
            if fit == Fit::No
                && s.loose_formulas(*less).into_iter().any(|f| {
                    matches!(
                        Computed::of(f, claimed, operand(a), operand(b)).verdict,
                        ClaimVerdict::Holds | ClaimVerdict::OffByRounding
                    )
                })
            {
                fit = Fit::Loose;
            }
        }
    }
    all.sort_by_key(|r| match r.verdict {
        ClaimVerdict::Holds => 0,
        ClaimVerdict::OffByRounding => 1,
        ClaimVerdict::Ambiguous => 2,
        _ => 3,
    });
    (all, fit)
}

/// The difference that the words speak of.
fn difference(say: &Say, v: Amount, a: Amount, b: Amount, better: Better) -> (Vec<Computed>, Fit) {
    let bare = v.dimension() != a.dimension();
    let scale = if bare { a.measure.scale } else { 1.0 };
    let claimed = Claimed { value: v.value, step: v.step, bound: say.bound };
    let mut all = Vec::new();
    for way in ways(say) {
        for less in lesses(better) {
            let up = match way {
                Way::More | Way::Of => true,
                Way::Less => false,
                Way::Faster => !less,
                Way::Slower => *less,
            };
            // "3 s slower" and "3 s faster" are differences of times whatever is better; of rates too.
            let f = if up { formula::POINTS } else { formula::POINTS_LESS };
            let x = Operand { value: a.value / scale, step: a.step / scale };
            let y = Operand { value: b.value / scale, step: b.step / scale };
            all.push(Computed::of(f, claimed, x, y));
            if !bare {
                // Letters of bytes may count 1024.
                for m in [a.measure, v.measure] {
                    if let Some(two) = m.binary {
                        let k = two / m.scale;
                        let c = Claimed { value: v.value * k, step: v.step * k, bound: say.bound };
                        all.push(Computed::of(f, c, x, y));
                    }
                }
            }
        }
    }
    all.sort_by_key(|r| match r.verdict {
        ClaimVerdict::Holds => 0,
        ClaimVerdict::OffByRounding => 1,
        _ => 3,
    });
    let fit = match all.first().map(|r| r.verdict) {
        Some(ClaimVerdict::Holds | ClaimVerdict::OffByRounding) => Fit::Yes,
        _ => Fit::No,
    };
    (all, fit)
}

/// How far what a reading gives is from what is claimed: the logarithm of their quotient, by the formula that is
/// nearest, whichever way the words point. A claim that is wrong is seldom wrong by much.
pub(crate) fn magnitude(say: &Say, r: &Reading) -> Option<f64> {
    let away = |x: f64, y: f64| {
        let d = (x / y).abs().ln().abs();
        if d.is_finite() { d } else { 9.0 }
    };
    let value = |v: Amount, c: Amount| {
        if v.dimension() == c.dimension() {
            away(v.value, c.value)
        } else {
            away(v.printed, c.printed).min(away(v.value, c.value))
        }
    };
    Some(match (say.what, r.b) {
        (What::Value(_) | What::Percent, None) => value(say.stated()?, r.a),
        (What::Two(v, w), Some(b)) => value(v, r.a).max(value(w, b)),
        (What::Delta(v) | What::Value(v), Some(b)) => {
            let d = (r.a.value - b.value).abs();
            let bare = if v.dimension() == r.a.dimension() { 1.0 } else { r.a.measure.scale };
            away(d / bare, v.value)
        }
        (What::Percent, Some(b)) => {
            let q = r.a.value / b.value;
            let more = q.max(1.0 / q) - 1.0;
            let less = 1.0 - q.min(1.0 / q);
            let all = match say.way {
                Some(Way::Of) => [q, q],
                Some(Way::More) => [more, more],
                Some(Way::Less) => [less, less],
                _ => [more, less],
            };
            all.into_iter().map(|x| away(100.0 * x, say.value)).fold(9.0, f64::min)
        }
        (What::Times, Some(b)) => {
            let q = r.a.value / b.value;
            away(q, say.value).min(away(1.0 / q, say.value))
        }
        (What::Orders, Some(b)) => 3.0 * away((r.a.value / b.value).abs().log10(), say.value),
        _ => return None,
    })
}

/// Whether a reading would agree if the words pointed the other way.
pub(crate) fn reversed(say: &Say, r: &Reading) -> bool {
    if let (What::Most(most), Some((top, low))) = (say.what, r.rank) {
        return match most.is_greatest(r.better) {
            Some(true) => low && !top,
            Some(false) => top && !low,
            None => false,
        };
    }
    let other = match say.way {
        Some(Way::More) => Way::Less,
        Some(Way::Less) => Way::More,
        Some(Way::Faster) => Way::Slower,
        Some(Way::Slower) => Way::Faster,
        _ => return false,
    };
    !matches!(say.what, What::Beats | What::Same | What::Value(_) | What::Two(..))
        && fit(&Say { way: Some(other), ..say.clone() }, r).1 == Fit::Yes
}

/// Whether two values go the other way than their verb: "rose from 3 to 2".
pub(crate) fn is_turned(say: &Say) -> bool {
    let What::Two(v, w) = say.what else { return false };
    match say.way {
        Some(Way::More) => v.value >= w.value,
        Some(Way::Less) => v.value <= w.value,
        _ => false,
    }
}

/// How a reading agrees with what is said.
pub(crate) fn fit(say: &Say, r: &Reading) -> (Vec<Computed>, Fit) {
    match (say.what, r.b) {
        (What::Percent | What::Times | What::Orders, Some(b)) => {
            let (all, fit) = compared(say, r.a, b, r.better);
            // "saves 450 ms, that is 24% of the original"
            if r.again && fit != Fit::Yes && say.way == Some(Way::Of) {
                let share = if say.what == What::Percent { 1.0 } else { 100.0 };
                let say = Say {
                    what: What::Percent,
                    way: None,
                    value: say.value * share,
                    step: say.step * share,
                    ..say.clone()
                };
                let (other, fits) = compared(&say, r.a, b, r.better);
                if fits == Fit::Yes {
                    return (other, fits);
                }
            }
            (all, fit)
        }
        (What::Delta(v), Some(b)) => difference(say, v, r.a, b, r.better),
        // A sum of differences is stated as it stands.
        (What::Delta(v), None) => fit(&Say { what: What::Value(v), ..say.clone() }, r),
        (What::Value(v), Some(b)) => difference(say, v, r.a, b, Better::Unknown),
        (What::Beats, Some(b)) => {
            let mut yes = false;
            for way in ways(say) {
                for less in lesses(r.better) {
                    let up = match way {
                        Way::More | Way::Of => true,
                        Way::Less => false,
                        Way::Faster => !less,
                        Way::Slower => *less,
                    };
                    yes |= if up { r.a.value > b.value } else { r.a.value < b.value };
                }
            }
            let unknown =
                r.better == Better::Unknown && matches!(say.way, Some(Way::Faster | Way::Slower));
            (
                Vec::new(),
                if !yes {
                    Fit::No
                } else if unknown {
                    Fit::Loose
                } else {
                    Fit::Yes
                },
            )
        }
        (What::Same, Some(b)) => {
            let away = (r.a.value / b.value).ln().abs();
            let fit = if r.a.value == b.value || away <= SAME {
                Fit::Yes
            } else if away <= 3.0 * SAME {
                Fit::Loose
            } else {
                Fit::No
            };
            (Vec::new(), fit)
        }
        (What::Two(v, w), Some(b)) => {
            let one = |v: Amount, c: Amount| {
                let r = Reading { a: c, b: None, ..r.clone() };
                fit(&Say { what: What::Value(v), ..say.clone() }, &r).1
            };
            let exact = matches!(say.bound, Bound::Exact | Bound::About);
            let both = !is_turned(say) && one(v, r.a) == Fit::Yes && one(w, b) == Fit::Yes;
            (
                Vec::new(),
                if both {
                    Fit::Yes
                } else if exact {
                    Fit::No
                } else {
                    Fit::Loose
                },
            )
        }
        (What::Value(_) | What::Percent, None) => {
            let Some(v) = say.stated() else { return (Vec::new(), Fit::No) };
            let plain = |d| matches!(d, Dimension::Plain | Dimension::Rate | Dimension::Count);
            let alike = v.dimension() == r.a.dimension();
            let both = plain(v.dimension()) && plain(r.a.dimension());
            // "241k" is not 241 of anything.
            let suffixed =
                (r.a.printed * r.a.measure.scale - r.a.value).abs() > 1e-9 * r.a.value.abs();
            let bound = if is_bound(say.bound) { Bound::About } else { say.bound };
            let of_values = Amount { measure: v.measure, ..r.a }.is(&v, bound);
            let of_printed = || {
                let own = Amount {
                    value: r.a.printed,
                    step: r.a.step / r.a.measure.scale,
                    measure: v.measure,
                    ..r.a
                };
                let step = v.step / v.measure.scale;
                own.is(&Amount { value: v.printed, step, ..v }, bound)
            };
            let agreement = match (alike, both) {
                (true, _) => of_values,
                (false, true) if suffixed => of_values,
                (false, true) => of_values.max(of_printed()),
                (false, false) => of_printed(),
            };
            let bounded = is_bound(say.bound);
            (
                Vec::new(),
                match agreement {
                    Agreement::None | Agreement::Near if bounded => Fit::Loose,
                    Agreement::None => Fit::No,
                    _ => Fit::Yes,
                },
            )
        }
        (What::Most(most), None) => {
            let Some((top, low)) = r.rank else { return (Vec::new(), Fit::No) };
            (
                Vec::new(),
                match most.is_greatest(r.better) {
                    Some(true) if top => Fit::Yes,
                    Some(false) if low => Fit::Yes,
                    // Of what is not known to be better one way, a score is better if it is more.
                    None if top && most == Most::Best || low && most == Most::Worst => Fit::Yes,
                    None if top || low => Fit::Loose,
                    _ => Fit::No,
                },
            )
        }
        _ => (Vec::new(), Fit::No),
    }
}
