//! A metric over revisions: the sentences about its changes, which all outputs share; Markdown; the
//! parts of pages.

mod functions;
mod markdown;
mod page;

use std::fmt::Write as _;

use assay_model::units;
use assay_stats::series::{
    ChangeView, CommonMove, MIN_POINTS, QuotedSeriesView, SeriesPoint, SeriesView, Slope,
};

pub use functions::{functions_markdown, functions_sentence, functions_text};
pub use markdown::markdown;
pub use page::content;
pub use page::{
    PageLinks, PublishedHistory, STATE_CLASSES, anchor, large, large_quoted, overview, published,
    small, small_quoted,
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
    let (way, size) = (if t.ratio > 1.0 { "rise" } else { "fall" }, share((t.ratio - 1.0).abs()));
    let place = [short(&t.revision), &t.time].join(" ");
    let last = match t.last {
        None => String::new(),
        Some(1) => ", the last point".to_owned(),
        Some(n) => format!(", the last {n} points"),
    };
    format!(
        "{} of {} series {way} together at {}{last}, by about {size}: that suggests the machine or the harness, not one of them",
        t.series,
        t.of,
        place.trim()
    )
}

fn share(step: f64) -> String {
    format!("{} %", units::significant(100.0 * step, 2))
}

fn no_step(points: usize, step: Option<String>) -> String {
    match step {
        None => format!("{points} of the {MIN_POINTS} points that a change needs"),
        Some(step) if points < MIN_POINTS => format!(
            "{points} of the {MIN_POINTS} points that a change needs; {MIN_POINTS} of this noise would show a step of {step} or more"
        ),
        Some(step) => format!(
            "no change found; {points} points of this noise would show a step of {step} or more in their middle"
        ),
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
