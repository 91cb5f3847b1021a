//! What is known of the names of a table's rows or columns before any claim is looked at.

use super::order::Order;
use super::words::{is_part, letter, weight};
use crate::evidence::metric::statistic;
use crate::evidence::name::Axis;

/// The names of an axis.
#[derive(Debug)]
pub(crate) struct Labels {
    /// The words of each name that tell something, with how much they do.
    pub terms: Vec<Vec<(String, f64)>>,
    /// Which is later than which.
    pub order: Order,
    /// Names that say what a system is made of: chips, GHz.
    pub part: Vec<bool>,
    /// Names that have such a word.
    pub has_part: Vec<bool>,
    /// Names of a maximum, a percentile, a spread, and no mean.
    pub statistic: Vec<bool>,
    /// Names of prices.
    pub paid: Vec<bool>,
}

impl Labels {
    pub(crate) fn new(axis: &Axis) -> Labels {
        let terms = axis.names.iter().map(|name| {
            let mut all: Vec<String> = name.words.clone();
            all.extend(name.text.split_whitespace().filter_map(letter));
            all.sort();
            all.dedup();
            let weighed = all.into_iter().map(|word| {
                let own = if word.starts_with('^') { 1.0 } else { weight(axis, &word) };
                (word, own)
            });
            weighed.filter(|(_, w)| *w > 0.0).collect()
        });
        let of = |is: &dyn Fn(&str) -> bool| axis.names.iter().map(|n| is(&n.text)).collect();
        let paid = |name: &str| {
            let name = name.to_lowercase();
            ["$", "€", "usd", "eur", "price", "cost", "dollar"].iter().any(|w| name.contains(w))
        };
        let has_part =
            |words: &[String]| words.iter().any(|w| is_part(w) || is_part(&format!("{w}s")));
        Labels {
            terms: terms.collect(),
            order: Order::new(axis),
            part: of(&is_part),
            has_part: axis.names.iter().map(|n| has_part(&n.words)).collect(),
            statistic: of(&|name| statistic(name) > 1),
            paid: of(&paid),
        }
    }
}
