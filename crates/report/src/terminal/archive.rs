//! The list of the archive's runs.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use assay_model::{RunId, RunState, RunSummary};
use jiff::Timestamp;

use super::Style;
use crate::document::{DocumentPart, Parts, Tone, terminal, text};
use crate::figures::value_text;

/// Formats one line per run: its id, its age and its result, which is the sentence in `said`, else
/// the baseline's value. A run that did not complete also has its state; a run to which somebody
/// added tags or a note has a line below the table. An empty archive is one line, `No runs.`
pub fn archive(
    runs: &[RunSummary],
    said: &BTreeMap<RunId, String>,
    now: SystemTime,
    style: Style,
) -> String {
    let mut all = Parts::default();
    if runs.is_empty() {
        all.say("No runs.");
    }
    let hosts = runs.iter().any(|r| r.host != runs[0].host);
    for r in runs {
        let paint = match r.state {
            RunState::Completed => Tone::Plain,
            RunState::Started => Tone::Strong,
            RunState::Failed => Tone::Bad,
            RunState::Interrupted => Tone::Warn,
        };
        let mut result = match said.get(&r.id).filter(|s| !s.is_empty()) {
            Some(sentence) => sentence.clone(),
            None => format!("{}: {} {}", r.experiment, r.metric, value_text(r.value, &r.unit)),
        };
        if r.state != RunState::Completed {
            result = format!(
                "{} after {} of {} trials; {result}",
                r.state.name(),
                r.completed,
                r.planned
            );
        }
        if hosts {
            result = format!("{}: {result}", r.host);
        }
        let line = format!("{}, {} ago: {result}", r.id, age(&r.started_at, now));
        all.push(DocumentPart::Paragraph(paint, text(line)));
    }
    for r in runs.iter().filter(|r| !r.added_tags.is_empty() || !r.note.is_empty()) {
        let tags = r.all_tags().collect::<Vec<_>>().join(", ");
        let note = r.note.replace('\n', " ");
        let added = [tags, note].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        all.note(format!("{}: {}", r.id, added.join("; ")));
    }
    terminal::parts(&all, style)
}

/// The time since an ISO 8601 time, in its largest unit.
pub fn age(started: &str, now: SystemTime) -> String {
    let then = started.parse::<Timestamp>().ok().map(SystemTime::from);
    let passed = then.and_then(|then| now.duration_since(then).ok());
    let Some(seconds) = passed.as_ref().map(Duration::as_secs) else { return "-".to_owned() };
    let (number, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    format!("{number} {unit}")
}
