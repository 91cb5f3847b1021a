//! JUnit XML for CI servers: a test case for each trial and for each comparison. A trial that failed
//! or timed out is a failure, one that does not count (invalid, interrupted) an error; a comparison
//! is a failure when the experiment gates on it and the verdict is `worse`, an error when invalid.

use std::fmt::Write as _;

use assay_model::{Outcome, TrialRecord, Verdict};

use crate::view::{RunView, outcome_word};
use crate::words;

/// The report.
pub fn write(view: &RunView) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let trials: Vec<Case> = view.records.iter().map(|r| trial_case(view, r)).collect();
    let comparisons: Vec<Case> = comparison_cases(view);
    let all = || trials.iter().chain(&comparisons);
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        escape(&view.experiment.name),
        all().count(),
        all().filter(|c| c.kind() == Kind::Failure).count(),
        all().filter(|c| c.kind() == Kind::Error).count(),
    );
    suite(&mut out, view, "trials", &trials);
    suite(&mut out, view, "comparisons", &comparisons);
    out.push_str("</testsuites>\n");
    out
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Passed,
    Failure,
    Error,
}

struct Case {
    name: String,
    seconds: Option<f64>,
    /// The kind, a word for its type, the message.
    problem: Option<(Kind, &'static str, String)>,
    said: String,
}

impl Case {
    fn kind(&self) -> Kind {
        self.problem.as_ref().map_or(Kind::Passed, |p| p.0)
    }
}

fn trial_case(view: &RunView, record: &TrialRecord) -> Case {
    let warmup = if record.warmup { ", warm-up" } else { "" };
    let kind = match record.outcome {
        Outcome::Completed => None,
        Outcome::Failed | Outcome::TimedOut => Some(Kind::Failure),
        Outcome::Invalid | Outcome::Interrupted => Some(Kind::Error),
    };
    let mut said: Vec<String> = record.notes.clone();
    said.extend(record.findings.iter().map(|f| format!("{} {}: {}", f.id, f.name, f.message)));
    Case {
        name: format!(
            "trial {} (block {}): {}{warmup}",
            record.number,
            record.block + 1,
            view.label(record.treatment)
        ),
        seconds: record.resources.as_ref().map(|r| r.wall_s),
        problem: kind.map(|k| {
            let word = outcome_word(record.outcome);
            let why = if record.error.is_empty() { word } else { record.error.as_str() };
            (k, word, why.to_owned())
        }),
        said: said.join("\n"),
    }
}

fn comparison_cases(view: &RunView) -> Vec<Case> {
    let gated = view.experiment.compare.gate;
    view.analysis
        .comparisons
        .iter()
        .map(|c| {
            let sentence = words::verdict(&view.analysis, c);
            let problem = match c.verdict {
                Verdict::Worse if gated => Some((Kind::Failure, "worse", sentence.clone())),
                Verdict::Invalid => Some((Kind::Error, "invalid", sentence.clone())),
                _ => None,
            };
            Case {
                name: format!(
                    "{}: {} against {}",
                    c.metric,
                    view.label(c.treatment),
                    view.label(c.baseline)
                ),
                seconds: None,
                problem,
                said: format!("{sentence} {}", c.reason),
            }
        })
        .collect()
}

fn suite(out: &mut String, view: &RunView, name: &str, cases: &[Case]) {
    let of = |kind| cases.iter().filter(|c| c.kind() == kind).count();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" hostname=\"{}\" timestamp=\"{}\">",
        escape(name),
        cases.len(),
        of(Kind::Failure),
        of(Kind::Error),
        escape(&view.summary.host),
        escape(view.summary.started_at.trim_end_matches('Z')),
    );
    for case in cases {
        let class = format!("assay.{}.{}", view.experiment.name, name);
        let _ = write!(
            out,
            "    <testcase name=\"{}\" classname=\"{}\"",
            escape(&case.name),
            escape(&class)
        );
        if let Some(s) = case.seconds.filter(|s| s.is_finite()) {
            let _ = write!(out, " time=\"{s:.6}\"");
        }
        out.push('>');
        if let Some((kind, word, message)) = &case.problem {
            let tag = if *kind == Kind::Failure { "failure" } else { "error" };
            let _ = write!(out, "<{tag} type=\"{word}\" message=\"{}\"/>", escape(message));
        }
        if !case.said.is_empty() {
            let _ = write!(out, "<system-out>{}</system-out>", escape(&case.said));
        }
        out.push_str("</testcase>\n");
    }
    out.push_str("  </testsuite>\n");
}

/// XML text: markup characters as entities; line ends and tabs kept in attributes as references;
/// characters that XML 1.0 cannot hold (control characters, U+FFFE, U+FFFF) replaced by U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            c if c < ' ' || c == '\u{FFFE}' || c == '\u{FFFF}' => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn failed_trials_are_failures_and_invalid_ones_errors() {
        let view = fixtures::failures();
        let xml = write(&view);
        let failed = view
            .records
            .iter()
            .filter(|r| matches!(r.outcome, Outcome::Failed | Outcome::TimedOut))
            .count();
        assert!(failed > 0);
        assert_eq!(xml.matches("<failure ").count(), failed);
        assert!(xml.contains("<error type=\"invalid\""));
        assert!(!xml.contains('\u{1b}'), "control characters must not pass");
        insta::assert_snapshot!(xml);
    }

    #[test]
    fn worse_fails_only_when_the_experiment_gates() {
        let mut view = fixtures::commands();
        for c in &mut view.analysis.comparisons {
            c.verdict = Verdict::Worse;
        }
        view.experiment.compare.gate = false;
        assert!(!write(&view).contains("<failure "));
        view.experiment.compare.gate = true;
        assert!(write(&view).contains("<failure type=\"worse\""));
    }

    #[test]
    fn escapes_what_xml_cannot_hold() {
        assert_eq!(escape("a<b>&\"'\u{1}\n"), "a&lt;b&gt;&amp;&quot;&apos;\u{FFFD}&#10;");
    }
}
