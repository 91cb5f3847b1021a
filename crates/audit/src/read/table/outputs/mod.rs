//! What a line of a tool's output says: several values with names each. A grammar for each form of line; those of one
//! tool alone are few, since most tools print in the forms of others.

mod load;
mod system;

use crate::evidence::amount;
use crate::read::line::Line;
use crate::read::source::Span;

/// A value with its name, and the text of its cell where that is not as printed.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub name: String,
    pub span: Span,
    pub text: Option<String>,
}

/// What a line is to the report of a run.
pub(super) enum Found {
    Values(Vec<Value>),
    /// A run begins.
    Begin,
    /// A run begins, and this ran.
    Name(String),
    /// It belongs to the report and says nothing that a sentence could be about.
    Part,
}

/// What lines above say of those below: names of columns, the unit of a distribution, the tool.
#[derive(Debug, Default)]
pub(super) struct Above {
    /// The statistics in the columns of the lines below.
    statistics: Vec<&'static str>,
    /// The unit of the percentiles below.
    distribution: Option<String>,
    /// The counters of `perf stat` are below.
    counters: bool,
    /// The text has sums of the streams of iperf.
    sums: bool,
}

impl Above {
    pub(super) fn new(text: &str) -> Above {
        Above { sums: text.contains("[SUM]"), ..Above::default() }
    }

    /// Forgets what the lines above said.
    pub(super) fn end(&mut self) {
        *self = Above { sums: self.sums, ..Above::default() };
    }

    /// Reads a line; `None` where it is of no tool that is known.
    pub(super) fn read(&mut self, text: &str, line: &Line) -> Option<Found> {
        let body = line.span.of(text).trim();
        if body.is_empty() {
            self.statistics.clear();
            return None;
        }
        // None of the forms is longer, and prose often is.
        if body.len() > 200 || line.hashes > 0 {
            return None;
        }
        load::read(self, text, body).or_else(|| system::read(self, text, body))
    }
}

/// Where a piece of a text stands in it.
pub(super) fn place(text: &str, piece: &str) -> Span {
    let start = (piece.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    Span::new(start, start + piece.len())
}

/// From one piece of a text to another.
fn across<'a>(text: &'a str, first: &str, last: &str) -> &'a str {
    Span::new(place(text, first).start, place(text, last).end).of(text)
}

/// A value as it is printed.
fn printed(text: &str, name: impl Into<String>, piece: &str) -> Value {
    Value { name: name.into(), span: place(text, piece), text: None }
}

/// A value whose unit stands elsewhere.
fn with_unit(text: &str, name: impl Into<String>, piece: &str, unit: &str) -> Value {
    let own = format!("{piece} {unit}").trim_end().to_owned();
    Value { name: name.into(), span: place(text, piece), text: Some(own) }
}

/// Whether words are a value that begins with its number.
pub(super) fn is_value(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_digit()) && amount::of_cell(piece, None).is_some()
}

fn is_number(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_digit())
        && piece.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
}

/// The name of a percentile of something, so that all its names are in it.
fn percentile(p: &str, of: &str) -> String {
    let p = if p.contains('.') { p.trim_end_matches('0').trim_end_matches('.') } else { p };
    let median = if p == "50" { " median" } else { "" };
    format!("p{p}{median} {of} {p}th percentile")
}

/// The name of a statistic of something: `avg`, `p(95)`, `99`, `p50`.
fn statistic(key: &str, of: &str) -> String {
    let digits = key.trim_start_matches(['p', 'P']).trim_matches(['(', ')', '%']);
    if digits.parse::<f64>().is_ok_and(|p| (0.0..=100.0).contains(&p)) {
        return percentile(digits, of);
    }
    match key.to_lowercase().as_str() {
        "avg" | "mean" => format!("average {of}"),
        "med" | "median" => format!("median {of} p50"),
        "stdev" | "stddev" | "sd" | "mdev" => format!("{of} standard deviation"),
        _ => format!("{key} {of}"),
    }
}

/// A clock as a time with units: `1:23:45`, `0:09.12`.
pub(super) fn clock(piece: &str) -> Option<String> {
    let parts: Vec<&str> = piece.split(':').collect();
    let digits = |s: &str, most: usize| {
        (1..=most).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit())
    };
    let (last, first) = parts.split_last()?;
    let (whole, decimals) = last.split_once('.').unwrap_or((last, "0"));
    let fits = digits(whole, 2)
        && whole.len() == 2
        && digits(decimals, 9)
        && first.iter().all(|p| digits(p, 3))
        && first.iter().skip(1).all(|p| p.len() == 2);
    match first {
        [minutes] if fits => Some(format!("{minutes} min {last} s")),
        [hours, minutes] if fits => Some(format!("{hours} h {minutes} min {last} s")),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
