//! The report of block I/O as the file of a tracer.

use assay_model::MetricValue;

use super::{IoReport, Op, OpTotal};
use crate::trace_file::{TraceData, TraceFile, from_json, traced_metric};

/// The file of the report of block I/O.
pub const FILE: TraceFile = TraceFile {
    tracer: "io",
    name: "io.json",
    numbers: "numbers of block I/O",
    complete: false,
    read: from_json::<IoReport>,
    merge: None,
    compare: None,
};

impl TraceData for IoReport {
    fn metrics(&self) -> Vec<MetricValue> {
        let seconds = self.span_ns.map(|ns| ns as f64 / 1e9).filter(|s| *s > 0.0);
        let rate = |n: u64| seconds.map(|s| n as f64 / s);
        let metric = |name: &str, value: Option<f64>, unit: &str| {
            traced_metric(FILE.tracer, name, value.filter(|v| v.is_finite()), unit)
        };
        let mut all = Vec::new();
        for (op, word) in [(Op::Read, "read"), (Op::Write, "write")] {
            let of = self.ops.iter().find(|o| o.op == op);
            let ios = of.map_or(0, |o| o.ios);
            let bytes = of.map_or(0, |o| o.bytes);
            let size = (ios > 0).then(|| bytes as f64 / ios as f64);
            let time = |ns: fn(&OpTotal) -> Option<f64>| of.and_then(ns).map(|ns| ns / 1e9);
            all.push(metric(&format!("{word}s"), rate(ios), "I/Os/s"));
            all.push(metric(&format!("{word}_bytes"), rate(bytes), "B/s"));
            all.push(metric(&format!("{word}_size"), size, "B").counted());
            all.push(metric(&format!("{word}_p50"), time(|o| o.latency.p50_ns), "s"));
            all.push(metric(&format!("{word}_p99"), time(|o| o.latency.p99_ns), "s"));
        }
        let classes = &self.classes;
        for (name, n) in [
            ("aio", classes.aio),
            ("writeback", classes.writeback),
            ("readahead", classes.readahead),
            ("nosync", classes.nosync),
        ] {
            all.push(metric(name, n.and_then(rate), "I/Os/s"));
        }
        all
    }

    fn samples(&self) -> u64 {
        self.completeness.selected
    }
}
