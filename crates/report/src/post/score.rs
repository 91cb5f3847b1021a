//! What a text stands for in a run of a suite: `run:geomean@setting` and `run:total@setting`.

use std::ops::Range;

use assay_model::{Better, Kind, SuiteResults};
use assay_rules::denominator::Entry;
use assay_rules::quantity::Quantity;

use super::amount::{Amount, OfRun, Part};
use super::error::PostError;
use super::evaluator::Evaluator;
use super::operand::{counts, fits, on_host};
use crate::gate::Withheld;
use crate::view::RunView;

pub(super) use crate::figures::GEOMEAN;
/// The members' times added up.
pub(super) const TOTAL: &str = "total";

impl Evaluator<'_> {
    /// The amount that a score of a suite is. It is withheld when one of its members is.
    pub(super) fn score(
        &self,
        alias: &str,
        view: &RunView,
        suite: &SuiteResults,
        metric: &str,
        wanted: &str,
        span: &Range<usize>,
    ) -> Result<Amount, PostError> {
        let index = self.setting(suite, wanted, span)?;
        let score = &suite.scores[index];
        let withheld = score.members.iter().find_map(|m| self.gates[alias].treatment(m.treatment));
        let withheld = withheld.map(Withheld::why);
        let label = on_host(&score.label, view);
        let of_geomean = metric == GEOMEAN;
        let (value, unit, better) = if of_geomean {
            (score.geomean, "1", Better::Higher)
        } else {
            (score.total_s, "s", Better::Lower)
        };
        if value.is_none() && withheld.is_none() {
            let message = format!("`{metric}` of {label} has no value in run {}", view.summary.id);
            return Err(self.text.error(span.clone(), message, "every member must have one"));
        }
        let what = format!(
            "{} of {} members of {}, {label}",
            if of_geomean { "geometric mean of the ratios" } else { "total time" },
            score.members.len(),
            view.summary.workload
        );
        let from = format!("run {}", view.summary.id);
        let value = Quantity::given(value.unwrap_or(f64::NAN), unit, Kind::Derived, &what, &from);
        Ok(Amount {
            entry: Entry {
                label,
                value: value.with_interval(score.interval.filter(|_| of_geomean)),
                better,
                counts: counts(view),
            },
            benchmark: view.summary.workload.clone(),
            metric: metric.to_owned(),
            rows: Vec::new(),
            run: Some(OfRun {
                alias: alias.to_owned(),
                part: Part::Score(index),
                treatments: score.members.iter().map(|m| m.treatment).collect(),
            }),
            decimals: None,
            withheld,
            as_of: Some(view.summary.started_at.chars().take(10).collect()),
        })
    }

    /// The index of the score that has all the levels that are given.
    fn setting(
        &self,
        suite: &SuiteResults,
        wanted: &str,
        span: &Range<usize>,
    ) -> Result<usize, PostError> {
        let found: Vec<usize> = (0..suite.scores.len())
            .filter(|i| fits(wanted, &suite.scores[*i].label.split(", ").collect::<Vec<_>>()))
            .collect();
        let labels: Vec<String> =
            suite.scores.iter().take(12).map(|s| format!("`{}`", s.label)).collect();
        let help = format!("it has {}", labels.join(", "));
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                let message = format!("the suite's run has no setting `{wanted}`");
                Err(self.text.error(span.clone(), message, help))
            }
            _ => {
                let message = format!("the suite's run has several settings that fit `{wanted}`");
                Err(self.text.error(span.clone(), message, help))
            }
        }
    }
}
