//! A result of order processing as its rules look at it. Times are seconds of one clock that all
//! instances share. Everything optional is `None` where it is not recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One instance at one point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InstancePoint {
    /// The instance.
    pub instance: u32,
    /// Operations per second.
    pub ops_per_s: f64,
    /// When its ramp-up began.
    pub ramp_up_start_s: Option<f64>,
    /// When its measurement began.
    pub start_s: Option<f64>,
    /// When its measurement ended.
    pub end_s: Option<f64>,
    /// When its ramp-down ended.
    pub ramp_down_end_s: Option<f64>,
    /// Operations done, by kind.
    pub counts: BTreeMap<String, u64>,
}

/// One point: so many warehouses, measured by every instance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrdersPoint {
    /// Warehouses of each instance.
    pub warehouses: u32,
    /// How long the measurement was set to last, seconds.
    pub set_s: Option<f64>,
    /// The instances.
    pub instances: Vec<InstancePoint>,
}

impl OrdersPoint {
    /// Operations per second of all instances.
    pub fn total(&self) -> f64 {
        self.instances.iter().map(|i| i.ops_per_s).sum()
    }
}

/// A result of order processing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrdersResult {
    /// Processors that the virtual machine reports.
    pub processors: Option<u32>,
    /// N: the expected peak, warehouses.
    pub expected_peak: Option<u32>,
    /// Why N was set by hand; empty: it was not.
    pub peak_reason: Option<String>,
    /// Whether a hand-set N was reviewed.
    pub peak_reviewed: Option<bool>,
    /// The points in the order of measuring.
    pub points: Vec<OrdersPoint>,
    /// The score.
    pub score: Option<f64>,
    /// The score per instance.
    pub score_per_instance: Option<f64>,
    /// Properties of the run.
    pub properties: BTreeMap<String, String>,
    /// Whether the program is the one supplied, by its checksum.
    pub kit_unmodified: Option<bool>,
    /// Whether the virtual machine passed the conformance check.
    pub conforming: Option<bool>,
    /// Whether the output validated.
    pub validated: Option<bool>,
    /// Operating-system images that it ran on.
    pub os_images: Option<u32>,
    /// Calls of the collector by the program in its main part.
    pub collector_calls: Option<u32>,
    /// Whether feedback or precompilation was used.
    pub precompiled: Option<bool>,
    /// Threads per warehouse.
    pub threads_per_warehouse: Option<u32>,
    /// Think time, seconds.
    pub think_time_s: Option<f64>,
    /// Disclosed fields by name.
    pub disclosure: BTreeMap<String, String>,
    /// Months from publication until all parts can be had; 0: they can.
    pub available_in_months: Option<f64>,
    /// By how much the shipped system is slower than the measured one, percent; 0: it is not.
    pub shipped_slower_percent: Option<f64>,
    /// Whether a result that was too high was corrected.
    pub corrected: Option<bool>,
    /// Whether any number is estimated.
    pub estimated: Option<bool>,
    /// Benchmarks that it is compared with.
    pub compared_with: Option<Vec<String>>,
}

impl OrdersResult {
    /// The point with so many warehouses.
    pub fn point(&self, warehouses: u32) -> Option<&OrdersPoint> {
        self.points.iter().find(|p| p.warehouses == warehouses)
    }

    /// The scored points that were measured: N to 2N.
    pub fn scored(&self, peak: u32) -> impl Iterator<Item = &OrdersPoint> {
        let range = peak..=peak.saturating_mul(2);
        self.points.iter().filter(move |p| range.contains(&p.warehouses))
    }

    /// The score by the rule: the arithmetic mean over N to 2N inclusive of the instances' sums, where
    /// a point that was not measured counts 0. `None` for N = 0.
    pub fn computed_score(&self, peak: u32) -> Option<f64> {
        let total: f64 = self.scored(peak).map(OrdersPoint::total).sum();
        (peak > 0).then(|| total / (f64::from(peak) + 1.0))
    }

    /// Instances of the first point.
    pub fn instances(&self) -> Option<usize> {
        self.points.first().map(|p| p.instances.len()).filter(|n| *n > 0)
    }
}
