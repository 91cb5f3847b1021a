//! What rows and columns are called: names of the same text are one.

use std::collections::HashMap;

use crate::evidence::name::{Axis, words};

/// What a row or a column is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Called(usize);

impl Called {
    /// It has no name.
    pub(crate) const NOTHING: Called = Called(0);

    pub(crate) fn is_nothing(self) -> bool {
        self == Called::NOTHING
    }

    /// Its place among all names.
    pub(crate) fn place(self) -> usize {
        self.0
    }
}

/// All names of a text's tables.
#[derive(Debug)]
pub(crate) struct Names {
    known: HashMap<String, Called>,
    all: Vec<Name>,
    /// Words by number.
    vocabulary: HashMap<String, usize>,
}

#[derive(Debug, Default)]
struct Name {
    text: String,
    words: Vec<String>,
    /// The numbers of its words, each once.
    numbers: Vec<usize>,
}

impl Names {
    pub(crate) fn new() -> Names {
        let nothing = (String::new(), Called::NOTHING);
        Names {
            known: HashMap::from([nothing]),
            all: vec![Name::default()],
            vocabulary: HashMap::new(),
        }
    }

    /// Those of an axis, in its order.
    pub(crate) fn of_axis(&mut self, axis: &Axis) -> Vec<Called> {
        axis.names.iter().map(|n| self.of(&n.text)).collect()
    }

    fn of(&mut self, text: &str) -> Called {
        if let Some(own) = self.known.get(text) {
            return *own;
        }
        let own = Called(self.all.len());
        let words = words(text);
        let mut numbers = Vec::new();
        for word in &words {
            let next = self.vocabulary.len();
            let number = *self.vocabulary.entry(word.clone()).or_insert(next);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        self.all.push(Name { text: text.to_owned(), words, numbers });
        self.known.insert(text.to_owned(), own);
        own
    }

    /// How many there are, with that of nothing.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many words they have.
    pub(crate) fn vocabulary(&self) -> usize {
        self.vocabulary.len()
    }

    /// As it is printed.
    pub(crate) fn text(&self, name: Called) -> &str {
        &self.all[name.0].text
    }

    /// Its words.
    pub(crate) fn words(&self, name: Called) -> &[String] {
        &self.all[name.0].words
    }

    /// The numbers of its words, each once.
    pub(crate) fn numbers(&self, name: Called) -> &[usize] {
        &self.all[name.0].numbers
    }

    /// The number of a word, if a name has it.
    pub(crate) fn number(&self, word: &str) -> Option<usize> {
        self.vocabulary.get(word).copied()
    }
}
