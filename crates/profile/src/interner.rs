//! Numbers for values, in the order in which they come.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Values that are equal have one number.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    /// The values by number.
    pub all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The number of a value.
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
