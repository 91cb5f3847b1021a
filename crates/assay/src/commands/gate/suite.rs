//! Gates of suites: every benchmark is a metric, and those that look worse are measured again in
//! fresh trials before the gate calls them worse.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use assay_model::{Analysis, Better, Comparison, Verdict};
use assay_report::{RunView, block_s, only_one_side, ratio_text};
use assay_workloads::readers;

use crate::arguments::{ExperimentArgs, budget};

/// Blocks of a gate of a suite unless `--blocks` is given.
pub const BLOCKS: u32 = 20;
/// Minimum number of blocks in which suspects are measured again, if the budget has the time: on a
/// machine whose pairs vary by 10 %, 5 % more is then found beyond a margin of 2 %.
const AGAIN: u32 = 240;
/// Share of the budget for the first run.
const FIRST: f64 = 0.6;

/// Returns true if the experiment compares the benchmarks of a suite.
pub fn is_suite(metric: &str) -> bool {
    metric == readers::BENCHMARKS
}

/// Returns the benchmarks that look worse: their ratio lies beyond the margin on the worse side,
/// and an interval half as wide as that of 95 % on that side of 1 (p below about 0.15). Fresh
/// trials decide, so that a wrong suspicion costs time only.
pub fn suspects(a: &Analysis) -> Vec<&Comparison> {
    a.family.iter().filter(|c| looks_worse(c)).collect()
}

fn looks_worse(c: &Comparison) -> bool {
    let (Some(ratio), Some(i)) = (c.ratio, c.interval) else { return false };
    let limit = 1.0 + c.margin.unwrap_or(0.0);
    match c.better {
        Better::Lower => ratio > limit && ratio * i.low > 1.0,
        Better::Higher => ratio < 1.0 / limit && ratio * i.high < 1.0,
        Better::Neither => false,
    }
}

/// Returns the time for the first run of a budget; the rest is for the suspects.
pub fn first_part(whole: &str) -> Result<String> {
    let whole = budget(whole)?;
    Ok(format!("{} ms", whole.mul_f64(FIRST).as_millis()))
}

/// Returns the part of the budget that is left.
pub fn left(whole: &str, began: Instant) -> Result<Duration> {
    Ok(budget(whole)?.saturating_sub(began.elapsed()))
}

/// Returns the arguments of the run that compares the suspects again. `None` if nothing looks
/// worse, or if the time left is not enough for a warm-up block and three others.
pub fn again(what: &ExperimentArgs, view: &RunView, left: Duration) -> Option<ExperimentArgs> {
    let names: Vec<String> = suspects(&view.analysis).iter().map(|c| c.metric.clone()).collect();
    let enough = block_s(view).is_some_and(|each| left.as_secs_f64() >= 4.0 * each);
    if names.is_empty() || !enough {
        return None;
    }
    let mut what = what.clone();
    what.max_time = Some(format!("{} ms", left.as_millis()));
    what.blocks = Some(what.blocks.unwrap_or(BLOCKS).max(AGAIN));
    what.only = names;
    Some(what)
}

/// Replaces the comparisons of the suspects by those of the second run.
pub fn replace(first: &mut Analysis, second: &Analysis) {
    for c in &mut first.family {
        if let Some(again) = second.family.iter().find(|s| s.metric == c.metric) {
            *c = again.clone();
        }
    }
}

/// Returns the benchmarks that changed as a table in Markdown, and those that only one side ran;
/// empty without any.
pub fn markdown(view: &RunView) -> String {
    let changed = |c: &&Comparison| matches!(c.verdict, Verdict::Worse | Verdict::Better);
    let mut out = String::new();
    for c in view.analysis.family.iter().filter(changed) {
        if out.is_empty() {
            out.push_str("\n| benchmark | ratio | verdict |\n|---|---|---|\n");
        }
        let name = c.metric.replace('|', "\\|");
        let _ = writeln!(out, "| {name} | {} | {} |", ratio_text(c), c.verdict.name());
    }
    for line in only_one_side(&view.analysis) {
        let _ = writeln!(out, "\n{line}");
    }
    out
}

/// Returns the verdict of the suite and its sentence. `first` has all benchmarks; `second` has the
/// suspects, measured again, if there were any. Without a worse benchmark the suite is equivalent
/// only if each benchmark is within the margin or better.
pub fn verdict(first: &Analysis, second: Option<&Analysis>, margin: &str) -> (Verdict, String) {
    let all = first.family.len();
    let suspects = suspects(first);
    if all == 0 {
        return (Verdict::Invalid, "no benchmark ran on both sides".to_owned());
    }
    let verb = |count: usize| if count == 1 { "is" } else { "are" };
    let again =
        |c: &Comparison| second.and_then(|s| s.family.iter().find(|s| s.metric == c.metric));
    let confirmed: Vec<&Comparison> =
        suspects.iter().filter_map(|s| again(s)).filter(|c| c.verdict == Verdict::Worse).collect();
    if !confirmed.is_empty() {
        let text = format!(
            "{} of {all} benchmarks {} worse by more than {margin}, also in fresh trials: {}",
            confirmed.len(),
            verb(confirmed.len()),
            named(&confirmed)
        );
        return (Verdict::Worse, text);
    }
    let settled = |c: &&Comparison| {
        let last = if looks_worse(c) { again(c) } else { Some(*c) };
        last.is_some_and(|c| matches!(c.verdict, Verdict::Equivalent | Verdict::Better))
    };
    let within = first.family.iter().filter(settled).count();
    let mut text = format!(
        "none of {all} benchmarks is clearly worse by more than {margin}: {within} within it or \
         better, {} open",
        all - within
    );
    if !suspects.is_empty() {
        let count = suspects.len();
        let outcome = match second {
            Some(_) => "fresh trials did not confirm it",
            None => "the budget has no time to measure again",
        };
        let _ = write!(text, "; {count} looked worse, and {outcome} ({})", named(&suspects));
    }
    (if within == all { Verdict::Equivalent } else { Verdict::Inconclusive }, text)
}

/// Returns the names with their ratios, at most ten.
fn named(all: &[&Comparison]) -> String {
    let some: Vec<String> =
        all.iter().take(10).map(|c| format!("{} {}", c.metric, ratio_text(c))).collect();
    let more = if all.len() > 10 { ", ..." } else { "" };
    some.join(", ") + more
}
