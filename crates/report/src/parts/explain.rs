//! Observations that differ along with the metric between two treatments: `assay explain`.

use assay_model::units::{interval as ends, scale_of, significant};
use assay_model::{Analysis, Explanation, Observed};

use crate::document::{DocumentPart, Parts, Table, Tone, cell, text};
use crate::figures::{count, ratio_in_a_sentence, ratio_mark};
use crate::gate::Gate;
use crate::merged_sentences::distinct;
use crate::view::RunView;

/// Largest number of observations listed; the JSON has all of them.
const SHOWN: usize = 20;
/// Number of observations listed if none differs clearly.
const DULL: usize = 5;

/// Returns every explanation whose numbers may be shown; `None` without any.
pub(crate) fn section(view: &RunView, gate: &Gate) -> Option<Parts> {
    let withheld = |e: &Explanation| {
        let c = &e.comparison;
        gate.treatment(c.treatment).or_else(|| gate.treatment(c.baseline)).is_some()
    };
    let shown: Vec<&Explanation> =
        view.explanations.iter().filter(|e| !e.observations.is_empty() && !withheld(e)).collect();
    if gate.run().is_some() || shown.is_empty() {
        return None;
    }
    let mut out = Parts::default();
    out.say(
        "Every observation of the two treatments, differenced by block and ranked; none of \
             them is a proven cause.",
    );
    for (i, e) in shown.iter().enumerate() {
        if shown.len() == 1 {
            out.append(one(&view.analysis, e));
        } else {
            let summary = format!("{} against {}", e.treatment, e.baseline);
            out.push(DocumentPart::Details {
                summary,
                open: i == 0,
                parts: one(&view.analysis, e),
            });
        }
    }
    let rest = view.analysis.comparisons.len().saturating_sub(view.explanations.len());
    if rest > 0 {
        let command = format!("assay explain {} --treatment ...", view.summary.id);
        out.note(text(format!("{}: ", count(rest, "more comparison"))).code(command));
    }
    let notes = distinct(shown.iter().flat_map(|e| &e.notes)).into_iter();
    out.push(DocumentPart::List(Tone::Soft, notes.map(|n| text(n.clone())).collect()));
    Some(out)
}

/// Returns one explanation with its notes.
pub(crate) fn alone(analysis: &Analysis, e: &Explanation) -> Parts {
    let mut out = one(analysis, e);
    out.push(DocumentPart::List(Tone::Soft, e.notes.iter().map(|n| text(n.clone())).collect()));
    out
}

fn one(analysis: &Analysis, e: &Explanation) -> Parts {
    let mut out = Parts::default();
    let c = &e.comparison;
    let change = e.time_change.map_or_else(String::new, |change| {
        let than = if change < 0.0 { "less" } else { "more" };
        format!("; {:.2} % {than} time for the same work", change.abs() * 100.0)
    });
    let sides = format!("{} of {} against {}: ", c.metric, e.treatment, e.baseline);
    out.push(DocumentPart::Paragraph(
        Tone::Strong,
        text(format!(
            "{sides}ratio {}{}, {}{change}.",
            ratio_in_a_sentence(c),
            ratio_mark(analysis, c),
            c.verdict.name()
        )),
    ));
    let clear = e.observations.iter().filter(|o| o.change.clear()).count();
    let many = if clear == 0 { DULL } else { clear.min(SHOWN) };
    let caption = match clear {
        0 => "No observation differs clearly; those that stand out most".to_owned(),
        1 => "1 observation differs clearly".to_owned(),
        n if n > SHOWN => {
            format!("{n} observations differ clearly; the first {SHOWN}, --json lists all")
        }
        n => format!("{n} observations differ clearly"),
    };
    let mut table = Table::captioned(caption).label("observation").numbers([
        "baseline",
        "treatment",
        "% of time",
        "interval",
    ]);
    for o in e.observations.iter().take(many) {
        let time = o.of_time.map_or_else(|| "-".to_owned(), |t| points(t.difference));
        let (baseline, treatment) = (value(o, o.baseline), value(o, o.treatment));
        table.row([name(o), baseline, treatment, time, interval(o)].map(cell).to_vec());
    }
    out.table(table);
    out.note(
        "Interval: of the difference by block, as a share of time where there is one, else in \
        the unit of the row.",
    );
    if let Some(account) = &e.account {
        let parts: Vec<String> =
            account.parts.iter().map(|(name, d)| format!("{name} {}", points(*d))).collect();
        let sum = points(account.sum);
        out.note(format!("Of the CPUs' time: {}; together {sum}.", parts.join(", ")));
    }
    if e.unchanged > 0 {
        out.note(format!("{} identical in every trial.", count(e.unchanged as usize, "other")));
    }
    out
}

/// Returns the name of an observation: `cpu all user`.
fn name(o: &Observed) -> String {
    let parts = [o.source.as_str(), o.subject.as_str(), o.name.as_str()];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the divisor and the unit of a row.
fn scale(o: &Observed) -> (f64, String) {
    scale_of(o.baseline.abs().max(o.treatment.abs()), &o.unit)
}

/// Formats the mean of an observation in one of the treatments.
fn value(o: &Observed, v: f64) -> String {
    let (factor, unit) = scale(o);
    match o.unit.as_str() {
        "%" => format!("{v:.2} %"),
        "s/s" => format!("{:.2} %", v * 100.0),
        _ => format!("{} {unit}", significant(v / factor, 4)).trim_end().to_owned(),
    }
}

/// Formats a share as signed percentage points.
fn points(share: f64) -> String {
    let percent = share * 100.0;
    // A difference of zero has no sign.
    if percent.abs() < 0.005 { "0.00 %".to_owned() } else { format!("{percent:+.2} %") }
}

/// Formats the interval of the difference: as a share of time if there is one, else in the unit of
/// the row.
fn interval(o: &Observed) -> String {
    match (o.of_time.and_then(|t| t.interval), o.change.interval) {
        (Some(i), _) => {
            ends(&format!("{:+.2}", i.low * 100.0), &format!("{:+.2}", i.high * 100.0), None)
        }
        (None, Some(i)) => {
            let (factor, unit) = scale(o);
            let sign = |v: f64| if v < 0.0 { "-" } else { "+" };
            let side = |v: f64| format!("{}{}", sign(v), significant(v.abs() / factor, 2));
            format!("{} {unit}", ends(&side(i.low), &side(i.high), None)).trim_end().to_owned()
        }
        (None, None) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use assay_model::{Account, Interval, TreatmentChange};

    use super::*;
    use crate::document::{html, terminal};
    use crate::fixtures;
    use crate::terminal::Style;

    fn observed(source: &str, unit: &str, by: f64, time: bool) -> Observed {
        let interval = |by: f64| Interval { low: by * 0.9, high: by * 1.1, level: 0.95 };
        let change =
            |by: f64| TreatmentChange { difference: by, interval: Some(interval(by)), n: 6 };
        Observed {
            source: source.into(),
            subject: "all".into(),
            name: "user".into(),
            unit: unit.into(),
            baseline: 40.0,
            treatment: 40.0 + by,
            change: change(by),
            of_time: time.then(|| change(by / 100.0)),
            standard_errors: Some(20.0),
        }
    }

    fn explained(observations: Vec<Observed>) -> RunView {
        let mut view = fixtures::commands();
        view.explanations = vec![Explanation {
            baseline: "controls.pages=4KiB".into(),
            treatment: "controls.pages=madvise".into(),
            comparison: view.analysis.comparisons[0].clone(),
            time_change: Some(-0.029),
            account: Some(Account::from_parts([("user", 0.4, 0.3711), ("system", 0.1, 0.1)])),
            observations,
            unchanged: 3,
            notes: vec!["not seen: the moon".into()],
        }];
        view
    }

    #[test]
    fn every_output_says_what_is_clear_and_fits() {
        let all =
            vec![observed("cpu", "%", -2.89, true), observed("switches", "1/s", 120.0, false)];
        let view = explained(all);
        let parts = section(&view, &Gate::from_view(&view)).unwrap();
        let mut texts = vec![html::parts(&parts).into_string()];
        for width in [80, 60, 40] {
            let style = Style { width, ..Style::default() };
            let text = terminal::parts(&alone(&view.analysis, &view.explanations[0]), style);
            assert!(text.lines().all(|l| l.chars().count() <= width), "{width}:\n{text}");
            texts.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        for text in texts {
            for expected in
                ["-2.89 %", "2.90 % less time", "2 observations differ clearly", "the moon"]
            {
                assert!(text.contains(expected), "{expected}\n{text}");
            }
        }
        let mut dull = observed("cpu", "%", 0.1, true);
        dull.change.interval = None;
        let text = {
            let view = explained(vec![dull]);
            terminal::parts(&alone(&view.analysis, &view.explanations[0]), Style::default())
        };
        assert!(text.contains("No observation differs clearly"), "{text}");
    }

    #[test]
    fn what_is_withheld_is_not_explained() {
        let mut view = explained(vec![observed("cpu", "%", -2.89, true)]);
        let invalid = fixtures::withheld().findings()[0].0.clone();
        assert_eq!(invalid.severity, assay_model::Severity::Invalid);
        view.analysis.findings.push(invalid);
        assert!(section(&view, &Gate::from_view(&view)).is_none());
    }
}
