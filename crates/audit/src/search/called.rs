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
}

/// All names of a text's tables.
#[derive(Debug)]
pub(crate) struct Names {
    known: HashMap<String, Called>,
    all: Vec<(String, Vec<String>)>,
}

impl Names {
    pub(crate) fn new() -> Names {
        let nothing = (String::new(), Called::NOTHING);
        Names { known: HashMap::from([nothing]), all: vec![(String::new(), Vec::new())] }
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
        self.all.push((text.to_owned(), words(text)));
        self.known.insert(text.to_owned(), own);
        own
    }

    /// As it is printed.
    pub(crate) fn text(&self, name: Called) -> &str {
        &self.all[name.0].0
    }

    /// Its words.
    pub(crate) fn words(&self, name: Called) -> &[String] {
        &self.all[name.0].1
    }
}
