//! `assay gate`: one revision against its base, by looks with error control, as a verdict for a pull request.

use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Context, Result};
use assay_lab::Watcher;
use assay_model::{Comparison, RunState, Scalar, Verdict, units};
use assay_report::RunView;
use assay_report::terminal::Detail;
use assay_sut::process::Output;
use serde::Serialize;

use super::open::{kit_paths, open_archive, open_lab};
use super::{experiment, export, run};
use crate::cli::{Cli, Gate, What};
use crate::exit::{Exit, Usage};
use crate::progress::Bar;
use crate::screen::{print, print_json, print_styled, style};
use crate::view;

/// The margin when nobody gives one.
const MARGIN: &str = "2 %";

/// What a gate says, for programs.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    schema_version: u32,
    experiment: &'a str,
    /// The run of the verdict is the last.
    runs: &'a [String],
    base: &'a str,
    head: &'a str,
    verdict: &'static str,
    /// What it would take to know, when it is not known.
    needed: Option<String>,
    comparison: Option<&'a Comparison>,
    exit_code: u8,
}

/// Measures both revisions until the answer is clear or the budget is over.
pub fn gate(cli: &Cli, asked: &Gate) -> Result<Exit> {
    let exports = export::parse(&asked.export)?;
    if !asked.what.rev.is_empty() {
        return Err(Usage("gate compares --base with --head; leave out --rev".into()).into());
    }
    let mut what = asked.what.clone();
    what.rev = vec![asked.base.clone(), asked.head.clone()];
    what.margin.get_or_insert_with(|| MARGIN.into());
    what.gate = true;
    what.warmup = what.warmup.or(Some(1));
    what.max_time.get_or_insert_with(|| asked.budget.clone());
    what.until_clear = what.blocks.is_none();
    let kits = kit_paths()?;
    let prepared = experiment::prepare(&what, &kits)?;
    let plan = &prepared.plan;
    if let Some(other) = plan.factors.iter().find(|f| *f != assay_lab::REV) {
        return Err(Usage(format!(
            "a gate compares two revisions, and `{other}` is a factor too; fix it with --set {other}=LEVEL"
        ))
        .into());
    }
    if plan.treatments.len() < 2 {
        let (head, base) = (&asked.head, &asked.base);
        return Err(Usage(format!(
            "{head} and {base} are the same commit; there is nothing to compare"
        ))
        .into());
    }
    let archive = open_archive(cli)?;
    let lab = open_lab(&archive, kits, Output::Keep)?;
    let mut bar = Bar::new(&prepared.experiment.name, asked.quiet);
    let _turn = run::take_turn(true, &lab, &mut bar)?;
    let began = Instant::now();
    let mut ended = lab.run(&prepared, &mut bar)?;
    let mut view = view::load(&archive, &ended.id)?;
    let mut runs = vec![ended.id.to_string()];
    if let Some(blocks) = second(&view, &what, began, &asked.budget, ended.state)? {
        bar.say(&format!("the looks could not tell; {blocks} more blocks fit into the budget"));
        let mut what = what.clone();
        what.until_clear = false;
        what.blocks = Some(blocks);
        what.confidence = Some(assay_stats::sequential::CONFIDENCE);
        ended = lab.run(&experiment::prepare(&what, &lab.kits)?, &mut bar)?;
        view = view::load(&archive, &ended.id)?;
        runs.push(ended.id.to_string());
    }
    let exit = run::exit_of(&ended, &view);
    let comparison = view.analysis.comparisons.first();
    let verdict = comparison.map_or("unknown", |c| c.verdict.name());
    let sentence = sentence(&view, asked, comparison, &ended.unbuilt);
    let needed = comparison.and_then(|c| needed(&view, c));
    if cli.json {
        print_json(&Answer {
            schema_version: 1,
            experiment: &view.experiment.name,
            runs: &runs,
            base: &asked.base,
            head: &asked.head,
            verdict,
            needed: needed.clone(),
            comparison,
            exit_code: exit as u8,
        })?;
    } else {
        print_styled(&assay_report::terminal::result(&view, Detail::Brief, style()))?;
        print(&crate::screen::wrap(&format!("gate: {sentence}"), "\n", "  "))?;
        if let Some(needed) = &needed {
            print(&crate::screen::wrap(needed, "  ", "  "))?;
        }
    }
    if let Some(path) = &asked.markdown {
        let text = markdown(&view, &sentence, needed.as_deref(), ended.id.as_str());
        std::fs::write(path, text).with_context(|| format!("write {}", path.display()))?;
    }
    if !exports.is_empty() {
        let public = view::load_public(&archive, &ended.id)?;
        exports.iter().try_for_each(|export| export.write(&public))?;
    }
    if ended.state == RunState::Interrupted {
        crate::screen::say(&format!(
            "{}; go on with `assay run --resume {}`",
            ended.reason, ended.id
        ));
    }
    Ok(exit)
}

fn sentence(
    view: &RunView,
    asked: &Gate,
    comparison: Option<&Comparison>,
    unbuilt: &[String],
) -> String {
    if let [label, ..] = unbuilt {
        return format!("{label} does not build");
    }
    let (head, base) = (&asked.head, &asked.base);
    let Some(c) = comparison else { return format!("{head} was not measured") };
    let margin = view.experiment.compare.margin.as_ref().map_or(MARGIN.into(), Scalar::to_text);
    let ratio = match (c.ratio, c.interval) {
        (Some(ratio), Some(i)) => {
            let ratio = units::ratio(ratio, i.low, i.high).text(Some(i.level));
            format!("{} {ratio} times {base}", c.metric)
        }
        _ => format!("{} without a ratio", c.metric),
    };
    match c.verdict {
        Verdict::Worse => format!("{head} is worse than {base} by more than {margin}: {ratio}"),
        Verdict::Better => format!("{head} is better than {base} by more than {margin}: {ratio}"),
        Verdict::Equivalent => format!("{head} is within {margin} of {base}: {ratio}"),
        Verdict::Inconclusive => format!("inconclusive: {ratio}, and the margin is {margin}"),
        Verdict::Invalid => format!("the numbers do not count: {}", c.reason),
    }
}

/// How many blocks of a second run fit into what is left of the budget, when the looks could not tell and
/// that may be enough. It is judged alone, at the nominal level of one look.
fn second(
    view: &RunView,
    what: &What,
    began: Instant,
    budget: &str,
    state: RunState,
) -> Result<Option<u32>> {
    let Some(c) = view.analysis.comparisons.first() else { return Ok(None) };
    if state != RunState::Completed || !what.until_clear {
        return Ok(None);
    }
    let budget = units::parse_duration(what.max_time.as_deref().unwrap_or(budget))
        .map_err(|e| Usage(format!("--budget {budget}: {e}")))?;
    let done = view.records.iter().map(|r| r.block + 1).max().unwrap_or(1);
    let each = began.elapsed().as_secs_f64() / f64::from(done);
    let fit = (budget.saturating_sub(began.elapsed()).as_secs_f64() * 0.9 / each) as u32;
    // The estimate of what is needed is noisy itself.
    let Some(wanted) = blocks_needed(c).map(|n| (1.5 * n).min(1e6) as u32) else {
        return Ok(None);
    };
    Ok((fit > c.n && 2 * fit >= wanted).then(|| fit.min(wanted.max(2 * c.n))))
}

/// How many blocks it would take at this noise: the interval must leave out the nearer end of the margin,
/// and its width falls with the root of the number of blocks.
fn blocks_needed(c: &Comparison) -> Option<f64> {
    if c.verdict != Verdict::Inconclusive {
        return None;
    }
    let (ratio, interval) = (c.ratio?, c.interval?);
    let half = (interval.high / interval.low).ln() / 2.0;
    let away = ((1.0 + c.margin?).ln() - ratio.ln().abs()).abs();
    Some((f64::from(c.n) * (half / away).powi(2)).ceil())
}

/// What an answer would take, where there is none.
fn needed(view: &RunView, c: &Comparison) -> Option<String> {
    let blocks = blocks_needed(c)?;
    if !blocks.is_finite() || blocks > 1e5 {
        return Some(
            "What would be needed: the ratio lies on the margin itself; choose another margin, or a quieter machine."
                .into(),
        );
    }
    let seconds: f64 = view.records.iter().filter_map(|r| Some(r.resources.as_ref()?.wall_s)).sum();
    let done = view.records.iter().map(|r| r.block).max().map_or(1.0, |b| f64::from(b) + 1.0);
    let time = std::time::Duration::from_secs_f64((seconds / done * blocks).max(1.0));
    Some(format!(
        "What would be needed at this noise: about {blocks:.0} blocks ({}), with `--blocks {blocks:.0}`; or a machine on which the interval is {:.1} times narrower.",
        units::format_duration(time),
        (blocks / f64::from(c.n)).sqrt(),
    ))
}

/// The result for a comment.
fn markdown(view: &RunView, sentence: &str, needed: Option<&str>, run: &str) -> String {
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
    let serious = |f: &assay_model::Finding| f.severity >= assay_model::Severity::Warning;
    for (finding, _) in view.findings().into_iter().filter(|(f, _)| serious(f)) {
        let word = format!("{:?}", finding.severity).to_lowercase();
        let _ = writeln!(out, "\n{word}: {}", finding.message);
    }
    let _ = writeln!(out, "\nRun `{run}`, assay {}.", view.assay_version);
    out
}
