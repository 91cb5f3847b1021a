//! System calls as the file of a tracer.

use assay_model::MetricValue;

use super::{Dimension, Measure, Syscalls};
use crate::trace_file::{TraceData, TraceFile, TracedNumber, from_json, traced_metric};

/// The file of system calls.
pub const FILE: TraceFile = TraceFile {
    tracer: "syscalls",
    name: "syscalls.json",
    numbers: "numbers of system calls",
    complete: true,
    read: from_json::<Syscalls>,
    merge: None,
    compare: None,
};

impl TraceData for Syscalls {
    fn numbers(&self) -> Vec<TracedNumber> {
        let mut all = Vec::new();
        for group in self.by(&[Dimension::Call]) {
            for measure in Measure::ALL {
                let (unit, factor) = match measure {
                    Measure::Calls | Measure::Errors => ("calls", 1.0),
                    Measure::Time => ("s", 1e-9),
                    Measure::Bytes => ("B", 1.0),
                };
                all.push(TracedNumber {
                    subject: group.key[0].clone(),
                    name: measure.name(),
                    unit,
                    value: measure.amount(&group.amounts) * factor,
                });
            }
        }
        all
    }

    fn metrics(&self) -> Vec<MetricValue> {
        let all = self.total();
        let metric = |name, value, unit| traced_metric(FILE.tracer, name, Some(value), unit);
        vec![
            metric("calls", all.calls as f64, "calls").counted(),
            metric("errors", all.errors as f64, "calls").counted(),
            metric("time", all.ns as f64 / 1e9, "s"),
        ]
    }

    fn samples(&self) -> u64 {
        self.total().calls
    }

    fn not_seen(&self) -> Vec<String> {
        self.notes.clone()
    }
}
