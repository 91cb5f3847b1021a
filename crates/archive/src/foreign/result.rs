//! What a file of another program says, as plain data.

use std::collections::{BTreeMap, HashMap};

use assay_model::{
    Exit, Fact, Finding, MetricSpec, MetricValue, Observation, Outcome, SampleSet, Scalar,
    ValidationResult,
};

use super::error::Flaw;

/// The factor whose levels are the names of benchmarks: different pieces of work.
pub(crate) const BENCHMARK: &str = "benchmark";

/// Results that are laid together: one run.
#[derive(Debug, Clone, Default)]
pub struct ForeignResult {
    /// Which part of the file it is, where a file gives several runs (`thrpt`); empty otherwise.
    pub part: String,
    /// The program that measured, as a person writes it.
    pub tool: &'static str,
    /// Its version, where the file tells.
    pub version: Option<String>,
    /// The workload's name in the archive.
    pub workload: &'static str,
    /// The metrics; the first decides.
    pub metrics: Vec<MetricSpec>,
    /// What was compared, in the order of the file; the first is the baseline.
    pub treatments: Vec<ForeignTreatment>,
    /// The repetitions, in the order of the file.
    pub trials: Vec<ForeignTrial>,
    /// What the file says of the system; what it does not say is not here.
    pub facts: BTreeMap<String, Fact>,
    /// The host, where the file tells.
    pub host: Option<String>,
    /// When it was measured, ISO 8601 in UTC, where the file tells.
    pub measured_at: Option<String>,
    /// Values that belong to no trial: totals and means that the file prints.
    pub run_metrics: Vec<MetricValue>,
    /// What a reader should know about the file.
    pub notes: Vec<String>,
    /// Where each treatment is, by its text: files may hold many.
    pub(super) index: HashMap<String, usize>,
}

/// One thing that was measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForeignTreatment {
    /// Its levels by factor.
    pub levels: BTreeMap<String, Scalar>,
    /// Everything else that the file says was set.
    pub params: BTreeMap<String, Scalar>,
}

/// One repetition.
#[derive(Debug, Clone)]
pub struct ForeignTrial {
    /// Its treatment, as an index.
    pub treatment: usize,
    /// Its metrics.
    pub metrics: Vec<MetricValue>,
    /// What the tool saw inside it; never counted as trials.
    pub samples: Option<SampleSet>,
    /// What of the samples is not known, as sentences.
    pub not_seen: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// What went wrong; empty when nothing did.
    pub error: String,
    /// How the program ended, where the file tells.
    pub exit: Option<Exit>,
    /// Whether its output was checked.
    pub validation: ValidationResult,
    /// When it started, ISO 8601 in UTC; empty where the file does not tell.
    pub started_at: String,
    /// Sentences about it.
    pub notes: Vec<String>,
    /// What speaks against its numbers.
    pub evidence: Vec<Observation>,
    /// What a tracer would have kept of it: name and content.
    pub kept: Vec<(String, Vec<u8>)>,
}

impl ForeignTrial {
    /// A completed trial of which nothing but its metrics is known.
    pub(crate) fn new(treatment: usize, metrics: Vec<MetricValue>) -> Self {
        ForeignTrial {
            treatment,
            metrics,
            samples: None,
            not_seen: Vec::new(),
            outcome: Outcome::Completed,
            error: String::new(),
            exit: None,
            validation: ValidationResult::NotReached,
            started_at: String::new(),
            notes: Vec::new(),
            evidence: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// What the catalogue of checks says about it.
    pub fn findings(&self) -> Vec<Finding> {
        assay_checks::judge_all(&self.evidence)
    }

    /// Makes it a trial that failed, whose numbers do not count.
    pub(crate) fn fail(&mut self, error: impl Into<String>) {
        self.outcome = Outcome::Failed;
        self.error = error.into();
    }
}

impl ForeignResult {
    /// The index of the treatment, which is added when it is new.
    pub(crate) fn treatment(&mut self, treatment: ForeignTreatment) -> usize {
        let next = self.treatments.len();
        let index = *self.index.entry(format!("{treatment:?}")).or_insert(next);
        if index == next {
            self.treatments.push(treatment);
        }
        index
    }

    /// Keeps a fact that the file states; empty texts state nothing.
    pub(crate) fn fact(&mut self, path: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.trim().is_empty() {
            self.facts.insert(path.to_owned(), Fact::known(value.trim()));
        }
    }

    /// An error when this is more than a run takes, with `more` trials to come.
    pub(crate) fn within_limits(&self, more: usize) -> Result<(), Flaw> {
        let counts = [
            ("treatments", self.treatments.len(), MAX_TREATMENTS),
            ("trials", self.trials.len().saturating_add(more), MAX_TRIALS),
        ];
        match counts.into_iter().find(|(_, found, most)| found > most) {
            None => Ok(()),
            Some((what, found, most)) => {
                Err(Flaw::whole(format!("it makes {found} {what}, and a run takes {most}")))
            }
        }
    }
}

/// The most treatments and trials of a run: each treatment is compared with the first, in each metric.
pub(crate) const MAX_TREATMENTS: usize = 2_000;
pub(crate) const MAX_TRIALS: usize = 100_000;

/// The arithmetic mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A metric of a trial, as its specification has it.
pub(crate) fn value(spec: &MetricSpec, value: Option<f64>) -> MetricValue {
    MetricValue::new(
        spec.name.clone(),
        value.filter(|v| v.is_finite()),
        spec.unit.clone(),
        spec.better,
        spec.kind,
    )
}
