use std::time::Duration;

use assay_model::{
    Better, Curve, Exit, Merge, MetricKind, MetricSpec, MetricValue, Phase, PhaseMark,
    PlannedTrial, ResourceUse, SampleRow, SampleSet, SeriesKey, StreamSummary, TrialOutcome,
    TrialRecord, ValidationResult, WorkloadSpec,
};

use super::*;
use crate::clock::{Clock, ClockReading};
use crate::message::NodeRole;
use crate::message::{NodePart, Samples, TrialPart};
use crate::wire::Bytes;

pub(crate) fn clock(before: i64, after: i64) -> Clock {
    let look = |at_ns, offset_ns| ClockReading { at_ns, offset_ns, error_ns: 10, day_offset_ns: 0 };
    Clock { before: look(0, before), after: Some(look(200_000_000, after)) }
}

fn blank() -> TrialRecord {
    let planned = PlannedTrial { number: 1, ..PlannedTrial::default() };
    TrialRecord::blank(&planned, 1, String::new(), 0)
}

pub(crate) fn node_part(name: &str, metrics: &[(&str, &str, f64)]) -> NodePart {
    let metric = |(name, unit, value): &(&str, &str, f64)| {
        MetricValue::new(*name, Some(*value), *unit, Better::from_unit(unit), MetricKind::Measured)
    };
    let record = TrialRecord {
        outcome: TrialOutcome::Completed,
        exit: Some(Exit::Code(0)),
        start_ns: 1000,
        end_ns: 3000,
        resources: Some(ResourceUse { wall_s: 2.0, user_s: 1.0, ..ResourceUse::default() }),
        metrics: metrics.iter().map(metric).collect(),
        validation: ValidationResult::ExitCodeOnly,
        stdout: StreamSummary { bytes: 3, kept: 3 },
        notes: vec!["the same everywhere".into()],
        ..blank()
    };
    let part = TrialPart {
        record,
        stdout: Bytes(b"out".to_vec()),
        stderr: Bytes::default(),
        samples: None,
        kept: vec![("a.log".into(), Bytes(b"x".to_vec()))],
    };
    NodePart {
        name: name.into(),
        host: format!("host-{name}"),
        did: NodeRole::Ran,
        part,
        clock: clock(0, 0),
    }
}

fn spec() -> WorkloadSpec {
    let (name, help) = ("x".to_owned(), String::new());
    let device_read = MetricSpec {
        name: "device_read".into(),
        unit: "B".into(),
        better: Better::Lower,
        kind: MetricKind::Measured,
        help: String::new(),
        merge: Some(Merge::Sum),
        counted: false,
    };
    WorkloadSpec { name, help, params: Vec::new(), metrics: vec![device_read], suite: None }
}

fn merged(record: TrialRecord, parts: &[NodePart]) -> MergedTrial {
    merge(
        record,
        parts,
        &MergeSettings { spec: &spec(), engine: "slurm", job: "7", bound: Duration::from_secs(1) },
    )
}

#[test]
fn rates_are_added_and_times_are_those_of_the_slowest() {
    let parts = [
        node_part(
            "n1",
            &[("throughput", "ops/s", 10.0), ("elapsed", "s", 2.0), ("hits", "1", 0.5)],
        ),
        node_part("n2", &[("throughput", "ops/s", 5.0), ("elapsed", "s", 3.0), ("hits", "1", 0.6)]),
    ];
    let m = merged(blank(), &parts);
    assert_eq!(m.record.outcome, TrialOutcome::Completed);
    assert_eq!(m.record.metric("throughput"), Some(15.0));
    assert_eq!(m.record.metric("elapsed"), Some(3.0));
    assert_eq!(m.record.metric("hits"), None, "two ratios have no sum");
    assert_eq!(m.nodes.merged[0].rule, "the sum over the nodes");
    assert_eq!(m.record.resources.unwrap().user_s, 2.0);
    assert_eq!(m.record.notes, ["the same everywhere"]);
    assert_eq!(m.stdout, b"==> n1 <==\nout\n==> n2 <==\nout\n");
    assert_eq!(m.record.stdout.kept, m.stdout.len() as u64);
    assert_eq!(m.kept[1].0, "n2.a.log");
    assert_eq!(m.nodes.nodes.len(), 2);
}

#[test]
fn what_went_wrong_is_reported_with_its_node() {
    let mut parts = [node_part("n1", &[]), node_part("n2", &[]), node_part("n3", &[])];
    parts[0].part.record.outcome = TrialOutcome::Interrupted;
    parts[0].part.record.error = "interrupted".into();
    parts[1].part.record.outcome = TrialOutcome::Failed;
    parts[1].part.record.exit = Some(Exit::Code(7));
    parts[1].part.record.error = "exit code 7".into();
    parts[2].part.record.outcome = TrialOutcome::Failed;
    parts[2].part.record.error = "it was cancelled before it began".into();
    let m = merged(blank(), &parts);
    assert_eq!(
        (m.record.outcome, m.record.error.as_str()),
        (TrialOutcome::Failed, "node n2: exit code 7")
    );
    assert_eq!(m.record.exit, Some(Exit::Code(7)));
    let lost = TrialRecord { error: "node n4 lost its agent".into(), ..blank() };
    let m = merged(lost, &parts[..1]);
    assert_eq!((m.record.outcome, m.record.metrics.len()), (TrialOutcome::Failed, 0));
    assert_eq!(m.record.error, "node n4 lost its agent");
    let m = merged(TrialRecord { error: "all gone".into(), ..blank() }, &[]);
    assert_eq!(m.record.outcome, TrialOutcome::Failed);
}

#[test]
fn the_steady_phase_of_all_is_what_is_common_on_our_clock() {
    let mut parts = [node_part("n1", &[]), node_part("n2", &[])];
    let mark = |phase, t_ns| PhaseMark { phase, t_ns };
    parts[0].part.record.phases = vec![mark(Phase::Steady, 1200), mark(Phase::RampDown, 2200)];
    parts[1].part.record.phases =
        vec![mark(Phase::Steady, 1_001_300), mark(Phase::RampDown, 1_002_300)];
    parts[1].part.record.start_ns = 1_001_000;
    parts[1].part.record.end_ns = 1_003_100;
    parts[1].clock = clock(1_000_000, 1_000_000);
    let m = merged(blank(), &parts);
    assert_eq!(m.record.window(), (1300, 2200));
    assert_eq!((m.record.start_ns, m.record.end_ns), (1000, 3100));
    assert_eq!(m.nodes.coincidence.unwrap().begin_spread_ns, 100);
}

#[test]
fn samples_and_curves_are_laid_together() {
    let mut parts = [node_part("n1", &[]), node_part("n2", &[])];
    for (i, part) in parts.iter_mut().enumerate() {
        let key = SeriesKey {
            monitor: "cpu".into(),
            subject: "all".into(),
            field: "user".into(),
            unit: "%".into(),
        };
        let row = SampleRow { t_ns: 2000 - i as u64, series: 0, value: i as f64 };
        part.part.samples = Some(Samples::from(&SampleSet { series: vec![key], rows: vec![row] }));
        let curve = |name: &str, points: Vec<[f64; 2]>| Curve {
            name: name.into(),
            x_name: String::new(),
            x_unit: "B".into(),
            unit: "B/s".into(),
            kind: MetricKind::Measured,
            points,
        };
        let mut points = vec![[1.0, 10.0], [2.0, 20.0]];
        points.rotate_left(i);
        part.part.record.curves = vec![curve("t", points), curve("u", vec![[i as f64, 1.0]])];
    }
    let m = merged(blank(), &parts);
    let samples = m.samples.unwrap();
    assert_eq!(samples.points("cpu", "n2/all", "user"), [(1999, 1.0)]);
    assert!(samples.rows.is_sorted_by_key(|r| r.t_ns));
    assert_eq!(m.record.curves.len(), 1);
    assert_eq!(m.record.curves[0].points, [[1.0, 20.0], [2.0, 40.0]]);
    assert!(m.record.notes.iter().any(|n| n.contains("curve `u` is not merged")));
}

#[test]
fn heat_maps_stay_those_of_their_nodes_on_our_clock() {
    let mut parts: Vec<NodePart> =
        (1..=6).map(|n| node_part(&format!("n{n}"), &[("throughput", "ops/s", 1.0)])).collect();
    for part in &mut parts {
        let heat = assay_model::Heat {
            unit: "s".into(),
            start_ns: 1500,
            column_ns: 100,
            edges: vec![0, 1],
            counts: vec![vec![7]],
        };
        part.part.record.heat_maps.insert("latency".into(), heat);
    }
    parts[0].clock = clock(1000, 1000);
    let here = parts[0].clock.here(1500);
    let m = merged(blank(), &parts);
    assert_eq!(m.record.heat_maps.len(), 4);
    assert_eq!(m.record.heat_maps["latency, node n1"].start_ns, here);
    assert_ne!(here, 1500);
    assert!(m.record.notes.iter().any(|n| n.contains("2 more")), "{:?}", m.record.notes);
}

#[test]
fn the_server_is_in_no_sum() {
    let mut parts = [
        node_part("n1", &[("throughput", "ops/s", 99.0)]),
        node_part("n2", &[("throughput", "ops/s", 5.0)]),
    ];
    parts[0].did = NodeRole::Served;
    let m = merged(blank(), &parts);
    assert_eq!(m.record.metric("throughput"), Some(5.0));
}

#[test]
fn what_only_the_server_tells_is_its_own() {
    let mut parts = [
        node_part("n1", &[("checkpoint_time", "s", 2.0)]),
        node_part("n2", &[("throughput", "ops/s", 5.0)]),
        node_part("n3", &[("throughput", "ops/s", 6.0)]),
    ];
    parts[0].did = NodeRole::Served;
    for (part, detail) in parts.iter_mut().zip(["sums", "counts", "counts"]) {
        part.part.record.validation = ValidationResult::Passed { detail: detail.into() };
    }
    let m = merged(blank(), &parts);
    assert_eq!(m.record.metric("throughput"), Some(11.0));
    assert_eq!(m.record.metric("checkpoint_time"), Some(2.0));
    let rule = |m: &MergedTrial, name: &str| {
        m.nodes.merged.iter().find(|r| r.metric == name).map(|r| r.rule.clone()).unwrap_or_default()
    };
    assert!(rule(&m, "checkpoint_time").contains("server"), "{}", rule(&m, "checkpoint_time"));
    let ValidationResult::Passed { detail } = &m.record.validation else { panic!("{m:?}") };
    assert!(detail.contains("node n1, the server: sums"), "{detail}");
    parts[0].part.record.validation = ValidationResult::Failed { detail: "a row".into() };
    parts[0].part.record.outcome = TrialOutcome::Invalid;
    let m = merged(blank(), &parts);
    assert_eq!(m.record.outcome, TrialOutcome::Invalid);
    assert_eq!(m.record.validation, ValidationResult::Failed { detail: "node n1: a row".into() });
}

#[test]
fn a_program_over_nodes_is_reported_by_the_first_and_what_nodes_see_by_all() {
    let mut parts = [
        node_part("n1", &[("elapsed", "s", 3.0), ("device_read", "B", 10.0)]),
        node_part("n2", &[("device_read", "B", 20.0)]),
        node_part("n3", &[("device_read", "B", 30.0)]),
    ];
    for part in &mut parts[1..] {
        part.did = NodeRole::Followed;
        part.part.record.validation = ValidationResult::NotReached;
    }
    parts[0].part.record.validation = ValidationResult::Passed { detail: "right".into() };
    let m = merged(blank(), &parts);
    assert_eq!(m.record.metric("elapsed"), Some(3.0));
    assert_eq!(m.record.metric("device_read"), Some(60.0));
    assert!(matches!(m.record.validation, ValidationResult::Passed { .. }), "{m:?}");
    // Nodes on the same machine read the same counters, so these are not added.
    let twin = parts[1].host.clone();
    let own = std::mem::replace(&mut parts[2].host, twin);
    let m = merged(blank(), &parts);
    assert_eq!(m.record.metric("device_read"), None);
    assert!(m.record.notes.iter().any(|n| n.contains("n2 and n3 are one machine")), "{m:?}");
    parts[2].host = own;
    // A value that is missing on one node leaves the merged value missing.
    parts[2].part.record.metrics[0].value = None;
    assert_eq!(merged(blank(), &parts).record.metric("device_read"), None);
    parts[2].part.record.metrics.clear();
    assert_eq!(merged(blank(), &parts).record.metric("device_read"), None);
}
