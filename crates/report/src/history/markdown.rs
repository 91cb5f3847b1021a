//! Writes a history as a Markdown page.

use std::fmt::Write as _;

use assay_stats::series::HistoryView;

use super::{change_line, day, functions_markdown, none_found, slope_line, suite_lines};

pub fn markdown(shown: &HistoryView) -> String {
    let mut out = format!(
        "# {}: {} over revisions\n\n\
        Ratios to `{}`, measured in the same blocks, with 95 % intervals.\n",
        shown.experiment, shown.metric, shown.reference
    );
    let suite = shown.is_suite();
    if suite {
        out.push('\n');
        for line in suite_lines(shown) {
            let _ = writeln!(out, "- {line}");
        }
    }
    // The tables of steady benchmarks have nothing that the list lacks.
    for series in shown.series.iter().filter(|s| !suite || !s.changes.is_empty()) {
        match &series.benchmark {
            Some(name) => {
                let _ = writeln!(out, "\n## {name}, {}\n", series.machine);
            }
            None => {
                let _ = writeln!(out, "\n## {}\n", series.machine);
            }
        }
        for change in &series.changes {
            let _ = writeln!(out, "- {}", change_line(change));
        }
        for slope in &series.slopes {
            let _ = writeln!(out, "- {}", slope_line(&series.points, slope));
        }
        if series.changes.is_empty() && series.slopes.is_empty() {
            let _ = writeln!(out, "{}.", none_found(series));
        }
        for known in series.changes.iter().filter_map(|c| c.known.as_ref()) {
            if let Some(functions) = &known.functions {
                let _ = writeln!(out, "\n{}", functions_markdown(functions).trim());
            }
        }
        out.push_str("\n| revision | author date | ratio | subject |\n|---|---|---|---|\n");
        for point in &series.points {
            let date = day(point.author_date.as_deref());
            let subject = point.subject.replace('|', "\\|");
            let _ = writeln!(out, "| `{}` | {date} | {} | {subject} |", point.label, point.text());
        }
    }
    if !shown.unusable.is_empty() {
        let _ = writeln!(out, "\nCannot be measured: {}.", shown.unusable.join(", "));
    }
    for note in &shown.notes {
        let _ = writeln!(out, "\n{note}.");
    }
    out
}
