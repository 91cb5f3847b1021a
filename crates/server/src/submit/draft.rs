//! What a person has filled in so far: read, checked and planned as submitting does it, without anything being
//! submitted. A mistake stands with the field that it is in.

use assay_lab::{Estimate, LabError, Prepared, apply_set, estimate};
use assay_model::{Experiment, ParamType, Scalar, Stop, WorkloadSpec};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::Refusal;
use crate::submit::folders::Listed;
use crate::submit::overrides::{self, Field};
use crate::submit::submission::Submission;

/// A mistake.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// The field: `set.NAME` of a parameter, else its name in a submission; empty: the whole.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Problem {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Problem { field: field.into(), message: message.into() }
    }
}

/// What would be run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Planned {
    pub trials: u64,
    pub treatments: u64,
    /// Whether the run ends as soon as the answer is clear; the trials are the most that it takes then.
    pub until_clear: bool,
    #[serde(flatten)]
    pub estimate: Estimate,
    /// What this machine lacks for it.
    pub obstacles: Vec<String>,
}

/// A submission as it stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Draft {
    /// The experiment's name.
    pub name: String,
    pub title: String,
    /// The workload's name and what it does.
    pub workload: String,
    pub help: String,
    /// The workload's parameters with their values.
    pub fields: Vec<Field>,
    /// The blocks that the experiment asks for; `null` when it leaves them open.
    pub blocks: Option<u32>,
    /// Whether it has a repository whose revisions can be measured.
    pub revisions: bool,
    /// The experiment as the text of its file.
    pub toml: String,
    /// What is wrong; empty: it can be submitted.
    pub problems: Vec<Problem>,
    /// What would be run; `null` while something is wrong, and for a revision, which is planned when it is submitted.
    pub plan: Option<Planned>,
}

/// Reads, checks and plans what is asked for.
///
/// # Errors
/// There is no such experiment or workload, or it cannot be read at all.
pub(crate) fn draft(app: &App, asked: &Submission) -> Result<Draft, Refusal> {
    let (listed, refused) = overrides::edited(app, asked)?;
    let refused = refused.map(|refusal| Problem::new("toml", refusal.message));
    let mut problems: Vec<Problem> = refused.into_iter().collect();
    let plain = listed.experiment.clone().map_err(Refusal::bad)?;
    let workload = match overrides::workload_of(app, &listed, &plain) {
        Ok(workload) => workload,
        // A text that names an unknown workload is the text's mistake.
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
    problems.extend(others(asked));
    if !problems.is_empty() {
        return Ok(unplanned(app, asked, &listed, &experiment, Some(spec), problems));
    }
    let prepared = overrides::plan(app, &listed, &plain, &|e| overrides::lay_over(e, asked));
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            problems.push(place(&error, spec, asked));
            return Ok(unplanned(app, asked, &listed, &experiment, Some(spec), problems));
        }
    };
    let mut whole = (*plain).clone();
    // It could be laid over just now. Tags are those of the one run, not of the text.
    let of_text = Submission { tags: Vec::new(), ..asked.clone() };
    let _ = overrides::lay_over(&mut whole, &of_text);
    let mut draft = unplanned(app, asked, &listed, &whole, Some(spec), problems);
    if asked.rev.is_none() {
        draft.plan = Some(planned(app, &prepared));
    }
    Ok(draft)
}

/// What a form is opened with: neither checked nor planned.
///
/// # Errors
/// There is no such experiment or workload, or it cannot be read at all.
pub(crate) fn opened(app: &App, asked: &Submission) -> Result<Draft, Refusal> {
    let (listed, _) = overrides::edited(app, asked)?;
    let plain = listed.experiment.clone().map_err(Refusal::bad)?;
    let workload = overrides::workload_of(app, &listed, &plain)?;
    Ok(unplanned(app, asked, &listed, &plain, Some(workload.spec()), Vec::new()))
}

fn unplanned(
    app: &App,
    asked: &Submission,
    listed: &Listed,
    experiment: &Experiment,
    spec: Option<&WorkloadSpec>,
    problems: Vec<Problem>,
) -> Draft {
    let params = spec.map(|s| s.params.as_slice()).unwrap_or_default();
    // A text with a mistake is kept as it was typed.
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

/// Lays one parameter over the experiment, or says what is wrong with it.
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
    // A list of TOML, and a text with a comma in it, are the planner's to read.
    if param.ty != ParamType::Text && !value.trim_start().starts_with('[') {
        for level in value.split(',').map(str::trim) {
            param.check(&Scalar::parse(level))?;
        }
    }
    apply_set(experiment, &format!("{name}={value}")).map_err(|e| e.to_string())
}

/// What is wrong with the fields that are no parameters.
fn others(asked: &Submission) -> Vec<Problem> {
    let mut problems = Vec::new();
    if asked.blocks == Some(0) {
        problems.push(Problem::new("blocks", "at least 1 block is needed"));
    }
    let checked = [
        ("not_before", overrides::not_before(asked).map(|_| ())),
        ("tags", overrides::words(asked)),
        ("rev", crate::submit::points::check_revisions(asked)),
    ];
    let refused = checked.into_iter().filter_map(|(field, checked)| Some((field, checked.err()?)));
    problems.extend(refused.map(|(field, refusal)| Problem::new(field, refusal.message)));
    problems
}

/// The field that the planner's complaint is about.
fn place(error: &LabError, spec: &WorkloadSpec, asked: &Submission) -> Problem {
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

fn planned(app: &App, prepared: &Prepared) -> Planned {
    let experiment = &prepared.experiment;
    let (archive, confidence) = (Some(&app.config.archive), experiment.compare.confidence);
    Planned {
        trials: prepared.plan.trials.len() as u64,
        treatments: prepared.plan.treatments.len() as u64,
        until_clear: experiment.design.stop == Stop::Clear,
        estimate: estimate(archive, &experiment.name, &prepared.plan, confidence),
        obstacles: assay_lab::obstacles(&prepared.plan, &assay_system::state_dir()),
    }
}

/// What is repeated or cloned: the submission that a form is opened with.
pub(crate) fn of_run(
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
    let base = crate::submit::folders::list(&app.config.folders)
        .into_iter()
        .find(|l| l.experiment.as_ref().is_ok_and(|e| e.name == experiment.name));
    if base.is_none() && !app.config.allow_any {
        return Err(Refusal::conflict(format!(
            "the experiment `{}` of run {run} is not in the server's folders; put its file there, or start the server with --allow-any",
            experiment.name
        )));
    }
    if let Some(Ok(own)) = base.as_ref().map(|l| &l.experiment) {
        // The run has the kit beside the file by its whole path.
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

/// An experiment of a workload as it is without parameters.
pub(crate) fn of_workload(name: &str) -> Listed {
    // Names have fewer characters than workloads.
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let own: String = name.chars().map(plain).take(80).collect();
    let (own, workload) = (toml::Value::from(own), toml::Value::from(name));
    let text = format!("name = {own}\nworkload = {workload}\n");
    Listed::of_text("the experiment", name.to_owned(), text)
}
