//! Tests that every output marks each number of a virtual machine, and marks times of an emulated
//! machine as doubtful, because they are the emulator's.

use assay_model::{Guest, HistogramSummary, Percentile, TreatmentSummary};

use crate::figures::{mark, point_text, ratio_text, summary_text};
use crate::formats::{csv, json, markdown};
use crate::terminal::{Detail, Style, result};
use crate::{RunView, figures, fixtures, page, words};

const MARK: &str = "(in a virtual machine";
const DOUBTED: &str = "(in a virtual machine, doubtful)";

/// Returns the run as if its trials had run in a virtual machine.
fn in_a_guest(mut view: RunView, guest: Guest) -> RunView {
    let a = &mut view.analysis;
    a.guest = Some(guest);
    a.curves.iter_mut().for_each(|c| c.guest = Some(guest));
    let emulated = |s: &mut TreatmentSummary| {
        s.virtual_machine = true;
        if guest == Guest::Emulated && s.unit != "B" {
            s.doubts = vec![figures::EMULATED.to_owned()];
        }
    };
    a.summaries.iter_mut().for_each(emulated);
    view
}

#[test]
fn every_output_says_so_at_every_number() {
    for guest in [Guest::Virtual, Guest::Emulated] {
        let mark = mark(true, guest == Guest::Emulated);
        for (name, view) in fixtures::all() {
            let view = in_a_guest(view, guest);
            let a = &view.analysis;
            let terminal = result(&view, Detail::Full, Style::default());
            let outputs = [("terminal", terminal), ("Markdown", markdown::write(&view))];
            for (output, text) in outputs.iter().chain([&("page", page::render(&view))]) {
                if !text.contains(MARK) {
                    // Nothing was measured, or all of it is withheld.
                    assert!(
                        a.summaries.iter().all(|s| !text.contains(&summary_text(s))),
                        "{name} {output}"
                    );
                    continue;
                }
                let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(
                    flat.contains(words::guest(Some(guest)).unwrap().as_str()),
                    "{name} {output}"
                );
                for c in a.comparisons.iter().filter(|c| c.ratio.is_some()) {
                    let number = ratio_text(c);
                    let there = flat.matches(&number).count();
                    let marked = flat.matches(&format!("{number}{mark}")).count();
                    assert!(there == 0 || marked > 0, "{name} {output}: {number}");
                }
            }
            for c in &a.curves {
                let timed =
                    guest == Guest::Emulated && c.kind != assay_model::MetricKind::Estimated;
                let all = c.points.iter().map(|p| point_text(c, p, None));
                all.for_each(|text| assert!(text.ends_with(mark_of(timed)), "{name}: {text}"));
            }
            let text = csv::summaries(&view);
            assert!(text.lines().next().unwrap().contains(",guest,doubt,"));
            for line in text.lines().skip(1).filter(|l| !l.is_empty()) {
                assert!(line.contains(&format!(",{},", guest.name())), "{name}: {line}");
            }
            let parsed: serde_json::Value =
                serde_json::from_str(&json::write(&view).unwrap()).unwrap();
            assert_eq!(parsed["analysis"]["guest"], guest.name());
        }
    }
}

fn mark_of(doubtful: bool) -> &'static str {
    if doubtful { DOUBTED } else { "(in a virtual machine)" }
}

#[test]
fn percentiles_of_an_emulated_machine_are_doubtful() {
    let mut view = in_a_guest(fixtures::commands(), Guest::Emulated);
    let percentile = Percentile {
        quantile: 0.99,
        metric: None,
        value: Some(0.0125),
        samples: 20_000,
        beyond: 200,
        trials: 5,
        load: None,
        withheld: String::new(),
    };
    let (treatment, name) = (view.plan.treatments[0].id, "latency".to_owned());
    view.analysis.histograms = vec![HistogramSummary {
        treatment,
        label: "-".to_owned(),
        name,
        unit: "s".to_owned(),
        at: None,
        minimum: Some(0.001),
        maximum: Some(0.02),
        timed_out: 0,
        percentiles: vec![percentile],
    }];
    let terminal = result(&view, Detail::Full, Style { width: 120, ..Style::default() });
    for text in [terminal, markdown::write(&view), page::render(&view)] {
        assert!(text.contains(&format!("12.50 ms {DOUBTED}")), "{text}");
    }
    assert!(csv::percentiles(&view).contains(figures::EMULATED));
}
