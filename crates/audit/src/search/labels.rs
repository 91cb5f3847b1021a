//! What is known of the names of a table's rows or columns before any claim is looked at.

use std::collections::BTreeSet;

use super::called::{Called, Names};
use super::order::Order;
use super::words::{is_part, letter, weight};
use crate::evidence::metric::statistic;
use crate::evidence::name::Axis;

/// The names of an axis.
#[derive(Debug)]
pub(crate) struct Labels {
    /// Each name, by which readings tell it from others.
    pub called: Vec<Called>,
    /// The words of names that tell something.
    pub words: Vec<String>,
    /// Which of them each name has, with how much they tell.
    pub terms: Vec<Vec<(usize, f64)>>,
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
    /// The units in them, as printed.
    pub unit: Vec<String>,
    /// Whether a name is of what was before (-1) or after (1).
    pub age: Vec<i8>,
}

impl Labels {
    pub(crate) fn new(axis: &Axis, names: &mut Names) -> Labels {
        let terms: Vec<Vec<(String, f64)>> = axis
            .names
            .iter()
            .map(|name| {
                let mut all: Vec<String> = name.words.clone();
                all.extend(name.text.split_whitespace().filter_map(letter));
                all.sort();
                all.dedup();
                let weighed = all.into_iter().map(|word| {
                    let own = if word.starts_with('^') { 1.0 } else { weight(axis, &word) };
                    (word, own)
                });
                weighed.filter(|(_, w)| *w > 0.0).collect()
            })
            .collect();
        let words: BTreeSet<&String> = terms.iter().flatten().map(|(word, _)| word).collect();
        let words: Vec<String> = words.into_iter().cloned().collect();
        let place = |(word, w): (String, f64)| Some((words.binary_search(&word).ok()?, w));
        let terms =
            terms.into_iter().map(|own| own.into_iter().filter_map(place).collect()).collect();
        let of = |is: &dyn Fn(&str) -> bool| axis.names.iter().map(|n| is(&n.text)).collect();
        let paid = |name: &str| {
            let name = name.to_lowercase();
            ["$", "€", "usd", "eur", "price", "cost", "dollar"].iter().any(|w| name.contains(w))
        };
        let has_part =
            |words: &[String]| words.iter().any(|w| is_part(w) || is_part(&format!("{w}s")));
        Labels {
            called: names.of_axis(axis),
            terms,
            words,
            order: Order::new(axis),
            part: of(&is_part),
            has_part: axis.names.iter().map(|n| has_part(&n.words)).collect(),
            statistic: of(&|name| statistic(name) > 1),
            paid: of(&paid),
            unit: axis.names.iter().map(|n| unit_of(&n.text)).collect(),
            age: axis.names.iter().map(|n| age(&n.words)).collect(),
        }
    }
}

/// The unit in a name, as printed.
fn unit_of(name: &str) -> String {
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((_, rest)) = name.split_once(open)
            && let Some((inside, _)) = rest.split_once(close)
            && crate::evidence::amount::measure(inside).is_some()
        {
            return inside.to_owned();
        }
    }
    name.split_whitespace()
        .last()
        .filter(|w| crate::evidence::amount::measure(w).is_some())
        .unwrap_or("")
        .to_owned()
}

/// Whether a name is of what was before (-1) or after (1).
pub(crate) fn age(words: &[String]) -> i8 {
    let has = |set: &[&str]| words.iter().any(|w| set.contains(&w.as_str()));
    if has(&[
        "befor", "old", "baselin", "base", "master", "main", "previou", "original", "stock",
        "vanilla", "without", "off", "current",
    ]) {
        -1
    } else {
        i8::from(has(&["after", "new", "now", "patch", "patched", "pr", "with", "optimized", "on"]))
    }
}
