//! Turns the arguments into a prepared experiment: a file, a workload's name or command lines,
//! changed by `--set` and similar options.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Result;
use assay_lab::{DEFAULT_BLOCKS, LabError, PreparedExperiment, REV, apply_set};
use assay_model::{
    Engine, ExecutionPlace, Experiment, FactorLevel, FactorLevels, Labelled, Scalar, Stop,
};
use assay_workloads::{KitPaths, quote_words};

use crate::arguments::{EngineArg, ExperimentArgs, PlaceArgs};
use crate::exit::usage;
use crate::shipped;

/// Prepares the experiment that the arguments describe.
pub fn prepare(what: &ExperimentArgs, kits: &KitPaths) -> Result<PreparedExperiment> {
    let prepared = prepared(what, kits).inspect_err(|e| hint(what, &e.to_string()))?;
    if what.place.of_nodes() && prepared.experiment.place.engine == Engine::Local {
        return usage(OF_NODES);
    }
    let of_source = what.build.is_some() || what.builds.is_some() || what.repo.is_some();
    if of_source && prepared.experiment.source.is_none() {
        return usage(
            "--build, --builds and --repo go with --rev, or with an experiment that has [source]",
        );
    }
    Ok(prepared)
}

/// Error message for options that apply to nodes if the trials run on this machine.
pub const OF_NODES: &str = "--nodes, --tasks-per-node and --partition go with --on slurm";

/// Prints a hint on how to write a value with a comma, if a value was split at commas and one part
/// was refused.
pub fn hint(what: &ExperimentArgs, refused: &str) {
    if let Some(hint) = comma_hint(&what.set, refused) {
        crate::screen::say(&format!("hint: {hint}"));
    }
}

/// Returns the way to write a value with a comma, if the refused level is a part of such a value.
fn comma_hint(sets: &[String], refused: &str) -> Option<String> {
    sets.iter().find_map(|set| {
        let (name, values) = set.split_once('=')?;
        let levels: Vec<&str> = values.split(',').map(str::trim).collect();
        let meant = levels.len() > 1
            && !values.trim_start().starts_with('[')
            && levels.iter().any(|level| refused.contains(&format!("`{level}`")));
        let quoted = values.trim_matches('\'').replace('"', "\\\"");
        let count = levels.len();
        meant.then(|| {
            format!(
                "the commas in `--set {name}=` make {count} levels; write one value with a comma \
                 as --set '{name}=[\"{quoted}\"]'"
            )
        })
    })
}

fn prepared(what: &ExperimentArgs, kits: &KitPaths) -> Result<PreparedExperiment> {
    if let Some(option) = what.command.iter().find(|w| *w == "--vs") {
        let option = option.display();
        return usage(format!(
            "`{option}` after `--` belongs to the command; write options of assay before `--`"
        ));
    }
    let lines = what.targets.len() > 1 || what.targets.iter().any(|t| is_line(t));
    let typed = !what.command.is_empty() || !what.vs.is_empty();
    match what.targets.as_slice() {
        [_, ..] if lines => match what.targets.iter().find(|t| is_file(t)) {
            Some(file) => usage(format!("`{file}` is a file; one experiment is run at a time")),
            None => of_commands(what, kits),
        },
        [_, ..] if typed => usage(
            "an experiment and a command were given; give one of them (a command goes after `--`)",
        ),
        [] if !typed => {
            usage("nothing to run; give an experiment file, a workload, or `-- COMMAND`")
        }
        [target] if is_program(target) => {
            usage(format!("`{target}` is a program; write `assay run -- {target}`"))
        }
        [target] if is_file(target) => {
            let file = shipped::find(Path::new(target))?;
            Ok(PreparedExperiment::from_file(&file, kits, &|e| change(e, what))?)
        }
        [target] => {
            let workload = if target.contains('/') {
                shipped::find(Path::new(target))?.display().to_string()
            } else {
                target.clone()
            };
            let name = target.trim_end_matches('/').rsplit('/').next().unwrap_or(target);
            let mut experiment = named(name, &workload)?;
            change(&mut experiment, what)?;
            Ok(PreparedExperiment::from_experiment(experiment, kits)?)
        }
        _ if what.command.is_empty() => {
            let why = "--vs needs a second command to compare with: --vs ... -- COMMAND";
            usage(why)
        }
        _ => of_commands(what, kits),
    }
}

fn of_commands(what: &ExperimentArgs, kits: &KitPaths) -> Result<PreparedExperiment> {
    let mut experiment = commands(what)?;
    change(&mut experiment, what)?;
    Ok(PreparedExperiment::from_experiment(experiment, kits)?)
}

/// Returns true for a command line in quotes.
fn is_line(text: &str) -> bool {
    text.trim().contains(char::is_whitespace) && !Path::new(text).exists()
}

fn is_file(target: &str) -> bool {
    Path::new(target).extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"))
        || Path::new(target).is_file()
}

fn is_program(target: &str) -> bool {
    let toml = Path::new(target).extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let found = Path::new(target).metadata();
    !toml && found.is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Returns an experiment that has only a name and a workload.
fn named(name: &str, workload: &str) -> Result<Experiment> {
    let text = toml::to_string(&std::collections::BTreeMap::from([
        ("name", slug(name)),
        ("workload", workload.to_owned()),
    ]))?;
    Ok(assay_lab::read_experiment("the command line", &text).map_err(LabError::File)?)
}

/// Turns a text into a name for an experiment: lower-case letters, digits, `-` and `.`.
fn slug(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' })
        .take(60)
        .collect();
    let clean = clean.trim_matches(['-', '.']);
    if clean.is_empty() { "command".to_owned() } else { clean.to_owned() }
}

/// Turns command lines into an experiment: one is a parameter, several are the levels of a factor.
fn commands(what: &ExperimentArgs) -> Result<Experiment> {
    let mut lines = what.targets.clone();
    match what.command.as_slice() {
        [] => {}
        // A single argument is a line for the shell, or a line in quotes; several are words.
        [line] if what.shell.is_some() || line.to_str().is_some_and(is_line) => {
            lines.push(line.to_string_lossy().trim().to_owned());
        }
        words => lines.push(quote_words(words)),
    }
    lines.extend(what.vs.iter().map(|line| line.trim().to_owned()));
    let program = lines[0].split_whitespace().next().unwrap_or("command");
    let mut experiment = named(program.rsplit('/').next().unwrap_or(program), "command")?;
    let baseline = Scalar::Text(lines[0].clone());
    if let [line, rest @ ..] = lines.as_slice()
        && rest.len() < 2
        && rest.iter().all(|l| l == line)
    {
        experiment.params.insert("command".into(), line.as_str().into());
        // Giving the same command twice compares it with itself, as a test of the machine.
        if !rest.is_empty() {
            assay_lab::with_itself(&mut experiment)?;
        }
    } else {
        let levels = lines.iter().map(|l| l.as_str().into()).collect();
        experiment.factors.insert("command".into(), FactorLevels::List(levels));
        experiment.compare.baseline.insert("command".into(), baseline);
    }
    Ok(experiment)
}

/// Applies the options to an experiment.
fn change(experiment: &mut Experiment, what: &ExperimentArgs) -> Result<(), LabError> {
    // The place of the trials decides the meaning of `vm.NAME`.
    change_place(&mut experiment.place, &what.place);
    for set in &what.set {
        apply_set(experiment, set)?;
    }
    let commands = [
        ("setup", &what.setup),
        ("prepare", &what.prepare),
        ("conclude", &what.conclude),
        ("stdin", &what.stdin),
        ("reader", &what.reader),
        ("result_file", &what.result_file),
        ("metric_from", &what.metric_from),
        ("better", &what.better),
        ("check", &what.check),
        ("expect", &what.expect),
        ("shell", &what.shell),
    ];
    for (name, value) in commands {
        if let Some(value) = value {
            experiment.params.insert(name.into(), value.as_str().into());
        }
    }
    match what.ignore_failure.as_deref() {
        Some("all") => drop(experiment.params.insert("ignore_failure".into(), Scalar::Bool(true))),
        Some(codes) => {
            experiment.params.insert("exit_codes".into(), format!("0,{codes}").as_str().into());
        }
        None => {}
    }
    change_source(experiment, what);
    experiment.compare.confidence = what.confidence.unwrap_or(experiment.compare.confidence);
    if what.metric.is_some() {
        experiment.compare.metric.clone_from(&what.metric);
    }
    let design = &mut experiment.design;
    if let Some(blocks) = what.blocks {
        design.blocks = Some(blocks);
        design.stop = Stop::Fixed;
    }
    if what.group_by.is_some() {
        design.group_by.clone_from(&what.group_by);
    }
    if what.until_clear {
        design.stop = Stop::Clear;
    }
    design.warmup_blocks = what.warmup.unwrap_or(design.warmup_blocks);
    design.seed = what.seed.or(design.seed);
    for (given, field) in [
        (&what.timeout, &mut design.timeout),
        (&what.max_time, &mut design.max_time),
        (&what.interval, &mut experiment.observe.interval),
    ] {
        if let Some(given) = given {
            *field = given.as_str().into();
        }
    }
    if let Some(margin) = &what.margin {
        experiment.compare.margin = Some(Scalar::parse(margin));
    }
    experiment.compare.gate |= what.gate;
    experiment.compare.only.extend(what.only.iter().cloned());
    let names = |typed: &str| match typed {
        "none" => Vec::new(),
        names => names.split(',').map(|n| n.trim().to_owned()).collect(),
    };
    let observe = &mut experiment.observe;
    for (typed, field) in
        [(&what.monitors, &mut observe.monitors), (&what.tracers, &mut observe.tracers)]
    {
        if let Some(typed) = typed {
            *field = names(typed);
        }
    }
    if let Some(name) = &what.name {
        experiment.name = slug(name);
    }
    experiment.tags.extend(what.tag.iter().cloned());
    if what.aa {
        assay_lab::find_floor(experiment, what.blocks)?;
    }
    Ok(())
}

/// Applies the options for revisions to an experiment; the first revision is the baseline.
fn change_source(experiment: &mut Experiment, what: &ExperimentArgs) {
    if let Some(first) = what.rev.first() {
        experiment.source.get_or_insert_default();
        let level = |(n, rev): (usize, &String)| match what.rev_labels.get(n).cloned() {
            Some(label) => FactorLevel::Labelled(Labelled { label, value: rev.as_str().into() }),
            None => FactorLevel::Plain(rev.as_str().into()),
        };
        let levels = what.rev.iter().enumerate().map(level).collect();
        experiment.factors.insert(REV.into(), FactorLevels::List(levels));
        // A range is not a level; its oldest commit is the first treatment.
        experiment.compare.baseline.remove(REV);
        if !first.contains("..") {
            experiment.compare.baseline.insert(REV.into(), first.as_str().into());
        }
    }
    if let (Some(build), Some(source)) = (&what.build, &mut experiment.source) {
        source.build.clone_from(build);
    }
    if let (Some(builds), Some(source)) = (what.builds, &mut experiment.source) {
        source.builds = Some(builds);
        experiment.design.blocks.get_or_insert(builds.max(DEFAULT_BLOCKS));
    }
    if let (Some(repo), Some(source)) = (&what.repo, &mut experiment.source) {
        source.repo.clone_from(repo);
    }
}

/// Applies the options for the place of the trials.
pub fn change_place(place: &mut ExecutionPlace, typed: &PlaceArgs) {
    if let Some(on) = typed.on {
        place.engine = match on {
            EngineArg::Local => Engine::Local,
            EngineArg::Slurm => Engine::Slurm,
            EngineArg::Vm => Engine::Vm,
            EngineArg::Ssh => Engine::Ssh,
        };
    } else if !typed.host.is_empty() {
        place.engine = Engine::Ssh;
    }
    if place.engine == Engine::Ssh && (typed.on.is_some() || !typed.host.is_empty()) {
        // Hosts are named; the nodes of an experiment for a cluster are counted.
        (place.nodes, place.tasks_per_node) = (1, 1);
    }
    // With `--on local`, an experiment for a cluster is tried on this machine alone.
    if typed.on == Some(EngineArg::Local) {
        *place = ExecutionPlace::default();
    }
    if !typed.host.is_empty() {
        place.hosts.clone_from(&typed.host);
    }
    place.hosts_as = typed.hosts_as.or(place.hosts_as);
    place.nodes = typed.nodes.unwrap_or(place.nodes);
    place.tasks_per_node = typed.tasks_per_node.unwrap_or(place.tasks_per_node);
    if typed.partition.is_some() {
        place.partition.clone_from(&typed.partition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_anything() {
        assert_eq!(slug("./My Bench"), "my-bench");
        assert_eq!(slug("..."), "command");
    }
}
