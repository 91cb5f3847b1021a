//! Result of order processing, as its rules need it. Times are in seconds of one clock that all
//! instances share. An optional field is `None` if it is not recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Measurement of one instance at one point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InstancePoint {
    /// Number of the instance.
    pub instance: u32,
    /// Throughput in operations per second.
    pub ops_per_s: f64,
    /// Start of the ramp-up.
    pub ramp_up_start_s: Option<f64>,
    /// Start of the measurement.
    pub start_s: Option<f64>,
    /// End of the measurement.
    pub end_s: Option<f64>,
    /// End of the ramp-down.
    pub ramp_down_end_s: Option<f64>,
    /// Completed operations by kind.
    pub counts: BTreeMap<String, u64>,
}

/// One point: all instances, measured with the same number of warehouses.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrdersPoint {
    /// Number of warehouses of each instance.
    pub warehouses: u32,
    /// Configured length of the measurement, seconds.
    pub set_s: Option<f64>,
    pub instances: Vec<InstancePoint>,
}

impl OrdersPoint {
    /// Returns the sum of the instances' operations per second.
    pub fn total(&self) -> f64 {
        self.instances.iter().map(|i| i.ops_per_s).sum()
    }
}

/// A result of order processing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrdersResult {
    /// Number of processors that the virtual machine reports.
    pub processors: Option<u32>,
    /// Expected peak N, in warehouses.
    pub expected_peak: Option<u32>,
    /// Reason for setting N by hand; empty if N was not set by hand.
    pub peak_reason: Option<String>,
    /// True if a hand-set N was reviewed.
    pub peak_reviewed: Option<bool>,
    /// Points in the order of measurement.
    pub points: Vec<OrdersPoint>,
    pub score: Option<f64>,
    pub score_per_instance: Option<f64>,
    pub properties: BTreeMap<String, String>,
    /// True if the checksum shows that the program is the supplied one.
    pub kit_unmodified: Option<bool>,
    /// True if the virtual machine passed the conformance check.
    pub conforming: Option<bool>,
    /// True if the output was valid.
    pub validated: Option<bool>,
    /// Number of operating-system images that it ran on.
    pub os_images: Option<u32>,
    /// Number of garbage collections that the main part of the program requested.
    pub collector_calls: Option<u32>,
    /// True if feedback or precompilation was used.
    pub precompiled: Option<bool>,
    /// Number of threads per warehouse.
    pub threads_per_warehouse: Option<u32>,
    /// Think time in seconds.
    pub think_time_s: Option<f64>,
    /// Disclosed fields by name.
    pub disclosure: BTreeMap<String, String>,
    /// Months from publication until all parts are available; 0 if they already are.
    pub available_in_months: Option<f64>,
    /// Slowdown of the shipped system relative to the measured one, percent; 0 if it is not slower.
    pub shipped_slower_percent: Option<f64>,
    /// True if a result that was too high was corrected.
    pub corrected: Option<bool>,
    /// True if any number is an estimate.
    pub estimated: Option<bool>,
    /// Benchmarks with which the result is compared.
    pub compared_with: Option<Vec<String>>,
}

impl OrdersResult {
    /// Returns the point with this number of warehouses.
    pub fn point(&self, warehouses: u32) -> Option<&OrdersPoint> {
        self.points.iter().find(|p| p.warehouses == warehouses)
    }

    /// Returns the measured points from N to 2N, which are scored.
    pub fn scored(&self, peak: u32) -> impl Iterator<Item = &OrdersPoint> {
        let range = peak..=peak.saturating_mul(2);
        self.points.iter().filter(move |p| range.contains(&p.warehouses))
    }

    /// Computes the score: the arithmetic mean over N to 2N inclusive of the points' totals, where
    /// a point that was not measured counts as 0. `None` for N = 0.
    pub fn computed_score(&self, peak: u32) -> Option<f64> {
        let total: f64 = self.scored(peak).map(OrdersPoint::total).sum();
        (peak > 0).then(|| total / (f64::from(peak) + 1.0))
    }

    /// Returns the number of instances at the first point; `None` if there are no instances.
    pub fn instances(&self) -> Option<usize> {
        self.points.first().map(|p| p.instances.len()).filter(|n| *n > 0)
    }
}
