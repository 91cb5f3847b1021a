//! Runs side by side in one metric: every treatment in every run, the ratio to the first run, what
//! else differed, and what that means for the comparison.

use assay_model::{Across, AcrossRow, Difference, RunSummary};

use super::Style;
use super::findings::findings;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::{NO_VALUE, count, ratio_text, with_interval};

/// How many differences that are not hard are shown.
const SOFT_SHOWN: usize = 12;

/// The runs, the values and ratios by treatment, the differences (hard ones first, all of them), and
/// the findings. `runs` are in the order of [`Across::runs`].
pub fn across(runs: &[RunSummary], across: &Across, style: Style) -> String {
    let mut w = Writer::new(style);
    let mut list =
        Table::default().word("").word("run (UTC)").label("experiment").label("host").word("state");
    for (i, s) in runs.iter().enumerate() {
        list.row(vec![
            cell(number(i)),
            cell(s.id.to_string()),
            cell(s.experiment.clone()),
            cell(s.host.clone()),
            cell(s.state.name()),
        ]);
    }
    w.raw(&list.render(style));
    w.blank();
    let direction = across.better.words();
    let comma = if direction.is_empty() { "" } else { ", " };
    w.wrapped(0, &format!("{}{comma}{direction}", across.metric), Paint::Strong);
    w.blank();
    let mut table = Table::default()
        .label("treatment")
        .word("run")
        .number("n")
        .number("geometric mean")
        .number("ratio to #1")
        .word("verdict");
    for row in &across.rows {
        values(row, &across.unit, &mut table);
    }
    w.raw(&table.render(style));
    w.blank();
    differences(&across.differences, style, &mut w);
    if !across.findings.is_empty() {
        w.blank();
        w.raw(&findings(&across.findings, style));
    }
    w.finish()
}

fn number(i: usize) -> String {
    format!("#{}", i + 1)
}

fn values(row: &AcrossRow, unit: &str, table: &mut Table) {
    for (i, (summary, comparison)) in row.summaries.iter().zip(&row.comparisons).enumerate() {
        let value = summary
            .as_ref()
            .and_then(|s| Some((s.geomean.or(s.mean)?, s.interval)))
            .map_or_else(|| NO_VALUE.to_owned(), |(v, i)| with_interval(v, i, unit));
        let (ratio, verdict) = match comparison {
            Some(c) => (cell(ratio_text(c)), (c.verdict.name().to_owned(), Paint::of(c.verdict))),
            None => (cell(""), cell("")),
        };
        table.row(vec![
            cell(row.label.clone()),
            cell(number(i)),
            cell(summary.as_ref().map_or_else(String::new, |s| s.n.to_string())),
            cell(value),
            ratio,
            verdict,
        ]);
    }
}

fn differences(differences: &[Difference], style: Style, w: &mut Writer) {
    if differences.is_empty() {
        w.line("No recorded fact of the systems differs.", Paint::Plain);
        return;
    }
    let total = count(differences.len(), "fact");
    w.wrapped(0, &format!("What else differed: {total}"), Paint::Strong);
    let hard = differences.iter().filter(|d| d.class == "hard").count();
    let shown = (hard + SOFT_SHOWN).min(differences.len());
    let mut table = Table::default().word("class").label("fact").label("#1").label("another");
    let mut sorted: Vec<&Difference> = differences.iter().collect();
    sorted.sort_by_key(|d| d.class != "hard");
    for d in &sorted[..shown] {
        let paint = if d.class == "hard" { Paint::Warn } else { Paint::Plain };
        table.row(vec![
            (d.class.clone(), paint),
            cell(d.path.clone()),
            cell(d.a.clone()),
            cell(d.b.clone()),
        ]);
    }
    w.raw(&table.render(style));
    if shown < sorted.len() {
        let more = sorted.len() - shown;
        w.line(&format!("  and {more} more; --json has them all"), Paint::Soft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn hard_differences_come_first_and_all_are_shown() {
        let view = fixtures::commands();
        let runs = [view.summary.clone(), view.summary.clone()];
        let text = across(&runs, &fixtures::across(&view), Style::default());
        let first_soft = text.find("sysctl.").unwrap();
        for i in 0..3 {
            assert!(text.find(&format!("kernel.b{i}")).unwrap() < first_soft);
        }
        assert!(text.contains("and 28 more"));
        insta::assert_snapshot!(text);
    }
}
