//! Names: the rows and columns of a table as they are called in a sentence. A name is distinguished
//! from the others of its axis by the words that these do not have.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use crate::read::token::Token;

/// The rows or the columns of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Axis {
    pub names: Vec<Name>,
    /// In how many of the names a word is.
    common: BTreeMap<String, usize>,
}

/// What a row or column is called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Name {
    pub text: String,
    pub words: Vec<String>,
    pub kind: Kind,
}

/// A name in a sentence: its tokens, and which rows or columns it may be.
#[derive(Debug, Clone)]
pub(crate) struct Mention {
    pub start: usize,
    pub end: usize,
    pub who: Vec<usize>,
    /// All words of the name that tell it from the others are there.
    pub whole: bool,
    /// Less than half of the words that no other name has are there, and not the first: another thing may be meant.
    pub slight: bool,
}

impl Mention {
    pub(crate) fn only(&self) -> Option<usize> {
        match self.who.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }
}

/// Words that name nothing by themselves.
const PLAIN: [&str; 77] = [
    "a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "with", "without", "and", "or",
    "is", "are", "was", "were", "be", "it", "its", "this", "that", "as", "than", "over", "vs",
    "more", "less", "better", "faster", "slower", "higher", "lower", "result", "from", "up",
    "down", "about", "one", "two", "three", "has", "had", "have", "also", "only", "both", "each",
    "when", "while", "but", "not", "no", "we", "our", "per", "time", "times", "best", "worst",
    "most", "least", "all", "average", "mean", "total", "used", "uses", "now", "so", "if", "same",
    "s", "new", "change", "run",
];

/// Whether a word names nothing by itself.
pub(crate) fn is_plain(word: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| PLAIN.into());
    SET.contains(word)
}

/// One form for the endings of a word.
pub(crate) fn stem(lower: &str) -> String {
    let lower = lower
        .strip_prefix('v')
        .filter(|r| r.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(lower);
    let lower =
        lower.strip_prefix("benchmark").filter(|r| r.len() > 1 && *r != "s").unwrap_or(lower);
    let lower = match lower {
        "maximum" => "max",
        "minimum" => "min",
        _ => lower,
    };
    if lower.len() <= 4 || lower.bytes().any(|b| b.is_ascii_digit()) || !lower.is_ascii() {
        let plural = lower.len() == 4
            && lower.ends_with('s')
            && !lower.ends_with("ss")
            && lower.is_ascii()
            && !lower.bytes().any(|b| b.is_ascii_digit());
        return if plural { lower[..3].to_owned() } else { lower.to_owned() };
    }
    if let Some(head) = lower.strip_suffix("ies") {
        return format!("{head}y");
    }
    for ending in ["ions", "ings", "ing", "ion", "ed", "es", "s", "e"] {
        if let Some(head) = lower.strip_suffix(ending)
            && head.len() >= 3
            && !(ending == "s" && head.ends_with('s'))
        {
            return head.trim_end_matches('e').to_owned();
        }
    }
    lower.to_owned()
}

/// So many letters make the beginning of a word that word.
const RELATED: usize = 5;

/// Whether two stems are of one word: "resum" of "resumes" and "resumpt" of "resumptions".
pub(crate) fn related(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    a == b
        || short.len() >= RELATED
            && long.len() <= short.len() + 4
            && long.starts_with(short)
            && long.bytes().all(|c| c.is_ascii_alphabetic())
}

/// What a name says of the metric of its values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kind {
    pub price: bool,
    pub size: bool,
    /// Of sizes, shares and counts, which are no speeds.
    pub sized: bool,
}

impl Kind {
    fn of(name: &str) -> Kind {
        let lower = name.to_lowercase();
        let has = |set: &[&str]| set.iter().any(|w| lower.contains(w));
        let size = has(&["memory", "rss", "size", "ram", "alloc", "disk", "space"]);
        let sized = size
            || has(&[
                "power", "watt", "core", "thread", "version", "cpu", "cost", "price", "recall",
                "accuracy", "ratio",
            ]);
        Kind { price: has(&["price", "cost", "$", "€", "£"]), size, sized }
    }
}

impl std::ops::BitOrAssign for Kind {
    fn bitor_assign(&mut self, other: Kind) {
        self.price |= other.price;
        self.size |= other.size;
        self.sized |= other.sized;
    }
}

/// The words of a name.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '+' | '#')))
        .map(|w| w.trim_matches('.'))
        .filter(|w| !w.is_empty() && *w != "+" && *w != "#")
        .map(stem)
        .collect()
}

impl Axis {
    pub(crate) fn new(texts: &[String]) -> Axis {
        let names: Vec<Name> = texts
            .iter()
            .map(|t| Name { text: t.trim().to_owned(), words: words(t), kind: Kind::of(t) })
            .collect();
        let mut common: BTreeMap<String, usize> = BTreeMap::new();
        for name in &names {
            let mut own = name.words.clone();
            own.sort();
            own.dedup();
            for word in own {
                *common.entry(word).or_default() += 1;
            }
        }
        Axis { names, common }
    }

    /// How much a word tells: nothing if all names have it.
    pub(crate) fn weight(&self, word: &str) -> f64 {
        let n = self.names.len() as f64;
        match self.common.get(word) {
            Some(count) if (*count as f64) < n || n == 1.0 => 1.0 + (n / *count as f64).ln(),
            _ => 0.0,
        }
    }

    /// Whether any name has the word, in whatever form.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.common.contains_key(word)
            || word.len() >= RELATED && self.common.keys().any(|w| related(w, word))
    }

    /// The names in a sentence. `pieces` are the words of each token; `context` all words around,
    /// which tell apart what the name alone leaves open.
    pub(crate) fn mentions(&self, tokens: &[Token], pieces: &[Vec<String>]) -> Vec<Mention> {
        let mut found = Vec::new();
        if self.names.len() > 400 {
            return found;
        }
        let known = |i: usize| {
            let own = &pieces[i];
            // "price/performance" is not "Total price".
            if tokens[i].lower.contains('/') && !own.iter().all(|p| is_plain(p) || self.knows(p)) {
                return false;
            }
            own.iter().any(|p| self.common.contains_key(p) && (own.len() == 1 || !is_plain(p)))
        };
        let mut i = 0;
        while i < tokens.len() {
            if !known(i) || !starts(tokens, pieces, i, self) {
                i += 1;
                continue;
            }
            let mut who: Vec<usize> =
                (0..self.names.len()).filter(|n| has(&self.names[*n], &pieces[i])).collect();
            let mut end = i + 1;
            let mut last = i + 1;
            while end < tokens.len() && end < i + 12 {
                let joins = matches!(
                    tokens[end].kind,
                    crate::read::token::Kind::Mark('/' | '`' | '-' | '(' | '_' | '.')
                );
                if joins && end == last {
                    end += 1;
                    continue;
                }
                if !known(end) {
                    break;
                }
                let narrower: Vec<usize> =
                    who.iter().copied().filter(|n| has(&self.names[*n], &pieces[end])).collect();
                if narrower.is_empty() {
                    break;
                }
                who = narrower;
                end += 1;
                last = end;
            }
            let own: Vec<&String> = pieces[i..last].iter().flatten().collect();
            let score: f64 = own.iter().map(|w| self.weight(w)).sum();
            let noun = match own.as_slice() {
                [one] => self.is_called(one) || self.is_letter(tokens, i),
                _ => false,
            };
            if score > 0.0 && (noun || !own.iter().all(|w| is_plain(w))) {
                // "with 3.14" is "3.14" before "3.14 with tail calls".
                let more = own.iter().any(|w| !is_plain(w));
                if more && pieces[i].iter().all(|p| is_plain(p)) {
                    let told = |n: &Name| own.iter().all(|w| is_plain(w) || n.words.contains(*w));
                    who = (0..self.names.len()).filter(|n| told(&self.names[*n])).collect();
                }
                self.narrow(&mut who, &own);
                let whole = who.len() == 1
                    && self.names[who[0]]
                        .words
                        .iter()
                        .all(|w| own.contains(&w) || self.weight(w) == 0.0 || is_plain(w));
                // "tiny 3" is not the row "tiny 2".
                let other = !whole
                    && tokens.get(last).is_some_and(|t| {
                        t.number().is_some_and(|n| n.unit.is_none())
                            && t.lower.bytes().all(|b| b.is_ascii_digit() || b == b'.')
                            && who.iter().all(|w| self.numbered(*w, &own))
                    })
                    && !tokens.get(last + 1).is_some_and(|t| {
                        matches!(t.lower.as_str(), "times" | "x" | "percent")
                            || t.is_mark('%')
                            || t.is_mark('×')
                            || super::amount::measure(&t.lower).is_some()
                    });
                // "622 ms" names no column of milliseconds.
                let unit = i > 0
                    && tokens[i - 1].number().is_some()
                    && (last == i + 1 && is_unit(&tokens[i].lower)
                        || who.len() > 1 && who.iter().all(|w| self.numbered(*w, &own)));
                if !other && !unit {
                    let slight = !whole && who.len() == 1 && self.is_slight(who[0], &own);
                    found.push(Mention { start: i, end: last, who, whole, slight });
                }
            }
            i = last;
        }
        self.by_context(pieces, &mut found);
        // "Incremental builds" is the column "Incremental", not "Clean build".
        let whole: Vec<(usize, usize)> =
            found.iter().filter(|m| m.whole).map(|m| (m.start, m.end)).collect();
        let touches = |m: &Mention| whole.iter().any(|(s, e)| m.start == *e || m.end == *s);
        found.retain(|m| m.whole || !touches(m));
        found
    }

    /// Whether a word of everyday speech is all that a name says beside its unit: the column "Total (s)".
    fn is_called(&self, word: &str) -> bool {
        let unit = |w: &String| is_plain(w) || super::amount::measure(w).is_some();
        word == "total"
            && self.names.iter().any(|n| {
                n.words.iter().any(|w| w == word) && n.words.iter().all(|w| w == word || unit(w))
            })
    }

    /// Whether a capital stands behind a word, "workload A", where names begin with letters.
    fn is_letter(&self, tokens: &[Token], i: usize) -> bool {
        let letter = |n: &Name| n.words.first().is_some_and(|w| w.chars().count() == 1);
        tokens[i].capital
            && tokens[i].lower.chars().count() == 1
            && i > 0
            && tokens[i - 1].is_word()
            && self.names.iter().filter(|n| letter(n)).count() > 1
    }

    fn is_slight(&self, n: usize, own: &[&String]) -> bool {
        let words = &self.names[n].words;
        let telling: Vec<&String> = words
            .iter()
            .filter(|w| {
                self.common.get(*w) == Some(&1)
                    && !is_plain(w)
                    && super::amount::measure(w).is_none()
            })
            .collect();
        let there = telling.iter().filter(|w| own.contains(w)).count();
        telling.len() > 2
            && there * 2 < telling.len()
            && !words.first().is_some_and(|w| own.contains(&w))
    }

    /// Whether a name has a number of its own that a mention leaves out.
    fn numbered(&self, n: usize, own: &[&String]) -> bool {
        let digits = |w: &String| w.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        self.names[n].words.iter().any(|w| !own.contains(&w) && digits(w))
    }

    /// Of several names with all the words those that lack the fewest: "Frost 7" is not "Frost 7
    /// Ti".
    fn narrow(&self, who: &mut Vec<usize>, own: &[&String]) {
        // A unit or a word of everyday speech tells no name from another.
        let tells = |w: &String| {
            self.weight(w) > 0.0 && !is_plain(w) && super::amount::measure(w).is_none()
        };
        let lacks =
            |n: usize| self.names[n].words.iter().filter(|w| !own.contains(w) && tells(w)).count();
        let complete: Vec<usize> = who.iter().copied().filter(|n| lacks(*n) == 0).collect();
        if !complete.is_empty() {
            *who = complete;
        }
    }

    /// What a mention leaves open is decided by the other words of the sentence that names have.
    fn by_context(&self, pieces: &[Vec<String>], found: &mut [Mention]) {
        if found.iter().all(|m| m.who.len() == 1) {
            return;
        }
        // "less than before" does not say which of two states is meant elsewhere.
        let state = |w: &String| matches!(w.as_str(), "befor" | "after" | "old" | "earlier");
        let around: Vec<&String> =
            pieces.iter().flatten().filter(|w| !is_plain(w) && !state(w)).collect();
        for mention in found.iter_mut().filter(|m| m.who.len() > 1) {
            let own: Vec<&String> = pieces[mention.start..mention.end].iter().flatten().collect();
            let score = |n: usize| {
                self.names[n]
                    .words
                    .iter()
                    .filter(|w| !own.contains(w) && around.contains(w))
                    .count() as i64
            };
            let best = mention.who.iter().map(|n| score(*n)).max().unwrap_or(0);
            if best > 0 {
                mention.who.retain(|n| score(*n) == best);
            }
        }
    }
}

/// Whether a word is a unit and no noun that is counted ("4,850 sessions").
fn is_unit(lower: &str) -> bool {
    super::amount::measure(lower).is_some_and(|m| m.dimension != super::amount::Dimension::Count)
}

fn has(name: &Name, pieces: &[String]) -> bool {
    // The "s" of "linked's" is no word of a name.
    pieces.iter().any(|p| name.words.contains(p) && (pieces.len() == 1 || !is_plain(p)))
}

/// Whether a name can begin at a token: a word that is none of everyday speech, or one that the next
/// word of the same name follows; a number only if it is like a version.
fn starts(tokens: &[Token], pieces: &[Vec<String>], i: usize, axis: &Axis) -> bool {
    let token = &tokens[i];
    // "9950X" is a name where a row has it, not so many times.
    let model = token.lower.len() >= 4
        && !token.lower.contains('.')
        && token.lower.ends_with(|c: char| c.is_ascii_alphabetic())
        && pieces[i].iter().all(|p| axis.common.contains_key(p));
    if model && token.number().is_some() {
        return true;
    }
    // "12 MP" where a column is called so, "8 threads" or "64 KB" where a row is.
    let both = |n: &Name| {
        has(n, &pieces[i])
            && tokens.get(i + 1).is_some_and(Token::is_word)
            && pieces[i + 1].iter().any(|w| !is_plain(w) && n.words.contains(w))
    };
    if token.number().is_some() && axis.names.iter().any(both) {
        return true;
    }
    if token.quantity().is_some_and(|n| n.unit.is_some()) {
        return false;
    }
    if token.number().is_some() {
        let version = token.lower.contains('.') && token.number().is_some_and(|n| n.unit.is_none());
        let named =
            if i > 0 { tokens[i - 1].is_word() } else { tokens.get(1).is_some_and(Token::is_word) };
        return version && named;
    }
    let letter = token.lower.chars().count() == 1 && token.is_word();
    if letter {
        // "-j 4"
        let option = i > 0 && tokens[i - 1].is_mark('-');
        return option || token.capital && (i > 0 || token.lower != "a");
    }
    if pieces[i].iter().all(|p| is_plain(p)) {
        if pieces[i].iter().any(|p| axis.is_called(p)) {
            return true;
        }
        let together =
            |n: &Name| has(n, &pieces[i]) && pieces.get(i + 1).is_some_and(|p| has(n, p));
        return axis.names.iter().any(together)
            && pieces.get(i + 1).is_some_and(|p| p.iter().any(|w| !is_plain(w)));
    }
    token.is_word()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::Span;
    use crate::read::token::tokens;

    fn named(names: &[&str], text: &str) -> Vec<Vec<usize>> {
        let axis = Axis::new(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        let tokens = tokens(text, Span::new(0, text.len()));
        let pieces: Vec<Vec<String>> = tokens.iter().map(|t| words(&t.lower)).collect();
        axis.mentions(&tokens, &pieces).into_iter().map(|m| m.who).collect()
    }

    #[test]
    fn a_name_is_distinguished_from_a_longer_one() {
        let names = ["Ember 8 XT", "Frost 7 Ti", "Frost 7"];
        assert_eq!(named(&names, "The Frost 7 Ti beats the Frost 7"), [[1], [2]]);
    }

    #[test]
    fn versions_and_commands_are_names() {
        assert_eq!(named(&["DB 8.0", "DB 8.4"], "DB 8.4 against 8.0."), [[1], [0]]);
        assert_eq!(named(&["./pkg-old list", "./pkg-new list"], "pkg-new is better"), [[1]]);
        assert_eq!(named(&["v6.1", "v6.12"], "from v6.1 to 6.12"), [[0], [1]]);
        assert_eq!(named(&["batching off", "batching on"], "with batching on it is"), [[1]]);
    }

    #[test]
    fn other_words_of_the_sentence_tell_the_row() {
        let names = ["short_keys/sip", "short_keys/fold", "long_keys/sip", "long_keys/fold"];
        let found = named(&names, "For long keys fold is faster than sip");
        assert!(found.contains(&vec![2]), "{found:?}");
    }
}
