//! Evidence about a publication: its quoted results, prices, power and disclosures.

use std::collections::BTreeMap;

use assay_model::Interval;

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

assay_model::names! {
    pub PowerSource::name: Wall = "a meter at the wall", Rapl = "the processor's counters",
        Platform = "the platform's sensors", ThermalDesign = "thermal design power",
        Nameplate = "the power supply's label"
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

/// Material that others need to repeat a result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RepeatEvidence {
    /// True if the raw data are kept and published.
    pub raw_data: Option<bool>,
    /// True if the experiment, kit or script is published.
    pub scripts: Option<bool>,
    /// Versions of the programs that ran; `None` if not recorded.
    pub version: Option<String>,
    /// True if the programs had changes that no version names.
    pub dirty: Option<bool>,
    /// Published value and interval of a rerun, if there was one.
    pub rerun: Option<(f64, Interval)>,
}

/// Disclosures that the owner of a benchmark's name requires next to its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DisclosureEvidence {
    /// Name of the rule pack, with its version.
    pub rules: String,
    /// Ids of the rules that apply; empty if no pack is loaded.
    pub required: Vec<String>,
    /// Applicable rules that are broken.
    pub broken: Vec<String>,
    /// Applicable rules that cannot be checked.
    pub unknown: Vec<String>,
    /// True if the numbers are quoted from documents that quote them; details that those documents
    /// leave out cannot be added.
    pub second_hand: bool,
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

/// Items registered before the run, and those of them that are shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RegisteredItems {
    /// Registered metrics, workloads and treatments, and measured losses.
    pub items: Vec<String>,
    /// Registered items that are shown.
    pub shown: Vec<String>,
    /// True if the hidden items would reverse the headline; `None` if this was not examined.
    pub reverses_headline: Option<bool>,
    /// The headline over the shown items and over all items, if they differ: `1st of 3, but 5th of
    /// 16`.
    pub headline: Option<String>,
}

/// A result from another publication.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuoteEvidence {
    /// The quoted result in words.
    pub what: String,
    /// Document that prints the result, in words or as an address; `None` if no document is named.
    pub document: Option<String>,
    /// Day on which the result was valid or was retrieved.
    pub dated: Option<String>,
    /// Day of the page, if it is earlier than the result's.
    pub later_than: Option<String>,
    /// A newer printing of the same result, if one is known.
    pub newer: Option<String>,
}
