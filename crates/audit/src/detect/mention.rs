//! What a phrase names: models of systems, counts of chips and cores, clocks, and the other words
//! that tell one result from another.

use std::collections::BTreeSet;

use crate::read::token::{Kind, Token};
use crate::read::unit::Unit;

/// Counts and clock that a phrase or a row gives. `None` where it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Attributes {
    pub chips: Option<f64>,
    pub cores: Option<f64>,
    pub threads: Option<f64>,
    pub ghz: Option<f64>,
    pub rack_units: Option<f64>,
    pub watts: Option<f64>,
}

impl Attributes {
    fn pairs(&self, other: &Attributes) -> [(Option<f64>, Option<f64>); 4] {
        [
            (self.chips, other.chips),
            (self.cores, other.cores),
            (self.threads, other.threads),
            (self.ghz, other.ghz),
        ]
    }

    /// How many attributes both give alike, and how many they give differently. Cores given for
    /// each chip agree with cores of the system.
    pub(crate) fn agreement(&self, other: &Attributes) -> (usize, usize) {
        let mut same = 0;
        let mut different = 0;
        for (i, pair) in self.pairs(other).into_iter().enumerate() {
            let (Some(a), Some(b)) = pair else { continue };
            let chips = self.chips.or(other.chips).unwrap_or(1.0);
            let per_chip = (1..=2).contains(&i) && (close(a, b * chips) || close(b, a * chips));
            if close(a, b) || per_chip { same += 1 } else { different += 1 }
        }
        (same, different)
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.006 * a.abs().max(b.abs())
}

/// What a phrase names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mention {
    pub models: BTreeSet<String>,
    pub words: BTreeSet<String>,
    pub attributes: Attributes,
}

/// Words that tell no result from another.
const STOP: [&str; 95] = [
    "a",
    "an",
    "the",
    "of",
    "to",
    "in",
    "on",
    "at",
    "by",
    "for",
    "with",
    "and",
    "or",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "it",
    "its",
    "this",
    "that",
    "these",
    "those",
    "as",
    "than",
    "over",
    "vs",
    "versus",
    "more",
    "less",
    "better",
    "faster",
    "slower",
    "higher",
    "lower",
    "result",
    "results",
    "performance",
    "system",
    "server",
    "servers",
    "systems",
    "used",
    "uses",
    "using",
    "which",
    "from",
    "up",
    "about",
    "compared",
    "one",
    "two",
    "three",
    "four",
    "new",
    "has",
    "had",
    "have",
    "also",
    "only",
    "both",
    "each",
    "when",
    "while",
    "but",
    "not",
    "no",
    "we",
    "our",
    "their",
    "delivered",
    "delivers",
    "showed",
    "shows",
    "demonstrated",
    "provides",
    "provided",
    "times",
    "percent",
    "per",
    "bops",
    "score",
    "best",
    "record",
    "world",
    "benchmark",
    "ghz",
    "chip",
    "chips",
    "processor",
    "processors",
    "core",
    "cores",
];

/// The words of a text that tell results apart, in the form in which they are compared.
pub(crate) fn words(tokens: &[Token]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in tokens {
        if !token.is_word() && !token.number().is_some_and(|n| n.label) {
            continue;
        }
        for part in token.lower.split(['/', '.', '\'', '’', '&', '+']) {
            let part = part.trim_matches(|c: char| !c.is_alphanumeric());
            if part.len() > 1 && !STOP.contains(&part) {
                if part.starts_with("spec") && part.contains("_base") {
                    found.insert("base".into());
                    found.insert(part.replace("_base", ""));
                } else {
                    found.insert(form(part));
                    let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
                    if letters >= 4 && letters < part.len() && !part.starts_with("spec") {
                        found.insert(form(&part[..letters]));
                    }
                }
            }
        }
    }
    found
}

/// One form for the spellings of a word: plural away, digits of a name like `p570` alone.
pub(crate) fn form(lower: &str) -> String {
    if let Some(digits) = lower.strip_prefix('p')
        && digits.len() >= 3
        && digits.bytes().all(|b| b.is_ascii_digit())
    {
        return digits.to_owned();
    }
    let plural = lower.len() > 3
        && lower.ends_with('s')
        && !lower.ends_with("ss")
        && !lower.ends_with("us")
        && !lower.ends_with("is");
    if plural { lower[..lower.len() - 1].to_owned() } else { lower.to_owned() }
}

/// Whether a word is like a model's name: letters and digits, or three digits and more.
pub(crate) fn is_model(form: &str) -> bool {
    let digits = form.bytes().filter(u8::is_ascii_digit).count();
    let letters = form.bytes().filter(u8::is_ascii_alphabetic).count();
    let spec = ["spec", "ddr", "cpu20", "sha", "utf", "iso", "ipv", "raid", "pci"]
        .iter()
        .any(|p| form.starts_with(p));
    let fits = form.len() <= 9 && form.bytes().all(|b| b.is_ascii_alphanumeric());
    fits && !spec && digits >= 2 && (letters >= 1 || digits >= 3) && letters <= 6
}

/// Reads a phrase. `systems` are the models that results are known of; other words of that form
/// (processors, versions) are plain words.
pub(crate) fn read(tokens: &[Token], systems: &BTreeSet<String>) -> Mention {
    let words = words(tokens);
    Mention {
        models: words.iter().filter(|w| systems.contains(*w)).cloned().collect(),
        attributes: attributes(tokens),
        words,
    }
}

/// Counts and clock in a phrase.
pub(crate) fn attributes(tokens: &[Token]) -> Attributes {
    let mut found = Attributes::default();
    for (i, token) in tokens.iter().enumerate() {
        let Some(n) = token.quantity() else { continue };
        let value = n.value;
        match &n.unit {
            Some(Unit::Frequency) if n.base() >= 1e8 => set(&mut found.ghz, n.base() / 1e9),
            Some(Unit::RackUnits) => set(&mut found.rack_units, value),
            Some(Unit::Power) => set(&mut found.watts, n.base()),
            Some(Unit::Count("chip")) => set(&mut found.chips, value),
            Some(Unit::Count("core")) if !per_something(tokens, i) => set(&mut found.cores, value),
            Some(Unit::Count("thread")) if !per_something(tokens, i) => {
                set(&mut found.threads, value);
            }
            None | Some(Unit::Times) if n.step == 1.0 && counts_chips(tokens, i) => {
                set(&mut found.chips, value);
            }
            _ => {}
        }
    }
    found
}

fn set(slot: &mut Option<f64>, value: f64) {
    if slot.is_none() {
        *slot = Some(value);
    }
}

/// "4 cores per chip", "8 cores/chip"
fn per_something(tokens: &[Token], i: usize) -> bool {
    tokens.get(i + 1).is_some_and(|t| t.lower.contains('/'))
        || tokens
            .get(i + 2)
            .is_some_and(|t| t.lower == "per" || t.lower == "each" || t.is_mark('/'))
}

/// "two 4.7 GHz POWER6 chips", "2 x Xeon processors", "4x 4.7 GHz": a count with the noun further on.
fn counts_chips(tokens: &[Token], i: usize) -> bool {
    for token in tokens.iter().skip(i + 1).take(6) {
        match &token.kind {
            Kind::Word
                if matches!(
                    token.lower.as_str(),
                    "chip" | "chips" | "processor" | "processors"
                ) =>
            {
                return true;
            }
            Kind::Word
                if matches!(
                    token.lower.as_str(),
                    "of" | "and" | "with" | "than" | "the" | "result"
                ) =>
            {
                return false;
            }
            Kind::Number(n) if n.is(&Unit::Frequency) => {}
            Kind::Number(n) if !n.label => return false,
            Kind::Mark(',' | ';' | '.' | '(' | ')') => return false,
            _ => {}
        }
    }
    let times = tokens[i].number().is_some_and(|n| n.is(&Unit::Times));
    times && tokens.get(i + 1).and_then(Token::number).is_some_and(|n| n.is(&Unit::Frequency))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::Span;
    use crate::read::token::tokens;

    fn of(text: &str) -> Mention {
        let systems = ["570", "z900", "tx7"].map(str::to_owned).into();
        read(&tokens(text, Span::new(0, text.len())), &systems)
    }

    #[test]
    fn spellings_of_a_model_are_one() {
        for text in ["the Acme p570 box", "Acme Power 570", "an Acme p 570 server"] {
            assert!(of(text).models.contains("570"), "{text}");
        }
        assert!(of("the Z900s").models.contains("z900"));
    }

    #[test]
    fn counts_and_clocks_are_attributes() {
        let m = of("one Z900 with two 4.7GHz HIPPO6 chips, 16 cores (8RU)").attributes;
        assert_eq!(
            (m.chips, m.cores, m.ghz, m.rack_units),
            (Some(2.0), Some(16.0), Some(4.7), Some(8.0))
        );
        assert_eq!(of("a 4-chip system").attributes.chips, Some(4.0));
        assert_eq!(of("4x 4.7 GHz HIPPO6").attributes.chips, Some(4.0));
        assert_eq!(of("4 cores per chip").attributes.cores, None);
    }
}
