//! Turns a submission into a job: which experiment, its changes, and its earliest start. The
//! changes that are allowed without `--allow-any` cannot name a program or a file.

use assay_lab::{LabError, PreparedExperiment, apply_set};
use assay_model::{Experiment, FactorLevels, ParamSpec, ParamType, Scalar, Stop, WorkloadSpec};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::app::App;
use crate::error::Refusal;
use crate::queue::store::{MAX_WAITING, NewJob};
use crate::submit::draft::experiment_of_workload;
use crate::submit::folders::{ExperimentFile, find};
use crate::submit::points;
use crate::submit::submission::Submission;

/// Parameter of the workload, as a field of the form.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Field {
    /// Type, default and description of the parameter.
    pub param: ParamSpec,
    /// Value in the experiment, or the levels of a factor, separated by commas; `null` if the
    /// parameter has no value.
    pub value: Option<String>,
    /// True if the parameter is a factor.
    pub factor: bool,
    /// Reason why the parameter cannot be changed here; `null` if it can.
    pub locked: Option<String>,
}

/// Form for an experiment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ExperimentForm {
    pub id: String,
    pub experiment: Experiment,
    /// Description of the workload.
    pub help: String,
    pub fields: Vec<Field>,
    /// Number of trials that the unchanged experiment plans.
    pub trials: u64,
    pub treatments: u64,
}

const LOCKED: &str = "a text can name a program or a file; change it in the experiment's file, or \
     use a server started with --allow-any";

/// Returns the form for an experiment of the folders.
pub(crate) fn form(app: &App, id: &str) -> Result<ExperimentForm, Refusal> {
    let listed = find_listed(app, id)?;
    let prepared = prepare(app, &listed, &|_| Ok(()))?;
    let spec = prepared.workload.spec();
    let fields = spec.params.iter().map(|p| field(app, &prepared.experiment, p)).collect();
    Ok(ExperimentForm {
        id: id.to_owned(),
        help: spec.help.clone(),
        fields,
        trials: prepared.plan.trials.len() as u64,
        treatments: prepared.plan.treatments.len() as u64,
        experiment: prepared.experiment,
    })
}

fn find_listed(app: &App, id: &str) -> Result<ExperimentFile, Refusal> {
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
        Some("a range can only be changed in the experiment's file".to_owned())
    } else if param.ty == ParamType::Text && !app.config.allow_any {
        Some(LOCKED.to_owned())
    } else {
        None
    };
    Field { param: param.clone(), value, factor: factor.is_some(), locked }
}

/// Returns the experiment of a submission: its named experiment or workload, changed to the
/// submitted text. If that change is refused, returns the unchanged experiment and the refusal.
pub(crate) fn edited_experiment(
    app: &App,
    asked: &Submission,
) -> Result<(ExperimentFile, Option<Refusal>), Refusal> {
    let base = match &asked.workload {
        Some(name) if name.contains('/') => {
            return Err(Refusal::bad("workload: a name, as `assay workloads` lists them"));
        }
        Some(name) => Some(experiment_of_workload(name)),
        None => find(&app.config.folders, &asked.experiment),
    };
    let Some(text) = &asked.toml else {
        return Ok((base.map_or_else(|| find_listed(app, &asked.experiment), Ok)?, None));
    };
    let Some(base) = base else {
        if !app.config.allow_any {
            return Err(Refusal::forbidden(format!(
                "the experiment `{}` is not in the server's folders; put it there, or start the \
                server with --allow-any",
                asked.experiment
            )));
        }
        return Ok((read_text(&asked.experiment, text)?, None));
    };
    if base.text.trim() == text.trim() {
        return Ok((base, None));
    }
    let edited = apply_text(app, &base, text).map(|edited| (edited, None));
    Ok(edited.unwrap_or_else(|refusal| (base, Some(refusal))))
}

/// Returns the experiment of a text, or refuses an unreadable text.
fn read_text(id: &str, text: &str) -> Result<ExperimentFile, Refusal> {
    let own = ExperimentFile::of_text("the experiment", id.to_owned(), text.to_owned());
    own.experiment.as_ref().map_err(|e| Refusal::bad(e.clone()))?;
    Ok(own)
}

/// Returns the experiment with its text changed. Refuses changes that are not allowed.
fn apply_text(app: &App, base: &ExperimentFile, text: &str) -> Result<ExperimentFile, Refusal> {
    let mut edited = ExperimentFile { path: base.path.clone(), ..read_text(&base.id, text)? };
    if app.config.allow_any {
        return Ok(edited);
    }
    let (Ok(was), Ok(is)) = (&base.experiment, &edited.experiment) else {
        return Err(Refusal::bad(base.experiment.clone().err().unwrap_or_default()));
    };
    if was == is {
        // The text differs, but the experiment is the same.
        edited.edited = false;
        return Ok(edited);
    }
    let workload = workload_of(app, base, was)?;
    let spec = workload.spec();
    match forbidden_change(spec, was, is) {
        None => Ok(edited),
        Some(what) => Err(Refusal::forbidden(format!(
            "{what} differs from the experiment `{}` of the server's folders, and may name a \
            program or a file; change it in its file, or start the server with --allow-any",
            base.id
        ))),
    }
}

/// Returns a changed part of an edited experiment that can name a program or a file, or that
/// touches the system. `None` if all changes are harmless.
fn forbidden_change(spec: &WorkloadSpec, was: &Experiment, is: &Experiment) -> Option<String> {
    let free = |name: &str| spec.param(name).is_some_and(|p| p.ty != ParamType::Text);
    let mut back = is.clone();
    back.name.clone_from(&was.name);
    back.title.clone_from(&was.title);
    back.description.clone_from(&was.description);
    back.tags.clone_from(&was.tags);
    back.compare.clone_from(&was.compare);
    // Warm-ups set parameters, so they may not differ.
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
    if back.on != was.on {
        return Some("`[on]`".to_owned());
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

/// Returns the workload of an experiment. Its kit may be next to the experiment's file.
pub(crate) fn workload_of(
    app: &App,
    listed: &ExperimentFile,
    experiment: &Experiment,
) -> Result<Box<dyn assay_workloads::Workload>, Refusal> {
    let name = full_path(listed, &experiment.workload);
    assay_workloads::registry::find(&name, &app.config.kits)
        .map_err(|e| Refusal::bad(e.to_string()))
}

/// Returns the workload's name, or the full path of the kit if it is next to the experiment's file.
fn full_path(listed: &ExperimentFile, workload: &str) -> String {
    let beside = listed.path.parent().and_then(|dir| dir.canonicalize().ok());
    let full = beside.filter(|_| workload.contains('/')).map(|dir| dir.join(workload));
    full.filter(|f| f.is_dir()).map_or_else(|| workload.to_owned(), |f| f.display().to_string())
}

/// Returns an experiment as the text of its file, without values that equal the defaults.
pub(crate) fn text_of(experiment: &Experiment) -> String {
    rewritten(&experiment_of_workload(&experiment.workload), experiment)
}

/// Returns the text of `base`, changed to describe `experiment`. The rest of the text is kept as
/// written, with its comments.
pub(crate) fn rewritten(base: &ExperimentFile, experiment: &Experiment) -> String {
    let edit = || {
        let mut text: DocumentMut = base.text.parse().ok()?;
        let was = toml::Table::try_from(base.experiment.as_deref().ok()?).ok()?;
        write_changes(text.as_table_mut(), &was, &toml::Table::try_from(experiment).ok()?);
        let text = text.to_string();
        let read = assay_lab::read_experiment("the experiment", &text).ok()?;
        (read == *experiment).then_some(text)
    };
    edit().unwrap_or_else(|| {
        toml::to_string_pretty(experiment)
            .unwrap_or_else(|e| format!("# could not be written as TOML: {e}\n"))
    })
}

/// Writes the differences between `is` and `was` into `text`, which describes `was`.
fn write_changes(text: &mut dyn TableLike, was: &toml::Table, is: &toml::Table) {
    let none = toml::Table::new();
    for key in was.keys().filter(|key| !is.contains_key(*key)) {
        text.remove(key);
    }
    for (key, value) in is.iter().filter(|(key, value)| was.get(*key) != Some(*value)) {
        if let toml::Value::Table(is) = value {
            let inner = text.entry(key).or_insert_with(toml_edit::table);
            let was = was.get(key).and_then(toml::Value::as_table).unwrap_or(&none);
            if let Some(inner) = inner.as_table_like_mut() {
                write_changes(inner, was, is);
            }
        } else if let Ok(mut value) = value.to_string().parse::<toml_edit::Value>() {
            let place = text.entry(key).or_insert(Item::None);
            if let Some(before) = place.as_value() {
                value.decor_mut().clone_from(before.decor());
            }
            *place = value.into();
        }
    }
}

/// Returns the time before which the job must not start.
pub(crate) fn not_before(asked: &Submission) -> Result<Option<Timestamp>, Refusal> {
    match asked.not_before.as_deref().map(str::trim).filter(|t| !t.is_empty()) {
        None => Ok(None),
        Some(text) => text.parse::<Timestamp>().map(Some).map_err(|_| {
            Refusal::bad(format!("`{text}` is not a time such as 2026-11-21T23:00:00Z"))
        }),
    }
}

/// Checks the number and the lengths of tags, and the length of the submitter's name.
pub(crate) fn check_lengths(asked: &Submission) -> Result<(), Refusal> {
    if asked.tags.len() > 50 || asked.tags.iter().any(|t| t.len() > 200) || asked.by.len() > 200 {
        return Err(Refusal::bad(
            "at most 50 tags, and at most 200 bytes for each tag and the submitter",
        ));
    }
    Ok(())
}

/// Creates the job of a submission, or refuses it with the reason.
pub(crate) fn job(app: &App, asked: &Submission) -> Result<NewJob, Refusal> {
    let waiting = app.queue.lock().waiting().len();
    if waiting >= MAX_WAITING {
        return Err(Refusal::conflict(format!(
            "the queue is full ({waiting} jobs wait); cancel some first"
        )));
    }
    let (listed, refused) = edited_experiment(app, asked)?;
    refused.map_or(Ok(()), Err)?;
    let not_before = not_before(asked)?;
    check_lengths(asked)?;
    points::check_revisions(asked)?;
    // Without new parameter values, no check is needed.
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
        let prepared = prepare(app, &listed, &|experiment| apply_overrides(experiment, asked))?;
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
    listed: &ExperimentFile,
    change: &dyn Fn(&mut Experiment) -> Result<(), LabError>,
) -> Result<PreparedExperiment, Refusal> {
    let experiment = listed.experiment.as_ref().map_err(|e| Refusal::bad(e.clone()))?;
    plan(app, listed, experiment, change).map_err(|e| Refusal::bad(e.to_string()))
}

/// Same as [`prepare`] for an experiment that could be read. Returns the planner's error.
pub(crate) fn plan(
    app: &App,
    listed: &ExperimentFile,
    experiment: &Experiment,
    change: &dyn Fn(&mut Experiment) -> Result<(), LabError>,
) -> Result<PreparedExperiment, LabError> {
    if listed.edited || listed.path.as_os_str().is_empty() {
        let mut experiment = experiment.clone();
        // The run starts from a copy in the queue, so it needs the full path of a kit next to the
        // file.
        experiment.workload = full_path(listed, &experiment.workload);
        change(&mut experiment)?;
        return PreparedExperiment::from_experiment(experiment, &app.config.kits);
    }
    PreparedExperiment::from_file(&listed.path, &app.config.kits, &|experiment| {
        experiment.workload = full_path(listed, &experiment.workload);
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
                "`{name}` changes the system; set it in the experiment's file"
            )))
        };
    }
    let Some(param) = spec.param(name) else {
        let known: Vec<&str> = spec.params.iter().map(|p| p.name.as_str()).collect();
        return Err(Refusal::bad(format!(
            "`{}` has no parameter `{name}`; it has {}",
            spec.name,
            known.join(", ")
        )));
    };
    match field(app, experiment, param).locked {
        Some(why) => Err(Refusal::forbidden(format!("`{name}` cannot be changed here: {why}"))),
        None => Ok(()),
    }
}

pub(crate) fn apply_overrides(target: &mut Experiment, asked: &Submission) -> Result<(), LabError> {
    for (name, value) in &asked.set {
        apply_set(target, &format!("{name}={value}"))?;
    }
    if let Some(blocks) = asked.blocks {
        target.design.blocks = Some(blocks);
        target.design.stop = Stop::Fixed;
    }
    for tag in asked.tags.iter().map(|t| t.trim()).filter(|t| !t.is_empty()) {
        if !target.tags.iter().any(|t| t == tag) {
            target.tags.push(tag.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_short_and_says_the_same() {
        let text = "name = \"a\"\nworkload = \"noop\"\ntags = [\"x\"]\n[design]\nblocks = 3\n";
        let mut experiment = assay_lab::read_experiment("x", text).unwrap();
        assert_eq!(text_of(&experiment), text.replace("\n[", "\n\n["));
        experiment.name = "noop".into();
        experiment.tags.clear();
        experiment.design.blocks = None;
        assert_eq!(text_of(&experiment), "name = \"noop\"\nworkload = \"noop\"\n");
    }

    #[test]
    fn what_is_changed_in_a_text_leaves_its_comments() {
        let text = "# Why.\nname = \"a\"\nworkload = \"noop\" # nothing\n\n# Loads.\n[params]\n\
                    # How much.\nsize = 1 # small\n\n[design] # short\nblocks = 3 # few\n\
                    # The end.\n";
        let base = ExperimentFile::of_text("x", "a".into(), text.into());
        let plain = base.experiment.clone().unwrap();
        let change = |sets: &[&str], blocks: Option<u32>| {
            let mut experiment = (*plain).clone();
            for set in sets {
                apply_set(&mut experiment, set).unwrap();
            }
            experiment.design.blocks = blocks;
            rewritten(&base, &experiment)
        };
        assert_eq!(change(&[], Some(3)), text);
        assert_eq!(change(&[], Some(8)), text.replace("blocks = 3", "blocks = 8"));
        assert_eq!(change(&["size=2"], Some(3)), text.replace("size = 1", "size = 2"));
        assert_eq!(change(&[], None), text.replace("blocks = 3 # few\n", ""));
        let factor = change(&["size=1,2"], Some(3));
        assert!(factor.contains("[factors]\nsize = [1, 2]\n"), "{factor}");
        for comment in ["# Why.", "# nothing", "# Loads.", "# short", "# few", "# The end."] {
            assert!(factor.contains(comment), "{comment}: {factor}");
        }
    }
}
