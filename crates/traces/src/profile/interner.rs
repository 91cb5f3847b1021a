//! Numbers distinct values in order of first appearance.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Gives equal values the same number.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    /// Distinct values, indexed by number.
    pub all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// Returns the number of `value`, which is added if it is new.
    pub fn number<V>(&mut self, value: &V) -> u32
    where
        T: Borrow<V>,
        V: ToOwned<Owned = T> + Eq + Hash + ?Sized,
    {
        if let Some(n) = self.numbers.get(value) {
            return *n;
        }
        let n = self.all.len() as u32;
        self.all.push(value.to_owned());
        self.numbers.insert(value.to_owned(), n);
        n
    }
}
