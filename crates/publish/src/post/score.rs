//! Resolves the scores of a suite's run: `run:geomean@setting` and `run:total@setting`.

use std::ops::Range;

use assay_model::{Better, MetricKind, SuiteResults};

use super::amount::{Amount, RunPart, RunResultRef};
use super::error::Result;
use super::evaluator::Evaluator;
use super::operand::{ReadValue, fits, on_host};
use assay_report::RunView;

pub(super) use assay_report::figures::GEOMEAN;
/// Name of the sum of the members' times.
pub(super) const TOTAL: &str = "total";

impl Evaluator<'_> {
    /// Returns the amount of a score of a suite. It is withheld if one of its members is.
    pub(super) fn score(
        &self,
        alias: &str,
        view: &RunView,
        suite: &SuiteResults,
        metric: &str,
        wanted: &str,
        span: &Range<usize>,
    ) -> Result<Amount> {
        let index = self.setting(suite, wanted, span)?;
        let score = &suite.scores[index];
        let label = on_host(&score.label, view);
        let words = |of: &str| {
            let (n, workload) = (score.members.len(), &view.summary.workload);
            format!("{of} of {n} members of {workload}, {label}")
        };
        let read = if metric == GEOMEAN {
            ReadValue {
                kind: MetricKind::Derived,
                value: score.geomean,
                unit: "1".to_owned(),
                interval: score.interval,
                better: Better::Higher,
                what: words("geometric mean of the ratios"),
            }
        } else {
            ReadValue {
                kind: MetricKind::Derived,
                value: score.total_s,
                unit: "s".to_owned(),
                interval: None,
                better: Better::Lower,
                what: words("total time"),
            }
        };
        let treatments = score.members.iter().map(|m| m.treatment).collect();
        let run = RunResultRef { alias: alias.to_owned(), part: RunPart::Score(index), treatments };
        let help = "every member must have one";
        self.read_of(view, label, metric, run, &read)
            .map_err(|e| self.text.error(span.clone(), e.to_string(), help))
    }

    /// Returns the index of the only score that has all the given levels.
    fn setting(&self, suite: &SuiteResults, wanted: &str, span: &Range<usize>) -> Result<usize> {
        let found: Vec<usize> = (0..suite.scores.len())
            .filter(|i| fits(wanted, &suite.scores[*i].label.split(", ").collect::<Vec<_>>()))
            .collect();
        let labels: Vec<String> =
            suite.scores.iter().take(12).map(|s| format!("`{}`", s.label)).collect();
        let message = match found.as_slice() {
            [one] => return Ok(*one),
            [] => format!("the suite's run has no setting `{wanted}`"),
            _ => format!("the suite's run has several settings that fit `{wanted}`"),
        };
        Err(self.text.error(span.clone(), message, format!("it has {}", labels.join(", "))))
    }
}
