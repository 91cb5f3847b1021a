//! The checks of the catalogue that a post's numbers are held against.

use assay_checks::rows;
use assay_model::{Finding, Interval, Severity, Verdict};
use assay_rules::denominator::{Basis, Denominator, MatrixShown, Reversal, ranking_flips};

use super::amount::{Amount, Part};
use super::evaluate::{Evaluator, finding};

/// Of one value: that of a run brings what was found about the run, its treatments and their trials.
pub(super) fn single(e: &Evaluator<'_>, amount: &Amount) -> Vec<Finding> {
    let mut out = Vec::new();
    if let Some(run) = &amount.run
        && let Some(view) = e.runs.get(&run.alias)
    {
        let grave = |f: &Finding| f.severity >= Severity::Warning;
        out.extend(view.findings_about(&run.treatments).into_iter().map(|(f, _)| f).filter(grave));
        let exact = run.part != Part::Curve && amount.entry.value.interval.is_none();
        if exact && amount.withheld.is_none() {
            out.push(finding(
                &rows::INTERVAL_PRESENT,
                Severity::Warning,
                format!("{} of {} has no interval", amount.metric, amount.entry.label),
                "run at least three blocks",
            ));
        }
    }
    if let (Some(day), Some(of)) = (&amount.as_of, &e.front.as_of)
        && of < day
        && amount.run.is_none()
    {
        out.push(finding(
            &rows::SOURCE_AND_DATE,
            Severity::Warning,
            format!("{} is of {day}, later than the post's {of}", amount.entry.label),
            "give the post the later date",
        ));
    }
    out
}

/// Of a comparison.
pub(super) fn pair(e: &Evaluator<'_>, a: &Amount, b: &Amount, basis: Basis) -> Vec<Finding> {
    let mut out = single(e, a);
    out.extend(single(e, b));
    out.extend(metrics(a, b));
    let ((measured_a, quoted_a), (measured_b, quoted_b)) = (a.kinds(), b.kinds());
    if (measured_a || measured_b) && (quoted_a || quoted_b) {
        let (own, other) = if measured_a { (a, b) } else { (b, a) };
        out.push(finding(
            &rows::KINDS_NOT_MIXED,
            Severity::Warning,
            format!(
                "{} was measured here, {} is quoted; nobody showed that both measure the same",
                own.entry.label, other.entry.label
            ),
            "take the ratio as orientation only",
        ));
    }
    out.extend(denominator(e, a, basis));
    out.extend(denominator(e, b, basis));
    out
}

/// A base result may stand for a peak one, never the reverse; other metrics have no ratio.
fn metrics(a: &Amount, b: &Amount) -> Option<Finding> {
    if a.metric == b.metric && a.benchmark == b.benchmark {
        return None;
    }
    if a.benchmark == b.benchmark && is_base_of(&a.metric, &b.metric) {
        return Some(finding(
            &rows::SAME_METRIC,
            Severity::Note,
            format!("{} stands against {}: base against peak", a.metric, b.metric),
            "",
        ));
    }
    if a.run.is_some() != b.run.is_some() && a.metric == b.metric {
        // The kinds are mixed, which has a finding of its own.
        return None;
    }
    let side = |x: &Amount| format!("{} of {}", x.metric, x.benchmark);
    Some(finding(
        &rows::SAME_METRIC,
        Severity::Invalid,
        format!("{} and {} are different metrics and have no ratio", side(a), side(b)),
        "compare results of one metric",
    ))
}

/// Whether `base` names the base metric of the peak metric `peak`.
fn is_base_of(base: &str, peak: &str) -> bool {
    base.contains("base") && base.replacen("_base", "", 1) == peak
}

/// What is divided by.
pub(super) fn denominator(e: &Evaluator<'_>, amount: &Amount, basis: Basis) -> Vec<Finding> {
    let Basis::Per(d) = basis else { return Vec::new() };
    let label = &amount.entry.label;
    let counts = &amount.entry.counts;
    let mut out = Vec::new();
    match d {
        Denominator::Watt => {
            let note = amount.rows.first().and_then(|at| e.library.result(*at).config_note.clone());
            let message = match (counts.of(d), note) {
                (None, _) => format!("the watts of {label} are not recorded"),
                (Some(_), Some(note)) => {
                    format!("the watts of {label} are quoted, with no meter named: {note}")
                }
                (Some(_), None) => {
                    format!("the watts of {label} are quoted; how they were measured is not said")
                }
            };
            out.push(finding(
                &rows::POWER_MEASURED,
                Severity::Warning,
                message,
                "say how the power was obtained",
            ));
        }
        _ if counts.of(d).is_none() => out.push(finding(
            &rows::DENOMINATOR_DEFINED,
            Severity::Warning,
            format!("the {} count of {label} is not recorded", d.name().replace('-', " ")),
            "record it, or divide by something else",
        )),
        Denominator::Instance if counts.instances_inferred => out.push(finding(
            &rows::DENOMINATOR_DEFINED,
            Severity::Note,
            format!(
                "the instances of {label} are not printed but follow from its value per instance"
            ),
            "",
        )),
        _ => {}
    }
    out
}

/// An order that turns round; the table over all denominators stands in the derivation.
pub(super) fn reversal(turns: &[Reversal]) -> Option<Finding> {
    ranking_flips(turns, MatrixShown::Yes)
}

/// Whether the interval tells the sides apart.
pub(super) fn direction(interval: Option<Interval>, verdict: Option<Verdict>) -> Option<Finding> {
    let unclear =
        interval.is_some_and(|i| i.contains(1.0)) || verdict == Some(Verdict::Inconclusive);
    let i = interval.filter(|_| unclear && verdict != Some(Verdict::Equivalent))?;
    Some(finding(
        &rows::DIRECTION_SUPPORTED,
        Severity::Warning,
        format!(
            "the data allow ratios from {:.4} to {:.4}: the direction is not established",
            i.low, i.high
        ),
        "measure more blocks, or claim no direction",
    ))
}

/// A rank without a date.
pub(super) fn rank(label: &str, population: &str, as_of: Option<&str>) -> Option<Finding> {
    as_of.is_none().then(|| {
        finding(
            &rows::WORDING_EXACT,
            Severity::Invalid,
            format!("the rank of {label} in {population} has no date"),
            "give `as_of` in the call or in the front matter",
        )
    })
}

/// Of the post as a whole.
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
    if e.used.is_empty() {
        return;
    }
    let quoted = e.used.len();
    let found = finding(
        &rows::INTERVAL_PRESENT,
        Severity::Note,
        format!("{quoted} quoted results carry no interval: their sources print none"),
        "",
    );
    e.find(found, None);
    let undated: Vec<String> = e
        .used
        .iter()
        .filter(|at| e.library.result(**at).as_of_date.is_none())
        .map(|at| e.library.result(*at).id.clone())
        .collect();
    if !undated.is_empty() && e.front.retrieved.is_none() {
        let message =
            format!("nobody recorded when these were true or retrieved: {}", undated.join(", "));
        let remedy = "give the rows their dates, or `retrieved` in the front matter";
        let found = finding(&rows::SOURCE_AND_DATE, Severity::Warning, message, remedy);
        e.find(found, None);
    }
}

/// The bodies whose marks must be named where results of their benchmarks are quoted.
const BODIES: [(&str, &str); 2] = [
    (
        "SPEC",
        "SPEC and the names of its benchmarks are registered trademarks of the Standard Performance Evaluation Corporation (spec.org). The results are quoted as printed by the sources.",
    ),
    (
        "MSC/Nastran",
        "MSC and Nastran are trademarks of their owners. The results are quoted as printed by the source.",
    ),
];
