//! hyperfine's JSON. A command with its parameters is a treatment, each of its times a trial.

use std::collections::BTreeMap;

use assay_model::{Better, Exit, Kind, MetricValue, Scalar, ValidationResult};
use serde::Deserialize;

use super::decode::Bounded;
use super::error::Flaw;
use super::result::{
    ForeignResult, ForeignTreatment, ForeignTrial, MAX_ENTRIES, MAX_TRIALS, disagreement, value,
};
use super::shape::Shape;
use super::{decode, unit};

#[derive(Deserialize)]
struct Export {
    results: Bounded<CommandResult, MAX_ENTRIES>,
}

/// Times are seconds. Fields that only some versions write are optional.
#[derive(Deserialize)]
struct CommandResult {
    command: String,
    mean: Option<f64>,
    user: Option<f64>,
    system: Option<f64>,
    times: Option<Bounded<f64, MAX_TRIALS>>,
    memory_usage_byte: Option<Bounded<u64, MAX_TRIALS>>,
    exit_codes: Option<Bounded<Option<i32>, MAX_TRIALS>>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

pub(super) fn detect(bytes: &[u8]) -> bool {
    Shape::of(bytes).has(&["results", "results[].command"])
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let export: Export = decode::json(bytes)?;
    let commands = export.results.0;
    if commands.is_empty() {
        return Err(Flaw::field("results", "it holds no command"));
    }
    let mut result = ForeignResult {
        tool: "hyperfine",
        workload: "command",
        metrics: vec![
            unit::metric("elapsed", "s", Better::Lower, "wall time, as hyperfine takes it"),
            unit::metric("peak_memory", "B", Better::Lower, "the largest resident set"),
        ],
        notes: vec![
            "hyperfine measures all repetitions of a command before those of the next, so drift of \
             the machine falls on the commands unequally. Unless it ran without a shell (-N), it \
             took the start-up time of the shell off each time; the file does not tell which."
                .to_owned(),
        ],
        ..ForeignResult::default()
    };
    let by_parameters = named_by_parameters(&commands);
    for (i, r) in commands.iter().enumerate() {
        read_command(&mut result, r, &format!("results[{i}]"), by_parameters)?;
    }
    Ok(vec![result])
}

/// Whether the parameters alone tell the commands apart.
fn named_by_parameters(results: &[CommandResult]) -> bool {
    results.iter().enumerate().all(|(i, r)| {
        !r.parameters.is_empty()
            && !results[..i]
                .iter()
                .any(|other| other.parameters == r.parameters && other.command != r.command)
    })
}

fn read_command(
    result: &mut ForeignResult,
    r: &CommandResult,
    path: &str,
    by_parameters: bool,
) -> Result<(), Flaw> {
    let times = r.times.as_ref().map(|t| t.0.as_slice()).unwrap_or_default();
    if times.is_empty() {
        return Err(Flaw::field(
            format!("{path}.times"),
            "it has no single times, and a mean alone is no trial",
        ));
    }
    if let Some((i, t)) = times.iter().enumerate().find(|(_, t)| **t < 0.0) {
        return Err(Flaw::field(format!("{path}.times[{i}]"), format!("no time is {t} s")));
    }
    let command = Scalar::Text(r.command.clone());
    let mut levels: BTreeMap<String, Scalar> =
        r.parameters.iter().map(|(k, v)| (k.clone(), Scalar::parse(v))).collect();
    let params = BTreeMap::from([("command".to_owned(), command.clone())]);
    if !by_parameters {
        levels.insert("command".to_owned(), command);
    }
    let treatment = result.treatment(ForeignTreatment { levels, params });
    result.within_limits(times.len())?;
    for (i, time) in times.iter().enumerate() {
        let memory = r.memory_usage_byte.as_ref().and_then(|m| m.0.get(i)).map(|b| *b as f64);
        let mut metrics = vec![value(&result.metrics[0], Some(*time))];
        metrics.extend(memory.map(|m| value(&result.metrics[1], Some(m))));
        let mut trial = ForeignTrial::new(treatment, metrics);
        match r.exit_codes.as_ref().and_then(|codes| codes.0.get(i)) {
            Some(Some(code)) => {
                trial.exit = Some(Exit::Code(*code));
                trial.validation = ValidationResult::ExitCodeOnly;
                if *code != 0 {
                    trial.notes.push(format!(
                        "the command returned {code}; hyperfine measured failures too"
                    ));
                }
            }
            Some(None) => trial.notes.push("a signal ended the command".to_owned()),
            None => {}
        }
        result.trials.push(trial);
    }
    let computed = times.iter().sum::<f64>() / times.len() as f64;
    if let Some(seen) = r.mean.and_then(|m| disagreement("the mean is", m, computed)) {
        result.saw(treatment, &seen);
    }
    for (name, seconds) in [("user", r.user), ("system", r.system)] {
        result.run_metrics.extend(seconds.map(|seconds| {
            MetricValue::new(
                format!("mean {name} ({})", r.command),
                Some(seconds),
                "s",
                Better::Lower,
                Kind::Measured,
            )
        }));
    }
    Ok(())
}
