//! Words that compare, each once: which way they point, and whether one beside a number makes a claim of it.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Which way the words of a comparison point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// "faster", "better": by what is better in the metric.
    Faster,
    Slower,
    /// "more", "higher": by the value itself.
    More,
    Less,
    /// "times that of": the plain ratio.
    Of,
}

impl Way {
    pub(crate) fn opposite(self) -> Way {
        match self {
            Way::Faster => Way::Slower,
            Way::Slower => Way::Faster,
            Way::More => Way::Less,
            Way::Less => Way::More,
            Way::Of => Way::Of,
        }
    }
}

/// How a word that makes a claim of a number beside it compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Up,
    Down,
}

/// The words of one kind.
type Kind = (Option<Way>, Option<Sense>, &'static [&'static str]);

#[rustfmt::skip] // a line a word would be a page
const WORDS: [Kind; 10] = [
    (Some(Way::Faster), None, &[
        "leads", "boosted", "speedups", "quickly", "fast", "sooner", "quick", "speeds", "sped",
    ]),
    (Some(Way::Faster), Some(Sense::Up), &[
        "gain", "gains", "boost", "faster", "quicker", "better", "speedup", "speed", "improvement",
        "improvements", "improved", "improves", "outperforms", "beats", "beat", "wins", "win",
        "ahead", "advantage", "gained",
    ]),
    (Some(Way::Slower), Some(Sense::Down), &[
        "slower", "worse", "behind", "degradation", "lost", "loses",
    ]),
    (Some(Way::Slower), None, &[
        "slow", "regression", "regressed", "slowdown", "slowly", "lags",
    ]),
    (Some(Way::More), Some(Sense::Up), &[
        "more", "higher", "greater", "larger", "bigger", "increase", "increased", "increases",
        "up", "extra", "additional", "above", "over",
    ]),
    (Some(Way::More), None, &[
        "longer", "grew", "grow", "grows", "rose", "rises", "rise", "many", "much", "long", "large",
        "big", "high", "heavier", "growth", "taller", "grown", "jumped", "jump", "climbed", "costlier",
        "hungrier", "additionally", "denser",
    ]),
    (Some(Way::Less), Some(Sense::Down), &[
        "less", "lower", "fewer", "smaller", "shorter", "reduction", "reduced", "reduces", "reduce",
        "decrease", "decreased", "decreases", "drop", "dropped", "drops", "cut", "cuts", "saves",
        "saved", "saving", "savings", "below", "cheaper", "reductions",
    ]),
    (Some(Way::Less), None, &[
        "fell", "falls", "fall", "down", "shrank", "shrinks", "shrink", "frees", "lighter", "shrunk", "lowered",
        "lowers", "declined", "decline", "trimmed", "slashed",
    ]),
    (None, Some(Sense::Up), &[
        "difference", "tops", "topped", "improve", "boosts", "outperformed", "outperforming",
        "exceeds", "exceeded", "superior",
    ]),
    (None, Some(Sense::Down), &[
        "loss", "penalty", "cost", "costs",
    ]),
];

fn kind(lower: &str) -> Option<&'static Kind> {
    /// The first of the kinds that have a word.
    static KINDS: LazyLock<HashMap<&str, &Kind>> = LazyLock::new(|| {
        let words = WORDS.iter().rev().flat_map(|k| k.2.iter().map(move |w| (*w, k)));
        words.collect()
    });
    KINDS.get(lower).copied()
}

/// Which way a word points.
pub(crate) fn way(lower: &str) -> Option<Way> {
    kind(lower)?.0
}

/// Whether a number beside the word is a claim.
pub(crate) fn compares(lower: &str) -> bool {
    kind(lower).is_some_and(|(_, sense, _)| sense.is_some())
}

/// Whether a number beside the word is a claim that something is less.
pub(crate) fn compares_down(lower: &str) -> bool {
    kind(lower).is_some_and(|(_, sense, _)| *sense == Some(Sense::Down))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_once() {
        let all: Vec<&str> = WORDS.iter().flat_map(|(.., words)| *words).copied().collect();
        let unique: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(unique.len(), all.len());
    }

    #[test]
    fn a_word_may_point_without_making_a_claim_and_the_other_way_round() {
        assert_eq!((way("faster"), compares("faster")), (Some(Way::Faster), true));
        assert_eq!((way("shrank"), compares("shrank")), (Some(Way::Less), false));
        assert_eq!((way("costs"), compares_down("costs")), (None, true));
        assert_eq!((way("table"), compares("table")), (None, false));
    }
}
