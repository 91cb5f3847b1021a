//! Observations that change along with a metric. Every observation of two treatments (monitor
//! samples in the measurement window, resources, other metrics) is differenced by block.
//!
//! The differences are ranked, and none is called a cause: two things that change together need not
//! be cause and effect, and with many observations some differ by chance alone. The notes state it.

use std::collections::BTreeMap;

use assay_model::{
    Account, Analysis, Better, Comparison, Explanation, Observed, SampleSet, TreatmentChange,
    TrialRecord,
};
use assay_observe::{ALL_TASKS, Field, FieldRole, TASKS};
use assay_stats::summary::{mean, mean_interval, variance};
use assay_traces::{RunTraces, TRACE_FILES, TraceData, TraceFile, TracePair};

use super::seen::{ObservationKey, PairedObservations};

/// The comparison to explain and the data about its trials.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Latest attempt of each trial, in the order of the plan.
    pub records: &'a [TrialRecord],
    /// Monitor samples by trial number.
    pub samples: &'a BTreeMap<u32, SampleSet>,
    /// Traces of the trials.
    pub traces: &'a RunTraces,
    /// Analysis of all the records.
    pub analysis: &'a Analysis,
    /// The comparison to explain, one of those in the analysis.
    pub comparison: &'a Comparison,
}

pub fn explain(question: &Question<'_>) -> Explanation {
    let Question { records, analysis, comparison, .. } = *question;
    let of = |treatment: u32| -> BTreeMap<u32, &TrialRecord> {
        let counts = records.iter().filter(|r| r.treatment == treatment && r.counts());
        counts.map(|r| (r.block, r)).collect()
    };
    let (base, other) = (of(comparison.baseline), of(comparison.treatment));
    let mut seen = PairedObservations::default();
    for record in base.values().chain(other.values()) {
        seen.next_trial();
        observe(record, question, comparison, &mut seen);
    }
    // Pairs of trials of each block that has both treatments, by their positions among the observed
    // trials.
    let beside: BTreeMap<u32, u32> = other.keys().copied().zip(base.len() as u32 + 1..).collect();
    let both: Vec<(u32, u32)> =
        (1..).zip(base.keys()).filter_map(|(at, block)| Some((at, *beside.get(block)?))).collect();
    let level = analysis.confidence;
    let mut found = Vec::new();
    let mut unchanged = 0;
    let mut compared: Vec<(&ObservationKey<'_>, Vec<(f64, f64)>)> = Vec::new();
    for (key, at) in &seen.places {
        // A system call that a trial did not make has a count of 0.
        let value = |trial: u32| match seen.value(*at, trial) {
            None if seen.counts(key.source, trial) => Some(0.0),
            value => value,
        };
        let pairs = both.iter().filter_map(|(a, b)| Some((value(*a)?, value(*b)?))).collect();
        compared.push((key, pairs));
    }
    // Some of the many numbers from these sources would differ by chance. All numbers of a source
    // together get the confidence level of the comparison (Bonferroni).
    let many = |source: &str| {
        let differ = |(key, pairs): &&(&ObservationKey<'_>, Vec<(f64, f64)>)| {
            key.source == source && pairs.iter().any(|(a, b)| a != b)
        };
        compared.iter().filter(differ).count().max(1)
    };
    let counted = TRACE_FILES.iter().filter(|file| file.complete).map(|file| file.tracer);
    let together: Vec<(&str, usize)> =
        counted.chain([TASKS]).map(|source| (source, many(source))).collect();
    for (key, pairs) in &compared {
        let others = together.iter().find(|(source, _)| *source == key.source);
        let level = others.map_or(level, |(_, n)| 1.0 - (1.0 - level) / *n as f64);
        match observed(key, pairs, level) {
            Some(o) if o.change.difference == 0.0 && pairs.iter().all(|(a, b)| a == b) => {
                unchanged += 1;
            }
            Some(o) => found.push(o),
            None => {}
        }
    }
    for o in TRACE_FILES.iter().flat_map(|file| compared_traces(file, question, level)) {
        if o.baseline == o.treatment { unchanged += 1 } else { found.push(o) }
    }
    rank(&mut found);
    let label = |id: u32| {
        let of = analysis.summaries.iter().find(|s| s.treatment == id);
        of.map_or_else(String::new, |s| s.label.clone())
    };
    Explanation {
        baseline: label(comparison.baseline),
        treatment: label(comparison.treatment),
        comparison: comparison.clone(),
        time_change: time_change(comparison),
        account: account(&found),
        notes: notes(&found, question, level),
        observations: found,
        unchanged,
    }
}

/// Compares the traces of a tracer that has its own way to compare them.
fn compared_traces(file: &TraceFile, question: &Question<'_>, level: f64) -> Vec<Observed> {
    let Some(compare) = file.compare else { return Vec::new() };
    let of = |treatment: u32| -> (Vec<&dyn TraceData>, Vec<f64>) {
        let counts = question.records.iter().filter(|r| r.treatment == treatment && r.counts());
        let traced = counts.filter_map(|r| Some((question.traces.trial(file, r.number)?, r)));
        traced
            .map(|(trace, r)| {
                let (from, to) = r.window();
                (trace, to.saturating_sub(from) as f64)
            })
            .unzip()
    };
    let (baseline, windows) = of(question.comparison.baseline);
    let (treatment, _) = of(question.comparison.treatment);
    let window_ns = mean(&windows).filter(|w| *w > 0.0);
    compare(&TracePair { baseline, treatment, window_ns, confidence: level })
}

/// Gathers all observations of a trial in its measurement window.
fn observe<'a>(
    record: &'a TrialRecord,
    question: &Question<'a>,
    comparison: &Comparison,
    all: &mut PairedObservations<'a>,
) {
    if let Some(samples) = question.samples.get(&record.number) {
        let (from, to) = record.window();
        let inside = samples.rows.iter().filter(|r| (from..=to).contains(&r.t_ns));
        let mut sums: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
        for row in inside.filter(|r| r.value.is_finite()) {
            let sum = sums.entry(row.series).or_default();
            *sum = (sum.0 + row.value, sum.1 + 1);
        }
        let ticks = samples.points(TASKS, ALL_TASKS, "user");
        let ticks = ticks.iter().filter(|p| (from..=to).contains(&p.0)).count() as u32;
        for (series, (sum, n)) in sums {
            let Some(s) = samples.series.get(series as usize) else { continue };
            // Skip a thread that was sampled at some ticks only: its activity at the other ticks is
            // unknown.
            if s.monitor == TASKS && n + 1 < ticks {
                continue;
            }
            let key = ObservationKey::new(&s.monitor, s.subject.as_str(), &s.field, &s.unit);
            *all.entry(key) = sum / f64::from(n);
        }
    }
    if let Some(r) = record.resources.filter(|r| r.wall_s > 0.0) {
        let mut put = |name, unit, value| {
            *all.entry(ObservationKey::new("resources", "", name, unit)) = value;
        };
        put("user", "s/s", r.user_s / r.wall_s);
        put("system", "s/s", r.system_s / r.wall_s);
        put("major_faults", "1/s", r.major_faults as f64 / r.wall_s);
        put("minor_faults", "1/s", r.minor_faults as f64 / r.wall_s);
        put("voluntary_switches", "1/s", r.voluntary_switches as f64 / r.wall_s);
        put("involuntary_switches", "1/s", r.involuntary_switches as f64 / r.wall_s);
        if let Some(peak) = r.peak_memory_bytes {
            put("peak_memory", "B", peak as f64);
        }
        if let Some(group) = r.group {
            for (name, unit, value) in [
                ("group_peak_memory", "B", group.peak_memory_bytes.map(|b| b as f64)),
                ("group_user", "s/s", group.user_s.map(|s| s / r.wall_s)),
                ("group_system", "s/s", group.system_s.map(|s| s / r.wall_s)),
                ("group_read", "B/s", group.read_bytes.map(|b| b as f64 / r.wall_s)),
                ("group_written", "B/s", group.written_bytes.map(|b| b as f64 / r.wall_s)),
                ("group_waited_for_cpu", "s/s", group.waited_for_cpu_s.map(|s| s / r.wall_s)),
                ("group_waited_for_memory", "s/s", group.waited_for_memory_s.map(|s| s / r.wall_s)),
                ("group_waited_for_io", "s/s", group.waited_for_io_s.map(|s| s / r.wall_s)),
            ] {
                if let Some(value) = value {
                    put(name, unit, value);
                }
            }
        }
    }
    for file in TRACE_FILES {
        let Some(trace) = question.traces.trial(file, record.number) else { continue };
        for n in trace.numbers() {
            *all.entry(ObservationKey::new(file.tracer, n.subject, n.name, n.unit)) += n.value;
        }
    }
    for m in record.metrics.iter().filter(|m| m.name != comparison.metric) {
        if let Some(value) = m.value.filter(|v| v.is_finite()) {
            *all.entry(ObservationKey::new("metric", "", &m.name, &m.unit)) = value;
        }
    }
}

/// Computes the difference of an observation by block; `None` if no block has it in both
/// treatments.
fn observed(key: &ObservationKey<'_>, pairs: &[(f64, f64)], level: f64) -> Option<Observed> {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
    let difference = mean(&differences)?;
    let interval = mean_interval(&differences, level);
    let change = TreatmentChange { difference, interval, n: pairs.len() as u32 };
    let error = variance(&differences).map(|v| (v / differences.len() as f64).sqrt());
    let of_time = key.share_of_time().map(|factor| TreatmentChange {
        difference: difference * factor,
        interval: interval.map(|i| assay_model::Interval {
            low: i.low * factor,
            high: i.high * factor,
            level: i.level,
        }),
        n: change.n,
    });
    Some(Observed {
        source: key.source.to_owned(),
        subject: key.subject.to_string(),
        name: key.name.to_owned(),
        unit: key.unit.to_owned(),
        baseline: mean(&a)?,
        treatment: mean(&b)?,
        change,
        of_time,
        standard_errors: error.filter(|e| *e > 0.0 && interval.is_some()).map(|e| difference / e),
    })
}

/// Sorts clear differences first. Among these, observations of time come first, by the amount of
/// time, then the others by their size in standard errors.
fn rank(found: &mut [Observed]) {
    let order = |o: &Observed| {
        let time = o.of_time.map_or(-1.0, |t| t.difference.abs());
        (o.change.clear(), time, o.standard_errors.map_or(0.0, f64::abs))
    };
    found.sort_by(|a, b| {
        let (a, b) = (order(a), order(b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(b.2.total_cmp(&a.2))
    });
}

/// Converts the ratio of the metric into a change of time as a share of the baseline's time, for
/// example for a time that is 3 % shorter or a rate that is 3 % higher.
fn time_change(comparison: &Comparison) -> Option<f64> {
    let ratio = comparison.ratio?;
    match (comparison.unit.as_str(), comparison.better) {
        ("s", Better::Lower) => Some(ratio - 1.0),
        (unit, Better::Higher) if unit.ends_with("/s") => Some(1.0 / ratio - 1.0),
        _ => None,
    }
}

/// Lists the parts of CPU time except idle time, as monitor, field and the subject that stands for
/// all CPUs.
fn cpu_parts() -> impl Iterator<Item = (&'static str, &'static Field, &'static str)> {
    assay_observe::all().into_iter().flat_map(|monitor| {
        let parts = monitor.fields.iter().filter(|f| f.role == Some(FieldRole::CpuTime));
        parts.filter_map(|f| Some((monitor.name, f, f.chart?.0.subject?)))
    })
}

fn account(found: &[Observed]) -> Option<Account> {
    let part = |(monitor, field, whole): (&str, &'static Field, &str)| {
        let of = |o: &&Observed| o.source == monitor && o.subject == whole && o.name == field.name;
        let o = found.iter().find(of)?;
        Some((field.name, o.baseline / 100.0, o.treatment / 100.0))
    };
    let parts: Vec<(&str, f64, f64)> = cpu_parts().filter_map(part).collect();
    (!parts.is_empty()).then(|| Account::from_parts(parts))
}

fn notes(found: &[Observed], question: &Question<'_>, level: f64) -> Vec<String> {
    let of = |source: &str| found.iter().filter(|o| o.source == source).count();
    let tracers = TRACE_FILES.iter().map(|file| (file.tracer, file.numbers));
    let many: Vec<(usize, &str)> = tracers
        .chain([(TASKS, "numbers of threads")])
        .map(|(source, numbers)| (of(source), numbers))
        .filter(|(n, _)| *n > 0)
        .collect();
    let others = found.len() - many.iter().map(|(n, _)| n).sum::<usize>();
    let mut notes = vec![format!(
        "{others} observations were compared: at {:.0} % about {:.0} differ clearly by chance; \
         what differs along with the metric need not be its cause",
        level * 100.0,
        (others as f64 * (1.0 - level)).ceil()
    )];
    for (n, numbers) in &many {
        notes.push(format!(
            "{n} {numbers} were compared too, with simultaneous intervals at {:.0} %",
            level * 100.0
        ));
    }
    if question.samples.values().all(|s| s.rows.is_empty()) {
        let mut rest = "resources, metrics".to_owned();
        for (_, numbers) in many {
            rest = format!("{rest}, {numbers}");
        }
        notes.push(format!("no monitor sampled the trials; compared are: {rest}"));
    }
    let mut missing: Vec<&String> = question
        .records
        .iter()
        .flat_map(|r| &r.observers)
        .flat_map(|o| o.not_seen.iter())
        .collect();
    missing.sort_unstable();
    missing.dedup();
    notes.extend(missing.into_iter().map(|s| format!("not seen: {s}")));
    if found.iter().all(|o| o.change.interval.is_none()) && !found.is_empty() {
        notes.push("below three blocks there is no interval, and nothing is clear".into());
    }
    notes
}

#[cfg(test)]
mod tests;
