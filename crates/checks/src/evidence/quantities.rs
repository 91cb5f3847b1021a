//! The numbers that are shown, and what they are divided by.

use std::collections::BTreeMap;

use assay_model::{Interval, Kind};

/// A number that is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NumberEvidence {
    /// What it is (`throughput of server.threads=2`).
    pub what: String,
    /// As it is printed, without its unit (`1.05`); `None`: not printed yet.
    pub printed: Option<String>,
    /// Recomputed from the unrounded inputs, in the printed unit.
    pub exact: Option<f64>,
    /// Its interval in the printed unit.
    pub interval: Option<Interval>,
    /// Whether it is the same on every repetition (a size, a count of instructions).
    pub deterministic: bool,
    /// Where it comes from.
    pub kind: Option<Kind>,
    /// Whether its kind stands at the number.
    pub labelled: bool,
    /// How it was derived, where it was.
    pub derivation: Option<Derivation>,
}

/// How a derived number is presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Derivation {
    /// Whether it is marked as derived.
    pub marked: bool,
    /// Whether it is shown as if a benchmark's body had defined it.
    pub shown_as_official: bool,
    /// Whether its base metric stands in the same table or page.
    pub base_nearby: bool,
}

/// What a metric is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricIdentity {
    /// Whose metric (a treatment, a system).
    pub label: String,
    /// Its name.
    pub metric: Option<String>,
    /// Its unit.
    pub unit: Option<String>,
    /// The benchmark or workload; `None` on both sides: the metric's name alone is compared.
    pub benchmark: Option<String>,
    /// Its version; `None` on both sides: the benchmark's name identifies it.
    pub version: Option<String>,
    /// Versions that its body declares comparable with this one.
    pub compatible: Vec<String>,
    /// Scenario, division, base or peak: what else must be equal, by name.
    pub category: BTreeMap<String, String>,
}

/// What a count of cores is a count of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// What is fitted.
    Installed,
    /// What is switched on.
    Enabled,
    /// What the run used.
    Used,
}

impl Basis {
    /// The basis' word.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Installed => "installed",
            Basis::Enabled => "enabled",
            Basis::Used => "used",
        }
    }
}

/// What a system has of the denominator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DenominatorSystem {
    /// The system.
    pub label: String,
    /// How much of it; `None`: not recorded.
    pub count: Option<f64>,
    /// Whether the count was not printed but follows from another number.
    pub inferred: bool,
    /// What a count of cores, chips or threads counts; `None`: not stated.
    pub basis: Option<Basis>,
}

/// A pair of systems whose order under the claimed denominator is the other way round under another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flip {
    /// Who leads under the claimed one.
    pub ahead: String,
    /// Who leads under the other.
    pub instead: String,
    /// The other one in words (`per core`).
    pub under: String,
}

/// What values are divided by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DenominatorEvidence {
    /// The denominator that is claimed (`core`); empty: the total.
    pub claimed: String,
    /// The same in words (`per core`, `in total`).
    pub words: String,
    /// The systems, where something is divided.
    pub systems: Vec<DenominatorSystem>,
    /// Whether an order is known under two denominators or more.
    pub several: bool,
    /// The orders that turn round under another denominator.
    pub flips: Vec<Flip>,
    /// Whether the table over all denominators is shown.
    pub matrix_shown: bool,
}

/// Where watts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerSource {
    /// A meter at the wall.
    Wall,
    /// The processor's own counters (RAPL).
    Rapl,
    /// The platform's sensors (BMC, IPMI).
    Platform,
    /// Thermal design power.
    ThermalDesign,
    /// What the power supply can give, or its label.
    Nameplate,
}

impl PowerSource {
    /// The source in words.
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
    /// The system.
    pub label: String,
    /// Where the watts come from.
    pub source: Option<PowerSource>,
    /// Whether they are quoted: then run, window and meter are those of the source, which may name none.
    pub quoted: bool,
    /// Whether a figure is there at all.
    pub recorded: bool,
    /// What the source says of them; empty: nothing.
    pub note: String,
    /// The meter's model.
    pub meter: Option<String>,
    /// The meter's uncertainty, percent.
    pub uncertainty_percent: Option<f64>,
    /// Whether power and performance are of the same run.
    pub same_run: Option<bool>,
    /// Whether power is averaged over the measurement window.
    pub same_window: Option<bool>,
}

/// The price of one system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceEvidence {
    /// The system.
    pub label: String,
    /// Whether a figure is there at all.
    pub recorded: bool,
    /// The currency.
    pub currency: Option<String>,
    /// The date of the price.
    pub date: Option<String>,
    /// What is priced: line items.
    pub scope: Option<Vec<String>>,
    /// Whether anybody can buy at it.
    pub public_terms: Option<bool>,
    /// The discount as a fraction; 0 for none.
    pub discount: Option<f64>,
    /// Years of support that are in it.
    pub support_years: Option<f64>,
}
