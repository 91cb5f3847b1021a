//! A compliant result of order processing, and changes that violate each rule.

use std::collections::BTreeMap;

use assay_quoted::pack::orders::*;
use assay_quoted::pack::{PackEvidence, RuleResult, Verdict, evaluate};

use super::{Cases, check, of, pack};

const N: u32 = 4;

fn instance(instance: u32, warehouses: u32) -> InstancePoint {
    let start = f64::from(warehouses) * 300.0 + f64::from(instance) * 0.5;
    let counts = [
        ("new-order", 14_505),
        ("payment", 10_000),
        ("order-status", 1000),
        ("delivery", 1000),
        ("stock-level", 1000),
        ("customer-report", 5495),
    ];
    InstancePoint {
        instance,
        ops_per_s: 1000.0 * f64::from(warehouses.min(N)),
        ramp_up_start_s: Some(start - 3.0),
        start_s: Some(start),
        end_s: Some(start + if warehouses < N { 30.0 } else { 240.5 }),
        ramp_down_end_s: Some(start + if warehouses < N { 50.0 } else { 260.5 }),
        counts: counts.iter().map(|(k, c)| ((*k).to_owned(), *c)).collect(),
    }
}

/// Returns a compliant result with two instances, N = 4 and points 1 to 8.
pub fn sound() -> OrdersResult {
    let points = (1..=8)
        .map(|warehouses| OrdersPoint {
            warehouses,
            set_s: Some(if warehouses < N { 30.0 } else { 240.0 }),
            instances: vec![instance(1, warehouses), instance(2, warehouses)],
        })
        .collect();
    let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    let fields = [
        "points-table",
        "points-graph",
        "scored-points",
        "counts",
        "response-times",
        "thread-spread",
        "heap-used",
        "hardware",
        "software",
        "command-line",
        "tuning",
        "notes",
        "raw-file",
    ];
    OrdersResult {
        processors: Some(N),
        expected_peak: Some(N),
        peak_reason: Some(String::new()),
        peak_reviewed: None,
        points,
        score: Some(8000.0),
        score_per_instance: Some(4000.0),
        properties: text(&[
            ("suite", "orders"),
            ("log_level", "INFO"),
            ("deterministic_random_seed", "false"),
            ("per_jvm_warehouse_rampup", "3"),
            ("per_jvm_warehouse_rampdown", "20"),
            ("ramp_up_seconds", "30"),
            ("measurement_seconds", "240"),
        ]),
        kit_unmodified: Some(true),
        conforming: Some(true),
        validated: Some(true),
        os_images: Some(1),
        collector_calls: Some(0),
        precompiled: Some(false),
        threads_per_warehouse: Some(1),
        think_time_s: Some(0.0),
        disclosure: fields.iter().map(|f| ((*f).to_owned(), "stated".to_owned())).collect(),
        available_in_months: Some(0.0),
        shipped_slower_percent: Some(0.0),
        corrected: Some(false),
        estimated: Some(false),
        compared_with: Some(vec!["orders".to_owned()]),
    }
}

type Change = fn(&mut OrdersResult);

const FAULTS: &[(&str, Change)] = &[
    ("J1", |r| r.processors = Some(8)),
    ("J1", |r| {
        (r.processors, r.peak_reason) = (Some(8), Some("scales badly".to_owned()));
        r.peak_reviewed = Some(false);
    }),
    ("J2", |r| r.points.swap(2, 3)),
    ("J2", |r| {
        r.points.remove(0);
    }),
    ("J3", |r| r.score = Some(8200.0)),
    ("J3", |r| r.score_per_instance = Some(8000.0)),
    ("J4", |r| r.points.retain(|p| p.warehouses != 2)),
    ("J4", |r| r.points.retain(|p| p.warehouses != N)),
    ("J5", |r| r.points[5].set_s = Some(120.0)),
    ("J5", |r| r.points[0].set_s = Some(240.0)),
    ("J6", |r| r.points[5].instances[0].end_s = Some(6.0 * 300.0 + 0.5 + 238.0)),
    ("J6", |r| r.points[5].instances[0].end_s = Some(6.0 * 300.0 + 0.5 + 270.0)),
    ("J7", |r| r.points[5].instances[1].ramp_up_start_s = Some(6.0 * 300.0 + 5.0)),
    ("J7", |r| r.points[5].instances[1].ramp_down_end_s = Some(6.0 * 300.0 + 100.0)),
    ("J8", |r| {
        r.properties.insert("measurement_seconds".to_owned(), "60".to_owned());
    }),
    ("J9", |r| r.kit_unmodified = Some(false)),
    ("J9", |r| r.validated = Some(false)),
    ("J10", |r| r.os_images = Some(2)),
    ("J10", |r| r.collector_calls = Some(1)),
    ("J10", |r| r.precompiled = Some(true)),
    ("J11", |r| {
        // Simulates a deck dealt as written: 10 of each of the frequent kinds.
        for i in r.points.iter_mut().flat_map(|p| &mut p.instances) {
            i.counts.extend([("new-order".into(), 10_000), ("customer-report".into(), 10_000)]);
        }
    }),
    ("J11", |r| r.think_time_s = Some(0.1)),
    ("J12", |r| {
        r.disclosure.remove("heap-used");
    }),
    ("J13", |r| r.available_in_months = Some(4.0)),
    ("J13", |r| r.shipped_slower_percent = Some(6.0)),
    ("J14", |r| r.estimated = Some(true)),
    ("J14", |r| r.compared_with = Some(vec!["TPC-C".to_owned()])),
];

const GAPS: &[(&str, Change)] = &[
    ("J1", |r| r.processors = None),
    ("J2", |r| r.expected_peak = None),
    ("J3", |r| r.score = None),
    ("J4", |r| r.points.clear()),
    ("J5", |r| r.points[2].set_s = None),
    ("J6", |r| r.points[6].instances[0].end_s = None),
    ("J7", |r| r.points[6].instances[0].ramp_up_start_s = None),
    ("J8", |r| {
        r.properties.remove("log_level");
    }),
    ("J9", |r| r.conforming = None),
    ("J10", |r| r.collector_calls = None),
    ("J11", |r| r.points.iter_mut().flat_map(|p| &mut p.instances).for_each(|i| i.counts.clear())),
    ("J12", |r| r.disclosure.clear()),
    ("J13", |r| r.available_in_months = None),
    ("J14", |r| r.compared_with = None),
];

#[test]
fn every_rule_passes_fails_and_is_unknown() {
    check(&Cases {
        pack: "orders",
        sound,
        wrap: |r| PackEvidence::Orders(r),
        faults: FAULTS,
        gaps: GAPS,
    });
}

#[test]
fn a_point_missing_beyond_the_peak_counts_nothing_and_voids_nothing() {
    let mut result = sound();
    // With N = 8, all scored points above 8 are present except 10.
    (result.processors, result.expected_peak) = (Some(8), Some(8));
    result.points = (1..=16)
        .filter(|w| *w != 10)
        .map(|warehouses| OrdersPoint {
            warehouses,
            set_s: Some(if warehouses < 8 { 30.0 } else { 240.0 }),
            instances: vec![InstancePoint { ops_per_s: 900.0, ..instance(1, warehouses.max(N)) }],
        })
        .collect();
    // Nine points from 8 to 16, one of them 0: 8 * 900 / 9.
    assert_eq!(result.computed_score(8), Some(800.0));
    (result.score, result.score_per_instance) = (Some(800.0), Some(800.0));
    let verdict = evaluate(&pack("orders"), &PackEvidence::Orders(&result));
    for id in ["J2", "J3", "J4", "J7"] {
        assert_eq!(of(&verdict, id), RuleResult::Pass, "{id}: {verdict:?}");
    }
    assert_eq!(verdict.verdict, Verdict::Reportable, "{verdict:?}");
}

#[test]
fn a_reviewed_peak_is_allowed() {
    let mut result = sound();
    (result.processors, result.peak_reviewed) = (Some(8), Some(true));
    result.peak_reason = Some("the processors are shared".to_owned());
    let verdict = evaluate(&pack("orders"), &PackEvidence::Orders(&result));
    assert_eq!(of(&verdict, "J1"), RuleResult::Pass);
}
