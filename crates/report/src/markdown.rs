//! The run as Markdown: the same numbers and sentences as the page, without charts.

use std::fmt::Write as _;

use crate::figures::{
    NO_VALUE, count, percent, percentile_text, point_text, ratio_text, summary_text, value_text,
    x_text,
};
use crate::gate::Gate;
use crate::percentiles;
use crate::suite::{HOW, comparison_cells, geomean_text, member_text, spread_sentence, total_text};
use crate::terminal::{KEY_FACTS, fact_text};
use crate::view::{RunView, deciding, outcome_word};
use crate::words;

/// The page as GitHub-flavoured Markdown.
pub fn write(view: &RunView) -> String {
    let gate = Gate::of(view);
    let mut out = format!("# {}\n\n", line(view.title()));
    let s = &view.summary;
    let _ = writeln!(
        out,
        "Run `{}` of experiment `{}` (workload `{}`) on {}, {} {}, {}.\n",
        s.id,
        code(&s.experiment),
        code(&s.workload),
        line(&s.host),
        if view.imported().is_some() { "imported" } else { "started" },
        s.started_at,
        s.state.name()
    );
    significance(&mut out, view, &gate);
    results(&mut out, view, &gate);
    suite(&mut out, &gate);
    percentiles(&mut out, view, &gate);
    curves(&mut out, &gate);
    scaling(&mut out, &gate);
    findings(&mut out, view);
    configuration(&mut out, view);
    out.push_str("## Method\n\n");
    for sentence in words::method(view) {
        let _ = writeln!(out, "- {}", line(&sentence));
    }
    trials(&mut out, view, &gate);
    let _ = writeln!(out, "\nMade by assay {}.", view.assay_version);
    out
}

fn significance(out: &mut String, view: &RunView, gate: &Gate) {
    out.push_str("## Significance\n\n");
    for w in &gate.withheld {
        let _ = writeln!(out, "**{}: {}**\n", line(&w.what), line(&w.text()));
    }
    if gate.run().is_some() {
        return;
    }
    for c in &gate.analysis.comparisons {
        let _ = writeln!(out, "- {}", line(&words::verdict(&gate.analysis, c)));
    }
    if gate.analysis.comparisons.is_empty() {
        for x in deciding(&gate.analysis) {
            let _ = writeln!(
                out,
                "- {} of {}: {} ({})",
                line(&x.metric),
                line(&view.label(x.treatment)),
                summary_text(x),
                count(x.summary.n as usize, "trial")
            );
        }
    }
    out.push('\n');
}

fn suite(out: &mut String, gate: &Gate) {
    let Some(suite) = &gate.analysis.suite else { return };
    out.push_str("### The suite\n\n| setting | geometric mean | total time | ratio | verdict | ratio of totals |\n|---|--:|--:|--:|---|--:|\n");
    for (i, score) in suite.scores.iter().enumerate() {
        let compared = comparison_cells(suite.comparisons.iter().find(|c| c.score == i));
        let cells = [line(&score.label), geomean_text(score), total_text(score)];
        let _ = writeln!(out, "| {} | {} |", cells.join(" | "), compared.join(" | "));
    }
    let labels: Vec<String> = suite.scores.iter().map(|s| line(&s.label)).collect();
    let _ = writeln!(out, "\n| {} | {} |", suite.member, labels.join(" | "));
    let _ = writeln!(out, "|---|{}", "--:|".repeat(suite.scores.len()));
    for member in suite.scores.first().map_or(&[][..], |s| &s.members) {
        let own = suite.scores.iter().map(|s| {
            let found = s.members.iter().find(|m| m.name == member.name);
            found.map_or_else(|| NO_VALUE.to_owned(), member_text)
        });
        let _ =
            writeln!(out, "| {} | {} |", line(&member.name), own.collect::<Vec<_>>().join(" | "));
    }
    let _ = writeln!(out, "\n{HOW}\n");
    for c in &suite.comparisons {
        if let Some(text) = spread_sentence(suite, c) {
            let _ = writeln!(out, "- {}", line(&text));
        }
    }
    out.push('\n');
}

fn results(out: &mut String, view: &RunView, gate: &Gate) {
    let a = &gate.analysis;
    let _ =
        writeln!(out, "## Results\n\n{}, {} intervals\n", line(&a.metric), percent(a.confidence));
    out.push_str("| treatment | n | geometric mean | ratio | verdict | trials |\n|---|--:|--:|--:|---|---|\n");
    for s in deciding(a) {
        let comparison = a.comparisons.iter().find(|c| c.treatment == s.treatment);
        let (value, ratio, verdict) = match (gate.treatment(s.treatment), comparison) {
            (Some(w), _) => (w.text(), String::new(), "invalid".to_owned()),
            (None, Some(c)) => (summary_text(s), ratio_text(c), c.verdict.name().to_owned()),
            (None, None) if a.comparisons.is_empty() => {
                (summary_text(s), String::new(), String::new())
            }
            (None, None) => (summary_text(s), "1".to_owned(), "baseline".to_owned()),
        };
        let trials: Vec<String> =
            view.counted(s.treatment).iter().map(|r| r.number.to_string()).collect();
        row(
            out,
            &[
                &view.label(s.treatment),
                &s.summary.n.to_string(),
                &value,
                &ratio,
                &verdict,
                &trials.join(" "),
            ],
        );
    }
    out.push('\n');
    if let Some(known) = a.floor.as_ref().filter(|_| !a.comparisons.is_empty()) {
        let _ = writeln!(out, "{}.\n", line(&words::floor(known)));
    }
}

/// The percentiles of each treatment, from merged histograms.
fn percentiles(out: &mut String, view: &RunView, gate: &Gate) {
    let rows = percentiles::rows(&gate.analysis);
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "### Percentiles\n\n{}\n\n| percentile | treatment | value | samples | beyond | trials |\n|---|---|--:|--:|--:|--:|",
        words::PERCENTILES
    );
    for (h, p) in rows {
        row(
            out,
            &[
                &percentiles::name(h, p),
                &view.label(h.treatment),
                &percentile_text(p, &h.unit),
                &p.samples.to_string(),
                &p.beyond.to_string(),
                &p.trials.to_string(),
            ],
        );
    }
    out.push('\n');
}

fn curves(out: &mut String, gate: &Gate) {
    let drawn = || gate.analysis.curves.iter().filter(|c| !c.points.is_empty());
    // A percentile is least where nothing is asked: there is nothing to choose by it. Nor by what is no better
    // or worse.
    let chosen =
        || drawn().filter(|c| c.quantile.is_none() && c.better != assay_model::Better::Neither);
    if chosen().next().is_none() {
        if drawn().next().is_some() {
            out.push_str("### Curves\n\nTheir points are on the page and in the CSV.\n\n");
        }
        return percentile_curves(out, gate);
    }
    out.push_str("### Curves\n\n| curve | treatment | best | at | most efficient | at | smoothness |\n|---|---|--:|--:|--:|--:|--:|\n");
    for c in chosen() {
        let at = |p: &Option<assay_model::CurvePoint>| {
            p.as_ref().map_or_else(
                || (NO_VALUE.to_owned(), NO_VALUE.to_owned()),
                |p| (x_text(p.x, &c.x_unit), point_text(p, &c.unit)),
            )
        };
        let (best, best_value) = at(&c.best);
        let (efficient, value) = at(&c.efficient);
        let smooth = c.smoothness.map_or_else(|| NO_VALUE.to_owned(), |s| format!("{s:.2}"));
        row(out, &[&c.name, &c.label, &best_value, &best, &value, &efficient, &smooth]);
    }
    if let Some(first) = chosen().next() {
        let x = &first.x_one();
        let _ =
            writeln!(out, "\n{} {}\n", words::efficient(x, &first.judged), words::smoothness(x));
    }
    percentile_curves(out, gate);
}

/// Percentiles over x, every point, from merged histograms.
fn percentile_curves(out: &mut String, gate: &Gate) {
    for c in gate.analysis.curves.iter().filter(|c| c.quantile.is_some() && !c.points.is_empty()) {
        let x = c.x_noun();
        let _ = writeln!(
            out,
            "{} over {x}, {}, from the merged histograms of the trials\n\n| {x} | {} | trials |\n|--:|--:|--:|",
            line(&c.name),
            line(&c.label),
            line(&c.name)
        );
        for p in &c.points {
            row(out, &[&x_text(p.x, &c.x_unit), &point_text(p, &c.unit), &p.n.to_string()]);
        }
        out.push('\n');
    }
}

fn scaling(out: &mut String, gate: &Gate) {
    let Some(s) = &gate.analysis.scaling else { return };
    let _ = writeln!(
        out,
        "### Scaling over {}\n\n| {} | {} | speedup | efficiency |\n|--:|--:|--:|--:|",
        line(&s.factor),
        line(&s.factor),
        line(&s.metric)
    );
    for p in &s.points {
        let speedup = p.interval.map_or_else(
            || assay_model::units::significant(p.speedup, 4),
            |i| assay_model::units::format_ratio(p.speedup, i.low, i.high),
        );
        row(
            out,
            &[
                &p.count.to_string(),
                &value_text(Some(p.value), &gate.analysis.unit),
                &speedup,
                &percent((p.efficiency * 1000.0).round() / 1000.0),
            ],
        );
    }
    let _ = writeln!(out, "\n{}\n", line(&s.note));
}

fn findings(out: &mut String, view: &RunView) {
    out.push_str("## Best practices\n\n");
    let all = view.findings();
    if all.is_empty() {
        out.push_str("The checks found nothing to report.\n");
    }
    for (f, _) in &all {
        let remedy = if f.remedy.is_empty() {
            String::new()
        } else {
            format!(" Remedy: {}.", line(&f.remedy))
        };
        let severity = format!("{:?}", f.severity).to_lowercase();
        let _ = writeln!(
            out,
            "- {severity} {} {}: {}.{remedy}",
            line(&f.id),
            line(&f.name),
            line(&f.message)
        );
    }
    if let Some(unchecked) = words::unchecked(&view.analysis) {
        let _ = writeln!(out, "\n{unchecked}");
    }
    out.push('\n');
}

fn configuration(out: &mut String, view: &RunView) {
    out.push_str("## Configuration\n\n| fact | value |\n|---|---|\n");
    for (name, path) in KEY_FACTS {
        if let Some(fact) = view.system.facts.get(path) {
            row(out, &[name, &fact_text(fact)]);
        }
    }
    out.push('\n');
}

fn trials(out: &mut String, view: &RunView, gate: &Gate) {
    let a = &gate.analysis;
    let _ = writeln!(
        out,
        "\n## Disclosure\n\n| trial | block | treatment | outcome | {} | started |\n|--:|--:|---|---|--:|---|",
        line(&a.metric)
    );
    for r in &view.records {
        let value = gate.trial(r).map_or_else(
            || value_text(r.metric(&a.metric), &a.unit),
            |w| format!("withheld: {}", w.finding),
        );
        let warmup = if r.warmup { ", warm-up" } else { "" };
        row(
            out,
            &[
                &r.number.to_string(),
                &(r.block + 1).to_string(),
                &view.label(r.treatment),
                &format!("{}{warmup}", outcome_word(r.outcome)),
                &value,
                &r.started_at,
            ],
        );
    }
    let head = view.ledger_head.as_ref().map_or_else(
        || "unknown: the ledger is empty".to_owned(),
        |head| format!("`{}` (entry {}, the last)", head.sha256, head.seq),
    );
    let plan = view.plan_hash().map_or_else(|| "unknown".to_owned(), |h| format!("`{h}`"));
    let _ = writeln!(out, "\nPlan, SHA-256: {plan}. Ledger head, SHA-256: {head}.\n");
    // A fence longer than any in the file cannot be closed by it.
    let fence = "`".repeat(longest_ticks(&view.experiment_toml).max(2) + 1);
    let _ = writeln!(out, "{fence}toml\n{}\n{fence}", view.experiment_toml.trim_end());
}

fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// One row of a table.
pub(crate) fn row(out: &mut String, cells: &[&str]) {
    for c in cells {
        let _ = write!(out, "| {} ", line(c));
    }
    out.push_str("|\n");
}

/// Text on one line with the characters that Markdown and HTML would take as markup escaped.
pub(crate) fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() => out.push('\u{FFFD}'),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '\\' | '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Text inside a code span: no back ticks, one line.
fn code(text: &str) -> String {
    text.chars().map(|c| if c == '`' || c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn reads_as_before() {
        for (name, view) in fixtures::all() {
            insta::assert_snapshot!(name, write(&view));
        }
    }

    #[test]
    fn withheld_numbers_are_not_printed() {
        let view = fixtures::withheld();
        let text = write(&view);
        assert!(text.contains("withheld: F17"));
        for s in &view.analysis.summaries {
            assert!(!text.contains(&summary_text(s)));
        }
    }

    #[test]
    fn labels_cannot_break_a_table() {
        assert_eq!(line("a|b\n<c>*"), "a\\|b &lt;c>\\*");
    }
}
