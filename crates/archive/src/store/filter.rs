//! Conditions that select the runs of a list.

use assay_model::RunSummary;

/// Conditions that a run must meet to be listed. An absent condition is always met.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// Exact name of the workload.
    pub workload: Option<String>,
    /// Exact name of the experiment.
    pub experiment: Option<String>,
    /// A tag that the run must have (exact).
    pub tag: Option<String>,
    /// Earliest start time, inclusive.
    pub since: Option<jiff::Timestamp>,
    /// Latest start time, inclusive.
    pub until: Option<jiff::Timestamp>,
    /// A substring of the id, experiment, workload, host, note or a tag, ignoring case.
    pub text: Option<String>,
    /// Maximum number of runs; the newest are kept.
    pub limit: Option<usize>,
}

impl Filter {
    /// True if the run meets all conditions (except `limit`).
    pub fn matches(&self, run: &RunSummary) -> bool {
        let same = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
        same(&self.workload, &run.workload)
            && same(&self.experiment, &run.experiment)
            && self.tag.as_ref().is_none_or(|tag| run.all_tags().any(|t| t == tag))
            && self.in_time(&run.started_at)
            && self.has_text(run)
    }

    fn in_time(&self, started_at: &str) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        started_at.parse::<jiff::Timestamp>().is_ok_and(|at| {
            self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at <= until)
        })
    }

    fn has_text(&self, run: &RunSummary) -> bool {
        let Some(text) = &self.text else { return true };
        let text = text.to_lowercase();
        let has = |part: &str| part.to_lowercase().contains(&text);
        [run.id.as_str(), &run.experiment, &run.workload, &run.host].into_iter().any(has)
            || has(&run.note)
            || run.all_tags().any(has)
    }
}
