//! What a number in a sentence claims: a percentage, a multiple, a share; how exactly, and up to
//! which other number.

use crate::claim::ClaimKind;
use crate::detect::pointing::compares;
use crate::judge::reading::Bound;
use crate::read::token::Token;
use crate::read::unit::Unit;

/// What the number at a place claims, and how many tokens it takes.
pub(crate) fn numeric(tokens: &[Token], at: usize) -> Option<(Trigger, usize)> {
    if let Some(t) = worded_multiple(tokens, at) {
        return Some((t, 1));
    }
    let n = tokens[at].quantity()?;
    let bound = bound(tokens, at);
    let value = Some((n.value, n.step));
    let trigger = |kind, to| Trigger { at, kind, value, to, bound };
    if n.is(&Unit::Percent) || ranged_unit(tokens, at) == Some(Unit::Percent) {
        let (to, used) = range(tokens, at);
        return Some((trigger(percent_kind(tokens, at, used), to), used));
    }
    if n.is(&Unit::Times) && is_multiple(tokens, at) {
        return Some((trigger(ClaimKind::Times, range(tokens, at).0), 1));
    }
    // "2.1 the power/performance of": the sign of times was left out.
    let bare =
        n.unit.is_none() && n.step < 1.0 && tokens.get(at + 1).is_some_and(|t| t.lower == "the");
    if bare {
        return Some((trigger(ClaimKind::Times, None), 1));
    }
    None
}

/// "double the", "twice", "half the".
fn worded_multiple(tokens: &[Token], at: usize) -> Option<Trigger> {
    let next = tokens.get(at + 1).map_or("", |t| t.lower.as_str());
    if tokens[at].lower == "of" && at > 0 && tokens[at - 1].lower == "factor" {
        let n = tokens.get(at + 1)?.quantity()?;
        return Some(Trigger {
            at: at + 1,
            kind: ClaimKind::Times,
            value: Some((n.value, n.step)),
            to: None,
            bound: bound(tokens, at),
        });
    }
    let value = match tokens[at].lower.as_str() {
        "double" | "doubles" | "doubled" | "doubling" if next != "precision" => 2.0,
        "twice" => 2.0,
        "triple" | "triples" | "tripled" => 3.0,
        "quadruple" | "quadruples" | "quadrupled" => 4.0,
        "half" | "halves" | "halved" if next != "of" && next != "hour" => 0.5,
        _ => return None,
    };
    // "half as long again" is one and a half times.
    let again = tokens.iter().skip(at + 2).take(3).any(|t| t.lower == "again");
    if tokens[at].lower == "half" && again {
        return None;
    }
    if tokens[at].lower == "half" && !matches!(next, "the" | "as" | "that" | "its") {
        return None;
    }
    Some(Trigger {
        at,
        kind: ClaimKind::Times,
        value: Some((value, 0.2 * value)),
        to: None,
        bound: bound(tokens, at),
    })
}

/// Whether a number with the sign of times multiplies, and counts no parts ("2x 4.7 GHz", "4 times a day").
fn is_multiple(tokens: &[Token], at: usize) -> bool {
    let Some(next) = tokens.get(at + 1) else { return true };
    let sign = tokens[at].lower.ends_with(['x', '×']);
    let word = if sign { Some(next) } else { tokens.get(at + 2) };
    let Some(word) = word else { return true };
    if !sign
        && next.lower != "times"
        && next.lower != "x"
        && next.lower != "fold"
        && !next.is_mark('×')
    {
        return true;
    }
    if word.number().is_some() {
        return false;
    }
    if sign || next.lower == "x" || next.is_mark('×') {
        let name = word.is_word() && word.capital && !is_plain_opener(&word.lower);
        let part =
            matches!(word.lower.as_str(), "processors" | "processor" | "chips" | "cores" | "disks");
        return !name && !part;
    }
    let nouns = [
        "faster",
        "better",
        "more",
        "higher",
        "greater",
        "the",
        "as",
        "less",
        "slower",
        "lower",
        "larger",
        "that",
        "what",
        "performance",
        "improvement",
        "over",
        "than",
        "speedup",
        "smaller",
        "fewer",
        "bigger",
        "longer",
        "shorter",
        "quicker",
        "its",
        "throughput",
    ];
    word.kind == crate::read::token::Kind::Mark('.')
        || word.is_mark(',')
        || word.is_mark(')')
        || nouns.contains(&word.lower.as_str())
}

fn is_plain_opener(lower: &str) -> bool {
    compares(lower) || matches!(lower, "the" | "performance" | "throughput" | "on" | "in" | "with")
}

/// A percentage beside a word that compares is a comparison, else a share.
fn percent_kind(tokens: &[Token], at: usize, used: usize) -> ClaimKind {
    let window = |range: std::ops::Range<usize>| tokens.get(range).unwrap_or_default().iter();
    let start = (at + used).min(tokens.len());
    let end = (start + 6).min(tokens.len());
    let after: Vec<&Token> = window(start..end)
        .take_while(|t| !t.is_mark(';') && !t.is_mark('.') && t.number().is_none())
        .collect();
    let points = |t: &&Token| compares(&t.lower) || t.lower == "than";
    // "more than 25% of" and "over 90%" compare nothing with anything.
    let before: Vec<&Token> =
        window(at.saturating_sub(6)..at).rev().take_while(|t| !t.is_mark(';')).collect();
    let part = after.first().is_some_and(|t| t.lower == "of")
        || after.first().is_some_and(|t| {
            matches!(
                t.lower.as_str(),
                "busy" | "idle" | "utilized" | "utilization" | "cpu" | "user" | "full"
            )
        });
    let measure = ["than", "over", "up"];
    let verb = before.iter().any(|t| {
        points(t)
            && !measure.contains(&t.lower.as_str())
            && !(t.lower == "more" || t.lower == "less" || t.lower == "least")
    });
    if !part
        && (after.iter().take(5).any(points)
            || verb
            || before
                .iter()
                .find(|t| !BOUNDS.contains(&t.lower.as_str()))
                .is_some_and(|t| t.lower == "by"))
    {
        ClaimKind::Percent
    } else {
        ClaimKind::Share
    }
}

/// Words between "by" and its number.
const BOUNDS: [&str; 14] = [
    "more",
    "less",
    "than",
    "at",
    "least",
    "most",
    "about",
    "up",
    "to",
    "over",
    "nearly",
    "almost",
    "around",
    "approximately",
];

/// The unit that the end of a range gives its start ("4 to 13%").
fn ranged_unit(tokens: &[Token], at: usize) -> Option<Unit> {
    let n = tokens[at].quantity()?;
    if n.unit.is_some() || n.spelled {
        return None;
    }
    let joined = tokens
        .get(at + 1)
        .is_some_and(|t| t.lower == "to" || t.lower == "and" || t.is_mark('-') || t.is_mark('–'));
    let other = tokens.get(at + 2)?.quantity()?;
    (joined && other.unit.is_some()).then(|| other.unit.clone()).flatten()
}

/// The end of a range that starts at a place, and the tokens that it takes.
fn range(tokens: &[Token], at: usize) -> (Option<(f64, f64)>, usize) {
    let Some(n) = tokens[at].quantity() else { return (None, 1) };
    let mut i = at + 1;
    if tokens.get(i).is_some_and(|t| t.is_mark('%') || t.lower == "percent" || t.lower == "times") {
        i += 1;
    }
    let joined = tokens.get(i).is_some_and(|t| {
        matches!(t.lower.as_str(), "to" | "through") || t.is_mark('-') || t.is_mark('–')
    });
    let between = at > 0
        && tokens[at - 1].lower == "between"
        && tokens.get(i).is_some_and(|t| t.lower == "and");
    if (joined || between)
        && let Some(end) = tokens.get(i + 1).and_then(Token::quantity)
        && (end.unit == n.unit || n.unit.is_none() || end.unit.is_none())
        && end.value > n.value
    {
        return (Some((end.value, end.step)), i + 2 - at);
    }
    (None, 1)
}

/// How exactly the number at a place is meant, by the words before it.
pub(crate) fn bound(tokens: &[Token], at: usize) -> Bound {
    let word = |back: usize| at.checked_sub(back).map_or("", |i| tokens[i].lower.as_str());
    match (word(2), word(1)) {
        ("more" | "greater" | "better" | "higher", "than")
        | ("at", "least")
        | (_, "over" | "exceeding" | "above") => Bound::AtLeast,
        ("less" | "lower" | "fewer", "than")
        | ("up", "to")
        | ("at", "most")
        | (_, "upto" | "under" | "below" | "within") => Bound::AtMost,
        (
            _,
            "about" | "around" | "approximately" | "roughly" | "some" | "circa" | "approx" | "~"
            | "≈",
        ) => Bound::About,
        (_, "nearly" | "almost") => Bound::Nearly,
        _ if tokens.get(at + 1).is_some_and(|t| t.is_mark('+')) => Bound::AtLeast,
        _ => Bound::Exact,
    }
}

/// What a token of a sentence claims.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trigger {
    pub at: usize,
    pub kind: ClaimKind,
    pub value: Option<(f64, f64)>,
    pub to: Option<(f64, f64)>,
    pub bound: Bound,
}
