//! Merges the parts of a trial into one record.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_checks::record_observation;
use assay_model::{
    Curve, Exit, Finding, MetricValue, ObserverReport, Phase, PhaseMark, ResourceUse, SampleSet,
    StreamSummary, TrialOutcome, TrialRecord, ValidationResult, WorkloadSpec, units,
};

use super::rule::{MergeRule, simple, suite};
use super::{heat_maps, histograms, samples};
use crate::message::{NodePart, NodeRole};
use crate::nodes_file::{MergedMetric, NodeEntry, NodesFile};
use crate::phases::{coincide, seen};

/// Settings of a merge.
#[derive(Debug, Clone, Copy)]
pub struct MergeSettings<'a> {
    /// Specification of the workload.
    pub spec: &'a WorkloadSpec,
    /// Engine that ran the nodes.
    pub engine: &'a str,
    /// Id of the job.
    pub job: &'a str,
    /// Maximum spread of the steady phases that counts as coinciding.
    pub bound: Duration,
}

/// A trial of all nodes, merged.
#[derive(Debug)]
pub struct MergedTrial {
    pub record: TrialRecord,
    /// Standard output of all nodes, each after a line with the node's name.
    pub stdout: Vec<u8>,
    /// Standard error of all nodes, in the same form.
    pub stderr: Vec<u8>,
    /// Samples of all nodes.
    pub samples: Option<SampleSet>,
    /// Files of the workload, named after their nodes.
    pub kept: Vec<(String, Vec<u8>)>,
    /// Contents of the file `nodes.json`.
    pub nodes: NodesFile,
}

/// Merges the parts into `record`, which identifies the trial. If `record` has an error already,
/// its outcome is `Failed`.
pub fn merge(mut record: TrialRecord, parts: &[NodePart], ways: &MergeSettings<'_>) -> MergedTrial {
    let entries: Vec<NodeEntry> = parts.iter().map(NodeEntry::from_part).collect();
    let ran: Vec<(&NodePart, &NodeEntry)> =
        parts.iter().zip(&entries).filter(|(_, e)| e.did == NodeRole::Ran).collect();
    let lost = !record.error.is_empty();
    times(&mut record, &entries, &ran);
    words(&mut record, parts);
    outcome(&mut record, &entries, lost);
    let mut nodes = NodesFile::new(ways.engine, ways.job, entries.clone());
    if !lost && !ran.is_empty() {
        let all: Vec<(&NodePart, &NodeEntry)> = parts.iter().zip(&entries).collect();
        nodes.merged = metrics(&mut record, &all, &ran, ways.spec);
        curves(&mut record, &ran);
        record.heat_maps = heat_maps::merge(ran.iter().map(|(part, _)| *part), &mut record.notes);
    }
    nodes.coincidence = coincide(&entries, ways.bound);
    for seen in seen(&entries, nodes.coincidence.as_ref()) {
        record_observation(&mut record, seen);
    }
    let stream = |of: fn(&NodePart) -> &[u8]| {
        let mut all = Vec::new();
        for part in parts.iter().filter(|p| !of(p).is_empty()) {
            all.extend_from_slice(format!("==> {} <==\n", part.name).as_bytes());
            all.extend_from_slice(of(part));
            if !all.ends_with(b"\n") {
                all.push(b'\n');
            }
        }
        all
    };
    let kept = parts.iter().flat_map(|p| {
        p.part.kept.iter().map(|(name, bytes)| (format!("{}.{name}", p.name), bytes.0.clone()))
    });
    let (stdout, stderr) = (stream(|p| &p.part.stdout.0), stream(|p| &p.part.stderr.0));
    record.stdout = summary(parts, &stdout, |r| r.stdout);
    record.stderr = summary(parts, &stderr, |r| r.stderr);
    MergedTrial {
        stdout,
        stderr,
        samples: samples::merge(parts),
        kept: kept.collect(),
        nodes,
        record,
    }
}

/// Sums the byte counts of a stream. The lines with the nodes' names count as kept bytes, since
/// they are in the log.
fn summary(
    parts: &[NodePart],
    kept: &[u8],
    of: fn(&TrialRecord) -> StreamSummary,
) -> StreamSummary {
    let bytes = parts.iter().map(|p| of(&p.part.record).bytes).sum::<u64>();
    let excluded = bytes
        - parts.iter().map(|p| of(&p.part.record).kept.min(of(&p.part.record).bytes)).sum::<u64>();
    let kept = kept.len() as u64;
    StreamSummary { bytes: kept + excluded, kept }
}

/// Merges start, end, phases and resource use.
fn times(record: &mut TrialRecord, entries: &[NodeEntry], ran: &[(&NodePart, &NodeEntry)]) {
    let started = || entries.iter().filter(|e| e.exit.is_some());
    if let (Some(start), Some(end)) =
        (started().map(|e| e.start_ns).min(), started().map(|e| e.end_ns).max())
    {
        record.start_ns = start;
        record.end_ns = end;
    }
    let of = |phase, last: bool| {
        let at: Option<Vec<u64>> = ran
            .iter()
            .map(|(_, e)| e.phases.iter().find(|p| p.phase == phase).map(|p| p.t_ns))
            .collect();
        let at = at.unwrap_or_default();
        if last { at.into_iter().max() } else { at.into_iter().min() }
    };
    // The common steady phase is the time when every node is in its own.
    let marks = [
        (Phase::RampUp, of(Phase::RampUp, false)),
        (Phase::Steady, of(Phase::Steady, true)),
        (Phase::RampDown, of(Phase::RampDown, false)),
    ];
    record.phases = marks
        .into_iter()
        .filter_map(|(phase, t_ns)| Some(PhaseMark { phase, t_ns: t_ns? }))
        .collect();
    let used: Vec<ResourceUse> = entries.iter().filter_map(|e| e.resources).collect();
    record.resources = (!used.is_empty()).then(|| ResourceUse {
        wall_s: used.iter().map(|u| u.wall_s).fold(0.0, f64::max),
        user_s: used.iter().map(|u| u.user_s).sum(),
        system_s: used.iter().map(|u| u.system_s).sum(),
        peak_memory_bytes: used
            .iter()
            .map(|u| u.peak_memory_bytes)
            .collect::<Option<Vec<u64>>>()
            .and_then(|all| all.into_iter().max()),
        major_faults: used.iter().map(|u| u.major_faults).sum(),
        minor_faults: used.iter().map(|u| u.minor_faults).sum(),
        voluntary_switches: used.iter().map(|u| u.voluntary_switches).sum(),
        involuntary_switches: used.iter().map(|u| u.involuntary_switches).sum(),
        storage_read_bytes: used.iter().map(|u| u.storage_read_bytes).sum(),
        storage_written_bytes: used.iter().map(|u| u.storage_written_bytes).sum(),
        // The nodes' peaks were not at the same time; each node's own record has them.
        group: None,
    });
}

/// Merges notes, findings, observer reports and changed settings: one entry if all nodes report the
/// same, else with the names of the nodes.
fn words(record: &mut TrialRecord, parts: &[NodePart]) {
    let mut notes: Vec<(&String, Vec<&str>)> = Vec::new();
    let mut found: Vec<(&Finding, Vec<&str>)> = Vec::new();
    for part in parts {
        let of = &part.part.record;
        for note in &of.notes {
            match notes.iter_mut().find(|(n, _)| *n == note) {
                Some((_, on)) => on.push(&part.name),
                None => notes.push((note, vec![&part.name])),
            }
        }
        for finding in &of.findings {
            match found.iter_mut().find(|(f, _)| *f == finding) {
                Some((_, on)) => on.push(&part.name),
                None => found.push((finding, vec![&part.name])),
            }
        }
        record.evidence.extend(of.evidence.iter().cloned());
        for (path, now) in &of.changed {
            record.changed.insert(format!("node.{}.{path}", part.name), now.clone());
        }
    }
    let everywhere = |on: &[&str]| on.len() == parts.len();
    record.notes.extend(notes.into_iter().map(|(note, on)| {
        if everywhere(&on) { note.clone() } else { format!("{}: {note}", some(&on)) }
    }));
    for part in parts {
        if let Some(ns) = part.clock.stepped_ns().filter(|ns| *ns > STEP_NS) {
            record.notes.push(format!(
                "the wall clock of {} or of this machine was set during the trial: they moved {} \
                 against each other; times are those of the monotonic clocks",
                part.name,
                units::format_value(ns as f64 * 1e-9, "s")
            ));
        }
    }
    record.findings.extend(found.into_iter().map(|(finding, on)| {
        let mut finding = finding.clone();
        if !everywhere(&on) {
            finding.message = format!("{}: {}", some(&on), finding.message);
        }
        finding
    }));
    record.observers = observers(parts);
}

/// Merges the reports of each observer. Limitations that only some nodes report carry the nodes'
/// names.
fn observers(parts: &[NodePart]) -> Vec<ObserverReport> {
    let mut all: BTreeMap<&str, Vec<(&str, &ObserverReport)>> = BTreeMap::new();
    for part in parts {
        for report in &part.part.record.observers {
            all.entry(&report.observer).or_default().push((&part.name, report));
        }
    }
    let merged = all.into_iter().map(|(observer, reports)| {
        let mut missed: Vec<(&str, Vec<&str>)> = Vec::new();
        for &(node, report) in &reports {
            for what in &report.not_seen {
                match missed.iter_mut().find(|(of, _)| of == what) {
                    Some((_, on)) => on.push(node),
                    None => missed.push((what, vec![node])),
                }
            }
        }
        let sentence = |(what, on): (&str, Vec<&str>)| {
            if on.len() == reports.len() {
                what.to_owned()
            } else {
                format!("{}: {what}", some(&on))
            }
        };
        ObserverReport {
            observer: observer.to_owned(),
            samples: reports.iter().map(|(_, report)| report.samples).sum(),
            not_seen: missed.into_iter().map(sentence).collect(),
        }
    });
    merged.collect()
}

/// Joins the names of at most four nodes, with the number of the others.
fn some(on: &[&str]) -> String {
    let shown = on.iter().take(4).copied().collect::<Vec<_>>().join(", ");
    let word = if on.len() == 1 { "node" } else { "nodes" };
    let more = if on.len() > 4 { format!(" and {} more", on.len() - 4) } else { String::new() };
    format!("{word} {shown}{more}")
}

/// Sets the worst outcome of all nodes, with the errors of the nodes that had it.
fn outcome(record: &mut TrialRecord, entries: &[NodeEntry], lost: bool) {
    record.exit =
        entries.iter().filter(|e| e.did == NodeRole::Ran).filter_map(|e| e.exit).max_by_key(
            |exit| match exit {
                Exit::Code(0) => 0,
                Exit::Code(_) => 1,
                Exit::Signal(_) => 2,
            },
        );
    record.validation = validation(entries);
    if lost {
        record.outcome = TrialOutcome::Failed;
        return;
    }
    // A node that was only stopped because another failed is not the cause.
    let rank = |outcome: TrialOutcome| match outcome {
        TrialOutcome::Completed => 0,
        TrialOutcome::Interrupted => 1,
        TrialOutcome::Invalid => 2,
        TrialOutcome::TimedOut => 3,
        TrialOutcome::Failed => 4,
    };
    let called_off =
        |e: &NodeEntry| e.outcome == TrialOutcome::Failed && e.error.contains(CALLED_OFF);
    let worst = entries.iter().filter(|e| !called_off(e)).max_by_key(|e| rank(e.outcome));
    let Some(worst) = worst.or(entries.first()) else { return };
    record.outcome = worst.outcome;
    if worst.outcome == TrialOutcome::Completed {
        return;
    }
    let wrong: Vec<&NodeEntry> =
        entries.iter().filter(|e| e.outcome == worst.outcome && !called_off(e)).collect();
    let errors: Vec<String> =
        wrong.iter().take(3).map(|e| format!("node {}: {}", e.node, e.error)).collect();
    record.error = errors.join("; ");
    if wrong.len() > 3 {
        record.error = format!("{}; and {} more nodes", record.error, wrong.len() - 3);
    }
}

/// Error of a part that was cancelled before it began.
/// Movement of a wall clock that is taken for a new setting, not for drift, ns.
const STEP_NS: u64 = 100_000_000;
const CALLED_OFF: &str = "it was cancelled before it began";

fn validation(entries: &[NodeEntry]) -> ValidationResult {
    let failed = entries.iter().find_map(|e| match &e.validation {
        ValidationResult::Failed { detail } => {
            Some(ValidationResult::Failed { detail: format!("node {}: {detail}", e.node) })
        }
        _ => None,
    });
    if let Some(failed) = failed {
        return failed;
    }
    let ran: Vec<&NodeEntry> = entries.iter().filter(|e| e.did == NodeRole::Ran).collect();
    let Some(first) = ran.first() else { return ValidationResult::NotReached };
    // A node with unchecked output leaves the whole trial unchecked.
    let minimum = ran.iter().min_by_key(|e| match &e.validation {
        ValidationResult::NotReached => 0,
        ValidationResult::ExitCodeOnly => 1,
        _ => 2,
    });
    let server = entries.iter().find_map(|e| match &e.validation {
        ValidationResult::Passed { detail } if e.did == NodeRole::Served => {
            Some(format!("; node {}, the server: {detail}", e.node))
        }
        _ => None,
    });
    let alone = ran.len() == 1
        && (entries.len() == 1 || entries.iter().any(|e| e.did == NodeRole::Followed));
    match &minimum.unwrap_or(first).validation {
        ValidationResult::Passed { detail } if alone => {
            ValidationResult::Passed { detail: detail.clone() }
        }
        ValidationResult::Passed { detail } => {
            let (all, server) = (ran.len(), server.unwrap_or_default());
            ValidationResult::Passed { detail: format!("on each of {all} nodes: {detail}{server}") }
        }
        other => other.clone(),
    }
}

/// Merges metrics and histograms; returns the rules that were used.
fn metrics(
    record: &mut TrialRecord,
    all: &[(&NodePart, &NodeEntry)],
    ran: &[(&NodePart, &NodeEntry)],
    spec: &WorkloadSpec,
) -> Vec<MergedMetric> {
    let histograms: Vec<_> =
        ran.iter().map(|(p, e)| (e.node.as_str(), &p.part.record.histograms)).collect();
    record.histograms = histograms::merge(&histograms, &mut record.notes);
    let of_all = || all.iter().filter(|(_, e)| e.did != NodeRole::Served).map(|(_, e)| *e);
    let servers = || all.iter().filter(|(_, e)| e.did == NodeRole::Served).map(|(_, e)| *e);
    let mut order: Vec<&MetricValue> = Vec::new();
    // Metrics of the server come last: only those that no other node reports.
    for metric in of_all().chain(servers()).flat_map(|e| &e.metrics) {
        if !order.iter().any(|m| m.name == metric.name) {
            order.push(metric);
        }
    }
    let of =
        |e: &NodeEntry, name: &str| e.metrics.iter().find(|m| m.name == name).and_then(|m| m.value);
    let tells = |e: &NodeEntry, name: &str| e.metrics.iter().any(|m| m.name == name);
    // If a follower reports the metric, it describes every node; else only the nodes that ran
    // count.
    let values = |name: &str| -> Vec<Option<f64>> {
        let followed = of_all().any(|e| e.did == NodeRole::Followed && tells(e, name));
        of_all().filter(|e| followed || e.did == NodeRole::Ran).map(|e| of(e, name)).collect()
    };
    let shared = one_machine(all);
    let mut rules = Vec::new();
    for metric in order {
        let name = &metric.name;
        let rule = if of_all().any(|e| tells(e, name)) {
            MergeRule::for_metric(metric, spec, &record.histograms)
        } else {
            MergeRule::Server
        };
        let value = match rule {
            MergeRule::Percentile => record.histograms.values().find_map(|h| {
                let quantile = *h.percentiles.get(name).filter(|_| h.at.is_none())?;
                histograms::quantile(h, quantile, &metric.unit)
            }),
            MergeRule::SuiteRatio | MergeRule::SuiteTime => {
                suite(rule, &values(name), &values("elapsed"))
            }
            MergeRule::PerWatt => per_watt(record, name),
            MergeRule::Server => metric.value,
            MergeRule::Sum if of_machine(name) && shared.is_some() => None,
            _ => simple(rule, &values(name)),
        };
        let mut words = rule.words().to_owned();
        if let Some(nodes) = shared.as_ref().filter(|_| rule == MergeRule::Sum && of_machine(name))
        {
            words = format!("missing: {nodes} are one machine, and each read its counters");
            record.notes.push(format!("`{name}` is {words}"));
        }
        record.metrics.push(MetricValue { value, ..metric.clone() });
        rules.push(MergedMetric { metric: name.clone(), rule: words });
    }
    rules
}

/// True if a metric comes from counters of the whole machine or its devices.
fn of_machine(name: &str) -> bool {
    ["device_", "host_", "io."].iter().any(|of| name.starts_with(of))
}

/// Returns the names of the first two nodes that are on the same machine; `None` if every
/// node is a machine of its own.
fn one_machine(all: &[(&NodePart, &NodeEntry)]) -> Option<String> {
    let counting = || all.iter().filter(|(_, e)| e.did != NodeRole::Served).map(|(part, _)| *part);
    counting().enumerate().find_map(|(i, a)| {
        let b = counting().skip(i + 1).find(|b| b.host == a.host)?;
        Some(format!("{} and {}", a.name, b.name))
    })
}

/// Computes `X per watt (B)` from the merged `X` and `power (B)`, which were merged before it.
fn per_watt(record: &TrialRecord, name: &str) -> Option<f64> {
    let (of, boundary) = name.split_once(" per watt (")?;
    let watts = record.metric(&format!("power ({boundary}"))?;
    Some(record.metric(of)? / watts).filter(|v| v.is_finite())
}

/// Merges curves point by point, if their points have the same x on every node.
fn curves(record: &mut TrialRecord, ran: &[(&NodePart, &NodeEntry)]) {
    let Some((first, _)) = ran.first() else { return };
    let own: Vec<Curve> = first.part.record.curves.clone();
    for curve in own {
        let all: Option<Vec<&Curve>> =
            ran.iter().map(|(p, _)| p.part.record.curve(&curve.name)).collect();
        let same = |c: &&Curve| {
            c.points.len() == curve.points.len()
                && sorted(c).iter().zip(&sorted(&curve)).all(|(a, b)| a[0] == b[0])
        };
        let rule = match curve.unit.as_str() {
            unit if unit.ends_with("/s") => Some(MergeRule::Sum),
            "s" | "ms" | "us" | "ns" => Some(MergeRule::Max),
            _ => None,
        };
        let merged = all.filter(|all| all.iter().all(same)).zip(rule).map(|(all, rule)| {
            let all: Vec<Vec<[f64; 2]>> = all.into_iter().map(sorted).collect();
            (0..curve.points.len())
                .map(|i| {
                    let values: Vec<Option<f64>> = all.iter().map(|c| Some(c[i][1])).collect();
                    [all[0][i][0], simple(rule, &values).unwrap_or(f64::NAN)]
                })
                .filter(|point| point[1].is_finite())
                .collect::<Vec<_>>()
        });
        match merged {
            Some(points) => record.curves.push(Curve { points, ..curve }),
            None => record.notes.push(format!(
                "the curve `{}` is not merged: its points or its unit do not allow it",
                curve.name
            )),
        }
    }
}

fn sorted(curve: &Curve) -> Vec<[f64; 2]> {
    let mut points = curve.points.clone();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    points
}
