//! Which of two names is later: a newer version, a later month, more threads.

use std::cmp::Ordering;

use crate::evidence::amount::{Dimension, measure};
use crate::evidence::name::Axis;

/// How one name is later than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Later {
    /// By its version or its date.
    Newer,
    /// By a number of something.
    More,
}

/// Axes of more names are not looked at.
const MAX_NAMES: usize = 60;

/// What is later among the names of an axis.
#[derive(Debug)]
pub(crate) struct Order {
    names: usize,
    pairs: Vec<Option<(Later, bool)>>,
}

impl Order {
    pub(crate) fn new(axis: &Axis) -> Order {
        let names = axis.names.len();
        if names > MAX_NAMES {
            return Order { names, pairs: Vec::new() };
        }
        let parts: Vec<Vec<String>> = axis.names.iter().map(|n| parts(&n.text)).collect();
        let pair = |x: &[String], y: &[String]| {
            later(x, y).and_then(|(how, o)| (o != Ordering::Equal).then_some((how, o.is_gt())))
        };
        let pairs = parts.iter().flat_map(|x| parts.iter().map(|y| pair(x, y))).collect();
        Order { names, pairs }
    }

    /// How the first of two names differs from the second, and whether it is the later one.
    pub(crate) fn of(&self, x: usize, y: usize) -> Option<(Later, bool)> {
        *self.pairs.get(x * self.names + y)?
    }
}

/// The words of a name, letters apart from the digits behind them: "v2.1-rc3" is v, 2.1, rc, 3.
fn parts(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut own = String::new();
    for c in name.to_lowercase().chars() {
        let turns = own.chars().last().is_some_and(|l| {
            l.is_alphabetic() && c.is_ascii_digit() || l.is_ascii_digit() && c.is_alphabetic()
        });
        let ends = !(c.is_alphanumeric() || c == '.');
        if turns || ends {
            all.push(std::mem::take(&mut own));
        }
        if !ends {
            own.push(c);
        }
    }
    all.push(own);
    all.iter().map(|w| w.trim_matches('.').to_owned()).filter(|w| !w.is_empty()).collect()
}

/// What stands before the numbers of versions and dates.
const DATED: [&str; 27] = [
    "v",
    "version",
    "q",
    "r",
    "rc",
    "rev",
    "release",
    "build",
    "week",
    "day",
    "month",
    "year",
    "phase",
    "round",
    "gen",
    "generation",
    "jdk",
    "java",
    "python",
    "linux",
    "kernel",
    "gcc",
    "clang",
    "go",
    "update",
    "sp",
    "pr",
];

fn later(x: &[String], y: &[String]) -> Option<(Later, Ordering)> {
    let mut found = None;
    for (i, (a, b)) in x.iter().zip(y).enumerate() {
        if a == b {
            continue;
        }
        let word = i.checked_sub(1).map_or("", |p| x[p].as_str());
        let unit = x.get(i + 1).and_then(|w| measure(w)).is_some_and(|m| {
            !matches!(m.dimension, Dimension::Plain | Dimension::Count | Dimension::Rate)
        });
        let own = if let (Some(a), Some(b)) = (month(a), month(b)) {
            (Later::Newer, a.cmp(&b))
        } else {
            let (m, n) = (numbers(a)?, numbers(b)?);
            let year = |n: &[u64]| n.len() == 1 && (1990..2050).contains(&n[0]);
            let dated =
                m.len().max(n.len()) > 1 && !unit || year(&m) && year(&n) || DATED.contains(&word);
            (if dated { Later::Newer } else { Later::More }, m.cmp(&n))
        };
        // Names that differ in several numbers are configurations.
        if found.is_some_and(|f| f != own) {
            return None;
        }
        found = Some(own);
        if own.0 == Later::Newer {
            break;
        }
    }
    found
}

fn numbers(word: &str) -> Option<Vec<u64>> {
    word.split('.').map(|n| n.parse().ok()).collect()
}

fn month(word: &str) -> Option<usize> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const WHOLE: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    MONTHS.iter().position(|m| *m == word).or_else(|| WHOLE.iter().position(|m| *m == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(x: &str, y: &str) -> Option<(Later, Ordering)> {
        later(&parts(x), &parts(y))
    }

    #[test]
    fn versions_dates_and_numbers_have_an_order() {
        assert_eq!(of("heddle 2.0-rc2", "heddle 1.9"), Some((Later::Newer, Ordering::Greater)));
        assert_eq!(of("6.6", "5.15"), Some((Later::Newer, Ordering::Greater)));
        assert_eq!(of("5.9", "5.15"), Some((Later::Newer, Ordering::Less)));
        assert_eq!(of("June", "February"), Some((Later::Newer, Ordering::Greater)));
        assert_eq!(of("Q1 build (min)", "Q2 build (min)"), Some((Later::Newer, Ordering::Less)));
        assert_eq!(of("4 threads", "32 threads"), Some((Later::More, Ordering::Less)));
        assert_eq!(of("1.5 GHz", "2.5 GHz"), Some((Later::More, Ordering::Less)));
        assert_eq!(of("Opteron", "Xeon"), None);
        assert_eq!(of("4 threads, 2 nodes", "2 threads, 4 nodes"), None);
    }
}
