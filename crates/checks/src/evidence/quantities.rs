//! Evidence about displayed numbers, their units and their denominators.

use std::collections::BTreeMap;

use assay_model::{Interval, MetricKind};

/// A number that is displayed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NumberEvidence {
    /// The number in words (`throughput of server.threads=2`).
    pub what: String,
    /// The number as printed, without its unit (`1.05`); `None` if not yet printed.
    pub printed: Option<String>,
    /// The value recomputed from unrounded inputs, in the printed unit.
    pub exact: Option<f64>,
    /// The value's interval in the printed unit.
    pub interval: Option<Interval>,
    /// True if every repetition gives the same value (a size, a count of instructions).
    pub deterministic: bool,
    /// Kind of the number: measured, derived, estimated or quoted.
    pub kind: Option<MetricKind>,
    /// True if the kind is printed next to the number.
    pub labelled: bool,
    /// Presentation of a derived number; `None` if it is not derived.
    pub derivation: Option<Derivation>,
}

/// Presentation of a derived number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Derivation {
    /// True if the number is marked as derived.
    pub marked: bool,
    /// True if the number is shown as if a benchmark's body had defined it.
    pub shown_as_official: bool,
    /// True if the base metric is in the same table or page.
    pub base_nearby: bool,
}

/// Identity of a metric: name, unit, benchmark and version.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricIdentity {
    /// Owner of the metric: a treatment or a system.
    pub label: String,
    pub metric: Option<String>,
    pub unit: Option<String>,
    /// The benchmark or workload; `None` on both sides: only the metric's name is compared.
    pub benchmark: Option<String>,
    /// Version of the benchmark; `None` on both sides: the benchmark's name identifies it.
    pub version: Option<String>,
    /// Versions that the benchmark's body declares comparable with this one.
    pub compatible: Vec<String>,
    /// Other properties that must be equal, by name: scenario, division, base or peak.
    pub category: BTreeMap<String, String>,
}

/// Basis of a count of cores, chips or threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// All that are fitted in the machine.
    Installed,
    /// All that are switched on.
    Enabled,
    /// Those that the run used.
    Used,
}

impl Basis {
    pub fn name(self) -> &'static str {
        match self {
            Basis::Installed => "installed",
            Basis::Enabled => "enabled",
            Basis::Used => "used",
        }
    }
}

/// Amount of the denominator in one system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DenominatorSystem {
    pub label: String,
    /// Amount of the denominator; `None` if not recorded.
    pub count: Option<f64>,
    /// True if the count was not printed but follows from another number.
    pub inferred: bool,
    /// Basis of a count of cores, chips or threads; `None` if not stated.
    pub basis: Option<Basis>,
}

/// A pair of systems whose order under the claimed denominator reverses under another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderReversal {
    /// System that leads under the claimed denominator.
    pub ahead: String,
    /// System that leads under the other denominator.
    pub instead: String,
    /// The other denominator in words (`per core`).
    pub under: String,
}

/// Denominators of the values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DenominatorEvidence {
    /// Claimed denominator (`core`); empty for totals.
    pub claimed: String,
    /// Claimed denominator in words (`per core`, `in total`).
    pub words: String,
    /// Systems, if values are divided.
    pub systems: Vec<DenominatorSystem>,
    /// True if an order is known under two or more denominators.
    pub several: bool,
    /// Pairs of systems whose order reverses under another denominator.
    pub flips: Vec<OrderReversal>,
    /// True if the table over all denominators is shown.
    pub matrix_shown: bool,
}

/// Source of a power figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerSource {
    /// A meter at the wall socket.
    Wall,
    /// The processor's own counters (RAPL).
    Rapl,
    /// The platform's sensors (BMC, IPMI).
    Platform,
    /// Thermal design power (TDP).
    ThermalDesign,
    /// Rating of the power supply, or its label.
    Nameplate,
}

impl PowerSource {
    pub fn name(self) -> &'static str {
        match self {
            PowerSource::Wall => "a meter at the wall",
            PowerSource::Rapl => "the processor's counters",
            PowerSource::Platform => "the platform's sensors",
            PowerSource::ThermalDesign => "thermal design power",
            PowerSource::Nameplate => "the power supply's label",
        }
    }
}

/// Power or energy of one system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnergyEvidence {
    pub label: String,
    pub source: Option<PowerSource>,
    /// True if the figures are quoted: run, window and meter are then those of the quoted document,
    /// which may name none.
    pub quoted: bool,
    /// True if a figure is recorded.
    pub recorded: bool,
    /// Remark of the source about the figures; may be empty.
    pub note: String,
    /// Model of the power meter.
    pub meter: Option<String>,
    /// Uncertainty of the meter in percent.
    pub uncertainty_percent: Option<f64>,
    /// True if power and performance are from the same run.
    pub same_run: Option<bool>,
    /// True if power is averaged over the measurement window.
    pub same_window: Option<bool>,
}

/// The price of one system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceEvidence {
    pub label: String,
    /// True if a figure is recorded.
    pub recorded: bool,
    pub currency: Option<String>,
    pub date: Option<String>,
    /// Line items that the price includes.
    pub scope: Option<Vec<String>>,
    /// True if anybody can buy at this price.
    pub public_terms: Option<bool>,
    /// Discount as a fraction; 0 for none.
    pub discount: Option<f64>,
    /// Years of support that the price includes.
    pub support_years: Option<f64>,
}
