//! Binds a comparison to the two results that it is about: what stands before the comparing word
//! is the subject, what stands after it the baseline, and a result fits a phrase the better the
//! more telling words, models, counts and clocks they share.

pub(crate) mod context;
pub(crate) mod quantity;
pub(crate) mod rival;

use crate::bind::quantity::{Origin, Quantities, Quantity};
use crate::detect::mention::Mention;
use crate::read::token::Token;

/// One side of a comparison.
#[derive(Debug, Clone, Default)]
pub(crate) struct Side {
    pub mention: Mention,
    /// A value that the phrase prints itself, with its step.
    pub explicit: Option<(f64, f64)>,
    /// Names with digits that no result has.
    pub unknown: Vec<String>,
    /// What it was read from, for people.
    pub phrase: String,
}

/// A candidate with how well it fits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub quantity: usize,
    pub score: f64,
}

/// Two results that a claim may be about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub a: usize,
    pub b: usize,
    pub score: f64,
}

/// How many candidates of a side are looked at.
const KEPT: usize = 24;

/// Scores at least this far apart are distinct.
pub(crate) const MARGIN: f64 = 0.6;

/// How well a quantity fits a phrase; `None` when it cannot be meant.
pub(crate) fn fit(all: &Quantities, q: &Quantity, side: &Side) -> Option<f64> {
    let mut score = 0.0;
    if let Some((value, _)) = side.explicit {
        if (q.value - value).abs() > 1e-9 * value.abs() {
            return None;
        }
        score += 10.0;
    }
    let m = &side.mention;
    if !m.models.is_empty() {
        if m.models.iter().any(|model| q.models.contains(model)) {
            score += 4.0;
        } else if !q.models.is_empty() && side.explicit.is_none() {
            return None;
        }
    }
    let words: f64 = m
        .words
        .iter()
        .filter(|w| !m.models.contains(*w) && q.words.contains(*w))
        .map(|w| all.weight(w))
        .sum();
    score += words.min(8.0);
    // A result whose own name has more than was stated ("x3200 M2") fits a little less.
    let unstated = q.models.iter().filter(|model| !m.words.contains(*model)).count();
    score -= 0.1 * unstated as f64;
    let (same, different) = q.attributes.agreement(&m.attributes);
    score += same as f64 - 3.0 * different as f64;
    // A value for each instance is meant only where it is stated.
    if q.is_each()
        && side.explicit.is_none()
        && !m.words.iter().any(|w| q.family.contains(w.as_str()))
    {
        score -= 1.0;
    }
    // What the text itself prints goes first.
    if matches!(q.origin, Origin::Quoted(_)) {
        score -= 1.5;
    }
    Some(score)
}

/// The candidates of a side, the best first; only those that fit at all.
pub(crate) fn candidates(all: &Quantities, side: &Side) -> Vec<Candidate> {
    // "than version 4.3": another version's results are not those.
    if !side.unknown.is_empty() && side.mention.models.is_empty() && side.explicit.is_none() {
        return Vec::new();
    }
    let cost = all.all.len() as u64;
    if all.budget.get() < cost {
        return Vec::new();
    }
    all.budget.set(all.budget.get() - cost);
    let mut found: Vec<Candidate> = all
        .all
        .iter()
        .enumerate()
        .filter_map(|(quantity, q)| fit(all, q, side).map(|score| Candidate { quantity, score }))
        .filter(|c| c.score > 0.3)
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.quantity.cmp(&b.quantity)));
    let last = found.get(KEPT).map_or(f64::NEG_INFINITY, |c| c.score);
    let keep = found.iter().position(|c| c.score < last).unwrap_or(found.len()).min(3 * KEPT);
    found.truncate(keep);
    found
}

/// The pairs that a comparison can be about, the best first.
pub(crate) fn pairs(all: &Quantities, subject: &Side, baseline: &Side) -> Vec<Pair> {
    let left = candidates(all, subject);
    let right = candidates(all, baseline);
    let mut pairs = rival::pairs(all, subject, baseline);
    for a in &left {
        for b in &right {
            let (x, y) = (&all.all[a.quantity], &all.all[b.quantity]);
            if a.quantity == b.quantity || (x.value == y.value && x.label == y.label) {
                continue;
            }
            if let Some(bonus) = comparable(x, y) {
                pairs.push(Pair { a: a.quantity, b: b.quantity, score: a.score + b.score + bonus });
            }
        }
    }
    pairs.sort_by(|p, q| q.score.total_cmp(&p.score).then((p.a, p.b).cmp(&(q.a, q.b))));
    pairs.truncate(200);
    pairs
}

/// Whether two quantities measure the same thing, and what speaks for comparing just these two.
pub(crate) fn comparable(x: &Quantity, y: &Quantity) -> Option<f64> {
    match (x.origin, y.origin) {
        (
            Origin::Cell { table: t, row: r, column: c },
            Origin::Cell { table: u, row: s, column: d },
        ) => {
            let one_row = r == s && x.unit == y.unit && within(x.value, y.value, 30.0);
            if t == u && (c == d || one_row) {
                Some(1.2)
            } else if x.family == y.family && x.unit == y.unit && within(x.value, y.value, 100.0) {
                Some(if t == u { 0.5 } else { 0.4 })
            } else {
                None
            }
        }
        (Origin::Quoted(_), Origin::Quoted(_)) => {
            (x.family == y.family && x.unit == y.unit).then_some(0.3)
        }
        _ => (x.unit == y.unit && within(x.value, y.value, 100.0) && x.step == y.step)
            .then_some(-0.5),
    }
}

fn within(a: f64, b: f64, factor: f64) -> bool {
    a > 0.0 && b > 0.0 && a / b < factor && b / a < factor
}

/// Where the phrases of a comparison begin and end in the tokens of its sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sides {
    pub subject: std::ops::Range<usize>,
    pub baseline: std::ops::Range<usize>,
}

/// Words after which the baseline stands. "than" also where it says "more than 25%": a number after
/// it is the claim, no baseline.
pub(crate) fn sides(tokens: &[Token], clause: std::ops::Range<usize>, at: usize) -> Sides {
    let opener = |i: usize| {
        let lower = tokens[i].lower.as_str();
        let next = tokens.get(i + 1);
        let number =
            next.is_some_and(|n| n.quantity().is_some_and(|n| n.unit.is_some() && !n.spelled));
        match lower {
            "than" | "over" => !number && i != at && i + 1 != at,
            "vs" | "versus" | "against" | "compared" | "relative" | "beats" | "beat" | "tops"
            | "topped" | "outperforms" | "outperformed" | "outperforming" | "surpasses" => true,
            // "twice as fast as B", "24% ahead of B"
            "as" => i >= 2 && tokens[i - 2].lower == "as" && i > at,
            "of" => i >= 1 && tokens[i - 1].lower == "ahead",
            _ => false,
        }
    };
    // "Compared to B, A is 5% faster"
    if matches!(tokens[clause.start].lower.as_str(), "compared" | "versus" | "relative" | "against")
        && let Some(comma) = clause.clone().find(|i| tokens[*i].is_mark(','))
        && comma < at
    {
        return Sides { subject: comma + 1..clause.end, baseline: clause.start + 1..comma };
    }
    let trailing = |t: &Token| matches!(t.lower.as_str(), "and" | "or" | "but" | ",");
    let clause = clause.start
        ..(clause.start + 1..=clause.end)
            .rev()
            .find(|e| !trailing(&tokens[e - 1]))
            .unwrap_or(clause.end);
    let found = clause
        .clone()
        .filter(|i| opener(*i))
        .min_by_key(|i| if *i >= at { (0, *i - at) } else { (1, at - *i) });
    if let Some(i) = found {
        let end = (i + 1..clause.end).find(|j| tokens[*j].is_mark(';')).unwrap_or(clause.end);
        // "A beats B by 5%": the baseline ends at the claim.
        let end = if i < at { end.min(at) } else { end };
        return Sides { subject: clause.start..i, baseline: i + 1..end };
    }
    // "2x the performance of B"
    let of = (at..clause.end).find(|i| {
        tokens[*i].lower == "of"
            && tokens[at..*i].iter().any(|t| {
                t.lower == "the" || t.lower == "that" || t.lower == "double" || t.lower == "twice"
            })
    });
    if let Some(i) = of {
        return Sides { subject: clause.start..at, baseline: i + 1..clause.end };
    }
    Sides { subject: clause.clone(), baseline: clause.end..clause.end }
}
