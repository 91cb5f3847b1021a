//! "The best result by the competition", "the previous record": baselines that are named by their
//! rank, looked up in the column of the subject.

use crate::bind::quantity::{Origin, Quantities, Quantity};
use crate::bind::{Candidate, Pair, Side, candidates};

/// Words that say whose result is meant.
const COMPETITION: [&str; 9] = [
    "competition",
    "competitor",
    "competitors",
    "competitive",
    "competing",
    "rival",
    "rivals",
    "nearest",
    "closest",
];

/// Whether a phrase names its result by rank: by the competition, or the one before.
pub(crate) fn is_ranked(phrase: &str) -> bool {
    let lower = phrase.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|w| COMPETITION.contains(&w))
        || [
            "previous best",
            "previous record",
            "next best",
            "next fastest",
            "second best",
            "prior record",
        ]
        .iter()
        .any(|p| lower.contains(p))
}

/// The pairs of the subject's results with the best of the others: of other makers where the
/// competition is meant.
pub(crate) fn pairs(all: &Quantities, subject: &Side, baseline: &Side) -> Vec<Pair> {
    if !baseline.mention.models.is_empty()
        || baseline.explicit.is_some()
        || !is_ranked(&baseline.phrase)
    {
        return Vec::new();
    }
    let lower = baseline.phrase.to_lowercase();
    let others = lower.split(|c: char| !c.is_alphanumeric()).any(|w| COMPETITION.contains(&w));
    let mut pairs = Vec::new();
    for Candidate { quantity, score } in candidates(all, subject) {
        let q = &all.all[quantity];
        if q.models.is_empty() || q.models.is_disjoint(&subject.mention.models) {
            continue;
        }
        let best = all
            .all
            .iter()
            .enumerate()
            .filter(|(i, other)| {
                *i != quantity && column(other) == column(q) && column(q).is_some()
            })
            .filter(|(_, other)| !others || maker(&other.label) != maker(&q.label))
            .max_by(|(_, a), (_, b)| {
                let order = a.value.total_cmp(&b.value);
                if q.lower_is_better { order.reverse() } else { order }
            });
        if let Some((b, _)) = best {
            pairs.push(Pair { a: quantity, b, score });
        }
    }
    pairs
}

fn column(q: &Quantity) -> Option<(usize, usize)> {
    match q.origin {
        Origin::Cell { table, column, .. } => Some((table, column)),
        Origin::Quoted(_) => None,
    }
}

fn maker(label: &str) -> String {
    label.split_whitespace().next().unwrap_or("").to_lowercase()
}
