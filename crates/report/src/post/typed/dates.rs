//! Days in a text: what is part of one is no quantity.

use super::atoms::Atom;
use super::names::{Names, is_unit};

const MONTHS: &[&str] = &[
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
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
];

/// Words before a year.
const BEFORE: &[&str] = &[
    "in", "of", "since", "until", "from", "by", "early", "late", "mid", "during", "before",
    "after", "to", "and", "year", "spring", "summer", "autumn", "winter", "fall", "than",
];

/// Which atoms are parts of a date: `2009-08-27`, `27 August 2009`, `in 2009`.
pub(super) fn dates(all: &[Atom], names: &Names) -> Vec<bool> {
    let mut out = vec![false; all.len()];
    let number =
        |i: usize| all.get(i).filter(|a| a.bare()).and_then(|a| a.text.parse::<u32>().ok());
    let year = |i: usize| {
        all.get(i).is_some_and(|a| a.bare() && a.text.len() == 4 && names.has_year(&a.text))
    };
    let any_year = |i: usize| {
        all.get(i).is_some_and(|a| a.bare() && a.text.len() == 4)
            && number(i).is_some_and(|n| (1950..2050).contains(&n))
    };
    let month =
        |i: usize| all.get(i).is_some_and(|a| a.is(MONTHS) && (a.text != "may" || a.capital));
    let free = |i: usize| {
        let unit = all.get(i + 1).is_some_and(|n| n.before.trim().is_empty() && is_unit(&n.text));
        all.get(i).is_some_and(|a| !a.after.starts_with('%')) && !unit
    };
    let day = |i: usize| number(i).is_some_and(|n| (1..=31).contains(&n));
    for i in 0..all.len() {
        let dash = |j: usize| all.get(j).is_some_and(|a| a.before == "-");
        let iso = any_year(i) && dash(i + 1) && dash(i + 2) && day(i + 2);
        if iso && number(i + 1).is_some_and(|m| (1..=12).contains(&m)) && free(i + 2) {
            out[i..=i + 2].fill(true);
        }
        if month(i) {
            if i > 0 && day(i - 1) && all[i].before.trim().is_empty() {
                out[i - 1] = true;
            }
            let mut next = i + 1;
            if day(next) && free(next) {
                out[next] = true;
                next += 1;
            }
            if any_year(next) && free(next) {
                out[next] = true;
            }
        }
        let introduced = i > 0 && (all[i - 1].is(BEFORE) || out[i - 1] && all[i].before == "-");
        // `in 2009 tests` counts tests.
        let counts = all.get(i + 1).is_some_and(|n| {
            n.before.trim().is_empty()
                && n.text.len() > 3
                && n.text.ends_with('s')
                && !n.is(&[
                    "says", "prints", "runs", "shows", "this", "gives", "does", "ends", "begins",
                    "names",
                ])
        });
        if introduced && year(i) && free(i) && !counts {
            out[i] = true;
        }
        // `2005-2009`
        if year(i) && dash(i + 1) && year(i + 1) && free(i + 1) {
            out[i..=i + 1].fill(true);
        }
    }
    out
}
