//! Names with digits that stand in the data: systems, processors, releases, benchmarks, settings of runs. They
//! are distinguished from quantities by the data, not by how they look.

use std::collections::BTreeSet;

use super::atoms::{Atom, atoms};

/// Names and days of the data.
#[derive(Debug, Clone, Default)]
pub(in crate::post) struct Names {
    /// Words with digits (`t5240`), and versions with several parts (`4.4.0`).
    words: BTreeSet<String>,
    /// A number after the word that it stands behind: `power` `570`.
    pairs: BTreeSet<(String, String)>,
    /// Years of days that stand in the data.
    years: BTreeSet<String>,
    /// Units of the data.
    units: BTreeSet<String>,
}

/// Terms of computing with digits in them that are no amounts.
const TERMS: &[&str] = &[
    "x86", "x86_64", "x64", "amd64", "arm64", "aarch64", "i386", "i686", "ipv4", "ipv6", "utf8",
    "ext2", "ext3", "ext4", "md5", "sha1", "sha256", "base64", "lz4", "l1", "l2", "l3", "s3",
    "k8s", "http2", "http3",
];

const UNITS: &[&str] = &[
    "%",
    "percent",
    "per",
    "pct",
    "percentage",
    "times",
    "fold",
    "points",
    "x",
    "s",
    "ms",
    "us",
    "ns",
    "min",
    "h",
    "sec",
    "secs",
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "k",
    "m",
    "g",
    "t",
    "kb",
    "mb",
    "gb",
    "tb",
    "kib",
    "mib",
    "gib",
    "tib",
    "b",
    "bytes",
    "byte",
    "bops",
    "ops",
    "kops",
    "mops",
    "iops",
    "qps",
    "rps",
    "tps",
    "req",
    "i",
    "w",
    "watts",
    "watt",
    "kw",
    "j",
    "joules",
    "mhz",
    "ghz",
    "hz",
    "rpm",
    "bit",
    "bits",
    "usd",
    "dollars",
    "euros",
];
/// What rates count, one of them.
const COUNTED: &[&str] = &["request", "transaction", "operation", "order"];

/// Whether a word is a unit, or says that a number is a ratio.
pub(in crate::post) fn is_unit(word: &str) -> bool {
    UNITS.contains(&word) || word.strip_suffix('s').is_some_and(|one| COUNTED.contains(&one))
}

impl Names {
    /// Adds a name: the system of a result, a release, the label of a setting.
    pub(in crate::post) fn add(&mut self, name: &str) {
        let found = atoms(name);
        for (i, atom) in found.iter().enumerate() {
            if !atom.has_digit() {
                continue;
            }
            let measure = atom.numeric()
                && (atom.text.ends_with(|c: char| c.is_alphabetic()) && !atom.text.contains('.')
                    || found.get(i + 1).is_some_and(|n| is_unit(&n.text)));
            let several = atom.text.matches('.').count() > 1 || atom.text.contains('_');
            if !atom.numeric() || several || atom.text.contains(char::is_alphabetic) && !measure {
                self.words.insert(atom.text.clone());
            } else if let Some(before) = i.checked_sub(1).map(|j| &found[j]).filter(|_| !measure)
                && before.text.len() > 1
                && !is_unit(&before.text)
                && !before.numeric()
            {
                self.pairs.insert((before.text.clone(), atom.text.clone()));
            }
        }
    }

    /// Adds a day.
    pub(in crate::post) fn day(&mut self, day: &str) {
        if let Some(year) = day.get(..4).filter(|y| y.bytes().all(|b| b.is_ascii_digit())) {
            self.years.insert(year.to_owned());
        }
    }

    /// Adds a unit.
    pub(in crate::post) fn unit(&mut self, unit: &str) {
        // `I/Os in 10 s`: small words are none.
        let word = |a: &Atom| {
            !a.has_digit() && !a.is(&["in", "of", "per", "each", "for", "the", "on", "os"])
        };
        self.units.extend(atoms(unit).into_iter().filter(word).map(|a| a.text));
    }

    /// Whether the word is a unit of the data, or any unit.
    pub(in crate::post) fn measures(&self, word: &str) -> bool {
        is_unit(word) || self.units.contains(word)
    }

    /// Whether a year is one of the data.
    pub(in crate::post) fn has_year(&self, year: &str) -> bool {
        self.years.contains(year)
    }

    /// Whether the atom at `i` is a name of the data, or a part of one.
    pub(in crate::post) fn has(&self, all: &[Atom], i: usize) -> bool {
        let atom = &all[i];
        let claims = atom.after.starts_with(['%'])
            || atom.numeric() && all.get(i + 1).is_some_and(|n| self.measures(&n.text));
        if claims {
            return false;
        }
        if self.words.contains(&atom.text) || TERMS.contains(&atom.text.as_str()) {
            return true;
        }
        let Some(before) = i.checked_sub(1).map(|j| &all[j]) else { return false };
        let near = atom.before.chars().all(|c| matches!(c, ' ' | '-' | '\n' | '='));
        near && self.pairs.contains(&(before.text.clone(), atom.text.clone()))
    }
}
