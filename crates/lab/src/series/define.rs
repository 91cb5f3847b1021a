//! What a history is of, from a prepared experiment and its repository; and the experiments of its points and
//! confirmations.

use std::collections::BTreeMap;
use std::path::Path;

use assay_history::{About, Commit};
use assay_model::{Better, Experiment, FactorLevels, Level, Scalar, Stop};
use assay_revisions::{Merges, Repository, Revision, RevisionError};

use super::{POINT_BLOCKS, confirm_tag, tag};
use crate::{LabError, Prepared, REV};

/// A history with its repository.
#[derive(Debug)]
pub struct Defined {
    /// What it is found by.
    pub id: String,
    /// What it is of.
    pub about: About,
    /// Where its revisions are.
    pub repo: Repository,
}

/// The id of the history that runs of this experiment belong to: of what a point is of, by meaning. A name, and a
/// parameter that is given with its default, make no other history; the range and the reference may change, too.
pub fn id_of(archive: &Path, prepared: &Prepared) -> String {
    let (e, workload) = (&prepared.experiment, &prepared.plan.workload);
    let build = e.source.as_ref().map_or("", |s| &s.build);
    let metric = &prepared.plan.metric;
    let hash = |what: &str, params: &BTreeMap<String, Scalar>| {
        let about = format!("{what} {metric} {build} {params:?} {:?}", e.controls);
        assay_sut::sha256(about.as_bytes())[..12].to_owned()
    };
    // Earlier versions took the name, and every parameter as it was written.
    let former = hash(&e.name, &e.params);
    if super::histories(archive).contains(&former) {
        return former;
    }
    let default = |name: &String| workload.param(name).and_then(|p| p.default.as_ref());
    let mut params = e.params.clone();
    params.retain(|name, value| default(name) != Some(value));
    hash(&workload.name, &params)
}

fn commit(revision: &Revision) -> Commit {
    Commit {
        level: revision.level(),
        label: revision.label.clone(),
        subject: revision.subject.clone(),
        author_date: revision.author_date.clone(),
    }
}

/// The history of a prepared experiment over the commits of `range` (`a..b`, `a..b:10`) and the one that it starts
/// after, as ratios to `reference`.
///
/// # Errors
/// There is no repository, or a name stands for nothing.
pub fn define(
    archive: &Path,
    prepared: &Prepared,
    range: &str,
    reference: &str,
) -> Result<Defined, LabError> {
    let source = prepared.experiment.source.clone().unwrap_or_default();
    let repo = Repository::open(Path::new(&source.repo))?;
    let start = range.split_once("..").map_or(range, |(start, _)| start);
    let mut revisions = vec![commit(&repo.one(start)?)];
    match repo.resolve(&[range.to_owned()]) {
        Ok(all) => revisions.extend(all.iter().map(commit)),
        // Nothing but its start.
        Err(RevisionError::EmptyRange { .. }) if range_is_whole(&repo, range) => {}
        Err(e) => return Err(e.into()),
    }
    let metric = prepared.plan.metric.clone();
    let spec = prepared.plan.workload.metrics.iter().find(|m| m.name == metric);
    Ok(Defined {
        id: id_of(archive, prepared),
        about: About {
            experiment: prepared.experiment.name.clone(),
            unit: spec.map(|m| m.unit.clone()).unwrap_or_default(),
            better: spec.map_or(Better::Neither, |m| m.better),
            metric,
            reference: commit(&repo.one(reference)?),
            revisions,
        },
        repo,
    })
}

/// Whether both ends of a range are one commit.
fn range_is_whole(repo: &Repository, range: &str) -> bool {
    let Some((start, end)) = range.split_once("..") else { return false };
    let level = |name: &str| repo.one(name).map(|r| r.level()).ok();
    level(start).is_some_and(|start| level(end).as_ref() == Some(&start))
}

impl Defined {
    /// What is kept of it for those who have no repository: as it is asked for, widened to the commits that were kept
    /// or measured before and are on the same line of history. Others (of a history that was rewritten, of another
    /// branch) are no longer in it.
    ///
    /// # Errors
    /// git fails.
    pub fn widened(&self, old: Option<&About>, measured: &[String]) -> Result<About, LabError> {
        let mut about = self.about.clone();
        let (Some(first), Some(last)) = (about.revisions.first(), about.revisions.last()) else {
            return Ok(about);
        };
        let kept = old.map(|o| o.revisions.as_slice()).unwrap_or_default();
        let oldest = kept.first().unwrap_or(first);
        let newest = kept.last().unwrap_or(last);
        // What was kept may reach further on either side; it counts where it is still of this line.
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

/// Lays two revisions over an experiment, the first as the baseline, without what only its own run would be.
pub(super) fn of_two(experiment: &mut Experiment, before: &str, after: &str) {
    let level = |name: &str| Level::from(name);
    experiment.factors.insert(REV.into(), FactorLevels::List(vec![level(before), level(after)]));
    experiment.compare.baseline.insert(REV.into(), Scalar::Text(before.to_owned()));
    experiment.compare.gate = false;
    experiment.design.exclude.retain(|pattern| !pattern.contains_key(REV));
    experiment.tags.retain(|t| !t.starts_with(super::PREFIX));
}

/// Makes of an experiment with [source] the one that measures a point: `revision` beside `reference`.
pub fn point(experiment: &mut Experiment, id: &str, reference: &str, revision: &str) {
    of_two(experiment, reference, revision);
    experiment.design.blocks = experiment.design.blocks.or(Some(POINT_BLOCKS));
    experiment.design.stop = Stop::Fixed;
    if !id.is_empty() {
        experiment.tags.push(tag(id));
    }
}

/// Makes of an experiment with [source] the one that confirms a change, which looks until the answer is clear or
/// `budget` is over.
pub fn confirmation(
    experiment: &mut Experiment,
    id: &str,
    before: &str,
    after: &str,
    budget: &str,
) {
    of_two(experiment, before, after);
    experiment.design.blocks = None;
    experiment.design.stop = Stop::Clear;
    experiment.design.max_time = budget.into();
    experiment.tags.push(confirm_tag(id));
}
