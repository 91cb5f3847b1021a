//! Profiles as the files of two tracers: the profiler, and the counter of instructions.

use std::sync::Arc;

use assay_model::{Interval, MetricValue, Observed, TreatmentChange};

use super::read::read_json;
use super::{
    FunctionChange, Profile, ProfileSide, ProfiledTrial, ThreadState, differences, functions,
};
use crate::trace_file::{TraceData, TraceFile, TracePair, TracedNumber, traced_metric, typed};

/// Minimum share of a trial's instructions for a function to be compared.
const LEAST_INSTRUCTIONS: f64 = 0.01;

/// The file of the profiler.
pub const FILE: TraceFile = TraceFile {
    tracer: "profile",
    name: "profile.json",
    numbers: "functions of the program",
    complete: false,
    read: |bytes| read_json(bytes).map(|profile| Arc::new(profile) as _),
    merge: Some(|nodes| Arc::new(Profile::merged(nodes.iter().filter_map(|n| typed(&**n))))),
    compare: Some(compare),
};

/// The file of the instructions that Valgrind counts in trials that are not timed.
pub const INSTRUCTIONS: TraceFile = TraceFile {
    tracer: "instructions",
    name: "instructions.json",
    numbers: "functions by their instructions",
    complete: true,
    read: |bytes| read_json(bytes).map(|profile| Arc::new(InstructionCounts(profile)) as _),
    merge: None,
    compare: None,
};

/// Instructions of a trial's programs by function.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct InstructionCounts(pub Profile);

impl TraceData for Profile {
    /// Returns the time of all threads together, by thread state.
    fn metrics(&self) -> Vec<MetricValue> {
        let name = |state: ThreadState| match state {
            ThreadState::OnCpu => "on_cpu",
            ThreadState::Runnable => "runnable",
            ThreadState::Io => "io",
            ThreadState::Lock => "lock",
            ThreadState::PageFault => "page_fault",
            ThreadState::Sleep => "sleep",
            ThreadState::Event => "event",
            ThreadState::Unknown => "off_cpu_unknown",
        };
        let of = |state: ThreadState| match (state, self.cpu_ns()) {
            (ThreadState::OnCpu, Some(exact)) => exact,
            _ => self.stacks.iter().filter(|s| s.state == state).map(|s| s.ns).sum(),
        };
        let known = |s: &ThreadState| self.off_cpu || *s == ThreadState::OnCpu;
        let metric =
            |s: ThreadState| traced_metric(FILE.tracer, name(s), Some(of(s) as f64 / 1e9), "s");
        ThreadState::ALL.into_iter().filter(known).map(metric).collect()
    }

    fn samples(&self) -> u64 {
        self.count(ProfileSide::OnCpu)
    }

    fn not_seen(&self) -> Vec<String> {
        self.notes.clone()
    }
}

impl TraceData for InstructionCounts {
    fn numbers(&self) -> Vec<TracedNumber> {
        let least = self.0.total_ns(ProfileSide::OnCpu) as f64 * LEAST_INSTRUCTIONS;
        let all = functions(&self.0, ProfileSide::OnCpu, None).into_iter();
        all.filter(|f| f.self_count as f64 >= least)
            .map(|f| TracedNumber {
                subject: f.frame.label(),
                name: "instructions",
                unit: "instructions",
                value: f.self_count as f64,
            })
            .collect()
    }

    fn metrics(&self) -> Vec<MetricValue> {
        let count = self.samples() as f64;
        vec![traced_metric(INSTRUCTIONS.tracer, "count", Some(count), "instructions")]
    }

    fn samples(&self) -> u64 {
        self.0.total_ns(ProfileSide::OnCpu)
    }

    fn not_seen(&self) -> Vec<String> {
        self.0.notes.clone()
    }
}

/// Compares each function's own time on CPU per trial. The intervals hold for all functions
/// together (Bonferroni).
fn compare(pair: &TracePair<'_>) -> Vec<Observed> {
    let measured = |side: &[&dyn TraceData]| -> Vec<ProfiledTrial> {
        let profiles = side.iter().filter_map(|trace| typed(*trace));
        profiles.map(|p| ProfiledTrial::from_profile(p, ProfileSide::OnCpu)).collect()
    };
    let (first, second) = (measured(&pair.baseline), measured(&pair.treatment));
    if first.is_empty() || second.is_empty() {
        return Vec::new();
    }
    let many = differences(&first, &second, pair.confidence).compared.max(1);
    let all = differences(&first, &second, 1.0 - (1.0 - pair.confidence) / many as f64);
    let n = first.len().min(second.len()) as u32;
    let observed = |c: FunctionChange| {
        let change = |factor: f64| TreatmentChange {
            difference: c.difference_ns * factor,
            interval: c.interval_ns.map(|[low, high]| Interval {
                low: low * factor,
                high: high * factor,
                level: all.confidence,
            }),
            n,
        };
        let kernel = if c.kernel { ", kernel" } else { "" };
        Observed {
            source: FILE.tracer.to_owned(),
            name: format!("own time{kernel}"),
            unit: "s".to_owned(),
            baseline: c.own_ns[0] * 1e-9,
            treatment: c.own_ns[1] * 1e-9,
            change: change(1e-9),
            // The time of the baseline is the whole, as in the change of the metric.
            of_time: pair.window_ns.map(|w| change(1.0 / w)),
            standard_errors: c.standard_errors,
            subject: c.function,
        }
    };
    all.changes.into_iter().map(observed).collect()
}
