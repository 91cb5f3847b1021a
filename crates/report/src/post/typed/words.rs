//! Words that compare: which they are, what stands before and behind them, and what they say.

use std::ops::Range;

use super::atoms::{Atom, COMPARING, COMPUTED, atoms};

/// What a comparing word says of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::post) enum Says {
    /// Better than the other.
    Ahead,
    /// Worse than the other.
    Behind,
    /// A higher value than the other's.
    Higher,
    /// A lower value than the other's.
    Lower,
    /// As good as the other.
    Same,
    /// Better than all.
    Best,
    /// Worse than all.
    Worst,
    /// The highest value of all.
    Highest,
    /// The lowest value of all.
    Lowest,
    /// How clear a difference is, or a comparison with nothing that could be found.
    Degree,
}

/// A comparing word in a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::post) struct Saying {
    pub(in crate::post) says: Says,
    /// Its bytes in the text.
    pub(in crate::post) span: Range<usize>,
    /// Its subject: the words before it.
    pub(in crate::post) subject: Range<usize>,
    /// What that is compared with: the words behind it.
    pub(in crate::post) other: Range<usize>,
}

const PAIR: &[(&[&str], Says)] = &[
    (
        &[
            "beats",
            "beat",
            "beating",
            "outperforms",
            "outperformed",
            "outperform",
            "outpaces",
            "outpaced",
            "outruns",
            "outran",
            "outclasses",
            "outclassed",
            "surpasses",
            "surpassed",
            "tops",
            "topped",
            "exceeds",
            "exceeded",
            "defeats",
            "defeated",
            "overtakes",
            "overtook",
            "trounces",
            "crushes",
            "eclipses",
            "dwarfs",
            "bests",
            "outdoes",
            "outscores",
            "outshines",
            "overpowers",
            "dominates",
            "destroys",
            "edges",
        ],
        Says::Ahead,
    ),
    (&["trails", "trailed", "lags", "lagged", "underperforms", "underperformed"], Says::Behind),
    (&["matches", "matched", "equals", "equalled", "ties"], Says::Same),
];

/// Words before `than`, `of` or `to`.
const LINKED: &[(&str, &[&str], Says)] = &[
    ("than", &["faster", "quicker", "better", "speedier", "swifter", "stronger"], Says::Ahead),
    ("than", &["slower", "worse", "poorer", "weaker"], Says::Behind),
    ("than", &["higher", "greater", "larger", "bigger"], Says::Higher),
    ("than", &["lower", "smaller", "shorter"], Says::Lower),
    ("of", &["ahead", "front"], Says::Ahead),
    ("to", &["superior"], Says::Ahead),
    ("to", &["inferior", "loses", "lost"], Says::Behind),
    ("with", &["par"], Says::Same),
    ("over", &["wins", "won", "lead", "edge", "advantage", "victory"], Says::Ahead),
    ("against", &["wins", "won"], Says::Ahead),
    ("against", &["loses", "lost"], Says::Behind),
];

const SUPERLATIVES: &[(&[&str], Says)] = &[
    (
        &[
            "leads",
            "led",
            "leader",
            "record",
            "records",
            "fastest",
            "quickest",
            "best",
            "winner",
            "wins",
            "unbeaten",
            "unmatched",
            "unrivalled",
            "unrivaled",
            "unsurpassed",
            "champion",
            "1st",
            "supreme",
            "unequalled",
        ],
        Says::Best,
    ),
    (&["slowest", "worst"], Says::Worst),
    (&["highest", "biggest", "greatest"], Says::Highest),
    (&["lowest"], Says::Lowest),
];

const DEGREES: &[&str] = &[
    "clearly",
    "significantly",
    "substantially",
    "dramatically",
    "vastly",
    "easily",
    "considerably",
    "decisively",
    "massively",
    "hugely",
    "markedly",
    "handily",
    "overwhelmingly",
    "drastically",
    "tremendously",
];

const IDIOMS: &[(&[&str], Says)] = &[
    (&["comes", "last"], Says::Worst),
    (&["came", "last"], Says::Worst),
    (&["second", "to", "none"], Says::Degree),
    (&["comes", "close"], Says::Degree),
    (&["come", "close"], Says::Degree),
    (&["came", "close"], Says::Degree),
    (&["no", "match"], Says::Degree),
    (&["no", "rival"], Says::Degree),
    (&["no", "equal"], Says::Degree),
    (&["without", "equal"], Says::Degree),
    (&["without", "peer"], Says::Degree),
    (&["by", "far"], Says::Degree),
    (&["the", "lead"], Says::Degree),
    (&["equally", "fast"], Says::Degree),
    (&["equally", "good"], Says::Degree),
    (&["the", "edge"], Says::Degree),
    (&["head", "and", "shoulders"], Says::Degree),
    (&["class", "of", "its", "own"], Says::Degree),
];

/// Comparatives that say nothing of what they compare with.
const COMPARATIVES: &[&str] = &[
    "better", "worse", "faster", "slower", "quicker", "superior", "inferior", "stronger", "weaker",
];

const COPULAS: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "runs",
    "ran",
    "performs",
    "performed",
    "does",
    "did",
    "looks",
    "gets",
    "got",
    "remains",
];

/// Whether these words stand from an atom on.
fn reads(all: &[Atom], at: usize, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(n, word)| {
        all.get(at + n).is_some_and(|a| a.text == *word && (n == 0 || a.before.trim().is_empty()))
    })
}

/// Words that make a sentence say nothing of its own.
const OPEN: &[&str] = &[
    "not",
    "no",
    "never",
    "neither",
    "nor",
    "whether",
    "if",
    "cannot",
    "unclear",
    "would",
    "could",
    "might",
    "may",
    "should",
    "must",
    "claims",
    "claimed",
    "alleged",
    "allegedly",
    "said",
    "unless",
];

/// The comparing words of a sentence, which begins at `from` in its text.
pub(in crate::post) fn sayings(sentence: &str, from: usize) -> Vec<Saying> {
    let all = atoms(sentence);
    let mut out: Vec<(usize, usize, Says)> = Vec::new();
    for (i, atom) in all.iter().enumerate() {
        let next = all.get(i + 1);
        let joined = |n: &Atom| n.before.chars().all(char::is_whitespace);
        if let Some((words, says)) = IDIOMS.iter().find(|(words, _)| reads(&all, i, words)) {
            out.push((i, i + words.len() - 1, *says));
            continue;
        }
        // "is beaten by" turns it round.
        let passive = next.is_some_and(|n| n.is(&["by"]))
            && (atom.is(&["beaten"]) || PAIR[0].0.contains(&atom.text.as_str()))
            && i > 0
            && all[i - 1].is(COPULAS);
        if passive {
            out.push((i, i + 1, Says::Behind));
            continue;
        }
        if let Some((_, says)) = PAIR.iter().find(|(words, _)| atom.is(words)) {
            // "ties" and "matches" are nouns too, and so is a "beat"; a name must follow.
            out.push((i, i, *says));
            continue;
        }
        let linked = LINKED.iter().find(|(link, words, _)| {
            atom.is(words) && next.is_some_and(|n| n.text == *link && joined(n))
        });
        if let Some((_, _, says)) = linked {
            out.push((i, i + 1, *says));
            continue;
        }
        if atom.is(&["behind"])
            && next.is_some()
            && i > 0
            && !all[i - 1].is(&["left", "from", "stands", "results"])
        {
            out.push((i, i, Says::Behind));
            continue;
        }
        if atom.is(&["more", "less", "fewer"])
            && let Some(than) = (i + 1..(i + 5).min(all.len())).find(|j| all[*j].is(&["than"]))
            && all[i + 1..=than].iter().all(joined)
        {
            // "less time than" and "more work than"; a number that goes before was computed or is refused.
            let says = if atom.is(&["more"]) { Says::Higher } else { Says::Lower };
            out.push((i, than, says));
            continue;
        }
        if atom.is(&["as"])
            && all.get(i + 1).is_some_and(|n| n.is(&["fast", "quick", "good"]) && joined(n))
            && all.get(i + 2).is_some_and(|n| n.is(&["as"]))
            && !(i > 0
                && (all[i - 1].is(&["times"]) || atom.before.contains([COMPUTED, COMPARING])))
        {
            out.push((i, i + 2, Says::Same));
            continue;
        }
        let of_nothing = atom.is(COMPARATIVES)
            && i > 0
            && (all[i - 1].is(COPULAS) || i > 1 && all[i - 2].is(COPULAS))
            && !atom.before.contains([COMPUTED, COMPARING]);
        if of_nothing {
            out.push((i, i, Says::Degree));
            continue;
        }
        if let Some((_, says)) = SUPERLATIVES.iter().find(|(words, _)| atom.is(words)) {
            let idle = atom.is(&["best"])
                && next.is_some_and(|n| n.is(&["practice", "practices", "known", "way", "effort"]))
                || atom.is(&["records", "record"]) && next.is_some_and(|n| n.is(&["of"])) && i == 0
                || atom.is(&["led", "leads"]) && next.is_some_and(|n| n.is(&["to"]));
            if !idle {
                out.push((i, i, *says));
            }
            continue;
        }
        if atom.is(&["first", "top", "number"]) && is_first(&all, i) {
            out.push((i, i, Says::Best));
            continue;
        }
        if atom.is(DEGREES) {
            out.push((i, i, Says::Degree));
        }
    }
    out.into_iter()
        .map(|(a, b, says)| Saying {
            says,
            span: from + all[a].span.start..from + all[b].span.end,
            subject: from..from + all[a].span.start,
            other: from + all[b].span.end..from + sentence.len(),
        })
        .collect()
}

/// Words before a place.
const PLACED: &[&str] = &[
    "comes", "came", "is", "was", "ranks", "ranked", "placed", "places", "finishes", "finished",
    "stands", "stood", "takes", "took", "in",
];

/// `first` as a place: "comes first", "first place", "ranks first", "number one".
fn is_first(all: &[Atom], i: usize) -> bool {
    let before = i.checked_sub(1).map(|j| &all[j]);
    let next = all.get(i + 1);
    if all[i].is(&["number"]) {
        return next.is_some_and(|n| n.is(&["one", "1"]));
    }
    if all[i].is(&["top"]) {
        return next
            .is_some_and(|n| n.is(&["spot", "place", "performer", "result", "score", "system"]))
            || before.is_some_and(|b| b.is(&["on", "at"]));
    }
    next.is_some_and(|n| n.is(&["place", "of", "in", "among", "position"]))
        && before.is_some_and(|b| b.is(PLACED) || b.is(&["the", "a"]))
        || before.is_some_and(|b| b.is(PLACED))
            && next.is_none_or(|n| {
                n.is(&["with", "by", "at", "on", "before"]) || !n.before.trim().is_empty()
            })
}

/// Whether a sentence says nothing of its own: a question, a condition, somebody else's words, a denial.
pub(in crate::post) fn is_open(sentence: &str) -> bool {
    sentence.trim_end().ends_with('?')
        || atoms(sentence).iter().any(|a| a.is(OPEN) || a.text.ends_with("n't"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Vec<(Says, &str)> {
        sayings(text, 0).into_iter().map(|s| (s.says, &text[s.span])).collect()
    }

    #[test]
    fn comparing_words_are_found() {
        use Says::{Ahead, Behind, Best, Degree, Lower, Same};
        for (text, wanted) in [
            ("The Power 570 clearly beats the T5240.", vec![(Degree, "clearly"), (Ahead, "beats")]),
            ("A is ahead of B.", vec![(Ahead, "ahead of")]),
            ("A is faster than B.", vec![(Ahead, "faster than")]),
            ("A trails B.", vec![(Behind, "trails")]),
            ("A takes less time than B.", vec![(Lower, "less time than")]),
            ("A is as fast as B.", vec![(Same, "as fast as")]),
            ("A comes first.", vec![(Best, "first")]),
            ("A leads with 5.", vec![(Best, "leads")]),
            ("A holds the record.", vec![(Best, "record")]),
            ("Best practices", vec![]),
            ("In the first sample the disk is busy.", vec![]),
            ("It is \u{E003} than the other.", vec![]),
        ] {
            assert_eq!(stated(text), wanted, "{text}");
        }
    }
}
