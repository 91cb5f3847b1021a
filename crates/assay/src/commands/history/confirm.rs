//! Fresh experiments of suspected changes, and profiles of confirmed ones.

use std::time::{Duration, Instant};

use anyhow::Result;
use assay_lab::series::{self, StoredFindings};
use assay_lab::{Lab, PreparedExperiment};
use assay_model::RunId;
use assay_stats::series::{
    ChangeState, Commit, HistoryData, HistoryFindings, SeriesKey, analysis, commits,
};

use super::{MeasuredHistory, look_at};
use crate::commands::experiment;
use crate::commands::functions::{ComparedRevisions, between};
use crate::progress::Bar;

/// Two revisions between which series changed.
struct ChangedPlace<'a> {
    series: Vec<SeriesKey<'a>>,
    /// Names of the series; empty if they are not benchmarks of a suite.
    benchmarks: Vec<String>,
    /// Indices of the revisions in the range.
    before: usize,
    after: usize,
    /// Last revision before which the first of the changes may be.
    common: usize,
    /// A run that measured the new level.
    run: RunId,
}

/// Returns the places of the changes that are not decided. Changes of several benchmarks that may
/// be at one revision share a place.
fn places<'a>(
    past: &'a HistoryData,
    range: &[Commit],
    known: &HistoryFindings,
) -> Vec<ChangedPlace<'a>> {
    let mut open = Vec::new();
    for series in &past.series {
        for change in analysis(series, known).changes {
            let all = commits(range, &series.points, &change);
            let state =
                known.latest(series.key(), &all).map_or(ChangeState::Suspected, |k| k.state);
            if matches!(state, ChangeState::Suspected | ChangeState::Open) {
                let [before, after] = change.sides(&series.points);
                open.push((series.key(), before, after));
            }
        }
    }
    // The first to end is a place that each of the others may share.
    open.sort_by_key(|(_, _, after)| after.place);
    let mut places: Vec<ChangedPlace<'_>> = Vec::new();
    for (key, before, after) in open {
        let Some(run) = after.runs.last().cloned() else { continue };
        let shared = places.iter_mut().find(|p| {
            let machine = p.series[0].machine == key.machine && !p.series.contains(&key);
            machine && before.place < p.common
        });
        if let Some(place) = shared {
            place.series.push(key);
            place.benchmarks.extend(key.benchmark.map(str::to_owned));
            place.before = place.before.min(before.place);
            place.after = place.after.max(after.place);
        } else {
            places.push(ChangedPlace {
                series: vec![key],
                benchmarks: key.benchmark.map(str::to_owned).into_iter().collect(),
                before: before.place,
                after: after.place,
                common: after.place,
                run,
            });
        }
    }
    places
}

impl MeasuredHistory<'_> {
    /// Confirms suspected and open changes by an experiment with the revisions on both sides, one
    /// for all benchmarks that changed at a place; returns true if it was interrupted. Each change
    /// is judged from the archive, so that nothing is lost between its run and its verdict.
    pub(super) fn confirm(
        &self,
        lab: &Lab<'_>,
        bar: &mut Bar,
        kept: &mut StoredFindings,
        until: Instant,
    ) -> Result<bool> {
        let past = self.past()?;
        if kept.known.learn(self.range(), &past) {
            kept.save()?;
        }
        for place in places(&past, self.range(), &kept.known) {
            let left = until.saturating_duration_since(Instant::now());
            if left < Duration::from_secs(1) {
                continue;
            }
            let levels = [place.before, place.after].map(|at| self.range()[at].level.as_str());
            let mut prepared = experiment::prepare(&look_at(self.asked, &levels), &lab.kits)?;
            let budget = format!("{} s", left.as_secs());
            let (id, experiment) = (&self.defined.id, &mut prepared.experiment);
            let [before, after] = levels;
            series::confirmation(experiment, id, before, after, &budget, place.benchmarks);
            if !experiment.compare.only.is_empty() {
                let run = self.archive.run(&place.run)?;
                series::narrow(experiment, &run.plan()?, &run.records()?);
            }
            let prepared = PreparedExperiment::from_experiment(prepared.experiment, &lab.kits)?;
            let ended = lab.run(&prepared, bar)?;
            if ended.state == assay_model::RunState::Interrupted {
                return Ok(true);
            }
            kept.known.learn(self.range(), &self.past()?);
            kept.save()?;
        }
        Ok(false)
    }

    /// Profiles both sides of confirmed changes that have no profiles yet. The functions of a suite
    /// mean little, because it sizes its own work.
    pub(super) fn functions(
        &self,
        lab: &Lab<'_>,
        bar: &mut Bar,
        kept: &mut StoredFindings,
        until: Instant,
    ) -> Result<()> {
        let past = self.past()?;
        for series in past.series.iter().filter(|s| s.benchmark.is_none()) {
            for change in analysis(series, &kept.known).changes {
                let [before, after] = change.sides(&series.points);
                let all = commits(self.range(), &series.points, &change);
                let Some(known) = kept.known.latest(series.key(), &all) else { continue };
                let done = known.functions.as_ref().is_some_and(|f| f.differences.is_some());
                let Some(like) = known.run.clone() else { continue };
                if done || known.state != ChangeState::Confirmed {
                    continue;
                }
                let step = ComparedRevisions {
                    what: &self.asked.what,
                    when: self.asked.profile,
                    before: &before.commit,
                    after: &after.commit,
                    tag: Some(series::profile_tag(&self.defined.id)),
                    left: until.saturating_duration_since(Instant::now()),
                    like: &like,
                };
                if let Some(found) = between(&step, &self.archive, lab, bar)? {
                    kept.known.explain(series.key(), &all, found);
                    kept.save()?;
                }
            }
        }
        Ok(())
    }
}
