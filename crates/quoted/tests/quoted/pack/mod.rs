//! Tests of every rule of the built-in packs with a passing, a failing and an incomplete fixture,
//! and of the reader of pack files.

mod cpu;
mod fair_use;
mod files;
mod orders;

use std::collections::BTreeSet;

use assay_quoted::pack::{
    Pack, PackEvidence, PackVerdict, RuleResult, Verdict, embedded, evaluate,
};

/// Returns a built-in pack.
pub fn pack(id: &str) -> Pack {
    embedded().into_iter().find(|p| p.id == id).unwrap()
}

/// Returns the result of one rule.
pub fn of(verdict: &PackVerdict, id: &str) -> RuleResult {
    verdict.rules.iter().find(|r| r.id == id).unwrap().result
}

/// Ids of rules, each with a change to the evidence.
type Changes<E> = &'static [(&'static str, fn(&mut E))];

/// Test cases of a pack: changes to compliant evidence, by rule.
pub struct Cases<E: 'static> {
    pub pack: &'static str,
    /// Creates evidence that satisfies every rule.
    pub sound: fn() -> E,
    /// Converts the evidence to the type that packs take.
    pub wrap: fn(&E) -> PackEvidence<'_>,
    /// Changes that violate a rule.
    pub faults: Changes<E>,
    /// Changes that make a rule unknown.
    pub gaps: Changes<E>,
}

/// Checks that compliant evidence is reportable, that each fault violates its rule and each gap
/// makes it unknown, and that both lead to the verdict that the rule specifies.
pub fn check<E>(cases: &Cases<E>) {
    let pack = pack(cases.pack);
    let sound = evaluate(&pack, &(cases.wrap)(&(cases.sound)()));
    for rule in &sound.rules {
        assert_eq!(rule.result, RuleResult::Pass, "{}: {}", rule.id, rule.evidence);
        assert!(rule.disclosure.is_empty());
    }
    assert_eq!(sound.verdict, Verdict::Reportable);
    for (changes, wanted) in [(cases.faults, RuleResult::Fail), (cases.gaps, RuleResult::Unknown)] {
        for (id, change) in changes {
            let mut evidence = (cases.sound)();
            change(&mut evidence);
            let verdict = evaluate(&pack, &(cases.wrap)(&evidence));
            let outcome = verdict.rules.iter().find(|r| r.id == *id).unwrap();
            assert_eq!(outcome.result, wanted, "{id}: {}", outcome.evidence);
            assert!(!outcome.evidence.is_empty() && !outcome.disclosure.is_empty(), "{id}");
            let rule = pack.rules.iter().find(|r| r.id == *id).unwrap();
            match rule.on_failure {
                Verdict::Invalid => assert_eq!(verdict.verdict, Verdict::Invalid, "{id}"),
                Verdict::Valid => assert!(verdict.verdict <= Verdict::Valid, "{id}"),
                Verdict::Reportable => {}
            }
            assert!(verdict.failed().any(|r| r.id == *id));
        }
        let all: BTreeSet<&str> = pack.rules.iter().map(|r| r.id.as_str()).collect();
        let with: BTreeSet<&str> = changes.iter().map(|(id, _)| *id).collect();
        assert_eq!(with, all, "every rule has a fixture for {wanted:?}");
    }
}
