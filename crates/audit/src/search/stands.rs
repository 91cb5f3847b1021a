//! Where the words of the tables' names and the numbers stand in a sentence.

use super::book::Book;
use super::phrase::Kind;
use crate::read::token::Token;

/// How many sentences before a claim's own are looked through for its values.
const EARLIER: usize = 8;

/// The words of the tables' names that a sentence has, by the number of the word and by token.
#[derive(Debug)]
pub(super) struct Stands {
    at: Vec<(usize, usize)>,
    pub(super) of: Vec<Vec<usize>>,
    pub(super) kinds: Vec<Kind>,
    /// The numbers with their tokens.
    pub(super) numbers: Vec<(usize, f64)>,
    /// The numbers of the sentences before it in its paragraph.
    pub(super) earlier: Vec<f64>,
}

impl Stands {
    pub(super) fn new(book: &Book<'_>, sentence: usize) -> Stands {
        let tokens = book.tokens(sentence);
        let number = |t: &Token| t.number().map(|n| n.value);
        let of: Vec<Vec<usize>> = book.spoken[sentence]
            .iter()
            .map(|s| s.stems.iter().filter_map(|w| book.names.number(w)).collect())
            .collect();
        let places =
            of.iter().enumerate().flat_map(|(i, words)| words.iter().map(move |w| (*w, i)));
        let mut at: Vec<(usize, usize)> = places.collect();
        at.sort_unstable();
        let block = book.block(sentence);
        let before = (0..sentence).rev().take_while(|s| book.block(*s) == block).take(EARLIER);
        Stands {
            at,
            of,
            kinds: tokens.iter().map(Kind::of).collect(),
            numbers: tokens.iter().enumerate().filter_map(|(i, t)| Some((i, number(t)?))).collect(),
            earlier: before.flat_map(|s| book.tokens(s)).filter_map(number).collect(),
        }
    }

    /// The words that it has, each once.
    pub(super) fn words(&self) -> impl Iterator<Item = usize> + '_ {
        self.at.chunk_by(|(a, _), (b, _)| a == b).map(|places| places[0].0)
    }

    /// Where a word stands.
    pub(super) fn places(&self, word: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.at.partition_point(|(w, _)| *w < word);
        self.at[first..].iter().take_while(move |(w, _)| *w == word).map(|(_, i)| *i)
    }
}
