//! What a sentence compares in words: so many per cent or times, orders of magnitude, with the way
//! the words point.

use super::amount::{self, Amount, Dimension};
use crate::detect::pointing::{Way, way};
use crate::detect::trigger::bound;
use crate::judge::reading::{
    Bound, Claimed, Formula, INVERSE, LESS, MORE, RATIO, RATIO_MORE, SPEEDUP,
};
use crate::read::token::Token;

/// How much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Much {
    Percent,
    Times,
    /// So many orders of magnitude.
    Orders,
}

/// A comparison in words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement {
    /// The token with the number, and one past the last that belongs to it.
    pub at: usize,
    pub end: usize,
    pub much: Much,
    pub way: Way,
    pub value: f64,
    pub step: f64,
    pub bound: Bound,
    /// The word that points (`faster`), if it stands in the sentence.
    pub word: usize,
}

impl Statement {
    pub(crate) fn claimed(&self) -> Claimed {
        Claimed { value: self.value, step: self.step, bound: self.bound }
    }

    /// The formulas that the words allow, for values of which less or more is better; `a` is the
    /// subject's value.
    pub(crate) fn formulas(&self, less_is_better: bool) -> Vec<Formula> {
        let orders = self.much == Much::Orders;
        if orders || self.much == Much::Times {
            let up = match self.way {
                Way::Faster => !less_is_better,
                Way::Slower => less_is_better,
                Way::More | Way::Of => true,
                Way::Less => false,
            };
            return vec![if up { RATIO } else { INVERSE }];
        }
        match (self.way, less_is_better) {
            (Way::Faster, true) | (Way::Slower, false) => vec![LESS, SPEEDUP],
            (Way::Of, _) => vec![PART],
            (Way::Faster, false) | (Way::More, _) => vec![MORE],
            (Way::Slower, true) => vec![MORE, SLOWDOWN],
            (Way::Less, _) => vec![LESS],
        }
    }
}

impl Statement {
    /// Whether what is printed lies so far beyond a stated bound that nobody would state it so: "more than 20%" for
    /// 60%.
    pub(crate) fn understates(&self, value: f64) -> bool {
        match self.bound {
            Bound::AtLeast => value > 1.5 * self.value,
            Bound::AtMost => value * 1.5 < self.value,
            _ => false,
        }
    }

    /// The formulas that somebody may have meant beside those, in the direction that the words state.
    pub(crate) fn loose_formulas(&self, less_is_better: bool) -> Vec<Formula> {
        let up = match self.way {
            Way::Faster => !less_is_better,
            Way::Slower => less_is_better,
            Way::More | Way::Of => true,
            Way::Less => false,
        };
        match (self.much, up) {
            (Much::Percent, _) if self.way == Way::Of => Vec::new(),
            (Much::Orders, _) => Vec::new(),
            (Much::Percent, true) => vec![MORE, OF_GREATER],
            // No positive value is 231% less than another.
            (Much::Percent, false) if self.way == Way::Less && self.value >= 100.0 => vec![LESS],
            (Much::Percent, false) => vec![LESS, SPEEDUP],
            (Much::Times, true) => vec![RATIO, RATIO_MORE],
            (Much::Times, false) => vec![INVERSE, INVERSE_MORE],
        }
    }
}

/// What part of the other it is.
const PART: Formula = Formula { name: "a/b", compute: |a, b| a / b * 100.0 };
/// How much less the other is, of the greater: "25% more" for a third more.
const OF_GREATER: Formula = Formula { name: "1 - b/a", compute: |a, b| (1.0 - b / a) * 100.0 };
/// "N times less" as the ratio and one.
const INVERSE_MORE: Formula = Formula { name: "b/a - 1", compute: |a, b| b / a - 1.0 };

/// How much slower, as less speed: of times.
const SLOWDOWN: Formula = OF_GREATER;

/// Whether a word is a multiple by itself.
pub(crate) fn is_multiple(lower: &str) -> bool {
    matches!(
        lower,
        "twice"
            | "half"
            | "double"
            | "triple"
            | "doubles"
            | "doubled"
            | "triples"
            | "tripled"
            | "halves"
            | "halved"
    )
}

/// The comparisons of a sentence.
pub(crate) fn all(text: &str, tokens: &[Token], free: &[bool]) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let statement =
            if free[i] { multiple(tokens, i).or_else(|| numeric(text, tokens, i)) } else { None };
        match statement {
            Some(statement) => {
                i = statement.end.max(i + 1);
                found.push(statement);
            }
            None => i += 1,
        }
    }
    found
}

fn lower(tokens: &[Token], i: usize) -> &str {
    tokens.get(i).map_or("", |t| t.lower.as_str())
}

/// "twice as fast", "half the time", "double the throughput", "an order of magnitude slower".
fn multiple(tokens: &[Token], i: usize) -> Option<Statement> {
    let next = lower(tokens, i + 1);
    let statement = |value: f64, step: f64, much, way: (Way, usize), end| Statement {
        at: i,
        end,
        much,
        way: way.0,
        value,
        step,
        bound: bound(tokens, i),
        word: way.1,
    };
    match lower(tokens, i) {
        "twice" | "double" | "triple" | "doubles" | "doubled" | "triples" | "tripled"
        | "halves" | "halved" => {
            let verb = lower(tokens, i).ends_with('d') || lower(tokens, i).ends_with('s');
            let value = match lower(tokens, i) {
                "triple" | "triples" | "tripled" => 3.0,
                "halves" | "halved" => 0.5,
                _ => 2.0,
            };
            let way = after(tokens, i + 1).or(Some((Way::Of, i))).filter(|w| {
                verb || next == "as" || next == "the" || next == "that" || w.1 == i + 1
            })?;
            Some(statement(value, 0.2 * value, Much::Times, way, i + 1))
        }
        // "half as long again" is one and a half times.
        "half" if (i + 2..i + 5).any(|j| lower(tokens, j) == "again") => None,
        "half" if matches!(next, "the" | "as" | "that") => Some(statement(
            0.5,
            0.1,
            Much::Times,
            after(tokens, i + 1).filter(|_| next == "as").unwrap_or((Way::Of, i)),
            i + 1,
        )),
        "third" | "thirds" | "quarter" | "quarters" | "fifth" | "fifths" | "tenth" => {
            fraction(tokens, i)
        }
        "orders" | "order" if next == "of" && lower(tokens, i + 2) == "magnitude" => {
            let value =
                i.checked_sub(1).and_then(|p| tokens[p].quantity()).map_or(1.0, |n| n.value);
            let way = after(tokens, i + 3)?;
            (value <= 12.0).then(|| statement(value, 1.0, Much::Orders, way, i + 3))
        }
        _ => None,
    }
}

/// "a third of the time", "two thirds of that", "a quarter less", "cut by a third".
fn fraction(tokens: &[Token], i: usize) -> Option<Statement> {
    let parts = match lower(tokens, i) {
        "third" | "thirds" => 3.0,
        "quarter" | "quarters" => 4.0,
        "fifth" | "fifths" => 5.0,
        _ => 10.0,
    };
    let first = i.checked_sub(1)?;
    let count = match lower(tokens, first) {
        "a" => 1.0,
        _ => tokens[first].quantity().filter(|n| n.spelled)?.value,
    };
    let next = lower(tokens, i + 1);
    let by = first > 0 && lower(tokens, first - 1) == "by";
    let (much, (way, word)) = if matches!(next, "of" | "the" | "that" | "as") {
        (Much::Times, (Way::Of, i))
    } else if let Some(way) = way(next) {
        (Much::Percent, (way, i + 1))
    } else {
        (Much::Percent, before(tokens, first).filter(|_| by)?)
    };
    let value = count / parts * if much == Much::Percent { 100.0 } else { 1.0 };
    let bound = bound(tokens, first);
    (count < parts).then(|| Statement {
        at: i,
        end: i + 1,
        much,
        way,
        value,
        step: 0.2 * value,
        bound,
        word,
    })
}

/// "3.6 times faster", "2.9x faster", "24% less", "a 25% reduction", "by 72%".
fn numeric(text: &str, tokens: &[Token], i: usize) -> Option<Statement> {
    let n = tokens[i].quantity()?;
    // "3.56 ± 0.09 times": the spread is no claim.
    let mut end = i + 1;
    if tokens.get(end).is_some_and(|t| t.is_mark('±'))
        && tokens.get(end + 1).is_some_and(|t| t.quantity().is_some())
    {
        end += 2;
    }
    if i > 0 && tokens[i - 1].is_mark('±') {
        return None;
    }
    let (amount, used) = amount::at(text, tokens, i)?;
    let word = lower(tokens, end);
    let factor = i > 1 && lower(tokens, i - 1) == "of" && lower(tokens, i - 2) == "factor";
    let times = amount.dimension() == Dimension::Times
        || factor && n.unit.is_none()
        || matches!(word, "times" | "x" | "fold")
        || tokens.get(end).is_some_and(|t| t.is_mark('×'));
    let percent = amount.dimension() == Dimension::Percent;
    // "drops from 92% to 71%" states two values.
    let value = |j: usize| {
        lower(tokens, j) == "from"
            || lower(tokens, j) == "to"
                && (j.saturating_sub(3)..j).any(|p| lower(tokens, p) == "from")
    };
    if !times && !percent || percent && i.checked_sub(1).is_some_and(value) {
        return None;
    }
    let past = if end == i + 1 { i + used.max(1) } else { end + 1 };
    let past = if matches!(lower(tokens, past), "times" | "x" | "fold" | "percent") {
        past + 1
    } else {
        past
    };
    let next = lower(tokens, past);
    let (way, at_word) = if percent {
        if matches!(next, "full" | "busy" | "idle" | "utilization" | "cpu" | "load") {
            return None;
        }
        // "42% of the throughput of the F74"
        let less = || before(tokens, i).filter(|b| b.0 == Way::Less && i - b.1 < 3);
        if next == "of" { less().unwrap_or((Way::Of, i)) } else { points(tokens, i, past)? }
    } else {
        let as_ = next == "as";
        let that = matches!(next, "that" | "the" | "what" | "its");
        match pointed(tokens, i, past) {
            Some((_, w)) if w > past + 3 && !as_ && that => (Way::Of, i),
            Some(found) if !that || found.1 <= past => found,
            _ if that => (Way::Of, i),
            _ => before(tokens, i)
                .or_else(|| (factor || bare(tokens, past)).then_some((Way::Of, i)))?,
        }
    };
    let much = if percent { Much::Percent } else { Much::Times };
    let step = if n.spelled { 1.0 } else { n.step };
    Some(Statement {
        at: i,
        end: past,
        much,
        way,
        value: n.value,
        step,
        bound: bound(tokens, i),
        word: at_word,
    })
}

/// "and breeze only 1.3 times.": the words before say what.
fn bare(tokens: &[Token], past: usize) -> bool {
    tokens
        .get(past)
        .is_none_or(|t| t.is_mark('.') || t.is_mark(',') || t.is_mark(')') || t.is_mark(';'))
}

/// The pointing word behind a number, up to the next number or the end of the phrase.
fn after(tokens: &[Token], from: usize) -> Option<(Way, usize)> {
    for (i, t) in tokens.iter().enumerate().skip(from).take(5) {
        if t.number().is_some()
            || t.is_mark(';')
            || t.is_mark('.')
            || t.is_mark(',')
            || t.is_mark(')')
        {
            return None;
        }
        if matches!(t.lower.as_str(), "than" | "over" | "of") && i > from {
            return None;
        }
        // "takes another 40% off"
        if t.lower == "off" && i == from {
            return Some((Way::Less, i));
        }
        if let Some(way) = way(&t.lower) {
            if t.lower == "over" && tokens[from..i].iter().any(Token::is_word) {
                return None;
            }
            let way = if t.lower == "over" { Way::Faster } else { way };
            // "20% better latency", "less time" point by the noun; "more time" is literal.
            return Some((way, i));
        }
    }
    None
}

/// The pointing word before a number: "is faster by 3x", "went down by", "an increase of".
fn before(tokens: &[Token], i: usize) -> Option<(Way, usize)> {
    for j in (i.saturating_sub(9)..i).rev() {
        let t = &tokens[j];
        if t.is_mark(';') || t.is_mark('.') || t.is_mark(':') {
            return None;
        }
        if matches!(
            t.lower.as_str(),
            "than" | "over" | "up" | "above" | "below" | "many" | "much" | "long"
        ) && j + 1 == i
            || matches!(t.lower.as_str(), "more" | "less" | "fewer" | "higher" | "lower")
                && lower(tokens, j + 1) == "than"
            || t.lower == "up" && lower(tokens, j + 1) == "to"
            || matches!(t.lower.as_str(), "over" | "high" | "fast")
        {
            continue;
        }
        if let Some(way) = way(&t.lower) {
            return Some((way, j));
        }
    }
    None
}

/// The same, where "saves 29% over" points by its verb.
fn pointed(tokens: &[Token], i: usize, past: usize) -> Option<(Way, usize)> {
    let found = after(tokens, past)?;
    let verb = || before(tokens, i).filter(|b| lower(tokens, found.1) == "over" && i - b.1 < 5);
    verb().or(Some(found))
}

fn points(tokens: &[Token], i: usize, past: usize) -> Option<(Way, usize)> {
    if let Some(found) = pointed(tokens, i, past) {
        return Some(found);
    }
    // "dropped by 80%", "27% for lookups": only a verb or noun of change before it.
    let by = tokens[i.saturating_sub(4)..i].iter().any(|t| matches!(t.lower.as_str(), "by" | "of"));
    // "412 ms → 265 ms (-36%)"
    let sign = i.checked_sub(1).map(|p| &tokens[p]);
    let set =
        i > 1 && tokens[i - 2].is_mark('(') && tokens.get(past).is_some_and(|t| t.is_mark(')'));
    if let Some(sign) = sign.filter(|_| set) {
        if sign.is_mark('-') || sign.is_mark('−') {
            return Some((Way::Less, i));
        } else if sign.is_mark('+') {
            return Some((Way::More, i));
        }
    }
    let found = before(tokens, i)?;
    // "27% faster after the change, the build 4%": the same word is meant again.
    let short = bare(tokens, past);
    (by || short || i - found.1 <= 3).then_some(found)
}

/// An amount of a sentence, with its tokens.
pub(crate) fn amounts(
    text: &str,
    tokens: &[Token],
    statements: &[Statement],
    free: &[bool],
) -> Vec<(usize, usize, Amount)> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if let Some(s) = statements.iter().find(|s| (s.at..s.end).contains(&i)) {
            i = s.end.max(i + 1);
            continue;
        }
        match amount::at(text, tokens, i).filter(|_| free[i]) {
            Some((amount, used)) => {
                let label = tokens[i].number().is_none_or(|n| n.label || n.spelled);
                if !label {
                    found.push((i, i + used, amount));
                }
                i += used;
            }
            None => i += 1,
        }
    }
    found
}
