//! Patterns that name treatments by levels or labels, in `design.exclude` and `compare.baseline`.
//! Levels are looked up in maps, so that planning takes time proportional to the number of
//! treatments plus patterns, not to their product.

use std::collections::{BTreeMap, HashMap, HashSet};

use assay_model::{Experiment, FactorLevels, Scalar, TreatmentPattern};

use crate::error::{Result, wrong};
use crate::plan::factors::Factors;

/// Limit on the distinct sets of factors in the patterns of `design.exclude`, because each
/// treatment is looked up in each set.
pub(super) const MAX_SETS: usize = 100;

/// For each factor, the text of each level by the names that a pattern may use.
pub(super) struct LevelNames<'a> {
    factors: &'a Factors,
    of: HashMap<&'a str, HashMap<String, String>>,
}

/// Returns the list of the factors that exist.
pub(super) fn factor_help(known: &[&str]) -> String {
    match known {
        [] => "the experiment has none; add it under [factors]".to_owned(),
        _ => format!("the factors are {}", known.join(", ")),
    }
}

impl<'a> LevelNames<'a> {
    /// Collects the names of all levels.
    ///
    /// # Errors
    /// A label is the text of another level.
    pub(super) fn from_experiment(experiment: &Experiment, factors: &'a Factors) -> Result<Self> {
        let mut of = HashMap::new();
        for (name, levels) in factors {
            let own = levels.iter().map(|l| (l.to_text(), l.to_text()));
            let mut known: HashMap<String, String> = own.collect();
            if let Some(FactorLevels::List(levels)) = experiment.factors.get(name) {
                for (label, level) in levels.iter().filter_map(|l| Some((l.label()?, l.value()))) {
                    let text = level.to_text();
                    let other = known.insert(label.to_owned(), text.clone());
                    if other.is_some_and(|other| other != text) {
                        let message = format!("the label `{label}` names two levels");
                        return Err(wrong(&["factors", name], message, ""));
                    }
                }
            }
            of.insert(name.as_str(), known);
        }
        Ok(LevelNames { factors, of })
    }

    /// Returns the factors of a pattern with the texts of their levels.
    ///
    /// # Errors
    /// A factor or level of the pattern does not exist.
    pub(super) fn resolve<'p>(
        &self,
        path: &[&str],
        pattern: &'p TreatmentPattern,
    ) -> Result<Vec<(&'p str, String)>> {
        let level = |(name, value): (&'p String, &Scalar)| {
            let Some(known) = self.of.get(name.as_str()) else {
                let known: Vec<&str> = self.factors.iter().map(|(n, _)| n.as_str()).collect();
                let help = factor_help(&known);
                return Err(wrong(path, format!("`{name}` is not a factor"), help));
            };
            let text = known.get(&value.to_text()).ok_or_else(|| {
                let levels = self.factors.iter().filter(|(n, _)| n == name).flat_map(|(_, l)| l);
                let levels: Vec<String> = levels.map(Scalar::to_text).collect();
                let help = format!("its levels are {}", levels.join(", "));
                wrong(path, format!("`{name}` has no level `{value}`"), help)
            })?;
            Ok((name.as_str(), text.clone()))
        };
        pattern.iter().map(level).collect()
    }
}

/// Combinations that `design.exclude` names: the texts of their levels, by the factors of the
/// pattern.
pub(super) struct ExcludedCombinations<'a>(HashMap<Vec<&'a str>, HashSet<Vec<String>>>);

impl<'a> ExcludedCombinations<'a> {
    /// Resolves the patterns of `design.exclude`.
    ///
    /// # Errors
    /// Those of [`LevelNames::resolve`], or the patterns name too many sets of factors.
    pub(super) fn from_experiment(
        experiment: &'a Experiment,
        names: &LevelNames<'_>,
    ) -> Result<Self> {
        let path = ["design", "exclude"];
        let mut sets: HashMap<Vec<&str>, HashSet<Vec<String>>> = HashMap::new();
        // An empty pattern excludes nothing.
        for pattern in experiment.design.exclude.iter().filter(|p| !p.is_empty()) {
            let (factors, levels) = names.resolve(&path, pattern)?.into_iter().unzip();
            sets.entry(factors).or_default().insert(levels);
        }
        if sets.len() > MAX_SETS {
            let message = format!("the patterns name more than {MAX_SETS} sets of factors");
            return Err(wrong(&path, message, "exclude by fewer factors"));
        }
        Ok(ExcludedCombinations(sets))
    }

    /// Returns true if a combination is excluded.
    pub(super) fn has(&self, levels: &BTreeMap<String, Scalar>) -> bool {
        self.0.iter().any(|(factors, excluded)| {
            let texts = factors.iter().map(|f| levels.get(*f).map(Scalar::to_text));
            texts.collect::<Option<Vec<_>>>().is_some_and(|texts| excluded.contains(&texts))
        })
    }
}
