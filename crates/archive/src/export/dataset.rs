//! Exports all results as a Parquet data set that pandas, Polars and DuckDB can open directly.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use assay_model::{Better, MetricKind, MetricValue, Plan, RunId, TrialRecord};
use parquet::data_type::ByteArray;
use serde::Serialize;

use crate::format::columns::{ColumnValues, ParquetTable};
use crate::format::disk;
use crate::store::folder::Archive;
use crate::store::reader::RunReader;
use crate::store::search::Search;
use crate::{Error, Result};

const TRIALS: &str = "message trials {
    REQUIRED BYTE_ARRAY run (STRING);
    REQUIRED BYTE_ARRAY experiment (STRING);
    REQUIRED BYTE_ARRAY workload (STRING);
    REQUIRED BYTE_ARRAY host (STRING);
    REQUIRED BYTE_ARRAY started_at (STRING);
    REQUIRED INT64 number;
    REQUIRED INT64 attempt;
    REQUIRED INT64 block;
    REQUIRED BOOLEAN warmup;
    REQUIRED INT64 treatment;
    REQUIRED BYTE_ARRAY label (STRING);
    REQUIRED BYTE_ARRAY levels (JSON);
    REQUIRED BYTE_ARRAY outcome (STRING);
    OPTIONAL BYTE_ARRAY metric (STRING);
    OPTIONAL DOUBLE value;
    OPTIONAL BYTE_ARRAY unit (STRING);
    OPTIONAL BYTE_ARRAY better (STRING);
    OPTIONAL BYTE_ARRAY kind (STRING);
}";

/// Rows of trials that are buffered before they are written as one row group.
const GROUP: usize = 100_000;

/// Counts and files of an exported data set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatasetReport {
    pub runs: u64,
    /// Number of trials (each attempt counts).
    pub trials: u64,
    /// Number of rows in `trials.parquet`.
    pub rows: u64,
    /// Runs that match but could not be read completely, with the reason. The set holds no part of
    /// them.
    pub excluded: Vec<(RunId, String)>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

impl Archive {
    /// Writes the results of all runs that match into `folder`: `trials.parquet`, with one row for
    /// each metric of each attempt of each trial (one row with a null metric for a trial without
    /// metrics). Samples stay in the runs.
    ///
    /// # Errors
    /// `Exists` if one of the files exists already.
    pub fn export_dataset(&self, folder: &Path, filter: &Search) -> Result<DatasetReport> {
        disk::make_folder(folder)?;
        let mut trials = Output::create(folder.join("trials.parquet"), TRIALS)?;
        let mut report = DatasetReport::default();
        let mut rows = Rows::default();
        let mut runs = self.list(filter)?;
        runs.reverse();
        for summary in runs {
            let read = |run: &RunReader| Ok((run.plan()?, run.all_attempts()?));
            let (run, plan, records) = match self.run(&summary.id).and_then(|run| {
                let (plan, records) = read(&run)?;
                Ok((run, plan, records))
            }) {
                Ok(whole) => whole,
                Err(error) => {
                    report.excluded.push((summary.id, error.to_string()));
                    continue;
                }
            };
            report.runs += 1;
            for record in &records {
                report.trials += 1;
                rows.add(&run, &plan, record);
                if rows.count() >= GROUP {
                    report.rows += rows.write(&mut trials)?;
                }
            }
        }
        report.rows += rows.write(&mut trials)?;
        report.files.push(trials.finish()?);
        Ok(report)
    }
}

/// A Parquet file under a temporary name; removed on drop if it was not finished.
struct Output {
    path: PathBuf,
    staged: PathBuf,
    table: Option<ParquetTable<File>>,
}

impl Output {
    fn create(path: PathBuf, schema: &str) -> Result<Self> {
        if path.exists() {
            return Err(Error::Exists { path });
        }
        let staged = path.with_extension("parquet.tmp");
        let file = File::create(&staged).map_err(|e| Error::io("write", &staged, e))?;
        let table = ParquetTable::create(file, schema)
            .map_err(|source| Error::Parquet { path: path.clone(), source })?;
        Ok(Output { path, staged, table: Some(table) })
    }

    fn write(
        &mut self,
        columns: impl FnOnce() -> parquet::errors::Result<Vec<ColumnValues>>,
    ) -> Result<()> {
        let Some(table) = &mut self.table else { return Ok(()) };
        columns()
            .and_then(|columns| table.write(&columns))
            .map_err(|source| Error::Parquet { path: self.path.clone(), source })
    }

    fn finish(mut self) -> Result<PathBuf> {
        let Some(table) = self.table.take() else { return Ok(self.path.clone()) };
        let file =
            table.close().map_err(|source| Error::Parquet { path: self.path.clone(), source })?;
        file.sync_all()
            .and_then(|()| fs::rename(&self.staged, &self.path))
            .map_err(|e| Error::io("write", &self.path, e))?;
        Ok(self.path.clone())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.staged); // already renamed if it was finished
    }
}

/// Buffered rows of `trials.parquet`.
#[derive(Default)]
struct Rows {
    texts: [Vec<ByteArray>; 8],
    numbers: [Vec<i64>; 4],
    warmup: Vec<bool>,
    value: Vec<f64>,
    maybe: [Vec<Option<ByteArray>>; 4],
}

impl Rows {
    fn count(&self) -> usize {
        self.value.len()
    }

    fn add(&mut self, run: &RunReader, plan: &Plan, record: &TrialRecord) {
        let identity = run.identity();
        let treatment = plan.treatment(record.treatment);
        let levels = treatment.map(|t| serde_json::to_string(&t.levels).unwrap_or_default());
        let texts = [
            identity.id.as_str(),
            &identity.experiment,
            &identity.workload,
            &identity.host,
            &record.started_at,
            &treatment.map_or_else(|| "unknown".to_owned(), assay_model::Treatment::label),
            levels.as_deref().unwrap_or("{}"),
            &word(&record.outcome),
        ]
        .map(ByteArray::from);
        let numbers = [record.number, record.attempt, record.block, record.treatment];
        let none = vec![None];
        let metrics = record.metrics.iter().map(Some).collect::<Vec<_>>();
        for metric in if metrics.is_empty() { none } else { metrics } {
            for (column, text) in self.texts.iter_mut().zip(&texts) {
                column.push(text.clone());
            }
            for (column, number) in self.numbers.iter_mut().zip(numbers) {
                column.push(i64::from(number));
            }
            self.warmup.push(record.warmup);
            self.metric(metric);
        }
    }

    fn metric(&mut self, metric: Option<&MetricValue>) {
        self.value.push(metric.and_then(|m| m.value).unwrap_or(f64::NAN)); // NaN becomes null
        let texts = metric.map(|m| {
            let (better, kind): (&Better, &MetricKind) = (&m.better, &m.kind);
            [m.name.clone(), m.unit.clone(), word(better), word(kind)]
        });
        for (i, column) in self.maybe.iter_mut().enumerate() {
            column.push(texts.as_ref().map(|t| ByteArray::from(t[i].as_str())));
        }
    }

    /// Writes the buffered rows and returns their number.
    fn write(&mut self, out: &mut Output) -> Result<u64> {
        let rows = std::mem::take(self);
        let count = rows.count() as u64;
        if count == 0 {
            return Ok(0);
        }
        let [run, experiment, workload, host, started_at, label, levels, outcome] = rows.texts;
        let [number, attempt, block, treatment] = rows.numbers;
        let [metric, unit, better, kind] = rows.maybe;
        out.write(|| {
            Ok(vec![
                ColumnValues::Text(run),
                ColumnValues::Text(experiment),
                ColumnValues::Text(workload),
                ColumnValues::Text(host),
                ColumnValues::Text(started_at),
                ColumnValues::Int(number),
                ColumnValues::Int(attempt),
                ColumnValues::Int(block),
                ColumnValues::Flag(rows.warmup),
                ColumnValues::Int(treatment),
                ColumnValues::Text(label),
                ColumnValues::Text(levels),
                ColumnValues::Text(outcome),
                ColumnValues::MaybeText(metric),
                ColumnValues::Real(rows.value),
                ColumnValues::MaybeText(unit),
                ColumnValues::MaybeText(better),
                ColumnValues::MaybeText(kind),
            ])
        })?;
        Ok(count)
    }
}

/// Returns the name that a value has in records.
fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => other.map(|v| v.to_string()).unwrap_or_default(),
    }
}
