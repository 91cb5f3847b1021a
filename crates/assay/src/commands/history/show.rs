//! A history as text, Markdown and data.

use std::fmt::Write as _;

use assay_history::{ChangePoint, Slope, State, analyse};
use assay_model::Better;
use assay_report::page::{History, HistoryPoint, HistorySeries};
use assay_revisions::Revision;
use serde::Serialize;

use super::import::Imported;
use super::known::{Change, Known};
use super::series::{Past, Point};
use super::{analysis, commits};

/// What a history is of.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    pub experiment: &'a str,
    pub metric: &'a str,
    pub reference: &'a Revision,
    pub range: &'a [Revision],
}

/// A history, for programs.
#[derive(Debug, Serialize)]
pub struct Shown {
    schema_version: u32,
    experiment: String,
    metric: String,
    /// The revision that all points are ratios to.
    reference: String,
    revisions: usize,
    pub series: Vec<ShownSeries>,
    /// Revisions that do not build or whose trials fail.
    unusable: Vec<String>,
    notes: Vec<String>,
}

/// One class of machine.
#[derive(Debug, Serialize)]
pub struct ShownSeries {
    machine: String,
    pub points: Vec<Point>,
    changes: Vec<ShownChange>,
    slopes: Vec<Slope>,
    /// The robust standard deviation of the ratios around their levels.
    sd: f64,
    /// The correlation of neighbours.
    correlation: f64,
}

/// A change with its commits and what is known of it.
#[derive(Debug, Serialize)]
struct ShownChange {
    /// The first measured commit of the new level.
    commit: String,
    subject: String,
    /// All commits at which it may be (95 %).
    commits: Vec<String>,
    /// Whether the new level is worse; `null` when neither way is better.
    worse: Option<bool>,
    change: ChangePoint,
    known: Option<Change>,
}

impl Shown {
    /// Confirmed changes for the worse that nobody acknowledged.
    pub fn alarms(&self) -> usize {
        let all = self.series.iter().flat_map(|s| &s.changes);
        all.filter(|c| c.change.state.alarms() && c.worse != Some(false)).count()
    }
}

/// Lays a history out.
pub fn shown(head: Head<'_>, past: &Past, known: &Known, better: Better) -> Shown {
    let series = past.series.iter().map(|s| {
        let found = analysis(&s.points, known);
        let changes = found.changes.into_iter().map(|mut change| {
            let all = commits(head.range, &s.points, &change);
            let told = known.of(&all).cloned();
            change.state = told.as_ref().map_or(State::Suspected, |k| k.state);
            let up = change.after > change.before;
            ShownChange {
                commit: s.points[change.at].commit.clone(),
                subject: s.points[change.at].subject.clone(),
                commits: all.iter().map(|c| (*c).to_owned()).collect(),
                worse: match better {
                    Better::Lower => Some(up),
                    Better::Higher => Some(!up),
                    Better::Neither => None,
                },
                change,
                known: told,
            }
        });
        ShownSeries {
            machine: s.machine.clone(),
            changes: changes.collect(),
            points: s.points.clone(),
            slopes: found.slopes,
            sd: found.sd,
            correlation: found.correlation,
        }
    });
    Shown {
        schema_version: 1,
        experiment: head.experiment.to_owned(),
        metric: head.metric.to_owned(),
        reference: head.reference.label.clone(),
        revisions: head.range.len(),
        series: series.collect(),
        unusable: past.unusable.iter().map(|i| head.range[*i].label.clone()).collect(),
        notes: past.notes.clone(),
    }
}

fn interval(point: &Point) -> String {
    match (point.log_error, ends(point)) {
        (Some(0.0), _) => "1 (reference)".into(),
        (_, Some((low, high))) => assay_model::units::ratio(point.ratio, low, high).to_string(),
        _ => format!("{:.3} (no interval)", point.ratio),
    }
}

/// The 95 % interval of a point's ratio.
fn ends(point: &Point) -> Option<(f64, f64)> {
    let free = (point.blocks.max(2) - 1) as f64;
    let half = quantile(free) * point.log_error?;
    Some((point.ratio * (-half).exp(), point.ratio * half.exp()))
}

/// Student's quantile for 95 %.
fn quantile(free: f64) -> f64 {
    assay_stats::distribution::student_quantile(0.975, free)
}

fn day(date: Option<&String>) -> &str {
    date.and_then(|d| d.get(..10)).unwrap_or("unknown   ")
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

fn change_line(change: &ShownChange) -> String {
    let c = &change.change;
    let way = match change.worse {
        Some(true) => "worse",
        Some(false) => "better",
        None => "changed",
    };
    let percent = c.ratio.map_or("unknown".into(), |r| format!("{:+.1} %", 100.0 * (r - 1.0)));
    let mut line = format!("{}: {way} by {percent} at {}", c.state.name(), short(&change.commit));
    if let [first, .., last] = change.commits.as_slice() {
        let n = change.commits.len();
        let _ = write!(line, " (one of {n} commits from {} to {})", short(first), short(last));
    }
    let _ = write!(line, " \"{}\"", change.subject);
    if let Some(known) = &change.known {
        if let Some(f) = &known.fresh {
            let i = f.interval;
            let ratio = assay_model::units::ratio(f.ratio, i.low, i.high).text(Some(i.level));
            let _ = write!(line, "; a fresh experiment found {ratio}");
        }
        for said in [&known.note, &known.link].into_iter().flatten() {
            let _ = write!(line, "; {said}");
        }
    }
    line
}

fn slope_line(points: &[Point], slope: &Slope) -> String {
    let last = slope.to.min(points.len()) - 1;
    format!(
        "slope: {:+.1} % from {} to {}, {:+.2} % a point",
        100.0 * (slope.after / slope.before - 1.0),
        short(&points[slope.from].commit),
        short(&points[last].commit),
        100.0 * slope.per_point() / slope.before,
    )
}

/// For a terminal.
pub fn text(shown: &Shown, raw: bool) -> String {
    let mut out = format!(
        "{} of {}, as ratios to {} in the same blocks, with 95 % intervals\n",
        shown.metric, shown.experiment, shown.reference
    );
    for series in &shown.series {
        let _ = writeln!(
            out,
            "\n{}: {} of {} revisions, standard deviation {:.2} %, neighbours correlated by {:.2}",
            series.machine,
            series.points.len(),
            shown.revisions,
            100.0 * series.sd,
            series.correlation
        );
        for (i, point) in series.points.iter().enumerate() {
            let mark = series
                .changes
                .iter()
                .find(|c| c.change.at == i)
                .map_or(" ", |c| if c.change.state == State::Confirmed { "!" } else { "?" });
            let value = if raw {
                format!("  {:>12}", format!("{:.6}", point.value))
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                "{mark} {:10}  {}  {:22}{value}  {}",
                point.label.chars().take(10).collect::<String>(),
                day(point.author_date.as_ref()),
                interval(point),
                point.subject.chars().take(if raw { 14 } else { 28 }).collect::<String>(),
            );
        }
        for change in &series.changes {
            let _ = writeln!(out, "{}", crate::screen::wrap(&change_line(change), "  ", "    "));
        }
        for slope in &series.slopes {
            let line = slope_line(&series.points, slope);
            let _ = writeln!(out, "{}", crate::screen::wrap(&line, "  ", "    "));
        }
        if series.changes.is_empty() && series.slopes.is_empty() {
            out.push_str("  no change was found\n");
        }
    }
    if shown.series.is_empty() {
        out.push_str("nothing is measured yet; --fill measures\n");
    }
    if !shown.unusable.is_empty() {
        let all = shown.unusable.join(", ");
        let _ = writeln!(
            out,
            "{}",
            crate::screen::wrap(&format!("cannot be measured: {all}"), "  ", "    ")
        );
    }
    for note in &shown.notes {
        let _ = writeln!(out, "{}", crate::screen::wrap(note, "  ", "    "));
    }
    out
}

/// As a page with charts.
pub fn html(shown: &Shown, better: Better) -> String {
    let series = shown.series.iter().map(|s| HistorySeries {
        machine: s.machine.clone(),
        points: s
            .points
            .iter()
            .map(|p| HistoryPoint {
                label: p.label.clone(),
                date: day(p.author_date.as_ref()).trim().to_owned(),
                subject: p.subject.clone(),
                ratio: p.ratio,
                interval: ends(p).unwrap_or((f64::NAN, f64::NAN)),
                shown: interval(p),
            })
            .collect(),
        marks: s.changes.iter().map(|c| (c.change.at, c.change.state.name().to_owned())).collect(),
        changes: s
            .changes
            .iter()
            .map(change_line)
            .chain(s.slopes.iter().map(|slope| slope_line(&s.points, slope)))
            .collect(),
    });
    let mut notes = shown.notes.clone();
    if !shown.unusable.is_empty() {
        notes.push(format!("Cannot be measured: {}.", shown.unusable.join(", ")));
    }
    assay_report::page::history(&History {
        heading: format!("{}: {} over revisions", shown.experiment, shown.metric),
        lede: format!(
            "Ratios to {}, measured in the same blocks, with 95 % intervals.",
            shown.reference
        ),
        reference: shown.reference.clone(),
        better,
        series: series.collect(),
        notes,
    })
}

/// As a Markdown page.
pub fn page(shown: &Shown) -> String {
    let mut out = format!(
        "# {}: {} over revisions\n\nRatios to `{}`, measured in the same blocks, with 95 % intervals.\n",
        shown.experiment, shown.metric, shown.reference
    );
    for series in &shown.series {
        let _ = writeln!(out, "\n## {}\n", series.machine);
        for change in &series.changes {
            let _ = writeln!(out, "- {}", change_line(change));
        }
        for slope in &series.slopes {
            let _ = writeln!(out, "- {}", slope_line(&series.points, slope));
        }
        if series.changes.is_empty() && series.slopes.is_empty() {
            out.push_str("No change was found.\n");
        }
        out.push_str("\n| revision | author date | ratio | subject |\n|---|---|---|---|\n");
        for point in &series.points {
            let date = day(point.author_date.as_ref()).trim();
            let subject = point.subject.replace('|', "\\|");
            let _ =
                writeln!(out, "| `{}` | {date} | {} | {subject} |", point.label, interval(point));
        }
    }
    if !shown.unusable.is_empty() {
        let _ = writeln!(out, "\nCannot be measured: {}.", shown.unusable.join(", "));
    }
    out
}

/// Quoted series with their changes, for programs.
#[derive(Debug, Serialize)]
pub struct Quoted {
    schema_version: u32,
    file: String,
    sha256: String,
    /// Nothing here was measured by assay, and nothing can be confirmed.
    kind: &'static str,
    series: Vec<QuotedShown>,
}

#[derive(Debug, Serialize)]
struct QuotedShown {
    name: String,
    unit: String,
    points: usize,
    changes: Vec<QuotedChange>,
    slopes: Vec<Slope>,
}

#[derive(Debug, Serialize)]
struct QuotedChange {
    time: String,
    revision: String,
    change: ChangePoint,
}

/// Analyses imported series.
pub fn quoted(imported: &Imported) -> Quoted {
    let series = imported.series.iter().map(|s| {
        let values: Vec<f64> = s.points.iter().map(|p| p.value).collect();
        let found = analyse(&values);
        QuotedShown {
            name: s.name.clone(),
            unit: s.unit.clone(),
            points: values.len(),
            changes: found
                .changes
                .into_iter()
                .map(|change| QuotedChange {
                    time: s.points[change.at].time.clone(),
                    revision: s.points[change.at].revision.clone(),
                    change,
                })
                .collect(),
            slopes: found.slopes,
        }
    });
    Quoted {
        schema_version: 1,
        file: imported.file.clone(),
        sha256: imported.sha256.clone(),
        kind: "quoted",
        series: series.collect(),
    }
}

/// The same for a terminal.
pub fn quoted_text(quoted: &Quoted) -> String {
    let mut out = format!(
        "quoted from {}: assay measured none of it, so changes are suspected and cannot be confirmed\n",
        quoted.file
    );
    for series in &quoted.series {
        let unit =
            if series.unit.is_empty() { String::new() } else { format!(", {}", series.unit) };
        let _ = writeln!(out, "\n{} ({} points{unit})", series.name, series.points);
        for c in &series.changes {
            let percent =
                c.change.ratio.map_or("unknown".into(), |r| format!("{:+.1} %", 100.0 * (r - 1.0)));
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
            out.push_str("  no change was found\n");
        }
    }
    out
}
