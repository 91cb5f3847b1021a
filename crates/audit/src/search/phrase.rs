//! How a sentence can put the names and the values of a reading: the words before and behind a name, what stands
//! between it and the claim, how much of it is said, and whether a value is printed near. Each is a feature.

use crate::read::token::Token;

/// What the names of a reading are to a claim: what it is about, what that is compared with, and in what.
pub(crate) const SLOTS: [&str; 3] = ["subject", "baseline", "field"];

/// Words before a name, of which the nearest counts.
const BEFORE: [&[&str]; 21] = [
    &["than"],
    &["of"],
    &["with"],
    &[","],
    &["and", "or"],
    &["in"],
    &["as"],
    &["at"],
    &["to"],
    &["on"],
    &[":"],
    &["is", "are", "was", "were", "has", "had", "takes", "needs", "does", "uses"],
    &["for"],
    &["from"],
    &["per"],
    &[";"],
    &["over"],
    &["against", "vs", "versus"],
    &["but", "while", "whereas", "where", "when", "under", "without", "after", "before"],
    &["by", "between"],
    &["that", "which", "(", ")"],
];
/// How far before a name they are looked for.
pub(super) const NEAR: usize = 5;
/// Words behind a name.
const AFTER: [&[&str]; 22] = [
    &[".", "?", "!"],
    &[","],
    &["is", "are", "was", "were"],
    &["and", "or", "&"],
    &["the", "a", "an"],
    &["of"],
    &["it", "we", "they", "you", "he", "she", "this"],
    &["has", "have", "had"],
    &["to"],
    &["by"],
    &["with", "in", "on", "at", "for", "from"],
    &["does", "do", "did"],
    &["per", "/"],
    &[";", ":"],
    &["(", ")"],
    &["but", "while", "whereas"],
    &["than"],
    &["-", "_"],
    &["takes", "needs", "costs", "uses", "draws", "took", "needed"],
    &["gets", "goes", "comes", "went", "got", "came", "makes"],
    &["more", "less", "fewer", "still", "only", "now", "already", "even"],
    &["that", "which", "who", "where", "when"],
];
/// Behind a name beside these: a number, a word in -s or in -ed, another word, a mark.
const AFTER_OTHER: [&str; 5] = ["a number", "-s", "-ed", "a word", "a mark"];
/// What may stand between a name and the claim.
const BETWEEN: [&str; 7] =
    ["a comma", "a number", "and", "but", "a parenthesis", "a semicolon", "none of these"];
/// The bit of the last.
pub(super) const NONE_BETWEEN: u8 = 1 << (BETWEEN.len() - 1);
/// How many words of a name are said, of how many, at most these.
const SAID: usize = 4;
const OF: usize = 6;
/// How far from the claim a value is printed in its sentence, in pairs of words, on either side.
const STEPS: usize = 6;

/// No word of the list stands before the name.
pub(super) const NOTHING: usize = BEFORE.len();
const PER_SIDE: usize = BEFORE.len() + 1 + AFTER.len() + AFTER_OTHER.len() + BETWEEN.len();
const PER_SLOT: usize = 1 + 2 * PER_SIDE + SAID * OF;
/// Printed nowhere near, in the sentences before it in its paragraph, or in its sentence.
const PER_VALUE: usize = 2 + 2 * STEPS;
/// How many features phrases have.
pub(crate) const PHRASES: usize = SLOTS.len() * PER_SLOT + 2 * PER_VALUE;

/// How the sentence puts a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phrase {
    pub(super) place: Option<Standing>,
    /// How many of its words are there, of how many.
    pub(super) said: u8,
}

/// No word of the name is there.
pub(super) const UNSAID: Phrase = Phrase { place: None, said: 0 };

/// Where a name stands in its sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub(super) behind: bool,
    pub(super) before: u8,
    pub(super) after: u8,
    /// A bit for each of [`BETWEEN`].
    pub(super) between: u8,
}

/// That so many of a name's words are said, of so many.
pub(super) fn said(said: usize, of: usize) -> u8 {
    (said.min(SAID - 1) * OF + of.min(OF - 1)) as u8
}

/// That a value is printed in the sentence, so many words before or behind the claim.
pub(super) fn printed(behind: bool, words: usize) -> u8 {
    (2 + usize::from(behind) * STEPS + (words / 2).min(STEPS - 1)) as u8
}

/// That a value is printed nowhere in the sentence, or earlier in its paragraph.
pub(super) fn unprinted(earlier: bool) -> u8 {
    u8::from(earlier)
}

/// How the sentence puts what a reading is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Phrased {
    pub(super) names: [Option<Phrase>; SLOTS.len()],
    pub(super) values: [Option<u8>; 2],
}

impl Phrased {
    /// Takes each feature that is there.
    pub(crate) fn each(&self, mut take: impl FnMut(usize)) {
        for (slot, phrase) in self.names.iter().enumerate() {
            let Some(phrase) = phrase else { continue };
            let from = slot * PER_SLOT;
            take(from + 1 + 2 * PER_SIDE + usize::from(phrase.said));
            let Some(place) = phrase.place else {
                take(from);
                continue;
            };
            let side = from + 1 + usize::from(place.behind) * PER_SIDE;
            let after = side + NOTHING + 1;
            let between = after + AFTER.len() + AFTER_OTHER.len();
            take(side + usize::from(place.before));
            take(after + usize::from(place.after));
            for bit in (0..BETWEEN.len()).filter(|bit| place.between >> bit & 1 == 1) {
                take(between + bit);
            }
        }
        for (which, value) in self.values.iter().enumerate() {
            if let Some(value) = value {
                take(SLOTS.len() * PER_SLOT + which * PER_VALUE + usize::from(*value));
            }
        }
    }
}

/// The names of the features in their order, for those who learn.
pub(crate) fn names() -> Vec<String> {
    let mut all = Vec::new();
    let sides = ["before the claim", "behind the claim"];
    for slot in SLOTS {
        all.push(format!("{slot} unsaid"));
        for side in sides {
            let before = BEFORE.iter().map(|words| words[0]).chain(["nothing"]);
            all.extend(before.map(|word| format!("{slot} {side}, behind {word}")));
            let after = AFTER.iter().map(|words| words[0]).chain(AFTER_OTHER);
            all.extend(after.map(|word| format!("{slot} {side}, before {word}")));
            all.extend(BETWEEN.map(|what| format!("{slot} {side}, between them {what}")));
        }
        let said = (0..SAID * OF).map(|i| format!("{slot}: {} of {} words", i / OF, i % OF));
        all.extend(said);
    }
    for value in ["value", "baseline's value"] {
        all.extend(["nowhere near", "earlier"].map(|place| format!("{value} printed {place}")));
        for side in sides {
            all.extend((0..STEPS).map(|i| format!("{value} {side} by {} words", 2 * i)));
        }
    }
    all
}

/// What a token is beside a name: before it, of [`BEFORE`]; behind it, of [`AFTER`] and [`AFTER_OTHER`]; between it and
/// the claim, a bit of [`BETWEEN`] or none.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) before: Option<u8>,
    pub(super) after: Option<u8>,
    pub(super) between: u8,
}

impl Kind {
    pub(super) fn of(token: &Token) -> Kind {
        let word = token.lower.as_str();
        let number = token.number().is_some();
        let group = |groups: &[&[&str]]| groups.iter().position(|g| g.contains(&word));
        let other = match word {
            _ if number => 0,
            _ if !token.is_word() => 4,
            _ if word.ends_with('s') => 1,
            _ if word.ends_with("ed") => 2,
            _ => 3,
        };
        let listed = if number { None } else { group(&AFTER) };
        Kind {
            before: group(&BEFORE).map(|i| i as u8),
            after: (!is_markup(token)).then(|| listed.unwrap_or(AFTER.len() + other) as u8),
            between: match word {
                "," => 1,
                _ if number => 2,
                "and" | "or" => 4,
                "but" | "while" | "whereas" => 8,
                "(" | ")" => 16,
                ";" | ":" | "—" => 32,
                _ => 0,
            },
        }
    }
}

/// Marks of emphasis and code.
fn is_markup(token: &Token) -> bool {
    token.is_mark('`') || token.is_mark('*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{feature, said, weights};
    use crate::read::source::{MAX_SIZE, Source};

    #[test]
    fn every_feature_has_a_name_of_its_own() {
        let mut all = names();
        assert_eq!(all.len(), PHRASES);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), PHRASES);
    }

    /// The features of the reading of two values in the only claim with these.
    fn features(sentence: &str, inputs: [f64; 2]) -> Vec<String> {
        let text = format!(
            "{sentence}\n\n| engine | time (s) |\n|---|---|\n| red | 3 |\n| blue | 4 |\n| green | 5 |\n"
        );
        let source = Source::read("a.md", text.as_bytes(), MAX_SIZE).unwrap();
        let all = said(&source, weights());
        let readings = all.iter().flat_map(|s| &s.readings);
        let own = readings.into_iter().find(|r| r.inputs == inputs).unwrap();
        own.features.iter().map(|(i, _)| feature(*i)).collect()
    }

    #[test]
    fn names_stand_behind_and_before_words() {
        let has = |all: &[String], name: &str| all.iter().any(|f| f == name);
        let all = features("In this test red is 25% faster than blue.", [3.0, 4.0]);
        for name in [
            "subject before the claim, before is",
            "subject before the claim, between them none of these",
            "baseline behind the claim, behind than",
            "baseline behind the claim, before .",
            "value printed nowhere near",
        ] {
            assert!(has(&all, name), "{name} is not in {all:?}");
        }
        let all = features("Against blue, with 4 s, red wins by 25%.", [3.0, 4.0]);
        for name in [
            "baseline before the claim, behind against",
            "baseline before the claim, between them a comma",
            "baseline before the claim, between them a number",
            "baseline's value before the claim by 4 words",
        ] {
            assert!(has(&all, name), "{name} is not in {all:?}");
        }
    }
}
