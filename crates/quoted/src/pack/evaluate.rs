//! Evaluation of a pack: the outcome of every rule, and the overall verdict.

use assay_model::Severity;
use serde::Serialize;

use super::cpu::CpuSuiteResult;
use super::fair_use::FairUse;
use super::judged::{CheckParam, CheckVerdict, PackCheck, Parameters};
use super::orders::OrdersResult;
use super::{Pack, PackRule, PackScope, Verdict, cpu, fair_use, orders};

/// Evidence that a pack is evaluated on.
#[derive(Debug, Clone, Copy)]
pub enum PackEvidence<'a> {
    Cpu(&'a CpuSuiteResult),
    Orders(&'a OrdersResult),
    /// A claim that quotes the results of others.
    FairUse(&'a FairUse),
}

/// Result of checking one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleResult {
    /// The rule is satisfied.
    Pass,
    /// The rule is violated.
    Fail,
    /// The result lacks the data to check the rule; never counts as a pass.
    Unknown,
}

assay_model::names! {
    pub RuleResult::name: Pass = "pass", Fail = "fail", Unknown = "unknown"
}

/// Outcome of one rule with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleOutcome {
    pub id: String,
    pub result: RuleResult,
    /// Observation that decided, or the missing data.
    pub evidence: String,
    /// Severity of a violation, also if the rule passes.
    pub severity: Severity,
    /// Sentence for the disclosure; empty if the rule passes.
    pub disclosure: String,
}

/// Verdict of a pack on a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackVerdict {
    pub pack: String,
    pub version: String,
    /// Overall verdict: the worst one allowed by the failed and unknown rules.
    pub verdict: Verdict,
    /// Outcomes of all rules, in the pack's order.
    pub rules: Vec<RuleOutcome>,
}

impl PackVerdict {
    /// Returns the rules that failed or are unknown.
    pub fn failed(&self) -> impl Iterator<Item = &RuleOutcome> {
        self.rules.iter().filter(|r| r.result != RuleResult::Pass)
    }
}

/// Returns the names of the checks for a kind of pack, with the parameters of each.
pub(crate) fn check_names(applies: PackScope) -> Vec<(&'static str, &'static [CheckParam])> {
    fn names<E: 'static>(
        checks: impl IntoIterator<Item = &'static PackCheck<E>>,
    ) -> Vec<(&'static str, &'static [CheckParam])> {
        checks.into_iter().map(|c| (c.name, c.parameters)).collect()
    }
    match applies {
        PackScope::CpuSuite => names(cpu::checks()),
        PackScope::Orders => names(orders::checks()),
        PackScope::QuotedClaims => names(fair_use::CHECKS),
    }
}

/// Evaluates every rule of a pack. If the evidence is of another kind than the pack's, all rules
/// are unknown.
pub fn evaluate(pack: &Pack, evidence: &PackEvidence<'_>) -> PackVerdict {
    let mut verdict = Verdict::Reportable;
    let mut rules = Vec::new();
    for rule in &pack.rules {
        let (result, evidence) = match judge(pack.applies_to, rule, evidence) {
            CheckVerdict::Pass(seen) => (RuleResult::Pass, seen),
            CheckVerdict::Fail(seen) => (RuleResult::Fail, seen),
            CheckVerdict::Unknown(what) => (RuleResult::Unknown, what),
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

fn judge(applies: PackScope, rule: &PackRule, evidence: &PackEvidence<'_>) -> CheckVerdict {
    let parameters = Parameters(&rule.parameters);
    match (applies, evidence) {
        (PackScope::CpuSuite, PackEvidence::Cpu(e)) => {
            by_name(cpu::checks(), rule, *e, &parameters)
        }
        (PackScope::Orders, PackEvidence::Orders(e)) => {
            by_name(orders::checks(), rule, *e, &parameters)
        }
        (PackScope::QuotedClaims, PackEvidence::FairUse(e)) => {
            by_name(fair_use::CHECKS, rule, *e, &parameters)
        }
        _ => CheckVerdict::Unknown("a result of the pack's kind".to_owned()),
    }
}

/// Evaluates the check that a rule names.
fn by_name<E: 'static>(
    checks: impl IntoIterator<Item = &'static PackCheck<E>>,
    rule: &PackRule,
    evidence: &E,
    parameters: &Parameters<'_>,
) -> CheckVerdict {
    match checks.into_iter().find(|c| c.name == rule.check) {
        Some(check) => (check.evaluate)(evidence, parameters),
        None => CheckVerdict::Unknown(format!("the check `{}`", rule.check)),
    }
}
