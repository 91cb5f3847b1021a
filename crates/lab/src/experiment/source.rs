//! The factor `rev` of an experiment with `[source]`. Its levels are resolved to commits, each is
//! built before the first trial, and the workload gets the folder of the build in its parameter
//! `folder`.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{
    Experiment, Fact, FactorLevel, FactorLevels, Labelled, Plan, PlannedTrial, Scalar,
    SourceRepository, Stop, Treatment, WorkloadSpec, units,
};
use assay_system::Interrupt;
use assay_system::revisions::{Build, BuildOutcome, Builder, Repository, Revision};
use assay_workloads::Workload;

use crate::error::wrong;
use crate::{LabError, PlanError};

/// Name of the factor whose levels are revisions.
pub const REV: &str = "rev";
/// Name of the workload parameter that receives the folder of a revision.
pub const FOLDER: &str = "folder";

/// Returns true if the levels of `factor` are revisions.
pub(crate) fn is_revision(experiment: &Experiment, factor: &str) -> bool {
    factor == REV && experiment.source.is_some()
}

/// Checks that an experiment with revisions can be planned.
///
/// # Errors
/// The experiment has no factor `rev`, its workload has no parameter `folder`, the experiment sets
/// that parameter itself, its trials run elsewhere, or a setting of `[source]` is out of range.
pub(crate) fn check(experiment: &Experiment, spec: &WorkloadSpec) -> Result<(), PlanError> {
    let Some(source) = &experiment.source else { return Ok(()) };
    if !experiment.factors.contains_key(REV) {
        let help = "name them: factors.rev = [\"v1.2\", \"main\", \"worktree\"]";
        return Err(wrong(&["source"], "there are no revisions to compare", help));
    }
    if spec.param(FOLDER).is_none() {
        let message = format!("workload `{}` cannot run in the folder of a revision", spec.name);
        let help = "use `command`, or a kit with the parameter `folder`";
        return Err(wrong(&["source"], message, help));
    }
    if experiment.params.contains_key(FOLDER) || experiment.factors.contains_key(FOLDER) {
        let message = "`folder` is the folder of each revision here";
        return Err(wrong(&["params", FOLDER], message, "leave it out"));
    }
    if experiment.place.is_remote() {
        let message = "revisions are built and run on this machine";
        return Err(wrong(&["source"], message, "leave out [where] (`--on`, `--host`)"));
    }
    if let Some(builds) = source.builds {
        let blocks = experiment.design.blocks.filter(|_| experiment.design.stop == Stop::Fixed);
        let refuse = |message, help| Err(wrong(&["source", "builds"], message, help));
        if source.build.is_empty() {
            let help = "give the command: build = \"make\" (`--build make`)";
            return refuse("there is nothing to build", help);
        }
        if !(1..=100).contains(&builds) {
            return refuse("a revision is built 1 to 100 times", "");
        }
        if blocks.is_none_or(|blocks| blocks < builds) {
            let help = "set as many blocks: design.blocks (`--blocks N`)";
            return refuse("every build needs a block", help);
        }
    }
    for (key, fault) in [
        ("timeout", units::duration_of(&source.timeout).err()),
        ("cache", units::bytes_of(&source.cache).err()),
    ] {
        if let Some(fault) = fault {
            return Err(wrong(&["source", key], fault.to_string(), ""));
        }
    }
    Ok(())
}

/// Turns the names of `rev` into levels: the commit, with the name as its label. Returns true if
/// anything changed.
///
/// # Errors
/// There is no repository, or a name resolves to nothing.
pub(crate) fn resolve(experiment: &mut Experiment) -> Result<bool, LabError> {
    let Some(source) = &experiment.source else { return Ok(false) };
    let Some(FactorLevels::List(levels)) = experiment.factors.get(REV) else { return Ok(false) };
    let repo = Repository::open(Path::new(&source.repo))?;
    let mut resolved: Vec<FactorLevel> = Vec::new();
    for level in levels {
        let name = level.value().to_text();
        for revision in repo.resolve(std::slice::from_ref(&name))? {
            let label = level.label().map_or_else(|| revision.label.clone(), str::to_owned);
            let value = Scalar::Text(revision.level());
            // Two names of the same commit are one revision.
            if !resolved.iter().any(|l| *l.value() == value) {
                resolved.push(FactorLevel::Labelled(Labelled { label, value }));
            }
        }
    }
    let mut changed = resolved != *levels;
    // The baseline may also be given by any name of its commit.
    if let Some(name) = experiment.compare.baseline.get(REV).map(Scalar::to_text)
        && !resolved.iter().any(|l| l.label() == Some(&name))
    {
        let level = Scalar::Text(repo.one(&name)?.level());
        changed |= experiment.compare.baseline.insert(REV.into(), level.clone()) != Some(level);
    }
    experiment.factors.insert(REV.into(), FactorLevels::List(resolved));
    Ok(changed)
}

/// Built revisions of an experiment. Their folders exist as long as this value.
#[derive(Debug)]
pub(crate) struct BuiltRevisions {
    /// Revision, label and builds, by level. A failed build is the last one.
    revisions: BTreeMap<String, (Revision, String, Vec<Build>)>,
}

impl BuiltRevisions {
    /// Builds every revision of `experiment`, one after the other.
    ///
    /// # Errors
    /// The same as [`Builder::build`]. A revision that does not build is not an error.
    pub fn make(
        experiment: &Experiment,
        source: &SourceRepository,
        interrupt: Option<Interrupt>,
        say: &mut dyn FnMut(&str),
    ) -> Result<Self, LabError> {
        let repo = Repository::open(Path::new(&source.repo))?;
        let bounds = (
            units::duration_of(&source.timeout).unwrap_or(std::time::Duration::MAX),
            units::bytes_of(&source.cache).unwrap_or(assay_system::revisions::DEFAULT_LIMIT),
        );
        let cache = crate::cache_dir();
        let builder = Builder::new(&repo, &source.build, &cache, bounds, interrupt);
        let mut revisions = BTreeMap::new();
        let Some(FactorLevels::List(levels)) = experiment.factors.get(REV) else {
            return Ok(BuiltRevisions { revisions });
        };
        let excluded = |value: &str| {
            let pattern = BTreeMap::from([(REV.to_owned(), Scalar::Text(value.to_owned()))]);
            experiment.design.exclude.contains(&pattern)
        };
        for level in levels {
            let value = level.value().to_text();
            if excluded(&value) {
                continue;
            }
            let revision = repo.one(&value)?;
            let label = level.label().unwrap_or(&revision.label).to_owned();
            let wanted = source.builds.unwrap_or(1) as usize;
            let mut builds: Vec<Build> = Vec::new();
            while builds.len() < wanted
                && builds.last().is_none_or(|b| matches!(b.record.outcome, BuildOutcome::Built))
            {
                let number = builds.len() as u32 + 1;
                if !builder.has(&revision, number) {
                    let of = if wanted > 1 { format!(", build {number}") } else { String::new() };
                    say(&format!("building {}{of}", revision.named(&label)));
                }
                builds.push(builder.build(&revision, number)?);
            }
            for note in builds.iter().take(1).flat_map(|b| &b.record.notes) {
                say(&format!("warning: {label}: {note}"));
            }
            if builds.len() > 1 && builds.iter().all(|b| b.record.sha256 == builds[0].record.sha256)
            {
                say(&format!("{label}: all builds are byte-identical"));
            }
            if repo.shallow {
                say("warning: the repository is a shallow clone; a part of its history is missing");
            }
            revisions.insert(value, (revision, label, builds));
        }
        Ok(BuiltRevisions { revisions })
    }

    /// Returns the revisions that do not build: level, label and reason.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.revisions.iter().filter_map(|(level, (_, label, builds))| {
            match &builds.last()?.record.outcome {
                BuildOutcome::Failed { reason } => {
                    Some((level.as_str(), label.as_str(), reason.as_str()))
                }
                BuildOutcome::Built => None,
            }
        })
    }

    /// Excludes the revisions that do not build from `experiment`. Returns true if there are any.
    pub fn leave_out_failed(&self, experiment: &mut Experiment) -> bool {
        let mut any = false;
        for (level, ..) in self.failed() {
            let pattern = BTreeMap::from([(REV.to_owned(), Scalar::Text(level.to_owned()))]);
            if !experiment.design.exclude.contains(&pattern) {
                experiment.design.exclude.push(pattern);
            }
            any = true;
        }
        any
    }

    /// Sets the folder of each treatment to that of its first build and checks it, and assigns the
    /// other builds to the trials in turn, by block.
    ///
    /// # Errors
    /// The program is missing in a revision.
    pub fn place(&self, plan: &mut Plan, workload: &dyn Workload) -> Result<(), LabError> {
        for treatment in &mut plan.treatments {
            let folders = self.folders(treatment);
            for folder in folders.iter().rev() {
                treatment.params.insert(FOLDER.into(), folder.clone());
                crate::trial::inputs::check(workload, treatment, &treatment.params).map_err(
                    |e| {
                        wrong(&["factors", REV], format!("revision {}: {e}", treatment.label()), "")
                    },
                )?;
            }
            for trial in plan.trials.iter_mut().filter(|t| t.treatment == treatment.id) {
                if folders.len() > 1 {
                    let at = trial.block as usize % folders.len();
                    trial.build = Some(at as u32 + 1);
                    trial.params.insert(FOLDER.into(), folders[at].clone());
                }
            }
        }
        Ok(())
    }

    /// Returns true if the trials of a plan still run in the folders that they had.
    pub fn is_where(&self, plan: &Plan) -> bool {
        plan.treatments.iter().all(|t| {
            let folders = self.folders(t);
            let same = |trial: &PlannedTrial| {
                let at = trial.build.map_or(0, |number| number as usize - 1);
                folders.get(at) == trial.params.get(FOLDER).or_else(|| t.params.get(FOLDER))
            };
            !folders.is_empty() && plan.trials.iter().filter(|p| p.treatment == t.id).all(same)
        })
    }

    /// Returns the folders of the builds of a treatment's revision.
    fn folders(&self, treatment: &Treatment) -> Vec<Scalar> {
        let level = treatment.levels.get(REV).map(Scalar::to_text).unwrap_or_default();
        let builds = self.revisions.get(&level).map(|(_, _, builds)| builds);
        let folders = builds.into_iter().flatten().map(|b| b.folder.display().to_string());
        folders.map(Scalar::Text).collect()
    }

    /// Returns the recorded facts of each revision, under `source.LABEL.`.
    pub fn facts(&self) -> BTreeMap<String, Fact> {
        let mut facts = BTreeMap::new();
        for (revision, label, builds) in self.revisions.values() {
            let Some(build) = builds.last() else { continue };
            let clean = label.replace('.', "_");
            let mut put = |name: &str, fact| facts.insert(format!("source.{clean}.{name}"), fact);
            match &revision.commit {
                Some(commit) => put("commit", Fact::known(commit)),
                None => put("commit", Fact::unknown("the work tree has no commit")),
            };
            put("tree", Fact::known(&revision.tree));
            put("dirty", Fact::known(revision.dirty.to_string()));
            match &build.record.outcome {
                BuildOutcome::Built => {
                    let all: Vec<&str> = builds.iter().map(|b| b.record.sha256.as_str()).collect();
                    put("sha256", Fact::known(all.join(" ")));
                }
                BuildOutcome::Failed { reason } => {
                    put("sha256", Fact::unknown("it does not build"));
                    put("failure", Fact::known(reason));
                }
            }
            put("build_seconds", Fact::known(format!("{:.3}", build.record.seconds)));
            if !build.record.notes.is_empty() {
                put("missing", Fact::known(build.record.notes.join("; ")));
            }
        }
        let tools = self.revisions.values().flat_map(|(_, _, b)| b).flat_map(|b| &b.record.tools);
        facts.extend(tools.map(|(tool, line)| (format!("source.tool.{tool}"), Fact::known(line))));
        facts
    }
}
