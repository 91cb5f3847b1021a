//! Draft of a submission: read, checked and planned like a submission, but not submitted. Each
//! problem names the field that it is in.

use std::collections::BTreeSet;

use assay_lab::{Estimate, LabError, PreparedExperiment, apply_set, estimate};
use assay_model::{Experiment, ParamType, Scalar, Stop, WorkloadSpec};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::Refusal;
use crate::submit::folders::{ExperimentFile, list};
use crate::submit::overrides::{self, Field};
use crate::submit::submission::Submission;

/// Problem of a submission.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// Field with the problem: `set.NAME` for a parameter, otherwise a field of the submission;
    /// empty if it concerns the whole submission.
    pub field: String,
    /// Description of the problem and of a correct value.
    pub message: String,
}

impl Problem {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Problem { field: field.into(), message: message.into() }
    }
}

/// Plan of the run that a submission would start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PlanSummary {
    pub trials: u64,
    pub treatments: u64,
    /// True if the run ends as soon as the answer is clear; `trials` is then the maximum.
    pub until_clear: bool,
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Requirements of the experiment that this machine does not meet.
    pub obstacles: Vec<String>,
}

/// Submission as filled in so far.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Draft {
    /// Name of the experiment.
    pub name: String,
    pub title: String,
    /// Name of the workload.
    pub workload: String,
    pub help: String,
    /// Parameters of the workload with their values.
    pub fields: Vec<Field>,
    /// Number of blocks that the experiment sets; `null` if it sets none.
    pub blocks: Option<u32>,
    /// True if the experiment has a repository whose revisions can be measured.
    pub revisions: bool,
    /// Text of the experiment's file.
    pub toml: String,
    /// Problems of the submission; empty if it can be submitted.
    pub problems: Vec<Problem>,
    /// Plan of the run. `null` while there are problems, and for a revision, which is planned when
    /// it is submitted.
    pub plan: Option<PlanSummary>,
}

/// Reads, checks and plans a submission.
///
/// # Errors
/// The experiment or the workload does not exist, or cannot be read at all.
pub(crate) fn draft(app: &App, asked: &Submission) -> Result<Draft, Refusal> {
    let (listed, refused) = overrides::edited_experiment(app, asked)?;
    let refused = refused.map(|refusal| Problem::new("toml", refusal.message));
    let mut problems: Vec<Problem> = refused.into_iter().collect();
    let plain = listed.experiment.clone().map_err(Refusal::bad)?;
    let workload = match overrides::workload_of(app, &listed, &plain) {
        Ok(workload) => workload,
        // An unknown workload in the text is a problem of the text.
        Err(refusal) if asked.toml.is_some() => {
            problems.push(Problem::new("toml", refusal.message));
            return Ok(unplanned(app, asked, &listed, &plain, None, problems));
        }
        Err(refusal) => return Err(refusal),
    };
    let spec = workload.spec();
    let mut experiment = (*plain).clone();
    for (name, value) in &asked.set {
        match set(app, spec, &plain, &mut experiment, name, value) {
            Ok(()) => {}
            Err(message) => problems.push(Problem::new(format!("set.{name}"), message)),
        }
    }
    problems.extend(check_fields(asked));
    if !problems.is_empty() {
        return Ok(unplanned(app, asked, &listed, &experiment, Some(spec), problems));
    }
    let prepared = overrides::plan(app, &listed, &plain, &|e| overrides::apply_overrides(e, asked));
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            problems.push(locate(&error, spec, asked));
            return Ok(unplanned(app, asked, &listed, &experiment, Some(spec), problems));
        }
    };
    let mut whole = (*plain).clone();
    // This succeeded above. Tags belong to the run, not to the text.
    let of_text = Submission { tags: Vec::new(), ..asked.clone() };
    let _ = overrides::apply_overrides(&mut whole, &of_text);
    let mut draft = unplanned(app, asked, &listed, &whole, Some(spec), problems);
    if asked.rev.is_none() {
        draft.plan = Some(planned(app, &prepared));
    }
    Ok(draft)
}

/// Returns the draft that a form opens with, neither checked nor planned.
///
/// # Errors
/// The experiment or the workload does not exist, or cannot be read at all.
pub(crate) fn opened(app: &App, asked: &Submission) -> Result<Draft, Refusal> {
    let (listed, _) = overrides::edited_experiment(app, asked)?;
    let plain = listed.experiment.clone().map_err(Refusal::bad)?;
    let workload = overrides::workload_of(app, &listed, &plain)?;
    Ok(unplanned(app, asked, &listed, &plain, Some(workload.spec()), Vec::new()))
}

fn unplanned(
    app: &App,
    asked: &Submission,
    listed: &ExperimentFile,
    experiment: &Experiment,
    spec: Option<&WorkloadSpec>,
    problems: Vec<Problem>,
) -> Draft {
    let params = spec.map(|s| s.params.as_slice()).unwrap_or_default();
    // Keep a text with a problem as it was typed.
    let typed = problems.iter().any(|p| p.field == "toml").then(|| asked.toml.clone()).flatten();
    Draft {
        name: experiment.name.clone(),
        title: experiment.title.trim().to_owned(),
        workload: experiment.workload.clone(),
        help: spec.map(|s| s.help.clone()).unwrap_or_default(),
        fields: params.iter().map(|p| overrides::field(app, experiment, p)).collect(),
        blocks: experiment.design.blocks,
        revisions: experiment.source.is_some(),
        toml: typed.unwrap_or_else(|| overrides::rewritten(listed, experiment)),
        problems,
        plan: None,
    }
}

/// Sets one parameter of the experiment. The error describes the problem.
fn set(
    app: &App,
    spec: &WorkloadSpec,
    plain: &Experiment,
    experiment: &mut Experiment,
    name: &str,
    value: &str,
) -> Result<(), String> {
    overrides::may_change(app, spec, plain, name).map_err(|r| r.message)?;
    let Some(param) = spec.param(name) else {
        return apply_set(experiment, &format!("{name}={value}")).map_err(|e| e.to_string());
    };
    // The planner reads TOML lists, and texts, which may contain commas.
    if param.ty != ParamType::Text && !value.trim_start().starts_with('[') {
        for level in value.split(',').map(str::trim) {
            param.check(&Scalar::parse(level))?;
        }
    }
    apply_set(experiment, &format!("{name}={value}")).map_err(|e| e.to_string())
}

/// Checks the fields that are not parameters.
fn check_fields(asked: &Submission) -> Vec<Problem> {
    let mut problems = Vec::new();
    if asked.blocks == Some(0) {
        problems.push(Problem::new("blocks", "at least 1 block is needed"));
    }
    let checked = [
        ("not_before", overrides::not_before(asked).map(|_| ())),
        ("tags", overrides::check_lengths(asked)),
        ("rev", crate::submit::points::check_revisions(asked)),
    ];
    let refused = checked.into_iter().filter_map(|(field, checked)| Some((field, checked.err()?)));
    problems.extend(refused.map(|(field, refusal)| Problem::new(field, refusal.message)));
    problems
}

/// Assigns an error of the planner to the field that it is about.
fn locate(error: &LabError, spec: &WorkloadSpec, asked: &Submission) -> Problem {
    let message = match error {
        LabError::File(e) => e.render(false),
        _ => error.to_string(),
    };
    let path: Vec<&str> = match error {
        LabError::Plan(e) => e.path.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    match path.as_slice() {
        ["params" | "factors", name, ..] if spec.param(name).is_some() => {
            Problem::new(format!("set.{name}"), message)
        }
        ["design", "blocks", ..] => Problem::new("blocks", message),
        _ if asked.toml.is_some() => Problem::new("toml", message),
        _ => Problem::new("", message),
    }
}

fn planned(app: &App, prepared: &PreparedExperiment) -> PlanSummary {
    let experiment = &prepared.experiment;
    let (archive, confidence) = (Some(&app.config.archive), experiment.compare.confidence);
    PlanSummary {
        trials: prepared.plan.trials.len() as u64,
        treatments: prepared.plan.treatments.len() as u64,
        until_clear: experiment.design.stop == Stop::Clear,
        estimate: estimate(archive, &experiment.name, &prepared.plan, confidence),
        obstacles: assay_lab::obstacles(&prepared.plan, &assay_system::state_dir()),
    }
}

/// Returns the names of the experiments whose runs can be repeated; `None` if all can.
pub(crate) fn repeatable(app: &App) -> Option<BTreeSet<String>> {
    let listed = (!app.config.allow_any).then(|| list(&app.config.folders))?;
    Some(listed.into_iter().filter_map(|l| Some(l.experiment.ok()?.name)).collect())
}

/// Returns the submission that a form opens with to repeat a run, or to clone it as a new
/// experiment.
pub(crate) fn submission_of_run(
    app: &App,
    run: &assay_model::RunId,
    clone: bool,
) -> Result<Submission, Refusal> {
    let archive = &app.config.archive;
    let reader = archive.run(run)?;
    let redactor = archive.secrets(&reader);
    let text = reader.redacted(redactor).experiment_toml()?;
    let mut experiment = assay_lab::read_experiment("experiment.toml", &text).map_err(|e| {
        Refusal::conflict(format!("run {run} cannot be repeated: {}", e.render(false)))
    })?;
    let base = list(&app.config.folders)
        .into_iter()
        .find(|l| l.experiment.as_ref().is_ok_and(|e| e.name == experiment.name));
    if base.is_none() && !app.config.allow_any {
        return Err(Refusal::conflict(format!(
            "the experiment `{}` of run {run} is not in the server's folders; put its file there, \
            or start the server with --allow-any",
            experiment.name
        )));
    }
    if let Some(Ok(own)) = base.as_ref().map(|l| &l.experiment) {
        // The run names a kit next to the experiment's file by its full path.
        let beside = base.as_ref().and_then(|l| l.path.parent()?.canonicalize().ok());
        let full = beside.map(|dir| dir.join(&own.workload).display().to_string());
        if own.workload.contains('/') && full.as_ref() == Some(&experiment.workload) {
            experiment.workload.clone_from(&own.workload);
        }
    }
    let same =
        base.as_ref().is_some_and(|l| l.experiment.as_ref().is_ok_and(|e| **e == experiment));
    if clone {
        // Names have at most 80 characters.
        let short: String = experiment.name.chars().take(74).collect();
        experiment.name = format!("{short}-copy");
    }
    Ok(Submission {
        experiment: base.map_or_else(|| experiment.name.clone(), |l| l.id),
        toml: (clone || !same).then(|| overrides::text_of(&experiment)),
        ..Submission::default()
    })
}

/// Returns an experiment that runs a workload without setting parameters.
pub(crate) fn experiment_of_workload(name: &str) -> ExperimentFile {
    // Names of experiments allow fewer characters than names of workloads.
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let own: String = name.chars().map(plain).take(80).collect();
    let (own, workload) = (toml::Value::from(own), toml::Value::from(name));
    let text = format!("name = {own}\nworkload = {workload}\n");
    ExperimentFile::of_text("the experiment", name.to_owned(), text)
}
