//! Finds out which block-I/O data this machine can provide, for `assay doctor`.

use std::path::Path;

use assay_traces::block_io::{Dimension, NameTable, Question};

use super::tracer::IoTracer;
use super::way::{Method, TraceRequest};
use crate::NotAvailable;

/// Method by which block I/O would be traced here, and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoAbility {
    /// Best method that works.
    pub method: Method,
    /// Description of the method and its limits, as sentences; the first is the most important.
    pub words: Vec<String>,
}

/// Tries the most demanding question: which program, which file, which control group.
///
/// # Errors
/// Not even the kernel's counters can be read.
pub fn io_ability(root: &Path) -> Result<IoAbility, NotAvailable> {
    let by = vec![Dimension::Program, Dimension::File, Dimension::Cgroup];
    let question = Question { by, ..Question::default() };
    let ask = TraceRequest { classes: true, question, ..TraceRequest::default() };
    let names = NameTable::default();
    let tracer = IoTracer::start(root, &ask, &names)?;
    let first = match tracer.method() {
        Method::Ebpf => {
            "by eBPF: sizes, latency, queue and device time, addresses, program, file, control \
                         group, waiters"
        }
        Method::Tracepoints => {
            "by perf: sizes, latency, addresses, program; no files, control groups or waiters"
        }
        Method::Counters => {
            "by the kernel's counters: I/Os and bytes of each device; no single I/Os"
        }
    };
    let words = std::iter::once(first.to_owned()).chain(tracer.limits()).collect();
    Ok(IoAbility { method: tracer.method(), words })
}
