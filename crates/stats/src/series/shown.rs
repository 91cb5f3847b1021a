//! A history in the form that every output shows: its points, its changes with their commits and
//! states, and notes on data that was left out.

use assay_model::Better;
use schemars::JsonSchema;
use serde::Serialize;

use crate::series::known::{HistoryDefinition, HistoryFindings, KnownChange, analysis, commits};
use crate::series::together::{ChangedSeries, CommonMove, together};
use crate::series::{
    BenchmarkGap, ChangePoint, ChangeState, Commit, HistoryData, SeriesKey, SeriesPoint, Slope,
};

/// A history with its series and changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryView {
    /// Version of the format.
    pub schema_version: u32,
    /// Permanent id of the history, which depends on its experiment, metric, build, parameters and
    /// controls.
    pub id: String,
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the metric.
    pub unit: String,
    /// Direction in which the metric is better.
    pub better: Better,
    /// Revision that all points are ratios to.
    pub reference: String,
    /// Number of revisions in the range.
    pub revisions: usize,
    /// Places where most series of a suite move at once.
    pub together: Vec<CommonMove>,
    /// One series for each class of machine; for a suite, one for each of its benchmarks, the
    /// largest change for the worse first.
    pub series: Vec<SeriesView>,
    /// Benchmarks of a suite that some of the measured revisions lack.
    pub gaps: Vec<BenchmarkGap>,
    /// Commits at which the series start afresh: earlier points are not compared with later ones.
    pub resets: Vec<String>,
    /// Revisions that do not build or whose trials fail.
    pub unusable: Vec<String>,
    /// Sentences about data that was left out.
    pub notes: Vec<String>,
}

/// Series of one class of machine.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SeriesView {
    /// Class of machine: model of the processors and number of CPUs.
    pub machine: String,
    /// Benchmark of a suite; `null` for the history's metric.
    pub benchmark: Option<String>,
    /// Unit of the values.
    pub unit: String,
    /// Direction in which the series is better.
    pub better: Better,
    /// Points in the order of the range.
    pub points: Vec<SeriesPoint>,
    /// Changes of level in the series.
    pub changes: Vec<ChangeView>,
    /// Stretches in which the level moves slowly.
    pub slopes: Vec<Slope>,
    /// Robust standard deviation of the ratios around their levels, as a share of these.
    pub sd: f64,
    /// Step in the middle that 95 of 100 series with this length and noise would show, as a share
    /// of the level. For fewer than six points, the step that six points would show; `null` below
    /// two points.
    pub visible: Option<f64>,
    /// Correlation of neighbouring points (lag 1).
    pub correlation: f64,
}

/// A change with its commits and the findings about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangeView {
    /// First measured commit of the new level.
    pub commit: String,
    /// Last measured commit of the old level.
    pub before: String,
    /// First line of the message of `commit`.
    pub subject: String,
    /// All commits at which the change may be (95 %).
    pub commits: Vec<String>,
    /// True if the new level is worse; `null` if the metric has no better direction.
    pub worse: Option<bool>,
    /// True if the change is part of a move of most series.
    pub together: bool,
    /// Place and size of the change.
    pub change: ChangePoint,
    /// Findings about the change in addition to the series.
    pub known: Option<KnownChange>,
}

impl ChangeView {
    /// Returns true if a fresh experiment could still decide the change.
    pub fn is_undecided(&self) -> bool {
        matches!(self.change.state, ChangeState::Suspected | ChangeState::Open)
    }
}

impl SeriesView {
    /// Returns the identity of the series.
    pub fn key(&self) -> SeriesKey<'_> {
        SeriesKey { machine: &self.machine, benchmark: self.benchmark.as_deref() }
    }

    /// Returns the name of the benchmark, or `metric` if the series is of the history's metric.
    pub fn name<'a>(&'a self, metric: &'a str) -> &'a str {
        self.benchmark.as_deref().unwrap_or(metric)
    }

    /// Returns the size of the worst change, for sorting: negative if all are for the better.
    fn severity(&self) -> f64 {
        let size = |c: &ChangeView| match (c.change.ratio.unwrap_or(1.0).ln().abs(), c.worse) {
            _ if c.change.state == ChangeState::Refuted => f64::MIN,
            (log, Some(false)) => -log,
            (log, _) => log,
        };
        self.changes.iter().map(size).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl HistoryView {
    /// Returns true if a class of machine has several series.
    pub fn is_suite(&self) -> bool {
        self.series
            .iter()
            .any(|s| self.series.iter().filter(|o| o.machine == s.machine).count() > 1)
    }

    /// Counts the confirmed changes for the worse that nobody acknowledged.
    pub fn alarms(&self) -> usize {
        let all = self.series.iter().flat_map(|s| &s.changes);
        all.filter(|c| c.change.state.alarms() && c.worse != Some(false)).count()
    }
}

/// Combines the points of a history with the findings about its changes.
pub fn shown(
    id: &str,
    about: &HistoryDefinition,
    past: &HistoryData,
    known: &HistoryFindings,
) -> HistoryView {
    let range = &about.revisions;
    let series = past.series.iter().map(|s| {
        let found = analysis(s, known);
        let better = s.benchmark.as_ref().map_or(about.better, |b| b.better);
        let changes = found.changes.into_iter().map(|mut change| {
            let all = commits(range, &s.points, &change);
            let state = known.latest(s.key(), &all).cloned();
            change.state = state.as_ref().map_or(ChangeState::Suspected, |k| k.state);
            let up = change.after > change.before;
            ChangeView {
                commit: s.points[change.at].commit.clone(),
                before: s.points[change.at - 1].commit.clone(),
                subject: s.points[change.at].subject.clone(),
                commits: all.iter().map(|c| (*c).to_owned()).collect(),
                worse: match better {
                    Better::Lower => Some(up),
                    Better::Higher => Some(!up),
                    Better::Neither => None,
                },
                together: false,
                change,
                known: state,
            }
        });
        SeriesView {
            machine: s.machine.clone(),
            benchmark: s.benchmark.as_ref().map(|b| b.name.clone()),
            unit: s.benchmark.as_ref().map_or(&about.unit, |b| &b.unit).clone(),
            better,
            changes: changes.collect(),
            points: s.points.clone(),
            slopes: found.slopes,
            sd: found.sd,
            visible: found.visible,
            correlation: found.correlation,
        }
    });
    let mut series: Vec<SeriesView> = series.collect();
    let together = common_moves(&mut series);
    if past.series.iter().any(|s| s.family > 1) {
        series.sort_by(|a, b| b.severity().total_cmp(&a.severity()));
    }
    HistoryView {
        schema_version: 1,
        id: id.to_owned(),
        experiment: about.experiment.clone(),
        metric: about.metric.clone(),
        unit: about.unit.clone(),
        better: about.better,
        reference: about.reference.label.clone(),
        revisions: range.len(),
        together,
        series,
        gaps: past.gaps.clone(),
        unusable: past.unusable.iter().map(|i| range[*i].label.clone()).collect(),
        notes: past
            .notes
            .iter()
            .cloned()
            .chain(known.resets.iter().map(|r| afresh(range, r)))
            .collect(),
        resets: known.resets.clone(),
    }
}

/// Finds the places where most series of a class of machine move, and marks the changes there.
fn common_moves(all: &mut [SeriesView]) -> Vec<CommonMove> {
    let mut machines: Vec<String> = all.iter().map(|s| s.machine.clone()).collect();
    machines.sort();
    machines.dedup();
    let mut moves = Vec::new();
    for machine in machines {
        let own = || all.iter().filter(|s| s.machine == machine);
        let changed: Vec<ChangedSeries<'_>> = own().map(changed).collect();
        let found = together(&changed);
        let parts = changed.iter().flat_map(|s| {
            s.changes.iter().map(|c| found.iter().any(|m| s.is_part_of(m, c))).collect::<Vec<_>>()
        });
        let parts: Vec<bool> = parts.collect();
        let changes = all.iter_mut().filter(|s| s.machine == machine).flat_map(|s| &mut s.changes);
        for (change, part) in changes.zip(parts) {
            change.together = part;
        }
        moves.extend(found.into_iter().map(|m| CommonMove { machine: Some(machine.clone()), ..m }));
    }
    moves
}

fn changed(series: &SeriesView) -> ChangedSeries<'_> {
    let places =
        series.points.iter().map(|p| (p.author_date.as_deref().unwrap_or(""), p.commit.as_str()));
    ChangedSeries {
        places: places.collect(),
        values: series.points.iter().map(|p| p.ratio).collect(),
        relative: true,
        changes: series.changes.iter().map(|c| &c.change).collect(),
    }
}

/// Formats a reset as a sentence.
fn afresh(range: &[Commit], reset: &str) -> String {
    match range.iter().find(|c| c.level == reset) {
        Some(c) => format!(
            "the series starts afresh at {} ({}): earlier points are not compared with later ones",
            c.label, c.subject
        ),
        None => format!("the series starts afresh at {reset}, which is not in this range"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Confirmation, FreshResult, MachineSeries, SuiteBenchmark};
    use assay_model::{Interval, RunId};

    const MACHINE: &str = "a machine";

    fn history() -> (HistoryDefinition, HistoryData) {
        let commit = |n: usize| Commit {
            level: format!("{n:040}"),
            label: format!("c{n}"),
            subject: format!("change {n}"),
            author_date: None,
        };
        let revisions: Vec<Commit> = (0..24).map(commit).collect();
        let points = revisions.iter().enumerate().map(|(place, c)| SeriesPoint {
            place,
            commit: c.level.clone(),
            label: c.label.clone(),
            subject: c.subject.clone(),
            author_date: None,
            ratio: if place < 12 { 1.0 } else { 1.2 } + (place * 7 % 5) as f64 * 0.001,
            log_error: Some(0.002),
            value: 1.0,
            blocks: 6,
            reference: revisions[0].level.clone(),
            runs: Vec::new(),
        });
        let points = points.collect();
        let past = HistoryData {
            series: vec![MachineSeries {
                machine: MACHINE.into(),
                benchmark: None,
                family: 1,
                points,
            }],
            ..HistoryData::default()
        };
        let about = HistoryDefinition {
            experiment: "prog".into(),
            metric: "elapsed".into(),
            unit: "s".into(),
            better: Better::Lower,
            reference: revisions[0].clone(),
            revisions,
        };
        (about, past)
    }

    fn fresh(run: &str, machine: &str, low: f64, high: f64) -> FreshResult {
        FreshResult {
            run: RunId::try_from(run.to_owned()).unwrap(),
            machine: machine.into(),
            before: format!("{:040}", 11),
            commit: format!("{:040}", 12),
            benchmark: None,
            established: true,
            found: Some(Confirmation {
                ratio: (low * high).sqrt(),
                interval: Interval { low, high, level: 0.95 },
            }),
        }
    }

    #[test]
    fn a_run_from_elsewhere_decides_and_the_newest_counts() {
        let (about, mut past) = history();
        let mut known = HistoryFindings::default();
        assert!(!known.learn(&about.revisions, &past));
        let state = |known: &HistoryFindings, past: &HistoryData| {
            shown("x", &about, past, known).series[0].changes[0].change.state
        };
        assert_eq!(state(&known, &past), ChangeState::Suspected);
        past.fresh = vec![
            fresh("20260101-000000-0001", MACHINE, 0.9, 1.3),
            fresh("20260102-000000-0002", MACHINE, 1.15, 1.25),
            // A result of another machine does not affect this series.
            fresh("20260103-000000-0003", "another", 0.99, 1.01),
        ];
        assert!(known.learn(&about.revisions, &past));
        assert_eq!(state(&known, &past), ChangeState::Confirmed);
        assert_eq!(shown("x", &about, &past, &known).alarms(), 1);
        // Results that are already stored change nothing when they are read again.
        let before = known.clone();
        known.learn(&about.revisions, &past);
        assert_eq!(known.changes, before.changes);
        let level = format!("{:040}", 12);
        assert!(known.acknowledge(&about.revisions, &past, &level, Some("wanted"), None));
        past.fresh.push(fresh("20260104-000000-0004", MACHINE, 1.1, 1.3));
        known.learn(&about.revisions, &past);
        assert_eq!(state(&known, &past), ChangeState::Acknowledged, "a person's word stays");
        assert_eq!(shown("x", &about, &past, &known).alarms(), 0);
        let last = known.changes.last().unwrap();
        assert_eq!(last.note.as_deref(), Some("wanted"));
        assert!(!known.acknowledge(&about.revisions, &past, &format!("{:040}", 3), None, None));
    }

    #[test]
    fn a_fresh_experiment_around_a_place_decides_each_benchmark_there() {
        let (about, mut past) = history();
        let benchmark = |name: &str| {
            Some(SuiteBenchmark { name: name.into(), unit: "s".into(), better: Better::Lower })
        };
        let points = past.series.remove(0).points;
        for name in ["a", "b"] {
            let (benchmark, points) = (benchmark(name), points.clone());
            past.series.push(MachineSeries {
                machine: MACHINE.into(),
                benchmark,
                family: 2,
                points,
            });
        }
        let wide = |name: &str, established| FreshResult {
            before: format!("{:040}", 9),
            commit: format!("{:040}", 15),
            benchmark: Some(name.into()),
            established,
            ..fresh("20260101-000000-0001", MACHINE, 1.15, 1.25)
        };
        past.fresh = vec![wide("a", true), wide("b", false)];
        let mut known = HistoryFindings::default();
        assert!(known.learn(&about.revisions, &past));
        let view = shown("x", &about, &past, &known);
        let state = |name: &str| {
            let of = view.series.iter().find(|s| s.benchmark.as_deref() == Some(name));
            of.unwrap().changes[0].change.state
        };
        assert_eq!((state("a"), state("b")), (ChangeState::Confirmed, ChangeState::Open));
        assert_eq!(view.alarms(), 1);
    }

    #[test]
    fn a_reset_ends_the_change_is_stated_and_can_be_taken_back() {
        let (about, past) = history();
        let mut known = HistoryFindings::default();
        let level = |n: usize| format!("{n:040}");
        // Nothing lies before the first point, and the other commit has no point.
        assert!(!known.reset(&past, &level(0), false) && !known.reset(&past, "elsewhere", false));
        assert!(!known.reset(&past, &level(12), true), "it was not reset there");
        assert!(known.reset(&past, &level(12), false) && known.reset(&past, &level(12), false));
        let reset = shown("x", &about, &past, &known);
        assert_eq!((reset.resets.len(), reset.series[0].changes.len()), (1, 0));
        assert!(reset.notes[0].contains("afresh at c12 (change 12)"), "{:?}", reset.notes);
        assert!(known.reset(&past, &level(12), true));
        let back = shown("x", &about, &past, &known);
        assert_eq!((back.resets.len(), back.series[0].changes.len(), back.notes.len()), (0, 1, 0));
    }
}
