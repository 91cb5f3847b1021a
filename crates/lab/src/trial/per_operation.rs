//! Cost per operation of a trial: CPU time, context switches, disk requests and bytes, and network
//! bytes. The costs are computed from the monitors' samples over the measurement window and the
//! trial's rate of operations. They are derived metrics of the whole machine, so they include other
//! work on it. If a trial has a rate but its costs are unavailable, a note gives the reason.

use std::collections::BTreeMap;

use assay_model::{Better, MetricKind, MetricValue, Plan, SampleSet, TrialRecord};
use assay_observe::{Field, FieldRole};

use crate::trial::window::{MIN_COVERED, mean};

use Rate::{One, Several};

/// Devices that pass requests on to other devices, where they are counted.
const STACKED: [&str; 5] = ["dm-", "md", "loop", "bcache", "drbd"];

/// Adds the costs that the samples support to the record.
pub(crate) fn account(plan: &Plan, samples: &SampleSet, record: &mut TrialRecord) {
    let window = record.window();
    let Some(rate) = rate(plan, record).filter(|_| window.1 > window.0) else { return };
    let rate = match rate {
        One(rate) => rate,
        Several => {
            return not_known(
                record,
                "the trial held several rates, and its curves do not say when each was held",
            );
        }
    };
    let mut costs: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
    let mut unreported: Vec<&str> = Vec::new();
    for series in &samples.series {
        let Some(field) = assay_observe::field(&series.monitor, &series.field) else { continue };
        let Some(metric) = field.cost.filter(|_| counts(field, &series.subject)) else { continue };
        let points = samples.points(&series.monitor, &series.subject, &series.field);
        let mean = mean(&points, record.start_ns, window);
        if mean.covered < MIN_COVERED {
            unreported.push(metric);
            continue;
        }
        let (factor, unit) = unit(field);
        costs.entry(metric).or_insert((0.0, unit)).0 += mean.value * factor / rate;
    }
    for (metric, (value, unit)) in costs {
        // A sum with missing parts would be wrong.
        if unreported.contains(&metric) || record.metrics.iter().any(|m| m.name == metric) {
            continue;
        }
        let value = Some(value).filter(|v| v.is_finite());
        record.metrics.push(MetricValue::new(
            metric,
            value,
            unit,
            Better::Lower,
            MetricKind::Derived,
        ));
    }
}

/// Notes why a trial over several nodes has no costs: its rate is that of all nodes, but samples
/// are of single nodes.
pub(crate) fn over_nodes(plan: &Plan, record: &mut TrialRecord) {
    if !record.observers.is_empty() && rate(plan, record).is_some() {
        not_known(record, "the rate is that of all nodes, but monitors sample each node");
    }
}

fn not_known(record: &mut TrialRecord, why: &str) {
    record.notes.push(format!("the costs per operation are unknown: {why}"));
}

/// Operations per second of a trial.
enum Rate {
    One(f64),
    /// Several rates in one trial, so that no single cost exists.
    Several,
}

/// Returns the deciding metric if it is a rate of operations, else the first metric that is one.
/// `None` without one.
fn rate(plan: &Plan, record: &TrialRecord) -> Option<Rate> {
    let of_operations = |m: &&MetricValue| {
        let noun = m.unit.strip_suffix("/s");
        noun.is_some_and(|noun| !noun.is_empty() && noun != "B" && noun != "s")
            && m.kind != MetricKind::Estimated
            && m.better == Better::Higher
            && m.value.is_some_and(|v| v.is_finite() && v > 0.0)
    };
    let rates = || record.metrics.iter().filter(of_operations);
    let m = rates().find(|m| m.name == plan.metric).or_else(|| rates().next())?;
    let several = record.curves.iter().any(|c| c.x_unit == m.unit);
    m.value.map(|value| if several { Several } else { One(value) })
}

/// Returns true if a subject is part of the sum. For CPU time this means each CPU but not their
/// total, for disks those that do not pass requests on to others.
fn counts(field: &Field, subject: &str) -> bool {
    if field.role == Some(FieldRole::CpuTime) {
        return field.chart.and_then(|(chart, _)| chart.subject) != Some(subject);
    }
    !STACKED.iter().any(|name| subject.starts_with(name))
}

/// Returns the factor from a field's unit to the unit of its cost, per second, and that unit.
fn unit(field: &Field) -> (f64, &'static str) {
    match field.unit {
        "%" => (0.01, "s"),
        "KiB/s" => (1024.0, "B"),
        "kB/s" => (1000.0, "B"),
        "B/s" => (1.0, "B"),
        _ => (1.0, "1"),
    }
}

#[cfg(test)]
mod tests {
    use assay_model::{SampleRow, SeriesKey};

    use super::*;

    const S: u64 = 1_000_000_000;

    fn samples(all: &[(&str, &str, &str, &str, f64)]) -> SampleSet {
        let mut set = SampleSet::default();
        for (i, (monitor, subject, field, unit, value)) in all.iter().enumerate() {
            set.series.push(SeriesKey {
                monitor: (*monitor).into(),
                subject: (*subject).into(),
                field: (*field).into(),
                unit: (*unit).into(),
            });
            let row = |t| SampleRow { t_ns: t * S, series: i as u32, value: *value };
            set.rows.extend([row(1), row(2)]);
        }
        set.rows.sort_by_key(|r| r.t_ns);
        set
    }

    fn record(metric: &str, unit: &str, value: f64) -> TrialRecord {
        let planned =
            assay_model::PlannedTrial { number: 1, ..assay_model::PlannedTrial::default() };
        TrialRecord {
            start_ns: 0,
            end_ns: 2 * S,
            metrics: vec![MetricValue::new(
                metric,
                Some(value),
                unit,
                Better::Higher,
                MetricKind::Measured,
            )],
            ..crate::trial::execution::blank(&planned, 1)
        }
    }

    fn plan() -> Plan {
        let toml = "name = \"x\"\nworkload = \"command\"\n[params]\ncommand = \"true\"\n";
        let experiment = crate::read_experiment("x.toml", toml).unwrap();
        crate::make_plan(&experiment, &assay_workloads::Command, 1, 1).unwrap()
    }

    #[test]
    fn two_cpus_and_a_disk_cost_what_they_did_over_the_rate() {
        let set = samples(&[
            ("cpu", "all", "user", "%", 75.0),
            ("cpu", "cpu0", "user", "%", 100.0),
            ("cpu", "cpu1", "user", "%", 50.0),
            ("cpu", "cpu1", "system", "%", 10.0),
            ("cpu", "cpu1", "idle", "%", 40.0),
            ("disk", "vda", "wkB/s", "KiB/s", 100.0),
            ("disk", "dm-0", "wkB/s", "KiB/s", 100.0),
            ("switches", "", "context_switches", "1/s", 2000.0),
        ]);
        let mut r = record("throughput", "ops/s", 1000.0);
        account(&plan(), &set, &mut r);
        let is = |name: &str| r.metric(name).unwrap();
        assert!((is("cpu_per_op") - 1.6e-3).abs() < 1e-12);
        assert!((is("disk_written_per_op") - 102.4).abs() < 1e-9);
        assert!((is("switches_per_op") - 2.0).abs() < 1e-12);
        assert_eq!(r.metrics.len(), 4, "nothing else was sampled");
        assert!(r.metrics[1..].iter().all(|m| m.kind == MetricKind::Derived));
    }

    #[test]
    fn why_there_are_none_is_said_where_there_is_a_rate() {
        let set = samples(&[("switches", "", "context_switches", "1/s", 2000.0)]);
        let mut several = record("throughput", "ops/s", 1000.0);
        several.curves.push(assay_model::Curve {
            name: "latency".into(),
            x_name: "rate".into(),
            x_unit: "ops/s".into(),
            unit: "s".into(),
            kind: MetricKind::Measured,
            points: vec![[500.0, 1e-3], [1000.0, 2e-3]],
        });
        account(&plan(), &set, &mut several);
        assert_eq!(several.metrics.len(), 1);
        assert!(several.notes[0].contains("several rates"), "{:?}", several.notes);
        let mut nodes = record("throughput", "ops/s", 1000.0);
        over_nodes(&plan(), &mut nodes);
        assert!(nodes.notes.is_empty(), "nothing was sampled");
        nodes.observers.push(assay_model::ObserverReport {
            observer: "cpu".into(),
            samples: 1,
            not_seen: Vec::new(),
        });
        over_nodes(&plan(), &mut nodes);
        assert!(nodes.notes[0].contains("all nodes"), "{:?}", nodes.notes);
        let mut none = record("throughput", "B/s", 1e9);
        account(&plan(), &set, &mut none);
        over_nodes(&plan(), &mut none);
        assert!(none.notes.is_empty(), "a rate of bytes is none of operations");
    }

    #[test]
    fn bytes_are_no_operations_and_a_gap_leaves_no_sum() {
        let mut set = samples(&[("switches", "", "context_switches", "1/s", 2000.0)]);
        let mut bytes = record("throughput", "B/s", 1e9);
        account(&plan(), &set, &mut bytes);
        assert_eq!(bytes.metrics.len(), 1);
        set.rows[1].value = f64::NAN;
        let mut gap = record("throughput", "ops/s", 1000.0);
        account(&plan(), &set, &mut gap);
        assert_eq!(gap.metrics.len(), 1);
    }
}
