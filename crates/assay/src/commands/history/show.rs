//! Text form of a history, for a terminal.

use std::fmt::Write as _;

use assay_model::units;
use assay_report::history::{
    change_line, day, functions_text, none_found, none_found_quoted, short, size, slope_line,
    suite_lines, together_line,
};
use assay_stats::series::{ChangeState, HistoryView, QuotedHistory};

/// Returns the name of the metric, or of the only benchmark of a suite.
pub fn metric(shown: &HistoryView) -> &str {
    let only = shown.series.first().filter(|_| !shown.is_suite());
    only.and_then(|s| s.benchmark.as_deref()).unwrap_or(&shown.metric)
}

/// Formats a history as text for a terminal.
pub fn text(shown: &HistoryView, raw: bool) -> String {
    let mut out = format!(
        "{} of {}, as ratios to {} in the same blocks, with 95 % intervals\n",
        metric(shown),
        shown.experiment,
        shown.reference
    );
    let suite = shown.is_suite();
    for line in suite_lines(shown).iter().filter(|_| suite) {
        let _ = writeln!(out, "{}", crate::screen::wrap(line, "  ", "    "));
    }
    for series in shown.series.iter().filter(|_| !suite) {
        let line = format!(
            "{}: {} of {} revisions, standard deviation {:.2} %, neighbours correlated by {:.2}",
            series.machine,
            series.points.len(),
            shown.revisions,
            100.0 * series.sd,
            series.correlation
        );
        let _ = writeln!(out, "\n{}", crate::screen::wrap(&line, "", "  "));
        let scale = units::common_reference(series.points.iter().map(|p| p.value));
        for (i, point) in series.points.iter().enumerate() {
            let mark =
                series.changes.iter().find(|c| c.change.at == i).map_or(" ", |c| {
                    if c.change.state == ChangeState::Confirmed { "!" } else { "?" }
                });
            let value = if raw {
                format!("  {:>9}", units::format_value_as(point.value, &series.unit, 4, scale))
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                "{mark} {:10}  {:10}  {:22}{value}  {}",
                point.label.chars().take(10).collect::<String>(),
                day(point.author_date.as_deref()),
                point.text(),
                point.subject.chars().take(if raw { 17 } else { 28 }).collect::<String>(),
            );
        }
        for change in &series.changes {
            let _ = writeln!(out, "{}", crate::screen::wrap(&change_line(change), "  ", "    "));
            if let Some(functions) = change.known.as_ref().and_then(|k| k.functions.as_ref()) {
                out.push_str(&functions_text(functions, crate::screen::style()));
            }
        }
        for slope in &series.slopes {
            let line = slope_line(&series.points, slope);
            let _ = writeln!(out, "{}", crate::screen::wrap(&line, "  ", "    "));
        }
        if series.changes.is_empty() && series.slopes.is_empty() {
            let line = none_found(series);
            let _ = writeln!(out, "{}", crate::screen::wrap(&line, "  ", "    "));
        }
    }
    if shown.series.is_empty() {
        out.push_str("nothing is measured yet; --fill measures\n");
    }
    if !shown.unusable.is_empty() {
        let line = format!("cannot be measured: {}", shown.unusable.join(", "));
        let _ = writeln!(out, "{}", crate::screen::wrap(&line, "  ", "    "));
    }
    for note in &shown.notes {
        let _ = writeln!(out, "{}", crate::screen::wrap(note, "  ", "    "));
    }
    out
}

/// Formats quoted series as text for a terminal.
pub fn quoted_text(quoted: &QuotedHistory) -> String {
    let head = format!(
        "quoted from {}: assay measured none of it, so changes are only suspected",
        quoted.file
    );
    let mut out = crate::screen::wrap(&head, "", "  ") + "\n";
    for together in &quoted.together {
        let _ = writeln!(out, "{}", crate::screen::wrap(&together_line(together), "", "  "));
    }
    for series in &quoted.series {
        let unit =
            if series.unit.is_empty() { String::new() } else { format!(", {}", series.unit) };
        let _ = writeln!(out, "\n{} ({} points{unit})", series.name, series.points);
        for c in &series.changes {
            let percent = size(c.change.ratio);
            let (first, last) = c.change.place;
            let _ = writeln!(
                out,
                "  suspected: {percent} at point {} (95 %: {first} to {last}) {} {}",
                c.change.at,
                c.time,
                short(&c.revision)
            );
        }
        for s in &series.slopes {
            let _ = writeln!(
                out,
                "  slope: {:+.1} % from point {} to {}",
                100.0 * (s.after / s.before - 1.0),
                s.from,
                s.to
            );
        }
        if series.changes.is_empty() && series.slopes.is_empty() {
            let line = none_found_quoted(series);
            let _ = writeln!(out, "{}", crate::screen::wrap(&line, "  ", "    "));
        }
    }
    out
}
