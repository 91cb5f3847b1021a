//! What differs between two descriptions, and how much it means.

use std::collections::BTreeSet;

use assay_model::{Fact, SystemDescription};

use crate::class::{FactClass, class_of};

/// A fact in which two systems differ, or of which it is not known that they agree.
#[derive(Debug, Clone, PartialEq)]
pub struct FactDiff {
    /// The fact's path.
    pub path: String,
    /// The fact in the first system; `None` if it is not described there.
    pub a: Option<Fact>,
    /// The fact in the second.
    pub b: Option<Fact>,
    /// How much it means.
    pub class: FactClass,
}

/// Every path at which `a` and `b` do not have the same known value, in the order of paths.
///
/// Two unknowns are a difference: nobody knows that they agree. An unknown is at least soft,
/// whatever the path's class. A fact that only one of them has counts with its path's class.
pub fn diff(a: &SystemDescription, b: &SystemDescription) -> Vec<FactDiff> {
    let paths: BTreeSet<&String> = a.facts.keys().chain(b.facts.keys()).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let (left, right) = (a.facts.get(path), b.facts.get(path));
            let unknown = [left, right].iter().flatten().any(|f| f.value().is_none());
            if left == right && !unknown {
                return None;
            }
            let class = class_of(path);
            Some(FactDiff {
                path: path.clone(),
                a: left.cloned(),
                b: right.cloned(),
                class: if unknown { class.max(FactClass::Soft) } else { class },
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(facts: &[(&str, Fact)]) -> SystemDescription {
        SystemDescription {
            facts: facts.iter().map(|(p, f)| ((*p).to_owned(), f.clone())).collect(),
            ..SystemDescription::default()
        }
    }

    #[test]
    fn unknown_is_never_equal_and_at_least_soft() {
        let a = system(&[
            ("cpu.model", Fact::known("x")),
            ("cpu.mhz", Fact::unknown("no")),
            ("kernel.release", Fact::known("6.1")),
            ("load.avg1", Fact::known("0.1")),
        ]);
        let b = system(&[
            ("cpu.model", Fact::known("x")),
            ("cpu.mhz", Fact::unknown("no")),
            ("kernel.release", Fact::known("6.2")),
            ("env.NEW", Fact::known("1")),
            ("load.avg1", Fact::known("0.2")),
        ]);
        let found: Vec<_> = diff(&a, &b).into_iter().map(|d| (d.path, d.class)).collect();
        let expected = [
            ("cpu.mhz", FactClass::Soft),
            ("env.NEW", FactClass::Soft),
            ("kernel.release", FactClass::Hard),
            ("load.avg1", FactClass::Volatile),
        ];
        assert_eq!(found, expected.map(|(p, c)| (p.to_owned(), c)));
        assert!(diff(&a, &a).iter().all(|d| d.path == "cpu.mhz"));
    }
}
