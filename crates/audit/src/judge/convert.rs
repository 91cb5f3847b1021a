//! Judges conversions and arithmetic that the text writes out: "3.5 GB/s which is 28 Gbit/s",
//! "65536 (64 KB)", "4 x 8 = 32".

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::judge::reading::{Bound, Claimed, figure};
use crate::read::source::Span;
use crate::read::token::{Number, Token};
use crate::read::unit::Unit;

/// The conversions of a sentence, with the tokens that they take.
pub(crate) fn judge(
    context: &Context<'_>,
    sentence: usize,
) -> Vec<(Claim, std::ops::Range<usize>)> {
    let tokens = &context.reading.tokens[sentence];
    let mut claims = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let found = arithmetic(context, tokens, at)
            .or_else(|| parts(context, tokens, at))
            .or_else(|| conversion(context, tokens, at));
        if let Some((claim, used)) = found {
            at = used.end;
            claims.push((claim, used));
        } else {
            at += 1;
        }
    }
    claims
}

fn claim(context: &Context<'_>, tokens: &[Token], used: &std::ops::Range<usize>) -> Claim {
    let span = Span::new(tokens[used.start].span.start, tokens[used.end - 1].span.end);
    context.claim_at(ClaimKind::Conversion, span, "")
}

/// Whether a value may be another by mistake: it is near, or has the same digits. "2.77 GB, which is 1.67 MB" of each
/// second is neither.
fn is_slip(computed: f64, claimed: f64) -> bool {
    let away = (computed / claimed).abs().log10();
    away.abs() < 0.5 || (away - away.round()).abs() < 0.03
}

/// `a x b = c`, also with `+`, `-`, `/`, and units between.
fn arithmetic(
    context: &Context<'_>,
    tokens: &[Token],
    at: usize,
) -> Option<(Claim, std::ops::Range<usize>)> {
    let first = tokens[at].quantity()?;
    let mut i = after_number(tokens, at);
    let mut total = first.base();
    let mut shown = figure(first.value);
    let mut operators = 0;
    let mut last_unit = first.unit.clone();
    loop {
        let sign = tokens.get(i)?;
        let operator = match sign.lower.as_str() {
            "*" | "×" | "x" | "times" => '*',
            "+" | "plus" => '+',
            "/" | "÷" => '/',
            "-" | "−" | "minus" => '-',
            "=" => {
                break;
            }
            _ => return None,
        };
        let n = tokens.get(i + 1)?.quantity()?;
        match operator {
            '*' => total *= n.base(),
            '+' => total += n.base(),
            '/' => total /= n.base(),
            _ => total -= n.base(),
        }
        if n.unit.is_some() && !matches!(n.unit, Some(Unit::Count(_))) {
            last_unit.clone_from(&n.unit);
        }
        let sign = if operator == '*' { '×' } else { operator };
        shown = format!("{shown} {sign} {}", figure(n.value));
        operators += 1;
        if operators > 8 {
            return None;
        }
        i = after_number(tokens, i + 1);
    }
    let (result, end) = {
        let n = tokens.get(i + 1)?.quantity()?;
        (n, after_number(tokens, i + 1))
    };
    if operators == 0 {
        return None;
    }
    let used = at..end.min(tokens.len());
    let mut claim = claim(context, tokens, &used);
    let computed = total / result.scale;
    let claimed = Claimed { value: result.value, step: result.step, bound: Bound::Exact };
    claim.claimed = Some(result.value);
    claim.computed = Some(computed);
    claim.reason = format!("{shown} = {}", figure(computed));
    // Different precedence, or a unit that is only on one side, leaves room for doubt.
    let plain = operators == 1
        && (result.unit == last_unit
            || result.unit.is_none()
            || last_unit.is_none()
            || matches!(result.unit, Some(Unit::Count(_))));
    claim.verdict = match claimed.fit(computed, computed, computed) {
        ClaimVerdict::Wrong if !plain => ClaimVerdict::Ambiguous,
        verdict => verdict,
    };
    Some((claim, used))
}

/// `24 GB (6 x 4 GB)`, `2.89 % (3.64 % - 0.75 %)`: a total, and in brackets what it is made of.
fn parts(
    context: &Context<'_>,
    tokens: &[Token],
    at: usize,
) -> Option<(Claim, std::ops::Range<usize>)> {
    let total = tokens[at].quantity()?;
    let mut i = after_number(tokens, at);
    let mut opened = false;
    while let Some(t) = tokens.get(i) {
        match t.lower.as_str() {
            "(" => opened = true,
            "," | "ie" | "i.e" | "." | "=" | "or" | "i.e.," => {}
            _ => break,
        }
        i += 1;
    }
    if !opened || i > at + 8 {
        return None;
    }
    let first = tokens.get(i)?.quantity()?;
    let mut j = after_number(tokens, i);
    // "6x" carries its sign.
    let signed = first.is(&Unit::Times) && tokens[i].lower.ends_with('x');
    let operator = if signed {
        '*'
    } else {
        let sign = tokens.get(j)?;
        j += 1;
        match sign.lower.as_str() {
            "*" | "×" | "x" => '*',
            "+" => '+',
            "-" | "−" | "–" => '-',
            _ => return None,
        }
    };
    let second = tokens.get(j)?.quantity()?;
    let scale = |n: &Number| if n.is(&Unit::Times) || n.unit.is_none() { 1.0 } else { n.scale };
    let same = second.unit == total.unit
        || (operator == '*' && matches!(second.unit, None | Some(Unit::Count(_))));
    if !same || second.unit.is_none() && total.unit.is_some() {
        return None;
    }
    let (x, y) = (first.value * scale(first), second.value * scale(second));
    let computed = match operator {
        '*' => x * y,
        '+' => x + y,
        _ => x - y,
    } / scale(total);
    let used = at..(after_number(tokens, j)).min(tokens.len());
    let mut claim = claim(context, tokens, &used);
    claim.claimed = Some(total.value);
    claim.computed = Some(computed);
    claim.verdict = match (Claimed { value: total.value, step: total.step, bound: Bound::Exact })
        .fit(computed, computed, computed)
    {
        ClaimVerdict::Wrong => ClaimVerdict::Ambiguous,
        verdict => verdict,
    };
    claim.reason = format!(
        "{} {} {} = {}",
        figure(first.value),
        if operator == '*' { '×' } else { operator },
        figure(second.value),
        figure(computed)
    );
    Some((claim, used))
}

/// The token after a number and the word that is its unit.
fn after_number(tokens: &[Token], at: usize) -> usize {
    let unit_word = tokens.get(at + 1).is_some_and(|t| {
        t.is_word()
            && tokens[at].number().is_some_and(|n| n.unit.is_some())
            && crate::read::unit::read(&t.lower, &t.lower).is_some()
            && t.lower != "x"
            && t.lower != "times"
    });
    at + 1 + usize::from(unit_word)
}

/// Words and marks that say that what follows is the same amount.
fn links(between: &[Token]) -> Option<bool> {
    let words: Vec<&str> = between
        .iter()
        .map(|t| t.lower.as_str())
        .filter(|w| {
            !matches!(
                *w,
                "," | "~"
                    | "about"
                    | "approximately"
                    | "or"
                    | "roughly"
                    | "the"
                    | "a"
                    | "s"
                    | "sec"
                    | "second"
                    | "per"
                    | "/"
                    | "of"
                    | ":"
            )
        })
        .collect();
    let same = [
        "(",
        "=",
        "≈",
        "equals",
        "i.e",
        "aka",
        "which is",
        "that is",
        "i.e .",
        "this is",
        "is",
        "( =",
        "( i.e",
        "( i.e .",
        "( or",
        "works out to",
        "comes to",
    ];
    match words.join(" ").as_str() {
        "" => Some(false),
        between if same.contains(&between) => Some(true),
        _ => None,
    }
}

fn conversion(
    context: &Context<'_>,
    tokens: &[Token],
    at: usize,
) -> Option<(Claim, std::ops::Range<usize>)> {
    let a = tokens[at].quantity()?;
    let next = (at + 1..(at + 8).min(tokens.len())).find(|i| tokens[*i].quantity().is_some())?;
    let b = tokens[next].quantity()?;
    let from = after_number(tokens, at).min(next);
    let explicit = links(&tokens[from..next])?;
    let (about, low, factors) = factors(a, b)?;
    if !explicit && !about {
        return None;
    }
    let end = after_number(tokens, next);
    let used = at..end.min(tokens.len());
    let mut claim = claim(context, tokens, &used);
    let bound = if tokens[from..next]
        .iter()
        .any(|t| matches!(t.lower.as_str(), "~" | "about" | "roughly" | "approximately" | "≈"))
    {
        Bound::About
    } else {
        Bound::Exact
    };
    let claimed = Claimed { value: b.value, step: b.step, bound };
    let mut best: Option<(ClaimVerdict, f64)> = None;
    for factor in factors {
        let computed = a.value * factor;
        let half = a.step / 2.0 * factor;
        let verdict = claimed.fit(computed, computed - half, computed + half);
        if best.is_none_or(|(v, _)| verdict < v) {
            best = Some((verdict, computed));
        }
    }
    let (verdict, computed) = best?;
    // The upper bound of a range of bytes ("131071 (~128 KB)").
    let next_up = low.is_some_and(|f| {
        claimed.fit((a.value + 1.0) * f, (a.value + 1.0) * f, (a.value + 1.0) * f)
            == ClaimVerdict::Holds
    });
    claim.claimed = Some(b.value);
    claim.computed = Some(computed);
    let words = |range: std::ops::Range<usize>| {
        context.text(Span::new(tokens[range.start].span.start, tokens[range.end - 1].span.end))
    };
    let unit = words(next..end.min(tokens.len()));
    let unit =
        unit.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' '));
    claim.reason = format!("{} is {} {unit}", words(at..from), figure(computed));
    claim.verdict = match verdict {
        ClaimVerdict::Wrong if next_up => ClaimVerdict::Holds,
        ClaimVerdict::Wrong if !explicit || !is_slip(computed, b.value) => return None,
        ClaimVerdict::Wrong
            if a.unit.is_none()
                || b.unit.is_none()
                || !tokens[from..next].iter().any(|t| {
                    matches!(t.lower.as_str(), "=" | "which" | "is" | "equals" | "or" | "that")
                }) =>
        {
            ClaimVerdict::Ambiguous
        }
        verdict => verdict,
    };
    Some((claim, used))
}

/// The factors that turn the first into the second: whether two units of one dimension stand there,
/// the factor of whole bytes, and all factors that the letters may mean.
fn factors(a: &Number, b: &Number) -> Option<(bool, Option<f64>, Vec<f64>)> {
    if a.spelled || b.spelled {
        return None;
    }
    let scales = |n: &Number| -> Vec<f64> { std::iter::once(n.scale).chain(n.binary).collect() };
    let cross = |extra: f64| -> Vec<f64> {
        scales(a).iter().flat_map(|x| scales(b).into_iter().map(move |y| x * extra / y)).collect()
    };
    let size = |u: &Option<Unit>| {
        matches!(u, Some(Unit::Bytes | Unit::Bits | Unit::ByteRate | Unit::BitRate))
    };
    match (&a.unit, &b.unit) {
        (None, Some(Unit::Bytes)) if a.value >= 1024.0 && b.scale > 1.0 => {
            let all = cross(1.0);
            Some((false, all.last().copied(), all))
        }
        (Some(x), Some(y))
            if x == y && a.scale != b.scale && (size(&a.unit) || *x == Unit::Time) =>
        {
            Some((true, None, cross(1.0)))
        }
        (Some(Unit::Bytes), Some(Unit::Bits)) | (Some(Unit::ByteRate), Some(Unit::BitRate)) => {
            Some((true, None, cross(8.0)))
        }
        (Some(Unit::Bits), Some(Unit::Bytes)) | (Some(Unit::BitRate), Some(Unit::ByteRate)) => {
            Some((true, None, cross(1.0 / 8.0)))
        }
        // A rate whose "a second" was left out on one side.
        (Some(Unit::ByteRate), Some(Unit::Bits)) => Some((true, None, cross(8.0))),
        _ => None,
    }
}
