//! What is known of a history beside its points: what it is of, the states of its changes, notes and resets. The
//! archive keeps it as a file.

use assay_model::{Better, RunId};
use assay_profile::Differences;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Analysis, ChangePoint, Commit, Confirmation, Past, Point, State, analyse_with};

/// The version of the file's format.
pub const KNOWN_VERSION: u32 = 1;

/// What is known of the change at a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The first commit of the new level.
    pub commit: String,
    /// The class of machine whose series has it; `null`: of any.
    #[serde(default)]
    pub machine: Option<String>,
    /// Its state.
    pub state: State,
    /// What the fresh experiment found.
    #[serde(default)]
    pub fresh: Option<Confirmation>,
    /// The run of it.
    #[serde(default)]
    pub run: Option<RunId>,
    /// A person's note.
    #[serde(default)]
    pub note: Option<String>,
    /// Where to read more.
    #[serde(default)]
    pub link: Option<String>,
    /// Which functions made it.
    #[serde(default)]
    pub functions: Option<Functions>,
}

/// Which functions made a difference between two revisions: both run again, profiled, in trials of their own, which
/// are no points and decide nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Functions {
    /// The revision before.
    pub before: String,
    /// The revision after.
    pub after: String,
    /// The run of the profiled trials; `null`: there was none.
    pub run: Option<RunId>,
    /// The functions' own time on CPU a trial; `null`: they were not compared.
    pub differences: Option<Differences>,
    /// Why they were not.
    pub why: Option<String>,
}

/// What a history is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// The experiment's name.
    pub experiment: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The revision that all points are ratios to.
    pub reference: Commit,
    /// The range, oldest first.
    pub revisions: Vec<Commit>,
}

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// The version of its format.
    pub schema_version: u32,
    /// What the history was of when it was last looked at with its repository.
    #[serde(default)]
    pub about: Option<About>,
    /// Changes, in the order in which they became known.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Commits at which the series starts afresh.
    #[serde(default)]
    pub resets: Vec<String>,
}

impl Known {
    /// What is known of a change of this machine's series that may be at any of these commits.
    pub fn of(&self, machine: &str, commits: &[&str]) -> Option<&Change> {
        let here = |c: &&Change| c.machine.as_deref().is_none_or(|m| m == machine);
        self.changes.iter().rev().filter(here).find(|c| commits.contains(&c.commit.as_str()))
    }

    /// Keeps what is known of a change, in place of what was known of its commit on that machine.
    pub fn put(&mut self, change: Change) {
        self.changes.retain(|c| {
            c.commit != change.commit || (c.machine.is_some() && c.machine != change.machine)
        });
        self.changes.push(change);
    }

    /// Takes in what fresh experiments found that nobody has judged yet: a run that was started from elsewhere, or
    /// whose starter was killed before it wrote down the result. Whether anything was learnt.
    pub fn learn(&mut self, range: &[Commit], past: &Past) -> bool {
        let before = self.changes.clone();
        for fresh in &past.fresh {
            if self.changes.iter().any(|c| c.run.as_ref() == Some(&fresh.run)) {
                continue;
            }
            for series in past.series.iter().filter(|s| s.machine == fresh.machine) {
                for mut change in analysis(&series.points, self).changes {
                    let all = commits(range, &series.points, &change);
                    if !all.contains(&fresh.commit.as_str()) {
                        continue;
                    }
                    let known = self.of(&series.machine, &all).cloned();
                    change.state = known.as_ref().map_or(State::Suspected, |t| t.state);
                    let acknowledged = change.state == State::Acknowledged;
                    self.put(Change {
                        commit: fresh.commit.clone(),
                        machine: Some(series.machine.clone()),
                        state: match &fresh.found {
                            _ if acknowledged => State::Acknowledged,
                            Some(found) => change.judge(found),
                            None => State::Open,
                        },
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

    /// Marks the change of `series` that may be at `level` as known to a person; whether there is one.
    pub fn acknowledge(
        &mut self,
        range: &[Commit],
        past: &Past,
        level: &str,
        note: Option<&str>,
        link: Option<&str>,
    ) -> bool {
        let mut found = false;
        for series in &past.series {
            for change in analysis(&series.points, self).changes {
                let all = commits(range, &series.points, &change);
                if !all.contains(&level) {
                    continue;
                }
                let known = self.of(&series.machine, &all).cloned();
                let first = series.points[change.at].commit.clone();
                self.put(Change {
                    commit: known.as_ref().map_or(first, |t| t.commit.clone()),
                    machine: Some(series.machine.clone()),
                    state: State::Acknowledged,
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

    /// Keeps which functions made a change that is known; whether it is.
    pub fn explain(&mut self, machine: &str, commits: &[&str], functions: Functions) -> bool {
        let Some(mut change) = self.of(machine, commits).cloned() else { return false };
        change.functions = Some(functions);
        self.put(change);
        true
    }

    /// Starts the series afresh at `level`, or no longer does so with `undo`; whether a series has a point there that is
    /// not its first (with `undo`: whether it was reset there).
    pub fn reset(&mut self, past: &Past, level: &str, undo: bool) -> bool {
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

/// The analysis of points between the resets.
pub fn analysis(points: &[Point], known: &Known) -> Analysis {
    let mut cuts: Vec<usize> = known
        .resets
        .iter()
        .filter_map(|commit| points.iter().position(|p| p.commit == *commit))
        .filter(|at| *at > 0)
        .collect();
    cuts.push(points.len());
    cuts.sort_unstable();
    let mut all: Option<Analysis> = None;
    let mut from = 0;
    for to in cuts {
        let values: Vec<f64> = points[from..to].iter().map(|p| p.ratio).collect();
        let errors: Vec<Option<f64>> = points[from..to].iter().map(Point::normal_error).collect();
        let mut part = analyse_with(&values, &errors);
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
                Analysis { changes: all.changes, slopes: all.slopes, points: all.points, ..part }
            }
        });
        from = to;
    }
    all.unwrap_or_else(|| analyse_with(&[], &[]))
}

/// The levels of all commits at which a change may be, those between the points included.
pub fn commits<'r>(range: &'r [Commit], points: &[Point], change: &ChangePoint) -> Vec<&'r str> {
    let first = points[change.place.0.max(1) - 1].place + 1;
    let last = points[change.place.1].place;
    range[first..=last.max(first)].iter().map(|r| r.level.as_str()).collect()
}
