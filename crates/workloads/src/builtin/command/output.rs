//! Numbers in the output of a command: the benchmarks that a reader finds, and one number that the
//! command prints; and checks of the output.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{Better, MetricKind, MetricValue, Observation};
use assay_stats::means::geometric;
use regex_lite::Regex;

use crate::declare::{text_of, wrong};
use crate::driver::step::{Inherit, ProgramStep};
use crate::kit::pattern::spelled;
use crate::readers::{self, AUTO, ForeignFormat, READ_AS, read_output};
use crate::{FinishedProgram, TrialContext, WorkloadError};

use super::{Params, STEP_TIMEOUT, argv, folder};

/// Metric of a suite: the geometric mean of its benchmarks.
pub const BENCHMARKS: &str = "benchmarks";
/// Metric of the number that the command prints.
pub const PRINTED: &str = "printed";
/// File in the trial's folder whose time is that of the trial's start.
const START: &str = "result-start";
/// Place of the number in `metric_from`, and the numbers that it matches.
const HOLE: &str = "{value}";
const NUMBER: &str = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)";

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
pub(super) fn check(params: &Params) -> Result<(), WorkloadError> {
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

fn reader(params: &Params) -> Result<Option<Reader>, WorkloadError> {
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

/// Returns the regular expression of `metric_from`, whose group is the number. In a text with
/// `{value}` a blank matches any blanks.
fn printed(params: &Params) -> Result<Option<Regex>, WorkloadError> {
    match text_of(params, "metric_from").as_str() {
        "" => Ok(None),
        text => printed_pattern(text).map(Some),
    }
}

/// Parses a pattern of `metric_from`.
///
/// # Errors
/// If it is not a regular expression with one group, or has no words around `{value}`.
pub fn printed_pattern(text: &str) -> Result<Regex, WorkloadError> {
    let pattern = match text.split_once(HOLE) {
        Some((before, after)) => format!("{}{NUMBER}{}", literal(before), literal(after)),
        None => text.to_owned(),
    };
    let regex =
        Regex::new(&pattern).map_err(|e| wrong(format!("`metric_from` is `{text}`: {e}")))?;
    if regex.captures_len() != 2 || text.trim() == HOLE {
        return Err(wrong(format!(
            "`metric_from` is `{text}`; write the words around the number, as in `took {HOLE} ms`, \
             or a regular expression with one group, as in `took ([0-9.]+) ms`"
        )));
    }
    Ok(regex)
}

/// Returns the regular expression of a text in which a blank matches any blanks.
fn literal(text: &str) -> String {
    let words = text.split(char::is_whitespace).map(regex_lite::escape);
    words.collect::<Vec<_>>().join(r"\s+")
}

fn expected(params: &Params) -> Result<Option<(PathBuf, Vec<u8>)>, WorkloadError> {
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
pub(super) fn start(ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
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
) -> Result<OutputResults, WorkloadError> {
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
) -> Result<(), WorkloadError> {
    let format = match reader {
        Reader::Auto => None,
        Reader::Named(format) => Some(format),
    };
    let (from, bytes) = match text_of(ctx.params, "result_file").as_str() {
        "" if !finished.stdout_whole && !on_stderr(finished, format) => {
            out.failure = Some(
                "the output is too long to read (2 MiB are kept); have the tool write a file and \
                 give it with --result-file"
                    .into(),
            );
            return Ok(());
        }
        "" if on_stderr(finished, format) => {
            (PathBuf::from("the output"), finished.stderr.to_vec())
        }
        "" => (PathBuf::from("the output"), finished.stdout.to_vec()),
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
            out.metrics.push(index(&read.metrics));
            out.metrics.extend(read.metrics);
            out.notes.extend(read.notes);
            out.notes.extend(read.failed);
            out.evidence.extend(read.evidence);
        }
        Err(error) => out.failure = Some(error.to_string()),
    }
    Ok(())
}

/// Returns true if the tool printed its results to standard error, as perf stat, stress-ng and
/// cargo-criterion do.
fn on_stderr(finished: &FinishedProgram<'_>, format: Option<&ForeignFormat>) -> bool {
    let known = |bytes: &[u8]| match format {
        Some(format) => (format.detect)(bytes),
        None => readers::FORMATS.iter().any(|f| f.live && (f.detect)(bytes)),
    };
    !known(finished.stdout) && known(finished.stderr)
}

/// Returns the content of the file that the command wrote in this trial, or the reason for its
/// absence.
fn written(
    ctx: &TrialContext<'_>,
    name: &str,
) -> Result<Result<(PathBuf, Vec<u8>), String>, WorkloadError> {
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

/// Returns the geometric mean of the benchmarks. It is missing if they have different units or
/// directions, or if one of them has no positive value.
fn index(metrics: &[MetricValue]) -> MetricValue {
    let all: Vec<&MetricValue> = metrics.iter().filter(|m| m.benchmark).collect();
    let first = all.first().map(|m| (m.unit.clone(), m.better));
    let alike =
        all.iter().all(|m| first.as_ref().is_some_and(|f| f.0 == m.unit && f.1 == m.better));
    let values: Option<Vec<f64>> = all.iter().map(|m| m.value.filter(|v| *v > 0.0)).collect();
    let mean = values.filter(|_| alike).and_then(|v| geometric(&v));
    let (unit, better) = first.filter(|_| alike).unwrap_or(("1".into(), Better::Neither));
    MetricValue::new(BENCHMARKS, mean, unit, better, MetricKind::Derived)
}

/// Finds the number that the command prints. A missing value has its reason in the notes.
fn number(
    params: &Params,
    finished: &FinishedProgram<'_>,
    regex: &Regex,
    notes: &mut Vec<String>,
) -> MetricValue {
    let better = match text_of(params, "better").as_str() {
        "lower" => Better::Lower,
        "higher" => Better::Higher,
        _ => Better::Neither,
    };
    let text = String::from_utf8_lossy(finished.stdout);
    let found = find(regex, &text_of(params, "metric_from"), &text);
    let found = found.map_err(|why| notes.push(format!("`{PRINTED}` is missing: {why}"))).ok();
    let (value, unit) = found.map_or((None, "1".to_owned()), |(value, unit)| (Some(value), unit));
    let better = if better == Better::Neither { Better::from_unit(&unit) } else { better };
    MetricValue::new(PRINTED, value, unit, better, MetricKind::Measured)
}

/// Returns the number at the only match, in its base unit if a unit of time or size follows it.
fn find(regex: &Regex, pattern: &str, text: &str) -> Result<(f64, String), String> {
    let mut found = text.lines().flat_map(|line| regex.captures_iter(line).map(move |c| (line, c)));
    let Some((line, captures)) = found.next() else {
        return Err(format!("nothing matches `{pattern}`"));
    };
    let more = found.count();
    if more > 0 {
        return Err(format!("{} places match `{pattern}`; it must match one", more + 1));
    }
    let Some(group) = captures.get(1) else { return Err(format!("`{pattern}` matches no number")) };
    let range = spelled(line, group.range());
    let whole = &line[range.clone()];
    let value = whole.parse::<f64>().ok().filter(|v| whole == group.as_str() && v.is_finite());
    let Some(value) = value else {
        return Err(format!(
            "`{whole}` is not a number that assay reads; print digits with a decimal point, as \
             with LC_ALL=C"
        ));
    };
    let word = line[range.end..].trim_start();
    let word = &word[..word.find(|c: char| !(c.is_alphabetic() || c == '/')).unwrap_or(word.len())];
    Ok(match readers::base_unit(word) {
        Some((factor, unit)) => (value * factor, unit),
        None => (value, "1".to_owned()),
    })
}

/// Runs the check of the output, which reads it as its standard input; returns why it failed.
fn checked(
    ctx: &TrialContext<'_>,
    finished: &FinishedProgram<'_>,
    line: &str,
) -> Result<Option<String>, WorkloadError> {
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
