//! Binds comparing words to results: the systems or treatments that a sentence names, in the metric that their results share.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use assay_model::{Better, Verdict};
use assay_rules::denominator::{Basis, Denominator, Entry};

use super::atoms::{Atom, atoms};
use super::words::{Saying, Says, is_open};
use crate::post::document::Input;

/// A result that the post holds, with the words that name it.
#[derive(Debug, Clone)]
pub(in crate::post) struct Held {
    /// Everything that names its system, its software, its setting.
    pub(in crate::post) words: BTreeSet<String>,
    pub(in crate::post) system: String,
    /// The words of the system's own name.
    pub(in crate::post) system_words: BTreeSet<String>,
    /// What it answers: benchmark, metric, member, unit.
    pub(in crate::post) question: String,
    /// The words of the metric's own name.
    pub(in crate::post) metric: BTreeSet<String>,
    pub(in crate::post) entry: Entry,
    /// The quoted result's id.
    pub(in crate::post) id: Option<String>,
    /// Of a treatment of a run: how its run compares it.
    pub(in crate::post) measured: Option<Measured>,
}

/// A treatment of a run, whose comparisons have intervals: its values alone order nothing.
#[derive(Debug, Clone)]
pub(in crate::post) struct Measured {
    pub(in crate::post) treatment: u32,
    /// Its levels, as `factor=level`.
    pub(in crate::post) levels: Vec<String>,
    /// The words of its levels' values.
    pub(in crate::post) values: BTreeSet<String>,
    /// The words of the run's other metrics.
    pub(in crate::post) other_metrics: BTreeSet<String>,
    /// The verdict on this treatment against others, by their ids.
    pub(in crate::post) verdicts: BTreeMap<u32, Verdict>,
}

impl Held {
    /// Whether a value that a number was computed from is this result's.
    pub(in crate::post) fn is_of(&self, input: &Input) -> bool {
        match &self.id {
            Some(id) => input.result.as_ref() == Some(id),
            None => input.label.ends_with(&format!(" of {}", self.entry.label)),
        }
    }

    /// The verdict of the run on this treatment against another of which one level alone differs.
    fn against(&self, other: &Held) -> Option<Verdict> {
        let (own, other) = (self.measured.as_ref()?, other.measured.as_ref()?);
        let differing = own.levels.iter().filter(|l| !other.levels.contains(l)).count();
        own.verdicts.get(&other.treatment).copied().filter(|_| differing == 1)
    }
}

/// Words of quantities that runs may lack as metrics and sentences compare all the same.
const QUANTITIES: &[&str] = &[
    "memory",
    "cpu",
    "power",
    "energy",
    "size",
    "compression",
    "latency",
    "throughput",
    "watts",
    "price",
];

/// Whether a sentence may speak of another metric than the deciding one of a run.
fn other_quantity(words: &[Atom], one: &Held) -> bool {
    let Some(measured) = &one.measured else { return false };
    words.iter().any(|w| {
        !one.metric.contains(&w.text)
            && (w.is(QUANTITIES) || measured.other_metrics.contains(&w.text))
    })
}

/// Where a sentence names a system or treatment beside another and prints no number of it: the words that name it.
/// `computed` are the results that its numbers are of; `None`: it has none.
pub(in crate::post) fn set_beside(
    sentence: &str,
    held: &[Held],
    computed: Option<&BTreeSet<usize>>,
) -> Option<Range<usize>> {
    let mut all: Vec<(Vec<usize>, Range<usize>)> = Vec::new();
    for atom in atoms(sentence) {
        let names = |h: &Held| match &h.measured {
            Some(m) => m.values.contains(&atom.text),
            None => (atom.capital || atom.has_digit()) && h.system_words.contains(&atom.text),
        };
        let named: Vec<usize> = (0..held.len()).filter(|i| names(&held[*i])).collect();
        if atom.text.len() < 2 || named.is_empty() || named.len() == held.len() {
            continue;
        }
        match all.iter_mut().find(|(known, _)| named.iter().any(|i| known.contains(i))) {
            // "Sun" may mean several, "Sun T5240" is one of them.
            Some((known, _)) => known.retain(|i| named.contains(i)),
            None => all.push((named, atom.span)),
        }
    }
    if all.len() < 2 {
        return None;
    }
    let is_computed = |i: &usize| computed.is_some_and(|c| c.contains(i));
    let mut open = all.into_iter().skip(usize::from(computed.is_none()));
    open.find(|(named, _)| !named.iter().any(is_computed)).map(|(_, span)| span)
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
        let level =
            held.iter().any(|h| h.measured.as_ref().is_some_and(|m| m.values.contains(&w.text)));
        if !(w.capital || w.has_digit() || level) || w.text.len() < 2 && !level {
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
    let words = atoms(sentence);
    let mut undecided = false;
    for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (*x, *y))) {
        if x.question != y.question || x.entry == y.entry || other_metric(sentence, held, x) {
            continue;
        }
        if a.iter().any(|h| h.entry == y.entry) && b.iter().any(|h| h.entry == x.entry) {
            continue;
        }
        if x.measured.is_some() {
            let verdict =
                x.against(y).filter(|_| basis == Basis::Total && !other_quantity(&words, x));
            let holds = match (says, verdict) {
                (
                    Says::Ahead,
                    Some(v @ (Verdict::Better | Verdict::Worse | Verdict::Equivalent)),
                ) => v == Verdict::Better,
                (
                    Says::Behind,
                    Some(v @ (Verdict::Better | Verdict::Worse | Verdict::Equivalent)),
                ) => v == Verdict::Worse,
                (
                    Says::Same,
                    Some(v @ (Verdict::Better | Verdict::Worse | Verdict::Equivalent)),
                ) => v == Verdict::Equivalent,
                _ => {
                    undecided |= verdict.is_some();
                    continue;
                }
            };
            judged.push((holds, stated(x, y, basis)));
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
    if judged.is_empty() && undecided {
        return Bound::Open("the interval does not separate the sides");
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
        if all[0].measured.is_some() {
            judged.extend(best_measured(&own, &all, says, sentence, basis));
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

/// Whether a treatment is best or worst of its run, where the intervals tell it apart from all others; that it is not
/// where one of them is clearly on the other side.
fn best_measured(
    own: &[&Held],
    all: &[&Held],
    says: Says,
    sentence: &str,
    basis: Basis,
) -> Option<(bool, String)> {
    let mine = all.iter().find(|h| own.iter().any(|o| o.entry == h.entry))?;
    let (wanted, opposite) = match says {
        Says::Best => (Verdict::Better, Verdict::Worse),
        Says::Worst => (Verdict::Worse, Verdict::Better),
        _ => return None,
    };
    if basis != Basis::Total || other_quantity(&atoms(sentence), mine) {
        return None;
    }
    let others = || all.iter().filter(|h| h.entry != mine.entry);
    if let Some(other) = others().find(|o| mine.against(o) == Some(opposite)) {
        return Some((false, stated(mine, other, basis)));
    }
    others().all(|o| mine.against(o) == Some(wanted)).then(|| (true, stated(mine, mine, basis)))
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
