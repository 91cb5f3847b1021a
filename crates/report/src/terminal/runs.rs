//! Several runs side by side, and what else differed between them.

use assay_model::{Analysis, RunSummary};

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::{count, summary_text};
use crate::view::deciding;

/// A fact in which a run's system differs from the first run's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The fact's path.
    pub path: String,
    /// What it was in the first run.
    pub a: String,
    /// What it is in this one.
    pub b: String,
    /// How much it matters: `hard`, `soft` or `volatile`.
    pub class: String,
}

/// One run of a comparison.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// The run in one line.
    pub summary: &'a RunSummary,
    /// Its analysis.
    pub analysis: &'a Analysis,
    /// What differs from the first run; empty for the first one.
    pub differs: Vec<Difference>,
}

/// How many differences that are not hard are shown for a run.
const SOFT_SHOWN: usize = 12;

/// Every treatment of every run in the deciding metric, then the differences, the hard ones first.
/// Runs at different times are not interleaved: no ratio between them is claimed here.
pub fn runs(sides: &[Side<'_>], style: Style) -> String {
    let mut w = Writer::new(style);
    let mut list =
        Table::default().word("").word("run (UTC)").label("experiment").label("host").word("state");
    for (i, side) in sides.iter().enumerate() {
        let s = side.summary;
        list.row(vec![
            cell(format!("#{}", i + 1)),
            cell(s.id.to_string()),
            cell(s.experiment.clone()),
            cell(s.host.clone()),
            cell(s.state.name()),
        ]);
    }
    w.raw(&list.render(style));
    w.blank();
    let mut labels: Vec<(&str, &str)> = Vec::new();
    for s in sides.iter().flat_map(|s| deciding(s.analysis)) {
        if !labels.contains(&(s.metric.as_str(), s.label.as_str())) {
            labels.push((&s.metric, &s.label));
        }
    }
    let mut table = Table::default()
        .label("treatment")
        .word("run")
        .number("n")
        .label("metric")
        .number("geometric mean");
    for (metric, label) in labels {
        for (i, side) in sides.iter().enumerate() {
            let found = deciding(side.analysis)
                .into_iter()
                .find(|s| s.metric == metric && s.label == label);
            let (n, value) = found.map_or_else(
                || (String::new(), "not in this run".to_owned()),
                |s| (s.summary.n.to_string(), summary_text(s)),
            );
            table.row(vec![
                cell(label),
                cell(format!("#{}", i + 1)),
                cell(n),
                cell(metric),
                cell(value),
            ]);
        }
    }
    w.raw(&table.render(style));
    w.blank();
    for (i, side) in sides.iter().enumerate().skip(1) {
        differences(i + 1, &side.differs, style, &mut w);
    }
    w.wrapped(
        0,
        "The runs were not interleaved: a difference between them may be one of time, not of treatment.",
        Paint::Soft,
    );
    w.finish()
}

fn differences(number: usize, differs: &[Difference], style: Style, w: &mut Writer) {
    if differs.is_empty() {
        w.line(&format!("#{number}: no recorded fact differs from #1"), Paint::Plain);
        return;
    }
    w.wrapped(
        0,
        &format!("#{number}: {} from #1", count(differs.len(), "difference")),
        Paint::Strong,
    );
    let mut sorted: Vec<&Difference> = differs.iter().collect();
    let rank = |d: &Difference| match d.class.as_str() {
        "hard" => 0,
        "soft" => 1,
        _ => 2,
    };
    sorted.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.path.cmp(&b.path)));
    let hard = sorted.iter().filter(|d| rank(d) == 0).count();
    let shown = (hard + SOFT_SHOWN).min(sorted.len());
    let mut table =
        Table::default().word("class").label("fact").label("#1").label(&format!("#{number}"));
    for d in &sorted[..shown] {
        let paint = if rank(d) == 0 { Paint::Warn } else { Paint::Plain };
        table.row(vec![
            (d.class.clone(), paint),
            cell(d.path.clone()),
            cell(d.a.clone()),
            cell(d.b.clone()),
        ]);
    }
    w.raw(&table.render(style));
    if shown < sorted.len() {
        w.line(&format!("  and {} more", sorted.len() - shown), Paint::Soft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn hard_differences_come_first_and_all_are_shown() {
        let view = fixtures::commands();
        let difference = |path: &str, class: &str| Difference {
            path: path.into(),
            a: "6.1.0".into(),
            b: "6.12.48".into(),
            class: class.into(),
        };
        let mut differs: Vec<Difference> =
            (0..40).map(|i| difference(&format!("sysctl.a{i}"), "soft")).collect();
        differs.extend((0..3).map(|i| difference(&format!("kernel.b{i}"), "hard")));
        let side = |differs| Side { summary: &view.summary, analysis: &view.analysis, differs };
        let text = runs(&[side(vec![]), side(differs)], Style::default());
        let first_soft = text.find("sysctl.").unwrap();
        for i in 0..3 {
            assert!(text.find(&format!("kernel.b{i}")).unwrap() < first_soft);
        }
        assert!(text.contains("and 28 more"));
        insta::assert_snapshot!(text);
    }
}
