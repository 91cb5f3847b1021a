//! What all readings of a sentence share: its metric, and the words that stand before it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::book::Book;
use super::labels::Labels;
use super::stands::Stands;
use super::words::{Bag, Found, look_up_all};
use crate::evidence::metric::{Metric, metric};

/// What all readings of a sentence share.
pub(super) struct Scene {
    pub(super) sentence: usize,
    pub(super) metric: Metric,
    /// That of the sentence before.
    pub(super) heard: Metric,
    /// The sentence right before it in its paragraph or list, and what is further up.
    pub(super) before: (Rc<Bag>, Rc<Bag>),
    /// The words of names that it has.
    pub(super) stands: Stands,
    /// What of the names of a table's axis stands there.
    found: RefCell<HashMap<Axis, Rc<[Found; 2]>>>,
}

/// A table, and its rows (0) or its columns (1).
type Axis = (usize, usize);

impl Scene {
    /// What of the names of a table's axis stands before the sentence: right before it, and further up.
    pub(super) fn found(&self, grid: usize, axis: usize, labels: &Labels) -> Rc<[Found; 2]> {
        let (previous, around) = &self.before;
        let look = || Rc::new([previous, around].map(|bag| look_up_all(bag, labels)));
        self.found.borrow_mut().entry((grid, axis)).or_insert_with(look).clone()
    }
}

impl Book<'_> {
    /// What all readings of a sentence share.
    pub(super) fn scene(&self, sentence: usize) -> Scene {
        let (previous, around) = self.before(sentence);
        Scene {
            sentence,
            metric: metric(self.tokens(sentence)),
            heard: sentence.checked_sub(1).map_or(Metric::Any, |s| metric(self.tokens(s))),
            before: (Rc::new(previous), Rc::new(around)),
            stands: Stands::new(self, sentence),
            found: RefCell::default(),
        }
    }
}
