//! Stored findings about a history in addition to its points: its definition, the states of its
//! changes, notes and resets. The archive keeps them in a file.

use assay_model::{Better, FunctionDifferences, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::series::{
    ChangePoint, ChangeState, Commit, Confirmation, HistoryData, MachineSeries, SeriesAnalysis,
    SeriesKey, SeriesPoint, analyse_family,
};

/// Version of the file format.
pub const KNOWN_VERSION: u32 = 1;

/// Findings about the change at a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownChange {
    /// First commit of the new level.
    pub commit: String,
    /// Class of machine whose series has the change; `null` means any.
    #[serde(default)]
    pub machine: Option<String>,
    /// Benchmark of a suite; `null` for the history's metric.
    #[serde(default)]
    pub benchmark: Option<String>,
    /// True once the experiment's hooks were called for the confirmed change.
    #[serde(default)]
    pub hooked: bool,
    /// State of the change.
    pub state: ChangeState,
    /// Result of the fresh experiment.
    #[serde(default)]
    pub fresh: Option<Confirmation>,
    /// Run of the fresh experiment.
    #[serde(default)]
    pub run: Option<RunId>,
    /// A person's note on the change.
    #[serde(default)]
    pub note: Option<String>,
    /// Link to further information.
    #[serde(default)]
    pub link: Option<String>,
    /// Functions that account for the change.
    #[serde(default)]
    pub functions: Option<Functions>,
}

/// Differences between functions that explain the difference between two revisions. Both are run
/// again under the profiler, in separate trials that make no points and decide nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Functions {
    /// The revision before the change.
    pub before: String,
    /// The revision after the change.
    pub after: String,
    /// Run of the profiled trials; `null` without one.
    pub run: Option<RunId>,
    /// Differences of the functions' own time on CPU per trial; `null` if they were not compared.
    pub differences: Option<FunctionDifferences>,
    /// Reason why the functions were not compared.
    pub why: Option<String>,
}

/// Definition of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryDefinition {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the metric.
    pub unit: String,
    /// Direction in which the metric is better.
    pub better: Better,
    /// Revision that all points are ratios to.
    pub reference: Commit,
    /// Revisions of the range, oldest first.
    pub revisions: Vec<Commit>,
}

/// Contents of the file with the findings about a history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryFindings {
    /// Version of the file format.
    pub schema_version: u32,
    /// Definition of the history when it was last read together with its repository.
    pub about: Option<HistoryDefinition>,
    /// Changes, in the order in which they became known.
    #[serde(default)]
    pub changes: Vec<KnownChange>,
    /// Commits at which the series starts afresh.
    #[serde(default)]
    pub resets: Vec<String>,
}

impl HistoryFindings {
    /// Returns the latest finding about a change in this series at any of these commits.
    pub fn latest(&self, key: SeriesKey<'_>, commits: &[&str]) -> Option<&KnownChange> {
        let here = |c: &&KnownChange| {
            c.machine.as_deref().is_none_or(|m| m == key.machine)
                && c.benchmark.as_deref() == key.benchmark
        };
        self.changes.iter().rev().filter(here).find(|c| commits.contains(&c.commit.as_str()))
    }

    /// Stores findings about a change, replacing earlier ones about its commit in that series.
    pub fn put(&mut self, change: KnownChange) {
        self.changes.retain(|c| {
            c.commit != change.commit
                || c.benchmark != change.benchmark
                || (c.machine.is_some() && c.machine != change.machine)
        });
        self.changes.push(change);
    }

    /// Adds the results of fresh experiments that are not evaluated yet: runs that were started
    /// from elsewhere, or whose starter was killed before it stored the result. Returns true if
    /// anything changed.
    pub fn learn(&mut self, range: &[Commit], past: &HistoryData) -> bool {
        let before = self.changes.clone();
        for fresh in &past.fresh {
            let known = |c: &KnownChange| {
                c.run.as_ref() == Some(&fresh.run) && c.benchmark == fresh.benchmark
            };
            if self.changes.iter().any(known) {
                continue;
            }
            let key = SeriesKey { machine: &fresh.machine, benchmark: fresh.benchmark.as_deref() };
            for series in past.series.iter().filter(|s| s.key() == key) {
                for mut change in analysis(series, self).changes {
                    let all = commits(range, &series.points, &change);
                    let here = all.contains(&fresh.commit.as_str());
                    if !here && !fresh.spans(range, &all) {
                        continue;
                    }
                    let first = &series.points[change.at].commit;
                    let known = self.latest(key, &all).cloned();
                    change.state = known.as_ref().map_or(ChangeState::Suspected, |t| t.state);
                    let state = match fresh.found.as_ref().map(|found| change.judge(found)) {
                        _ if change.state == ChangeState::Acknowledged => change.state,
                        Some(ChangeState::Confirmed) if !fresh.established => ChangeState::Open,
                        judged => judged.unwrap_or(ChangeState::Open),
                    };
                    let hooked = |k: &KnownChange| k.hooked && k.state == state;
                    self.put(KnownChange {
                        commit: if here { &fresh.commit } else { first }.clone(),
                        machine: Some(series.machine.clone()),
                        benchmark: fresh.benchmark.clone(),
                        hooked: known.as_ref().is_some_and(hooked),
                        state,
                        fresh: fresh.found,
                        run: Some(fresh.run.clone()),
                        note: known.as_ref().and_then(|t| t.note.clone()),
                        link: known.as_ref().and_then(|t| t.link.clone()),
                        functions: known.and_then(|t| t.functions),
                    });
                }
            }
        }
        self.changes != before
    }

    /// Marks the changes that may be at the commit `level` as acknowledged. Returns true if there
    /// is one.
    pub fn acknowledge(
        &mut self,
        range: &[Commit],
        past: &HistoryData,
        level: &str,
        note: Option<&str>,
        link: Option<&str>,
    ) -> bool {
        let mut found = false;
        for series in &past.series {
            for change in analysis(series, self).changes {
                let all = commits(range, &series.points, &change);
                if !all.contains(&level) {
                    continue;
                }
                let known = self.latest(series.key(), &all).cloned();
                let first = series.points[change.at].commit.clone();
                self.put(KnownChange {
                    commit: known.as_ref().map_or(first, |t| t.commit.clone()),
                    machine: Some(series.machine.clone()),
                    benchmark: series.key().benchmark.map(str::to_owned),
                    hooked: known.as_ref().is_some_and(|t| t.hooked),
                    state: ChangeState::Acknowledged,
                    fresh: known.as_ref().and_then(|t| t.fresh),
                    run: known.as_ref().and_then(|t| t.run.clone()),
                    note: note.map(str::to_owned).or(known.as_ref().and_then(|t| t.note.clone())),
                    link: link.map(str::to_owned).or(known.as_ref().and_then(|t| t.link.clone())),
                    functions: known.and_then(|t| t.functions),
                });
                found = true;
            }
        }
        found
    }

    /// Stores the functions that account for a known change. Returns true if the change is known.
    pub fn explain(&mut self, key: SeriesKey<'_>, commits: &[&str], functions: Functions) -> bool {
        let Some(mut change) = self.latest(key, commits).cloned() else { return false };
        change.functions = Some(functions);
        self.put(change);
        true
    }

    /// Starts the series afresh at `level`, or cancels that with `undo`. Returns true if a series
    /// has a point there that is not its first (with `undo`: if it was reset there).
    pub fn reset(&mut self, past: &HistoryData, level: &str, undo: bool) -> bool {
        let known = self.resets.iter().any(|r| r == level);
        if undo {
            self.resets.retain(|r| r != level);
            return known;
        }
        let mut later = past.series.iter().flat_map(|s| s.points.iter().skip(1));
        let can = later.any(|p| p.commit == level);
        if can && !known {
            self.resets.push(level.to_owned());
        }
        can
    }
}

/// Analyses the points separately between the resets.
pub fn analysis(series: &MachineSeries, known: &HistoryFindings) -> SeriesAnalysis {
    let points = &series.points;
    let mut cuts: Vec<usize> = known
        .resets
        .iter()
        .filter_map(|commit| points.iter().position(|p| p.commit == *commit))
        .filter(|at| *at > 0)
        .collect();
    cuts.push(points.len());
    cuts.sort_unstable();
    let mut all: Option<SeriesAnalysis> = None;
    let mut from = 0;
    for to in cuts {
        let values: Vec<f64> = points[from..to].iter().map(|p| p.ratio).collect();
        let errors: Vec<Option<f64>> =
            points[from..to].iter().map(SeriesPoint::normal_error).collect();
        let mut part = analyse_family(&values, &errors, series.family);
        for change in &mut part.changes {
            change.at += from;
            change.place = (change.place.0 + from, change.place.1 + from);
        }
        for slope in &mut part.slopes {
            slope.from += from;
            slope.to += from;
        }
        all = Some(match all {
            None => part,
            Some(mut all) => {
                all.points += part.points;
                all.changes.extend(part.changes);
                all.slopes.extend(part.slopes);
                SeriesAnalysis {
                    changes: all.changes,
                    slopes: all.slopes,
                    points: all.points,
                    ..part
                }
            }
        });
        from = to;
    }
    all.unwrap_or_else(|| analyse_family(&[], &[], 1))
}

/// Returns the levels of all commits at which a change may be, including those between the points.
pub fn commits<'r>(
    range: &'r [Commit],
    points: &[SeriesPoint],
    change: &ChangePoint,
) -> Vec<&'r str> {
    let first = points[change.place.0.max(1) - 1].place + 1;
    let last = points[change.place.1].place;
    range[first..=last.max(first)].iter().map(|r| r.level.as_str()).collect()
}
