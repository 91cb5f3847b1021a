//! From what a person submits to a job: which experiment, what is changed in it, when. What may be
//! changed without `--allow-any` cannot name a program or a file.

use assay_lab::{LabError, Prepared, apply_set};
use assay_model::{Experiment, FactorLevels, ParamSpec, ParamType, Scalar, Stop, WorkloadSpec};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::Refusal;
use crate::folders::{Listed, find};
use crate::points;
use crate::queue::{MAX_WAITING, NewJob};
use crate::submission::Submission;

/// A field of the form for an experiment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Field {
    /// What the parameter must be, with its default and what it means.
    pub param: ParamSpec,
    /// What the experiment has: a value, or the levels of a factor with commas; `null` when the
    /// parameter has no value.
    pub value: Option<String>,
    /// Whether it is a factor.
    pub factor: bool,
    /// Why it cannot be changed here; `null` when it can.
    pub locked: Option<String>,
}

/// The form for an experiment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Form {
    pub id: String,
    pub experiment: Experiment,
    /// What the workload does.
    pub help: String,
    pub fields: Vec<Field>,
    /// How many trials the plan has as it stands.
    pub trials: u64,
    pub treatments: u64,
}

const LOCKED: &str = "a text can name a program or a file; it is changed in the experiment's own file, or with a server \
     started with --allow-any";

/// The form for an experiment of the folders.
pub(crate) fn form(app: &App, id: &str) -> Result<Form, Refusal> {
    let listed = listed(app, id)?;
    let prepared = prepare(app, &listed, &|_| Ok(()))?;
    let spec = prepared.workload.spec();
    let fields = spec.params.iter().map(|p| field(app, &prepared.experiment, p)).collect();
    Ok(Form {
        id: id.to_owned(),
        help: spec.help.clone(),
        fields,
        trials: prepared.plan.trials.len() as u64,
        treatments: prepared.plan.treatments.len() as u64,
        experiment: prepared.experiment,
    })
}

fn listed(app: &App, id: &str) -> Result<Listed, Refusal> {
    find(&app.config.folders, id).ok_or_else(|| {
        Refusal::not_found(format!("there is no experiment `{id}` in the server's folders"))
    })
}

fn field(app: &App, experiment: &Experiment, param: &ParamSpec) -> Field {
    let factor = experiment.factors.get(&param.name);
    let value = match factor {
        Some(FactorLevels::List(levels)) => {
            Some(levels.iter().map(|l| l.value().to_text()).collect::<Vec<_>>().join(", "))
        }
        Some(range) => toml::Value::try_from(range).ok().map(|v| v.to_string()),
        None => experiment.params.get(&param.name).or(param.default.as_ref()).map(Scalar::to_text),
    };
    let range = matches!(factor, Some(FactorLevels::Range { .. }));
    let locked = if range {
        Some("a range is changed in the experiment's own file".to_owned())
    } else if param.ty == ParamType::Text && !app.config.allow_any {
        Some(LOCKED.to_owned())
    } else {
        None
    };
    Field { param: param.clone(), value, factor: factor.is_some(), locked }
}

/// The experiment of a submission.
pub(crate) fn found(app: &App, asked: &Submission) -> Result<Listed, Refusal> {
    match &asked.toml {
        None => listed(app, &asked.experiment),
        Some(text) => given(app, &asked.experiment, text),
    }
}

/// What becomes of a submission.
pub(crate) enum Made {
    /// A job.
    Job(Box<NewJob>),
    /// There is nothing to do, and why.
    Nothing(String),
}

/// Makes a job of what is submitted, or says what is wrong with it.
pub(crate) fn job(app: &App, asked: &Submission) -> Result<Made, Refusal> {
    let waiting = app.queue().waiting().len();
    if waiting >= MAX_WAITING {
        return Err(Refusal::conflict(format!("{waiting} jobs wait already; cancel some first")));
    }
    let listed = found(app, asked)?;
    let not_before = match asked.not_before.as_deref().map(str::trim).filter(|t| !t.is_empty()) {
        None => None,
        Some(text) => Some(text.parse::<Timestamp>().map_err(|_| {
            Refusal::bad(format!("`{text}` is not a time such as 2026-11-21T23:00:00Z"))
        })?),
    };
    if asked.tags.len() > 50 || asked.tags.iter().any(|t| t.len() > 200) || asked.by.len() > 200 {
        return Err(Refusal::bad("at most 50 tags, and words of at most 200 bytes"));
    }
    points::check_revisions(asked)?;
    // Where nothing is set there is nothing to ask of the experiment as it stands.
    if !asked.set.is_empty() {
        let plain = prepare(app, &listed, &|_| Ok(()))?;
        for name in asked.set.keys() {
            may_change(app, plain.workload.spec(), &plain.experiment, name)?;
        }
    }
    if asked.rev.is_some() {
        return points::job(app, &listed, asked);
    }
    let prepared = prepare(app, &listed, &|experiment| lay_over(experiment, asked))?;
    let mut changes: Vec<String> = asked.set.iter().map(|(n, v)| format!("{n}={v}")).collect();
    changes.extend(asked.blocks.map(|n| format!("blocks={n}")));
    Ok(Made::Job(Box::new(NewJob {
        experiment: prepared.experiment.name.clone(),
        title: prepared.experiment.title.trim().to_owned(),
        workload: prepared.plan.workload.name.clone(),
        changes,
        trials: prepared.plan.trials.len() as u64,
        toml: prepared.toml,
        by: asked.by.trim().to_owned(),
        not_before,
        scheduled: None,
        first: asked.first,
    })))
}

/// An experiment whose text was given: one of the folders, or any when that is allowed.
fn given(app: &App, id: &str, text: &str) -> Result<Listed, Refusal> {
    if let Some(listed) = find(&app.config.folders, id).filter(|l| l.text == text) {
        return Ok(listed);
    }
    if !app.config.allow_any {
        return Err(Refusal::forbidden(format!(
            "the experiment `{id}` is not, or not with this text, in the server's folders; put it there, or start the server with --allow-any"
        )));
    }
    let experiment = assay_lab::read_experiment("the experiment", text)
        .map(Box::new)
        .map_err(|e| Refusal::bad(e.render(false)))?;
    // No file: a kit is not looked for beside it.
    let path = std::path::PathBuf::new();
    Ok(Listed { id: id.to_owned(), path, text: text.to_owned(), experiment: Ok(experiment) })
}

pub(crate) fn prepare(
    app: &App,
    listed: &Listed,
    change: &dyn Fn(&mut Experiment) -> Result<(), LabError>,
) -> Result<Prepared, Refusal> {
    let wrong = |e: LabError| Refusal::bad(e.to_string());
    if let Err(problem) = &listed.experiment {
        return Err(Refusal::bad(problem.clone()));
    }
    if listed.path.as_os_str().is_empty() {
        let mut experiment = listed
            .experiment
            .as_ref()
            .map(|e| (**e).clone())
            .map_err(|e| Refusal::bad(e.clone()))?;
        change(&mut experiment).map_err(wrong)?;
        return Prepared::from_experiment(experiment, &app.config.kits).map_err(wrong);
    }
    let beside = listed.path.parent().and_then(|dir| dir.canonicalize().ok());
    Prepared::from_file(&listed.path, &app.config.kits, &|experiment| {
        // The run starts from a copy in the queue: a kit beside the file is named in full.
        if let Some(dir) = beside.as_ref().filter(|_| experiment.workload.contains('/')) {
            let full = dir.join(&experiment.workload);
            if full.is_dir() {
                experiment.workload = full.display().to_string();
            }
        }
        change(experiment)
    })
    .map_err(wrong)
}

fn may_change(
    app: &App,
    spec: &WorkloadSpec,
    experiment: &Experiment,
    name: &str,
) -> Result<(), Refusal> {
    if name.starts_with("controls.") {
        return if app.config.allow_any {
            Ok(())
        } else {
            Err(Refusal::forbidden(format!(
                "`{name}` sets a part of the system; it is changed in the experiment's own file"
            )))
        };
    }
    let Some(param) = spec.param(name) else {
        let known: Vec<&str> = spec.params.iter().map(|p| p.name.as_str()).collect();
        return Err(Refusal::bad(format!(
            "`{name}` is no parameter of `{}`; it has {}",
            spec.name,
            known.join(", ")
        )));
    };
    match field(app, experiment, param).locked {
        Some(why) => Err(Refusal::forbidden(format!("`{name}` cannot be changed here: {why}"))),
        None => Ok(()),
    }
}

pub(crate) fn lay_over(experiment: &mut Experiment, asked: &Submission) -> Result<(), LabError> {
    for (name, value) in &asked.set {
        apply_set(experiment, &format!("{name}={value}"))?;
    }
    if let Some(blocks) = asked.blocks {
        experiment.design.blocks = Some(blocks);
        experiment.design.stop = Stop::Fixed;
    }
    let tags = asked.tags.iter().map(|t| t.trim()).filter(|t| !t.is_empty());
    experiment.tags.extend(tags.map(str::to_owned));
    Ok(())
}

/// What was filled in, as it is submitted. Fields that were left as they were change nothing.
pub(crate) fn from_form(form: &Form, given: &[(String, String)]) -> Result<Submission, Refusal> {
    let mut asked = Submission { experiment: form.id.clone(), ..Submission::default() };
    for (name, value) in given {
        let value = value.trim();
        match name.as_str() {
            "by" => value.clone_into(&mut asked.by),
            "first" => asked.first = true,
            "rev" if !value.is_empty() => asked.rev = Some(value.to_owned()),
            "reference" if !value.is_empty() => asked.reference = Some(value.to_owned()),
            "tags" => {
                let words = value.split([',', ' ']).map(str::trim).filter(|t| !t.is_empty());
                asked.tags = words.map(str::to_owned).collect();
            }
            "not_before" if !value.is_empty() => asked.not_before = Some(time_of(value)),
            "blocks" if !value.is_empty() => {
                let blocks = value.parse::<u32>().ok().filter(|n| *n > 0);
                let blocks = blocks
                    .ok_or_else(|| Refusal::bad(format!("blocks: `{value}` is not a count")))?;
                if form.experiment.design.blocks != Some(blocks) {
                    asked.blocks = Some(blocks);
                }
            }
            _ => {
                let Some(name) = name.strip_prefix("set.") else { continue };
                let field = form.fields.iter().find(|f| f.param.name == name);
                let before = field.and_then(|f| f.value.clone()).unwrap_or_default();
                if value != before {
                    asked.set.insert(name.to_owned(), value.to_owned());
                }
            }
        }
    }
    Ok(asked)
}

/// The time of a form's field, which has neither seconds nor zone and means UTC.
fn time_of(value: &str) -> String {
    if value.ends_with('Z') { value.to_owned() } else { format!("{value}:00Z") }
}
