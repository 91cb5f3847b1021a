//! `assay bisect`: finds the commit that made a program slower. Each look is a run of the good end
//! and some commits in the same blocks. The runs in the archive are the state of the search, so the
//! same command continues it.

pub mod args;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use assay_archive::Archive;
use assay_lab::REV;
use assay_model::nouns::count;
use assay_model::{Better, Interval, RunId, Stop, units};
use assay_report::history::{functions_markdown, functions_sentence, functions_text};
use assay_stats::series::Functions;
use assay_stats::series::bisect::{FoundStep, Posterior, Search, SearchScope};
use assay_system::process::Output;
use assay_system::revisions::{Merges, Repository, Revision};
use serde::Serialize;

use crate::arguments::{Global, budget};
use crate::commands::functions::{ComparedRevisions, between};
use crate::commands::open::{kit_paths, open_archive, open_lab};
use crate::commands::{experiment, run};
use crate::exit::{Exit, Usage, usage};
use crate::progress::Bar;
use crate::screen::{say, style, write_file};
use args::Bisect;

/// Commits per block, without the good end.
const COMMITS: usize = 3;
/// Blocks of one look.
const BLOCKS: u32 = 2;
/// Smallest step of the search if `--margin` is not given.
const MARGIN: &str = "2 %";

/// A commit, with its probability of being a step.
#[derive(Debug, Serialize)]
struct Suspect {
    commit: String,
    subject: String,
    author_date: Option<String>,
    probability: f64,
}

/// A measured ratio; above 1 is worse.
#[derive(Debug, Clone, Copy, Serialize)]
struct Size {
    ratio: f64,
    interval: Interval,
}

/// A step that the search found.
#[derive(Debug, Serialize)]
struct BisectedStep {
    /// The commits that may be the step: more than one if those before the last could not be
    /// measured.
    commits: Vec<Suspect>,
    /// Ratio of the last commit to the commit before the first; `null` if there are too few trials.
    size: Option<Size>,
    /// Functions that cause the step; `null` if profiling was not wanted.
    functions: Option<Functions>,
}

/// Result of a search, for `--json`.
#[derive(Debug, Serialize)]
struct BisectReport {
    schema_version: u32,
    /// `commit`, `range`, `commits`, `none` or `open`.
    answer: &'static str,
    good: String,
    bad: String,
    metric: String,
    commits: usize,
    /// True if every step was searched for, not only the first.
    all: bool,
    /// Steps, oldest first; in an open search for all steps, those known so far.
    steps: Vec<BisectedStep>,
    /// Ratio of the bad end to the good end; `null` if unknown.
    ends: Option<Size>,
    /// Part of `ends` that the steps do not explain; `null` if it is within the margin or unknown.
    remains: Option<Size>,
    /// Most likely commits, with their probabilities.
    likely: Vec<Suspect>,
    probability_of_none: f64,
    trials: usize,
    /// Number of commits without a trial that could have one.
    unmeasured: usize,
    skipped: Vec<String>,
    runs: Vec<RunId>,
}

/// A search and its commits.
struct BisectSearch {
    /// The good end and the commits after it, oldest first.
    revisions: Vec<Revision>,
    search: Search,
    runs: Vec<RunId>,
    trials: usize,
}

/// Searches until a commit has a probability of 95 %, or it is that certain that there is no step,
/// or the budget is used up. With `--all`, continues until another step is unlikely.
pub fn bisect(global: &Global, asked: &Bisect) -> Result<Exit> {
    let budget = budget(&asked.budget)?;
    if !asked.what.rev.is_empty() {
        return usage("bisect searches between --good and --bad; leave out --rev");
    }
    if asked.what.builds.is_some() {
        return usage("bisect builds each commit once; check its result by gate --builds N");
    }
    let until = Instant::now() + budget;
    let Some(report) = search(global, asked, until)? else { return Ok(Exit::Interrupted) };
    crate::screen::answer(global.json, &report, || text(&report))?;
    if let Some(path) = &asked.output {
        write_file(path, page(&report))?;
    }
    Ok(if report.runs.is_empty() { Exit::Nothing } else { Exit::Fine })
}

/// Runs the search; returns `None` if it was interrupted.
fn search(global: &Global, asked: &Bisect, until: Instant) -> Result<Option<BisectReport>> {
    let (good, bad) = (asked.good.as_str(), asked.bad.as_str());
    let margin = asked.what.margin.as_deref().unwrap_or(MARGIN);
    let margin = assay_lab::parse_margin(margin)
        .ok_or_else(|| Usage(format!("--margin {margin}: write a percentage such as `2 %`")))?;
    let kits = kit_paths()?;
    // Mistakes in the experiment are reported before anything is built.
    let first = experiment::prepare(&look_at(asked, &[good, bad]), &kits)?;
    if let Some(other) = first.plan.factors.iter().find(|f| *f != REV) {
        return usage(format!(
            "bisect compares revisions, not `{other}` too; fix it with --set {other}=LEVEL"
        ));
    }
    let source = first.experiment.source.clone().unwrap_or_default();
    let repo = Repository::open(Path::new(&source.repo)).map_err(assay_lab::LabError::from)?;
    let merges = if asked.first_parent { Merges::AsOne } else { Merges::Followed };
    let mut revisions = vec![repo.one(good).map_err(assay_lab::LabError::from)?];
    revisions.extend(
        repo.range(&format!("{good}..{bad}"), 1, merges).map_err(assay_lab::LabError::from)?,
    );
    let metric = first.plan.metric.clone();
    let better = first.plan.workload.metrics.iter().find(|m| m.name == metric).map(|m| m.better);
    let scope = if asked.all { SearchScope::All } else { SearchScope::First };
    let state = Search::new(revisions.len() - 1, margin, scope);
    let mut hunt = BisectSearch { revisions, search: state, runs: Vec::new(), trials: 0 };
    let name = first.experiment.name.clone();
    // Identifies the search; a run with this tag belongs to it.
    let about = format!(
        "{name} {} {} {metric} {} {:?} {:?} {merges:?}",
        hunt.revisions[0].level(),
        hunt.level(hunt.search.commits),
        source.build,
        first.experiment.params,
        first.experiment.controls,
    );
    let tag = format!("bisect-{}", &assay_system::sha256(about.as_bytes())[..12]);
    let archive = open_archive(global)?;
    let worse = if better == Some(Better::Higher) { -1.0 } else { 1.0 };
    let tagged = assay_archive::Search { tag: Some(tag.clone()), ..Default::default() };
    let mut runs = archive.list(&tagged)?;
    runs.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    for summary in runs {
        hunt.take_in(&archive, &summary.id, worse)?;
    }
    if !hunt.runs.is_empty() && !asked.quiet {
        say(&format!("continuing after {} earlier rounds", hunt.runs.len()));
    }
    let lab = open_lab(&archive, kits, Output::Keep)?;
    let mut bar = Bar::new(&name, asked.quiet);
    let _lock = run::take_run_lock(true, &lab, &mut bar)?;
    let mut known = hunt.search.posterior();
    while hunt.search.answer(&known).is_none() && Instant::now() < until {
        let next = hunt.search.next(&known, COMMITS);
        if next.is_empty() {
            break;
        }
        let levels: Vec<String> = [0].iter().chain(&next).map(|k| hunt.level(*k)).collect();
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
            anyhow::bail!("no trial of the round completed; `assay archive show last` shows why");
        }
        known = hunt.search.posterior();
        if !asked.quiet {
            say(&hunt.standing(&known));
        }
    }
    let mut report = hunt.report(asked, &metric, &known, first.experiment.compare.confidence);
    for (found, step) in report.steps.iter_mut().zip(hunt.steps(&known)) {
        let Some(like) = hunt.runs.last() else { break };
        let sides = ComparedRevisions {
            what: &asked.what,
            when: asked.profile,
            before: &hunt.level(step.first - 1),
            after: &hunt.level(step.last),
            tag: Some(format!("{tag}-profile")),
            left: until.saturating_duration_since(Instant::now()),
            like,
        };
        found.functions = between(&sides, &archive, &lab, &mut bar)?;
    }
    Ok(Some(report))
}

/// Returns the arguments for a look at some revisions.
fn look_at<S: AsRef<str>>(asked: &Bisect, levels: &[S]) -> crate::arguments::ExperimentArgs {
    let mut what = asked.what.clone();
    what.rev = levels.iter().map(|l| l.as_ref().to_owned()).collect();
    what.margin.get_or_insert_with(|| MARGIN.into());
    what.blocks = what.blocks.or(Some(BLOCKS));
    what
}

impl BisectSearch {
    fn level(&self, k: usize) -> String {
        self.revisions[k].level()
    }

    /// Adds the blocks of a run to the search, and excludes commits that did not build.
    fn take_in(&mut self, archive: &Archive, id: &RunId, worse: f64) -> Result<()> {
        let reader = archive.run(id)?;
        let (plan, records) = (reader.plan()?, reader.records()?);
        let experiment = assay_lab::read_experiment("experiment.toml", &reader.experiment_toml()?)
            .map_err(assay_lab::LabError::from)?;
        let place = |level: &str| self.revisions.iter().position(|r| r.level() == level);
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
        // A commit whose trials all failed cannot be measured, like one that does not build.
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
        let commit = &self.revisions[k];
        Suspect {
            commit: commit.commit.clone().unwrap_or_else(|| commit.level()),
            subject: commit.subject.clone(),
            author_date: commit.author_date.clone(),
            probability: posterior.commits[k - 1],
        }
    }

    fn likely(&self, posterior: &Posterior) -> Vec<usize> {
        let mut order: Vec<usize> = (1..=self.search.commits).collect();
        order.sort_by(|a, b| posterior.commits[b - 1].total_cmp(&posterior.commits[a - 1]));
        order.retain(|k| posterior.commits[k - 1] >= 0.005);
        order.truncate(8);
        order
    }

    /// Returns the steps that answer the search, or those known so far.
    fn steps(&self, known: &Posterior) -> Vec<FoundStep> {
        self.search.answer(known).unwrap_or_else(|| self.search.steps(known))
    }

    fn report(&self, asked: &Bisect, metric: &str, known: &Posterior, level: f64) -> BisectReport {
        let size = |contrast: &[(usize, f64)]| {
            let estimate = self.search.difference(contrast)?;
            let interval = estimate.interval(level)?;
            let [low, high] = [interval.low, interval.high].map(f64::exp);
            Some(Size { ratio: estimate.value.exp(), interval: Interval { low, high, level } })
        };
        let steps = self.steps(known);
        let answer = match (self.search.answer(known), steps.as_slice()) {
            (None, _) => "open",
            (Some(_), []) => "none",
            (Some(_), [one]) if one.first == one.last => "commit",
            (Some(_), [_]) => "range",
            _ => "commits",
        };
        let ends = [(self.search.commits, 1.0), (0, -1.0)];
        let sides = |s: &FoundStep| [(s.last, 1.0), (s.first - 1, -1.0)];
        let left = steps.iter().flat_map(sides).map(|(k, c)| (k, -c));
        let left: Vec<(usize, f64)> = ends.into_iter().chain(left).collect();
        let beyond = |s: &Size| {
            s.interval.low.ln() > self.search.margin || s.interval.high.ln() < -self.search.margin
        };
        BisectReport {
            schema_version: 2,
            answer,
            good: asked.good.clone(),
            bad: asked.bad.clone(),
            metric: metric.to_owned(),
            commits: self.search.commits,
            all: asked.all,
            ends: size(&ends),
            remains: size(&left).filter(|s| !steps.is_empty() && beyond(s)),
            likely: self.likely(known).iter().map(|k| self.suspect(*k, known)).collect(),
            probability_of_none: known.none,
            trials: self.trials,
            unmeasured: self.search.unmeasured(),
            skipped: self.search.skipped.iter().map(|k| self.revisions[*k].label.clone()).collect(),
            runs: self.runs.clone(),
            steps: steps
                .iter()
                .map(|s| BisectedStep {
                    commits: (s.first..=s.last).map(|k| self.suspect(k, known)).collect(),
                    size: size(&sides(s)),
                    functions: None,
                })
                .collect(),
        }
    }

    /// Describes the state of the search in one line.
    fn standing(&self, known: &Posterior) -> String {
        let mut line = format!("{} trials; no commit {:.0} %", self.trials, 100.0 * known.none);
        for k in self.likely(known).into_iter().take(3) {
            let share = 100.0 * known.commits[k - 1];
            let _ = write!(line, ", {} {share:.0} %", self.revisions[k].label);
        }
        line
    }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn percent(probability: f64) -> String {
    format!("{:.0} %", 100.0 * probability.min(0.999))
}

/// Describes a ratio, such as `worse by a factor of 3.12 [95 % CI 3.05, 3.19]`.
fn factor(size: &Size) -> String {
    let Interval { low, high, level } = size.interval;
    let (word, text) = if size.ratio >= 1.0 {
        ("worse", units::ratio(size.ratio, low, high))
    } else {
        ("better", units::ratio(1.0 / size.ratio, 1.0 / high, 1.0 / low))
    };
    format!("{word} by a factor of {}", text.text(Some(level)))
}

fn found_sentence(found: &BisectedStep, metric: &str) -> String {
    let (Some(first), Some(last)) = (found.commits.first(), found.commits.last()) else {
        return String::new();
    };
    let commits = match found.commits.len() {
        1 => {
            format!("{} \"{}\" ({})", short(&last.commit), last.subject, percent(last.probability))
        }
        n => format!(
            "one of {n} commits from {} to {}, of which only the last can be measured",
            short(&first.commit),
            short(&last.commit)
        ),
    };
    let size = |s: &Size| format!("; since then, {metric} is {}", factor(s));
    commits + &found.size.as_ref().map_or(String::new(), size)
}

fn sentences(report: &BisectReport) -> Vec<String> {
    let (good, bad) = (short(&report.good), short(&report.bad));
    let mut out: Vec<String> =
        report.steps.iter().map(|found| found_sentence(found, &report.metric)).collect();
    match report.answer {
        "none" => out.push(format!(
            "none of the {} commits between {good} and {bad} changed it by the margin or more ({})",
            report.commits,
            percent(report.probability_of_none)
        )),
        "open" => {
            out.push("undecided: no budget left; the same command continues the search".into());
        }
        _ => {}
    }
    let whole = report.all || report.steps.is_empty();
    if report.answer != "open" && whole && report.unmeasured > 0 {
        out.push(format!(
            "not measured: {}, where changes that cancel each other would not show",
            count(report.unmeasured, "commit")
        ));
    }
    if let (Some(ends), Some(remains)) = (&report.ends, &report.remains) {
        out.push(format!(
            "from {good} to {bad}, {} is {}; without the steps found, {} remains{}",
            report.metric,
            factor(ends),
            factor(remains),
            if report.all { "" } else { ": `--all` searches for every step" }
        ));
    }
    out
}

fn text(report: &BisectReport) -> String {
    let mut out = String::new();
    for sentence in sentences(report) {
        let _ = writeln!(out, "{}", crate::screen::wrap(&sentence, "", "  "));
    }
    for one in &report.likely {
        let date = one.author_date.as_deref().unwrap_or("unknown").get(..10).unwrap_or("unknown");
        let share = 100.0 * one.probability;
        let _ = writeln!(out, "  {share:5.1} %  {}  {date}  {}", short(&one.commit), one.subject);
    }
    let _ = writeln!(out, "  {:5.1} %  none of them", 100.0 * report.probability_of_none);
    if !report.skipped.is_empty() {
        let line = format!("cannot be measured: {}", report.skipped.join(", "));
        let _ = writeln!(out, "{}", crate::screen::wrap(&line, "  ", "    "));
    }
    let _ = writeln!(out, "  {} trials in {} runs", report.trials, report.runs.len());
    for functions in report.steps.iter().filter_map(|s| s.functions.as_ref()) {
        let sentence = functions_sentence(functions);
        let _ = writeln!(out, "{}", crate::screen::wrap(&sentence, "", "  "));
        out.push_str(&functions_text(functions, style()));
    }
    out
}

/// Formats the result as a Markdown page.
fn page(report: &BisectReport) -> String {
    let mut out = format!(
        "# Bisection of {}..{}\n\n{}\n\n",
        short(&report.good),
        short(&report.bad),
        sentences(report).join("\n\n")
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
    for functions in report.steps.iter().filter_map(|s| s.functions.as_ref()) {
        let words = functions_sentence(functions);
        let _ = writeln!(out, "\n{words}.\n\n{}", functions_markdown(functions).trim());
        if let Some(run) = &functions.run {
            let _ = writeln!(out, "\nProfiled trials: the run `{run}`.");
        }
    }
    out
}
