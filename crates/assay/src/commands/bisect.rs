//! `assay bisect`: which commit made a program slower. Each look is a run of the good end and some commits in
//! the same blocks; the runs in the archive are the search's state, so that the same command goes on with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use assay_archive::{Archive, Filter};
use assay_history::Functions;
use assay_history::bisect::{Answer, Posterior, Search};
use assay_lab::REV;
use assay_model::{Better, RunId, Stop, units};
use assay_report::history::{functions_markdown, functions_sentence, functions_text};
use assay_revisions::{Merges, Repository, Revision};
use assay_sut::process::Output;
use serde::Serialize;

use super::functions::{Between, between};
use super::open::{kit_paths, open_archive, open_lab};
use super::{experiment, run};
use crate::cli::{Bisect, Cli};
use crate::exit::{Exit, Usage, usage};
use crate::progress::Bar;
use crate::screen::{print, print_json, say, style, write_file};

/// Commits beside the good end in a block.
const COMMITS: usize = 3;
/// Blocks of a look.
const BLOCKS: u32 = 2;
/// The smallest step when nobody gives a margin.
const MARGIN: &str = "2 %";

/// A commit with what is known of it.
#[derive(Debug, Serialize)]
struct Suspect {
    commit: String,
    subject: String,
    author_date: Option<String>,
    probability: f64,
}

/// What a search says, for programs.
#[derive(Debug, Serialize)]
struct Report {
    schema_version: u32,
    /// `commit`, `range`, `none` or `open`.
    answer: &'static str,
    good: String,
    bad: String,
    metric: String,
    commits: usize,
    /// The step as a ratio, worse above 1; `null` unless there is one.
    ratio: Option<f64>,
    /// The answer's commits; more than one when those between could not be measured.
    found: Vec<Suspect>,
    /// The most likely ones.
    likely: Vec<Suspect>,
    probability_of_none: f64,
    trials: usize,
    skipped: Vec<String>,
    runs: Vec<RunId>,
    /// Which functions made the step; `null`: no commit was found, or it was not wanted.
    functions: Option<Functions>,
}

/// The search and the commits that it is about.
struct Hunt {
    good: Revision,
    /// After the good end, oldest first.
    commits: Vec<Revision>,
    search: Search,
    runs: Vec<RunId>,
    trials: usize,
}

/// Searches until a commit has 95 %, none of them is sure, or the budget is over; with `--all` again on both
/// sides of what was found.
pub fn bisect(cli: &Cli, asked: &Bisect) -> Result<Exit> {
    let budget = units::parse_duration(&asked.budget)
        .map_err(|e| Usage(format!("--budget {}: {e}", asked.budget)))?;
    if !asked.what.rev.is_empty() {
        return usage("bisect searches between --good and --bad; leave out --rev");
    }
    let until = Instant::now() + budget;
    let mut open = vec![(asked.good.clone(), asked.bad.clone())];
    let mut reports = Vec::new();
    let mut exit = Exit::Fine;
    while let Some((good, bad)) = open.pop() {
        let Some((report, around)) = search(cli, asked, (&good, &bad), until)? else {
            return Ok(Exit::Interrupted);
        };
        if report.runs.is_empty() && reports.is_empty() {
            exit = Exit::Nothing;
        }
        if !cli.json {
            print(&text(&report))?;
        }
        reports.push(report);
        if asked.all {
            open.extend(around.into_iter().rev());
        }
    }
    match reports.as_slice() {
        [one] if cli.json && !asked.all => print_json(one)?,
        all if cli.json => {
            print_json(&serde_json::json!({ "schema_version": 1, "searches": all }))?;
        }
        _ => {}
    }
    if let Some(path) = &asked.output {
        let text: Vec<String> = reports.iter().map(page).collect();
        write_file(path, text.join("\n"))?;
    }
    Ok(exit)
}

/// Pairs of revisions between which there may be another step.
type Around = Vec<(String, String)>;

/// One search; `None` when it was interrupted.
fn search(
    cli: &Cli,
    asked: &Bisect,
    (good, bad): (&str, &str),
    until: Instant,
) -> Result<Option<(Report, Around)>> {
    let margin = asked.what.margin.as_deref().unwrap_or(MARGIN);
    let margin = assay_lab::parse_margin(margin)
        .ok_or_else(|| Usage(format!("--margin {margin}: write a percentage such as `2 %`")))?;
    let kits = kit_paths()?;
    // Mistakes in the experiment are answered before anything is built.
    let first = experiment::prepare(&look_at(asked, &[good, bad]), &kits)?;
    if let Some(other) = first.plan.factors.iter().find(|f| *f != REV) {
        return usage(format!(
            "a search compares revisions, and `{other}` is a factor too; fix it with --set {other}=LEVEL"
        ));
    }
    let source = first.experiment.source.clone().unwrap_or_default();
    let repo = Repository::open(Path::new(&source.repo)).map_err(assay_lab::LabError::from)?;
    let merges = if asked.first_parent { Merges::AsOne } else { Merges::Followed };
    let commits =
        repo.range(&format!("{good}..{bad}"), 1, merges).map_err(assay_lab::LabError::from)?;
    let start = repo.one(good).map_err(assay_lab::LabError::from)?;
    let metric = first.plan.metric.clone();
    let better = first.plan.workload.metrics.iter().find(|m| m.name == metric).map(|m| m.better);
    let state = Search::new(commits.len(), margin);
    let mut hunt = Hunt { good: start, commits, search: state, runs: Vec::new(), trials: 0 };
    let name = first.experiment.name.clone();
    // What the search is about; a run with it belongs to the search.
    let about = format!(
        "{name} {} {} {metric} {} {:?} {:?} {merges:?}",
        hunt.good.level(),
        hunt.commits.last().map(Revision::level).unwrap_or_default(),
        source.build,
        first.experiment.params,
        first.experiment.controls,
    );
    let tag = format!("bisect-{}", &assay_sut::sha256(about.as_bytes())[..12]);
    let archive = open_archive(cli)?;
    let worse = if better == Some(Better::Higher) { -1.0 } else { 1.0 };
    let mut runs = archive.list(&Filter { tag: Some(tag.clone()), ..Filter::default() })?;
    runs.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    for summary in runs {
        hunt.take_in(&archive, &summary.id, worse)?;
    }
    if !hunt.runs.is_empty() && !asked.quiet {
        say(&format!("going on with {} looks of before", hunt.runs.len()));
    }
    let lab = open_lab(&archive, kits, Output::Keep)?;
    let mut bar = Bar::new(&name, asked.quiet);
    let _lock = run::take_run_lock(true, &lab, &mut bar)?;
    while hunt.search.answer().is_none() && Instant::now() < until {
        let next = hunt.search.next(COMMITS);
        if next.is_empty() {
            break;
        }
        let mut levels = vec![hunt.good.level()];
        levels.extend(next.iter().map(|k| hunt.commits[k - 1].level()));
        let mut what = look_at(asked, &levels);
        what.tag.push(tag.clone());
        let mut prepared = experiment::prepare(&what, &lab.kits)?;
        prepared.experiment.design.stop = Stop::Fixed;
        let ended = lab.run(&prepared, &mut bar)?;
        hunt.take_in(&archive, &ended.id, worse)?;
        if ended.state == assay_model::RunState::Interrupted {
            say("interrupted; the same command continues the search");
            return Ok(None);
        }
        if ended.completed == 0 {
            anyhow::bail!("no trial of a look completed; `assay archive show last` shows why");
        }
        if !asked.quiet {
            say(&standing(&hunt));
        }
    }
    let mut around = Vec::new();
    let mut functions = None;
    if let Some(Answer::Commit { first, last }) = hunt.search.answer() {
        if let Some(like) = hunt.runs.last() {
            let side = |k: usize| match k {
                0 => hunt.good.level(),
                k => hunt.commits[k - 1].level(),
            };
            let step = Between {
                what: &asked.what,
                when: asked.profile,
                before: &side(first - 1),
                after: &side(last),
                tag: Some(format!("{tag}-profile")),
                left: until.saturating_duration_since(Instant::now()),
                like,
            };
            functions = between(&step, &archive, &lab, &mut bar)?;
        }
        if first > 1 {
            around.push((good.to_owned(), hunt.commits[first - 2].level()));
        }
        if last < hunt.commits.len() {
            around.push((hunt.commits[last - 1].level(), bad.to_owned()));
        }
    }
    let report = Report { functions, ..hunt.report((good, bad), &metric) };
    Ok(Some((report, around)))
}

/// What is typed for a look at some revisions.
fn look_at<S: AsRef<str>>(asked: &Bisect, levels: &[S]) -> crate::cli::What {
    let mut what = asked.what.clone();
    what.rev = levels.iter().map(|l| l.as_ref().to_owned()).collect();
    what.margin.get_or_insert_with(|| MARGIN.into());
    what.blocks = what.blocks.or(Some(BLOCKS));
    what
}

impl Hunt {
    /// Takes the blocks of a run into the search, and leaves out what did not build.
    fn take_in(&mut self, archive: &Archive, id: &RunId, worse: f64) -> Result<()> {
        let reader = archive.run(id)?;
        let (plan, records) = (reader.plan()?, reader.records()?);
        let experiment = assay_lab::read_experiment("experiment.toml", &reader.experiment_toml()?)
            .map_err(assay_lab::LabError::from)?;
        let place = |level: &str| {
            if level == self.good.level() {
                return Some(0);
            }
            self.commits.iter().position(|c| c.level() == level).map(|i| i + 1)
        };
        let mut broken: Vec<usize> = Vec::new();
        for pattern in &experiment.design.exclude {
            broken.extend(pattern.get(REV).and_then(|l| place(&l.to_text())));
        }
        let of: BTreeMap<u32, usize> = plan
            .treatments
            .iter()
            .filter_map(|t| Some((t.id, place(&t.levels.get(REV)?.to_text())?)))
            .collect();
        let mut blocks: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
        for record in records.iter().filter(|r| r.counts()) {
            let value = record.metric(&plan.metric).filter(|v| *v > 0.0 && v.is_finite());
            if let (Some(value), Some(k)) = (value, of.get(&record.treatment)) {
                blocks.entry(record.block).or_default().push((*k, worse * value.ln()));
                self.trials += 1;
            }
        }
        // A commit whose every trial failed cannot be measured any more than one that does not build.
        for (treatment, k) in &of {
            let mut its =
                records.iter().filter(|r| r.treatment == *treatment && !r.warmup).peekable();
            if *k > 0 && its.peek().is_some() && its.all(|r| !r.counts()) {
                broken.push(*k);
            }
        }
        for block in blocks.into_values() {
            self.search.see(block);
        }
        for k in broken.into_iter().filter(|k| *k > 0) {
            self.search.skip(k);
        }
        self.runs.push(id.clone());
        Ok(())
    }

    fn suspect(&self, k: usize, posterior: &Posterior) -> Suspect {
        let commit = &self.commits[k - 1];
        Suspect {
            commit: commit.commit.clone().unwrap_or_else(|| commit.level()),
            subject: commit.subject.clone(),
            author_date: commit.author_date.clone(),
            probability: posterior.commits[k - 1],
        }
    }

    fn likely(&self, posterior: &Posterior) -> Vec<usize> {
        let mut order: Vec<usize> = (1..=self.commits.len()).collect();
        order.sort_by(|a, b| posterior.commits[b - 1].total_cmp(&posterior.commits[a - 1]));
        order.retain(|k| posterior.commits[k - 1] >= 0.005);
        order.truncate(8);
        order
    }

    fn report(&self, (good, bad): (&str, &str), metric: &str) -> Report {
        let posterior = self.search.posterior();
        let (answer, found) = match self.search.answer() {
            Some(Answer::None) => ("none", Vec::new()),
            Some(Answer::Commit { first, last }) if first == last => ("commit", vec![first]),
            Some(Answer::Commit { first, last }) => ("range", (first..=last).collect()),
            None => ("open", Vec::new()),
        };
        Report {
            schema_version: 1,
            answer,
            good: good.to_owned(),
            bad: bad.to_owned(),
            metric: metric.to_owned(),
            commits: self.commits.len(),
            ratio: (!found.is_empty())
                .then(|| (posterior.size / (1.0 - posterior.none).max(1e-9)).exp()),
            found: found.iter().map(|k| self.suspect(*k, &posterior)).collect(),
            likely: self.likely(&posterior).iter().map(|k| self.suspect(*k, &posterior)).collect(),
            probability_of_none: posterior.none,
            trials: self.trials,
            skipped: self
                .search
                .skipped
                .iter()
                .map(|k| self.commits[k - 1].label.clone())
                .collect(),
            runs: self.runs.clone(),
            functions: None,
        }
    }
}

/// Where the search stands, in a line.
fn standing(hunt: &Hunt) -> String {
    let posterior = hunt.search.posterior();
    let mut line = format!("{} trials; none {:.0} %", hunt.trials, 100.0 * posterior.none);
    for k in hunt.likely(&posterior).into_iter().take(3) {
        let share = 100.0 * posterior.commits[k - 1];
        let _ = write!(line, ", {} {share:.0} %", hunt.commits[k - 1].label);
    }
    line
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn sentence(report: &Report) -> String {
    let percent = |p: f64| format!("{:.0} %", 100.0 * p.min(0.999));
    let ratio = report.ratio.map_or(String::new(), |r| {
        format!("; {} is worse by {:.1} % from it on", report.metric, 100.0 * (r - 1.0))
    });
    match (report.answer, report.found.as_slice()) {
        ("commit", [one]) => {
            format!(
                "{} \"{}\" ({}){ratio}",
                short(&one.commit),
                one.subject,
                percent(one.probability)
            )
        }
        ("range", [first, .., last]) => format!(
            "one of {} commits from {} to {}, of which only the last can be measured{ratio}",
            report.found.len(),
            short(&first.commit),
            short(&last.commit)
        ),
        ("none", _) => format!(
            "none of the {} commits between {} and {} made a step of the margin or more ({})",
            report.commits,
            short(&report.good),
            short(&report.bad),
            percent(report.probability_of_none)
        ),
        _ => "open: the budget is used up; the same command continues the search".into(),
    }
}

fn text(report: &Report) -> String {
    let mut out = format!("{}\n", crate::screen::wrap(&sentence(report), "", "  "));
    for one in &report.likely {
        let date = one.author_date.as_deref().unwrap_or("unknown").get(..10).unwrap_or("unknown");
        let share = 100.0 * one.probability;
        let _ = writeln!(out, "  {share:5.1} %  {}  {date}  {}", short(&one.commit), one.subject);
    }
    let _ = writeln!(out, "  {:5.1} %  none of them", 100.0 * report.probability_of_none);
    if !report.skipped.is_empty() {
        let all = report.skipped.join(", ");
        let _ = writeln!(
            out,
            "{}",
            crate::screen::wrap(&format!("cannot be measured: {all}"), "  ", "    ")
        );
    }
    let _ = writeln!(out, "  {} trials in {} runs", report.trials, report.runs.len());
    if let Some(functions) = &report.functions {
        let sentence = functions_sentence(functions);
        let _ = writeln!(out, "{}", crate::screen::wrap(&sentence, "", "  "));
        out.push_str(&functions_text(functions, style()));
    }
    out
}

/// The result as a Markdown page.
fn page(report: &Report) -> String {
    let mut out = format!(
        "# Which commit: {}..{}\n\n{}\n\n",
        short(&report.good),
        short(&report.bad),
        sentence(report)
    );
    out.push_str("| probability | commit | author date | subject |\n|---|---|---|---|\n");
    for one in &report.likely {
        let _ = writeln!(
            out,
            "| {:.1} % | `{}` | {} | {} |",
            100.0 * one.probability,
            short(&one.commit),
            one.author_date.as_deref().unwrap_or("unknown"),
            one.subject.replace('|', "\\|"),
        );
    }
    let _ = writeln!(out, "| {:.1} % | none of them | | |\n", 100.0 * report.probability_of_none);
    let runs: Vec<String> = report.runs.iter().map(|r| format!("`{r}`")).collect();
    let _ = writeln!(out, "{} trials, in the runs {}.", report.trials, runs.join(", "));
    if let Some(functions) = &report.functions {
        let words = functions_sentence(functions);
        let _ = writeln!(out, "\n{words}.\n\n{}", functions_markdown(functions).trim());
        if let Some(run) = &functions.run {
            let _ = writeln!(out, "\nProfiled trials: the run `{run}`.");
        }
    }
    out
}
