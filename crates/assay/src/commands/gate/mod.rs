//! `assay gate`: compares a revision with its base in sequential looks with error control, and
//! gives a verdict for a pull request.

pub mod args;
mod suite;

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use assay_lab::series::narrow;
use assay_lab::{LabError, PreparedExperiment, Watcher, unfit};
use assay_model::{Comparison, RunState, Scalar, Severity, Verdict, units};
use assay_report::history::{functions_markdown, functions_sentence, functions_text};
use assay_report::terminal::Detail;
use assay_report::{RunView, block_s};
use assay_stats::series::Functions;
use assay_stats::{CompareInput, Samples, compare};
use assay_system::process::Output;
use assay_system::revisions::{Base, BaseReason, Repository, Revision};
use assay_workloads::KitPaths;
use serde::Serialize;

use crate::arguments::{ExperimentArgs, Global};
use crate::commands::functions::{ComparedRevisions, between};
use crate::commands::open::{kit_paths, open_archive, open_lab};
use crate::commands::{experiment, export, run};
use crate::exit::{Exit, usage};
use crate::progress::Bar;
use crate::screen::{STDOUT, print, print_json, print_styled, style, write_file};
use crate::view;

/// Margin if `--margin` is not given.
const MARGIN: &str = "2 %";

/// Result of a gate, for `--json`.
#[derive(Debug, Serialize)]
struct GateResult<'a> {
    schema_version: u32,
    experiment: &'a str,
    /// Runs of the gate; the verdict is that of the last one.
    runs: &'a [String],
    /// Name of the base as given, or the default branch.
    base: &'a str,
    /// Commit that was measured as the base; `null` if there is no commit.
    base_commit: Option<&'a str>,
    /// Reason why that commit is not the named one; `null` if it is.
    base_remark: Option<&'a str>,
    head: &'a str,
    /// Commit of the head; for the work tree, the commit that is checked out.
    head_commit: Option<&'a str>,
    verdict: &'static str,
    /// Effort that a clear answer would take, if the verdict is open.
    needed: Option<String>,
    comparison: Option<&'a Comparison>,
    /// Comparisons of the benchmarks of a suite; those that looked worse are of the second run.
    benchmarks: &'a [Comparison],
    /// Functions that caused a clear difference; `null` without a clear difference or profiling.
    functions: Option<&'a Functions>,
    exit_code: u8,
}

/// Measures both revisions until the answer is clear or the budget is used up.
pub fn gate(global: &Global, asked: &args::Gate) -> Result<Exit> {
    let exports = export::parse(&asked.export)?;
    if !asked.what.rev.is_empty() {
        return usage("gate compares --base with --head; leave out --rev");
    }
    let mut what = asked.what.clone();
    let kits = kit_paths()?;
    let (base, head, wanted) = sides(asked, &kits)?;
    let of_suite = suite::is_suite(&wanted.plan.metric);
    let head_name = head.named(&head.label);
    let base_name = base.name_against(&head.label);
    what.rev = vec![base.revision.level(), head.level()];
    what.rev_labels = vec![base.label(), head_name.clone()];
    let margin = wanted.experiment.compare.margin.as_ref().map(Scalar::to_text);
    what.margin = margin.or(Some(MARGIN.into()));
    what.gate = true;
    what.warmup = what.warmup.or(Some(1));
    let budget = what.max_time.clone().unwrap_or_else(|| asked.budget.clone());
    what.max_time = Some(if of_suite { suite::first_part(&budget)? } else { budget.clone() });
    what.until_clear = !of_suite && what.blocks.is_none() && what.builds.is_none();
    if of_suite {
        what.blocks.get_or_insert(suite::BLOCKS);
    }
    let prepared = experiment::prepare(&what, &kits)?;
    let plan = &prepared.plan;
    if let Some(other) = plan.factors.iter().find(|f| *f != assay_lab::REV) {
        return usage(format!(
            "a gate has no other factor than the revision: fix `{other}` by --set {other}=LEVEL"
        ));
    }
    if plan.treatments.len() < 2 {
        return usage(match base.why {
            BaseReason::Fork(_) => format!(
                "{} contains {head_name}: nothing to judge; --exact compares the two as they are",
                base.name
            ),
            _ => format!("{head_name} and {base_name} are the same commit: nothing to compare"),
        });
    }
    let archive = open_archive(global)?;
    let lab = open_lab(&archive, kits, Output::Keep)?;
    let mut bar = Bar::new(&prepared.experiment.name, asked.quiet);
    let remark = base.remark(&head.label);
    if let Some(remark) = &remark {
        crate::screen::say(remark);
    }
    let _lock = run::take_run_lock(true, &lab, &mut bar)?;
    let began = Instant::now();
    let mut ended = lab.run(&prepared, &mut bar)?;
    let mut view = view::load(&archive, &ended.id)?;
    let mut runs = vec![ended.id.to_string()];
    if let Some((blocks, left)) = second(&view, &what, began, &asked.budget, ended.state)? {
        bar.say(&format!("the looks were inconclusive; {blocks} more blocks fit into the budget"));
        let mut what = what.clone();
        what.max_time = Some(format!("{} s", left.as_secs()));
        what.until_clear = false;
        what.blocks = Some(blocks);
        what.confidence = Some(assay_stats::comparison::sequential::CONFIDENCE);
        ended = lab.run(&experiment::prepare(&what, &lab.kits)?, &mut bar)?;
        view = view::load(&archive, &ended.id)?;
        runs.push(ended.id.to_string());
    }
    let mut exit = run::exit_of(&ended, &view);
    let mut suite_verdict = None;
    // A suite that takes long ends with its part of the budget, before the last block.
    if of_suite && ended.state != RunState::Interrupted && matches!(exit, Exit::Fine | Exit::Worse)
    {
        let left = suite::left(&budget, began)?;
        let margin = if view.experiment.compare.metrics.is_empty() {
            what.margin.clone().unwrap_or_default()
        } else {
            "the margin".to_owned()
        };
        let again = suite::again(&what, &view, left);
        let second = match again {
            None => None,
            Some(again) => {
                let count = again.only.len();
                bar.say(&format!("{count} of the benchmarks look worse; measuring them again"));
                let mut wanted = experiment::prepare(&again, &lab.kits)?.experiment;
                narrow(&mut wanted, &view.plan, &view.records);
                let prepared = PreparedExperiment::from_experiment(wanted, &lab.kits)?;
                ended = lab.run(&prepared, &mut bar)?;
                runs.push(ended.id.to_string());
                Some(view::load(&archive, &ended.id)?)
            }
        };
        let analysis = second.as_ref().map(|v| &v.analysis);
        let (verdict, text) = suite::verdict(&view.analysis, analysis, &margin);
        if let Some(second) = &second {
            exit = run::exit_of(&ended, second);
        }
        if matches!(exit, Exit::Fine | Exit::Worse) {
            exit = if verdict == Verdict::Worse { Exit::Worse } else { Exit::Fine };
        }
        if let Some(second) = second {
            suite::replace(&mut view.analysis, &second.analysis);
        }
        suite_verdict = Some((verdict, text));
    }
    let comparison = view.analysis.comparisons.first();
    let verdict = match &suite_verdict {
        Some((verdict, _)) => verdict.name(),
        None => comparison.map_or("unknown", |c| c.verdict.name()),
    };
    let clear = !of_suite
        && comparison.is_some_and(|c| matches!(c.verdict, Verdict::Worse | Verdict::Better));
    let functions = if clear && ended.state == RunState::Completed {
        let whole = units::parse_duration(what.max_time.as_deref().unwrap_or(&asked.budget));
        let level = |id: u32| {
            let levels = view.plan.treatment(id).map(|t| &t.levels);
            levels.and_then(|l| l.get(assay_lab::REV)).map_or_else(String::new, Scalar::to_text)
        };
        let sides = comparison.map(|c| (level(c.baseline), level(c.treatment)));
        let (before, after) = sides.unwrap_or_default();
        let step = ComparedRevisions {
            what: &asked.what,
            when: asked.profile,
            before: &before,
            after: &after,
            tag: None,
            left: whole.unwrap_or_default().saturating_sub(began.elapsed()),
            like: &ended.id,
        };
        between(&step, &archive, &lab, &mut bar)?
    } else {
        None
    };
    let sentence = match suite_verdict {
        Some((_, text)) => format!("{head_name} against {base_name}: {text}"),
        None => sentence(&view, (&head_name, &base_name), comparison, &ended.unbuilt),
    };
    // The first half is printed above the table already.
    let (more, steadier) =
        comparison.filter(|_| !of_suite).map_or((None, None), |c| needed(&view, c));
    let needed = [more, steadier.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let needed = Some(needed).filter(|text| !text.is_empty());
    let to_stdout = asked.markdown.as_deref() == Some(Path::new(STDOUT));
    if global.json {
        print_json(&GateResult {
            schema_version: 1,
            experiment: &view.experiment.name,
            runs: &runs,
            base: asked.base.as_deref().unwrap_or(&base.name),
            base_commit: base.revision.commit.as_deref(),
            base_remark: remark.as_deref(),
            head: &asked.head,
            head_commit: head.commit.as_deref(),
            verdict,
            needed: needed.clone(),
            comparison,
            benchmarks: &view.analysis.family,
            functions: functions.as_ref(),
            exit_code: exit as u8,
        })?;
    } else if !to_stdout && !export::to_stdout(&exports) {
        let detail = if asked.verbose { Detail::Full } else { Detail::Brief };
        print_styled(&assay_report::terminal::result(&view, detail, style()))?;
        print(&crate::screen::wrap(&format!("gate: {sentence}"), "\n", "  "))?;
        if let Some(steadier) = &steadier {
            print(&crate::screen::wrap(steadier, "  ", "  "))?;
        }
        if let Some(functions) = &functions {
            print(&crate::screen::wrap(&functions_sentence(functions), "  ", "  "))?;
            print_styled(&functions_text(functions, style()))?;
        }
    }
    if let Some(path) = &asked.markdown {
        let text =
            markdown(&view, &sentence, needed.as_deref(), functions.as_ref(), ended.id.as_str());
        write_file(path, text)?;
    }
    if !exports.is_empty() {
        let public = view::load_public(&archive, &ended.id)?;
        exports.iter().try_for_each(|export| export.write(&public))?;
    }
    if ended.state == RunState::Interrupted {
        crate::screen::say(&format!(
            "{}; continue with `assay run --resume {}`",
            ended.reason, ended.id
        ));
    }
    Ok(exit)
}

/// Finds the base and the head in the repository of the experiment; also returns the experiment of
/// the head alone.
fn sides(asked: &args::Gate, kits: &KitPaths) -> Result<(Base, Revision, PreparedExperiment)> {
    let mut what = asked.what.clone();
    what.rev = vec![asked.head.clone()];
    let prepared = experiment::prepare(&what, kits)?;
    let repo = prepared.experiment.source.as_ref().map_or(".", |s| s.repo.as_str());
    let repo = Repository::open(Path::new(repo)).map_err(LabError::from)?;
    let head = repo.one(&asked.head).map_err(LabError::from)?;
    let base = match &asked.base {
        Some(name) if asked.exact => {
            let revision = repo.one(name).map_err(LabError::from)?;
            Base { name: name.clone(), revision, why: BaseReason::Named }
        }
        base => repo.base(base.as_deref(), &asked.head).map_err(LabError::from)?,
    };
    Ok((base, head, prepared))
}

fn sentence(
    view: &RunView,
    (head, base): (&str, &str),
    comparison: Option<&Comparison>,
    unbuilt: &[String],
) -> String {
    if let [label, ..] = unbuilt {
        return format!("{label} does not build");
    }
    let Some(c) = comparison else { return format!("{head} was not measured") };
    let margin = view.experiment.compare.margin_of(&c.metric);
    let margin = margin.map_or(MARGIN.into(), Scalar::to_text);
    let ratio = match (c.ratio, c.interval) {
        (Some(ratio), Some(i)) => {
            let ratio = units::ratio(ratio, i.low, i.high).text(Some(i.level));
            format!("{} {ratio}", c.metric)
        }
        _ => format!("{} has no ratio", c.metric),
    };
    match c.verdict {
        Verdict::Worse => format!("{head} is worse than {base} by more than {margin}: {ratio}"),
        Verdict::Better => format!("{head} is better than {base} by more than {margin}: {ratio}"),
        Verdict::Equivalent => format!("{head} is within {margin} of {base}: {ratio}"),
        Verdict::Inconclusive | Verdict::NotEstablished => {
            format!("inconclusive: {head} against {base}: {ratio}, and the margin is {margin}")
        }
        Verdict::Invalid => format!("the numbers are invalid: {}", c.reason),
    }
}

/// Returns the number of blocks of a second run that fit into the budget, and the time left, if the
/// looks were inconclusive. The second run is judged alone, at the nominal confidence level of one
/// look.
fn second(
    view: &RunView,
    what: &ExperimentArgs,
    began: Instant,
    budget: &str,
    state: RunState,
) -> Result<Option<(u32, Duration)>> {
    let Some(c) = view.analysis.comparisons.first() else { return Ok(None) };
    if state != RunState::Completed || !what.until_clear {
        return Ok(None);
    }
    let left = suite::left(what.max_time.as_deref().unwrap_or(budget), began)?;
    Ok(block_s(view).and_then(|each| more(c, each, left)).map(|blocks| (blocks, left)))
}

/// Returns the number of further blocks of `each` seconds that are worth making in the time left,
/// if any.
fn more(c: &Comparison, each: f64, left: Duration) -> Option<u32> {
    // The distance to the margin is known no better than the width of the interval: four times the
    // estimated number of blocks makes the interval half as wide as that.
    let wanted = (4.0 * blocks_needed(c)?).min(1e6) as u32;
    let fit = (left.as_secs_f64() * 0.9 / each) as u32;
    (fit > c.n).then(|| fit.min(wanted.max(2 * c.n)))
}

/// Returns the number of blocks for a clear answer at this noise: the interval must exclude the
/// nearer end of the margin, and its width falls with the square root of the number of blocks.
fn blocks_needed(c: &Comparison) -> Option<f64> {
    if c.verdict != Verdict::Inconclusive {
        return None;
    }
    let (ratio, interval) = (c.ratio?, c.interval?);
    let half = (interval.high / interval.low).ln() / 2.0;
    let away = ((1.0 + c.margin?).ln() - ratio.ln().abs()).abs();
    Some((f64::from(c.n) * (half / away).powi(2)).ceil())
}

/// Describes what a clear answer would take, if the verdict is open, and another metric of the
/// same trials that varies less.
fn needed(view: &RunView, c: &Comparison) -> (Option<String>, Option<String>) {
    let steadier = steadier(view, c).filter(|_| blocks_needed(c).is_some());
    let steadier = steadier.map(|(metric, share, narrower)| {
        format!(
            "The same trials' `{metric}` ({:.0} % of `{}`) has an interval {narrower:.1} times \
            narrower: use `--metric {metric}` if you can decide by it.",
            100.0 * share,
            c.metric,
        )
    });
    (assay_report::needed(view, &view.analysis), steadier)
}

/// Returns a metric that is a part of the deciding one, has the same unit and direction and varies
/// far less, such as CPU time on a loaded machine: its name, its share of the deciding one, and how
/// many times narrower its interval is.
fn steadier(view: &RunView, c: &Comparison) -> Option<(String, f64, f64)> {
    let of = |treatment: u32, metric: &str| {
        view.analysis.summaries.iter().find(|s| s.treatment == treatment && s.metric == metric)
    };
    let mean = |treatment: u32, metric: &str| of(treatment, metric)?.summary.geomean;
    let width = |i: assay_model::Interval| (i.high / i.low).ln();
    let (whole, wide) = (mean(c.baseline, &c.metric)?, width(c.interval?));
    let others = view.analysis.summaries.iter().filter(|s| {
        s.treatment == c.baseline
            && s.metric != c.metric
            && s.unit == c.unit
            && s.better == c.better
    });
    others
        .filter_map(|s| {
            let (base, other) = (of(c.baseline, &s.metric)?, of(c.treatment, &s.metric)?);
            let pairs: Vec<_> =
                base.values.iter().copied().zip(other.values.iter().copied()).collect();
            let judged = compare(&CompareInput {
                metric: &s.metric,
                unit: &s.unit,
                better: s.better,
                baseline: c.baseline,
                treatment: c.treatment,
                samples: Samples::Paired(&pairs),
                confidence: c.interval?.level,
                margin: c.margin,
                gate: true,
            });
            let narrower = wide / width(judged.interval?);
            let share = mean(c.baseline, &s.metric)? / whole;
            (share >= 0.05 && narrower >= 2.0).then(|| (s.metric.clone(), share, narrower))
        })
        .max_by(|a, b| a.2.total_cmp(&b.2))
}

/// Formats the result as Markdown for a comment.
fn markdown(
    view: &RunView,
    sentence: &str,
    needed: Option<&str>,
    functions: Option<&Functions>,
    run: &str,
) -> String {
    let name = &view.experiment.name;
    let mut out =
        format!("<!-- assay gate: {name} -->\n### assay gate: `{name}`\n\n{sentence}\n\n");
    if let Some(needed) = needed {
        let _ = writeln!(out, "{needed}\n");
    }
    out.push_str("| revision | n | geometric mean |\n|---|---|---|\n");
    for t in view.analysis.summaries.iter().filter(|t| t.metric == view.analysis.metric) {
        let mean = t.summary.geomean.map_or("unknown".into(), |v| units::format_value(v, &t.unit));
        let _ = writeln!(out, "| {} | {} | {mean} |", t.label, t.summary.n);
    }
    out.push_str(&suite::markdown(view));
    if let Some(functions) = functions {
        let words = functions_sentence(functions);
        let _ = writeln!(out, "\n{words}.\n\n{}", functions_markdown(functions).trim());
    }
    let (invalid, rest): (Vec<_>, Vec<_>) = view
        .findings()
        .into_iter()
        .map(|(finding, _)| finding)
        .partition(|finding| finding.severity == Severity::Invalid);
    for finding in invalid {
        let _ = writeln!(out, "\ninvalid: {}", finding.message);
    }
    if let Some(warning) = unfit(&rest).first() {
        let _ = writeln!(out, "\nwarning: {warning}");
    }
    let _ = writeln!(out, "\nRun `{run}`, assay {}.", view.assay_version);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares pairs whose ratios alternate by `wave` around `ratio`, with a margin of 2 %.
    fn judged(n: usize, ratio: f64, wave: f64) -> Comparison {
        let pairs: Vec<_> =
            (0..n).map(|i| (Some(1.0), Some(ratio * (1.0 + wave * [1.0, -1.0][i % 2])))).collect();
        compare(&CompareInput {
            metric: "elapsed",
            unit: "s",
            better: assay_model::Better::Lower,
            baseline: 0,
            treatment: 1,
            samples: Samples::Paired(&pairs),
            confidence: assay_stats::comparison::sequential::CONFIDENCE,
            margin: Some(0.02),
            gate: true,
        })
    }

    #[test]
    fn a_budget_is_used_while_the_answer_is_open() {
        let open = judged(42, 1.03, 0.2);
        assert_eq!(open.verdict, Verdict::Inconclusive, "{}", open.reason);
        // Adds blocks even if far fewer fit than the estimate asks for: the step may be larger than
        // it seems.
        assert_eq!(more(&open, 1.0, Duration::from_secs(100)), Some(90));
        // Adds no more blocks than are likely to suffice, however much time there is.
        let wanted = 4.0 * blocks_needed(&open).unwrap();
        assert_eq!(more(&open, 1.0, Duration::from_secs(1_000_000)), Some(wanted as u32));
        // Adds none if fewer fit than there are already, or if the answer is known.
        assert_eq!(more(&open, 1.0, Duration::from_secs(40)), None);
        assert_eq!(more(&judged(42, 1.2, 0.01), 1.0, Duration::from_secs(100)), None);
    }
}
