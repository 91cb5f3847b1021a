//! Records of a run so far. The values needed before each trial are kept up to date, so that the
//! thousandth short trial costs no more than the first.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use assay_model::{TrialOutcome, TrialRecord};

/// Running totals of one treatment.
#[derive(Debug, Default)]
struct TreatmentTotals {
    /// Sum of the logarithms of the deciding metric, over the trials that count.
    logs: f64,
    /// Number of trials in that sum.
    n: u32,
    /// Duration of the last trial.
    lasted: Option<Duration>,
    /// Index of the last record of this session.
    last: Option<usize>,
    /// The first completed record, and those that have curves.
    previous: Vec<TrialRecord>,
}

/// All records so far, with totals by treatment.
#[derive(Debug)]
pub(crate) struct FinishedTrials {
    metric: String,
    records: Vec<TrialRecord>,
    /// Latest attempt by trial number, and true if it was not interrupted.
    attempts: HashMap<u32, (u32, bool)>,
    treatments: HashMap<u32, TreatmentTotals>,
}

impl FinishedTrials {
    /// Starts with the records of earlier sessions. `metric` is the deciding metric.
    pub fn new(metric: &str, records: Vec<TrialRecord>) -> Self {
        let mut history = FinishedTrials {
            metric: metric.to_owned(),
            records: Vec::with_capacity(records.len()),
            attempts: HashMap::new(),
            treatments: HashMap::new(),
        };
        for record in records {
            history.push(record);
        }
        history.treatments.values_mut().for_each(|of| of.last = None);
        history
    }

    /// Adds a record and updates the totals of its treatment.
    pub fn push(&mut self, record: TrialRecord) {
        let stands = record.outcome != TrialOutcome::Interrupted;
        self.attempts.insert(record.number, (record.attempt, stands));
        let of = self.treatments.entry(record.treatment).or_default();
        of.lasted = Some(Duration::from_nanos(record.end_ns.saturating_sub(record.start_ns)));
        if let Some(value) = record.metric(&self.metric).filter(|v| *v > 0.0 && record.counts()) {
            of.logs += value.ln();
            of.n += 1;
        }
        let wanted = of.previous.is_empty() || !record.curves.is_empty();
        if record.outcome == TrialOutcome::Completed && wanted {
            of.previous.push(record.clone());
        }
        of.last = Some(self.records.len());
        self.records.push(record);
    }

    /// Returns a treatment's last record of this session.
    pub fn last(&self, treatment: u32) -> Option<&TrialRecord> {
        self.records.get(self.treatments.get(&treatment)?.last?)
    }

    pub fn records(&self) -> &[TrialRecord] {
        &self.records
    }

    /// Returns the latest attempt of each trial, in the order of trial numbers.
    pub fn into_latest(self) -> Vec<TrialRecord> {
        let latest: BTreeMap<u32, TrialRecord> =
            self.records.into_iter().map(|record| (record.number, record)).collect();
        latest.into_values().collect()
    }

    /// Returns true if the latest attempt of this trial was not interrupted.
    pub fn stands(&self, number: u32) -> bool {
        self.attempts.get(&number).is_some_and(|(_, stands)| *stands)
    }

    /// Returns the number of the next attempt of this trial.
    pub fn next_attempt(&self, number: u32) -> u32 {
        self.attempts.get(&number).map_or(1, |(attempt, _)| attempt + 1)
    }

    /// Returns the geometric mean of the deciding metric.
    pub fn estimate(&self, treatment: u32) -> Option<f64> {
        let of = self.treatments.get(&treatment).filter(|of| of.n > 0)?;
        Some((of.logs / f64::from(of.n)).exp())
    }

    /// Returns the duration of the last trial of this treatment.
    pub fn lasted(&self, treatment: u32) -> Option<Duration> {
        self.treatments.get(&treatment)?.lasted
    }

    /// Returns the first completed record of this treatment, and those that have curves.
    pub fn previous(&self, treatment: u32) -> &[TrialRecord] {
        self.treatments.get(&treatment).map_or(&[], |of| of.previous.as_slice())
    }
}
