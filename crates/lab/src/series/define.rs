//! Definition of a history from a prepared experiment and its repository, and the experiments that
//! measure its points and confirmations.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{Better, Experiment, FactorLevel, FactorLevels, Scalar, Stop};
use assay_stats::series::{Commit, HistoryDefinition};
use assay_system::revisions::{Merges, Repository, Revision, RevisionError};
use assay_workloads::readers::BENCHMARKS;

use super::{POINT_BLOCKS, SUITE_BLOCKS, confirm_tag, tag};
use crate::{DEFAULT_BLOCKS, LabError, PreparedExperiment, REV};

/// A history with its repository.
#[derive(Debug)]
pub struct DefinedHistory {
    /// Id of the history in the archive.
    pub id: String,
    /// Subject of the history: experiment, metric, reference and revisions.
    pub about: HistoryDefinition,
    /// Repository with the revisions.
    pub repo: Repository,
    /// The only metric of a suite that is shown; `None` for all benchmarks.
    pub picked: Option<String>,
}

/// Returns the id of the history that runs of this experiment belong to. The id depends on what a
/// point measures: the experiment's name and a parameter that equals its default make no
/// difference, and the range and the reference may change, too.
pub fn id_of(archive: &Path, prepared: &PreparedExperiment) -> String {
    let (e, workload) = (&prepared.experiment, &prepared.plan.workload);
    let build = e.source.as_ref().map_or("", |s| &s.build);
    let metric = prepared.plan.metric.as_str();
    let hash = |what: &str, metric: &str, params: &BTreeMap<String, Scalar>| {
        let about = format!("{what} {metric} {build} {params:?} {:?}", e.controls);
        assay_system::sha256(about.as_bytes())[..12].to_owned()
    };
    // Earlier versions hashed the experiment's name and every parameter as it was written.
    let former = hash(&e.name, metric, &e.params);
    let known = super::histories(archive);
    if known.contains(&former) {
        return former;
    }
    let default = |name: &String| workload.param(name).and_then(|p| p.default.as_ref());
    let mut params = e.params.clone();
    params.retain(|name, value| default(name) != Some(value));
    let own = hash(&workload.name, metric, &params);
    // A suite is one history. Earlier versions had one for each metric that decided.
    if is_suite(prepared) && !known.contains(&own) {
        return hash(&workload.name, BENCHMARKS, &params);
    }
    own
}

/// Returns true if the metric that decides is of a suite.
fn is_suite(prepared: &PreparedExperiment) -> bool {
    let plan = &prepared.plan;
    let read = plan.treatments.first().and_then(|t| t.params.get("reader"));
    read.is_some_and(|r| !r.to_text().is_empty())
        && !plan.workload.metrics.iter().any(|m| m.name == plan.metric)
}

fn commit(revision: &Revision) -> Commit {
    Commit {
        level: revision.level(),
        label: revision.label.clone(),
        subject: revision.subject.clone(),
        author_date: revision.author_date.clone(),
    }
}

/// Defines the history of a prepared experiment, as ratios to `reference`. It covers the commits of
/// `range` (`a..b`, `a..b:10`) and the commit that the range starts after.
///
/// # Errors
/// There is no repository, or a name resolves to nothing.
pub fn define(
    archive: &Path,
    prepared: &PreparedExperiment,
    range: &str,
    reference: &str,
) -> Result<DefinedHistory, LabError> {
    let source = prepared.experiment.source.clone().unwrap_or_default();
    let repo = Repository::open(Path::new(&source.repo))?;
    let start = range.split_once("..").map_or(range, |(start, _)| start);
    let mut revisions = vec![commit(&repo.one(start)?)];
    match repo.resolve(&[range.to_owned()]) {
        Ok(all) => revisions.extend(all.iter().map(commit)),
        // The history has only its start.
        Err(RevisionError::EmptyRange { .. }) if range_is_whole(&repo, range) => {}
        Err(e) => return Err(e.into()),
    }
    let mut metric = prepared.plan.metric.clone();
    let picked = prepared.experiment.compare.metric.clone().filter(|_| is_suite(prepared));
    let spec = prepared.plan.workload.metrics.iter().find(|m| m.name == metric);
    let (unit, better) =
        spec.map_or((String::new(), Better::Neither), |m| (m.unit.clone(), m.better));
    if picked.is_some() {
        BENCHMARKS.clone_into(&mut metric);
    }
    Ok(DefinedHistory {
        id: id_of(archive, prepared),
        picked,
        about: HistoryDefinition {
            experiment: prepared.experiment.name.clone(),
            unit,
            better,
            metric,
            reference: commit(&repo.one(reference)?),
            revisions,
        },
        repo,
    })
}

/// Returns true if both ends of a range are the same commit.
fn range_is_whole(repo: &Repository, range: &str) -> bool {
    let Some((start, end)) = range.split_once("..") else { return false };
    let level = |name: &str| repo.one(name).map(|r| r.level()).ok();
    level(start).is_some_and(|start| level(end).as_ref() == Some(&start))
}

impl DefinedHistory {
    /// Returns the definition to store for readers without the repository. It contains the
    /// revisions of this history, widened to the commits that were stored or measured before and
    /// are on the same line of history. Other commits (of another branch, or of a history that was
    /// rewritten) are dropped.
    ///
    /// # Errors
    /// git fails.
    pub fn widened(
        &self,
        old: Option<&HistoryDefinition>,
        measured: &[String],
    ) -> Result<HistoryDefinition, LabError> {
        let mut about = self.about.clone();
        let (Some(first), Some(last)) = (about.revisions.first(), about.revisions.last()) else {
            return Ok(about);
        };
        let kept = old.map(|o| o.revisions.as_slice()).unwrap_or_default();
        let oldest = kept.first().unwrap_or(first);
        let newest = kept.last().unwrap_or(last);
        // The stored range may extend further on either side. It counts if it is on the same line
        // of history.
        let start =
            if self.repo.is_ancestor(&oldest.level, &first.level)? { oldest } else { first };
        let end = if self.repo.is_ancestor(&last.level, &newest.level)? { newest } else { last };
        if start.level == end.level {
            return Ok(about);
        }
        let range = format!("{}..{}", start.level, end.level);
        let mut line = vec![start.clone()];
        line.extend(self.repo.range(&range, 1, Merges::Followed)?.iter().map(commit));
        let asked = std::mem::take(&mut about.revisions);
        let wanted = |level: &str| {
            asked.iter().chain(kept).any(|c| c.level == level)
                || measured.iter().any(|m| m == level)
        };
        line.retain(|c| wanted(&c.level));
        about.revisions = line;
        Ok(about)
    }
}

/// Applies two revisions to an experiment, with the first as the baseline, and removes settings
/// that apply only to the experiment's own run.
pub(super) fn of_two(experiment: &mut Experiment, before: &str, after: &str) {
    let level = |name: &str| FactorLevel::from(name);
    experiment.factors.insert(REV.into(), FactorLevels::List(vec![level(before), level(after)]));
    experiment.compare.baseline.insert(REV.into(), Scalar::Text(before.to_owned()));
    experiment.compare.gate = false;
    experiment.design.exclude.retain(|pattern| !pattern.contains_key(REV));
    experiment.tags.retain(|t| !t.starts_with(super::PREFIX));
}

/// Turns an experiment with `[source]` into the one that measures a point: `revision` against
/// `reference`.
pub fn point(experiment: &mut Experiment, id: &str, reference: &str, revision: &str) {
    of_two(experiment, reference, revision);
    experiment.design.blocks = experiment.design.blocks.or(Some(POINT_BLOCKS));
    experiment.design.stop = Stop::Fixed;
    if !id.is_empty() {
        experiment.tags.push(tag(id));
    }
}

/// Turns an experiment with `[source]` into the one that confirms a change. It runs until the
/// answer is clear or the time `budget` is used up. Of a suite it compares the `benchmarks` alone.
pub fn confirmation(
    experiment: &mut Experiment,
    id: &str,
    before: &str,
    after: &str,
    budget: &str,
    benchmarks: Vec<String>,
) {
    of_two(experiment, before, after);
    // Every build needs a block.
    let builds = experiment.source.as_ref().and_then(|s| s.builds);
    let suite = (!benchmarks.is_empty()).then_some(SUITE_BLOCKS);
    experiment.design.blocks = suite.or(builds.map(|n| n.max(DEFAULT_BLOCKS)));
    let fixed = experiment.design.blocks.is_some();
    experiment.design.stop = if fixed { Stop::Fixed } else { Stop::Clear };
    experiment.design.max_time = budget.into();
    experiment.compare.only = benchmarks;
    experiment.tags.push(confirm_tag(id));
}
