//! Everything that a report is made from.

use std::collections::BTreeMap;

use assay_model::{
    Analysis, CurvePoint, CurveSummary, Experiment, Explanation, Finding, LedgerEntry, Outcome,
    Plan, RunSummary, SampleSet, SystemDescription, TreatmentSummary, TrialRecord,
};
use assay_traces::block_io::IoReport;
use assay_traces::profile::Profile;
use assay_traces::syscalls::Syscalls;

use crate::alike::Alike;

/// A run as the reports see it. The caller fills it; nothing here reads files.
#[derive(Debug, Clone)]
pub struct RunView {
    /// The run in one line.
    pub summary: RunSummary,
    /// The experiment as it was read.
    pub experiment: Experiment,
    /// The experiment's file, byte for byte.
    pub experiment_toml: String,
    /// The plan.
    pub plan: Plan,
    /// The system under test at the start.
    pub system: SystemDescription,
    /// The latest attempt at every trial that was started, by number.
    pub records: Vec<TrialRecord>,
    /// What the records say together.
    pub analysis: Analysis,
    /// What differs along with the metric, for the first comparisons of the analysis.
    pub explanations: Vec<Explanation>,
    /// What monitors saw, by trial number.
    pub samples: BTreeMap<u32, SampleSet>,
    /// What the tracer of block I/O answered, by trial number.
    pub io: BTreeMap<u32, IoReport>,
    /// Where the program's time went, by trial number.
    pub profiles: BTreeMap<u32, Profile>,
    /// The program's instructions by function, counted in trials that were not timed, by the number of the trial before.
    pub instructions: BTreeMap<u32, Profile>,
    /// What its programs asked of the kernel, by trial number.
    pub syscalls: BTreeMap<u32, Syscalls>,
    /// The ledger.
    pub ledger: Vec<LedgerEntry>,
    /// The end of the ledger's chain; `None` for an empty ledger.
    pub ledger_head: Option<LedgerHead>,
    /// The version of assay that makes the report.
    pub assay_version: String,
}

impl RunView {
    /// The experiment's title, or its name when it has none.
    pub fn title(&self) -> &str {
        if self.experiment.title.trim().is_empty() {
            &self.experiment.name
        } else {
            self.experiment.title.trim()
        }
    }

    /// Every finding once, about the run or about trials, with the numbers of the trials that carry
    /// it (none: it is about the run); the most severe first. Findings of trials that differ only in
    /// their numbers are one, with the range of each number.
    pub fn findings(&self) -> Vec<(Finding, Vec<u32>)> {
        self.gathered(|_| true, |_| true)
    }

    /// Those of [`RunView::findings`] that are about the numbers of some treatments: about the run,
    /// about one of them, or about a trial that counts for one.
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
        let mut groups: Vec<(&Finding, Alike)> = Vec::new();
        for r in self.records.iter().filter(of) {
            for f in &r.findings {
                if let Some((_, trials)) = all.iter_mut().find(|(known, _)| known == f) {
                    trials.push(r.number);
                    continue;
                }
                let one = Alike::new(&f.message, Some(r.number));
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

    /// A treatment's label; its number when the plan does not know it.
    pub fn label(&self, treatment: u32) -> String {
        self.plan.treatment(treatment).map_or_else(
            || format!("treatment {treatment}"),
            |t| {
                if t.levels.is_empty() { self.experiment.name.clone() } else { t.label() }
            },
        )
    }

    /// The trials whose numbers count for a treatment, by number.
    pub fn counted(&self, treatment: u32) -> Vec<&TrialRecord> {
        self.records.iter().filter(|r| r.treatment == treatment && r.counts()).collect()
    }

    /// The profiles of those trials.
    pub fn profiles_of(&self, treatment: u32) -> Vec<&Profile> {
        self.counted(treatment).iter().filter_map(|r| self.profiles.get(&r.number)).collect()
    }

    /// The instructions that were counted after them.
    pub fn instructions_of(&self, treatment: u32) -> Vec<&Profile> {
        self.counted(treatment).iter().filter_map(|r| self.instructions.get(&r.number)).collect()
    }

    /// Their system calls.
    pub fn syscalls_of(&self, treatment: u32) -> Vec<&Syscalls> {
        self.counted(treatment).iter().filter_map(|r| self.syscalls.get(&r.number)).collect()
    }

    /// The treatments in the order of the plan.
    pub fn treatments(&self) -> Vec<u32> {
        self.plan.treatments.iter().map(|t| t.id).collect()
    }

    /// The program and the files that the trials were imported from; `None` when assay ran them.
    pub fn imported(&self) -> Option<(String, &[assay_model::ImportedFile])> {
        self.ledger.iter().find_map(|e| match &e.event {
            assay_model::LedgerEvent::Imported { tool, version, files } => {
                let tool = version.as_ref().map_or(tool.clone(), |v| format!("{tool} {v}"));
                Some((tool, files.as_slice()))
            }
            _ => None,
        })
    }

    /// The plan's hash as it was registered last.
    pub fn plan_hash(&self) -> Option<&str> {
        self.ledger.iter().rev().find_map(|e| match &e.event {
            assay_model::LedgerEvent::Planned { plan_sha256, .. }
            | assay_model::LedgerEvent::BlocksFixed { plan_sha256, .. } => {
                Some(plan_sha256.as_str())
            }
            _ => None,
        })
    }

    /// The stop rule as it was registered.
    pub fn stop_rule(&self) -> Option<&str> {
        self.ledger.iter().find_map(|e| match &e.event {
            assay_model::LedgerEvent::Planned { stop_rule, .. } => Some(stop_rule.as_str()),
            _ => None,
        })
    }
}

/// The end of a ledger's chain.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LedgerHead {
    /// The number of the last entry.
    pub seq: u64,
    /// SHA-256 of its line, hexadecimal.
    pub sha256: String,
}

/// The summaries of the deciding metric, in the analysis' order.
pub(crate) fn deciding(analysis: &Analysis) -> Vec<&TreatmentSummary> {
    analysis.summaries.iter().filter(|s| s.metric == analysis.metric).collect()
}

/// The label that the analysis gives a treatment.
pub(crate) fn analysis_label(analysis: &Analysis, treatment: u32) -> String {
    analysis
        .summaries
        .iter()
        .find(|s| s.treatment == treatment)
        .map_or_else(|| format!("treatment {treatment}"), |s| s.label.clone())
}

/// An outcome as a word.
pub(crate) fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed => "failed",
        Outcome::Invalid => "invalid",
        Outcome::TimedOut => "timed out",
        Outcome::Interrupted => "interrupted",
    }
}

/// From this many on, the points that every trial has stand for a curve.
const ENOUGH_WHOLE: usize = 30;

/// The points of a curve that are drawn and listed: those that every trial has, where there are enough
/// of them (a sweep adds sizes as it goes, and those few trials visited scatter more), else all.
pub(crate) fn shown_points(c: &CurveSummary) -> Vec<&CurvePoint> {
    let most = c.points.iter().map(|p| p.n).max().unwrap_or(0);
    let whole: Vec<&CurvePoint> = c.points.iter().filter(|p| p.n == most).collect();
    if whole.len() >= ENOUGH_WHOLE { whole } else { c.points.iter().collect() }
}
