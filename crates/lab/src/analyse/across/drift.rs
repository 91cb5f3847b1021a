//! Drift between runs. Runs made one after the other differ by the drift of the machine in addition
//! to the difference under test. A verdict needs an estimate of that drift: from repeated runs on
//! both sides, or from a reference treatment in both runs.

use assay_model::environment::{DifferenceClass, FactDiff, diff};
use assay_model::{Comparison, Scalar, Treatment, Verdict};

use super::program::{in_facts, levels};
use super::{ComparedRun, DeclaredDifferences};

/// Minimum number of runs of a side that shows the variation between runs; the same as the minimum
/// number of values for an interval.
pub(super) const LEAST: usize = 3;

/// Returns the reason why a run is not the repetition of another run that the user declared it to
/// be.
pub(super) fn not_repeated(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
    declared: &DeclaredDifferences,
) -> Option<String> {
    let keys =
        |s: &ComparedRun<'_>| s.plan.treatments.iter().map(Treatment::key).collect::<Vec<_>>();
    let moved = |d: &FactDiff| {
        let own = d.path.starts_with("workload.") || d.path.starts_with("source.");
        matches!(d.class, DifferenceClass::Hard | DifferenceClass::Factor) || own && d.stands()
    };
    let found = diff(a.system, b.system, &in_facts(&declared.factors));
    let path = found.differences.iter().find(|d| moved(d)).map(|d| d.path.clone());
    let parameters =
        || (levels(a) != levels(b) || keys(a) != keys(b)).then(|| "the workload".to_owned());
    let differs = path.or_else(parameters)?;
    Some(format!("{} is not a repetition of {}: {differs} differs", b.id, a.id))
}

/// Summarizes a run in one value: the geometric mean of its trials, or their arithmetic mean if one
/// is not positive.
pub(super) fn of_run(values: &[Option<f64>]) -> Option<f64> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    let n = present.len() as f64;
    let positive = present.iter().all(|v| *v > 0.0);
    let sum: f64 = present.iter().map(|v| if positive { v.ln() } else { *v }).sum();
    (n > 0.0).then(|| if positive { (sum / n).exp() } else { sum / n })
}

/// Removes the verdict and the interval from a ratio of single runs. The interval covers only the
/// trials within a run.
pub(super) fn not_established(c: &mut Comparison, remedy: &str) {
    if c.verdict == Verdict::Invalid || c.ratio.is_none() {
        return;
    }
    c.verdict = Verdict::NotEstablished;
    c.reason = format!("drift between the runs is not known; {remedy}");
    (c.interval, c.sensitivity, c.detectable) = (None, None, None);
}

/// Returns advice that would lead to a verdict: run both sides in one experiment if possible, else
/// run each side three times.
pub(super) fn remedy(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> String {
    let command = |s: &ComparedRun<'_>| s.experiment.params.get("command").map(Scalar::to_text);
    let one = || {
        let apart = diff(a.system, b.system, &["used".to_owned(), "workload.command".to_owned()]);
        if apart.hard().next().is_some() || a.experiment.controls != b.experiment.controls {
            return None;
        }
        if let (Some(x), Some(y)) = (command(a), command(b)) {
            let quoted = assay_workloads::quote_words(&[y.as_str()]);
            return (x != y && b.experiment.factors.is_empty())
                .then(|| format!("assay run --vs {quoted} -- {x}"));
        }
        let mut differ = a.experiment.params.iter().filter_map(|(name, x)| {
            let y = b.experiment.params.get(name)?;
            (x != y).then(|| format!("--set {name}={},{}", x.to_text(), y.to_text()))
        });
        let set = differ.next().filter(|_| a.experiment.workload == b.experiment.workload)?;
        differ.next().is_none().then(|| format!("assay run {} {set}", a.experiment.workload))
    };
    match one() {
        Some(command) => format!("run both in one experiment: `{command}`"),
        None => format!(
            "make {LEAST} runs of each side (A B B A A B); compare: `assay compare A,A,A B,B,B`"
        ),
    }
}
