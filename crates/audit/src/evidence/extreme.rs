//! Words that ask for the greatest or the least of several values.

use super::amount::Amount;
use super::grid::{At, Better, Grid};
use super::metric::statistic;
use super::scene::Scene;

/// What a superlative asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Most {
    Best,
    Worst,
    Greatest,
    Least,
}

impl Most {
    /// Whether the greatest value is asked for, where a column is better one way.
    pub(crate) fn is_greatest(self, better: Better) -> Option<bool> {
        match (self, better) {
            (Most::Greatest, _) | (Most::Best, Better::More) | (Most::Worst, Better::Less) => {
                Some(true)
            }
            (Most::Least, _) | (Most::Best, Better::Less) | (Most::Worst, Better::More) => {
                Some(false)
            }
            _ => None,
        }
    }
}

/// What a word asks for, if it ranks.
pub(crate) fn superlative(lower: &str) -> Option<Most> {
    Some(match lower {
        "fastest" | "quickest" | "best" | "winner" => Most::Best,
        "slowest" | "worst" => Most::Worst,
        "highest" | "largest" | "most" | "longest" | "biggest" | "greatest" => Most::Greatest,
        "lowest" | "smallest" | "least" | "shortest" | "fewest" => Most::Least,
        _ => return None,
    })
}

/// Whether a class is named within which it is the best: "of the two free ones", "among", "except".
pub(crate) fn scoped(scene: &Scene<'_>, i: usize, end: usize, all: usize) -> bool {
    let before = i.checked_sub(1).map_or("", |p| scene.sentence.lower(p));
    matches!(before, "second" | "third" | "next" | "previous")
        || (i + 1..end).any(|j| {
            let word = scene.sentence.lower(j);
            if word == "of" {
                let n = (j + 1..(j + 4).min(end)).find_map(|k| scene.sentence.tokens[k].quantity());
                return n.is_some_and(|n| n.value as usize != all);
            }
            matches!(
                word,
                "among"
                    | "except"
                    | "besides"
                    | "after"
                    | "that"
                    | "which"
                    | "so"
                    | "ever"
                    | "free"
                    | "open"
                    | "other"
            )
        })
}

/// Whether a clause gives a cell a rank that it has neither in its column nor among its row's values of the unit: "the
/// slowest with 88 tok/s" of the fastest.
pub(crate) fn denied(
    scene: &Scene<'_>,
    grid: &Grid,
    at: At,
    clause: std::ops::Range<usize>,
) -> bool {
    let Some(own) = grid.amount(at) else { return false };
    let ranked = clause.clone().find_map(|i| {
        let least = i > 0 && matches!(scene.sentence.lower(i - 1), "at" | "of" | "by");
        superlative(scene.sentence.lower(i)).filter(|_| !least).map(|most| (i, most))
    });
    let Some((i, most)) = ranked else { return false };
    let better = match (grid.better[at.column], most) {
        (Better::Unknown, Most::Best | Most::Worst) => return false,
        (better, _) => better,
    };
    let Some(greatest) = most.is_greatest(better) else { return false };
    let like = |m: &Amount| m.dimension() == own.dimension();
    let beaten = |m: Amount| if greatest { m.value > own.value } else { m.value < own.value };
    let column: Vec<Amount> =
        grid.bodies().filter_map(|row| grid.amount(At { row, ..at })).filter(like).collect();
    let row: Vec<Amount> = grid
        .valued()
        .filter(|c| statistic(&grid.columns.names[*c].text) < 3)
        .filter_map(|column| grid.amount(At { column, ..at }))
        .filter(like)
        .collect();
    statistic(&grid.columns.names[at.column].text) < 3
        && !scoped(scene, i, clause.end, column.len())
        && [column, row].into_iter().all(|all| all.len() < 2 || all.into_iter().any(beaten))
}
