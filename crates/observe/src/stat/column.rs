//! Columns of the summary, as the monitors' fields declare them, and their text.

use super::Frame;
use super::number::{percent, short};
use crate::sampling::column::{ColumnSubject, SampleColumn};
use crate::{Field, monitors};

/// One column with the fields that it shows.
pub struct StatColumn {
    pub column: SampleColumn,
    monitor: &'static str,
    /// Fields of the column; empty for the column with the subject's name.
    fields: Vec<&'static Field>,
}

/// Returns all columns from left to right. Without power, those up to rank 3 take 80 characters.
pub fn summary() -> Vec<StatColumn> {
    let mut all: Vec<StatColumn> = Vec::new();
    for monitor in monitors::all() {
        for field in monitor.fields {
            let Some(column) = field.column else { continue };
            let mut known = all.iter_mut().filter(|shown| !shown.fields.is_empty());
            if let Some(shown) = known.find(|shown| shown.column == *column) {
                shown.fields.push(field);
                continue;
            }
            let group = column.group;
            if let Some((title, width, rank)) = group.named
                && all.iter().all(|other| other.column.group != group)
            {
                let column = SampleColumn { group, place: 0, title, width, rank };
                all.push(StatColumn { column, monitor: monitor.name, fields: Vec::new() });
            }
            let fields = vec![field];
            all.push(StatColumn { column: *column, monitor: monitor.name, fields });
        }
    }
    all.sort_by_key(|shown| (shown.column.group.place, shown.column.place));
    all
}

impl StatColumn {
    /// Returns the text of the column for a frame.
    pub fn text(&self, frame: &Frame) -> String {
        let Some(first) = self.fields.first() else {
            return frame.busiest_disk().unwrap_or("-").chars().take(self.column.width).collect();
        };
        let whole = matches!(first.unit, "%" | "1");
        let number = |value| if whole { percent(value) } else { short(value) };
        match self.column.group.of {
            ColumnSubject::Subject(name) => number(self.value(frame, name)),
            ColumnSubject::BusiestDisk => {
                number(frame.busiest_disk().map_or(f64::NAN, |disk| self.value(frame, disk)))
            }
            ColumnSubject::Interfaces => number(self.sum(|field| frame.network_total(field))),
            ColumnSubject::Machine => number(frame.watts()),
            ColumnSubject::Largest => match frame.largest(self.monitor, first.name) {
                Some((subject, value)) => format!("{}{value:.0}", &subject[..1]),
                None => "-".to_owned(),
            },
        }
    }

    /// Returns the mean of one subject's fields if they have weights, else their sum.
    fn value(&self, frame: &Frame, subject: &str) -> f64 {
        if self.fields.iter().any(|field| field.weight.is_some()) {
            let names: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
            return frame.mean(self.monitor, subject, &names);
        }
        self.sum(|field| frame.value(self.monitor, subject, field))
    }

    /// Returns the sum of the fields; units of kB and KiB are converted to bytes.
    fn sum(&self, value: impl Fn(&str) -> f64) -> f64 {
        let factor = |unit: &str| match unit {
            "KiB/s" => 1024.0,
            "kB/s" => 1000.0,
            _ => 1.0,
        };
        self.fields.iter().map(|field| value(field.name) * factor(field.unit)).sum()
    }
}
