//! From what a person submits to a job: which experiment, what is changed in it, when. What may be
//! changed without `--allow-any` cannot name a program or a file.

use assay_lab::{LabError, Prepared, apply_set};
use assay_model::{Experiment, FactorLevels, ParamSpec, ParamType, Scalar, Stop, WorkloadSpec};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::draft::of_workload;
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

pub(crate) fn field(app: &App, experiment: &Experiment, param: &ParamSpec) -> Field {
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

/// What a submission starts from, and what its text makes of that: `None` when there is none or it says the same.
pub(crate) fn base_and_edit(
    app: &App,
    asked: &Submission,
) -> Result<(Listed, Result<Option<Listed>, Refusal>), Refusal> {
    let base = match &asked.workload {
        Some(name) if name.contains('/') => {
            return Err(Refusal::bad("workload: a name, as `assay workloads` lists them"));
        }
        Some(name) => Some(of_workload(name)),
        None => find(&app.config.folders, &asked.experiment),
    };
    let Some(text) = &asked.toml else {
        return Ok((base.map_or_else(|| listed(app, &asked.experiment), Ok)?, Ok(None)));
    };
    let Some(base) = base else {
        if !app.config.allow_any {
            return Err(Refusal::forbidden(format!(
                "the experiment `{}` is not in the server's folders; put it there, or start the server with --allow-any",
                asked.experiment
            )));
        }
        return Ok((listed_text(&asked.experiment, text)?, Ok(None)));
    };
    if base.text.trim() == text.trim() {
        return Ok((base, Ok(None)));
    }
    let edited = edit(app, &base, text);
    Ok((base, edited.map(Some)))
}

/// An experiment of a text, which can be read.
fn listed_text(id: &str, text: &str) -> Result<Listed, Refusal> {
    let own = Listed::of_text("the experiment", id.to_owned(), text.to_owned());
    own.experiment.as_ref().map_err(|e| Refusal::bad(e.clone()))?;
    Ok(own)
}

/// An experiment whose text was changed, as far as that is allowed.
fn edit(app: &App, base: &Listed, text: &str) -> Result<Listed, Refusal> {
    let mut edited = Listed { path: base.path.clone(), ..listed_text(&base.id, text)? };
    if app.config.allow_any {
        return Ok(edited);
    }
    let (Ok(was), Ok(is)) = (&base.experiment, &edited.experiment) else {
        return Err(Refusal::bad(base.experiment.clone().err().unwrap_or_default()));
    };
    if was == is {
        // Another way to write the same.
        edited.edited = false;
        return Ok(edited);
    }
    let workload = workload_of(app, base, was)?;
    let spec = workload.spec();
    match beyond(spec, was, is) {
        None => Ok(edited),
        Some(what) => Err(Refusal::forbidden(format!(
            "{what} differs from the experiment `{}` of the server's folders, and may name a program or a file; change it in its file, or start the server with --allow-any",
            base.id
        ))),
    }
}

/// What of an edited experiment can name a program or a file, or touches the system, and was changed.
fn beyond(spec: &WorkloadSpec, was: &Experiment, is: &Experiment) -> Option<String> {
    let free = |name: &str| spec.param(name).is_some_and(|p| p.ty != ParamType::Text);
    let mut back = is.clone();
    back.name.clone_from(&was.name);
    back.title.clone_from(&was.title);
    back.description.clone_from(&was.description);
    back.tags.clone_from(&was.tags);
    back.compare.clone_from(&was.compare);
    // Warm-ups have parameters of their own.
    let warmups = std::mem::take(&mut back.design.warmups);
    back.design.clone_from(&was.design);
    back.design.warmups = warmups;
    back.params.retain(|name, _| !free(name));
    back.params
        .extend(was.params.iter().filter(|(n, _)| free(n)).map(|(n, v)| (n.clone(), v.clone())));
    back.factors.retain(|name, _| !free(name));
    back.factors
        .extend(was.factors.iter().filter(|(n, _)| free(n)).map(|(n, v)| (n.clone(), v.clone())));
    if back == *was {
        return None;
    }
    let differs = |a: &dyn Fn(&Experiment) -> Option<toml::Value>| a(&back) != a(was);
    let param = |name: &str| {
        differs(&|e| toml::Value::try_from(e.params.get(name)?).ok())
            || differs(&|e| toml::Value::try_from(e.factors.get(name)?).ok())
    };
    if let Some(p) = spec.params.iter().find(|p| param(&p.name)) {
        return Some(format!("`{}`", p.name));
    }
    let (a, b) = (toml::Table::try_from(&back).ok()?, toml::Table::try_from(was).ok()?);
    let key = a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key));
    Some(key.map_or_else(|| "it".to_owned(), |key| format!("`{key}`")))
}

/// The workload of an experiment; its kit may stand beside the file.
pub(crate) fn workload_of(
    app: &App,
    listed: &Listed,
    experiment: &Experiment,
) -> Result<Box<dyn assay_workloads::Workload>, Refusal> {
    let name = in_full(listed, &experiment.workload);
    assay_workloads::registry::find(&name, &app.config.kits)
        .map_err(|e| Refusal::bad(e.to_string()))
}

/// The workload's name, or the whole path of the kit that stands beside the file.
fn in_full(listed: &Listed, workload: &str) -> String {
    let beside = listed.path.parent().and_then(|dir| dir.canonicalize().ok());
    let full = beside.filter(|_| workload.contains('/')).map(|dir| dir.join(workload));
    full.filter(|f| f.is_dir()).map_or_else(|| workload.to_owned(), |f| f.display().to_string())
}

/// An experiment as the text of its file, without what holds anyway.
pub(crate) fn text_of(experiment: &Experiment) -> String {
    let whole = || {
        toml::to_string_pretty(experiment)
            .unwrap_or_else(|e| format!("# could not be written as TOML: {e}\n"))
    };
    let least = of_workload(&experiment.workload).experiment;
    let tables = |e: &Experiment| toml::Table::try_from(e).ok();
    let least = least.ok().and_then(|e| tables(&e));
    let (Some(mut text), Some(least)) = (tables(experiment), least) else { return whole() };
    for (key, value) in &mut text {
        if let (Some(own), Some(usual)) = (value.as_table_mut(), least.get(key)) {
            own.retain(|key, value| usual.get(key) != Some(value));
        }
    }
    text.retain(|key, value| {
        let empty = value.as_table().is_some_and(toml::Table::is_empty);
        ["name", "workload"].contains(&key) || (!empty && least.get(key) != Some(value))
    });
    let short = toml::to_string_pretty(&text).unwrap_or_default();
    // What was left out holds anyway only if it is read as the same.
    match assay_lab::read_experiment("the experiment", &short) {
        Ok(same) if same == *experiment => short,
        _ => whole(),
    }
}

/// The time before which it does not start.
pub(crate) fn not_before(asked: &Submission) -> Result<Option<Timestamp>, Refusal> {
    match asked.not_before.as_deref().map(str::trim).filter(|t| !t.is_empty()) {
        None => Ok(None),
        Some(text) => text.parse::<Timestamp>().map(Some).map_err(|_| {
            Refusal::bad(format!("`{text}` is not a time such as 2026-11-21T23:00:00Z"))
        }),
    }
}

/// Whether tags and names have a size that is kept.
pub(crate) fn words(asked: &Submission) -> Result<(), Refusal> {
    if asked.tags.len() > 50 || asked.tags.iter().any(|t| t.len() > 200) || asked.by.len() > 200 {
        return Err(Refusal::bad("at most 50 tags, and words of at most 200 bytes"));
    }
    Ok(())
}

/// Makes a job of what is submitted, or says what is wrong with it.
pub(crate) fn job(app: &App, asked: &Submission) -> Result<NewJob, Refusal> {
    let waiting = app.queue().waiting().len();
    if waiting >= MAX_WAITING {
        return Err(Refusal::conflict(format!("{waiting} jobs wait already; cancel some first")));
    }
    let (base, edit) = base_and_edit(app, asked)?;
    let listed = edit?.unwrap_or(base);
    let not_before = not_before(asked)?;
    words(asked)?;
    points::check_revisions(asked)?;
    // Where nothing is set there is nothing to ask of the experiment as it stands.
    if !asked.set.is_empty() {
        let plain = listed.experiment.clone().map_err(Refusal::bad)?;
        let workload = workload_of(app, &listed, &plain)?;
        for name in asked.set.keys() {
            may_change(app, workload.spec(), &plain, name)?;
        }
    }
    let mut new = if asked.rev.is_some() {
        points::job(app, &listed, asked)?
    } else {
        let prepared = prepare(app, &listed, &|experiment| lay_over(experiment, asked))?;
        let mut changes: Vec<String> = asked.set.iter().map(|(n, v)| format!("{n}={v}")).collect();
        changes.extend(asked.blocks.map(|n| format!("blocks={n}")));
        if listed.edited && asked.toml.is_some() {
            changes.push("as text".to_owned());
        }
        points::new_job(prepared, changes, asked)
    };
    new.job.not_before = not_before.map(|t| t.to_string());
    Ok(new)
}

pub(crate) fn prepare(
    app: &App,
    listed: &Listed,
    change: &dyn Fn(&mut Experiment) -> Result<(), LabError>,
) -> Result<Prepared, Refusal> {
    let experiment = listed.experiment.as_ref().map_err(|e| Refusal::bad(e.clone()))?;
    plan(app, listed, experiment, change).map_err(|e| Refusal::bad(e.to_string()))
}

/// As [`prepare`], of an experiment that could be read, with what is wrong as the planner says it.
pub(crate) fn plan(
    app: &App,
    listed: &Listed,
    experiment: &Experiment,
    change: &dyn Fn(&mut Experiment) -> Result<(), LabError>,
) -> Result<Prepared, LabError> {
    if listed.edited || listed.path.as_os_str().is_empty() {
        let mut experiment = experiment.clone();
        // The run starts from a copy in the queue: a kit beside the file is named in full.
        experiment.workload = in_full(listed, &experiment.workload);
        change(&mut experiment)?;
        return Prepared::from_experiment(experiment, &app.config.kits);
    }
    Prepared::from_file(&listed.path, &app.config.kits, &|experiment| {
        experiment.workload = in_full(listed, &experiment.workload);
        change(experiment)
    })
}

pub(crate) fn may_change(
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
    for tag in asked.tags.iter().map(|t| t.trim()).filter(|t| !t.is_empty()) {
        if !experiment.tags.iter().any(|t| t == tag) {
            experiment.tags.push(tag.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_short_and_says_the_same() {
        let text = "name = \"a\"\ntags = [\"x\"]\nworkload = \"noop\"\n[design]\nblocks = 3\n";
        let mut experiment = assay_lab::read_experiment("x", text).unwrap();
        assert_eq!(text_of(&experiment), text.replace("\n[", "\n\n["));
        experiment.name = "noop".into();
        experiment.tags.clear();
        experiment.design.blocks = None;
        assert_eq!(text_of(&experiment), "name = \"noop\"\nworkload = \"noop\"\n");
    }
}
