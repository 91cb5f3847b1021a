//! Evaluates a pack: every rule's outcome, and the verdict of the whole.

use assay_model::{Finding, Severity};
use serde::Serialize;

use super::cpu::CpuSuiteResult;
use super::fair_use::FairUse;
use super::judged::{Judged, PackCheck, Parameters, Wanted};
use super::orders::OrdersResult;
use super::{Applies, Pack, Rule, Verdict, cpu, fair_use, orders};

/// What a pack is evaluated over.
#[derive(Debug, Clone, Copy)]
pub enum PackEvidence<'a> {
    /// A result of a CPU suite.
    Cpu(&'a CpuSuiteResult),
    /// A result of order processing.
    Orders(&'a OrdersResult),
    /// A claim that quotes results of others.
    FairUse(&'a FairUse),
}

/// What became of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleResult {
    /// It is kept.
    Pass,
    /// It is broken.
    Fail,
    /// The result does not hold what it takes to say; never a pass.
    Unknown,
}

/// One rule's outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleOutcome {
    /// The rule's id.
    pub id: String,
    /// What became of it.
    pub result: RuleResult,
    /// What was seen, or what is missing.
    pub evidence: String,
    /// How bad it is; of a rule that is kept, how bad it would be.
    pub severity: Severity,
    /// The sentence for the disclosure; empty when the rule is kept.
    pub disclosure: String,
}

/// What a pack says about a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackVerdict {
    /// The pack's id.
    pub pack: String,
    /// The pack's version.
    pub version: String,
    /// The verdict: the worst that a broken or unknown rule allows.
    pub verdict: Verdict,
    /// Every rule, in the pack's order.
    pub rules: Vec<RuleOutcome>,
}

impl PackVerdict {
    /// The rules that are not kept.
    pub fn failed(&self) -> impl Iterator<Item = &RuleOutcome> {
        self.rules.iter().filter(|r| r.result != RuleResult::Pass)
    }

    /// The rules that are not kept as findings.
    pub fn findings(&self) -> Vec<Finding> {
        self.failed()
            .map(|r| {
                let message = match r.result {
                    RuleResult::Unknown => format!("cannot check: {} is not recorded", r.evidence),
                    _ => r.evidence.clone(),
                };
                let (rule, pack) =
                    (format!("{}:{}", self.pack, r.id), format!("{} {}", self.pack, self.version));
                Finding::of_rule(rule, pack, r.severity, message, r.disclosure.clone())
            })
            .collect()
    }
}

/// The names of the checks for a kind of pack, with the parameters that each takes.
pub(crate) fn check_names(applies: Applies) -> Vec<(&'static str, &'static [Wanted])> {
    fn names<E: 'static>(
        checks: impl IntoIterator<Item = &'static PackCheck<E>>,
    ) -> Vec<(&'static str, &'static [Wanted])> {
        checks.into_iter().map(|c| (c.name, c.parameters)).collect()
    }
    match applies {
        Applies::CpuSuite => names(cpu::checks()),
        Applies::Orders => names(orders::checks()),
        Applies::QuotedClaims => names(fair_use::CHECKS),
    }
}

/// Evaluates every rule of a pack. Evidence of another kind than the pack's leaves all rules unknown.
pub fn evaluate(pack: &Pack, evidence: &PackEvidence<'_>) -> PackVerdict {
    let mut verdict = Verdict::Reportable;
    let mut rules = Vec::new();
    for rule in &pack.rules {
        let (result, evidence) = match judge(pack.applies_to, rule, evidence) {
            Judged::Pass(seen) => (RuleResult::Pass, seen),
            Judged::Fail(seen) => (RuleResult::Fail, seen),
            Judged::Unknown(what) => (RuleResult::Unknown, what),
        };
        if result != RuleResult::Pass {
            verdict = verdict.min(rule.on_failure);
        }
        rules.push(RuleOutcome {
            id: rule.id.clone(),
            result,
            evidence,
            severity: rule.severity,
            disclosure: match result {
                RuleResult::Pass => String::new(),
                _ => rule.disclosure.clone(),
            },
        });
    }
    PackVerdict { pack: pack.id.clone(), version: pack.version.clone(), verdict, rules }
}

fn judge(applies: Applies, rule: &Rule, evidence: &PackEvidence<'_>) -> Judged {
    let parameters = Parameters(&rule.parameters);
    match (applies, evidence) {
        (Applies::CpuSuite, PackEvidence::Cpu(e)) => by_name(cpu::checks(), rule, *e, &parameters),
        (Applies::Orders, PackEvidence::Orders(e)) => {
            by_name(orders::checks(), rule, *e, &parameters)
        }
        (Applies::QuotedClaims, PackEvidence::FairUse(e)) => {
            by_name(fair_use::CHECKS, rule, *e, &parameters)
        }
        _ => Judged::Unknown("a result of the pack's kind".to_owned()),
    }
}

/// What the check that a rule names says.
fn by_name<E: 'static>(
    checks: impl IntoIterator<Item = &'static PackCheck<E>>,
    rule: &Rule,
    evidence: &E,
    parameters: &Parameters<'_>,
) -> Judged {
    match checks.into_iter().find(|c| c.name == rule.check) {
        Some(check) => (check.evaluate)(evidence, parameters),
        None => Judged::Unknown(format!("the check `{}`", rule.check)),
    }
}
