//! Power during a trial's measurement window, from the monitors' samples: average watts, energy,
//! and the deciding metric per watt, each with its measurement boundary. All are derived metrics.

use assay_model::{Better, MetricKind, MetricValue, Plan, SampleSet, TrialRecord};

use crate::trial::window::{MIN_COVERED, Mean, mean};

/// A measurement boundary and its series.
struct Boundary {
    name: &'static str,
    of: fn(monitor: &str, subject: &str) -> bool,
    /// True if several series are parts of the whole (processors, meters); otherwise only the first
    /// one is used.
    parts: bool,
}

const BOUNDARIES: [Boundary; 3] = [
    Boundary {
        name: "package",
        // Domains within a package (`package-0/core`) are part of it, and the same package read
        // through another interface must not be counted again.
        of: |monitor, subject| {
            monitor == "power"
                && subject
                    .strip_prefix("package-")
                    .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        },
        parts: true,
    },
    Boundary {
        name: "node",
        of: |monitor, subject| {
            monitor == "meter" && (subject.starts_with("ipmi") || subject.starts_with("redfish"))
        },
        parts: false,
    },
    Boundary {
        name: "wall",
        of: |monitor, subject| {
            monitor == "meter" && ["tcp:", "serial:", "csv:"].iter().any(|s| subject.starts_with(s))
        },
        parts: true,
    },
];

/// Adds the metrics of every boundary that was measured over the window.
pub(crate) fn account(plan: &Plan, samples: &SampleSet, record: &mut TrialRecord) {
    let window = record.window();
    if window.1 <= window.0 {
        return;
    }
    let score = record.metrics.iter().find(|m| m.name == plan.metric).cloned();
    for boundary in &BOUNDARIES {
        let series = samples.series.iter().filter(|s| (boundary.of)(&s.monitor, &s.subject));
        let series = series.take(if boundary.parts { usize::MAX } else { 1 });
        let energies: Vec<(String, Mean)> = series
            .map(|s| {
                let points = samples.points(&s.monitor, &s.subject, &s.field);
                (s.subject.clone(), mean(&points, record.start_ns, window))
            })
            .collect();
        if energies.is_empty() {
            continue;
        }
        if let Some((subject, e)) = energies.iter().find(|(_, e)| e.covered < MIN_COVERED) {
            let seen = record.observers.iter().flat_map(|o| &o.not_seen);
            let why = seen.clone().find_map(|s| s.strip_prefix(&format!("{subject}: ")));
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            record.notes.push(format!(
                "power ({}): no watts, because samples of {subject} cover {:.0} % of the \
                measurement window{why}",
                boundary.name,
                100.0 * e.covered
            ));
            continue;
        }
        let watts: f64 = energies.iter().map(|(_, e)| e.value).sum();
        add(record, boundary.name, watts, (window.1 - window.0) as f64 * 1e-9, score.as_ref());
    }
}

fn add(
    record: &mut TrialRecord,
    name: &str,
    watts: f64,
    seconds: f64,
    score: Option<&MetricValue>,
) {
    let mut push = |metric: String, value: Option<f64>, unit: String, better| {
        let value = value.filter(|v| v.is_finite());
        record.metrics.push(MetricValue::new(metric, value, unit, better, MetricKind::Derived));
    };
    push(format!("power ({name})"), Some(watts), "W".into(), Better::Lower);
    push(format!("energy ({name})"), Some(watts * seconds), "J".into(), Better::Lower);
    // Only a metric for which higher is better makes sense per watt; a time per watt does not.
    if let Some(score) = score.filter(|s| s.better == Better::Higher) {
        let value = score.value.filter(|_| watts > 0.0).map(|v| v / watts);
        let unit = format!("{}/W", score.unit);
        push(format!("{} per watt ({name})", score.name), value, unit, Better::Higher);
    }
}

#[cfg(test)]
mod tests {
    use assay_model::{Phase, PhaseMark, SampleRow, SeriesKey};

    use super::*;

    const S: u64 = 1_000_000_000;

    #[allow(clippy::type_complexity)] // used only once, below
    fn samples(series: &[(&str, &str, &[(u64, f64)])]) -> SampleSet {
        let mut set = SampleSet::default();
        for (i, (monitor, subject, points)) in series.iter().enumerate() {
            set.series.push(SeriesKey {
                monitor: (*monitor).into(),
                subject: (*subject).into(),
                field: "power".into(),
                unit: "W".into(),
            });
            set.rows.extend(points.iter().map(|&(t, value)| SampleRow {
                t_ns: t * S,
                series: i as u32,
                value,
            }));
        }
        set.rows.sort_by_key(|r| r.t_ns);
        set
    }

    fn record() -> TrialRecord {
        let planned =
            assay_model::PlannedTrial { number: 1, ..assay_model::PlannedTrial::default() };
        let mark = |phase, t| PhaseMark { phase, t_ns: t * S };
        let metrics = vec![MetricValue::new(
            "orders/s",
            Some(6000.0),
            "orders/s",
            Better::Higher,
            MetricKind::Measured,
        )];
        TrialRecord {
            start_ns: 10 * S,
            end_ns: 20 * S,
            phases: vec![mark(Phase::Steady, 12), mark(Phase::RampDown, 16)],
            metrics,
            ..crate::trial::execution::blank(&planned, 1)
        }
    }

    fn plan() -> Plan {
        let toml = "name = \"x\"\nworkload = \"noop\"\n";
        let experiment = crate::read_experiment("x.toml", toml).unwrap();
        let noop = assay_workloads::Noop;
        let mut plan = crate::make_plan(&experiment, &noop, 1, 1).unwrap();
        plan.metric = "orders/s".into();
        plan
    }

    #[test]
    fn watts_and_energy_of_the_window_alone() {
        let packages: [&[(u64, f64)]; 2] = [
            &[(11, 999.0), (13, 40.0), (15, 60.0), (17, 60.0)],
            &[(12, 1.0), (16, 10.0), (17, 9.0)],
        ];
        let set = samples(&[
            ("power", "package-0", packages[0]),
            ("power", "package-1", packages[1]),
            ("power", "package-0/core", &[(20, 30.0)]),
            ("meter", "tcp:meter:1", &[(20, 100.0)]),
            ("meter", "ipmi", &[(20, 80.0)]),
            ("meter", "redfish:http://x", &[(20, 90.0)]),
        ]);
        let mut record = record();
        account(&plan(), &set, &mut record);
        let value = |name: &str| record.metric(name).unwrap();
        // 1 s at 40 W and 3 s at 60 W; 4 s at 10 W.
        assert_eq!(value("power (package)"), 65.0);
        assert_eq!(value("energy (package)"), 260.0);
        assert_eq!(value("power (wall)"), 100.0);
        assert_eq!(value("power (node)"), 80.0, "two ways to ask one node are not added");
        assert_eq!(value("orders/s per watt (wall)"), 60.0);
        let derived = record.metrics.iter().find(|m| m.name == "orders/s per watt (wall)").unwrap();
        assert_eq!((derived.kind, derived.unit.as_str()), (MetricKind::Derived, "orders/s/W"));
    }

    #[test]
    fn gaps_are_reported_and_not_filled() {
        let set = samples(&[("power", "package-0", &[(13, 50.0), (15, f64::NAN), (20, 50.0)])]);
        let mut record = record();
        account(&plan(), &set, &mut record);
        assert_eq!(record.metrics.len(), 1);
        assert!(record.notes[0].contains("cover 50 %"), "{:?}", record.notes);
    }
}
