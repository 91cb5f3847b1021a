//! Decides what may be published. Numbers that carry a finding of severity *invalid* are removed
//! before any page is made, so that no part of a page can print them by accident.

use std::collections::BTreeMap;

use assay_model::{
    Analysis, Finding, Severity, SuiteResults, Summary, TreatmentSummary, TrialRecord, Verdict,
};

use crate::view::RunView;

/// A result that is not published, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithheldResult {
    /// Name of the withheld result: `all results`, a treatment's label, or `trial 7`.
    pub what: String,
    /// ID of the finding, such as `F17`.
    pub finding: String,
    /// Message of the finding.
    pub message: String,
}

impl WithheldResult {
    fn from_finding(what: impl Into<String>, finding: &Finding) -> Self {
        WithheldResult {
            what: what.into(),
            finding: finding.id.clone(),
            message: finding.message.clone(),
        }
    }

    /// Returns the text in place of the number: `withheld: F17 the output was not checked`.
    pub fn text(&self) -> String {
        format!("withheld: {}", self.reason())
    }

    /// Returns the finding's id and message: `F17 the output was not checked`.
    pub fn reason(&self) -> String {
        format!("{} {}", self.finding, self.message)
    }
}

/// An analysis without the numbers that must not be published.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The analysis, in which withheld numbers are `None` and withheld curves have no points.
    pub analysis: Analysis,
    /// Withheld results, from the whole run down to single trials.
    pub withheld: Vec<WithheldResult>,
    run: Option<WithheldResult>,
    treatments: BTreeMap<u32, WithheldResult>,
    trials: BTreeMap<u32, WithheldResult>,
}

impl Gate {
    /// Decides which numbers of a run may be published. A finding of severity *invalid* about the
    /// run withholds every result; one about some treatments withholds their results. A finding
    /// about a trial that counts withholds the results of its treatment, since they include the
    /// trial's numbers; a finding about any other trial withholds only that trial's own numbers.
    pub fn from_view(view: &RunView) -> Self {
        let invalid = |f: &&Finding| f.severity == Severity::Invalid;
        let about_run = view.analysis.findings.iter().filter(invalid);
        let run = about_run
            .clone()
            .find(|f| f.treatments.is_empty())
            .map(|f| WithheldResult::from_finding("all results", f));
        let mut treatments = BTreeMap::new();
        let mut withhold = |id: u32, f: &Finding| {
            treatments.entry(id).or_insert_with(|| WithheldResult::from_finding(view.label(id), f));
        };
        for f in about_run {
            f.treatments.iter().for_each(|id| withhold(*id, f));
        }
        let mut trials = BTreeMap::new();
        for record in &view.records {
            if let Some(f) = record.findings.iter().find(invalid) {
                trials.insert(
                    record.number,
                    WithheldResult::from_finding(format!("trial {}", record.number), f),
                );
                if record.counts() {
                    withhold(record.treatment, f);
                }
            }
        }
        let mut gate =
            Gate { analysis: view.analysis.clone(), withheld: Vec::new(), run, treatments, trials };
        gate.strip();
        gate.withheld = gate
            .run
            .iter()
            .chain(gate.treatments.values())
            .chain(gate.trials.values())
            .cloned()
            .collect();
        gate
    }

    /// Withholds nothing: a terminal shows its reader the numbers together with their findings.
    pub(crate) fn open(view: &RunView) -> Self {
        Gate {
            analysis: view.analysis.clone(),
            withheld: Vec::new(),
            run: None,
            treatments: BTreeMap::new(),
            trials: BTreeMap::new(),
        }
    }

    fn strip(&mut self) {
        let mut analysis = self.analysis.clone();
        for s in &mut analysis.summaries {
            if self.treatment(s.treatment).is_some() {
                blank(s);
            }
        }
        for c in analysis.comparisons.iter_mut().chain(&mut analysis.ranking) {
            let why = self.treatment(c.treatment).or_else(|| self.treatment(c.baseline));
            if let Some(w) = why {
                c.reason = w.text();
                c.verdict = Verdict::Invalid;
            }
            if c.verdict == Verdict::Invalid {
                (c.ratio, c.interval, c.sensitivity, c.detectable) = (None, None, None, None);
            }
        }
        for h in &mut analysis.histograms {
            if self.treatment(h.treatment).is_some() {
                (h.minimum, h.maximum) = (None, None);
                h.percentiles.clear();
            }
        }
        for curve in &mut analysis.curves {
            if self.treatment(curve.treatment).is_some() {
                curve.points.clear();
                (curve.best, curve.efficient, curve.smoothness) = (None, None, None);
            }
        }
        if let Some(suite) = &mut analysis.suite {
            self.strip_suite(suite);
        }
        // A scaling analysis combines several treatments.
        if self.run.is_some() || !self.treatments.is_empty() {
            analysis.scaling = None;
        }
        if self.run.is_some() {
            for m in &mut analysis.run_metrics {
                m.value = None;
            }
        }
        self.analysis = analysis;
    }

    /// Withholds every mean over members of which one is withheld.
    fn strip_suite(&self, suite: &mut SuiteResults) {
        let mut held = Vec::new();
        for (i, score) in suite.scores.iter_mut().enumerate() {
            for m in &mut score.members {
                if let Some(w) = self.treatment(m.treatment) {
                    (m.ratio, m.time_s) = (None, None);
                    (score.geomean, score.interval, score.total_s) = (None, None, None);
                    score.blocks.fill(None);
                    held.push((i, w.text()));
                }
            }
        }
        for c in &mut suite.comparisons {
            if let Some((_, why)) = held.iter().find(|(i, _)| *i == 0 || *i == c.score) {
                let g = &mut c.geomean;
                (g.ratio, g.interval, g.sensitivity, g.detectable) = (None, None, None, None);
                (g.verdict, g.reason) = (Verdict::Invalid, why.clone());
                (c.totals, c.best, c.worst) = (None, None, None);
            }
        }
    }

    /// Returns the reason why all results of the run are withheld, if they are.
    pub fn run(&self) -> Option<&WithheldResult> {
        self.run.as_ref()
    }

    /// Returns the reason why a treatment's results are withheld, if they are.
    pub fn treatment(&self, id: u32) -> Option<&WithheldResult> {
        self.run.as_ref().or_else(|| self.treatments.get(&id))
    }

    /// Returns the reason why a trial's numbers are withheld, if they are.
    pub fn trial(&self, record: &TrialRecord) -> Option<&WithheldResult> {
        self.run.as_ref().or_else(|| self.trials.get(&record.number))
    }
}

fn blank(s: &mut TreatmentSummary) {
    s.summary = Summary { n: s.summary.n, ..Summary::default() };
    s.values.fill(None);
    s.percentile = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_sound_run_passes_unchanged() {
        let view = fixtures::commands();
        let gate = Gate::from_view(&view);
        assert_eq!(gate.analysis, view.analysis);
        assert!(gate.withheld.is_empty());
    }

    #[test]
    fn a_finding_about_the_run_withholds_every_number() {
        let view = fixtures::withheld();
        let gate = Gate::from_view(&view);
        assert!(gate.run().is_some());
        assert!(gate.analysis.summaries.iter().all(|s| s.summary.geomean.is_none()));
        assert!(gate.analysis.comparisons.iter().all(|c| c.ratio.is_none()));
    }

    #[test]
    fn a_finding_about_a_treatment_withholds_it_alone() {
        let mut view = fixtures::commands();
        let finding = fixtures::invalid_finding();
        view.analysis.findings.push(Finding { treatments: vec![1], ..finding });
        let gate = Gate::from_view(&view);
        assert!(gate.run().is_none() && gate.withheld.len() == 1);
        assert!(gate.treatment(1).is_some() && gate.treatment(0).is_none());
        let about = |ids: &[u32]| {
            view.findings_about(ids).iter().any(|(f, _)| f.severity == Severity::Invalid)
        };
        assert!(about(&[1]) && about(&[0, 1]) && !about(&[0]));
    }

    #[test]
    fn a_finding_about_a_counted_trial_withholds_its_treatment_alone() {
        let mut view = fixtures::commands();
        let number = view.counted(1)[0].number;
        let record = view.records.iter_mut().find(|r| r.number == number).unwrap();
        record.findings.push(fixtures::invalid_finding());
        let gate = Gate::from_view(&view);
        assert!(gate.run().is_none());
        assert!(gate.treatment(1).is_some() && gate.treatment(0).is_none());
        let kept: Vec<bool> =
            gate.analysis.summaries.iter().map(|s| s.summary.mean.is_some()).collect();
        assert!(kept.contains(&true) && kept.contains(&false));
        assert_eq!(gate.analysis.comparisons[0].ratio, None);
        assert!(gate.analysis.comparisons[0].reason.contains("F17"));
    }
}
