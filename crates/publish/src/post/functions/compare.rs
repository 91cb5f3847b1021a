//! Comparisons: `better`, `times`, `speedup`, `less_time` and `difference`. The words follow from
//! the numbers, so that a sentence cannot contradict them.

use assay_checks::ComparisonEvidence;
use assay_model::{Better, Comparison, Interval, Verdict, units};
use assay_quoted::denominator::{Basis, matrix, ranking, reversals_from};
use assay_quoted::quantity::Quantity;

use super::phrase;
use super::statement::{Clause, MetricPosition};
use super::value::{DIGITS, base, basis, keep};
use crate::post::amount::{Amount, MissingValue, RunPart};
use crate::post::arguments::Arguments;
use crate::post::error::Result;
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::score::GEOMEAN;
use crate::post::{checks, exact};

/// Input for the text of a comparison.
struct ComparisonInput {
    a: Amount,
    ratio: Ratio,
    digits: Option<usize>,
}

/// A ratio with its interval, and with the verdict of the run.
#[derive(Clone)]
pub(in crate::post) struct Ratio {
    pub(in crate::post) value: f64,
    pub(in crate::post) interval: Option<Interval>,
    /// Verdict of the run's own comparison.
    pub(in crate::post) verdict: Option<Verdict>,
    /// Margin of the run's own comparison.
    margin: Option<f64>,
    /// Quotient of the two values.
    quantity: Quantity,
}

/// Direction in which a ratio is taken.
#[derive(Clone, Copy, PartialEq)]
enum RatioDirection {
    /// The ratio a / b.
    Plain,
    /// The ratio b / a: a ratio of times as a ratio of speeds.
    Turned,
    /// Turned if lower values are better.
    ByDirection,
}

/// Converts the second value to the unit of the first. Values of different dimensions have no
/// ratio.
pub(super) fn comparable(
    args: &Arguments<'_>,
    argument: &str,
    a: &Amount,
    mut b: Amount,
) -> Result<Amount> {
    // A bare number of the binding has the unit of the value that it is compared with.
    if b.entry.value.unit == "1" && b.entry.value.leaves().is_empty() {
        b.entry.value.unit.clone_from(&a.entry.value.unit);
    }
    let (ua, ub) = (&a.entry.value.unit, &b.entry.value.unit);
    if let Some(value) = exact::converted(&b.entry.value, ua) {
        b.entry.value = value;
        return Ok(b);
    }
    if a.withheld.is_some() || b.withheld.is_some() {
        return Ok(b);
    }
    Err(args.error(
        argument,
        format!(
            "{ua} against {ub}: {} of {} and {} of {} have no ratio ({})",
            a.metric,
            a.entry.label,
            b.metric,
            b.entry.label,
            assay_checks::rows::SAME_METRIC.id
        ),
        "compare results of one metric",
    ))
}

/// Returns a / b, with the interval of the run's own comparison if both are treatments of one run.
pub(in crate::post) fn ratio(
    e: &Evaluator<'_>,
    a: &Amount,
    b: &Amount,
    basis: Basis,
) -> Result<Ratio, MissingValue> {
    let (qa, qb) = (a.under(basis)?, b.under(basis)?);
    let Some(q) = qa.per(&qb) else {
        return Err(MissingValue::Quotient { dividend: qa.formula(), divisor: qb.value });
    };
    let mut out = Ratio {
        value: q.value,
        interval: q.interval.filter(|i| i.low < i.high),
        verdict: None,
        margin: None,
        quantity: q,
    };
    if let Some((ratio, interval, c)) = own(e, a, b).filter(|_| basis == Basis::Total) {
        (out.value, out.interval) = (ratio, interval);
        (out.verdict, out.margin) = (Some(c.verdict), c.margin);
    } else if checks::from_two_runs(a, b) {
        // An interval over the trials within the runs does not include the drift between the runs.
        (out.verdict, out.interval) = (Some(Verdict::NotEstablished), None);
    }
    Ok(out)
}

/// Returns the ratio, the interval and the comparison that the run's analysis has for these two
/// values.
fn own<'a>(
    e: &'a Evaluator<'_>,
    a: &Amount,
    b: &Amount,
) -> Option<(f64, Option<Interval>, &'a Comparison)> {
    let (ra, rb) = (a.run.as_ref()?, b.run.as_ref()?);
    if ra.alias != rb.alias || a.metric != b.metric {
        return None;
    }
    let analysis = &e.gates[&ra.alias].analysis;
    let (c, turned) = match (ra.part, rb.part) {
        (RunPart::Treatment(of), RunPart::Treatment(to)) => {
            let find = |t: u32, base: u32| {
                let fits = |c: &&Comparison| {
                    c.treatment == t && c.baseline == base && c.metric == a.metric
                };
                analysis.comparisons.iter().find(fits)
            };
            find(of, to).map(|c| (c, false)).or_else(|| Some((find(to, of)?, true)))?
        }
        (RunPart::Score(of), RunPart::Score(to)) if a.metric == GEOMEAN => {
            // The first score is the baseline of all others.
            let all = &analysis.suite.as_ref()?.comparisons;
            let find = |i: usize| all.iter().find(|c| c.score == i).map(|c| &c.geomean);
            match (of, to) {
                (_, 0) => (find(of)?, false),
                (0, _) => (find(to)?, true),
                _ => return None,
            }
        }
        _ => return None,
    };
    if !turned {
        return Some((c.ratio?, c.interval, c));
    }
    let interval = c.interval.map(|i| Interval { low: 1.0 / i.high, high: 1.0 / i.low, ..i });
    Some((1.0 / c.ratio?, interval, c))
}

/// Returns the kind of a ratio in words; for measured and quoted numbers it names both.
fn kind(q: &Quantity) -> String {
    let leaves = q.leaves();
    let quoted = leaves.iter().any(|l| l.from_quoted());
    if quoted && leaves.iter().any(|l| !l.from_quoted()) {
        return "derived from measured and quoted".to_owned();
    }
    q.kind_words().to_owned()
}

/// Printed text of a comparison, its value and the interval of the value.
struct Wording {
    text: String,
    clause: Clause,
    value: f64,
    unit: &'static str,
    interval: Option<Interval>,
    formula: String,
    /// The value as a quantity.
    quantity: Option<Quantity>,
}

/// Computes the number of a comparison and its text.
fn compared<'a>(
    e: &mut Evaluator<'a>,
    args: &Arguments<'a>,
    way: RatioDirection,
    say: fn(&ComparisonInput) -> Wording,
) -> Result<CallResult> {
    let digits = args.count("digits", DIGITS)?;
    let a = e.amount(args, "a")?;
    let b = e.amount(args, "than")?;
    let basis = basis(args)?;
    let b = comparable(args, "than", &a, b)?;
    let turned = way == RatioDirection::Turned
        || way == RatioDirection::ByDirection && a.better() == Better::Lower;
    let ratio = if turned { ratio(e, &b, &a, basis) } else { ratio(e, &a, &b, basis) };
    let mut number = base(e, args.function(), args.line(), &[&a, &b], basis);
    let mut findings = checks::pair(e, &a, &b, basis);
    match ratio {
        Err(e) => number.unsupported(&e.to_string()),
        Ok(ratio) => {
            number.kind = kind(&ratio.quantity);
            let turns = reversals_from(&a.entry, &b.entry, basis);
            let both = ranking(&a.entry, &b.entry).of;
            findings.extend(checks::reversal(basis, &turns, both > 1));
            if !turns.is_empty() {
                number.matrix = Some(matrix(&[a.entry.clone(), b.entry.clone()]));
            }
            let s = ComparisonInput { a: a.clone(), ratio, digits };
            let wording = say(&s);
            let comparison = ComparisonEvidence {
                label: a.entry.label.clone(),
                ratio: Some(s.ratio.value),
                interval: s.ratio.interval,
                verdict: s.ratio.verdict,
                margin: s.ratio.margin,
                ..ComparisonEvidence::default()
            };
            findings.extend(checks::computed(&comparison));
            number.comparison = Some(comparison);
            number.text = wording.text;
            number.value = Some(wording.value);
            wording.unit.clone_into(&mut number.unit);
            number.formula = wording.formula;
            number.interval = wording.interval;
            number.answer = wording.quantity.map(|q| {
                let label = format!("`{}` of {}", args.function(), a.entry.label);
                Amount::computed(&label, q, Better::Neither, &[&a, &b]).into()
            });
            if s.ratio.verdict == Some(Verdict::Invalid) {
                number.unsupported("the run's comparison is invalid");
            } else {
                wording.clause.state(&mut number);
            }
        }
    }
    Ok(CallResult::Number(keep(e, number, findings, &[&a, &b])))
}

/// Prints `5% better` or `3% worse`: a/b - 1 or, if less is better, b/a - 1.
pub(super) fn better<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<CallResult> {
    let a = e.amount(args, "a")?;
    if a.better() == Better::Neither && a.withheld.is_none() {
        let message = format!("which way {} is better is not recorded", a.metric);
        return Err(args.error("a", message, "use `times` or `difference`, which do not judge"));
    }
    compared(e, args, RatioDirection::ByDirection, |s| {
        let reading = if s.a.better() == Better::Lower {
            " (lower is better: the other divided by this)"
        } else {
            ""
        };
        less_one(s, ["better", "worse"], reading)
    })
}

/// Prints `52% less time` or `8% more time`: 1 - t/t0.
pub(super) fn less_time<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<CallResult> {
    timed(e, args)?;
    compared(e, args, RatioDirection::Plain, |s| one_less(s, ["less time", "more time"]))
}

/// Prints `62% less`: 1 - a/b, for values without a better direction.
pub(super) fn less<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<CallResult> {
    compared(e, args, RatioDirection::Plain, |s| one_less(s, ["less", "more"]))
}

/// Prints `9% more`: a/b - 1, for values without a better direction.
pub(super) fn more<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<CallResult> {
    compared(e, args, RatioDirection::Plain, |s| less_one(s, ["more", "less"], ""))
}

fn one_less(s: &ComparisonInput, words: [&'static str; 2]) -> Wording {
    let r = &s.ratio;
    let x = 1.0 - r.value;
    let interval = r.interval.map(|i| Interval { low: 1.0 - i.high, high: 1.0 - i.low, ..i });
    let formula = format!("1 - {} = {x:.6}", r.quantity.formula());
    percentage(s, x, interval, one().subtract(&r.quantity).as_ref(), formula, words)
}

fn less_one(s: &ComparisonInput, words: [&'static str; 2], reading: &str) -> Wording {
    let r = &s.ratio;
    let x = r.value - 1.0;
    let interval = r.interval.map(|i| Interval { low: i.low - 1.0, high: i.high - 1.0, ..i });
    let formula = format!("{} - 1 = {x:.6}{reading}", r.quantity.formula());
    percentage(s, x, interval, r.quantity.subtract(&one()).as_ref(), formula, words)
}

/// Formats a fraction as a percentage, with the first of `words` from 0 on, else the second.
fn percentage(
    s: &ComparisonInput,
    x: f64,
    interval: Option<Interval>,
    quantity: Option<&Quantity>,
    formula: String,
    words: [&'static str; 2],
) -> Wording {
    let word = if x >= 0.0 { words[0] } else { words[1] };
    let (text, clause) = judged(x, interval, s.ratio.verdict, s.digits, word);
    let interval = interval.map(|i| Interval { low: i.low * 100.0, high: i.high * 100.0, ..i });
    let quantity = quantity.map(percents);
    Wording { text, clause, value: x * 100.0, unit: "%", interval, formula, quantity }
}

/// Prints `2.6 times`: a/b, whichever direction is better.
pub(super) fn times<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<CallResult> {
    compared(e, args, RatioDirection::Plain, |s| {
        let verdict = if s.ratio.value < 1.0 { "less" } else { "more" };
        let clause = if phrase::is_time(&s.a.entry.value.unit) {
            ("takes", "times as long as", MetricPosition::Time)
        } else {
            ("has", "times", MetricPosition::Of)
        };
        ratio_wording(s, "times", clause, verdict)
    })
}

/// Prints `2.1 times as fast`: t0/t.
pub(super) fn speedup<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<CallResult> {
    timed(e, args)?;
    compared(e, args, RatioDirection::Turned, |s| {
        let verdict = if s.ratio.value < 1.0 { "slower" } else { "faster" };
        ratio_wording(s, "times as fast", ("is", "times as fast as", MetricPosition::In), verdict)
    })
}

/// Formats a ratio, followed by `words`; in a sentence it is between `before` and `after`.
fn ratio_wording(
    s: &ComparisonInput,
    words: &str,
    (before, after, form): (&str, &str, MetricPosition),
    verdict: &'static str,
) -> Wording {
    let r = &s.ratio;
    let (number, interval) = match r.interval {
        Some(i) => {
            let e = units::ratio(r.value, i.low, i.high);
            let interval = units::interval(&e.low, &e.high, Some(i.level));
            (e.value, format!(" {interval}"))
        }
        None => (phrase::ratio(r.value, s.digits), String::new()),
    };
    let clause = match is_unclear(r.interval.is_some_and(|i| i.contains(1.0)), r.verdict) {
        Some(same) => Clause::unclear(same, &format!("{number} times{interval}")),
        None if r.interval.is_none() && r.value == 1.0 => Clause::equal(),
        None => {
            let verb = format!("{before} {number} {after}");
            Clause { form, verb, detail: interval.clone(), verdict }
        }
    };
    let text = format!("{number} {words}{interval}");
    let formula = format!("{} = {:.6}", r.quantity.formula(), r.value);
    let quantity = Some(r.quantity.clone());
    Wording { text, clause, value: r.value, unit: "1", interval: r.interval, formula, quantity }
}

/// Returns `Some(true)` for equivalent sides, `Some(false)` for sides that are not clearly
/// different, and `None` if one is ahead.
fn is_unclear(open: bool, verdict: Option<Verdict>) -> Option<bool> {
    match verdict {
        Some(Verdict::Equivalent) => Some(true),
        Some(Verdict::Inconclusive) => Some(false),
        _ => open.then_some(false),
    }
}

fn one() -> Quantity {
    Quantity::constant(1.0, "1")
}

pub(super) fn percents(q: &Quantity) -> Quantity {
    q.scaled([100.0, 1.0], "%")
}

/// Prints `15 min less` or `2.53 points more`: a - b.
pub(super) fn difference<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<CallResult> {
    let digits = args.count("digits", DIGITS)?;
    let a = e.amount(args, "a")?;
    let b = e.amount(args, "than")?;
    let b = comparable(args, "than", &a, b)?;
    let (qa, qb) = (&a.entry.value, &b.entry.value);
    let x = qa.value - qb.value;
    let unit = if qa.unit == "%" { "points".to_owned() } else { qa.unit.clone() };
    let decimals = digits.or_else(|| Some(a.decimals?.max(b.decimals?)));
    let word = if x <= 0.0 { "less" } else { "more" };
    let mut number = base(e, args.function(), args.line(), &[&a, &b], Basis::Total);
    let shown = phrase::with_unit(&phrase::plain(x.abs(), decimals), &unit);
    number.text = format!("{shown} {word}");
    number.value = Some(x);
    number.unit = unit;
    number.kind = qa.per(qb).map_or_else(|| "derived".to_owned(), |q| kind(&q));
    number.formula = format!("{} - {} = {x}", qa.operand(), qb.operand());
    let (interval, verdict) =
        ratio(e, &a, &b, Basis::Total).map_or((None, None), |r| (r.interval, r.verdict));
    let clause = match is_unclear(interval.is_some_and(|i| i.contains(1.0)), verdict) {
        Some(same) => Clause::unclear(same, &number.text),
        None if x == 0.0 => Clause::equal(),
        None => {
            let (word, verdict) = if x < 0.0 { ("below", "less") } else { ("above", "more") };
            let verb = format!("is {shown} {word}");
            Clause { form: MetricPosition::In, verb, detail: String::new(), verdict }
        }
    };
    clause.state(&mut number);
    number.answer = qa.subtract(qb).map(|q| {
        let label = format!("`difference` of {}", a.entry.label);
        Amount::computed(&label, q, a.better(), &[&a, &b]).into()
    });
    let findings = checks::pair(e, &a, &b, Basis::Total);
    Ok(CallResult::Number(keep(e, number, findings, &[&a, &b])))
}

/// Checks that a value is a time: only times can be read as speeds.
fn timed<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<()> {
    let a = e.amount(args, "a")?;
    let unit = &a.entry.value.unit;
    if phrase::is_time(unit) || a.withheld.is_some() {
        return Ok(());
    }
    let message = format!("`{}` is for times, and {} is in {unit}", args.function(), a.metric);
    Err(args.error("a", message, "use `better` or `times`"))
}

/// Formats a percentage for a sentence of the author and for a statement. If the interval does not
/// separate the sides, the words state that instead.
fn judged(
    x: f64,
    interval: Option<Interval>,
    verdict: Option<Verdict>,
    digits: Option<usize>,
    word: &'static str,
) -> (String, Clause) {
    let ahead = |number: &str, ends: &str| {
        let time = word.ends_with("time");
        let (verb, form) =
            if time { ("takes", MetricPosition::Time) } else { ("is", MetricPosition::In) };
        let detail = if ends.is_empty() { String::new() } else { format!(" {ends}") };
        let text = format!("{number} {word}{detail}");
        let verb = format!("{verb} {number} {word} than");
        (text, Clause { form, verb, detail, verdict: word })
    };
    let Some(i) = interval else {
        return if x.abs() < 5e-7 {
            ("equal".to_owned(), Clause::equal())
        } else {
            ahead(&phrase::percent(x.abs(), digits), "")
        };
    };
    let decimals = digits.unwrap_or_else(|| phrase::percent_decimals(i));
    let ends = phrase::percents(i, decimals);
    let number = phrase::percent(x, Some(decimals));
    match is_unclear(i.contains(0.0), verdict) {
        Some(same) => {
            let shown = format!("{number} {ends}");
            let word = if same { "equivalent" } else { "not clearly different" };
            (format!("{word} ({shown})"), Clause::unclear(same, &shown))
        }
        None if x < 0.0 => {
            let turned = Interval { low: -i.high, high: -i.low, ..i };
            ahead(&phrase::percent(-x, Some(decimals)), &phrase::percents(turned, decimals))
        }
        None => ahead(&number, &ends),
    }
}
