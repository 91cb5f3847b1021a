//! Snapshot of all samples of one moment, by monitor, subject and field.

use assay_model::SampleSet;

use crate::monitors;

/// Sampled values of one tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// End of the interval that the values cover, nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
    rows: Vec<FrameRow>,
}

#[derive(Debug, Clone, PartialEq)]
struct FrameRow {
    monitor: String,
    subject: String,
    /// Values in the order of the monitor's fields.
    values: Vec<f64>,
}

impl Frame {
    /// Returns the newest tick of `samples`; `None` if there are no rows.
    pub fn newest(samples: &SampleSet) -> Option<Self> {
        let t_ns = samples.rows.last()?.t_ns;
        let mut rows: Vec<FrameRow> = Vec::new();
        for row in samples.rows.iter().rev().take_while(|row| row.t_ns == t_ns) {
            let Some(key) = samples.series.get(row.series as usize) else { continue };
            let Some(field) = place(&key.monitor, &key.field) else { continue };
            let known = rows
                .iter_mut()
                .rev()
                .find(|r| r.monitor == key.monitor && r.subject == key.subject);
            if let Some(known) = known {
                known.values[field] = row.value;
            } else {
                let fields = monitors::find(&key.monitor).map_or(0, |spec| spec.fields.len());
                let mut values = vec![f64::NAN; fields];
                values[field] = row.value;
                let (monitor, subject) = (key.monitor.clone(), key.subject.clone());
                rows.push(FrameRow { monitor, subject, values });
            }
        }
        rows.reverse();
        Some(Self { t_ns, rows })
    }

    /// Returns the subjects of a monitor, in the order in which it sampled them.
    pub fn subjects(&self, monitor: &str) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(move |r| r.monitor == monitor).map(|r| r.subject.as_str())
    }

    /// Returns the values of a subject, in the order of the monitor's fields; empty if it was not
    /// sampled.
    pub fn values(&self, monitor: &str, subject: &str) -> &[f64] {
        let row = self.rows.iter().find(|r| r.monitor == monitor && r.subject == subject);
        row.map_or(&[], |row| &row.values)
    }

    /// Returns one value; NaN if it was not sampled.
    pub fn value(&self, monitor: &str, subject: &str, field: &str) -> f64 {
        place(monitor, field)
            .and_then(|i| self.values(monitor, subject).get(i))
            .map_or(f64::NAN, |value| *value)
    }

    /// Returns the weighted mean of fields; NaN if all weights are 0.
    pub fn mean(&self, monitor: &str, subject: &str, fields: &[&str]) -> f64 {
        let (mut weights, mut total) = (0.0, 0.0);
        for field in fields {
            let weight = monitors::field(monitor, field).and_then(|f| f.weight);
            let weight = weight.map_or(f64::NAN, |by| self.value(monitor, subject, by));
            if weight > 0.0 {
                weights += weight;
                total += weight * self.value(monitor, subject, field);
            }
        }
        if weights > 0.0 { total / weights } else { f64::NAN }
    }

    /// Returns the disk that was busy for the largest share of the interval; ties are decided by
    /// the number of requests.
    pub fn busiest_disk(&self) -> Option<&str> {
        let load = |disk: &str| {
            let busy = self.value("disk", disk, "%util");
            let requests = self.value("disk", disk, "r/s") + self.value("disk", disk, "w/s");
            (busy.max(0.0), requests.max(0.0))
        };
        self.subjects("disk").reduce(|best, disk| if load(disk) > load(best) { disk } else { best })
    }

    /// Returns the sum of a field over all interfaces except the loopback; NaN without an
    /// interface.
    pub fn network_total(&self, field: &str) -> f64 {
        let interfaces = self.subjects("network").filter(|name| !matches!(*name, "lo" | "tcp"));
        interfaces.map(|i| self.value("network", i, field)).reduce(|a, b| a + b).unwrap_or(f64::NAN)
    }

    /// Returns the subject with the largest value of a field, and that value.
    pub fn largest<'a>(&'a self, monitor: &'a str, field: &str) -> Option<(&'a str, f64)> {
        self.subjects(monitor)
            .map(|subject| (subject, self.value(monitor, subject, field)))
            .filter(|(_, value)| !value.is_nan())
            .reduce(|best, one| if one.1 > best.1 { one } else { best })
    }

    /// Returns the machine's power in watts as far as it is measured: the sum of RAPL's packages,
    /// or else the largest single reading (parts are not added to wholes). NaN without a reading.
    pub fn watts(&self) -> f64 {
        let watts = |subject: &str| self.value("power", subject, "power");
        let package = |s: &&str| s.starts_with("package-") && !s.contains('/');
        let packages = self.subjects("power").filter(package).map(watts).reduce(|a, b| a + b);
        packages.or_else(|| self.subjects("power").map(watts).reduce(f64::max)).unwrap_or(f64::NAN)
    }
}

fn place(monitor: &str, field: &str) -> Option<usize> {
    monitors::find(monitor)?.fields.iter().position(|f| f.name == field)
}
