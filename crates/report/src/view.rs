//! The data that every report is made from.

use std::collections::BTreeMap;

use assay_model::{
    Analysis, CurvePoint, CurveSummary, Experiment, Explanation, Finding, LedgerEntry, Plan,
    RunSummary, SampleSet, SystemDescription, TreatmentSummary, TrialRecord,
};
use assay_traces::{RunTraces, TraceData, TraceFile};
use serde::Serialize;

use crate::merged_sentences::SentenceGroup;

/// The data of a run for reports. The caller fills it; nothing here reads files.
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    /// Version of assay that makes the report.
    #[serde(rename = "assay")]
    pub assay_version: String,
    /// Summary of the run.
    pub summary: RunSummary,
    /// Experiment as it was read.
    pub experiment: Experiment,
    /// Experiment file, byte for byte.
    #[serde(skip)]
    pub experiment_toml: String,
    pub plan: Plan,
    /// The system under test at the start.
    pub system: SystemDescription,
    /// Latest attempt at every trial that was started, by number.
    pub records: Vec<TrialRecord>,
    /// Analysis of all records.
    pub analysis: Analysis,
    /// Observations that differ along with the metric, for the first comparisons of the analysis.
    pub explanations: Vec<Explanation>,
    /// Samples of the monitors, by trial number.
    #[serde(skip)]
    pub samples: BTreeMap<u32, SampleSet>,
    /// Traces of the trials.
    #[serde(skip)]
    pub traces: RunTraces,
    pub ledger: Vec<LedgerEntry>,
    /// End of the ledger's hash chain; `None` for an empty ledger.
    pub ledger_head: Option<LedgerHead>,
}

impl RunView {
    /// Returns the experiment's title, or its name if it has none.
    pub fn title(&self) -> &str {
        if self.experiment.title.trim().is_empty() {
            &self.experiment.name
        } else {
            self.experiment.title.trim()
        }
    }

    /// Returns every finding once, about the run or about trials, with the numbers of the trials
    /// that carry it (none: it is about the run); the most severe first. Findings of trials that
    /// differ only in their numbers are merged, with the range of each number.
    pub fn findings(&self) -> Vec<(Finding, Vec<u32>)> {
        self.gathered(|_| true, |_| true)
    }

    /// Returns those of [`RunView::findings`] that are about the numbers of some treatments: about
    /// the run, about one of the treatments, or about a trial that counts for one.
    pub fn findings_about(&self, treatments: &[u32]) -> Vec<(Finding, Vec<u32>)> {
        self.gathered(
            |f| f.treatments.is_empty() || f.treatments.iter().any(|t| treatments.contains(t)),
            |r| r.counts() && treatments.contains(&r.treatment),
        )
    }

    fn gathered(
        &self,
        about: impl Fn(&&Finding) -> bool,
        of: impl Fn(&&TrialRecord) -> bool,
    ) -> Vec<(Finding, Vec<u32>)> {
        let whole = self.analysis.findings.iter().filter(about);
        let mut all: Vec<(Finding, Vec<u32>)> = whole.map(|f| (f.clone(), Vec::new())).collect();
        let mut groups: Vec<(&Finding, SentenceGroup)> = Vec::new();
        for r in self.records.iter().filter(of) {
            for f in &r.findings {
                if let Some((_, trials)) = all.iter_mut().find(|(known, _)| known == f) {
                    trials.push(r.number);
                    continue;
                }
                let one = SentenceGroup::new(&f.message, Some(r.number));
                let same = |k: &Finding| {
                    (&k.id, &k.name, k.severity, &k.remedy)
                        == (&f.id, &f.name, f.severity, &f.remedy)
                };
                if !groups.iter_mut().any(|(known, group)| same(known) && group.take(&one)) {
                    groups.push((f, one));
                }
            }
        }
        all.extend(
            groups.into_iter().map(|(f, group)| (f.clone().worded(group.text()), group.trials)),
        );
        all.sort_by_key(|(f, _)| std::cmp::Reverse(f.severity));
        all
    }

    /// Returns a treatment's label, or its number if the plan does not have it.
    pub fn label(&self, treatment: u32) -> String {
        self.plan.treatment(treatment).map_or_else(
            || format!("treatment {treatment}"),
            |t| {
                if t.levels.is_empty() { self.experiment.name.clone() } else { t.label() }
            },
        )
    }

    /// Returns the trials that count for a treatment, by number.
    pub fn counted(&self, treatment: u32) -> Vec<&TrialRecord> {
        self.records.iter().filter(|r| r.treatment == treatment && r.counts()).collect()
    }

    /// Returns the traces of a treatment's counted trials.
    pub fn traces_of<T: TraceData>(&self, file: &TraceFile, treatment: u32) -> Vec<&T> {
        let counted = self.counted(treatment).into_iter();
        counted.filter_map(|r| self.traces.get(file, r.number)).collect()
    }

    /// Returns the treatments in the order of the plan.
    pub fn treatments(&self) -> Vec<u32> {
        self.plan.treatments.iter().map(|t| t.id).collect()
    }

    /// Returns the program and the files that the trials were imported from; `None` if assay ran
    /// them.
    pub fn imported(&self) -> Option<(String, &[assay_model::ImportedFile])> {
        self.ledger.iter().find_map(|e| match &e.event {
            assay_model::LedgerEvent::Imported { tool, version, files } => {
                let tool = version.as_ref().map_or(tool.clone(), |v| format!("{tool} {v}"));
                Some((tool, files.as_slice()))
            }
            _ => None,
        })
    }

    /// Returns the plan's hash as it was registered last.
    pub fn plan_hash(&self) -> Option<&str> {
        self.ledger.iter().rev().find_map(|e| match &e.event {
            assay_model::LedgerEvent::Planned { plan_sha256, .. }
            | assay_model::LedgerEvent::BlocksFixed { plan_sha256, .. } => {
                Some(plan_sha256.as_str())
            }
            _ => None,
        })
    }

    /// Returns the stop rule as it was registered.
    pub fn stop_rule(&self) -> Option<&str> {
        self.ledger.iter().find_map(|e| match &e.event {
            assay_model::LedgerEvent::Planned { stop_rule, .. } => Some(stop_rule.as_str()),
            _ => None,
        })
    }
}

/// The end of a ledger's hash chain.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LedgerHead {
    /// Number of the last entry.
    pub seq: u64,
    /// SHA-256 of the last entry's line, in hexadecimal.
    pub sha256: String,
}

/// Returns the summaries of the deciding metric, in the order of the analysis.
pub(crate) fn deciding(analysis: &Analysis) -> Vec<&TreatmentSummary> {
    analysis.summaries.iter().filter(|s| s.metric == analysis.metric).collect()
}

/// Returns the label that the analysis gives a treatment.
pub(crate) fn analysis_label(analysis: &Analysis, treatment: u32) -> String {
    analysis
        .summaries
        .iter()
        .find(|s| s.treatment == treatment)
        .map_or_else(|| format!("treatment {treatment}"), |s| s.label.clone())
}

/// Number of points that every trial must have for a curve to be shown by these alone.
const ENOUGH_WHOLE: usize = 30;

/// Returns the points of a curve that are drawn and listed: those that every trial has, if there
/// are enough of them, else all. A sweep adds sizes while it runs, and points that few trials
/// visited scatter more.
pub(crate) fn shown_points(c: &CurveSummary) -> Vec<&CurvePoint> {
    let most = c.points.iter().map(|p| p.n).max().unwrap_or(0);
    let whole: Vec<&CurvePoint> = c.points.iter().filter(|p| p.n == most).collect();
    if whole.len() >= ENOUGH_WHOLE { whole } else { c.points.iter().collect() }
}
