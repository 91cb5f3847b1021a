//! `assay history`: shows a metric over revisions as ratios to a reference in the same blocks, with
//! its change points, each suspected until a fresh experiment confirms or refutes it. Fills gaps,
//! and imports series.

pub mod args;
mod confirm;
pub(crate) mod publish;
mod show;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use assay_archive::Archive;
use assay_lab::series::{self, DefinedHistory, StoredFindings};
use assay_lab::{Lab, LabError, REV};
use assay_model::Hooks;
use assay_report::history::{PublishedHistory as Page, markdown, published};
use assay_stats::series::{
    ChangePoint, Commit, HistoryData, HistoryDefinition, HistoryView, ImportedSeries, analysis,
    next_to_measure, quoted,
};
use assay_system::process::Output;
use assay_workloads::readers;

use super::experiment;
use super::open::{kit_paths, open_archive, open_lab};
use crate::arguments::{ExperimentArgs, Global, budget};
use crate::commands::run;
use crate::exit::{Exit, Usage, usage};
use crate::progress::Bar;
use crate::screen::{answer, print, say, write_file};
use args::{History, HistoryImport};

/// Revisions that one run measures along with the reference.
const AT_ONCE: usize = 3;

/// Shows, fills, confirms, acknowledges or imports a history.
pub fn history(global: &Global, asked: &History) -> Result<Exit> {
    if let Some(HistoryImport::Import { files, format, name }) = &asked.import {
        // Earlier versions took the format before the file.
        let (first, files) = match files.as_slice() {
            [first, rest @ ..] if !rest.is_empty() && format.is_none() => {
                let known = first.to_str().and_then(readers::format);
                (known, if known.is_some() { rest } else { files.as_slice() })
            }
            _ => (None, files.as_slice()),
        };
        let read =
            readers::read_series(files, first.or(format.as_deref().and_then(readers::format)))?;
        // A folder may be given as `.`.
        let file = fs::canonicalize(&files[0])?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.clone().unwrap_or(stem);
        let archive = open_archive(global)?;
        let path = imported_path(&archive, &name)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        write_file(&path, serde_json::to_vec_pretty(&read)?)?;
        let points: usize = read.series.iter().map(|s| s.points.len()).sum();
        print(&format!(
            "{} series with {points} points as `{name}`, {} values left out; see them with `assay \
            history --imported {name}`",
            read.series.len(),
            read.excluded
        ))?;
        return Ok(Exit::Fine);
    }
    if let Some(name) = &asked.imported {
        return show_imported(global, asked, name);
    }
    MeasuredHistory::open(global, asked)?.go(global)
}

fn show_imported(global: &Global, asked: &History, name: &str) -> Result<Exit> {
    let archive = open_archive(global)?;
    let path = imported_path(&archive, name)?;
    let text = fs::read_to_string(&path).map_err(|_| {
        Usage(format!("no imported series is called `{name}`; `assay history import` reads them"))
    })?;
    let imported: ImportedSeries =
        serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
    let shown = quoted(&imported);
    answer(global.json, &shown, || show::quoted_text(&shown))?;
    if let Some(path) = &asked.output {
        if !is_html(path) {
            return usage("imported series are written as HTML: -o FILE.html");
        }
        let text = published(name, &[Page::Quoted(name.to_owned(), imported)]);
        write_file(path, text)?;
    }
    Ok(Exit::Fine)
}

fn is_html(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"))
}

fn imported_path(archive: &Archive, name: &str) -> Result<std::path::PathBuf> {
    let bad = || {
        Usage(format!(
            "`{name}` is no name of a series; use letters, digits, `-`, `_` and `.` (--name)"
        ))
    };
    Ok(series::imported_path(archive.path(), name).ok_or_else(bad)?)
}

/// A series of this experiment over this range.
struct MeasuredHistory<'a> {
    asked: &'a History,
    archive: Archive,
    defined: DefinedHistory,
    hooks: Hooks,
}

impl<'a> MeasuredHistory<'a> {
    fn open(global: &Global, asked: &'a History) -> Result<Self> {
        let [range] = asked.what.rev.as_slice() else {
            return usage("name the commits of the series: --rev v1..main");
        };
        let (bare, _) = range.rsplit_once(':').unwrap_or((range, ""));
        let Some((start, end)) = bare.split_once("..") else {
            return usage(format!("--rev {range}: write a range such as v1..main"));
        };
        let end = if end.is_empty() { "HEAD" } else { end };
        let reference = asked.reference.as_deref().unwrap_or(start);
        let prepared = experiment::prepare(&look_at(asked, &[reference, end]), &kit_paths()?)?;
        if let Some(other) = prepared.plan.factors.iter().find(|f| *f != REV) {
            return usage(format!(
                "a series has one treatment: fix the factor `{other}` by --set {other}=LEVEL"
            ));
        }
        let archive = open_archive(global)?;
        let defined = series::define(archive.path(), &prepared, range, reference)?;
        let hooks = prepared.experiment.on;
        Ok(MeasuredHistory { asked, archive, defined, hooks })
    }

    fn range(&self) -> &[Commit] {
        &self.defined.about.revisions
    }

    fn reference(&self) -> &str {
        &self.defined.about.reference.level
    }

    fn past(&self) -> Result<HistoryData> {
        let defined = &self.defined;
        let picked = defined.picked.as_deref();
        let (range, reference) = (self.range(), self.reference());
        let mut past = series::read(&self.archive, &defined.id, range, reference, picked)?;
        let gone = self.defined.repo.missing(&past.outside).map_err(LabError::from)?;
        if !gone.is_empty() {
            past.notes.push(format!(
                "{} that {} measured {} no longer in the repository (was its history rewritten?), \
                and {} left out: {}",
                if gone.len() == 1 { "a commit" } else { "commits" },
                if gone.len() == 1 { "was" } else { "were" },
                if gone.len() == 1 { "is" } else { "are" },
                if gone.len() == 1 { "is" } else { "are" },
                gone.iter().map(|c| assay_report::history::short(c)).collect::<Vec<_>>().join(", "),
            ));
        }
        Ok(past)
    }

    /// Describes other histories of the archive that measured the same commits, for a history
    /// without points.
    fn others(&self) -> Result<Vec<String>> {
        let own = |about: &HistoryDefinition| {
            let commits = self.range().iter().filter(|c| about.revisions.contains(c)).count();
            (commits > 1).then(|| {
                format!(
                    "another history of this archive, `{}` by {}, has {commits} of these commits: \
                    the two differ in workload, metric, parameters, controls or build",
                    about.experiment, about.metric
                )
            })
        };
        let mut found = Vec::new();
        for id in series::histories(self.archive.path()).iter().filter(|i| **i != self.defined.id) {
            found.extend(
                StoredFindings::open(self.archive.path(), id)?.known.about.as_ref().and_then(own),
            );
        }
        Ok(found)
    }

    fn go(&self, global: &Global) -> Result<Exit> {
        let asked = self.asked;
        let mut kept = StoredFindings::open(self.archive.path(), &self.defined.id)?;
        let budget = budget(&asked.budget)?;
        if let Some(name) = &asked.reset {
            let commit = self.defined.repo.one(name).map_err(LabError::from)?.level();
            if !kept.known.reset(&self.past()?, &commit, false) {
                return usage(format!(
                    "the series has no point at {name} after its first; reset it at another"
                ));
            }
            kept.save()?;
        }
        let mut interrupted = false;
        if asked.fill || asked.confirm {
            let lab = open_lab(&self.archive, kit_paths()?, Output::Keep)?;
            let mut bar = Bar::new(&self.defined.about.experiment, asked.quiet);
            let _lock = run::take_run_lock(true, &lab, &mut bar)?;
            let until = Instant::now() + budget;
            if asked.fill {
                interrupted = self.fill(&lab, &mut bar, &kept, until)?;
            }
            if asked.confirm && !interrupted {
                interrupted = self.confirm(&lab, &mut bar, &mut kept, until)?;
                if !interrupted {
                    self.functions(&lab, &mut bar, &mut kept, until)?;
                }
            }
        }
        let mut past = self.past()?;
        if past.series.is_empty() {
            past.notes.extend(self.others()?);
        }
        kept.known.learn(self.range(), &past);
        if let Some(name) = &asked.acknowledge {
            let level = self.defined.repo.one(name).map_err(LabError::from)?.level();
            let (note, link) = (asked.note.as_deref(), asked.link.as_deref());
            if !kept.known.acknowledge(self.range(), &past, &level, note, link) {
                return usage(format!("the series has no change at {name}"));
            }
        }
        self.keep(&mut kept, &past)?;
        let shown =
            assay_stats::series::shown(&self.defined.id, &self.defined.about, &past, &kept.known);
        if asked.confirm && !interrupted {
            for warning in series::call_hooks(&self.hooks, &shown, &mut kept) {
                say(&format!("warning: {warning}"));
            }
        }
        self.write(global, &shown)?;
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

    /// Saves the definition of the series, for pages that are made without the repository. If the
    /// archive cannot be written, the history is only shown.
    fn keep(&self, kept: &mut StoredFindings, past: &HistoryData) -> Result<()> {
        let before = kept.known.clone();
        if past.series.iter().any(|s| !s.points.is_empty()) {
            let about = self.defined.widened(before.about.as_ref(), &past.outside)?;
            kept.known.about = Some(about);
        }
        if kept.known == before && self.asked.acknowledge.is_none() {
            return Ok(());
        }
        match kept.save() {
            Err(e) if self.asked.acknowledge.is_none() => {
                say(&format!("warning: cannot save the state of the series: {e}"));
                Ok(())
            }
            other => Ok(other?),
        }
    }

    fn write(&self, global: &Global, shown: &HistoryView) -> Result<()> {
        answer(global.json, shown, || show::text(shown, self.asked.raw))?;
        if let Some(path) = &self.asked.output {
            let text = if is_html(path) {
                let metric = show::metric(shown);
                let heading = format!("{}: {metric} over revisions", shown.experiment);
                published(&heading, &[Page::Own(shown.clone())])
            } else {
                markdown(shown)
            };
            write_file(path, text)?;
        }
        Ok(())
    }

    /// Measures missing points; returns true if it was interrupted.
    fn fill(
        &self,
        lab: &Lab<'_>,
        bar: &mut Bar,
        kept: &StoredFindings,
        until: Instant,
    ) -> Result<bool> {
        let mut left = self.asked.points.unwrap_or(usize::MAX);
        let range = self.range();
        loop {
            let past = self.past()?;
            let (measured, changes) = match past.series.first() {
                None => (Vec::new(), Vec::new()),
                Some(s) => {
                    let (mut measured, mut changes) = (Vec::new(), Vec::new());
                    for s in past.series.iter().filter(|o| o.machine == s.machine) {
                        measured.extend(s.points.iter().map(|p| p.place));
                        let analysis = analysis(s, &kept.known);
                        let sides =
                            |c: &ChangePoint| (s.points[c.at - 1].place, s.points[c.at].place);
                        changes.extend(analysis.changes.iter().map(sides));
                    }
                    changes.sort_unstable();
                    changes.dedup();
                    (measured, changes)
                }
            };
            // Earlier references come first: without a link to them their points have no value.
            let mut levels = past.unlinked.clone();
            let at_once = AT_ONCE.min(left);
            let next = next_to_measure(range.len(), &measured, &past.unusable, &changes, at_once);
            levels.extend(next.iter().map(|i| range[*i].level.clone()));
            levels.retain(|l| l != self.reference());
            // A reference that is no longer in the repository cannot be linked.
            let gone = self.defined.repo.missing(&levels).map_err(LabError::from)?;
            levels.retain(|l| !gone.contains(l));
            levels.truncate(at_once.max(past.unlinked.len()));
            let own = next.iter().any(|i| range[*i].level == self.reference());
            if (levels.is_empty() && !own) || left == 0 || Instant::now() >= until {
                return Ok(false);
            }
            left = left.saturating_sub(next.len());
            levels.insert(0, self.reference().to_owned());
            if levels.len() == 1 {
                // The reference needs another revision in its blocks to have a value.
                return Ok(false);
            }
            let mut what = look_at(self.asked, &levels);
            what.blocks = what.blocks.or(Some(series::POINT_BLOCKS));
            what.tag.push(series::tag(&self.defined.id));
            let ended = lab.run(&experiment::prepare(&what, &lab.kits)?, bar)?;
            if ended.state == assay_model::RunState::Interrupted {
                return Ok(true);
            }
            if ended.completed == 0 {
                anyhow::bail!("no trial completed; `assay archive show last` shows why");
            }
            if !self.asked.quiet {
                say(&format!("{} of {} revisions are measured", self.measured()?, range.len()));
            }
        }
    }

    fn measured(&self) -> Result<usize> {
        let past = self.past()?;
        let machine = past.series.first().map(|s| s.machine.as_str());
        let own = past.series.iter().filter(|s| Some(s.machine.as_str()) == machine);
        let places: BTreeSet<usize> = own.flat_map(|s| &s.points).map(|p| p.place).collect();
        Ok(places.len())
    }
}

/// Returns the arguments for a run of some revisions; the first is the baseline.
fn look_at<S: AsRef<str>>(asked: &History, levels: &[S]) -> ExperimentArgs {
    let mut what = asked.what.clone();
    what.rev = levels.iter().map(|l| l.as_ref().to_owned()).collect();
    what
}
