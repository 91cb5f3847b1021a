//! Compares runs in one metric: every treatment in every run, the ratio to the first run, the other
//! differences, and their effect on the comparison. Also the counts of the block I/O tracer.

use assay_model::{Across, Difference, RunSummary, Verdict};

use crate::document::table::ColumnKind;
use crate::document::{
    DocumentPart, Outputs, Parts, Table, TableCell, Text, TextStyle, Tone, cell, text,
};
use crate::figures::{across_heading, across_mark, across_scale, across_value, ratio_text};
use crate::merged_sentences::distinct;
use crate::words;

/// Classes of differences in the order of the output, with their effect on the comparison.
const CLASSES: [(&str, &str); 6] = [
    ("hard", "explains results, so there is no comparison"),
    ("unknown", "not readable in one of the systems"),
    ("soft", "might explain a result"),
    ("factor", "meant to differ"),
    ("entailed", "follows from a declared difference"),
    ("unrelated", "not used by the trials"),
];

/// Returns the runs, the values and ratios by treatment, the differences (hard ones first) and the
/// findings. `link` returns the address of a run's own page, if it has one; `runs` are in the order
/// of [`Across::runs`].
pub(crate) fn across(
    runs: &[RunSummary],
    across: &Across,
    link: &dyn Fn(&str) -> Option<String>,
) -> Parts {
    let mut out = Parts::default();
    out.table(list(runs, link));
    out.on(Outputs::Published, DocumentPart::Heading(2, String::new(), "Values and ratios".into()));
    out.append(results(across));
    out.push(DocumentPart::Heading(2, String::new(), "What else differed".into()));
    out.append(differed(across));
    out
}

/// Returns the table of runs, each with a link to its page.
pub(crate) fn runs(all: &[RunSummary], link: &dyn Fn(&str) -> Option<String>) -> Parts {
    let mut out = Parts::default();
    out.table(list(all, link));
    out
}

/// Returns the reasons why there is no comparison, each once; empty if there is one.
pub(crate) fn void(across: &Across) -> Vec<&str> {
    let all = across.rows.iter().flat_map(|r| r.comparisons.iter().flatten());
    distinct(all.filter(|c| c.verdict == Verdict::Invalid).map(|c| c.reason.as_str()))
}

/// Returns the values and ratios by treatment.
pub(crate) fn results(across: &Across) -> Parts {
    let mut out = Parts::default();
    let words = |words: &str, before: &str| match words {
        "" => String::new(),
        words => format!("{before}{words}"),
    };
    let better = words(across.better.words(), ", ");
    let compared = words(&across.compared, "; compared: ");
    out.push(DocumentPart::Paragraph(
        Tone::Strong,
        text(format!("{}{better}{compared}", across.metric)),
    ));
    out.table(values(across));
    for reason in void(across) {
        out.on(Outputs::Terminal, DocumentPart::Paragraph(Tone::Bad, reason.into()));
    }
    for row in &across.rows {
        for (i, doubts) in row.doubts.iter().enumerate() {
            for why in doubts {
                out.note(format!("{} in {}: doubtful: {why}", row.label, number(i)));
            }
        }
    }
    for (i, known) in across.floors.iter().enumerate() {
        if let Some(known) = known {
            out.note(format!("{}: {}.", number(i), words::floor(known)));
        }
    }
    if across.floors.iter().any(Option::is_some) {
        out.note(words::FLOOR_ACROSS);
    }
    out
}

/// Returns the other differences and the findings.
pub(crate) fn differed(across: &Across) -> Parts {
    let mut out = Parts::default();
    differences(&across.differences, &mut out);
    out.findings(&across.findings);
    out
}

fn number(i: usize) -> String {
    format!("#{}", i + 1)
}

fn list(runs: &[RunSummary], link: &dyn Fn(&str) -> Option<String>) -> Table {
    let mut table = Table::captioned("The runs; the first is the baseline")
        .words(["no.", "run (UTC)"])
        .labels(["experiment", "host"])
        .column(Outputs::Published, ColumnKind::Word, "started (UTC)")
        .word("state");
    for (i, s) in runs.iter().enumerate() {
        let id = s.id.to_string();
        let run = match link(&id) {
            Some(to) => Text::default().link(to, id),
            None => Text::default().code(id),
        };
        let started = s.started_at.replace('T', " ");
        table.row(vec![
            cell(number(i)),
            cell(run),
            cell(s.experiment.clone()),
            cell(s.host.clone()),
            cell(started.trim_end_matches('Z')),
            cell(s.state.name()),
        ]);
    }
    table
}

fn values(across: &Across) -> Table {
    let mut table = Table::captioned("Each later run against the first, by treatment")
        .label("treatment")
        .word("run")
        .numbers(["n", across_heading(across), "ratio to #1"])
        .word("verdict")
        .column(Outputs::Published, ColumnKind::Word, "reason");
    let scale = across_scale(across);
    for row in &across.rows {
        for (i, summary) in row.summaries.iter().enumerate() {
            let comparison = row.comparisons.get(i).and_then(Option::as_ref);
            let mut cells = vec![
                cell(row.label.clone()),
                cell(number(i)),
                cell(summary.as_ref().map_or_else(String::new, |s| s.n.to_string())),
                cell(across_value(across, row, i, scale)),
                cell(comparison.map_or_else(String::new, |c| {
                    ratio_text(c) + across_mark(across, row, &[0, i])
                })),
            ];
            match comparison {
                Some(c) => {
                    let reason = Text::default().piece(TextStyle::Soft, c.reason.clone());
                    cells.extend([TableCell::verdict(c.verdict), cell(reason)]);
                }
                None => cells.extend([cell(""), cell("")]),
            }
            table.row(cells);
        }
    }
    table
}

fn differences(all: &[Difference], out: &mut Parts) {
    if all.is_empty() {
        out.say("No recorded fact of the systems differs.");
    }
    for (class, meaning) in CLASSES {
        let of: Vec<&Difference> = all.iter().filter(|d| d.class == class).collect();
        let title = format!("{class} ({}): {meaning}", of.len());
        let mut table = Table::captioned(&*title)
            .label("fact")
            .label("#1")
            .label("another")
            .column(Outputs::Published, ColumnKind::Word, "run");
        table.most = 0;
        let hard = class == "hard";
        let tone = if hard { Tone::Warn } else { Tone::Plain };
        for d in &of {
            let to = [d.path.as_str(), &d.a, &d.b, d.run.as_str()];
            table.row(to.map(|words| cell(words).tone(tone)).to_vec());
        }
        if hard || class == "factor" {
            out.table(table);
            continue;
        }
        if of.is_empty() {
            continue;
        }
        let (open, accepted): (Vec<&Difference>, Vec<&Difference>) =
            of.iter().partition(|d| d.accepted.is_none());
        let mut reasons: Vec<&str> = Vec::new();
        for d in &accepted {
            reasons.extend(d.accepted.as_deref().filter(|why| !reasons.contains(why)));
        }
        let mut lines: Vec<String> = Vec::new();
        if !open.is_empty() {
            let paths = assay_model::folded_facts(open.iter().map(|d| d.path.as_str()));
            lines.push(format!("{class} ({meaning}): {paths}"));
        }
        for why in reasons {
            let of = accepted.iter().filter(|d| d.accepted.as_deref() == Some(why));
            let paths = assay_model::folded_facts(of.map(|d| d.path.as_str()));
            lines.push(format!("{paths} accepted: {why}"));
        }
        for line in &lines {
            out.on(Outputs::Terminal, DocumentPart::Paragraph(Tone::Soft, line.clone().into()));
        }
        let mut folded = Parts::default();
        folded.table(table);
        if !accepted.is_empty() {
            folded.push(DocumentPart::List(
                Tone::Soft,
                lines.into_iter().skip(usize::from(!open.is_empty())).map(text).collect(),
            ));
        }
        let summary = format!("{class} ({})", of.len());
        out.on(Outputs::Published, DocumentPart::Details { summary, open: false, parts: folded });
    }
}

/// Returns the counts of the block I/O tracer, with a row for each metric, treatment and run; empty
/// without traced runs. Each entry of `of` has the same runs in one metric.
pub(crate) fn io(of: &[Across]) -> Table {
    let has = |a: &&Across| a.rows.iter().any(|r| r.summaries.iter().flatten().count() > 0);
    let shown: Vec<&Across> = of.iter().filter(has).collect();
    let several = shown.iter().any(|a| a.rows.len() > 1);
    let mut table = Table::captioned("Block I/O of the measured part, all programs together")
        .word("metric")
        .labels(several.then_some("treatment"))
        .word("run")
        .column(Outputs::Published, ColumnKind::Number, "n")
        .numbers(["geometric mean", "ratio to #1"]);
    for a in shown {
        let scale = across_scale(a);
        for row in &a.rows {
            for (i, (summary, ratio)) in row.summaries.iter().zip(&row.comparisons).enumerate() {
                let mut cells = vec![cell(a.metric.trim_start_matches("io."))];
                if several {
                    cells.push(cell(row.label.clone()));
                }
                cells.extend([
                    cell(number(i)),
                    cell(summary.as_ref().map_or_else(String::new, |s| s.n.to_string())),
                    cell(across_value(a, row, i, scale)),
                    cell(ratio.as_ref().map_or_else(String::new, |c| {
                        ratio_text(c) + across_mark(a, row, &[0, i])
                    })),
                ]);
                table.row(cells);
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use assay_model::units::common_reference;

    use super::*;
    use crate::document::{html, terminal};
    use crate::figures::percentile_text;
    use crate::fixtures;
    use crate::terminal::Style;

    fn both(made: &Across) -> [String; 2] {
        let view = fixtures::commands();
        let runs = [view.summary.clone(), view.summary.clone()];
        let parts = across(&runs, made, &|id| Some(format!("/runs/{id}")));
        [html::parts(&parts).into_string(), terminal::parts(&parts, Style::default())]
    }

    #[test]
    fn hard_differences_come_first_and_all_are_shown() {
        let [_, text] = both(&fixtures::across(&fixtures::commands()));
        let first_soft = text.find("sysctl").unwrap();
        for i in 0..3 {
            assert!(text.find(&format!("kernel.b{i}")).unwrap() < first_soft);
        }
        assert!(text.contains("sysctl (40)"), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_is_no_comparison_has_no_ratio_and_says_why() {
        let mut made = fixtures::across(&fixtures::commands());
        made.compared = "system against system".into();
        for c in made.rows.iter_mut().flat_map(|r| r.comparisons.iter_mut().flatten()) {
            c.verdict = Verdict::Invalid;
            c.reason = "not a comparison: kernel.b0 differs (6.1.0 and 6.12.48)".into();
            (c.ratio, c.interval, c.sensitivity) = (None, None, None);
        }
        let [page, text] = both(&made);
        for out in [&page, &text] {
            assert!(out.contains("not a comparison: kernel.b0 differs"));
            assert!(out.contains("system against system"));
        }
        let compared = text.lines().filter(|l| l.contains("  #2  ") && l.starts_with('…'));
        assert!(compared.clone().count() > 0);
        assert!(compared.clone().all(|l| l.ends_with("no value  invalid")), "{text}");
    }

    #[test]
    fn a_page_says_what_the_terminal_says() {
        let view = fixtures::commands();
        let mut made = fixtures::across(&view);
        let soft = made.differences.iter_mut().find(|d| d.class == "soft").unwrap();
        soft.accepted = Some("nothing reads it".to_owned());
        made.rows[0].doubts = vec![vec![], vec!["assay was stopped".to_owned()]];
        for made in [made, fixtures::across_percentile(&view)] {
            for text in both(&made) {
                for c in made.rows.iter().flat_map(|r| r.comparisons.iter().flatten()) {
                    assert!(text.contains(&ratio_text(c)), "{}", ratio_text(c));
                }
                for reason in made.differences.iter().filter_map(|d| d.accepted.as_ref()) {
                    assert!(text.contains(reason), "{reason}");
                }
                assert!(text.contains(across_heading(&made)));
                for (row, run) in made.rows.iter().flat_map(|r| [(r, 0), (r, 1)]) {
                    let shown = across_value(&made, row, run, across_scale(&made));
                    assert!(text.contains(&shown), "{shown}");
                    if let Some(merged) = row.percentiles.get(run).and_then(Option::as_ref) {
                        let all = made.rows.iter().flat_map(|r| r.percentiles.iter().flatten());
                        let scale = common_reference(all.filter_map(|p| p.value));
                        assert_eq!(shown, percentile_text(merged, &made.unit, scale));
                    }
                }
                let doubted = made.rows.iter().any(|r| !r.doubts.is_empty());
                assert_eq!(
                    text.matches("(doubtful)").count(),
                    if doubted { 2 } else { 0 },
                    "{text}"
                );
                assert_eq!(text.contains("assay was stopped"), doubted);
            }
        }
    }

    #[test]
    fn values_beside_each_other_have_one_prefix() {
        let mut made = fixtures::across(&fixtures::commands());
        made.unit = "s".into();
        let set = |made: &mut Across, run: usize, value: f64| {
            for summary in made.rows.iter_mut().filter_map(|r| r.summaries[run].as_mut()) {
                (summary.geomean, summary.interval) = (Some(value), None);
            }
        };
        set(&mut made, 0, 0.95);
        set(&mut made, 1, 1.2);
        for text in both(&made) {
            assert!(text.contains("950.0 ms") && text.contains("1200 ms"), "{text}");
        }
        // Values too far apart for one prefix keep their own.
        set(&mut made, 0, 0.000_95);
        for text in both(&made) {
            assert!(text.contains("950.0 µs") && text.contains("1.200 s"), "{text}");
        }
        // Percentiles share a prefix as well.
        let mut made = fixtures::across_percentile(&fixtures::commands());
        made.unit = "s".into();
        for row in &mut made.rows {
            for (percentile, value) in row.percentiles.iter_mut().flatten().zip([0.95, 1.2]) {
                percentile.value = Some(value);
            }
        }
        for text in both(&made) {
            assert!(text.contains("950.0 ms") && text.contains("1200 ms"), "{text}");
        }
    }

    #[test]
    fn every_metric_of_every_run_has_a_line() {
        let mut made = fixtures::across(&fixtures::commands());
        made.metric = "io.writes".into();
        let text = io(&[made.clone()]).render(Style::default());
        let runs = made.rows.iter().map(|r| r.summaries.len()).sum::<usize>();
        assert_eq!(text.lines().filter(|l| l.starts_with("writes ")).count(), runs, "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        assert!(io(&[]).rows.is_empty());
    }
}
