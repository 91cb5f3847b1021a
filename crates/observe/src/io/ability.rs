//! What can be known of block I/O on this machine, before anything is asked: for `assay doctor`.

use std::path::Path;

use assay_iotrace::{Dimension, Names, Question};

use super::tracer::IoTracer;
use super::way::{Method, TraceRequest};
use crate::NotAvailable;

/// How block I/O would be traced here, and what would be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoAbility {
    /// The best way that works.
    pub method: Method,
    /// It, and what it leaves out, as sentences; the first is what a person must know.
    pub words: Vec<String>,
}

/// Tries the most demanding question: who asks, for which file, of which control group.
///
/// # Errors
/// Not even the kernel's counters can be read.
pub fn io_ability(root: &Path) -> Result<IoAbility, NotAvailable> {
    let by = vec![Dimension::Program, Dimension::File, Dimension::Cgroup];
    let question = Question { by, ..Question::default() };
    let ask = TraceRequest { classes: true, question, ..TraceRequest::default() };
    let names = Names::default();
    let tracer = IoTracer::start(root, &ask, &names)?;
    let first = match tracer.method() {
        Method::Ebpf => {
            "by eBPF: sizes, latency, queue and device time, addresses, program, file, \
                         control group, who waits"
        }
        Method::Tracepoints => {
            "by perf: sizes, latency, addresses, program; no file, no control group, not who waits"
        }
        Method::Counters => {
            "by the kernel's counters: how many and how many bytes of each device; nothing of single I/Os"
        }
    };
    let words = std::iter::once(first.to_owned()).chain(tracer.limits()).collect();
    Ok(IoAbility { method: tracer.method(), words })
}
