//! System calls as tables: counts, times, errors and bytes; and the calls that differ between
//! treatments.

use std::fmt::Write as _;

use assay_model::units::percent;
use assay_traces::syscalls::{
    Amounts, CallChange, Differences, Dimension, FILE, Measure, Syscalls, differences,
};

use maud::Markup;

use super::trial_groups::{self, MAX_ROWS, TrialGroup};
use super::view::{TraceDifference, TracerView, TreatmentPair};
use crate::document::{DocumentPart, Parts, Table, TableCell, Tone, cell};
use crate::parts::columns::{cells, clear, columns};
use crate::parts::io::{bytes, optional, time};

pub(super) const VIEW: TracerView = TracerView {
    tab: ("system-calls", "System calls"),
    section: ("syscalls", "System calls"),
    run: |view| trial_groups::of_treatments(view, &FILE, side_by_side),
    runs: |views, shown| trial_groups::of_runs(views, shown, &FILE, side_by_side),
    difference: Some(("syscalls", difference)),
};

/// Largest number of errors that a page lists.
const ERRORS: usize = 10;

/// Renders system calls side by side.
fn side_by_side(groups: Vec<TrialGroup<'_, Syscalls>>, confidence: f64) -> Option<Markup> {
    trial_groups::tables(
        groups,
        "System calls of the program and of what it started.",
        "system calls",
        |a, b, labels| Some(changes(&differences(a, b, confidence), labels, MAX_ROWS)),
        |of| tables(&Syscalls::merged(of.iter().copied()), MAX_ROWS),
    )
}

fn difference(pair: &TreatmentPair<'_>) -> Option<TraceDifference> {
    let [first, second] = pair.sides.map(|(view, t)| view.traces_of::<Syscalls>(&FILE, t));
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let d = differences(&first, &second, pair.confidence);
    let clear = d.changes.iter().filter(|c| c.clear).count();
    Some(TraceDifference::new(pair, &d, clear, changes))
}

/// Returns the method of counting and the totals.
pub(crate) fn head(seen: &Syscalls) -> Parts {
    let mut out = Parts::default();
    out.push(DocumentPart::Paragraph(Tone::Strong, seen.method.clone().into()));
    let all = seen.total();
    let mut words = format!(
        "{} calls, {} failed; {} in calls, all threads together",
        all.calls,
        all.errors,
        time(all.ns as f64)
    );
    if let Some(ns) = seen.span_ns {
        let _ = write!(words, "; observed for {}", time(ns as f64));
    }
    out.say(words);
    out
}

/// Returns the calls grouped by these dimensions, ordered by time.
pub(crate) fn table(seen: &Syscalls, by: &[Dimension], most: usize) -> Table {
    let groups = seen.by(by);
    let total: u64 = groups.iter().map(|g| g.amounts.ns).sum();
    let words: Vec<&str> = by.iter().map(|d| d.title()).collect();
    let mut t = Table::captioned(format!("System calls by {}, most time first", words.join(", ")))
        .labels(words)
        .numbers(["calls", "errors", "time", "%", "p50", "p99", "longest", "bytes"]);
    for g in groups.iter().take(most) {
        let a = &g.amounts;
        let share = if total == 0 {
            "-".to_owned()
        } else {
            format!("{:.1}", 100.0 * a.ns as f64 / total as f64)
        };
        let mut row: Vec<TableCell> = g.key.iter().map(|k| cell(k.clone())).collect();
        row.extend([
            cell(a.calls.to_string()),
            cell(if a.errors == 0 { "-".to_owned() } else { a.errors.to_string() }),
            cell(time(a.ns as f64)),
            cell(share),
            optional(a.quantile_ns(0.5), rough),
            optional(a.quantile_ns(0.99), rough),
            cell(time(a.longest_ns as f64)),
            optional(a.bytes, bytes),
        ]);
        t.row(row);
    }
    t
}

/// Formats a quantile with two digits: a histogram by powers of two supports no more.
fn rough(ns: f64) -> String {
    assay_model::units::format_value_digits(ns / 1e9, "s", 2)
}

/// Returns the errors by call and name; `None` if no call failed.
pub(crate) fn errors(seen: &Syscalls, most: usize) -> Option<Table> {
    let all = seen.errors_by_call();
    if all.is_empty() {
        return None;
    }
    let mut t = Table::captioned("Errors").label("call").label("error").number("times");
    for (call, error, n) in all.into_iter().take(most) {
        t.row(vec![cell(call), cell(error), cell(n.to_string())]);
    }
    Some(t)
}

/// Returns notes on the completeness of the counts.
pub(crate) fn notes(seen: &Syscalls) -> Vec<String> {
    let lost = &seen.lost;
    let calls =
        format!("calls ({}) had no room and are missing from the tables", time(lost.ns as f64));
    let counts = [
        (lost.calls, calls.as_str()),
        (lost.errors, "errors had no room for their names"),
        (lost.tasks, "times a thread or process had no room and was not followed"),
    ];
    let counts = counts.iter().filter(|(n, _)| *n > 0);
    let mut notes: Vec<String> = counts.map(|(n, words)| format!("{n} {words}")).collect();
    if lost.missed > 0 {
        notes.push(format!(
            "the kernel did not run a probe {} times: calls may be missing",
            lost.missed
        ));
    }
    let sum = |which: fn(&Amounts) -> u64| -> u64 {
        seen.calls.iter().filter(|c| c.on.is_asynchronous()).map(|c| which(&c.amounts)).sum()
    };
    if sum(|a| a.calls) > 0 {
        notes.push(format!(
            "{} calls were about asynchronous I/O and returned {} operations: the time of a \
             submission is not the I/O's",
            sum(|a| a.calls),
            sum(|a| a.operations.unwrap_or(0))
        ));
    }
    notes.push(
        "calls count when they return (exit does not); p50, p99: histogram by powers of two"
            .to_owned(),
    );
    notes.extend(seen.notes.iter().cloned());
    notes
}

/// Returns all parts for a terminal, grouped by these dimensions.
pub(crate) fn whole(seen: &Syscalls, by: &[Dimension], most: usize) -> Parts {
    let mut all = head(seen);
    if !seen.calls.is_empty() {
        all.table(table(seen, by, most));
    }
    if let Some(t) = errors(seen, most) {
        all.table(t);
    }
    all.notes(notes(seen));
    all
}

/// Returns the tables for a page.
pub(crate) fn tables(seen: &Syscalls, most: usize) -> Parts {
    let mut out = head(seen);
    for by in [&[Dimension::Call][..], &[Dimension::Program], &[Dimension::Kind]] {
        out.table(table(seen, by, most));
    }
    if let Some(t) = errors(seen, ERRORS) {
        out.table(t);
    }
    out.notes(notes(seen));
    out
}

/// Formats a number of a measure.
fn amount(measure: Measure, v: f64) -> String {
    match measure {
        Measure::Time => time(v),
        Measure::Bytes => assay_model::units::format_value_digits(v, "B", 3),
        Measure::Calls | Measure::Errors => {
            if v.fract() == 0.0 {
                format!("{v:.0}")
            } else {
                format!("{v:.1}")
            }
        }
    }
}

/// Returns the calls whose numbers differ between two treatments: the clear ones, and those that
/// stand out most.
pub(crate) fn changes(d: &Differences, labels: [&str; 2], most: usize) -> Parts {
    let mut out = Parts::default();
    let caption = format!("System calls a trial: {} against {}", labels[1], labels[0]);
    let of = Table::captioned(caption).label("call").word("measure");
    let mut t = columns(of, labels, d.confidence);
    let differ = |c: &&CallChange| c.difference != 0.0;
    for c in d.changes.iter().filter(differ).take(most) {
        let [by, interval] = cells(c.difference, c.interval, |v| amount(c.measure, v));
        let mark = if c.clear { clear(c.difference) } else { cell("no") };
        t.row(vec![
            cell(c.call.clone()),
            cell(c.measure.name()),
            cell(amount(c.measure, c.mean[0])),
            cell(amount(c.measure, c.mean[1])),
            by,
            interval,
            mark,
        ]);
    }
    out.table(t);
    let trials = format!("{} and {} trials", d.trials[0], d.trials[1]);
    out.note(if d.trials.iter().any(|n| *n < 3) {
        format!("{trials}: fewer than three a side have no interval, and no call is named")
    } else {
        format!(
            "{trials}; clear after Holm's correction for {} numbers, so that of identical programs \
             at most {} of \
             comparisons name any. {} calls below half a percent of the calls, errors, time and \
             bytes are left out.",
            d.compared,
            percent(1.0 - d.confidence),
            d.too_small
        )
    });
    out
}
