//! Names and days of the data: text that repeats them verbatim is not a quantity.

use std::collections::{BTreeMap, BTreeSet};

use super::atoms::{Atom, atoms};
use crate::post::front::FrontMatter;
use crate::post::library::Library;
use assay_report::RunView;

/// Names, days and units of the data.
#[derive(Debug, Clone, Default)]
pub(in crate::post) struct ExemptWords {
    /// Words with digits (`t5240`), and versions with several parts (`4.4.0`).
    words: BTreeSet<String>,
    /// Numbers with the word before each: `power` `570`.
    pairs: BTreeSet<(String, String)>,
    /// Days in the form `2009-08-27`.
    days: BTreeSet<String>,
    units: BTreeSet<String>,
}

const UNITS: &str = "percent per pct percentage times fold points x s ms us ns min h sec secs \
                     second seconds minute minutes hour hours day days k m g t kb mb gb tb kib mib \
                     gib tib b bytes byte bops ops iops requests transactions operations orders w \
                     watts watt kw j joules mhz ghz hz rpm bit bits usd dollars euros";

const MONTHS: &str =
    "january february march april may june july august september october november december";

impl ExemptWords {
    /// Collects the names and days of every result and run.
    pub(in crate::post) fn new(
        front: &FrontMatter,
        library: &Library,
        runs: &BTreeMap<String, RunView>,
    ) -> Self {
        let mut out = ExemptWords::default();
        for at in 0..library.len() {
            let row = library.result(at);
            let texts = [
                Some(row.benchmark.as_str()),
                Some(row.system.as_str()),
                row.vendor.as_deref(),
                row.processor.as_deref(),
                row.os.as_deref(),
                row.compiler_or_jvm.as_deref(),
                row.more.get("test").map(String::as_str),
                row.more.get("variant").map(String::as_str),
            ];
            texts.into_iter().flatten().for_each(|text| out.name(text));
            // `SPECint2006` is a name; the number in `started in 1 s` is not.
            let words = row.metric.split_whitespace();
            words.filter(|w| w.starts_with(char::is_alphabetic)).for_each(|w| out.name(w));
            out.days.extend(row.as_of_date.clone());
            out.unit(&row.unit);
        }
        out.days.extend(library.collection.sources().map(|s| s.date.clone()));
        out.days.extend(front.as_of.iter().chain(&front.retrieved).cloned());
        for view in runs.values() {
            out.days.extend(view.summary.started_at.get(..10).map(str::to_owned));
            out.name(&view.summary.workload);
            out.name(&view.summary.experiment);
            for t in &view.plan.treatments {
                t.label().split(", ").for_each(|level| out.name(level));
            }
            let named = |path: &str| {
                ["version", "release", "model", "name", "compiler"].iter().any(|p| path.contains(p))
            };
            for (path, fact) in view.system.facts.iter().filter(|(path, _)| named(path)) {
                let value = fact.value().into_iter();
                value.for_each(|v| out.name(&format!("{} {v}", path.replace('.', " "))));
            }
            view.analysis.summaries.iter().for_each(|s| out.unit(&s.unit));
        }
        out
    }

    fn name(&mut self, name: &str) {
        let all = atoms(name);
        for (i, atom) in all.iter().enumerate().filter(|(_, a)| a.has_digit()) {
            let version = atom.text.matches('.').count() > 1 || atom.text.contains('_');
            // `450.soplex` is a name, but `2.5x` is not.
            let numbered = atom
                .text
                .split_once('.')
                .is_some_and(|(_, name)| name.len() > 2 && name.chars().all(char::is_alphabetic));
            if !atom.numeric() || version || numbered {
                self.words.insert(atom.text.clone());
            } else if let Some(before) = i.checked_sub(1).map(|j| &all[j])
                && atom.bare()
                && before.text.len() > 1
                && !before.numeric()
                && !self.is_unit(&before.text)
            {
                self.pairs.insert((before.text.clone(), atom.text.clone()));
            }
        }
    }

    fn unit(&mut self, unit: &str) {
        let small = ["in", "of", "per", "each", "for", "the", "on", "os"];
        let words = atoms(unit).into_iter().filter(|a| !a.has_digit()).map(|a| a.text);
        self.units.extend(words.filter(|w| !small.contains(&w.as_str())));
    }

    fn is_unit(&self, word: &str) -> bool {
        self.units.contains(word) || UNITS.split_whitespace().any(|u| u == word)
    }

    /// Returns a flag for each atom: true if it is part of a name or a day of the data.
    pub(super) fn exempted(&self, all: &[Atom]) -> Vec<bool> {
        let mut out: Vec<bool> = (0..all.len()).map(|i| self.is_name(all, i)).collect();
        for i in 0..all.len() {
            let end = self.day(all, i);
            if end > i && !self.measures(all, end - 1) {
                out[i..end].fill(true);
            }
        }
        out
    }

    /// Returns true if a percent sign or a unit follows.
    fn measures(&self, all: &[Atom], i: usize) -> bool {
        let next = all.get(i + 1).filter(|n| n.before.trim().is_empty());
        all[i].after.trim_start().starts_with('%') || next.is_some_and(|n| self.is_unit(&n.text))
    }

    fn is_name(&self, all: &[Atom], i: usize) -> bool {
        let atom = &all[i];
        if atom.numeric() && self.measures(all, i) {
            return false;
        }
        let Some(before) = i.checked_sub(1).map(|j| &all[j]) else {
            return self.words.contains(&atom.text);
        };
        let near = atom.before.chars().all(|c| matches!(c, ' ' | '-' | '\n' | '='));
        self.words.contains(&atom.text)
            || near && self.pairs.contains(&(before.text.clone(), atom.text.clone()))
    }

    /// Returns the end of the day that begins at an atom: `2009-08-27`, `27 August 2009`, `August
    /// 2009`; `i` if none begins there.
    fn day(&self, all: &[Atom], i: usize) -> usize {
        let text = |at: usize| all.get(at).map_or("", |a| a.text.as_str());
        let joined = |at: usize, with: &str| all.get(at).is_some_and(|a| a.before.trim() == with);
        if joined(i + 1, "-") && joined(i + 2, "-") {
            let day = format!("{}-{}-{}", text(i), text(i + 1), text(i + 2));
            return if self.days.contains(&day) { i + 3 } else { i };
        }
        let bare = all.get(i).is_some_and(Atom::bare) && joined(i + 1, "");
        let at = i + usize::from(bare);
        let Some(month) = MONTHS.split(' ').position(|m| m == text(at)) else { return i };
        let month = format!("{}-{:02}-", text(at + 1), month + 1);
        let whole = text(i).parse::<u8>().map(|day| format!("{month}{day:02}"));
        let known = match whole {
            Ok(day) if bare => self.days.contains(&day),
            _ => self.days.iter().any(|d| d.starts_with(&month)),
        };
        if known && joined(at + 1, "") { at + 2 } else { i }
    }
}

#[cfg(test)]
impl ExemptWords {
    pub(super) fn example() -> Self {
        let mut out = ExemptWords::default();
        let names = [
            "IBM Power 570",
            "Sun SPARC Enterprise T5240",
            "Solaris 10",
            "gcc 4.4.0",
            "SPECjbb2005",
        ];
        for name in names {
            out.name(name);
        }
        out.name("450.soplex at 2.5x, 16 GB");
        out.days.insert("2009-08-27".to_owned());
        out.unit("bops");
        out
    }
}
