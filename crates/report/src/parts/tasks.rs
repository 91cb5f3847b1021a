//! The threads of a trial over its measurement window, with the columns of `assay stat --tasks`.

use assay_model::units::format_value_digits;
use assay_model::{SampleSet, TrialRecord};
use assay_observe::{ALL_TASKS, TASKS};

use crate::document::{Table, cell};

/// Largest number of threads in a table.
const MOST: usize = 21;
/// Title and field of each column; shares of time come first.
const COLUMNS: [(&str, &str); 13] = [
    ("user", "user"),
    ("system", "system"),
    ("wait CPU", "waited_for_cpu"),
    ("wait disk", "waited_for_disk"),
    ("wait memory", "waited_for_memory"),
    ("asleep", "asleep"),
    ("switches: waited", "voluntary_switches"),
    ("lost the CPU", "involuntary_switches"),
    ("minor faults", "minor_faults"),
    ("major faults", "major_faults"),
    ("resident", "resident"),
    ("read", "read"),
    ("written", "written"),
];

/// Returns the finite values of a field inside the measurement window.
fn values(record: &TrialRecord, samples: &SampleSet, subject: &str, field: &str) -> Vec<f64> {
    let (from, to) = record.window();
    let inside = samples.points(TASKS, subject, field).into_iter();
    inside.filter(|p| (from..=to).contains(&p.0) && p.1.is_finite()).map(|p| p.1).collect()
}

/// Returns the subject of all threads together, then each thread, ordered by CPU time in the
/// window.
pub(crate) fn busiest(record: &TrialRecord, samples: &SampleSet) -> Vec<String> {
    let mut all: Vec<(f64, &str)> = Vec::new();
    for key in samples.series.iter().filter(|k| k.monitor == TASKS && k.field == "user") {
        let sum = |field| -> Option<f64> {
            let values = values(record, samples, &key.subject, field);
            (!values.is_empty()).then(|| values.iter().sum())
        };
        if let Some(user) = sum("user") {
            all.push((user + sum("system").unwrap_or(0.0), &key.subject));
        }
    }
    all.sort_by(|a, b| {
        let first = |subject: &str| subject == ALL_TASKS;
        first(b.1).cmp(&first(a.1)).then(b.0.total_cmp(&a.0)).then_with(|| a.1.cmp(b.1))
    });
    all.into_iter().map(|(_, subject)| subject.to_owned()).collect()
}

/// Returns the threads as a table; `None` if none was sampled.
pub(crate) fn threads(record: &TrialRecord, samples: &SampleSet) -> Option<Table> {
    let subjects = busiest(record, samples);
    if subjects.is_empty() {
        return None;
    }
    let mut t = Table::captioned(
        "Threads in the measured window, the busiest first, means while each was there: time in \
         percent of one CPU, switches and faults a second, memory, data from and to storage",
    )
    .label("thread")
    .numbers(COLUMNS.map(|(title, _)| title));
    for subject in subjects.into_iter().take(MOST) {
        let mut row = vec![cell(subject.clone())];
        for (_, field) in COLUMNS {
            let values = values(record, samples, &subject, field);
            let value = values.iter().sum::<f64>() / values.len() as f64;
            let unit = assay_observe::field(TASKS, field).map_or("1", |f| f.unit);
            row.push(cell(match unit {
                _ if !value.is_finite() => "unknown".to_owned(),
                "%" => format!("{value:.1}"),
                "1/s" => format_value_digits(value, "1", 3),
                unit => format_value_digits(value, unit, 3),
            }));
        }
        t.row(row);
    }
    Some(t)
}
