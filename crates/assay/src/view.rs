//! Reads a run from the archive and combines its records into a view for the reports.

use std::collections::BTreeMap;

use anyhow::Result;
use assay_archive::{Archive, RunReader};
use assay_lab::{EndedRun, Question, RecordedRun};
use assay_model::{Profile, RunId, SystemDescription, TrialRecord};
use assay_report::{LedgerHead, RunView};
use assay_system::redact::HiddenNames;
use assay_traces::{RunTraces, TRACE_FILES};

use crate::threads::run_both;

/// Maximum number of comparisons of a run that its page explains.
const EXPLAINED: usize = 8;

/// Loads a run for its owner, with the samples of its trials, redacting the secrets that archives
/// of earlier versions may contain.
pub fn load(archive: &Archive, id: &RunId) -> Result<RunView> {
    load_by(archive, id, None)
}

/// Loads a run like [`load`], compared by another metric than the deciding one.
pub fn load_by(archive: &Archive, id: &RunId, metric: Option<&str>) -> Result<RunView> {
    let reader = archive.run(id)?;
    let redactor = archive.secrets(&reader);
    read_in(Profile::Lab, &reader.redacted(redactor), Written::default(), metric)
}

/// Loads a run for the public: also without the names of machines and people.
pub fn load_public(archive: &Archive, id: &RunId) -> Result<RunView> {
    let reader = archive.run(id)?;
    let redactor = archive.publication(&reader, own_names());
    read(&reader.redacted(redactor), Written::default())
}

/// Loads a run that has just ended, as [`load`] does, and as [`load_public`] does if `public` is
/// set. Does not read the written records again if both views show them unchanged.
pub fn of_ended(
    archive: &Archive,
    ended: &mut EndedRun,
    public: bool,
) -> Result<(RunView, Option<RunView>)> {
    let reader = archive.run(&ended.id)?;
    let own = reader.clone().redacted(archive.secrets(&reader));
    let public = public.then(|| {
        let redactor = archive.publication(&reader, own_names());
        reader.redacted(redactor)
    });
    // If the public may see the records unchanged, so may the owner.
    let as_written = public.as_ref().unwrap_or(&own).shows_records_as_written()?;
    let records = ended.records.take().filter(|_| as_written);
    let for_owner = Written { records, system: ended.system.take() };
    let Some(public) = public else { return Ok((read(&own, for_owner)?, None)) };
    let for_public = Written { records: for_owner.records.clone(), system: None };
    let (public, own) = run_both(|| read(&public, for_public), || read(&own, for_owner));
    Ok((own?, Some(public?)))
}

/// Loads a run through its redacting reader and judges it for publication: its findings have the
/// severities of the publish profile, which also decide the numbers that are withheld.
pub fn published(reader: &RunReader) -> Result<RunView> {
    let mut view = read_in(Profile::Publish, reader, Written::default(), None)?;
    for record in &mut view.records {
        record.findings =
            record.findings.drain(..).map(|f| f.in_profile(Profile::Publish)).collect();
    }
    Ok(view)
}

/// Returns the names of this machine and this user.
pub fn own_names() -> HiddenNames {
    let mut names = HiddenNames::default();
    names.host(&rustix::system::uname().nodename().to_string_lossy());
    for name in ["USER", "LOGNAME", "SUDO_USER"] {
        names.user(&std::env::var(name).unwrap_or_default());
    }
    names.home(&std::env::var("HOME").unwrap_or_default());
    names
}

/// Parts of a run that the reader would return, if they are known already.
#[derive(Default)]
struct Written {
    records: Option<Vec<TrialRecord>>,
    system: Option<SystemDescription>,
}

/// Reads a run in profile `lab`.
fn read(reader: &RunReader, written: Written) -> Result<RunView> {
    read_in(Profile::Lab, reader, written, None)
}

/// Reads a run like [`read`], with the run's findings in a given profile, compared by the deciding
/// metric or another one.
fn read_in(
    profile: Profile,
    reader: &RunReader,
    written: Written,
    metric: Option<&str>,
) -> Result<RunView> {
    let experiment_toml = reader.experiment_toml()?;
    let experiment = assay_lab::read_experiment("experiment.toml", &experiment_toml)
        .map_err(assay_lab::LabError::File)?;
    let mut plan = reader.plan()?;
    if let Some(metric) = metric {
        metric.clone_into(&mut plan.metric);
    }
    let records = written.records.map_or_else(|| reader.records(), Ok)?;
    let system = written.system.map_or_else(|| reader.system(), Ok)?;
    let recorded = RecordedRun {
        experiment: &experiment,
        plan: &plan,
        records: &records,
        system: Some(&system),
        ledger: reader.ledger(),
    };
    let mut analysis = assay_lab::analyse(&recorded);
    analysis.run_metrics.extend(reader.run_metrics()?);
    let mut samples = BTreeMap::new();
    for record in records.iter().filter(|r| r.observers.iter().any(|o| o.samples > 0)) {
        if let Some(set) = reader.samples(record.number, record.attempt)? {
            samples.insert(record.number, set);
        }
    }
    let mut traces = RunTraces::default();
    for record in &records {
        for file in TRACE_FILES {
            if record.observers.iter().any(|o| o.observer == file.tracer)
                && let Some(trace) = reader.trace(file, record.number, record.attempt)?
            {
                traces.insert(file, record.number, trace);
            }
        }
    }
    let explain = || -> Vec<_> {
        let explained = analysis.comparisons.iter().take(EXPLAINED);
        let question = |comparison| Question {
            records: &records,
            samples: &samples,
            traces: &traces,
            analysis: &analysis,
            comparison,
        };
        explained.map(|comparison| assay_lab::explain(&question(comparison))).collect()
    };
    // The analysis has its findings in profile `lab` already.
    let judge = || assay_lab::check(&recorded, &analysis, profile);
    let (judged, explanations) = match profile {
        Profile::Lab => (None, explain()),
        Profile::Publish => {
            let (report, explanations) = run_both(judge, explain);
            (Some(report), explanations)
        }
    };
    if let Some(report) = judged {
        (analysis.checks, analysis.findings) = (report.checks(), report.findings);
    }
    Ok(RunView {
        summary: reader.summary_of(&records)?,
        experiment,
        experiment_toml,
        plan,
        system,
        records,
        analysis,
        samples,
        explanations,
        traces,
        ledger: reader.ledger().to_vec(),
        ledger_head: reader
            .ledger_head()
            .map(|(seq, sha256)| LedgerHead { seq, sha256: sha256.to_owned() }),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}
