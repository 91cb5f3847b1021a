//! Table of tasks for a terminal, 80 characters wide: shares of time as in `prstat -mL`, rates as
//! in `pidstat`.

use std::fmt::Write as _;

use super::Task;
use crate::stat::number::short;

/// Column of numbers: title, and value in the displayed unit.
type TaskColumn = (&'static str, fn(&Task) -> f64);

fn known(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// Shares of time in percent of one CPU; then rates, memory, and bytes of storage.
const COLUMNS: [TaskColumn; 12] = [
    ("usr", |t| t.user * 100.0),
    ("sys", |t| t.system * 100.0),
    ("lat", |t| known(t.waited_for_cpu) * 100.0),
    ("dsk", |t| known(t.waited_for_disk) * 100.0),
    ("mem", |t| known(t.waited_for_memory) * 100.0),
    ("slp", |t| known(t.asleep) * 100.0),
    ("vcx", |t| known(t.voluntary_switches)),
    ("icx", |t| known(t.involuntary_switches)),
    ("flt", |t| t.minor_faults + t.major_faults),
    ("rss", |t| t.resident_bytes as f64),
    ("rd", |t| known(t.read_bytes)),
    ("wr", |t| known(t.written_bytes)),
];
/// Width of a number with the preceding blank.
const EACH: usize = 5;
/// Number of leading columns that are shares of time.
const PARTS: usize = 6;
/// Width of the process or thread id.
const ID: usize = 7;
/// Minimum width of the program's name.
const NAME: usize = 12;

/// Returns the number of characters for the name in a terminal of `width` columns.
fn name_width(width: usize) -> usize {
    // The kernel keeps 15 characters of a name.
    width.saturating_sub(ID + 1 + COLUMNS.len() * EACH).clamp(NAME, 15)
}

/// Returns the two title lines.
pub fn header(by_thread: bool, width: usize, time: &str) -> String {
    let name = name_width(width);
    let mut text = format!(
        "{time:first$} {:-<parts$} {:-<rates$} {:->4} {:-<bytes$}\n",
        "% of a CPU ",
        "1/s ",
        " B",
        "B/s ",
        first = ID + 1 + name,
        parts = PARTS * EACH - 1,
        rates = 3 * EACH - 1,
        bytes = 2 * EACH - 1,
    );
    let id = if by_thread { "tid" } else { "pid" };
    let _ = write!(text, "{id:>ID$} {:name$}", if by_thread { "thread" } else { "program" });
    for (title, _) in COLUMNS {
        let _ = write!(text, "{title:>EACH$}");
    }
    text.push('\n');
    text
}

/// Returns the line of one task.
pub fn line(task: &Task, width: usize) -> String {
    let name = name_width(width);
    let plain: String =
        task.program.chars().map(|c| if c.is_control() { '?' } else { c }).take(name).collect();
    let mut text = format!("{:>ID$} {plain:name$}", task.tid.unwrap_or(task.pid));
    for (_, value) in COLUMNS {
        // Writing to a String cannot fail.
        let _ = write!(text, "{:>EACH$}", short(value(task)));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_what_is_unknown_is_a_dash() {
        let task = Task {
            pid: 1_234_567,
            tid: None,
            program: "a\u{1b}[31mverylongname".into(),
            process: None,
            state: 'R',
            threads: 2,
            user: 1.25,
            system: 0.5,
            waited_for_cpu: Some(0.0),
            waited_for_disk: None,
            waited_for_memory: None,
            asleep: None,
            voluntary_switches: Some(123_456.0),
            involuntary_switches: None,
            minor_faults: 1.0,
            major_faults: 2.0,
            resident_bytes: 3_000_000,
            read_bytes: None,
            written_bytes: Some(4096.0),
        };
        let text = line(&task, 80);
        assert!(!text.contains('\u{1b}') && text.trim_end().chars().count() <= 80, "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(
            words[2..],
            ["125", "50", "0", "-", "-", "-", "123k", "-", "3", "3.0M", "-", "4.1k"]
        );
        for line in header(true, 80, "01:02:03").lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
