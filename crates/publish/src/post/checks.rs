//! Evidence of a post for the checks of the catalogue: its numbers, comparisons and quoted results.

use assay_checks::{
    ClaimEvidence, ComparisonEvidence, Derivation, Evidence, MetricIdentity, NumberEvidence,
    QuoteEvidence, RecordedValue, RegisteredItems, Verb, rows,
};
use assay_model::{CheckRow, Finding, FiredCheck, MetricKind, Profile, Severity};
use assay_quoted::denominator::{Basis, Reversal, SystemResult, divided, turned};

use super::amount::{Amount, RunPart};
use super::document::{ComputedNumber, PostBlock};
use super::evaluator::Evaluator;

/// Returns the findings of one check, in the profile `publish`.
pub(super) fn judge(row: &CheckRow, evidence: &Evidence) -> Vec<Finding> {
    let found = assay_checks::judge(row, evidence);
    found.into_iter().map(|f| f.in_profile(Profile::Publish)).collect()
}

/// Converts an amount to evidence about a printed number. The kind of the number is always printed
/// with it.
fn number(amount: &Amount) -> NumberEvidence {
    let (measured, quoted) = amount.kinds();
    NumberEvidence {
        what: format!("{} of {}", amount.metric, amount.entry.label),
        interval: amount.entry.value.interval,
        kind: match (measured, quoted) {
            (true, false) => Some(MetricKind::Measured),
            (false, true) => Some(MetricKind::Quoted),
            _ => Some(MetricKind::Derived),
        },
        labelled: true,
        ..NumberEvidence::default()
    }
}

fn of_numbers(numbers: Vec<NumberEvidence>) -> Evidence {
    Evidence { numbers: RecordedValue::Is(numbers), ..Evidence::default() }
}

/// Returns the findings about one value. A value of a run has those about the run, its treatments
/// and their trials.
pub(super) fn single(e: &Evaluator<'_>, amount: &Amount) -> Vec<Finding> {
    let mut out = Vec::new();
    if let Some(run) = &amount.run
        && let Some(view) = e.runs.get(&run.alias)
    {
        let grave = |f: &Finding| f.severity >= Severity::Warning;
        out.extend(view.findings_about(&run.treatments).into_iter().map(|(f, _)| f).filter(grave));
        if run.part != RunPart::Curve && amount.withheld.is_none() {
            out.extend(judge(&rows::INTERVAL_PRESENT, &of_numbers(vec![number(amount)])));
        }
    }
    out
}

/// Returns the findings about a value that is printed with a requested number of digits.
pub(super) fn digits(amount: &Amount, printed: String, factor: f64) -> Vec<Finding> {
    let scaled = amount.entry.value.interval.map(|mut i| {
        (i.low, i.high) = (i.low / factor, i.high / factor);
        i
    });
    let shown = NumberEvidence {
        printed: Some(printed),
        exact: Some(amount.entry.value.value / factor),
        interval: scaled,
        ..number(amount)
    };
    judge(&rows::RECOMPUTES, &of_numbers(vec![shown]))
}

/// Returns the findings about a comparison of two values.
pub(super) fn pair(e: &Evaluator<'_>, a: &Amount, b: &Amount, basis: Basis) -> Vec<Finding> {
    let mut out = single(e, a);
    out.extend(single(e, b));
    // For mixed kinds, the finding about the kinds already states that nobody showed the metrics to
    // be the same.
    if a.run.is_some() == b.run.is_some() || a.metric != b.metric {
        let identity = |x: &Amount| MetricIdentity {
            label: x.entry.label.clone(),
            metric: Some(x.metric.clone()),
            unit: Some(x.entry.value.unit.clone()),
            benchmark: Some(x.benchmark.clone()),
            ..MetricIdentity::default()
        };
        let metrics = RecordedValue::Is(vec![identity(a), identity(b)]);
        let evidence = Evidence { metrics, ..Evidence::default() };
        out.extend(judge(&rows::SAME_METRIC, &evidence));
    }
    out.extend(kinds(&[a, b]));
    out.extend(denominator(&[a, b], basis));
    if from_two_runs(a, b) {
        let message = format!(
            "{} and {} are of two runs: their difference may be drift",
            a.entry.label, b.entry.label
        );
        let found = FiredCheck::new(message).always(Severity::Warning);
        out.push(rows::INTERLEAVED.finding(found).in_profile(Profile::Publish));
    }
    out
}

/// Returns true if the two values were measured in different runs.
pub(super) fn from_two_runs(a: &Amount, b: &Amount) -> bool {
    a.run.as_ref().zip(b.run.as_ref()).is_some_and(|(a, b)| a.alias != b.alias)
}

/// Returns the findings about numbers that are shown next to each other.
pub(super) fn kinds(amounts: &[&Amount]) -> Vec<Finding> {
    let numbers = amounts.iter().map(|a| number(a)).collect();
    judge(&rows::KINDS_NOT_MIXED, &of_numbers(numbers))
}

/// Returns the findings about a denominator.
pub(super) fn denominator(amounts: &[&Amount], basis: Basis) -> Vec<Finding> {
    let entries: Vec<SystemResult> = amounts.iter().map(|a| a.entry.clone()).collect();
    let evidence = divided(&entries, basis);
    [&rows::DENOMINATOR_DEFINED, &rows::POWER_MEASURED, &rows::PRICE_BASIS]
        .into_iter()
        .flat_map(|row| judge(row, &evidence))
        .collect()
}

/// Returns the findings about an order that reverses under another denominator; the derivation has
/// the table over all denominators.
pub(super) fn reversal(claimed: Basis, turns: &[Reversal], several: bool) -> Vec<Finding> {
    judge(&rows::RANKING_FLIPS, &turned(claimed, turns, several, true))
}

/// Returns the findings about a comparison whose words follow from its numbers. A comparison
/// without an interval has no direction to judge.
pub(super) fn computed(comparison: &ComparisonEvidence) -> Vec<Finding> {
    let claim = ClaimEvidence {
        verb: Some(Verb::States),
        ratio: comparison.ratio,
        ..ClaimEvidence::default()
    };
    let evidence = Evidence {
        claim: RecordedValue::Is(claim),
        comparisons: RecordedValue::Is(vec![comparison.clone()]),
        ..Evidence::default()
    };
    judge(&rows::DIRECTION_SUPPORTED, &evidence)
}

/// Returns the findings about a rank.
pub(super) fn rank(label: &str, population: &str, as_of: Option<&str>) -> Vec<Finding> {
    let claim = ClaimEvidence {
        text: format!("the rank of {label} in {population}"),
        verb: Some(Verb::Best),
        population: Some(population.to_owned()),
        as_of: as_of.map(str::to_owned),
        ..ClaimEvidence::default()
    };
    judge(
        &rows::WORDING_EXACT,
        &Evidence { claim: RecordedValue::Is(claim), ..Evidence::default() },
    )
}

/// Adds the findings about the post as a whole.
pub(super) fn post(e: &mut Evaluator<'_>) {
    let marks: Vec<&str> = BODIES
        .iter()
        .filter(|(prefix, _)| {
            e.used.iter().any(|at| e.library.result(*at).benchmark.starts_with(prefix))
        })
        .map(|(_, note)| *note)
        .collect();
    for note in marks {
        if !e.trademarks.iter().any(|t| t.contains("registered trademarks")) {
            e.trademark(note);
        }
    }
    derived(e);
    selective(e);
    if e.used.is_empty() {
        return;
    }
    let bare = NumberEvidence { kind: Some(MetricKind::Quoted), ..NumberEvidence::default() };
    let numbers = of_numbers(vec![bare; e.used.len()]);
    let quotes = RecordedValue::Is(e.used.iter().map(|at| quote(e, *at)).collect());
    let quotes = Evidence { quotes, ..Evidence::default() };
    let found = [(&rows::INTERVAL_PRESENT, numbers), (&rows::SOURCE_AND_DATE, quotes)];
    for finding in found.iter().flat_map(|(row, evidence)| judge(row, evidence)) {
        e.find(finding, None);
    }
}

/// Adds findings about runs of which some treatments are shown and others are not.
fn selective(e: &mut Evaluator<'_>) {
    let mut found = Vec::new();
    for (alias, shown) in &e.shown {
        let Some(view) = e.runs.get(alias) else { continue };
        let label = |id: &u32| view.label(*id);
        let registered = RegisteredItems {
            items: view.plan.treatments.iter().map(|t| label(&t.id)).collect(),
            shown: shown.iter().map(label).collect(),
            reverses_headline: None,
            headline: None,
        };
        let evidence = Evidence { registered: Some(registered), ..Evidence::default() };
        found.extend(judge(&rows::SELECTIVE_REPORT, &evidence));
    }
    for finding in found {
        e.find(finding, None);
    }
}

/// Returns the evidence about a quoted result: its document, its day and newer results.
fn quote(e: &Evaluator<'_>, at: usize) -> QuoteEvidence {
    let row = e.library.result(at);
    let page = e.front.as_of.clone();
    let newer =
        row.result.as_ref().and_then(|own| e.library.newest(&row.benchmark, &row.metric, own));
    QuoteEvidence {
        what: row.id.clone(),
        document: (!row.source.is_empty()).then(|| e.library.source_words(&row.source)),
        dated: row.as_of_date.clone().or_else(|| e.front.retrieved.clone()),
        later_than: page.clone().filter(|day| row.as_of_date.as_ref().is_some_and(|own| own > day)),
        newer: newer
            .filter(|n| n.as_of_date > row.as_of_date)
            .filter(|n| page.is_none() || n.as_of_date <= page)
            .map(|n| n.id.clone()),
    }
}

/// Adds findings about values per denominator: the post must also show the value that was divided.
fn derived(e: &mut Evaluator<'_>) {
    let per = |n: &&ComputedNumber| n.function == "per" && n.withheld.is_none();
    let found: Vec<(Vec<Finding>, usize)> = e
        .numbers
        .iter()
        .filter(per)
        .map(|n| {
            let shown = NumberEvidence {
                what: format!("`{}`", n.text),
                kind: Some(MetricKind::Derived),
                derivation: Some(Derivation {
                    marked: n.kind.contains("derived"),
                    shown_as_official: false,
                    base_nearby: base_is_shown(e, n),
                }),
                ..NumberEvidence::default()
            };
            (judge(&rows::DERIVED_MARKED, &of_numbers(vec![shown])), n.line)
        })
        .collect();
    for (findings, line) in found {
        for finding in findings {
            e.find(finding, Some(line));
        }
    }
}

/// Returns true if the post also prints the value that a number was derived from.
fn base_is_shown(e: &Evaluator<'_>, derived: &ComputedNumber) -> bool {
    let Some(base) = derived.inputs.first() else { return false };
    let in_number = |n: &ComputedNumber| {
        n.function != "per"
            && n.inputs.iter().any(|i| i.label == base.label && i.value == base.value)
    };
    let Some(id) = &base.result else { return e.numbers.iter().any(in_number) };
    let to = format!("#q-{id}");
    let in_table = e.blocks.iter().any(|b| matches!(b, PostBlock::Parts(p) if p.leads_to(&to)));
    in_table || e.numbers.iter().any(in_number)
}

/// Prefixes of benchmarks whose owners' trademarks must be named where results are quoted, with the
/// notes.
const BODIES: [(&str, &str); 2] = [
    (
        "SPEC",
        "SPEC and the names of its benchmarks are registered trademarks of the Standard \
        Performance Evaluation Corporation (spec.org). The results are quoted as printed by the \
        sources.",
    ),
    (
        "MSC/Nastran",
        "MSC and Nastran are trademarks of their owners. Results are quoted as printed.",
    ),
];
