//! Which runs a list shows.

use assay_model::RunSummary;

/// What a run must be to be listed. An absent condition holds for every run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// The workload's name, whole.
    pub workload: Option<String>,
    /// The experiment's name, whole.
    pub experiment: Option<String>,
    /// One of its tags, whole.
    pub tag: Option<String>,
    /// It started then or later.
    pub since: Option<jiff::Timestamp>,
    /// It started then or earlier.
    pub until: Option<jiff::Timestamp>,
    /// A part of its id, experiment, workload, host, note or a tag; case does not matter.
    pub text: Option<String>,
    /// At most so many, the newest.
    pub limit: Option<usize>,
}

impl Filter {
    /// Whether a run is to be listed (`limit` aside).
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
