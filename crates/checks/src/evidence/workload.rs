//! Evidence about the load of a treatment and its output.

/// The load generator of a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generator {
    /// Share of its CPUs that it used, 0 to 1.
    pub cpu_share: Option<f64>,
    /// Share of its network interface that it used, 0 to 1 (0 over loopback).
    pub network_share: Option<f64>,
    /// True if it ran on the machine under test.
    pub same_host: Option<bool>,
    /// True if generator and system under test were pinned to separate CPUs.
    pub pinned_apart: Option<bool>,
    /// Configuration of the generator in one line.
    pub config: Option<String>,
}

/// A result with its physical ceiling, in the same unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// Name of the ceiling (`network line rate`).
    pub what: String,
    /// Value that was reached.
    pub reached: f64,
    pub ceiling: f64,
}

/// Resource that limited a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limiter {
    /// Statement of the limiting resource; empty if none is made.
    pub statement: String,
    /// Results with the physical ceilings that they cannot exceed.
    pub ceilings: Vec<Ceiling>,
}

/// Verification of the output of a treatment's trials.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputEvidence {
    /// Trials that ran to their end, including those with wrong output.
    pub trials: u32,
    /// Trials whose output was checked and wrong.
    pub wrong: u32,
    /// Message of the check about the first wrong trial (`trial 3: 16 timed out`); empty if none.
    pub message: String,
    /// Counting trials whose output was not checked beyond the exit code.
    pub unchecked: u32,
    /// Counting trials of unknown verification (imported ones).
    pub unknown: u32,
    /// Failed or repeated operations in the counting trials; `None` if the workload does not count
    /// them.
    pub errors: Option<u64>,
}
