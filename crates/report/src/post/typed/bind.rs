//! Binds comparing words to results: the systems that a sentence names, in the metric that their results share.

use std::collections::BTreeSet;

use assay_model::Better;
use assay_rules::denominator::{Basis, Denominator, Entry};

use super::atoms::atoms;
use super::words::{Saying, Says, is_open};

/// A result that the post holds, with the words that name it.
#[derive(Debug, Clone)]
pub(in crate::post) struct Held {
    /// Everything that names its system, its software, its setting.
    pub(in crate::post) words: BTreeSet<String>,
    pub(in crate::post) system: String,
    /// What it answers: benchmark, metric, member, unit.
    pub(in crate::post) question: String,
    /// The words of the metric's own name.
    pub(in crate::post) metric: BTreeSet<String>,
    pub(in crate::post) entry: Entry,
}

/// What the results say of a comparing word.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::post) enum Bound {
    /// They agree.
    Holds(String),
    /// They say the opposite.
    Contradicted(String),
    /// They do not decide it, and why.
    Open(&'static str),
}

/// What the results say of one comparing word of a sentence.
pub(in crate::post) fn judge(text: &str, sentence: &str, saying: &Saying, held: &[Held]) -> Bound {
    if is_open(sentence) {
        return Bound::Open("the sentence asks, denies or supposes");
    }
    let subject = clause(&text[saying.subject.clone()], true);
    let other = clause(&text[saying.other.clone()], false);
    let basis = basis(sentence);
    match saying.says {
        Says::Degree => Bound::Open("it does not state with what, or how clear it is"),
        Says::Best | Says::Worst | Says::Highest | Says::Lowest => {
            best(subject, other, sentence, saying.says, held, basis)
        }
        Says::Ahead if named(other, sentence, held).is_none() && of_all(other) => {
            best(subject, other, sentence, Says::Best, held, basis)
        }
        _ => pair(subject, other, sentence, saying.says, held, basis),
    }
}

/// Whether words mean all the others: `all others`, `everything`, `the table`.
fn of_all(side: &str) -> bool {
    const ALL: &[&str] = &[
        "all",
        "every",
        "everyone",
        "everything",
        "any",
        "anything",
        "others",
        "rest",
        "competition",
        "table",
        "field",
    ];
    atoms(side).iter().take(4).any(|a| a.is(ALL))
}

/// The part of a sentence that belongs to a word: up to a semicolon, a colon or a conjunction.
fn clause(side: &str, before: bool) -> &str {
    const EDGES: [&str; 8] =
        ["; ", ": ", " but ", " while ", " whereas ", " although ", ", and ", " which "];
    if before {
        EDGES
            .iter()
            .filter_map(|e| side.rfind(e).map(|at| at + e.len()))
            .max()
            .map_or(side, |at| &side[at..])
    } else {
        EDGES.iter().filter_map(|e| side.find(e)).min().map_or(side, |at| &side[..at])
    }
}

/// The results that words name; `None` where they name nothing or something that no result knows.
fn named<'a>(side: &str, sentence: &str, held: &'a [Held]) -> Option<Vec<&'a Held>> {
    let words = atoms(side);
    let begins = sentence.trim_start();
    let mut wanted: Vec<&str> = Vec::new();
    for (i, w) in words.iter().enumerate() {
        let first = i == 0 && !w.has_digit() && begins.starts_with(&side[w.span.clone()]);
        if !(w.capital || w.has_digit()) || w.text.len() < 2 {
            continue;
        }
        if held.iter().any(|h| h.words.contains(&w.text)) {
            wanted.push(&w.text);
        } else if !first
            && !held.iter().any(|h| h.metric.contains(&w.text))
            && !w.bare()
            && !is_plain(&w.text)
        {
            return None;
        }
    }
    if wanted.is_empty() {
        return None;
    }
    let fits = |h: &&Held| wanted.iter().all(|w| h.words.contains(*w));
    let all: Vec<&Held> = held.iter().filter(fits).collect();
    (!all.is_empty() && all.len() < held.len()).then_some(all)
}

/// Words with a capital letter that name nothing.
fn is_plain(word: &str) -> bool {
    [
        "the", "an", "in", "on", "by", "with", "against", "under", "of", "here", "it", "so", "and",
        "ibm", "sun",
    ]
    .contains(&word)
}

/// Whether the sentence names another metric than this result's.
fn other_metric(sentence: &str, held: &[Held], one: &Held) -> bool {
    let words = atoms(sentence);
    let says = |m: &BTreeSet<String>| words.iter().any(|w| w.has_digit() && m.contains(&w.text));
    !says(&one.metric) && held.iter().any(|h| says(&h.metric))
}

fn value(one: &Held, basis: Basis) -> Option<f64> {
    one.entry.quantity(basis).map(|q| q.value)
}

fn pair(
    subject: &str,
    other: &str,
    sentence: &str,
    says: Says,
    held: &[Held],
    basis: Basis,
) -> Bound {
    let (Some(a), Some(b)) = (named(subject, sentence, held), named(other, sentence, held)) else {
        return Bound::Open("the results of the post do not show what is compared");
    };
    let mut judged: Vec<(bool, String)> = Vec::new();
    for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (*x, *y))) {
        if x.question != y.question || x.entry == y.entry || other_metric(sentence, held, x) {
            continue;
        }
        if a.iter().any(|h| h.entry == y.entry) && b.iter().any(|h| h.entry == x.entry) {
            continue;
        }
        let (Some(vx), Some(vy)) = (value(x, basis), value(y, basis)) else { continue };
        let better = match x.entry.better {
            Better::Lower => vx < vy,
            Better::Neither if matches!(says, Says::Ahead | Says::Behind) => continue,
            Better::Higher | Better::Neither => vx > vy,
        };
        let holds = match says {
            Says::Ahead => better,
            Says::Behind => !better && vx != vy,
            Says::Higher => vx > vy,
            Says::Lower => vx < vy,
            _ => (vx / vy - 1.0).abs() <= 0.02,
        };
        judged.push((holds, stated(x, y, basis)));
    }
    settled(&judged)
}

fn best(
    subject: &str,
    other: &str,
    sentence: &str,
    says: Says,
    held: &[Held],
    basis: Basis,
) -> Bound {
    let subject = named(subject, sentence, held).or_else(|| named(other, sentence, held));
    let Some(own) = subject else {
        return Bound::Open("the results of the post do not show what it refers to");
    };
    let lower = sentence.to_lowercase();
    let narrowed =
        ["among", "class", "of its", "of their", "of those", "for a", "within", "of the day"]
            .iter()
            .any(|w| lower.contains(w))
            && !lower.contains("among all");
    let mut judged: Vec<(bool, String)> = Vec::new();
    let questions: BTreeSet<&str> = own.iter().map(|h| h.question.as_str()).collect();
    for question in questions {
        let mut all: Vec<&Held> = held
            .iter()
            .filter(|h| h.question == question && h.entry.better != Better::Neither)
            .filter(|h| value(h, basis).is_some() && !other_metric(sentence, held, h))
            .collect();
        if all.iter().map(|h| &h.system).collect::<BTreeSet<_>>().len() < 2 {
            continue;
        }
        let highest = all[0].entry.better == Better::Higher;
        // Whether the smallest value is what the word means.
        let least = match says {
            Says::Worst => highest,
            Says::Highest => false,
            Says::Lowest => true,
            _ => !highest,
        };
        all.sort_by(|x, y| {
            let (x, y) = (value(x, basis).unwrap_or(0.0), value(y, basis).unwrap_or(0.0));
            if least { x.total_cmp(&y) } else { y.total_cmp(&x) }
        });
        let mine = all.iter().find(|h| own.iter().any(|o| o.entry == h.entry));
        if let Some(mine) = mine {
            judged.push((value(mine, basis) == value(all[0], basis), stated(mine, all[0], basis)));
        }
    }
    match settled(&judged) {
        Bound::Contradicted(_) if narrowed => {
            Bound::Open("the sentence speaks of a part of the results")
        }
        other => other,
    }
}

/// What all pairs say, where they agree.
fn settled(judged: &[(bool, String)]) -> Bound {
    let Some((first, words)) = judged.first().cloned() else {
        return Bound::Open("no results of one metric decide it");
    };
    if judged.iter().any(|(holds, _)| *holds != first) {
        return Bound::Open("the results of the post show both");
    }
    if first { Bound::Holds(words) } else { Bound::Contradicted(words) }
}

fn stated(x: &Held, y: &Held, basis: Basis) -> String {
    let one = |h: &Held| {
        let q = h.entry.quantity(basis).unwrap_or_else(|| h.entry.value.clone());
        format!("{} has {} {}", h.entry.label, q.text(), q.unit).trim_end().to_owned()
    };
    if x.entry == y.entry { one(x) } else { format!("{}, {}", one(x), one(y)) }
}

/// By what a sentence divides.
fn basis(sentence: &str) -> Basis {
    let lower = sentence.to_lowercase();
    let says = |unit: &str| {
        ["per ", "for each ", "a single ", "by the "]
            .iter()
            .any(|p| lower.contains(&format!("{p}{unit}")))
    };
    [
        ("core", Denominator::Core),
        ("chip", Denominator::Chip),
        ("socket", Denominator::Chip),
        ("thread", Denominator::Thread),
        ("watt", Denominator::Watt),
        ("rack unit", Denominator::RackUnit),
    ]
    .into_iter()
    .find(|(word, _)| says(word))
    .map_or(Basis::Total, |(_, d)| Basis::Per(d))
}
