//! A metric over revisions: the sentences about its changes, which all outputs share; Markdown; the
//! parts of pages.

mod functions;
mod markdown;
mod page;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use assay_model::units;
use assay_stats::series::{
    BenchmarkGap, ChangeState, ChangeView, CommonMove, HistoryView, MIN_POINTS, QuotedSeriesView,
    SeriesPoint, SeriesView, Slope,
};

/// Number of changes of a suite that are listed one by one.
const LISTED: usize = 10;

pub use functions::{functions_markdown, functions_sentence, functions_text};
pub use markdown::markdown;
pub use page::content;
pub use page::{
    PageLinks, PublishedHistory, anchor, large, large_quoted, left_out, overview, published,
    series_anchor, small, small_quoted, suite_summary,
};

/// Returns the day of a date, or `unknown`.
pub fn day(date: Option<&str>) -> &str {
    date.and_then(|d| d.get(..10)).unwrap_or("unknown")
}

/// Returns the first ten characters of a commit's hash, or `worktree` without the hash of its tree.
pub fn short(commit: &str) -> &str {
    commit.split_once(':').map_or_else(|| commit.get(..10).unwrap_or(commit), |(name, _)| name)
}

/// Formats the size of a change: in percent, or as a factor if it is threefold or more.
pub fn size(ratio: Option<f64>) -> String {
    match ratio {
        None => "unknown".to_owned(),
        Some(r) if r > 1.0 / 3.0 && r < 3.0 => format!("{:+.1} %", 100.0 * (r - 1.0)),
        Some(r) => format!("a factor of {}", units::significant(r, 3)),
    }
}

/// Describes a change without its state.
pub(crate) fn change_words(change: &ChangeView) -> String {
    let c = &change.change;
    let way = match change.worse {
        Some(true) => "worse",
        Some(false) => "better",
        None => "changed",
    };
    let mut line = format!("{way} by {} at {}", size(c.ratio), short(&change.commit));
    if let [first, .., last] = change.commits.as_slice() {
        let n = change.commits.len();
        let _ = write!(line, " (one of {n} commits from {} to {})", short(first), short(last));
    }
    let _ = write!(line, " \"{}\"", change.subject);
    if let Some(f) = change.known.as_ref().and_then(|k| k.fresh.as_ref()) {
        let i = f.interval;
        let ratio = units::ratio(f.ratio, i.low, i.high).text(Some(i.level));
        let _ = write!(line, "; a fresh experiment found {ratio}");
    }
    line
}

/// Returns the sentence for a series without a change: the smallest step that it would have shown.
pub fn none_found(series: &SeriesView) -> String {
    no_step(series.points.len(), series.visible.map(share))
}

/// Returns the sentence of [`none_found`] for a quoted series.
pub fn none_found_quoted(series: &QuotedSeriesView) -> String {
    let step = |v| if series.relative { share(v) } else { units::format_value(v, &series.unit) };
    no_step(series.points, series.visible.map(step))
}

/// Describes in a sentence a point where most series of a file move together.
pub fn together_line(t: &CommonMove) -> String {
    format!("{}: that suggests the machine or the harness", together_words(t))
}

fn together_words(t: &CommonMove) -> String {
    let (way, size) = (if t.ratio > 1.0 { "rise" } else { "fall" }, share((t.ratio - 1.0).abs()));
    let time = if t.machine.is_some() { day(Some(&t.time)) } else { &t.time };
    let place = [short(&t.revision), time].join(" ");
    let last = match t.last {
        None => String::new(),
        Some(1) => ", the last point".to_owned(),
        Some(n) => format!(", the last {n} points"),
    };
    let (series, of, place) = (t.series, t.of, place.trim());
    format!("{series} of {of} series {way} together at {place}{last}, by about {size}")
}

/// Describes a suite in sentences: places where most series move, the changes of single benchmarks,
/// the worst first, the number of the others, and benchmarks that some revisions lack.
pub fn suite_lines(shown: &HistoryView) -> Vec<String> {
    let machines: BTreeSet<&str> = shown.series.iter().map(|s| s.machine.as_str()).collect();
    let on = |machine: &str| {
        if machines.len() > 1 { format!(" on {machine}") } else { String::new() }
    };
    let label = |s: &SeriesView| format!("{}{}", s.name(&shown.metric), on(&s.machine));
    let of = |together: bool| {
        let all = shown.series.iter().flat_map(|s| s.changes.iter().map(move |c| (s, c)));
        all.filter(move |(_, c)| c.together == together)
    };
    let mut out = Vec::new();
    for common in &shown.together {
        let machine = common.machine.as_deref().unwrap_or_default();
        let here = of(true).filter(|(s, c)| {
            let confirmed = c.change.state == ChangeState::Confirmed;
            confirmed && s.machine == machine && c.commits.contains(&common.revision)
        });
        out.push(match here.count() {
            0 => format!("{}{}", together_line(common), on(machine)),
            n => format!(
                "{}{}: a fresh experiment confirmed {n} of them",
                together_words(common),
                on(machine)
            ),
        });
    }
    let changes: Vec<String> =
        of(false).map(|(s, c)| format!("{}: {}", label(s), change_line(c))).collect();
    out.extend(changes.iter().take(LISTED).cloned());
    if changes.len() > LISTED {
        let more = changes.len() - LISTED;
        out.push(format!("{more} more changes: --json and -o FILE.html list them all"));
    }
    for series in &shown.series {
        let slope = |slope| format!("{}: {}", label(series), slope_line(&series.points, slope));
        out.extend(series.slopes.iter().map(slope));
    }
    let is_steady = |s: &&SeriesView| s.slopes.is_empty() && s.changes.iter().all(|c| c.together);
    let mut steady: Vec<&SeriesView> = shown.series.iter().filter(is_steady).collect();
    steady.sort_by(|a, b| a.visible.unwrap_or(0.0).total_cmp(&b.visible.unwrap_or(0.0)));
    if let Some(middle) = steady.get(steady.len() / 2) {
        let others = if shown.together.is_empty() { "" } else { " of their own" };
        let step = match middle.visible.filter(|_| middle.points.len() >= MIN_POINTS) {
            Some(step) => {
                format!("half would show a step of {} or less in their middle", share(step))
            }
            None => none_found(middle),
        };
        let (count, all) = (steady.len(), shown.series.len());
        out.push(format!("{count} of {all} series have no change{others}; {step}"));
    }
    let gap = |g: &BenchmarkGap| {
        let mut words = Vec::new();
        if g.new {
            words.push(format!("new at {}", g.first));
        }
        if g.gone {
            words.push(format!("gone or without a value after {}", g.last));
        }
        if !g.in_reference {
            words.push(format!("not in the reference {}, so without a series", shown.reference));
        }
        format!("{}{}: {}", g.benchmark, on(&g.machine), words.join(", "))
    };
    out.extend(shown.gaps.iter().map(gap));
    out
}

fn share(step: f64) -> String {
    format!("{} %", units::significant(100.0 * step, 2))
}

fn no_step(points: usize, step: Option<String>) -> String {
    match step {
        None => format!("{points} of the {MIN_POINTS} points that a change needs"),
        Some(step) if points < MIN_POINTS => format!(
            "{points} of the {MIN_POINTS} points that a change needs; {MIN_POINTS} of this noise \
            would show a step of {step} or more"
        ),
        Some(step) => {
            format!(
                "no change found; {points} points of this noise would show a step of {step} or more"
            )
        }
    }
}

/// Describes a change in a sentence: its state, the change itself, and a person's note.
pub fn change_line(change: &ChangeView) -> String {
    let mut line = format!("{}: {}", change.change.state.name(), change_words(change));
    if let Some(known) = &change.known {
        for text in [&known.note, &known.link].into_iter().flatten() {
            let _ = write!(line, "; {text}");
        }
        if let Some(functions) = &known.functions {
            let _ = write!(line, "; {}", functions_sentence(functions));
        }
    }
    line
}

/// Describes a slow slope in a sentence.
pub fn slope_line(points: &[SeriesPoint], slope: &Slope) -> String {
    let last = slope.to.min(points.len()) - 1;
    format!(
        "slope: {:+.1} % from {} to {}, {:+.2} % a point",
        100.0 * (slope.after / slope.before - 1.0),
        short(&points[slope.from].commit),
        short(&points[last].commit),
        100.0 * slope.per_point() / slope.before,
    )
}
