//! Builds the result of a suite from its benchmarks, one value or several of each.

use std::collections::{BTreeMap, HashMap};

use assay_model::{Better, MetricSpec, MetricValue, Observation, Scalar};

use crate::readers::file::error::Flaw;
use crate::readers::file::unit::metric;
use crate::readers::result::{BENCHMARK, ForeignResult, ForeignTreatment, ForeignTrial, value};

/// Maximum number of benchmarks in an output.
pub(in crate::readers) const MAX_BENCHMARKS: usize = 5_000;
/// Maximum number of metrics of a suite.
const MAX_METRICS: usize = 200;

/// A suite that is being read. Its benchmarks are treatments; several values of one benchmark are
/// repetitions inside one process, which never count as trials of their own.
pub(in crate::readers) struct SuiteReader {
    result: ForeignResult,
    repetitions: HashMap<usize, u32>,
    /// Number of benchmarks of each name, if equal names mean different benchmarks.
    names: Option<HashMap<String, u32>>,
}

/// A value of a benchmark: the metric's name, the value in the unit, the unit, and the direction.
pub(in crate::readers) type SuiteValue<'a> = (&'a str, Option<f64>, &'a str, Better);

impl SuiteReader {
    /// Starts the result of a tool; `format` is the workload's name in the archive.
    pub(in crate::readers) fn new(tool: &'static str, format: &'static str) -> Self {
        let result = ForeignResult { tool, workload: format, ..ForeignResult::default() };
        SuiteReader { result, repetitions: HashMap::new(), names: None }
    }

    /// Starts the result of a tool that runs several programs, each of which measures a benchmark
    /// once. Benchmarks of the same name are different ones: `name`, `name (2)`.
    pub(in crate::readers) fn of_programs(tool: &'static str, format: &'static str) -> Self {
        SuiteReader { names: Some(HashMap::new()), ..SuiteReader::new(tool, format) }
    }

    /// Adds values that were measured together; the first is the one that decides. The name is
    /// empty for a tool that measures one thing. Returns the trial, to which figures and notes can
    /// be added.
    ///
    /// # Errors
    /// If there are too many benchmarks or metrics, or if a time or a rate is negative.
    pub(in crate::readers) fn add(
        &mut self,
        benchmark: &str,
        values: &[SuiteValue<'_>],
    ) -> Result<&mut ForeignTrial, Flaw> {
        let mut name = benchmark.to_owned();
        if let Some(names) = &mut self.names {
            let count = names.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                name = format!("{name} ({count})");
            }
        }
        let named = (!name.is_empty()).then(|| (BENCHMARK.to_owned(), Scalar::Text(name)));
        let levels: BTreeMap<String, Scalar> = named.into_iter().collect();
        let treatment = self.result.treatment(ForeignTreatment { levels, params: BTreeMap::new() });
        if self.result.treatments.len() > MAX_BENCHMARKS {
            return Err(Flaw::whole(format!("it has more than {MAX_BENCHMARKS} benchmarks")));
        }
        let mut metrics: Vec<MetricValue> = Vec::with_capacity(values.len());
        let mut notes = Vec::new();
        for &(name, number, unit, better) in values {
            let spec = self.spec(name, unit, better)?;
            let rate = unit == "s" || unit.ends_with("/s");
            if let Some(n) = number.filter(|n| rate && *n < 0.0) {
                return Err(Flaw::whole(format!("{benchmark}: {name} of {n} {unit} is negative")));
            }
            // Work takes time: a 0 only says that the tool prints too few digits.
            let duration = unit == "s" && (name.starts_with("latency") || name.ends_with("time"));
            let zero = duration && better == Better::Lower && number == Some(0.0);
            notes.extend(zero.then(|| format!("{name} is printed as 0, so it has no ratio")));
            metrics.push(value(&spec, number));
        }
        let mut trial = ForeignTrial { notes, ..ForeignTrial::new(treatment, metrics) };
        let index = self.repetitions.entry(treatment).or_default();
        if *index > 0 {
            trial.evidence.push(Observation::Repetition { index: *index });
        }
        *index += 1;
        let at = self.result.trials.len();
        self.result.trials.push(trial);
        Ok(&mut self.result.trials[at])
    }

    /// Adds a value to the trial with this index.
    ///
    /// # Errors
    /// If there are too many metrics.
    pub(in crate::readers) fn also(
        &mut self,
        trial: usize,
        (name, number, unit, better): SuiteValue<'_>,
    ) -> Result<(), Flaw> {
        let spec = self.spec(name, unit, better)?;
        self.result.trials[trial].metrics.push(value(&spec, number));
        Ok(())
    }

    fn spec(&mut self, name: &str, unit: &str, better: Better) -> Result<MetricSpec, Flaw> {
        if let Some(known) = self.result.metrics.iter().find(|m| m.name == name && m.unit == unit) {
            return Ok(known.clone());
        }
        if self.result.metrics.len() == MAX_METRICS {
            return Err(Flaw::whole(format!("it has more than {MAX_METRICS} metrics")));
        }
        let spec = metric(name, unit, better, "a figure of the benchmark");
        self.result.metrics.push(spec.clone());
        Ok(spec)
    }

    /// Adds a benchmark that failed.
    pub(in crate::readers) fn fail(&mut self, benchmark: &str, why: &str) -> Result<(), Flaw> {
        self.add(benchmark, &[])?.fail(why);
        Ok(())
    }

    /// Adds a remark about the output.
    pub(in crate::readers) fn note(&mut self, note: impl Into<String>) {
        self.result.notes.push(note.into());
    }

    pub(in crate::readers) fn result(&mut self) -> &mut ForeignResult {
        &mut self.result
    }

    /// Returns the result of the suite.
    ///
    /// # Errors
    /// If there is no benchmark; the text says what its lines look like.
    pub(in crate::readers) fn finish(self, expected: &str) -> Result<Vec<ForeignResult>, Flaw> {
        if self.result.trials.iter().all(|t| t.metrics.is_empty()) {
            return Err(Flaw::whole(format!("it has no result; {expected}")));
        }
        Ok(vec![self.result])
    }
}
