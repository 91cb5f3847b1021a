//! Exports JUnit XML for CI servers: a test case for each trial and for each comparison. A trial
//! that failed or timed out is a failure; one that does not count (invalid, interrupted) is an
//! error, like a revision that does not build. A comparison is a failure if the experiment gates on
//! it and the verdict is `worse`, and an error if it is invalid.

use assay_model::{TrialOutcome, TrialRecord, Verdict};
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::view::RunView;
use crate::words;

/// Writes the report of a run.
///
/// # Errors
/// Fails if the report cannot be written as XML.
pub fn write(view: &RunView) -> Result<String, SerializeError> {
    let mut report = Report::new(&*view.experiment.name);
    let trials = view.records.iter().map(|r| trial_case(view, r));
    report.add_test_suite(suite(view, "trials", trials.chain(failed_builds(view))));
    report.add_test_suite(suite(view, "comparisons", comparison_cases(view)));
    report.to_string()
}

fn suite(view: &RunView, name: &str, cases: impl IntoIterator<Item = TestCase>) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.extra.insert("hostname".into(), (&*view.summary.host).into());
    suite.extra.insert("timestamp".into(), view.summary.started_at.trim_end_matches('Z').into());
    for mut case in cases {
        case.set_classname(format!("assay.{}.{name}", view.experiment.name));
        suite.add_test_case(case);
    }
    suite
}

/// Returns a test case with its name, its problem (if any) and its output.
fn case(name: &str, problem: Option<(NonSuccessKind, &str, &str)>, output: &str) -> TestCase {
    let status = problem.map_or_else(TestCaseStatus::success, |(kind, word, message)| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(word).set_message(characters(message));
        status
    });
    let mut case = TestCase::new(characters(name), status);
    if !output.is_empty() {
        case.set_system_out(characters(output));
    }
    case
}

/// Replaces the two characters that XML 1.0 forbids and the XML crate does not; the crate itself
/// removes control characters.
fn characters(text: &str) -> String {
    text.replace(['\u{FFFE}', '\u{FFFF}'], "\u{FFFD}")
}

fn trial_case(view: &RunView, record: &TrialRecord) -> TestCase {
    let warmup = if record.warmup { ", warm-up" } else { "" };
    let kind = match record.outcome {
        TrialOutcome::Completed => None,
        TrialOutcome::Failed | TrialOutcome::TimedOut => Some(NonSuccessKind::Failure),
        TrialOutcome::Invalid | TrialOutcome::Interrupted => Some(NonSuccessKind::Error),
    };
    let word = record.outcome.words();
    let why = if record.error.is_empty() { word } else { record.error.as_str() };
    let mut output: Vec<String> = record.notes.clone();
    output.extend(record.findings.iter().map(|f| format!("{} {}: {}", f.id, f.name, f.message)));
    let name = format!(
        "trial {} (block {}): {}{warmup}",
        record.number,
        record.block + 1,
        view.label(record.treatment)
    );
    let mut case = case(&name, kind.map(|kind| (kind, word, why)), &output.join("\n"));
    let seconds = record.resources.as_ref().map(|r| r.wall_s).filter(|s| s.is_finite());
    if let Some(seconds) = seconds {
        // Written here with microseconds, because the crate's own `time` ends at milliseconds.
        case.extra.insert("time".into(), format!("{seconds:.6}").into());
    }
    case
}

fn failed_builds(view: &RunView) -> impl Iterator<Item = TestCase> {
    view.system.facts.iter().filter_map(|(name, fact)| {
        let label = name.strip_prefix("source.")?.strip_suffix(".failure")?;
        let problem = (NonSuccessKind::Error, "does not build", fact.value()?);
        Some(case(&format!("build of {label}"), Some(problem), ""))
    })
}

fn comparison_cases(view: &RunView) -> Vec<TestCase> {
    let gated = view.experiment.compare.gate;
    let of = |c: &assay_model::Comparison| {
        let sentence = words::verdict(&view.analysis, c);
        let problem = match c.verdict {
            Verdict::Worse if gated => Some((NonSuccessKind::Failure, "worse", &*sentence)),
            Verdict::Invalid => Some((NonSuccessKind::Error, "invalid", &*sentence)),
            _ => None,
        };
        let name =
            format!("{}: {} against {}", c.metric, view.label(c.treatment), view.label(c.baseline));
        case(&name, problem, &format!("{sentence} {}", c.reason))
    };
    // The benchmarks of a suite decide, and not their mean.
    let a = &view.analysis;
    let all = if a.family.is_empty() { &a.comparisons } else { &a.family };
    all.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use assay_model::Fact;

    use super::*;
    use crate::fixtures;

    #[test]
    fn failed_trials_are_failures_and_invalid_ones_errors() {
        let view = fixtures::failures();
        let xml = write(&view).unwrap();
        let failed = view
            .records
            .iter()
            .filter(|r| matches!(r.outcome, TrialOutcome::Failed | TrialOutcome::TimedOut))
            .count();
        assert!(failed > 0);
        assert_eq!(xml.matches("<failure ").count(), failed);
        assert!(xml.contains(" type=\"invalid\""));
        assert!(!xml.contains('\u{1b}'), "control characters must not pass");
        insta::assert_snapshot!(xml);
    }

    #[test]
    fn a_revision_that_does_not_build_is_an_error() {
        let mut view = fixtures::commands();
        assert!(!write(&view).unwrap().contains("<error "));
        view.system.facts.insert("source.pr.failure".into(), Fact::known("exit code 1"));
        let xml = write(&view).unwrap();
        assert!(xml.contains("<testcase name=\"build of pr\""), "{xml}");
        assert!(xml.contains("<error message=\"exit code 1\" type=\"does not build\""), "{xml}");
    }

    #[test]
    fn worse_fails_only_when_the_experiment_gates() {
        let mut view = fixtures::commands();
        for c in &mut view.analysis.comparisons {
            c.verdict = Verdict::Worse;
        }
        view.experiment.compare.gate = false;
        assert!(!write(&view).unwrap().contains("<failure "));
        view.experiment.compare.gate = true;
        assert!(write(&view).unwrap().contains("<failure message=\""));
    }

    #[test]
    fn what_xml_cannot_hold_is_escaped_or_left_out() {
        let mut view = fixtures::failures();
        view.records[0].error = "a<b>&\"'\u{1}\u{1b}[31m\u{FFFF}".to_owned();
        let xml = write(&view).unwrap();
        assert!(xml.contains("a&lt;b&gt;&amp;&quot;&apos;\u{FFFD}\""), "{xml}");
    }
}
