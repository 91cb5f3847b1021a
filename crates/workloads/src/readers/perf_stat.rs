//! Counts of `perf stat`, as CSV (`-x,` or another separator) or as JSON lines (`-j`). Each event
//! is a metric of the program.

use assay_model::Better::{Lower, Neither};
use serde_json::Value;

use crate::readers::prelude::*;

/// A count: value (`None` if the event was not counted), unit and event.
struct Count {
    value: Option<f64>,
    unit: String,
    event: String,
}

/// Separators that `-x` is commonly given.
const SEPARATORS: [char; 5] = [',', ';', '\t', '|', ':'];

fn json_line(line: &str) -> Option<Count> {
    if !line.starts_with('{') {
        return None;
    }
    let object: Value = serde_json::from_str(line.trim_end_matches(',')).ok()?;
    let text = |key: &str| object.get(key)?.as_str().map(str::to_owned);
    let value =
        object.get("counter-value").map(|v| number(v.as_str().unwrap_or(&v.to_string())))?;
    Some(Count { value, unit: text("unit").unwrap_or_default(), event: text("event")? })
}

/// Parses a line such as `12.34,msec,task-clock,12340000,100.00,...`.
fn csv_line(line: &str) -> Option<Count> {
    let separator = SEPARATORS.into_iter().find(|s| line.matches(*s).count() >= 4)?;
    let cells: Vec<&str> = line.split(separator).collect();
    let [value, unit, event, rest @ ..] = cells.as_slice() else { return None };
    let is_event = event.starts_with(|c: char| c.is_ascii_alphabetic()) && !event.contains(' ');
    let is_unit = unit.chars().all(char::is_alphabetic);
    // The run time of the counter and its share follow, with a deviation before them after `-r`.
    let rest = if rest.first()?.ends_with('%') { &rest[1..] } else { rest };
    let [time, share, ..] = rest else { return None };
    let share = share.replace(',', ".");
    let times = time.bytes().all(|b| b.is_ascii_digit())
        && share.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 2)
        && number(&share).is_some_and(|share| (0.0..=100.0).contains(&share));
    // Also a count that is not a number, which has no value then.
    (!value.is_empty() && is_event && is_unit && times).then(|| Count {
        value: number(value),
        unit: (*unit).to_owned(),
        event: (*event).to_owned(),
    })
}

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| csv_line(line).is_some())
        || head_has(bytes, |line| line.starts_with('{') && line.contains("\"counter-value\""))
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("perf stat", "perf-stat");
    suite.add("", &[])?;
    for (_, line) in lines(&text) {
        let Some(count) = json_line(&line).or_else(|| csv_line(&line)) else {
            let like = line.starts_with(|c: char| c.is_numeric() || "-+.\u{2212}".contains(c));
            if like || line.contains("\"counter-value\"") {
                suite.result().trials[0].notes.push(format!("not a count: `{line}`"));
            }
            continue;
        };
        let (value, unit, better) = match count.unit.as_str() {
            "msec" => (count.value.map(|ms| ms / 1e3), "s".to_owned(), Lower),
            "ns" => (count.value.map(|ns| ns / 1e9), "s".to_owned(), Lower),
            "" => (count.value, "1".to_owned(), Neither),
            other => (count.value, other.to_owned(), Neither),
        };
        if value.is_none() {
            let note = format!("{} was not counted, or its count is no number", count.event);
            suite.result().trials[0].notes.push(note);
        }
        suite.also(0, (&count.event, value, &unit, better))?;
    }
    suite.finish("give the output of `perf stat -x,` or `perf stat -j`")
}
