//! Checks a post against the rules of a benchmark's owner for quoting results: the rule pack,
//! evaluated with the data that the post prints.

use assay_checks::{DisclosureEvidence, Evidence, RecordedValue, rows};
use assay_quoted::pack::fair_use::{FairUse, QuotedUse};
use assay_quoted::pack::{PackEvidence, PackVerdict, RuleResult, embedded, evaluate};

use super::checks;
use super::evaluator::Evaluator;

/// Evaluates the rule pack if results of SPEC's benchmarks are quoted. Rules that are broken or
/// cannot be checked make one warning: the results are quoted from documents that quote them, and
/// details that those leave out cannot be added here.
pub(super) fn check(e: &mut Evaluator<'_>) -> Option<PackVerdict> {
    let rows: Vec<usize> = e
        .used
        .iter()
        .copied()
        .filter(|at| e.library.result(*at).benchmark.starts_with("SPEC"))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let pack = embedded().into_iter().find(|p| p.id == "fair-use")?;
    let text = e.text.text.to_lowercase();
    let retired = text.contains("retired");
    let results = rows
        .iter()
        .map(|at| {
            let row = e.library.result(*at);
            // Some columns of the rows state facts about their documents.
            let says = |column: &str| match row.more.get(column).map(String::as_str) {
                Some("yes") => Some(true),
                Some("no") => Some(false),
                _ => None,
            };
            QuotedUse {
                what: row.id.clone(),
                benchmark: Some(row.benchmark.clone()),
                metric: Some(row.metric.clone()),
                source: Some(row.source.clone()).filter(|s| !s.is_empty()),
                licensee: e.front.licensee.clone(),
                retrieved: e.front.retrieved.clone().or_else(|| row.as_of_date.clone()),
                retirement_stated: Some(retired),
                retired: retired.then_some(true),
                beside: Some(beside(row)),
                public: says("public"),
                compliant: says("compliant"),
                estimated: says("estimated"),
                ..QuotedUse::default()
            }
        })
        .collect();
    let mark = e.trademarks.iter().find(|t| t.contains("SPEC")).cloned();
    let compared = e.numbers.iter().any(|n| n.facts.verdict.is_some() || n.function == "rank");
    let evidence = FairUse {
        results,
        basis_stated: Some(e.front.as_of.is_some() || !compared),
        sites_named: Some(if text.contains("spec.org") {
            vec!["spec.org".to_owned()]
        } else {
            Vec::new()
        }),
        trademark_line: mark,
        // Two benchmarks in one ratio have a finding of their own; here each is compared with
        // itself.
        compares_benchmarks: Some(Vec::new()),
        true_as_of: e.front.as_of.clone(),
        checked_as_of: Some(later(e, &rows).is_none()),
        derived: Some(e.numbers.iter().any(|n| n.kind.contains("derived"))),
        derived_marked_near_metric: Some(true),
    };
    let verdict = evaluate(&pack, &PackEvidence::FairUse(&evidence));
    let ids = |of: fn(&RuleResult) -> bool| -> Vec<String> {
        verdict.failed().filter(|r| of(&r.result)).map(|r| r.id.clone()).collect()
    };
    let disclosure = DisclosureEvidence {
        rules: format!("{} {}", pack.id, pack.version),
        required: pack.rules.iter().map(|r| r.id.clone()).collect(),
        broken: ids(|r| *r == RuleResult::Fail),
        unknown: ids(|r| *r != RuleResult::Fail),
        second_hand: true,
    };
    let evidence =
        Evidence { disclosures: RecordedValue::Is(vec![disclosure]), ..Evidence::default() };
    for finding in checks::judge(&rows::REQUIRED_DISCLOSURE, &evidence) {
        e.find(finding, None);
    }
    Some(verdict)
}

/// Returns the facts about the system that the post prints with a result.
fn beside(row: &assay_quoted::quoted::QuotedResult) -> Vec<String> {
    [("chips", row.chips), ("cores", row.cores), ("parallelism", row.threads)]
        .into_iter()
        .filter(|(_, n)| n.is_some())
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// Returns a result of a later day than the post's.
fn later(e: &Evaluator<'_>, rows: &[usize]) -> Option<usize> {
    let day = e.front.as_of.as_ref()?;
    rows.iter()
        .copied()
        .find(|at| e.library.result(*at).as_of_date.as_ref().is_some_and(|d| d > day))
}
