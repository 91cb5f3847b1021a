//! Runs side by side in one metric: every treatment in every run, the ratio to the first run, what
//! else differed, and what that means for the comparison.

use assay_model::{Across, AcrossRow, Difference, RunSummary, Verdict};

use super::Style;
use super::findings::findings;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::{across_heading, across_value, count, ratio_text};

/// How many differences of a class are shown; of the hard ones all are.
const SHOWN: usize = 12;

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
    if !across.compared.is_empty() {
        w.wrapped(0, &format!("compared: {}", across.compared), Paint::Plain);
    }
    w.blank();
    let mut table = Table::default()
        .label("treatment")
        .word("run")
        .number("n")
        .number(across_heading(across))
        .number("ratio to #1")
        .word("verdict");
    for row in &across.rows {
        values(row, &across.unit, &mut table);
    }
    w.raw(&table.render(style));
    let mut reasons: Vec<&str> = Vec::new();
    for c in across.rows.iter().flat_map(|r| r.comparisons.iter().flatten()) {
        if c.verdict == Verdict::Invalid && !reasons.contains(&c.reason.as_str()) {
            reasons.push(&c.reason);
        }
    }
    for reason in reasons {
        w.wrapped(0, reason, Paint::Bad);
    }
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
        let (ratio, verdict) = match comparison {
            Some(c) => (cell(ratio_text(c)), (c.verdict.name().to_owned(), Paint::of(c.verdict))),
            None => (cell(""), cell("")),
        };
        table.row(vec![
            cell(row.label.clone()),
            cell(number(i)),
            cell(summary.as_ref().map_or_else(String::new, |s| s.n.to_string())),
            cell(across_value(row, i, unit)),
            ratio,
            verdict,
        ]);
    }
}

/// The classes in their order, and what each does to the comparison.
const CLASSES: [(&str, &str); 5] = [
    ("hard", "explains results: with it there is no comparison"),
    ("unknown", "not readable in one of the systems: at least soft"),
    ("soft", "might explain a result: --accept PATH=REASON"),
    ("factor", "meant to differ"),
    ("entailed", "follows from what is meant"),
];

fn differences(differences: &[Difference], style: Style, w: &mut Writer) {
    if differences.is_empty() {
        w.line("No recorded fact of the systems differs.", Paint::Plain);
        return;
    }
    let total = count(differences.len(), "fact");
    w.wrapped(0, &format!("What else differed: {total}"), Paint::Strong);
    for (class, meaning) in CLASSES {
        let of: Vec<&Difference> = differences.iter().filter(|d| d.class == class).collect();
        if of.is_empty() {
            continue;
        }
        w.blank();
        w.wrapped(0, &format!("{class} ({}): {meaning}", of.len()), Paint::Plain);
        let shown = if class == "hard" { of.len() } else { of.len().min(SHOWN) };
        let mut table = Table::default().label("fact").label("#1").label("another");
        for d in &of[..shown] {
            let paint = if class == "hard" { Paint::Warn } else { Paint::Plain };
            table.row(vec![(d.path.clone(), paint), cell(d.a.clone()), cell(d.b.clone())]);
        }
        w.raw(&table.render(style));
        if shown < of.len() {
            let more = of.len() - shown;
            w.line(&format!("  and {more} more; --json has them all"), Paint::Soft);
        }
        for d in of.iter().filter(|d| d.accepted.is_some()) {
            let reason = d.accepted.as_deref().unwrap_or_default();
            w.wrapped(2, &format!("{} accepted: {reason}", d.path), Paint::Soft);
        }
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

    #[test]
    fn what_is_no_comparison_has_no_ratio_and_says_why() {
        let view = fixtures::commands();
        let runs = [view.summary.clone(), view.summary.clone()];
        let mut made = fixtures::across(&view);
        made.compared = "system against system".into();
        made.differences[0].accepted = Some("nothing reads it".into());
        for c in made.rows.iter_mut().flat_map(|r| r.comparisons.iter_mut().flatten()) {
            c.verdict = Verdict::Invalid;
            c.reason = "not a comparison: kernel.b0 differs (6.1.0 and 6.12.48)".into();
            (c.ratio, c.interval, c.twin) = (None, None, None);
        }
        let text = across(&runs, &made, Style::default());
        assert!(text.contains("not a comparison: kernel.b0 differs"));
        assert!(text.contains("system against system"));
        assert!(text.contains("sysctl.a0 accepted: nothing reads it"));
        let compared = text.lines().filter(|l| l.contains("  #2  ") && l.starts_with('…'));
        assert!(compared.clone().count() > 0);
        assert!(compared.clone().all(|l| l.ends_with("no value  invalid")), "{text}");
    }
}
