//! The words of a sentence as they are looked up again and again: each is taken apart once.

use super::way::way;
use crate::detect::pointing::{self, Way};
use crate::evidence::name::{is_plain, words};
use crate::read::token::Token;

/// Words of claims that no table has to know.
const SPEECH: [&str; 96] = [
    "almost", "nearly", "about", "around", "roughly", "only", "just", "even", "still", "now",
    "then", "here", "there", "also", "too", "well", "bit", "little", "lot", "far", "much", "many",
    "some", "any", "same", "other", "both", "every", "while", "whereas", "which", "what", "who",
    "does", "did", "do", "done", "make", "makes", "made", "take", "takes", "took", "need", "needs",
    "needed", "use", "uses", "used", "give", "gives", "get", "gets", "got", "goes", "went", "come",
    "comes", "keep", "keeps", "spend", "spends", "run", "runs", "ran", "show", "shows", "see",
    "saw", "means", "mean", "words", "exactly", "percent", "times", "factor", "twice", "half",
    "third", "quarter", "compared", "against", "versus", "relative", "behind", "ahead", "cuts",
    "cut", "saves", "saved", "drops", "dropped", "falls", "fell", "rises", "rose",
];

/// What a token says.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub stems: Vec<String>,
    /// A word of everyday speech, of metrics, of units, or one that compares.
    pub ordinary: bool,
    /// Which way it points, beside an amount too.
    pub way: Option<Way>,
}

impl Spoken {
    pub(super) fn of(token: &Token) -> Spoken {
        let stems = words(&token.lower);
        let ordinary = token.is_word()
            && (token.lower.len() < 3
                || pointing::way(&token.lower).is_some()
                || stems.iter().all(|s| is_plain(s))
                || is_speech(&token.lower)
                || crate::evidence::metric::is_metric(&token.lower)
                || crate::evidence::amount::measure(&token.lower).is_some());
        Spoken { stems, ordinary, way: way(&token.lower) }
    }
}

/// Whether a word is of claims, which no table has to know.
pub(super) fn is_speech(lower: &str) -> bool {
    SPEECH.contains(&lower)
}
