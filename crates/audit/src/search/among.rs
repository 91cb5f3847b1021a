//! The cells that a rank is among.

use super::book::Place;
use crate::evidence::amount::Amount;

/// Cells of a column or row, in its order, with which of them are the greatest and the least, or come after so many
/// others.
#[derive(Debug)]
pub(crate) struct Among {
    pub all: Vec<(Amount, Place)>,
    greatest: usize,
    least: usize,
}

impl Among {
    pub(super) fn new(all: Vec<(Amount, Place)>, after: usize) -> Option<Among> {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|x, y| all[*x].0.value.total_cmp(&all[*y].0.value));
        let least = *order.get(after)?;
        let greatest = order[order.len() - 1 - after];
        Some(Among { all, greatest, least })
    }

    pub(crate) fn greatest(&self) -> (Amount, Place) {
        self.all[self.greatest]
    }

    pub(crate) fn least(&self) -> (Amount, Place) {
        self.all[self.least]
    }
}
