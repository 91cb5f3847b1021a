//! Evidence about the work of a run: operations, output, load generators, limits and series.

use std::collections::BTreeSet;

use assay_model::environment::cpulist;
use assay_model::{
    Exit, LimitedBy, Load, Observation, Percentile, Scalar, SeriesShape, Treatment, TrialOutcome,
    TrialRecord, ValidationResult,
};

use super::build::input;
use super::material::{RunMaterial, observations, params};
use super::system::settings;
use crate::{
    CacheStart, Generator, Limiter, Loop, Merge, OutputEvidence, PercentileEvidence, RecordedValue,
    Timing, Work, WorkTiming,
};

pub(super) fn work(m: &RunMaterial<'_>, t: &Treatment) -> Work {
    let fixed = params(m, t).filter(|(k, _)| !m.plan.factors.contains(k));
    let dropped = settings(t).contains_key("drop_caches");
    let recorded = observations(m, Some(t.id)).find_map(|o| match o {
        Observation::Work { seed, mix, .. } => Some((*seed, mix.clone())),
        _ => None,
    });
    let (seed, mix) = recorded.unwrap_or_default();
    let drawn = |key: &str, recorded: Option<String>| {
        let set = t.params.iter().find(|(k, _)| *k == key || k.ends_with(&format!(".{key}")));
        set.map(|(_, v)| v.to_text()).or(recorded).unwrap_or_else(|| "none".to_owned())
    };
    // A metric in time units measures work that runs to its end; a rate measures a window, as does
    // a percentile of the response times in it.
    let of_metric = |p: &Percentile| p.metric.as_ref() == Some(&m.analysis.metric);
    let time = (m.analysis.unit == "s" || m.analysis.unit == "ns")
        && !m.analysis.histograms.iter().flat_map(|h| &h.percentiles).any(of_metric);
    Work {
        input: Some(input(m, t)),
        parameters: fixed.map(|(k, v)| (k.clone(), v.to_text())).collect(),
        seed: Some(drawn("seed", seed.map(|s| s.to_string()))),
        mix: Some(drawn("mix", Some(mix).filter(|mix| !mix.is_empty()))),
        exits: exits(m, t),
        cache: Some(if dropped { CacheStart::Cold } else { CacheStart::AsLeft }),
        timing: Some(if time { WorkTiming::EqualWork } else { WorkTiming::EqualTime }),
        operations: time.then(|| operations(m, t)),
    }
}

/// Returns the exit codes of the trials that count.
fn exits(m: &RunMaterial<'_>, t: &Treatment) -> Option<String> {
    let counted = m.records.iter().filter(|r| r.treatment == t.id && r.counts());
    let codes: BTreeSet<i32> = counted
        .filter_map(|r| match r.exit {
            Some(Exit::Code(code)) => Some(code),
            _ => None,
        })
        .collect();
    let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
    (!codes.is_empty()).then(|| codes.join(", "))
}

/// Returns the mean number of operations per trial, or 1 (the program's run) if the workload does
/// not count them.
pub(super) fn operations(m: &RunMaterial<'_>, t: &Treatment) -> f64 {
    let counted = m.records.iter().filter(|r| r.treatment == t.id && r.counts());
    let counts: Vec<f64> = counted
        .filter_map(|r| operations_of(r).map(|o| o.0).or_else(|| r.metric("operations")))
        .collect();
    if counts.is_empty() { 1.0 } else { counts.iter().sum::<f64>() / counts.len() as f64 }
}

pub(super) fn output(of: &[&TrialRecord]) -> OutputEvidence {
    let ended =
        |r: &&&TrialRecord| matches!(r.outcome, TrialOutcome::Completed | TrialOutcome::Invalid);
    let counting = |how: ValidationResult| {
        of.iter().filter(|r| r.counts() && r.validation == how).count() as u32
    };
    OutputEvidence {
        trials: of.iter().filter(ended).count() as u32,
        wrong: of.iter().filter(|r| r.outcome == TrialOutcome::Invalid).count() as u32,
        message: of
            .iter()
            .find(|r| r.outcome == TrialOutcome::Invalid && !r.error.is_empty())
            .map_or_else(String::new, |r| format!("trial {}: {}", r.number, r.error)),
        unchecked: counting(ValidationResult::ExitCodeOnly),
        // Trials that ran here and count always reach validation; only imported ones do not.
        unknown: counting(ValidationResult::NotReached),
        errors: of
            .iter()
            .filter(|r| r.counts())
            .filter_map(|r| operations_of(r))
            .map(|o| o.1)
            .reduce(|a, b| a + b),
    }
}

/// Returns the responses and wrong responses of a trial, if its load counted them.
pub(super) fn operations_of(r: &TrialRecord) -> Option<(f64, u64)> {
    r.evidence.iter().find_map(|o| match o {
        Observation::Operations { answered, wrong, .. } => Some((*answered as f64, *wrong)),
        Observation::Work { operations, errors, .. } => Some((*operations as f64, *errors)),
        _ => None,
    })
}

/// Returns the stated percentiles: those of the merged histograms that are not withheld, and those
/// that programs computed without leaving histograms.
pub(super) fn percentiles(m: &RunMaterial<'_>) -> RecordedValue<Vec<PercentileEvidence>> {
    let all = m.analysis.histograms.iter().flat_map(|h| &h.percentiles);
    let merged = all.filter(|p| p.value.is_some()).map(|p| PercentileEvidence {
        quantile: p.quantile,
        load: p.load.map(sent),
        // A run states percentiles of its own requests; a claim about arrivals is made elsewhere.
        as_arrivals: p.load.map(|load| load == Load::Open),
        slips_charged: p.load.map(|load| load == Load::Open),
        hidden: None,
        n_eff: Some(p.samples as f64),
        merge: Some(if p.trials == 1 { Merge::One } else { Merge::Histograms }),
        ..PercentileEvidence::default()
    });
    let stated: Vec<PercentileEvidence> = merged.chain(computed_by_programs(m)).collect();
    if stated.is_empty() {
        return RecordedValue::Absent("no percentile is stated".to_owned());
    }
    RecordedValue::Is(stated)
}

pub(super) fn sent(load: Load) -> Loop {
    match load {
        Load::Open => Loop::Open,
        Load::Closed => Loop::Closed,
    }
}

/// Returns the percentiles among the metrics. Over several trials they are averaged.
pub(super) fn computed_by_programs<'a>(
    m: &'a RunMaterial<'_>,
) -> impl Iterator<Item = PercentileEvidence> + 'a {
    let times = m.analysis.summaries.iter().filter(|s| s.unit == "s" || s.unit == "ns");
    let own = times.filter(|s| s.percentile.is_none() && s.summary.n > 0);
    // Of a tracer's metrics (`io.read_p99`) the full distribution of each trial is kept.
    let observers = m.records.iter().flat_map(|record| &record.observers);
    let observers: BTreeSet<&str> = observers.map(|o| o.observer.as_str()).collect();
    let observed =
        move |metric: &str| metric.split_once('.').is_some_and(|(o, _)| observers.contains(o));
    let own = own.filter(move |s| !observed(&s.metric));
    own.filter_map(|s| {
        let sending = observations(m, Some(s.treatment)).find_map(|o| match o {
            Observation::Sending { load, slips_charged, samples } => {
                Some((*load, *slips_charged, *samples))
            }
            _ => None,
        });
        Some(PercentileEvidence {
            metric: s.metric.clone(),
            quantile: quantile(&s.metric)?,
            load: sending.map(|(load, ..)| sent(load)),
            as_arrivals: sending.map(|(load, ..)| load == Load::Open),
            slips_charged: sending.map(|(_, charged, _)| charged),
            hidden: None,
            n_eff: sending.and_then(|(.., samples)| samples).map(|n| n as f64),
            merge: Some(if s.summary.n == 1 { Merge::One } else { Merge::Averaged }),
        })
    })
}

/// Parses the quantile at the end of a metric's name: `latency.p99.9`, `set_p99`.
pub(super) fn quantile(metric: &str) -> Option<f64> {
    let mut starts = metric.match_indices('p').filter(|(i, _)| {
        let before = metric[..*i].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric())
    });
    let percent = starts.find_map(|(i, _)| metric[i + 1..].parse::<f64>().ok())?;
    (0.0..100.0).contains(&percent).then_some(percent / 100.0)
}

/// Returns the shortest trial window and the clock that timed it. Without a steady phase common to
/// all nodes there is no window, so none can be too short; the check of coinciding phases reports
/// that case.
pub(super) fn timing(m: &RunMaterial<'_>, of: &[&TrialRecord]) -> Option<Timing> {
    let (resolution, overhead) = observations(m, None).find_map(|o| match o {
        Observation::Clock { resolution, overhead } => Some((*resolution, *overhead)),
        _ => None,
    })?;
    let windows = of.iter().filter(|r| r.counts()).filter_map(|r| {
        let (from, to) = r.window();
        to.checked_sub(from).filter(|ns| *ns > 0).map(|ns| ns as f64 * 1e-9)
    });
    Some(Timing {
        sample_s: windows.reduce(f64::min),
        resolution_s: Some(resolution),
        overhead_s: Some(overhead),
        ..Timing::default()
    })
}

/// CPU use, in CPUs, from which a program without another limit counts as limited by computing.
pub(super) const COMPUTING: f64 = 0.9;

/// Returns the limit of a treatment: as the load generator observed it, else from the CPU time that
/// the trials used.
pub(super) fn limiter(m: &RunMaterial<'_>, t: &Treatment, of: &[&TrialRecord]) -> Option<Limiter> {
    let recorded: Vec<&Vec<String>> = observations(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::Limit { by, reasons, .. } if *by != LimitedBy::Unknown => Some(reasons),
            _ => None,
        })
        .collect();
    if let Some(first) = recorded.first() {
        return Some(Limiter { statement: first.join("; "), ceilings: Vec::new() });
    }
    let used: Vec<f64> = of
        .iter()
        .filter(|r| r.counts())
        .filter_map(|r| r.resources)
        .filter(|u| u.wall_s > 0.0)
        .map(|u| (u.user_s + u.system_s) / u.wall_s)
        .collect();
    let mean = (!used.is_empty()).then(|| used.iter().sum::<f64>() / used.len() as f64)?;
    let statement = if mean >= COMPUTING {
        format!("computing: its trials used {mean:.2} CPUs on average")
    } else {
        String::new()
    };
    Some(Limiter { statement, ceilings: Vec::new() })
}

/// Returns the load generator of a workload that has one.
pub(super) fn generator(m: &RunMaterial<'_>, t: &Treatment) -> RecordedValue<Generator> {
    let busy: Vec<Option<f64>> = observations(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::Limit { generator_busy, .. } => Some(*generator_busy),
            _ => None,
        })
        .collect();
    if busy.is_empty() {
        return RecordedValue::Absent("the program makes its own load".to_owned());
    }
    let text = |key: &str| t.params.get(key).map(Scalar::to_text).unwrap_or_default();
    let same_host = text("server.address").is_empty();
    let (client, server) = (text("client.cpus"), text("server.cpus"));
    let list = |of: &str| cpulist::parse(of).unwrap_or_default();
    let apart = !client.is_empty()
        && !server.is_empty()
        && list(&client).iter().all(|c| !list(&server).contains(c));
    let config: Vec<String> = t
        .params
        .iter()
        .filter(|(k, _)| k.starts_with("client.") && !m.plan.factors.contains(k))
        .map(|(k, v)| format!("{k}={}", v.to_text()))
        .collect();
    RecordedValue::Is(Generator {
        cpu_share: busy.iter().flatten().copied().reduce(f64::max),
        // On one host, no traffic uses a network interface.
        network_share: same_host.then_some(0.0),
        same_host: Some(same_host),
        pinned_apart: Some(apart),
        config: Some(config.join(" ")),
    })
}

pub(super) fn series(m: &RunMaterial<'_>, t: &Treatment) -> RecordedValue<Vec<SeriesShape>> {
    let shapes: Vec<SeriesShape> = observations(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::Settling { shape, .. } => Some(*shape),
            _ => None,
        })
        .collect();
    if shapes.is_empty() {
        return RecordedValue::Absent("a trial gives one number, not a series".to_owned());
    }
    RecordedValue::Is(shapes)
}
