//! The amounts that the prose states, and which two of them belong together.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::book::Place;
use super::say::{Say, What};
use super::spoken::Spoken;
use super::words::{self, Bag};
use crate::evidence::amount::{Amount, Dimension};
use crate::evidence::name::{is_plain, stem};
use crate::read::token::Token;

/// An amount that prose states.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub sentence: usize,
    pub at: usize,
    pub amount: Amount,
    /// A small number without a unit or a noun.
    pub bare: bool,
    /// The words of its clause, and those of them that tell something.
    pub words: Bag,
    pub telling: Vec<Rc<str>>,
    /// What is counted.
    pub noun: Option<String>,
}

impl Fact {
    pub(super) fn place(&self) -> Place {
        Place::Prose { sentence: self.sentence, at: self.at }
    }
}

/// Whether a word of a clause or of a title tells anything.
pub(super) fn tells(word: &str) -> bool {
    word.len() > 2 && !is_plain(word)
}

/// The amounts that sentences state, in their order.
pub(super) fn facts(tokens: &[Vec<Token>], spoken: &[Vec<Spoken>], says: &[Vec<Say>]) -> Vec<Fact> {
    let mut found = Vec::new();
    for (sentence, says) in says.iter().enumerate() {
        for say in says {
            let t = &tokens[sentence];
            let paid = say.own.start > 0 && t[say.own.start - 1].is_currency();
            // "saves $1,944" is an amount, too, of which more may be said.
            let stated = match say.what {
                What::Value(amount) => Some(amount),
                What::Delta(amount) if paid => Some(amount),
                _ => None,
            };
            if let Some(amount) = stated {
                let bare = amount.dimension() == Dimension::Plain && amount.value < 100.0;
                let noun = t.get(say.own.end).is_some_and(Token::is_word);
                let family = say.own.start > 0
                    && t[say.own.start - 1].is_word()
                    && t[say.own.start - 1].capital;
                // "the 1.6 GHz Z5440" says which one.
                let part = t[say.own.start..t.len().min(say.own.end + 1)]
                    .iter()
                    .any(|t| words::is_part(&t.lower));
                if bare && (family || part) {
                    continue;
                }
                let bare = bare && !noun && !paid;
                let words =
                    words::bag(&t[say.clause.clone()], &spoken[sentence][say.clause.clone()]);
                let telling = words.keys().filter(|w| tells(w));
                let telling = telling.cloned().collect();
                let first = says.iter().find(|s| s.own.start == say.own.start);
                let end = first.map_or(say.own.end, |s| s.own.end);
                let noun = t.get(end).map(|t| stem(&t.lower)).filter(|w| w.len() > 2);
                let at = say.own.start;
                found.push(Fact { sentence, at, amount, bare, words, telling, noun });
            }
        }
    }
    found
}

/// Two amounts that belong together wherever they stand: which facts, and the words that tell. Of clauses that say the
/// same of two things, "the median request took 31 ms" and, further down, "the median request took 24 ms", or of one that
/// gives both.
pub(crate) struct Twin {
    pub facts: (usize, usize),
    pub words: Vec<Rc<str>>,
    /// So many of the words must be spoken of.
    pub least: usize,
}

/// Amounts beyond these have no twins.
const MAX_FACTS: usize = 150;
/// With so many an amount has one among them that is compared with it.
const MAX_TWINS: usize = 6;

pub(super) fn twins(facts: &[Fact]) -> Vec<Twin> {
    let mut found = Vec::new();
    for (j, y) in facts.iter().enumerate().take(MAX_FACTS) {
        for (i, x) in facts[..j].iter().enumerate() {
            if x.bare
                || y.bare
                || x.sentence == y.sentence
                || !x.amount.dimension().fits(y.amount.dimension())
            {
                continue;
            }
            let both: Vec<Rc<str>> =
                x.telling.iter().filter(|w| y.words.contains_key(*w)).cloned().collect();
            let fewest = x.telling.len().min(y.telling.len());
            if both.len() >= 2 && both.len() * 5 >= fewest * 3 {
                found.push(Twin { facts: (i, j), words: both, least: 1 });
            }
        }
    }
    // What is said again and again is no pair.
    let mut count = vec![0; facts.len().min(MAX_FACTS)];
    for (i, j) in found.iter().map(|t| t.facts) {
        count[i] += 1;
        count[j] += 1;
    }
    found.retain(|t| count[t.facts.0].max(count[t.facts.1]) <= MAX_TWINS);
    found
}

/// Two amounts that the prose gives in one breath, "the number of files went from 2,100 to 16": what is said of them may
/// stand much further down.
pub(super) fn told(says: &[Vec<Say>], facts: &[Fact], least: usize) -> Vec<Twin> {
    let place = |sentence: usize, at: usize| {
        facts.binary_search_by_key(&(sentence, at), |f| (f.sentence, f.at)).ok()
    };
    let pairs = says.iter().enumerate().flat_map(|(sentence, own)| {
        own.iter().filter(|s| matches!(s.what, What::Two(..))).filter_map(move |two| {
            let last = own
                .iter()
                .find(|s| s.own.end == two.own.end && matches!(s.what, What::Value(_)))?;
            let (x, y) = (place(sentence, two.own.start)?, place(sentence, last.own.start)?);
            let words: BTreeSet<&Rc<str>> =
                facts[x].telling.iter().chain(&facts[y].telling).collect();
            Some(Twin { facts: (x, y), words: words.into_iter().cloned().collect(), least })
        })
    });
    let mut found: Vec<Twin> = pairs.take(MAX_FACTS).collect();
    // A word of many of them tells none.
    let mut count: BTreeMap<Rc<str>, usize> = BTreeMap::new();
    for word in found.iter().flat_map(|t| &t.words) {
        *count.entry(word.clone()).or_default() += 1;
    }
    for twin in &mut found {
        twin.words.retain(|w| count.get(w).is_none_or(|n| *n <= MAX_TWINS));
    }
    found
}
