//! Every rule of the packs that come with assay with a passing, a failing and an incomplete fixture,
//! and the reader of pack files.

mod cpu;
mod fair_use;
mod files;
mod orders;

use std::collections::BTreeSet;

use assay_rules::pack::{Pack, PackEvidence, PackVerdict, RuleResult, Verdict, embedded, evaluate};

/// A pack that comes with assay.
pub fn pack(id: &str) -> Pack {
    embedded().into_iter().find(|p| p.id == id).unwrap()
}

/// The result of one rule.
pub fn of(verdict: &PackVerdict, id: &str) -> RuleResult {
    verdict.rules.iter().find(|r| r.id == id).unwrap().result
}

/// Rules, each with a change to evidence.
type Changes<E> = &'static [(&'static str, fn(&mut E))];

/// Faults and gaps of a pack: by rule, a change to the sound evidence.
pub struct Cases<E: 'static> {
    /// The pack's id.
    pub pack: &'static str,
    /// Evidence that keeps every rule.
    pub sound: fn() -> E,
    /// The evidence as the pack takes it.
    pub wrap: fn(&E) -> PackEvidence<'_>,
    /// What breaks a rule.
    pub faults: Changes<E>,
    /// What leaves a rule unknown.
    pub gaps: Changes<E>,
}

/// Sound evidence is reportable; each fault breaks its rule, each gap leaves it unknown, and both cost
/// what the rule says.
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
            assert!(verdict.findings().iter().any(|f| f.id == format!("{}:{id}", cases.pack)));
        }
        let all: BTreeSet<&str> = pack.rules.iter().map(|r| r.id.as_str()).collect();
        let with: BTreeSet<&str> = changes.iter().map(|(id, _)| *id).collect();
        assert_eq!(with, all, "every rule has a fixture for {wanted:?}");
    }
}
