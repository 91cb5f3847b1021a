//! Store of the rows that monitors produce.

use assay_model::{SampleRow, SampleSet, SeriesKey};

use crate::Field;

/// Index of the series of a subject's first field; the series of its other fields follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstSeries(u32);

/// Rows and their series, in the order of arrival.
#[derive(Debug, Default)]
pub struct Recorder {
    set: SampleSet,
}

impl Recorder {
    /// Returns the series of `fields` of a subject, creating them if needed. Called once per
    /// subject, because it allocates.
    pub fn intern(&mut self, monitor: &str, subject: &str, fields: &[Field]) -> FirstSeries {
        let known = self.set.series.iter().position(|s| {
            s.monitor == monitor
                && s.subject == subject
                && fields.first().is_some_and(|f| f.name == s.field)
        });
        let first = known.unwrap_or_else(|| {
            let first = self.set.series.len();
            self.set.series.extend(fields.iter().map(|field| SeriesKey {
                monitor: monitor.to_owned(),
                subject: subject.to_owned(),
                field: field.name.to_owned(),
                unit: field.unit.to_owned(),
            }));
            first
        });
        FirstSeries(first as u32)
    }

    /// Adds one row per value; the values are those of the subject's fields in order, from the
    /// first on.
    pub fn push(&mut self, t_ns: u64, first: FirstSeries, values: &[f64]) {
        let series = first.0..;
        self.set.rows.extend(series.zip(values).map(|(series, &value)| SampleRow {
            t_ns,
            series,
            value,
        }));
    }

    /// Reserves room for `rows` more rows, so that adding them does not allocate.
    pub fn reserve(&mut self, rows: usize) {
        self.set.rows.reserve(rows);
    }

    /// Returns the number of rows that fit without allocating.
    pub fn room(&self) -> usize {
        self.set.rows.capacity() - self.set.rows.len()
    }

    /// Discards the rows before `t_ns`.
    pub fn discard_before(&mut self, t_ns: u64) {
        let keep_from = self.set.rows.partition_point(|r| r.t_ns < t_ns);
        self.set.rows.drain(..keep_from);
    }

    /// Returns the samples recorded so far.
    pub fn samples(&self) -> &SampleSet {
        &self.set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] = &[Field::new("a", "1", ""), Field::new("b", "B", "")];

    #[test]
    fn a_subject_keeps_its_series() {
        let mut out = Recorder::default();
        let x = out.intern("m", "x", FIELDS);
        let y = out.intern("m", "y", FIELDS);
        assert_eq!(out.intern("m", "x", FIELDS), x);
        assert_ne!(x, y);
        out.push(10, x, &[1.0, 2.0]);
        out.push(20, y, &[3.0, f64::NAN]);
        assert_eq!(out.samples().points("m", "x", "b"), [(10, 2.0)]);
        assert!(out.samples().points("m", "y", "b")[0].1.is_nan());
        out.discard_before(20);
        assert_eq!(out.samples().rows.len(), 2);
        assert_eq!(out.samples().series.len(), 4);
    }
}
