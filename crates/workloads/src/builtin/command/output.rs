//! Numbers in the output of a command: the benchmarks that a reader finds, and one number that the
//! command prints; and checks of the output.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{Better, MetricKind, MetricValue, Observation};

use crate::declare::{text_of, wrong};
use crate::driver::step::{Inherit, ProgramStep};
use crate::error::Result;
use crate::pattern::{FoundNumber, Pattern, Take};
use crate::readers::{self, AUTO, ForeignFormat, READ_AS, geometric_mean, read_output, stream};
use crate::{FinishedProgram, TrialContext, WorkloadError};

use super::{ParamMap, STEP_TIMEOUT, argv, folder};

/// Metric of the number that the command prints.
pub const PRINTED: &str = "printed";
/// File in the trial's folder whose time is that of the trial's start.
const START: &str = "result-start";
/// Results of a command's output.
#[derive(Default)]
pub(super) struct OutputResults {
    pub metrics: Vec<MetricValue>,
    pub notes: Vec<String>,
    pub evidence: Vec<Observation>,
    /// Reason why the trial failed.
    pub failure: Option<String>,
}

/// Checks the parameters before the plan.
pub(super) fn check(params: &ParamMap) -> Result<()> {
    reader(params)?;
    if !text_of(params, "result_file").is_empty() && text_of(params, "reader").is_empty() {
        return Err(wrong("`result_file` needs a `reader`, such as reader = \"auto\""));
    }
    printed(params)?;
    expected(params)?;
    Ok(())
}

/// The reader of a command's output.
#[derive(Clone, Copy)]
enum Reader {
    /// Recognized by the output.
    Auto,
    Named(&'static ForeignFormat),
}

fn reader(params: &ParamMap) -> Result<Option<Reader>> {
    let name = text_of(params, "reader");
    if name.is_empty() || name == AUTO {
        return Ok((name == AUTO).then_some(Reader::Auto));
    }
    if let Some(format) = readers::format(&name).filter(|f| f.live) {
        return Ok(Some(Reader::Named(format)));
    }
    let known = readers::FORMATS.iter().filter(|f| f.live).map(|f| f.name);
    let known: Vec<&str> = [AUTO].into_iter().chain(known).collect();
    Err(wrong(format!("there is no reader `{name}`; there are {}", known.join(", "))))
}

/// Returns the place of the number that the command prints.
fn printed(params: &ParamMap) -> Result<Option<Pattern>> {
    match text_of(params, "metric_from").as_str() {
        "" => Ok(None),
        text => {
            Pattern::parse_any(text).map(Some).map_err(|e| wrong(format!("`metric_from`: {e}")))
        }
    }
}

fn expected(params: &ParamMap) -> Result<Option<(PathBuf, Vec<u8>)>> {
    let name = text_of(params, "expect");
    if name.is_empty() {
        return Ok(None);
    }
    let file = folder(params)?.join(&name);
    let bytes = fs::read(&file)
        .map_err(|e| wrong(format!("`expect` is {name}, which cannot be read: {e}")))?;
    Ok(Some((file, bytes)))
}

/// Marks the start of a trial, so that a result file of an earlier one is not read.
pub(super) fn start(ctx: &TrialContext<'_>) -> Result<()> {
    if text_of(ctx.params, "result_file").is_empty() {
        return Ok(());
    }
    let mark = ctx.trial_dir.join(START);
    fs::write(&mark, "").map_err(WorkloadError::io("write", &mark))
}

/// Reads the numbers in the output of a finished command and checks the output.
pub(super) fn collect(
    ctx: &TrialContext<'_>,
    finished: &FinishedProgram<'_>,
) -> Result<OutputResults> {
    let mut out = OutputResults::default();
    let (reader, pattern) = (reader(ctx.params)?, printed(ctx.params)?);
    if let Some(reader) = reader {
        suite(ctx, finished, reader, &mut out)?;
    }
    if let Some(pattern) = &pattern {
        out.metrics.push(number(ctx.params, finished, pattern, &mut out.notes));
    }
    if reader.is_none()
        && pattern.is_none()
        && ctx.previous.is_empty()
        && !finished.stdout.is_empty()
        && let Some(format) = readers::recognized(finished.stdout)
    {
        out.evidence.push(Observation::SuiteOutput { reader: format.name.to_owned() });
    }
    if let Some((file, bytes)) = expected(ctx.params)?
        && (!finished.stdout_whole || finished.stdout != bytes)
    {
        let why =
            if finished.stdout_whole { "differs from" } else { "is too long to compare with" };
        out.failure.get_or_insert(format!("the output {why} {}", file.display()));
    }
    let line = text_of(ctx.params, "check");
    if !line.trim().is_empty() {
        let failed = checked(ctx, finished, &line)?;
        out.failure = out.failure.take().or(failed);
    }
    Ok(out)
}

/// Reads the benchmarks of a suite.
fn suite(
    ctx: &TrialContext<'_>,
    finished: &FinishedProgram<'_>,
    reader: Reader,
    out: &mut OutputResults,
) -> Result<()> {
    let format = match reader {
        Reader::Auto => None,
        Reader::Named(format) => Some(format),
    };
    let found = stream(finished.stdout, finished.stderr, format);
    let (from, bytes) = match text_of(ctx.params, "result_file").as_str() {
        "" if !finished.stdout_whole && found == finished.stdout => {
            out.failure = Some(
                "the output is too long to read (2 MiB are kept); have the tool write a file and \
                 give it with --result-file"
                    .into(),
            );
            return Ok(());
        }
        "" => (PathBuf::from("the output"), found.to_vec()),
        name => match written(ctx, name)? {
            Ok(found) => found,
            Err(why) => {
                out.failure = Some(why);
                return Ok(());
            }
        },
    };
    match read_output(&from, &bytes, format) {
        Ok(read) => {
            if format.is_none() {
                out.notes.push(format!("{READ_AS}{}", read.format.name));
            }
            out.metrics.push(geometric_mean(&read.metrics, &mut out.notes));
            out.metrics.extend(read.metrics);
            out.notes.extend(read.notes);
            out.notes.extend(read.failed);
            out.evidence.extend(read.evidence);
        }
        Err(error) => out.failure = Some(error.to_string()),
    }
    Ok(())
}

/// Returns the content of the file that the command wrote in this trial, or the reason for its
/// absence.
fn written(ctx: &TrialContext<'_>, name: &str) -> Result<Result<(PathBuf, Vec<u8>), String>> {
    let file = folder(ctx.params)?.join(name);
    let time = |path: &Path| fs::metadata(path).and_then(|m| m.modified());
    let start = time(&ctx.trial_dir.join(START));
    match (time(&file), start) {
        (Ok(file_time), Ok(start)) if file_time < start => {
            Ok(Err(format!("the command did not write {name} in this trial; it is older")))
        }
        (Err(e), _) => Ok(Err(format!("cannot read {name}: {e}"))),
        _ => Ok(readers::read_file(&file).map(|bytes| (file, bytes)).map_err(|e| e.to_string())),
    }
}

/// Finds the number that the command prints. A missing value has its reason in the notes.
fn number(
    params: &ParamMap,
    finished: &FinishedProgram<'_>,
    pattern: &Pattern,
    notes: &mut Vec<String>,
) -> MetricValue {
    let better = match text_of(params, "better").as_str() {
        "lower" => Better::Lower,
        "higher" => Better::Higher,
        _ => Better::Neither,
    };
    let text = String::from_utf8_lossy(finished.stdout);
    let found = pattern.find(&text, Take::Only).map(in_base_unit);
    let found = found.map_err(|why| notes.push(format!("`{PRINTED}` is missing: {why}"))).ok();
    let (value, unit) = found.map_or((None, "1".to_owned()), |(value, unit)| (Some(value), unit));
    let better = if better == Better::Neither { Better::from_unit(&unit) } else { better };
    MetricValue::new(PRINTED, value, unit, better, MetricKind::Measured)
}

/// Returns the number in its base unit if a unit of time or size follows it.
fn in_base_unit(found: FoundNumber<'_>) -> (f64, String) {
    let word = found.rest.trim_start();
    let word = &word[..word.find(|c: char| !(c.is_alphabetic() || c == '/')).unwrap_or(word.len())];
    match readers::base_unit(word) {
        Some((factor, unit)) => (found.value * factor, unit),
        None => (found.value, "1".to_owned()),
    }
}

/// Runs the check of the output, which reads it as its standard input; returns why it failed.
fn checked(
    ctx: &TrialContext<'_>,
    finished: &FinishedProgram<'_>,
    line: &str,
) -> Result<Option<String>> {
    if !finished.stdout_whole {
        return Ok(Some("the output is too long to check (2 MiB are kept)".to_owned()));
    }
    let output = ctx.trial_dir.join("checked-output");
    fs::write(&output, finished.stdout).map_err(WorkloadError::io("write", &output))?;
    let (argv, folder): (Vec<OsString>, _) = (argv(line, ctx.params)?, folder(ctx.params)?);
    let log = ctx.trial_dir.join("check.log");
    let step = ProgramStep::new("check", &argv, &folder, &log, STEP_TIMEOUT);
    let verdict = ProgramStep { inherit: Inherit::All, stdin: Some(&output), ..step }.verdict()?;
    Ok(verdict.err().map(|why| format!("the check of the output failed: {why}")))
}
