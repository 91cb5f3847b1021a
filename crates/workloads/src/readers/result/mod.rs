//! Plain data of a file of another program.

pub(super) mod figures;
pub(super) mod merge;
pub(super) mod series;
pub(super) mod suite;

use std::collections::{BTreeMap, HashMap};

use assay_model::{
    Exit, Fact, Finding, MetricSpec, MetricValue, Observation, SampleSet, Scalar, TrialOutcome,
    ValidationResult,
};

use crate::readers::file::error::Flaw;

/// The factor whose levels are the names of benchmarks, that is, different work.
pub(crate) const BENCHMARK: &str = "benchmark";

/// Results that belong together and become one run.
#[derive(Debug, Clone, Default)]
pub struct ForeignResult {
    /// Name of the part of the file (`thrpt`) if the file gives several runs; empty otherwise.
    pub part: String,
    /// Name of the program that measured, as a person writes it.
    pub tool: &'static str,
    /// Version of the program, if the file states it.
    pub version: Option<String>,
    /// Name of the workload in the archive.
    pub workload: &'static str,
    /// The metrics; the first one is the deciding metric.
    pub metrics: Vec<MetricSpec>,
    /// The treatments in file order; the first one is the baseline.
    pub treatments: Vec<ForeignTreatment>,
    /// The repetitions in file order.
    pub trials: Vec<ForeignTrial>,
    /// Facts that the file states about the system.
    pub facts: BTreeMap<String, Fact>,
    /// Name of the host, if the file states it.
    pub host: Option<String>,
    /// Time of the measurement, ISO 8601 in UTC, if the file states it.
    pub measured_at: Option<String>,
    /// Values that belong to no trial: totals and means that the file prints.
    pub run_metrics: Vec<MetricValue>,
    /// Remarks about the file for readers of the results.
    pub notes: Vec<String>,
    /// Index of each treatment by its text, because a file may hold many.
    pub(in crate::readers) index: HashMap<String, usize>,
}

/// A treatment that was measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForeignTreatment {
    pub levels: BTreeMap<String, Scalar>,
    /// All other settings that the file states.
    pub params: BTreeMap<String, Scalar>,
}

/// One repetition of a measurement.
#[derive(Debug, Clone, Default)]
pub struct ForeignTrial {
    /// Index of the treatment.
    pub treatment: usize,
    pub metrics: Vec<MetricValue>,
    /// Samples that the program took inside the trial; never counted as trials.
    pub samples: Option<SampleSet>,
    /// Gaps in the samples, as sentences.
    pub not_seen: Vec<String>,
    pub outcome: TrialOutcome,
    /// Description of the error; empty for a trial that succeeded.
    pub error: String,
    /// Exit status of the program, if the file states it.
    pub exit: Option<Exit>,
    /// Result of checking the output.
    pub validation: ValidationResult,
    /// Start time, ISO 8601 in UTC; empty if the file does not state it.
    pub started_at: String,
    /// Remarks about the trial, as sentences.
    pub notes: Vec<String>,
    /// Evidence against the trial's numbers.
    pub evidence: Vec<Observation>,
    /// Names and contents of files that a tracer would have stored with the trial.
    pub kept: Vec<(String, Vec<u8>)>,
}

impl ForeignTrial {
    /// Makes a completed trial of which only the metrics are known.
    pub(crate) fn new(treatment: usize, metrics: Vec<MetricValue>) -> Self {
        ForeignTrial {
            treatment,
            metrics,
            outcome: TrialOutcome::Completed,
            ..ForeignTrial::default()
        }
    }

    /// Returns the findings of the check catalogue on the evidence.
    pub fn findings(&self) -> Vec<Finding> {
        assay_checks::judge_observations(&self.evidence)
    }

    /// Marks the trial as failed, so that its numbers do not count.
    pub(crate) fn fail(&mut self, error: impl Into<String>) {
        self.outcome = TrialOutcome::Failed;
        self.error = error.into();
    }
}

impl ForeignResult {
    /// Returns the index of the treatment; adds it if it is new.
    pub(crate) fn treatment(&mut self, treatment: ForeignTreatment) -> usize {
        let next = self.treatments.len();
        let index = *self.index.entry(format!("{treatment:?}")).or_insert(next);
        if index == next {
            self.treatments.push(treatment);
        }
        index
    }

    /// Stores a fact that the file states; an empty text states nothing.
    pub(crate) fn fact(&mut self, path: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.trim().is_empty() {
            self.facts.insert(path.to_owned(), Fact::known(value.trim()));
        }
    }

    /// Returns an error if the result, with `more` trials to come, exceeds the limits of a run.
    pub(crate) fn within_limits(&self, more: usize) -> Result<(), Flaw> {
        let counts = [
            ("treatments", self.treatments.len(), MAX_TREATMENTS),
            ("trials", self.trials.len().saturating_add(more), MAX_TRIALS),
        ];
        match counts.into_iter().find(|(_, found, most)| found > most) {
            None => Ok(()),
            Some((what, found, most)) => {
                Err(Flaw::whole(format!("it has {found} {what}, and a run has at most {most}")))
            }
        }
    }
}

/// Maximum number of treatments and trials of a run: each treatment is compared with the first one
/// in each metric.
pub(crate) const MAX_TREATMENTS: usize = 2_000;
pub(crate) const MAX_TRIALS: usize = 100_000;

/// Returns the arithmetic mean, or `None` for an empty list.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Makes a metric of a trial from its specification; values that are not finite are dropped.
pub(crate) fn value(spec: &MetricSpec, value: Option<f64>) -> MetricValue {
    MetricValue::new(
        spec.name.clone(),
        value.filter(|v| v.is_finite()),
        spec.unit.clone(),
        spec.better,
        spec.kind,
    )
}
