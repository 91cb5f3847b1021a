//! `assay history`: a metric over revisions as ratios to a reference in the same blocks, its change points, each
//! suspected until a fresh experiment confirms or refutes it; filling gaps; imported series.

mod import;
mod known;
mod series;
mod show;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use assay_archive::Archive;
use assay_history::{Analysis, ChangePoint, Confirmation, State, analyse, next_to_measure};
use assay_lab::{Lab, LabError, REV};
use assay_model::{Better, units};
use assay_revisions::{Repository, Revision};
use assay_sut::process::Output;

use super::open::{kit_paths, open_archive, open_lab};
use super::{experiment, run};
use crate::cli::{Cli, History, HistoryImport, What};
use crate::exit::{Exit, Usage};
use crate::progress::Bar;
use crate::screen::{print, print_json, say};
use crate::view;
use known::{Change, Known};
use series::{Past, Point};

/// Blocks of a point, unless told.
const BLOCKS: u32 = 6;
/// Revisions that are measured beside the reference in one run.
const AT_ONCE: usize = 3;

/// Shows, fills, confirms, acknowledges, imports.
pub fn history(cli: &Cli, asked: &History) -> Result<Exit> {
    if let Some(HistoryImport::Import { format, file, name }) = &asked.import {
        let read = import::read(*format, file)?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.clone().unwrap_or(stem);
        let archive = open_archive(cli)?;
        let path = imported_path(&archive, &name)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        fs::write(&path, serde_json::to_vec_pretty(&read)?)
            .with_context(|| format!("write {}", path.display()))?;
        let points: usize = read.series.iter().map(|s| s.points.len()).sum();
        print(&format!(
            "{} series with {points} points as `{name}`, {} values left out; see them with `assay history --imported {name}`",
            read.series.len(),
            read.excluded
        ))?;
        return Ok(Exit::Fine);
    }
    if let Some(name) = &asked.imported {
        let archive = open_archive(cli)?;
        let path = imported_path(&archive, name)?;
        let text = fs::read_to_string(&path).map_err(|_| {
            Usage(format!(
                "no imported series is called `{name}`; `assay history import` reads them"
            ))
        })?;
        let imported: import::Imported =
            serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))?;
        let shown = show::quoted(&imported);
        if cli.json {
            print_json(&shown)?;
        } else {
            print(&show::quoted_text(&shown))?;
        }
        return Ok(Exit::Fine);
    }
    Measured::open(cli, asked)?.go(cli)
}

fn imported_path(archive: &Archive, name: &str) -> Result<std::path::PathBuf> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(good) {
        return Err(Usage(format!(
            "`{name}` cannot be the name of a series; use letters, digits, `-`, `_` and `.` (--name)"
        ))
        .into());
    }
    Ok(known::folder(archive.path()).join("imported").join(format!("{name}.json")))
}

/// A series of this experiment over this range.
struct Measured<'a> {
    asked: &'a History,
    archive: Archive,
    /// The start of the range and its commits, oldest first.
    range: Vec<Revision>,
    reference: Revision,
    tag: String,
    name: String,
    metric: String,
    better: Better,
    repo: Repository,
}

impl<'a> Measured<'a> {
    fn open(cli: &Cli, asked: &'a History) -> Result<Self> {
        let [range] = asked.what.rev.as_slice() else {
            return Err(Usage("name the commits of the series: --rev v1..main".into()).into());
        };
        let (bare, _) = range.rsplit_once(':').unwrap_or((range, ""));
        let Some((start, end)) = bare.split_once("..") else {
            return Err(Usage(format!("--rev {range}: write a range such as v1..main")).into());
        };
        let end = if end.is_empty() { "HEAD" } else { end };
        let reference = asked.reference.as_deref().unwrap_or(start);
        let prepared = experiment::prepare(&look_at(asked, &[reference, end]), &kit_paths()?)?;
        if let Some(other) = prepared.plan.factors.iter().find(|f| *f != REV) {
            return Err(Usage(format!(
                "a series is of one treatment, and `{other}` is a factor too; fix it with --set {other}=LEVEL"
            ))
            .into());
        }
        let source = prepared.experiment.source.clone().unwrap_or_default();
        let repo = Repository::open(Path::new(&source.repo)).map_err(LabError::from)?;
        let mut all = vec![repo.one(start).map_err(LabError::from)?];
        let rest = repo.resolve(std::slice::from_ref(range)).map_err(LabError::from)?;
        all.extend(rest);
        let reference = repo.one(reference).map_err(LabError::from)?;
        let metric = prepared.plan.metric.clone();
        let better = prepared.plan.workload.metrics.iter().find(|m| m.name == metric);
        let better = better.map_or(Better::Neither, |m| m.better);
        let e = &prepared.experiment;
        // What a point is of; the range and the reference may change.
        let about = format!("{} {metric} {} {:?} {:?}", e.name, source.build, e.params, e.controls);
        let tag = format!("history-{}", &assay_sut::sha256(about.as_bytes())[..12]);
        let archive = open_archive(cli)?;
        let name = e.name.clone();
        Ok(Measured { asked, archive, range: all, reference, tag, name, metric, better, repo })
    }

    fn past(&self) -> Result<Past> {
        series::read(&self.archive, &self.tag, &self.range, &self.reference.level())
    }

    fn go(&self, cli: &Cli) -> Result<Exit> {
        let asked = self.asked;
        let mut known = Known::open(self.archive.path(), &self.tag)?;
        let budget = units::parse_duration(&asked.budget)
            .map_err(|e| Usage(format!("--budget {}: {e}", asked.budget)))?;
        if let Some(name) = &asked.reset {
            let commit = self.repo.one(name).map_err(LabError::from)?.level();
            if !known.resets.contains(&commit) {
                known.resets.push(commit);
                known.save()?;
            }
        }
        let mut interrupted = false;
        if asked.fill || asked.confirm {
            let lab = open_lab(&self.archive, kit_paths()?, Output::Keep)?;
            let mut bar = Bar::new(&self.name, asked.quiet);
            let _turn = run::take_turn(true, &lab, &mut bar)?;
            let until = Instant::now() + budget;
            if asked.fill {
                interrupted = self.fill(&lab, &mut bar, &known, until)?;
            }
            if asked.confirm && !interrupted {
                interrupted = self.confirm(&lab, &mut bar, &mut known, until)?;
            }
        }
        let past = self.past()?;
        if let Some(name) = &asked.acknowledge {
            self.acknowledge(name, &past, &mut known)?;
        }
        let shown = show::shown(self.head(), &past, &known, self.better);
        if cli.json {
            print_json(&shown)?;
        } else {
            print(&show::text(&shown, asked.raw))?;
        }
        if let Some(path) = &asked.output {
            let html = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"));
            let text = if html { show::html(&shown, self.better) } else { show::page(&shown) };
            fs::write(path, text).with_context(|| format!("write {}", path.display()))?;
        }
        Ok(if interrupted {
            Exit::Interrupted
        } else if shown.series.iter().all(|s| s.points.is_empty()) {
            Exit::Nothing
        } else if shown.alarms() > 0 {
            Exit::Worse
        } else {
            Exit::Fine
        })
    }

    fn head(&self) -> show::Head<'_> {
        show::Head {
            experiment: &self.name,
            metric: &self.metric,
            reference: &self.reference,
            range: &self.range,
        }
    }

    /// Measures what is missing; whether it was interrupted.
    fn fill(&self, lab: &Lab<'_>, bar: &mut Bar, known: &Known, until: Instant) -> Result<bool> {
        let mut left = self.asked.points.unwrap_or(usize::MAX);
        loop {
            let past = self.past()?;
            let (measured, changes) = match past.series.first() {
                None => (Vec::new(), Vec::new()),
                Some(s) => {
                    let places: Vec<usize> = s.points.iter().map(|p| p.place).collect();
                    let analysis = analysis(&s.points, known);
                    let sides = |c: &ChangePoint| (places[c.at - 1], places[c.at]);
                    (places.clone(), analysis.changes.iter().map(sides).collect())
                }
            };
            // References of before come first: without a link their points say nothing.
            let mut levels = past.unlinked.clone();
            let at_once = AT_ONCE.min(left);
            let next =
                next_to_measure(self.range.len(), &measured, &past.unusable, &changes, at_once);
            levels.extend(next.iter().map(|i| self.range[*i].level()));
            levels.retain(|l| *l != self.reference.level());
            levels.truncate(at_once.max(past.unlinked.len()));
            let own = next.iter().any(|i| self.range[*i].level() == self.reference.level());
            if (levels.is_empty() && !own) || left == 0 || Instant::now() >= until {
                return Ok(false);
            }
            left = left.saturating_sub(next.len());
            levels.insert(0, self.reference.level());
            if levels.len() == 1 {
                // The reference has a value beside any other revision.
                return Ok(false);
            }
            let mut what = look_at(self.asked, &levels);
            what.blocks = what.blocks.or(Some(BLOCKS));
            what.tag.push(self.tag.clone());
            let ended = lab.run(&experiment::prepare(&what, &lab.kits)?, bar)?;
            if ended.state == assay_model::RunState::Interrupted {
                return Ok(true);
            }
            if ended.completed == 0 {
                anyhow::bail!("no trial completed; `assay archive show last` says why");
            }
            if !self.asked.quiet {
                say(&format!(
                    "{} of {} revisions are measured",
                    self.measured()?,
                    self.range.len()
                ));
            }
        }
    }

    fn measured(&self) -> Result<usize> {
        Ok(self.past()?.series.iter().map(|s| s.points.len()).sum())
    }

    /// Confirms what is suspected or open, by an experiment of the revisions on both sides.
    fn confirm(
        &self,
        lab: &Lab<'_>,
        bar: &mut Bar,
        known: &mut Known,
        until: Instant,
    ) -> Result<bool> {
        let past = self.past()?;
        for series in &past.series {
            for mut change in analysis(&series.points, known).changes {
                let (before, after) = (&series.points[change.at - 1], &series.points[change.at]);
                let told = known.of(&commits(&self.range, &series.points, &change)).cloned();
                change.state = told.as_ref().map_or(State::Suspected, |k| k.state);
                let decided = !matches!(change.state, State::Suspected | State::Open);
                let left = until.saturating_duration_since(Instant::now());
                if decided || left < Duration::from_secs(1) {
                    continue;
                }
                let mut what = look_at(self.asked, &[&before.commit, &after.commit]);
                what.blocks = None;
                what.until_clear = true;
                what.max_time = Some(format!("{} s", left.as_secs()));
                what.tag.push(format!("{}-confirm", self.tag));
                let prepared = experiment::prepare(&what, &lab.kits)?;
                let ended = lab.run(&prepared, bar)?;
                if ended.state == assay_model::RunState::Interrupted {
                    return Ok(true);
                }
                let view = view::load(&self.archive, &ended.id)?;
                let found = view.analysis.comparisons.first();
                let fresh = found
                    .and_then(|c| Some(Confirmation { ratio: c.ratio?, interval: c.interval? }));
                known.put(Change {
                    commit: after.commit.clone(),
                    state: fresh.map_or(State::Open, |f| change.judge(&f)),
                    fresh,
                    run: Some(ended.id),
                    note: told.as_ref().and_then(|k| k.note.clone()),
                    link: told.and_then(|k| k.link),
                });
                known.save()?;
            }
        }
        Ok(false)
    }

    fn acknowledge(&self, name: &str, past: &Past, known: &mut Known) -> Result<()> {
        let level = self.repo.one(name).map_err(LabError::from)?.level();
        let found = past.series.iter().find_map(|s| {
            let changes = analysis(&s.points, known).changes;
            let change = changes.iter().find_map(|c| {
                let all = commits(&self.range, &s.points, c);
                all.contains(&level.as_str()).then(|| (s.points[c.at].commit.clone(), all))
            })?;
            Some((change.0, known.of(&change.1).cloned()))
        });
        let Some((commit, told)) = found else {
            return Err(Usage(format!("the series has no change at {name}")).into());
        };
        known.put(Change {
            commit: told.as_ref().map_or(commit, |k| k.commit.clone()),
            state: State::Acknowledged,
            fresh: told.as_ref().and_then(|k| k.fresh),
            run: told.as_ref().and_then(|k| k.run.clone()),
            note: self.asked.note.clone().or(told.as_ref().and_then(|k| k.note.clone())),
            link: self.asked.link.clone().or(told.and_then(|k| k.link)),
        });
        known.save()
    }
}

/// What is typed for a run of some revisions; the first is the baseline.
fn look_at<S: AsRef<str>>(asked: &History, levels: &[S]) -> What {
    let mut what = asked.what.clone();
    what.rev = levels.iter().map(|l| l.as_ref().to_owned()).collect();
    what.metric.clone_from(&asked.metric);
    what
}

/// The analysis of points between the resets.
fn analysis(points: &[Point], known: &Known) -> Analysis {
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
        let mut part = analyse(&values);
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
                Analysis { sd: part.sd, correlation: part.correlation, ..all }
            }
        });
        from = to;
    }
    all.unwrap_or_else(|| analyse(&[]))
}

/// The levels of all commits at which a change may be, those between the points included.
fn commits<'r>(range: &'r [Revision], points: &[Point], change: &ChangePoint) -> Vec<&'r str> {
    let first = points[change.place.0.max(1) - 1].place + 1;
    let last = points[change.place.1].place;
    range[first..=last.max(first)].iter().filter_map(|r| r.commit.as_deref()).collect()
}
